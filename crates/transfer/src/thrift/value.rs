//! Values of Thrift messages, read and written with the library of the Thrift project.
//!
//! The server reads and writes messages with `wire`. Clients use another implementation, so that a mistake of `wire` is
//! not made twice. Names and values are bytes: those of old clients are not always UTF-8.

use std::collections::BTreeMap;

use bytes::Bytes;
use thrift::protocol::{
    TFieldIdentifier, TInputProtocol, TListIdentifier, TMapIdentifier, TOutputProtocol, TStructIdentifier,
    TType,
};
use thrift::{ProtocolError, ProtocolErrorKind};

use wire::limits::NESTING_MAX;

/// Fewest bytes that the values of a long reply take, on average. A column with an empty name and value has 30 bytes, and
/// is five values with its two structs. In memory a value takes more, so a reply of shorter ones is refused.
const VALUE_BYTES_MIN: usize = 5;
/// Values that a reply may have whatever its length is.
const VALUES_ALWAYS: usize = 1024;
/// Most values of a reply, which take about 200 MB of memory. Pages have fewer.
const VALUES_MAX: usize = 1 << 22;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum ThriftValue {
    /// A `bool`.
    Bool(bool),
    /// An `i32` or a shorter number.
    Int(i32),
    /// An `i64`.
    Long(i64),
    /// A `double`.
    Double(f64),
    /// A `string` or a `binary`.
    Bytes(Bytes),
    /// A struct, a union or an exception.
    Struct(Fields),
    /// A `list` or a `set`.
    List(Vec<ThriftValue>),
    /// A `map`: its entries in the order of the message.
    Map(Vec<(ThriftValue, ThriftValue)>),
}

/// The fields of a struct by their ids, in the order of the message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fields(pub Vec<(i16, ThriftValue)>);

impl From<&[u8]> for ThriftValue {
    fn from(bytes: &[u8]) -> ThriftValue {
        ThriftValue::Bytes(Bytes::copy_from_slice(bytes))
    }
}

impl From<&str> for ThriftValue {
    fn from(text: &str) -> ThriftValue {
        text.as_bytes().into()
    }
}

impl<const N: usize> From<[(i16, ThriftValue); N]> for ThriftValue {
    fn from(fields: [(i16, ThriftValue); N]) -> ThriftValue {
        ThriftValue::Struct(Fields(fields.into()))
    }
}

pub(super) fn invalid(kind: ProtocolErrorKind, message: &str) -> thrift::Error {
    ProtocolError::new(kind, message).into()
}

/// Returns the text of an error. The library prints a fixed text for its kind instead.
pub(super) fn text_of(error: &thrift::Error) -> String {
    match error {
        thrift::Error::Protocol(ProtocolError { message, .. }) => message.clone(),
        thrift::Error::Transport(error) => error.message.clone(),
        thrift::Error::Application(error) => error.message.clone(),
        thrift::Error::User(error) => error.to_string(),
    }
}

/// Reads the values of a message.
pub(super) struct ValueReader<'i> {
    input: &'i mut dyn TInputProtocol,
    values_left: usize,
    depth: usize,
}

impl<'i> ValueReader<'i> {
    /// Returns a reader of a message with so many bytes.
    pub(super) fn new(input: &'i mut dyn TInputProtocol, bytes: usize) -> ValueReader<'i> {
        let values_left = (VALUES_ALWAYS + bytes / VALUE_BYTES_MIN).min(VALUES_MAX);
        ValueReader { input, values_left, depth: 0 }
    }

    /// Reads the fields of a struct.
    pub(super) fn fields(&mut self) -> thrift::Result<Fields> {
        let mut fields = Vec::new();
        loop {
            let field = self.input.read_field_begin()?;
            match (field.field_type, field.id) {
                (TType::Stop, _) => return Ok(Fields(fields)),
                (of, Some(id)) => fields.push((id, self.value(of)?)),
                (_, None) => return Err(invalid(ProtocolErrorKind::InvalidData, "a field without an id")),
            }
        }
    }

    fn value(&mut self, of: TType) -> thrift::Result<ThriftValue> {
        if self.values_left == 0 || self.depth >= NESTING_MAX {
            let why = "the reply has more or deeper values than its bytes can hold";
            return Err(invalid(ProtocolErrorKind::DepthLimit, why));
        }
        self.values_left -= 1;
        self.depth += 1;
        let value = self.content(of)?;
        self.depth -= 1;
        Ok(value)
    }

    fn content(&mut self, of: TType) -> thrift::Result<ThriftValue> {
        Ok(match of {
            TType::Bool => ThriftValue::Bool(self.input.read_bool()?),
            TType::I08 => ThriftValue::Int(self.input.read_i8()?.into()),
            TType::I16 => ThriftValue::Int(self.input.read_i16()?.into()),
            TType::I32 => ThriftValue::Int(self.input.read_i32()?),
            TType::I64 => ThriftValue::Long(self.input.read_i64()?),
            TType::Double => ThriftValue::Double(self.input.read_double()?),
            TType::String => ThriftValue::Bytes(self.input.read_bytes()?.into()),
            TType::Struct => ThriftValue::Struct(self.fields()?),
            TType::List => {
                let list = self.input.read_list_begin()?;
                self.elements(list.element_type, list.size)?
            }
            TType::Set => {
                let set = self.input.read_set_begin()?;
                self.elements(set.element_type, set.size)?
            }
            TType::Map => {
                let TMapIdentifier { key_type, value_type, size } = self.input.read_map_begin()?;
                let mut pairs = Vec::new();
                for _ in 0..size {
                    let (Some(key), Some(value)) = (key_type, value_type) else { break };
                    pairs.push((self.value(key)?, self.value(value)?));
                }
                ThriftValue::Map(pairs)
            }
            other => {
                return Err(invalid(ProtocolErrorKind::InvalidData, &format!("a value of the type {other}")));
            }
        })
    }

    fn elements(&mut self, of: TType, count: i32) -> thrift::Result<ThriftValue> {
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(self.value(of)?);
        }
        Ok(ThriftValue::List(list))
    }
}

