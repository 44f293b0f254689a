//! Decodes JSON to the bytes of a value.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::kind::JsonKind;
use super::names::name_of_key;
use super::object::JsonObject;
use crate::TypesOf;
use base::compat::texts;
use base::marshal::{
    CollectionForm, CqlType, Native, UserType, ValueKind, at, list_to_bytes, map_to_bytes, tuple_to_bytes,
};

/// Decodes a value; `None` is null. Collections have long lengths. The error is the message of the old servers.
pub(crate) fn from_json(
    cql_type: &CqlType,
    json: &RawValue,
    types: TypesOf<'_>,
) -> Result<Option<Bytes>, String> {
    let kind = JsonKind::of(json);
    match kind {
        JsonKind::Null => Ok(None),
        kind => value_of(cql_type, &kind, types).map(Some),
    }
}

fn value_of(cql_type: &CqlType, kind: &JsonKind<'_>, types: TypesOf<'_>) -> Result<Bytes, String> {
    let is_whole = matches!(cql_type, CqlType::Native(_) | CqlType::Custom(_));
    if let (JsonKind::String(text), false) = (kind, is_whole) {
        // Keys of objects are strings, so a key with several parts is JSON inside a string.
        let inner: &RawValue =
            serde_json::from_str(text).map_err(|error| format!("Error decoding JSON string: {error}"))?;
        let inner = JsonKind::of(inner);
        return match inner {
            JsonKind::String(_) => of_parts(cql_type, &inner, types),
            inner => value_of(cql_type, &inner, types),
        };
    }
    match cql_type {
        CqlType::Native(native) => of_native(*native, kind, types),
        CqlType::Custom(_) => match kind {
            JsonKind::String(text) => parsed(cql_type, text, types),
            other => Err(other.unexpected("a string")),
        },
        _ => of_parts(cql_type, kind, types),
    }
}

fn of_parts(cql_type: &CqlType, kind: &JsonKind<'_>, types: TypesOf<'_>) -> Result<Bytes, String> {
    match cql_type {
        CqlType::List { element, .. } => {
            let elements = elements(element, "a list", "list", kind, types)?;
            Ok(list_to_bytes(&elements, CollectionForm::Long))
        }
        CqlType::Set { element, .. } => {
            let mut elements = elements(element, "a list (representing a set)", "set", kind, types)?;
            let class = element.type_ref(types.types);
            let view = at(&*class, types.release);
            elements.sort_by(|a, b| view.compare(a, b));
            elements.dedup_by(|a, b| view.compare(a, b).is_eq());
            Ok(list_to_bytes(&elements, CollectionForm::Long))
        }
        CqlType::Map { key, value, .. } => of_map(key, value, kind, types),
        CqlType::Tuple(fields) => of_tuple(fields, kind, types),
        CqlType::User { user, .. } => of_user(user, kind, types),
        CqlType::Native(_) | CqlType::Custom(_) => Err(kind.unexpected("a value")),
    }
}

/// Parses a text as the type does.
fn parsed(cql_type: &CqlType, text: &str, types: TypesOf<'_>) -> Result<Bytes, String> {
    let class = cql_type.type_ref(types.types);
    let parsed = at(&*class, types.release).parse_text(text);
    parsed.map(Bytes::from).map_err(|error| texts::later_value_mistake(&error.0))
}

fn of_native(native: Native, kind: &JsonKind<'_>, types: TypesOf<'_>) -> Result<Bytes, String> {
    let read = |text: &str| parsed(&CqlType::Native(native), text, types);
    let expected = native.row().expected;
    match (native.kind(), kind) {
        (ValueKind::Text, JsonKind::String(text)) if native == Native::Ascii && !text.is_ascii() => {
            Err(format!("Invalid ASCII character in string literal: {text}"))
        }
        (ValueKind::Text, JsonKind::String(text)) => Ok(Bytes::copy_from_slice(text.as_bytes())),
        (ValueKind::Text, other) => Err(other.unexpected(expected)),
        (ValueKind::Blob, kind) => blob(kind),
        (ValueKind::Boolean, JsonKind::Boolean(value)) => Ok(Bytes::copy_from_slice(&[u8::from(*value)])),
        (ValueKind::Counter, _) => Err("a counter has no value that could be set".to_owned()),
        (ValueKind::Decimal | ValueKind::Varint, kind) => {
            let text = kind.text();
            let number = read(text).ok().filter(|number| !number.is_empty());
            number.ok_or_else(|| {
                format!("Value '{text}' is not a valid representation of a {} value", native.name())
            })
        }
        (_, JsonKind::String(text)) => read(text),
        (ValueKind::Timestamp, JsonKind::Integer(text)) => read(text),
        (ValueKind::Integer { bytes }, JsonKind::Integer(text)) if bytes < 4 || fits(text, bytes) => {
            read(text)
        }
        (ValueKind::Integer { bytes: 1 | 2 }, JsonKind::Fraction(text)) => read(text),
        (ValueKind::Float | ValueKind::Double, JsonKind::Integer(text) | JsonKind::Fraction(text)) => {
            read(text)
        }
        (_, other) => Err(other.unexpected(expected)),
    }
}

