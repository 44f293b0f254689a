//! Thrift values of any type, as trees.
//!
//! A tree is read from a message without the interface of its method: the binary protocol names the type of each value.
//! It can be written back, and converted to and from the JSON of recordings, in which each value names its type:
//!
//! ```text
//!   {"t": "name"}                      a string or binary that is text; {"x": "00ff"} otherwise
//!   {"s": {"1": {"i": 5}}}             a struct: fields by id
//!   {"L": ["t", [{"t": "a"}]]}         a list: type of the elements, elements; "S" a set
//!   {"M": ["t", "l", [[k, v], ..]]}    a map: types of keys and values, pairs
//! ```

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use serde_json::{Map, Value as Json, json};

use super::type_letter::{letter_of, type_of};
use crate::limits::TRAFFIC_VALUES_MAX;
use base::util::unhex;
use wire::limits::NESTING_MAX;
use wire::thrift::{Reader, TType, WireError, Writer};

/// The fields of a struct, by id.
pub type Fields = BTreeMap<i16, Value>;

/// A Thrift value of any type.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names are those of Thrift's types")]
pub enum Value {
    Bool(bool),
    Byte(i8),
    Double(f64),
    I16(i16),
    I32(i32),
    I64(i64),
    /// A string or binary: the protocol does not tell them apart.
    Binary(Bytes),
    Struct(Fields),
    List(TType, Vec<Value>),
    Set(TType, Vec<Value>),
    Map(TType, TType, Vec<(Value, Value)>),
}

/// Why a value cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The bytes are not of a value.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// More values than the limit allows.
    #[error("the message has more than {TRAFFIC_VALUES_MAX} values")]
    TooMany,
    #[error("{bytes} bytes follow the end of the message")]
    /// More follows a whole message.
    Trailing {
        /// The number of bytes.
        bytes: usize,
    },
    /// JSON that is not of a value.
    #[error("{0}")]
    Json(String),
}

impl Value {
    /// Returns the type of the value.
    pub fn ttype(&self) -> TType {
        match self {
            Value::Bool(_) => TType::Bool,
            Value::Byte(_) => TType::Byte,
            Value::Double(_) => TType::Double,
            Value::I16(_) => TType::I16,
            Value::I32(_) => TType::I32,
            Value::I64(_) => TType::I64,
            Value::Binary(_) => TType::String,
            Value::Struct(_) => TType::Struct,
            Value::List(..) => TType::List,
            Value::Set(..) => TType::Set,
            Value::Map(..) => TType::Map,
        }
    }