impl Fields {
    /// Writes the fields with their end.
    pub fn write(&self, output: &mut dyn TOutputProtocol) -> thrift::Result<()> {
        output.write_struct_begin(&TStructIdentifier::new(""))?;
        for (id, value) in &self.0 {
            output.write_field_begin(&TFieldIdentifier::new("", value.ttype(), *id))?;
            value.write(output)?;
            output.write_field_end()?;
        }
        output.write_field_stop()?;
        output.write_struct_end()
    }

    /// Takes a field out.
    pub fn take(&mut self, id: i16) -> Option<ThriftValue> {
        let at = self.0.iter().position(|(of, _)| *of == id)?;
        Some(self.0.swap_remove(at).1)
    }

    /// Takes a field out, if it is of the type. This and the following methods skip fields of other types.
    pub fn bytes(&mut self, id: i16) -> Option<Bytes> {
        self.take(id)?.into_bytes().ok()
    }

    /// Takes a `string` out. Bytes that are not UTF-8 are replaced.
    pub fn text(&mut self, id: i16) -> Option<String> {
        self.take(id)?.into_text().ok()
    }

    /// Takes an `i32`, or a shorter number, out.
    pub fn int(&mut self, id: i16) -> Option<i32> {
        if let ThriftValue::Int(number) = self.take(id)? { Some(number) } else { None }
    }

    /// Takes an `i64` out.
    pub fn long(&mut self, id: i16) -> Option<i64> {
        if let ThriftValue::Long(number) = self.take(id)? { Some(number) } else { None }
    }

    /// Takes a `bool` out.
    pub fn bool(&mut self, id: i16) -> Option<bool> {
        if let ThriftValue::Bool(value) = self.take(id)? { Some(value) } else { None }
    }

    /// Takes a `map` of strings out.
    pub fn texts(&mut self, id: i16) -> Option<BTreeMap<String, String>> {
        self.take(id)?.into_texts().ok()
    }

    /// Takes a list of structs. There are none without the field.
    pub fn structs(&mut self, id: i16) -> Result<Vec<Fields>, String> {
        self.take(id).map_or(Ok(Vec::new()), ThriftValue::into_structs)
    }
}

impl ThriftValue {
    fn ttype(&self) -> TType {
        match self {
            ThriftValue::Bool(_) => TType::Bool,
            ThriftValue::Int(_) => TType::I32,
            ThriftValue::Long(_) => TType::I64,
            ThriftValue::Double(_) => TType::Double,
            ThriftValue::Bytes(_) => TType::String,
            ThriftValue::Struct(_) => TType::Struct,
            ThriftValue::List(_) => TType::List,
            ThriftValue::Map(_) => TType::Map,
        }
    }