/// Checks whether a number is an int or a bigint. For shorter integers, 2.2 leaves this check to their comparators.
fn fits(number: &str, bytes: usize) -> bool {
    if bytes == 4 { number.parse::<i32>().is_ok() } else { number.parse::<i64>().is_ok() }
}

fn blob(kind: &JsonKind<'_>) -> Result<Bytes, String> {
    let text = kind.text();
    let invalid = |why: String| format!("Value '{text}' is not a valid blob representation: {why}");
    let JsonKind::String(_) = kind else { return Err(invalid(kind.unexpected("a string"))) };
    let Some(digits) = text.strip_prefix("0x") else {
        return Err(invalid(format!("String representation of blob is missing 0x prefix: {text}")));
    };
    let parsed = base::marshal::AbstractType::parse_text(&base::marshal::BytesType, digits);
    parsed.map(Bytes::from).map_err(|error| invalid(error.0))
}

/// Decodes the elements of a list or set; `expected` and `what` are its names in messages.
fn elements(
    element: &CqlType,
    expected: &str,
    what: &str,
    kind: &JsonKind<'_>,
    types: TypesOf<'_>,
) -> Result<Vec<Bytes>, String> {
    let JsonKind::List(json) = kind else { return Err(kind.unexpected(expected)) };
    list(json)?
        .into_iter()
        .map(|json| from_json(element, json, types)?.ok_or_else(|| format!("Invalid null element in {what}")))
        .collect()
}

fn list(json: &RawValue) -> Result<Vec<&RawValue>, String> {
    serde_json::from_str(json.get()).map_err(|error| format!("Error decoding JSON string: {error}"))
}

fn object<'j>(kind: &JsonKind<'j>) -> Result<JsonObject<'j>, String> {
    let JsonKind::Object(json) = kind else { return Err(kind.unexpected("a map")) };
    serde_json::from_str(json.get()).map_err(|error| format!("Error decoding JSON string: {error}"))
}

fn of_map(key: &CqlType, value: &CqlType, kind: &JsonKind<'_>, types: TypesOf<'_>) -> Result<Bytes, String> {
    let mut entries = Vec::new();
    for (name, json) in object(kind)?.0 {
        let name = value_of(key, &JsonKind::String(name), types)?;
        let value = from_json(value, json, types)?;
        entries.push((name, value.ok_or_else(|| "Invalid null value in map".to_owned())?));
    }
    let class = key.type_ref(types.types);
    let view = at(&*class, types.release);
    // The last value of a repeated key is used.
    entries.reverse();
    entries.sort_by(|(a, _), (b, _)| view.compare(a, b));
    entries.dedup_by(|(a, _), (b, _)| view.compare(a, b).is_eq());
    Ok(map_to_bytes(&entries, CollectionForm::Long))
}

fn of_tuple(fields: &[CqlType], kind: &JsonKind<'_>, types: TypesOf<'_>) -> Result<Bytes, String> {
    let JsonKind::List(json) = kind else {
        return Err(kind.unexpected("a list representation of a tuple"));
    };
    let given = list(json)?;
    let wrong = |what: &str| format!("Tuple {what} items (expected {}): {}", fields.len(), json.get());
    match given.len().cmp(&fields.len()) {
        std::cmp::Ordering::Greater => return Err(wrong("contains extra")),
        std::cmp::Ordering::Less => return Err(wrong("is missing")),
        std::cmp::Ordering::Equal => {}
    }
    let read = fields.iter().zip(given).map(|(field, json)| from_json(field, json, types));
    Ok(tuple_to_bytes(&read.collect::<Result<Vec<_>, String>>()?))
}

fn of_user(user: &UserType, kind: &JsonKind<'_>, types: TypesOf<'_>) -> Result<Bytes, String> {
    let given = object(kind)?.0;
    let names: Vec<String> = given.iter().map(|(key, _)| name_of_key(key)).collect();
    if let Some(unknown) = names.iter().find(|name| user.place_of(name).is_none()) {
        return Err(format!("Unknown field '{unknown}' in value of user defined type {}", user.name));
    }
    // The last value of a repeated field is used.
    let places: HashMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (&**name, at)).collect();
    let mut fields = Vec::with_capacity(user.fields.len());
    for (field, cql_type) in &user.fields {
        fields.push(match places.get(&**field) {
            Some(place) => from_json(cql_type, given[*place].1, types)?,
            None => None,
        });
    }
    Ok(tuple_to_bytes(&fields))
}