    /// Writes the value; a struct with its end.
    pub fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Value::Bool(value) => writer.bool(*value),
            Value::Byte(value) => writer.i8(*value),
            Value::Double(value) => writer.f64(*value),
            Value::I16(value) => writer.i16(*value),
            Value::I32(value) => writer.i32(*value),
            Value::I64(value) => writer.i64(*value),
            Value::Binary(value) => writer.bytes(value),
            Value::Struct(fields) => write_fields(fields, writer),
            Value::List(element, items) | Value::Set(element, items) => {
                writer.list_begin(*element, items.len());
                items.iter().for_each(|item| item.write(writer));
            }
            Value::Map(key, value, pairs) => {
                writer.map_begin(*key, *value, pairs.len());
                for (key, value) in pairs {
                    key.write(writer);
                    value.write(writer);
                }
            }
        }
    }

    /// Passes the value and all values in it.
    pub(crate) fn visit(&self, each: &mut impl FnMut(&Value)) {
        each(self);
        match self {
            Value::Struct(fields) => fields.values().for_each(|value| value.visit(each)),
            Value::List(_, items) | Value::Set(_, items) => items.iter().for_each(|item| item.visit(each)),
            Value::Map(_, _, pairs) => pairs.iter().for_each(|(key, value)| {
                key.visit(each);
                value.visit(each);
            }),
            _ => {}
        }
    }

    /// Returns the bytes of the value.
    pub fn encoded(&self) -> BytesMut {
        let mut out = BytesMut::new();
        self.write(&mut Writer::new(&mut out));
        out
    }

    /// Reads a value of this type. Binaries are slices of the message if the reader has it.
    ///
    /// # Errors
    ///
    /// If the bytes are not of a value, or have more values or levels than the limits allow.
    pub fn read(reader: &mut Reader<'_>, ttype: TType) -> Result<Value, ValueError> {
        TreeReader { left: TRAFFIC_VALUES_MAX }.value(reader, ttype, NESTING_MAX)
    }

    /// Returns the value with sets and maps sorted, and without the element types of empty containers, so that values
    /// that clients cannot tell apart are equal.
    #[must_use]
    pub fn canonical(self) -> Value {
        let all = |items: Vec<Value>| items.into_iter().map(Value::canonical).collect::<Vec<_>>();
        let or_stop = |ttype, is_empty: bool| if is_empty { TType::Stop } else { ttype };
        match self {
            Value::List(element, items) => Value::List(or_stop(element, items.is_empty()), all(items)),
            Value::Set(element, items) => {
                let mut items = all(items);
                items.sort_by_cached_key(Value::encoded);
                Value::Set(or_stop(element, items.is_empty()), items)
            }
            Value::Map(key, value, pairs) => {
                let mut pairs: Vec<_> =
                    pairs.into_iter().map(|(key, value)| (key.canonical(), value.canonical())).collect();
                pairs.sort_by_cached_key(|(key, _)| key.encoded());
                let is_empty = pairs.is_empty();
                Value::Map(or_stop(key, is_empty), or_stop(value, is_empty), pairs)
            }
            Value::Struct(fields) => {
                Value::Struct(fields.into_iter().map(|(id, value)| (id, value.canonical())).collect())
            }
            other => other,
        }
    }

    /// Returns a field of a struct.
    pub fn get(&self, id: i16) -> Option<&Value> {
        match self {
            Value::Struct(fields) => fields.get(&id),
            _ => None,
        }
    }

    /// Returns the bytes of a string or binary.
    pub fn as_binary(&self) -> Option<&Bytes> {
        match self {
            Value::Binary(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns an integer of any length.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Byte(value) => Some((*value).into()),
            Value::I16(value) => Some((*value).into()),
            Value::I32(value) => Some((*value).into()),
            Value::I64(value) => Some(*value),
            _ => None,
        }
    }

    /// Calls `change` with each string and binary of the tree: in a map the keys before their values.
    pub fn each_binary(&mut self, change: &mut impl FnMut(&mut Bytes)) {
        match self {
            Value::Binary(bytes) => change(bytes),
            Value::Struct(fields) => fields.values_mut().for_each(|value| value.each_binary(change)),
            Value::List(_, items) | Value::Set(_, items) => {
                items.iter_mut().for_each(|item| item.each_binary(change));
            }
            Value::Map(_, _, pairs) => {
                for (key, value) in pairs {
                    key.each_binary(change);
                    value.each_binary(change);
                }
            }
            _ => {}
        }
    }

    /// Returns the value as JSON that names its type.
    pub fn to_json(&self) -> Json {
        let items = |items: &[Value]| items.iter().map(Value::to_json).collect::<Vec<_>>();
        match self {
            Value::Bool(value) => json!({ "b": value }),
            Value::Byte(value) => json!({ "y": value }),
            Value::I16(value) => json!({ "h": value }),
            Value::I32(value) => json!({ "i": value }),
            Value::I64(value) => json!({ "l": value }),
            // JSON has no number for infinity and NaN.
            Value::Double(value) if !value.is_finite() => json!({ "d": value.to_string() }),
            Value::Double(value) => json!({ "d": value }),
            Value::Binary(bytes) => match plain_text(bytes) {
                Some(text) => json!({ "t": text }),
                None => json!({ "x": base::util::hex(bytes) }),
            },
            Value::Struct(fields) => json!({ "s": fields_to_json(fields) }),
            Value::List(element, list) => json!({ "L": [letter_of(*element), items(list)] }),
            Value::Set(element, set) => json!({ "S": [letter_of(*element), items(set)] }),
            Value::Map(key, value, pairs) => {
                let pairs: Vec<_> =
                    pairs.iter().map(|(key, value)| [key.to_json(), value.to_json()]).collect();
                json!({ "M": [letter_of(*key), letter_of(*value), pairs] })
            }
        }
    }

    /// Converts the JSON of a value.
    ///
    /// # Errors
    ///
    /// If the JSON is not of a value; the text quotes the part that is not.
    pub fn from_json(json: &Json) -> Result<Value, ValueError> {
        let wrong = || ValueError::Json(format!("no value is written as {}", excerpt(json)));
        let object = json.as_object().filter(|object| object.len() == 1).ok_or_else(wrong)?;
        let (letter, value) = object.iter().next().ok_or_else(wrong)?;
        let text = || value.as_str().ok_or_else(wrong);
        Ok(match &letter[..] {
            "b" => Value::Bool(value.as_bool().ok_or_else(wrong)?),
            "y" => Value::Byte(int(value).ok_or_else(wrong)?),
            "h" => Value::I16(int(value).ok_or_else(wrong)?),
            "i" => Value::I32(int(value).ok_or_else(wrong)?),
            "l" => Value::I64(int(value).ok_or_else(wrong)?),
            "d" => Value::Double(match value {
                Json::String(text) => text.parse().map_err(|_| wrong())?,
                number => number.as_f64().ok_or_else(wrong)?,
            }),
            "t" => Value::Binary(Bytes::copy_from_slice(text()?.as_bytes())),
            "x" => Value::Binary(unhex(text()?.as_bytes()).ok_or_else(wrong)?.into()),
            "s" => Value::Struct(fields_from_json(value)?),
            "L" | "S" => {
                let [element, items] = &value.as_array().ok_or_else(wrong)?[..] else { return Err(wrong()) };
                let element = type_of(element).ok_or_else(wrong)?;
                let items = items.as_array().ok_or_else(wrong)?;
                let items =
                    items.iter().map(|item| Value::of_type(item, element)).collect::<Result<_, _>>()?;
                if letter == "L" { Value::List(element, items) } else { Value::Set(element, items) }
            }
            "M" => map_from_json(value)?,
            _ => return Err(wrong()),
        })
    }

    /// Converts the JSON of an element of a list, set or map with this type.
    fn of_type(json: &Json, ttype: TType) -> Result<Value, ValueError> {
        let value = Value::from_json(json)?;
        if value.ttype() == ttype {
            return Ok(value);
        }
        let letter = letter_of(ttype);
        Err(ValueError::Json(format!("an element of a container of {letter:?} is {}", excerpt(json))))
    }
}