    fn write(&self, output: &mut dyn TOutputProtocol) -> thrift::Result<()> {
        // A list without elements has the type of names.
        let of = |value: Option<&ThriftValue>| value.map_or(TType::String, ThriftValue::ttype);
        let size = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        match self {
            ThriftValue::Bool(value) => output.write_bool(*value),
            ThriftValue::Int(number) => output.write_i32(*number),
            ThriftValue::Long(number) => output.write_i64(*number),
            ThriftValue::Double(number) => output.write_double(*number),
            ThriftValue::Bytes(bytes) => output.write_bytes(bytes),
            ThriftValue::Struct(fields) => fields.write(output),
            ThriftValue::List(list) => {
                output.write_list_begin(&TListIdentifier::new(of(list.first()), size(list.len())))?;
                list.iter().try_for_each(|value| value.write(output))
            }
            ThriftValue::Map(pairs) => {
                let (key, value) = pairs.first().map(|(key, value)| (key, value)).unzip();
                output.write_map_begin(&TMapIdentifier::new(of(key), of(value), size(pairs.len())))?;
                for (key, value) in pairs {
                    key.write(output)?;
                    value.write(output)?;
                }
                Ok(())
            }
        }
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T, String> {
        Err(format!("the reply has a {} where a {wanted} is expected", self.ttype()))
    }

    /// Returns the bytes of a `string` or a `binary`.
    ///
    /// # Errors
    ///
    /// If the value is of another type. So do the following methods.
    pub fn into_bytes(self) -> Result<Bytes, String> {
        if let ThriftValue::Bytes(bytes) = self { Ok(bytes) } else { self.unexpected("string") }
    }

    /// Returns a text. Bytes that are not UTF-8 are replaced.
    pub fn into_text(self) -> Result<String, String> {
        self.into_bytes().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the fields of a struct.
    pub fn into_fields(self) -> Result<Fields, String> {
        if let ThriftValue::Struct(fields) = self { Ok(fields) } else { self.unexpected("struct") }
    }

    /// Returns the elements of a list or set.
    pub fn into_list(self) -> Result<Vec<ThriftValue>, String> {
        if let ThriftValue::List(list) = self { Ok(list) } else { self.unexpected("list") }
    }

    /// Returns whether this is a struct or a list of structs, as definitions are from 0.7 on.
    pub fn has_structs(&self) -> bool {
        match self {
            ThriftValue::Struct(_) => true,
            ThriftValue::List(list) => matches!(list.first(), Some(ThriftValue::Struct(_))),
            _ => false,
        }
    }

    /// Returns the structs of a list.
    pub fn into_structs(self) -> Result<Vec<Fields>, String> {
        self.into_list()?.into_iter().map(ThriftValue::into_fields).collect()
    }

    /// Returns the pairs of a map with texts as keys.
    pub fn into_pairs(self) -> Result<Vec<(String, ThriftValue)>, String> {
        let ThriftValue::Map(pairs) = self else { return self.unexpected("map") };
        pairs.into_iter().map(|(name, value)| Ok((name.into_text()?, value))).collect()
    }

    /// Returns the texts of a map.
    pub fn into_texts(self) -> Result<BTreeMap<String, String>, String> {
        self.into_pairs()?.into_iter().map(|(name, value)| Ok((name, value.into_text()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use thrift::protocol::{TBinaryInputProtocol, TBinaryOutputProtocol};

    use super::*;

    fn read(bytes: &[u8]) -> thrift::Result<Fields> {
        ValueReader::new(&mut TBinaryInputProtocol::new(bytes, false), bytes.len()).fields()
    }

    #[test]
    fn values_of_all_types_round_trip() {
        let inner = ThriftValue::from([(1, "a".into()), (-2, ThriftValue::Bool(true))]);
        let fields = Fields(vec![
            (1, ThriftValue::Int(-7)),
            (2, ThriftValue::Long(i64::MIN)),
            (3, ThriftValue::Double(0.5)),
            (4, ThriftValue::from(&b"\xff\0"[..])),
            (5, ThriftValue::List(vec![inner.clone(), inner.clone()])),
            (6, ThriftValue::Map(vec![("k".into(), inner)])),
            (7, ThriftValue::List(Vec::new())),
        ]);
        let mut bytes = Vec::new();
        fields.write(&mut TBinaryOutputProtocol::new(&mut bytes, true)).unwrap();
        assert_eq!(read(&bytes).unwrap(), fields);
    }

    #[test]
    fn hostile_replies_are_errors() {
        // A struct, in a struct, ...
        let deep = [&[12, 0, 1].repeat(NESTING_MAX + 1)[..], &[0; NESTING_MAX + 2]].concat();
        assert!(read(&deep).is_err());
        // A list in a list, in a list, ...
        let lists = [&[15, 0, 1][..], &[15, 0, 0, 0, 1].repeat(1_000_000)].concat();
        assert!(read(&lists).is_err());
        // Elements of a byte each: booleans, and structs without fields.
        for element in [2, 12] {
            let short = [&[15, 0, 1, element, 0, 0x10, 0, 0][..], &[0; 0x0010_0001]].concat();
            let error = read(&short).unwrap_err();
            assert_eq!(text_of(&error), "the reply has more or deeper values than its bytes can hold");
        }
        // Lengths and counts of bytes that are not there.
        for cut in [&[11, 0, 1, 0x7f, 0xff, 0xff, 0xff][..], &[15, 0, 1, 10, 0x7f, 0xff, 0xff, 0xff], &[8, 0]]
        {
            assert!(read(cut).is_err(), "{cut:?}");
        }
    }
}
