//! Thrift values of any type, which tests encode and decode without generated code.

use std::collections::BTreeMap;

use bytes::BytesMut;
use wire::thrift::{Reader, TType, WireError, Writer};

/// The fields of a struct, by id.
pub type Fields = BTreeMap<i16, Value>;

/// A Thrift value of any type.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Bool(bool),
    Byte(i8),
    Double(f64),
    I16(i16),
    I32(i32),
    I64(i64),
    Binary(Vec<u8>),
    Struct(Fields),
    List(TType, Vec<Value>),
    Set(TType, Vec<Value>),
    Map(TType, TType, Vec<(Value, Value)>),
}

/// Returns a string or binary value.
pub fn text(value: impl AsRef<[u8]>) -> Value {
    Value::Binary(value.as_ref().to_vec())
}

/// Returns a struct with these fields.
pub fn fields<const N: usize>(fields: [(i16, Value); N]) -> Value {
    Value::Struct(Fields::from(fields))
}

/// Returns a list of strings.
pub fn texts<T: AsRef<[u8]>>(values: &[T]) -> Value {
    Value::List(TType::String, values.iter().map(text).collect())
}

/// Returns a list of structs.
pub fn structs(values: Vec<Value>) -> Value {
    Value::List(TType::Struct, values)
}

/// Returns a map from strings to values of one type.
pub fn map(value_type: TType, pairs: Vec<(&str, Value)>) -> Value {
    Value::Map(TType::String, value_type, pairs.into_iter().map(|(key, value)| (text(key), value)).collect())
}

impl Value {
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

    pub fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Value::Bool(value) => writer.bool(*value),
            Value::Byte(value) => writer.i8(*value),
            Value::Double(value) => writer.f64(*value),
            Value::I16(value) => writer.i16(*value),
            Value::I32(value) => writer.i32(*value),
            Value::I64(value) => writer.i64(*value),
            Value::Binary(value) => writer.bytes(value),
            Value::Struct(fields) => {
                for (id, value) in fields {
                    writer.field_begin(value.ttype(), *id);
                    value.write(writer);
                }
                writer.stop();
            }
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

    pub fn read(reader: &mut Reader<'_>, ttype: TType) -> Result<Value, WireError> {
        Ok(match ttype {
            TType::Bool => Value::Bool(reader.bool()?),
            TType::Byte => Value::Byte(reader.i8()?),
            TType::Double => Value::Double(reader.f64()?),
            TType::I16 => Value::I16(reader.i16()?),
            TType::I32 => Value::I32(reader.i32()?),
            TType::I64 => Value::I64(reader.i64()?),
            TType::String => Value::Binary(reader.raw()?.to_vec()),
            TType::Struct => {
                let mut fields = Fields::new();
                while let Some((ttype, id)) = reader.field_begin()? {
                    fields.insert(id, Value::read(reader, ttype)?);
                }
                Value::Struct(fields)
            }
            TType::List | TType::Set => {
                let (element, count) = reader.list_begin()?;
                let items: Result<Vec<Value>, _> = (0..count).map(|_| Value::read(reader, element)).collect();
                if ttype == TType::List { Value::List(element, items?) } else { Value::Set(element, items?) }
            }
            TType::Map => {
                let (key, value, count) = reader.map_begin()?;
                let pairs: Result<Vec<_>, WireError> = (0..count)
                    .map(|_| Ok((Value::read(reader, key)?, Value::read(reader, value)?)))
                    .collect();
                Value::Map(key, value, pairs?)
            }
            TType::Stop => return Err(WireError::UnknownType { at: reader.position(), code: 0 }),
        })
    }

    pub fn encoded(&self) -> BytesMut {
        let mut out = BytesMut::new();
        self.write(&mut Writer::new(&mut out));
        out
    }

    /// Returns the value with sets and maps sorted and without the types of empty maps, so that equal values compare
    /// equal.
    pub fn canonical(self) -> Value {
        let sorted = |mut items: Vec<Value>| {
            items.sort_by_cached_key(Value::encoded);
            items
        };
        let all = |items: Vec<Value>| items.into_iter().map(Value::canonical).collect();
        match self {
            Value::Struct(fields) => {
                Value::Struct(fields.into_iter().map(|(id, value)| (id, value.canonical())).collect())
            }
            Value::List(element, items) => Value::List(element, all(items)),
            Value::Set(element, items) => Value::Set(element, sorted(all(items))),
            Value::Map(_, _, pairs) if pairs.is_empty() => Value::Map(TType::Stop, TType::Stop, pairs),
            Value::Map(key, value, pairs) => {
                let canonical = |(key, value): (Value, Value)| (key.canonical(), value.canonical());
                let mut pairs: Vec<(Value, Value)> = pairs.into_iter().map(canonical).collect();
                pairs.sort_by_cached_key(|(key, _)| key.encoded());
                Value::Map(key, value, pairs)
            }
            other => other,
        }
    }

    // The methods below return the content of a value of the expected type, and panic with the value if it has another
    // type.

    pub fn bytes(&self) -> &[u8] {
        match self {
            Value::Binary(bytes) => bytes,
            other => panic!("not a binary: {other:?}"),
        }
    }

    pub fn str(&self) -> &str {
        std::str::from_utf8(self.bytes()).expect("text")
    }

    pub fn int(&self) -> i64 {
        match self {
            Value::I32(number) => i64::from(*number),
            Value::I64(number) => *number,
            other => panic!("not a number: {other:?}"),
        }
    }

    pub fn items(&self) -> &[Value] {
        match self {
            Value::List(_, items) | Value::Set(_, items) => items,
            other => panic!("not a list: {other:?}"),
        }
    }

    pub fn pairs(&self) -> &[(Value, Value)] {
        match self {
            Value::Map(_, _, pairs) => pairs,
            other => panic!("not a map: {other:?}"),
        }
    }

    /// Returns the value of a text key of a map.
    pub fn at(&self, key: &str) -> &Value {
        let found = self.pairs().iter().find(|(found, _)| found.bytes() == key.as_bytes());
        &found.unwrap_or_else(|| panic!("no {key} in {self:?}")).1
    }

    pub fn field(&self, id: i16) -> &Value {
        match self {
            Value::Struct(fields) => fields.get(&id).unwrap_or_else(|| panic!("no field {id} in {self:?}")),
            other => panic!("not a struct: {other:?}"),
        }
    }
}
