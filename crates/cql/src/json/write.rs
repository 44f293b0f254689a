//! Encodes the bytes of a value as JSON.

use bytes::Bytes;

use super::names::key_of_name;
use crate::TypesOf;
use crate::comma_list::comma_list;
use base::marshal::{
    AbstractType, BytesType, CollectionForm, CqlType, Native, ValueKind, at, list_from_bytes, map_from_bytes,
    timestamp_text, tuple_from_bytes,
};

/// Returns a value as JSON; `None` is null. Collections have long lengths. Bytes that are not a valid value of the type
/// are written as a blob.
pub fn to_json(cql_type: &CqlType, value: Option<&Bytes>, types: TypesOf<'_>) -> String {
    let Some(value) = value else { return "null".to_owned() };
    json_of(cql_type, value, types).unwrap_or_else(|| blob(value))
}

/// Returns a column's name as the key of an object, in quotes.
pub fn column_key(name: &str) -> String {
    quoted(&key_of_name(name))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn blob(value: &[u8]) -> String {
    format!("\"0x{}\"", BytesType.to_text(value))
}

fn json_of(cql_type: &CqlType, value: &Bytes, types: TypesOf<'_>) -> Option<String> {
    // Missing fields at the end are null.
    let fields = |of: Vec<&CqlType>| {
        let mut fields = tuple_from_bytes(value)?.into_iter();
        let of = of.into_iter();
        Some(of.map(|of| to_json(of, fields.next().flatten().as_ref(), types)).collect::<Vec<String>>())
    };
    match cql_type {
        CqlType::Native(native) => native_json(*native, value, types),
        CqlType::Custom(class) => Some(quoted(&class.to_text(value))),
        CqlType::List { element, .. } | CqlType::Set { element, .. } => {
            let elements = list_from_bytes(value, CollectionForm::Long)?;
            let texts = elements.iter().map(|value| to_json(element, Some(value), types));
            Some(format!("[{}]", comma_list(texts)))
        }
        CqlType::Map { key, value: of, .. } => {
            let entries = map_from_bytes(value, CollectionForm::Long)?;
            let texts = entries
                .iter()
                .map(|(k, v)| format!("{}: {}", key_json(key, k, types), to_json(of, Some(v), types)));
            Some(format!("{{{}}}", comma_list(texts)))
        }
        CqlType::Tuple(of) => Some(format!("[{}]", fields(of.iter().collect())?.join(", "))),
        CqlType::User { user, .. } => {
            let texts = fields(user.fields.iter().map(|(_, of)| of).collect())?;
            let named = user.fields.iter().zip(texts);
            let texts = named.map(|((name, _), text)| format!("{}: {text}", column_key(name)));
            Some(format!("{{{}}}", comma_list(texts)))
        }
    }
}

/// Returns the key of an object. It must be a string, so other values are quoted.
fn key_json(cql_type: &CqlType, key: &Bytes, types: TypesOf<'_>) -> String {
    let json = to_json(cql_type, Some(key), types);
    if json.starts_with('"') { json } else { quoted(&json) }
}

/// Returns a value of a native type as JSON, or `None` if it is invalid.
fn native_json(native: Native, value: &Bytes, types: TypesOf<'_>) -> Option<String> {
    let class = CqlType::Native(native).type_ref(types.types);
    let class = at(&*class, types.release);
    class.validate(value).ok()?;
    match native.kind() {
        ValueKind::Blob => return Some(blob(value)),
        ValueKind::Text => return std::str::from_utf8(value).ok().map(quoted),
        _ if value.is_empty() => return Some("\"\"".to_owned()),
        ValueKind::Float => {
            let number = f32::from_be_bytes(<[u8; 4]>::try_from(&value[..]).ok()?);
            return Some(finite(number.is_finite(), &float_text(&format!("{number:e}"), f64::from(number))));
        }
        ValueKind::Double => {
            let number = f64::from_be_bytes(<[u8; 8]>::try_from(&value[..]).ok()?);
            return Some(finite(number.is_finite(), &float_text(&format!("{number:e}"), number)));
        }
        ValueKind::Timestamp => {
            let ms = i64::from_be_bytes(<[u8; 8]>::try_from(&value[..]).ok()?);
            return Some(quoted(&timestamp_text(ms)));
        }
        _ if native == Native::Inet => return Some(quoted(&address(value)?)),
        _ => {}
    }
    let text = class.to_text(value);
    Some(match native.kind() {
        ValueKind::Quoted | ValueKind::Unquoted => quoted(&text),
        _ => text,
    })
}

/// Returns the text of a number, quoted if it is not finite, since JSON has no such numbers.
fn finite(is_finite: bool, text: &str) -> String {
    if is_finite { text.to_owned() } else { quoted(text) }
}

/// Returns a number as Java prints it: always with a point, and with an exponent from 10^7 on and below 10^-3.
/// `scientific` is its shortest form as Rust prints it with an exponent.
fn float_text(scientific: &str, number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() };
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if !(-3..7).contains(&exponent) && number != 0.0 {
        let point = if mantissa.contains('.') { "" } else { ".0" };
        return format!("{sign}{mantissa}{point}E{exponent}");
    }
    let Ok(whole) = usize::try_from(exponent + 1) else {
        let zeros = "0".repeat(usize::try_from(-exponent - 1).unwrap_or_default());
        return format!("{sign}0.{zeros}{digits}");
    };
    let digits = format!("{digits:0<width$}", width = whole + 1);
    match digits.split_at_checked(whole) {
        Some(("", fraction)) => format!("{sign}0.{fraction}"),
        Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{digits}"),
    }
}

/// Returns an address as Java prints it: IPv6 addresses with all their parts.
fn address(value: &[u8]) -> Option<String> {
    if let Ok([a, b, c, d]) = <[u8; 4]>::try_from(value) {
        return Some(format!("{a}.{b}.{c}.{d}"));
    }
    let parts = std::net::Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?).segments();
    Some(parts.iter().map(|part| format!("{part:x}")).collect::<Vec<_>>().join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_java_does() {
        let text = |number: f64| float_text(&format!("{number:e}"), number);
        let known = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (123_123.123_123, "123123.123123"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (1.25e-12, "1.25E-12"),
            (0.001, "0.001"),
            (0.012_5, "0.0125"),
            (0.000_99, "9.9E-4"),
            (-15.5, "-15.5"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (number, shown) in known {
            assert_eq!(text(number), shown);
        }
    }

    #[test]
    fn addresses_are_written_as_java_does() {
        assert_eq!(address(&[127, 0, 0, 1]).unwrap(), "127.0.0.1");
        assert_eq!(address(&[0; 16]).unwrap(), "0:0:0:0:0:0:0:0");
        assert_eq!(address(&[1]), None);
    }
}
