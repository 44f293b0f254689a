//! Values by their types, as all formats need them.

use bytes::Bytes;

use base::compat::features::releases::NEWEST;
use base::marshal::{CqlType, Native, Types, ValueKind, at, timestamp_text};
use base::util::hex;
use cql::TypesOf;
use cql::json::to_json;

/// The type of a column of an export.
#[derive(Debug, Clone)]
pub(super) enum ValueType {
    Cql(CqlType),
    /// Bytes of a column family without a type for them: mostly texts.
    Bytes,
    /// A number of 64 bits, such as a timestamp.
    Integer,
    /// A text that the export makes.
    Text,
    /// JSON that the export makes.
    Json,
}

/// A field of a record, before its type is regarded.
#[derive(Debug, Clone)]
pub(super) enum Field {
    Null,
    /// Bytes of the column's type.
    Bytes(Bytes),
    Integer(i64),
    Text(String),
}

/// A value of a type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    /// No bytes, of a type that is not a text: old servers accept that for each type.
    Empty,
    Text(String),
    Boolean(bool),
    Integer(i64),
    /// Digits of a varint or decimal.
    Number(String),
    Float(f32),
    Double(f64),
    /// Milliseconds since 1970.
    Timestamp(i64),
    Blob(Bytes),
    /// A collection, tuple or user-defined type.
    Json(String),
    /// Bytes that are not a value of the type.
    Invalid(Bytes),
}

impl From<Option<Bytes>> for Field {
    fn from(bytes: Option<Bytes>) -> Field {
        bytes.map_or(Field::Null, Field::Bytes)
    }
}

impl ValueType {
    /// Returns the type of values in a column family: without CQL, blobs are bytes without a type.
    pub(super) fn of(cql_type: CqlType, is_thrift: bool) -> ValueType {
        match cql_type {
            CqlType::Native(Native::Blob) if is_thrift => ValueType::Bytes,
            other => ValueType::Cql(other),
        }
    }

    /// Returns the value of a field.
    pub(super) fn value(&self, field: &Field, types: &Types) -> Value {
        let bytes = match field {
            Field::Null => return Value::Null,
            Field::Integer(number) => return Value::Integer(*number),
            Field::Text(text) => return Value::Text(text.clone()),
            Field::Bytes(bytes) => bytes,
        };
        match self {
            ValueType::Cql(CqlType::Native(native)) => native_value(*native, bytes, types),
            ValueType::Cql(CqlType::Custom(class)) => Value::Text(class.to_text(bytes)),
            ValueType::Cql(other) => {
                Value::Json(to_json(other, Some(bytes), TypesOf { types, release: NEWEST }))
            }
            ValueType::Bytes | ValueType::Integer | ValueType::Text | ValueType::Json => {
                Value::Text(bytes_text(bytes))
            }
        }
    }

    /// Returns a field as JSON.
    pub(super) fn json(&self, field: &Field, types: &Types) -> String {
        match (self, field) {
            (ValueType::Cql(cql_type), Field::Bytes(bytes)) => {
                to_json(cql_type, Some(bytes), TypesOf { types, release: NEWEST })
            }
            (ValueType::Json, Field::Text(json)) => json.clone(),
            (_, Field::Null) => "null".to_owned(),
            (_, Field::Integer(number)) => number.to_string(),
            (_, Field::Text(text)) => serde_json::Value::from(text.as_str()).to_string(),
            (_, Field::Bytes(bytes)) => serde_json::Value::from(bytes_text(bytes)).to_string(),
        }
    }

    /// Returns the name of the type for the manifest.
    pub(super) fn name(&self) -> String {
        match self {
            ValueType::Cql(cql_type) => cql_type.to_string(),
            ValueType::Bytes => "bytes".to_owned(),
            ValueType::Integer => "bigint".to_owned(),
            ValueType::Text => "text".to_owned(),
            ValueType::Json => "json".to_owned(),
        }
    }
}