/// Writes the fields of a struct and its end.
pub fn write_fields(fields: &Fields, writer: &mut Writer<'_>) {
    for (id, value) in fields {
        writer.field_begin(value.ttype(), *id);
        value.write(writer);
    }
    writer.stop();
}

/// Reads the fields of a struct, such as the arguments of a call. Of fields with the same id the last counts, as for
/// servers.
///
/// # Errors
///
/// As `Value::read`.
pub fn read_fields(reader: &mut Reader<'_>) -> Result<Fields, ValueError> {
    TreeReader { left: TRAFFIC_VALUES_MAX }.fields(reader, NESTING_MAX)
}

/// Returns fields as JSON, by id.
pub fn fields_to_json(fields: &Fields) -> Json {
    Json::Object(fields.iter().map(|(id, value)| (id.to_string(), value.to_json())).collect::<Map<_, _>>())
}

/// Converts the JSON of a struct's fields.
///
/// # Errors
///
/// As `Value::from_json`.
pub fn fields_from_json(json: &Json) -> Result<Fields, ValueError> {
    let wrong = || ValueError::Json(format!("not fields by id: {}", excerpt(json)));
    let field =
        |(id, value): (&String, &Json)| Ok((id.parse().map_err(|_| wrong())?, Value::from_json(value)?));
    json.as_object().ok_or_else(wrong)?.iter().map(field).collect()
}

fn map_from_json(json: &Json) -> Result<Value, ValueError> {
    let wrong = || ValueError::Json(format!("no map is written as {}", excerpt(json)));
    let [key, value, pairs] = &json.as_array().ok_or_else(wrong)?[..] else { return Err(wrong()) };
    let (key_type, value_type) = type_of(key).zip(type_of(value)).ok_or_else(wrong)?;
    let mut values = Vec::new();
    for pair in pairs.as_array().ok_or_else(wrong)? {
        let [key, value] = &pair.as_array().ok_or_else(wrong)?[..] else { return Err(wrong()) };
        values.push((Value::of_type(key, key_type)?, Value::of_type(value, value_type)?));
    }
    Ok(Value::Map(key_type, value_type, values))
}

