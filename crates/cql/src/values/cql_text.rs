//! Writes values as CQL literals.

use crate::comma_list::comma_list;
use bytes::Bytes;

use base::compat::features::releases::NEWEST;
use base::marshal::{
    AbstractType, BytesType, CollectionForm, CqlType, Native, Types, ValueKind, at, list_from_bytes,
    map_from_bytes, tuple_from_bytes,
};
use base::schema::{name_text, quoted_text};

/// Returns a value as a CQL literal that can be parsed back to the same value. Collections have long lengths. Bytes
/// that are not a valid value of the type are written as a blob.
pub fn to_cql_text(cql_type: &CqlType, value: &Bytes) -> String {
    text_of(cql_type, value).unwrap_or_else(|| blob(value))
}

fn blob(value: &[u8]) -> String {
    format!("0x{}", BytesType.to_text(value))
}

fn text_of(cql_type: &CqlType, value: &Bytes) -> Option<String> {
    let list = |element: &CqlType| {
        let elements = list_from_bytes(value, CollectionForm::Long)?;
        Some(comma_list(elements.iter().map(|value| to_cql_text(element, value))))
    };
    let fields = |types: Vec<&CqlType>| {
        let mut texts = Vec::new();
        for (at, field) in tuple_from_bytes(value)?.iter().enumerate() {
            let of = types.get(at)?;
            texts.push(field.as_ref().map_or_else(|| "null".to_owned(), |field| to_cql_text(of, field)));
        }
        Some(texts)
    };
    match cql_type {
        CqlType::Native(native) => native_text(*native, cql_type, value),
        CqlType::Custom(class) => Some(quoted_text(&class.to_text(value))),
        CqlType::List { element, .. } => Some(format!("[{}]", list(element)?)),
        CqlType::Set { element, .. } => Some(format!("{{{}}}", list(element)?)),
        CqlType::Map { key, value: of, .. } => {
            let entries = map_from_bytes(value, CollectionForm::Long)?;
            let entries = entries.iter();
            let texts = entries.map(|(k, v)| format!("{}: {}", to_cql_text(key, k), to_cql_text(of, v)));
            Some(format!("{{{}}}", comma_list(texts)))
        }
        CqlType::Tuple(types) => Some(format!("({})", comma_list(fields(types.iter().collect())?))),
        CqlType::User { user, .. } => {
            let texts = fields(user.fields.iter().map(|(_, of)| of).collect())?;
            let named = user.fields.iter().zip(texts);
            let texts = named.map(|((name, _), text)| format!("{}: {text}", name_text(name)));
            Some(format!("{{{}}}", comma_list(texts)))
        }
    }
}

/// Returns the text of a value of a native type, or `None` if the value is invalid.
fn native_text(native: Native, cql_type: &CqlType, value: &Bytes) -> Option<String> {
    let class = cql_type.type_ref(&Types::builtin());
    let class = at(&*class, NEWEST);
    class.validate(value).ok()?;
    match native.kind() {
        ValueKind::Blob => return Some(blob(value)),
        ValueKind::Text => return std::str::from_utf8(value).ok().map(quoted_text),
        ValueKind::Quoted => return Some(quoted_text(&class.to_text(value))),
        ValueKind::Timestamp => {
            // The text has only whole seconds, and years of four digits.
            let text = class.to_text(value);
            let is_exact = class.parse_text(&text).is_ok_and(|parsed| parsed == value[..]);
            let ms = <[u8; 8]>::try_from(&value[..]).map(i64::from_be_bytes);
            return Some(match ms {
                Ok(ms) if !is_exact => ms.to_string(),
                _ => quoted_text(&text),
            });
        }
        _ => {}
    }
    if value.is_empty() {
        // CQL has no constant for an empty value.
        return Some(format!("blobAs{}(0x)", capitalized(native.name())));
    }
    let text = class.to_text(value);
    Some(match (native.kind(), &*text) {
        (ValueKind::Float | ValueKind::Double, "inf") => "Infinity".to_owned(),
        (ValueKind::Float | ValueKind::Double, "-inf") => "-Infinity".to_owned(),
        _ => text,
    })
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use base::marshal::{NATIVES, UserType};
    use proptest::prelude::*;

    fn native(native: Native) -> CqlType {
        CqlType::Native(native)
    }

    fn text(cql_type: &CqlType, value: &[u8]) -> String {
        to_cql_text(cql_type, &Bytes::copy_from_slice(value))
    }

    #[test]
    fn values_are_written_as_constants() {
        assert_eq!(text(&native(Native::Text), b"it's"), "'it''s'");
        assert_eq!(text(&native(Native::Blob), b"\xca\xfe"), "0xcafe");
        assert_eq!(text(&native(Native::Int), &[0xFF; 4]), "-1");
        assert_eq!(text(&native(Native::Int), b""), "blobAsInt(0x)");
        assert_eq!(text(&native(Native::Int), b"x"), "0x78");
        assert_eq!(text(&native(Native::Inet), &[127, 0, 0, 1]), "'127.0.0.1'");
        assert_eq!(text(&native(Native::Timestamp), &1000i64.to_be_bytes()), "'1970-01-01 00:00:01+0000'");
        assert_eq!(text(&native(Native::Timestamp), &1001i64.to_be_bytes()), "1001");
        assert_eq!(text(&native(Native::Double), &f64::NEG_INFINITY.to_be_bytes()), "-Infinity");
    }

    #[test]
    fn collections_tuples_and_user_types_are_written_as_literals() {
        let int = || Box::new(native(Native::Int));
        let map = CqlType::Map { key: Box::new(native(Native::Text)), value: int(), is_frozen: false };
        let one = [0, 0, 0, 1, 0, 0, 0, 1, b'a', 0, 0, 0, 4, 0, 0, 0, 7];
        assert_eq!(text(&map, &one), "{'a': 7}");
        assert_eq!(text(&map, b"\0\0\0\x01"), "0x00000001");
        let list = CqlType::List { element: int(), is_frozen: true };
        assert_eq!(text(&list, &[0; 4]), "[]");
        let fields = vec![("street".to_owned(), native(Native::Text)), ("Zip".to_owned(), *int())];
        let user = CqlType::frozen_user(Arc::new(UserType::new("ks", "address", fields.clone())));
        let value = [0, 0, 0, 1, b's', 0xFF, 0xFF, 0xFF, 0xFF];
        assert_eq!(text(&user, &value), "{street: 's', \"Zip\": null}");
        assert_eq!(
            text(&CqlType::Tuple(fields.into_iter().map(|(_, of)| of).collect()), &value),
            "('s', null)"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_written(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            for row in NATIVES {
                let of = native(row.native);
                let list = CqlType::List { element: Box::new(of.clone()), is_frozen: false };
                prop_assert!(!text(&of, &bytes).is_empty());
                prop_assert!(!text(&CqlType::Tuple(vec![of, list]), &bytes).is_empty());
            }
        }
    }
}