impl Value {
    /// Returns the text of a value; `None` of null.
    pub(super) fn text(self) -> Option<String> {
        Some(match self {
            Value::Null => return None,
            Value::Empty => String::new(),
            Value::Text(text) | Value::Number(text) | Value::Json(text) => text,
            Value::Boolean(value) => value.to_string(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => float_text(&format!("{number:?}")),
            Value::Double(number) => float_text(&format!("{number:?}")),
            Value::Timestamp(ms) => timestamp_text(ms),
            Value::Blob(bytes) | Value::Invalid(bytes) => format!("0x{}", hex(&bytes)),
        })
    }
}

/// Returns the text of a number with the names of those that are not finite that most programs read.
fn float_text(debug: &str) -> String {
    debug.replace("inf", "Infinity")
}

/// Returns a printable text as it is, and other bytes in hexadecimal digits. A text that looks like those is also
/// written in digits.
pub(super) fn bytes_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.starts_with("0x") && !text.chars().any(is_not_printable) => text.to_owned(),
        _ => format!("0x{}", hex(bytes)),
    }
}

fn is_not_printable(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\r' | '\t')
}

fn native_value(native: Native, bytes: &Bytes, types: &Types) -> Value {
    let class = CqlType::Native(native).type_ref(types);
    let class = at(&*class, NEWEST);
    if class.validate(bytes).is_err() {
        return Value::Invalid(bytes.clone());
    }
    let long = || <[u8; 8]>::try_from(&bytes[..]).map(i64::from_be_bytes);
    let value = match native.kind() {
        ValueKind::Blob => Some(Value::Blob(bytes.clone())),
        ValueKind::Text => std::str::from_utf8(bytes).ok().map(|text| Value::Text(text.to_owned())),
        _ if bytes.is_empty() => Some(Value::Empty),
        ValueKind::Boolean => bytes.first().map(|byte| Value::Boolean(*byte != 0)),
        ValueKind::Integer { .. } => integer(bytes).map(Value::Integer),
        ValueKind::Counter => long().ok().map(Value::Integer),
        ValueKind::Varint | ValueKind::Decimal => Some(Value::Number(class.to_text(bytes))),
        ValueKind::Float => {
            <[u8; 4]>::try_from(&bytes[..]).ok().map(|bytes| Value::Float(f32::from_be_bytes(bytes)))
        }
        ValueKind::Double => {
            <[u8; 8]>::try_from(&bytes[..]).ok().map(|bytes| Value::Double(f64::from_be_bytes(bytes)))
        }
        ValueKind::Timestamp => long().ok().map(Value::Timestamp),
        ValueKind::Quoted | ValueKind::Unquoted => Some(Value::Text(class.to_text(bytes))),
    };
    value.unwrap_or_else(|| Value::Invalid(bytes.clone()))
}

/// Returns a signed big-endian number of one to eight bytes.
fn integer(bytes: &[u8]) -> Option<i64> {
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { -1 };
    (bytes.len() <= 8).then(|| bytes.iter().fold(sign, |number, byte| (number << 8) | i64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(native: Native, bytes: &[u8]) -> Option<String> {
        let value = ValueType::Cql(CqlType::Native(native));
        value.value(&Field::Bytes(Bytes::copy_from_slice(bytes)), &Types::builtin()).text()
    }

    #[test]
    fn values_have_the_text_of_their_type() {
        let cases: [(Native, &[u8], &str); 10] = [
            (Native::Tinyint, &[0xff], "-1"),
            (Native::Int, &[0x80, 0, 0, 0], "-2147483648"),
            (Native::Int, &[], ""),
            (Native::Int, &[1], "0x01"),
            (Native::Varint, &[1, 0, 0, 0, 0, 0, 0, 0, 0], "18446744073709551616"),
            (Native::Float, &f32::INFINITY.to_be_bytes(), "Infinity"),
            (Native::Double, &1e300f64.to_be_bytes(), "1e300"),
            (Native::Timestamp, &1i64.to_be_bytes(), "1970-01-01 00:00:00.001Z"),
            (Native::Blob, b"a", "0x61"),
            (Native::Text, b"\xff", "0xff"),
        ];
        for (native, bytes, expected) in cases {
            assert_eq!(text(native, bytes).as_deref(), Some(expected), "{native:?} {bytes:?}");
        }
        assert_eq!(ValueType::Bytes.value(&Field::Null, &Types::builtin()).text(), None);
    }

    #[test]
    fn bytes_without_a_type_are_texts_that_differ_if_the_bytes_differ() {
        let cases: [(&[u8], &str); 5] = [
            (b"ada", "ada"),
            (b"two\nlines", "two\nlines"),
            (b"\0", "0x00"),
            (b"0x00", "0x30783030"),
            (b"", ""),
        ];
        for (bytes, expected) in cases {
            assert_eq!(bytes_text(bytes), expected);
        }
    }
}