fn int<T: TryFrom<i64>>(json: &Json) -> Option<T> {
    json.as_i64()?.try_into().ok()
}

/// Returns bytes as text if they are UTF-8 without control characters.
pub fn plain_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control))
}

/// Returns the first characters of JSON, for a message.
fn excerpt(json: &Json) -> String {
    const CHARACTERS: usize = 80;
    json.to_string().chars().take(CHARACTERS).collect()
}

/// Reads a tree, and counts its values.
struct TreeReader {
    /// Values that may still follow.
    left: usize,
}

impl TreeReader {
    fn value(&mut self, reader: &mut Reader<'_>, ttype: TType, levels: usize) -> Result<Value, ValueError> {
        self.left = self.left.checked_sub(1).ok_or(ValueError::TooMany)?;
        Ok(match ttype {
            TType::Bool => Value::Bool(reader.bool()?),
            TType::Byte => Value::Byte(reader.i8()?),
            TType::Double => Value::Double(reader.f64()?),
            TType::I16 => Value::I16(reader.i16()?),
            TType::I32 => Value::I32(reader.i32()?),
            TType::I64 => Value::I64(reader.i64()?),
            TType::String => Value::Binary(reader.bytes()?),
            TType::Struct => Value::Struct(self.fields(reader, levels)?),
            TType::List => {
                let (element, items) = self.items(reader, levels)?;
                Value::List(element, items)
            }
            TType::Set => {
                let (element, items) = self.items(reader, levels)?;
                Value::Set(element, items)
            }
            TType::Map => {
                let below = deeper(levels)?;
                let (key, value, count) = reader.map_begin()?;
                let mut pairs = Vec::new();
                for _ in 0..count {
                    pairs.push((self.value(reader, key, below)?, self.value(reader, value, below)?));
                }
                Value::Map(key, value, pairs)
            }
            TType::Stop => return Err(WireError::UnknownType { at: reader.position(), code: 0 }.into()),
        })
    }

    fn fields(&mut self, reader: &mut Reader<'_>, levels: usize) -> Result<Fields, ValueError> {
        let below = deeper(levels)?;
        let mut fields = Fields::new();
        while let Some((ttype, id)) = reader.field_begin()? {
            fields.insert(id, self.value(reader, ttype, below)?);
        }
        Ok(fields)
    }

    fn items(&mut self, reader: &mut Reader<'_>, levels: usize) -> Result<(TType, Vec<Value>), ValueError> {
        let below = deeper(levels)?;
        let (element, count) = reader.list_begin()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.value(reader, element, below)?);
        }
        Ok((element, items))
    }
}

fn deeper(levels: usize) -> Result<usize, ValueError> {
    levels.checked_sub(1).ok_or(ValueError::Wire(WireError::TooDeep { limit: NESTING_MAX }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn binary(text: &'static [u8]) -> Value {
        Value::Binary(Bytes::from_static(text))
    }

    #[test]
    fn values_are_written_as_json_of_recordings() {
        let value = Value::Struct(Fields::from([
            (1, Value::Map(TType::String, TType::I64, vec![(binary(b"a"), Value::I64(-5))])),
            (2, Value::List(TType::String, vec![binary("日".as_bytes()), binary(b"\0\xff")])),
            (3, Value::Set(TType::Stop, vec![])),
            (4, Value::Bool(true)),
        ]));
        let expected = json!({"s": {
            "1": {"M": ["t", "l", [[{"t": "a"}, {"l": -5}]]]},
            "2": {"L": ["t", [{"t": "日"}, {"x": "00ff"}]]},
            "3": {"S": ["", []]},
            "4": {"b": true},
        }});
        assert_eq!(value.to_json(), expected);
        assert_eq!(Value::from_json(&expected), Ok(value));
    }

    #[test]
    fn json_that_is_no_value_is_refused() {
        for json in [
            json!(5),
            json!({}),
            json!({"q": 1}),
            json!({"y": 300}),
            json!({"x": "0"}),
            json!({"x": "0g"}),
            json!({"L": ["t", [{"i": 1}]]}),
            json!({"M": ["t", "t", [[{"t": "a"}]]]}),
            json!({"s": {"a": {"i": 1}}}),
            json!({"s": {"70000": {"i": 1}}}),
            json!({"d": "much"}),
        ] {
            assert!(matches!(Value::from_json(&json), Err(ValueError::Json(_))), "{json}");
        }
    }

    #[test]
    fn canonical_values_have_no_order_of_maps_and_sets() {
        let pair = |key, value| (binary(key), Value::Set(TType::I32, value));
        let map = |pairs| Value::Map(TType::String, TType::Set, pairs);
        let one = map(vec![pair(b"a", vec![Value::I32(1), Value::I32(2)]), pair(b"b", vec![])]);
        let other = map(vec![pair(b"b", vec![]), pair(b"a", vec![Value::I32(2), Value::I32(1)])]);
        assert_ne!(one, other);
        assert_eq!(one.canonical(), other.canonical());
        let list = |items| Value::List(TType::I32, items);
        assert_ne!(
            list(vec![Value::I32(1), Value::I32(2)]).canonical(),
            list(vec![Value::I32(2), Value::I32(1)]).canonical()
        );
        assert_eq!(list(vec![]).canonical(), Value::List(TType::String, vec![]).canonical());
    }

    #[test]
    fn values_above_the_limits_are_refused() {
        let mut many = vec![2, 0, 0, 0, 0];
        let count = TRAFFIC_VALUES_MAX;
        many[1..5].copy_from_slice(&u32::try_from(count).unwrap().to_be_bytes());
        many.resize(5 + count, 1);
        assert_eq!(Value::read(&mut Reader::over(&many), TType::List), Err(ValueError::TooMany));
        let deep = [15, 0, 0, 0, 1].repeat(NESTING_MAX + 2);
        let too_deep = ValueError::Wire(WireError::TooDeep { limit: NESTING_MAX });
        assert_eq!(Value::read(&mut Reader::over(&deep), TType::List), Err(too_deep));
    }

    fn values() -> impl Strategy<Value = Value> {
        let plain = prop_oneof![
            any::<bool>().prop_map(Value::Bool),
            any::<i8>().prop_map(Value::Byte),
            any::<i16>().prop_map(Value::I16),
            any::<i32>().prop_map(Value::I32),
            any::<i64>().prop_map(Value::I64),
            prop_oneof![any::<f64>(), Just(f64::INFINITY), Just(f64::NEG_INFINITY)]
                .prop_filter("NaN differs from itself", |number| !number.is_nan())
                .prop_map(Value::Double),
            prop::collection::vec(any::<u8>(), 0..9).prop_map(|bytes| Value::Binary(bytes.into())),
            "[a-zé\n]{0,6}".prop_map(|text| Value::Binary(text.into())),
        ];
        plain.prop_recursive(4, 40, 5, |inner| {
            let fields = prop::collection::btree_map(any::<i16>(), inner.clone(), 0..4);
            let like = |first: Value, count: usize| {
                let ttype = first.ttype();
                (ttype, vec![first; count])
            };
            prop_oneof![
                fields.prop_map(Value::Struct),
                (inner.clone(), 1..4_usize).prop_map(move |(first, count)| {
                    let (ttype, items) = like(first, count);
                    Value::List(ttype, items)
                }),
                (inner.clone(), inner)
                    .prop_map(|(key, value)| { Value::Map(key.ttype(), value.ttype(), vec![(key, value)]) }),
            ]
        })
    }

    proptest! {
        #[test]
        fn bytes_and_json_restore_a_value(value in values()) {
            let bytes = value.encoded();
            prop_assert_eq!(&Value::read(&mut Reader::over(&bytes), value.ttype()).unwrap(), &value);
            let text = value.to_json().to_string();
            prop_assert_eq!(&Value::from_json(&serde_json::from_str(&text).unwrap()).unwrap(), &value);
        }
    }
}
