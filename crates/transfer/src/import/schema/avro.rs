//! Decodes values of Avro, the format in which Cassandra 0.7 to 1.0 stored their schema.
//!
//! The bytes have neither names nor types: they are read along the schema with which they were written, a JSON text that the
//! servers stored beside them. A field that a release did not have yet is simply not in its schema.
//!
//! ```text
//!   schema  {"type":"record","name":"CfDef","fields":[
//!              {"name":"name","type":"string"},             {"name":"comment","type":["string","null"]},
//!              {"name":"gc_grace_seconds","type":["int","null"]}, {"name":"durable_writes","type":"boolean"}]}
//!   bytes   0a C a r t s        a number is a varint in zigzag: 0a is the length 5
//!           02                  the second branch of the union: null
//!           00 80 bc 69         the first branch, and 864,000
//!           01                  true
//! ```
//!
//! Arrays and maps are blocks: a count, then as many elements; the count zero ends them. A negative count is followed by the
//! size of the block in bytes.
//!
//! This decoder is our own: it needs the few types of that schema, JSON is parsed by serde_json, and the crate `apache-avro`
//! would also bring what it needs for writing, compression and logical types.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use serde_json::Value as Json;

/// The depth to which types may be nested. Cassandra's are six deep.
const DEPTH_MAX: usize = 32;
/// Most types with a name. Cassandra has four.
const NAMED_TYPES_MAX: usize = 100;
/// Most values for each byte, and for none. Only null and records without fields have no bytes of their own.
const VALUES_OF_BYTE: usize = 4;
const VALUES_OF_NONE: usize = 1 << 10;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AvroValue {
    Null,
    Bool(bool),
    /// An `int` or a `long`.
    Int(i64),
    /// A `float` or a `double`.
    Double(f64),
    Bytes(Bytes),
    /// A `string`, or the symbol of an `enum`.
    Text(String),
    List(Vec<AvroValue>),
    /// A `record` or a `map`.
    Fields(BTreeMap<String, AvroValue>),
}

impl AvroValue {
    /// Returns a field of a record. `Null` if there is none.
    pub(super) fn field(&self, name: &str) -> &AvroValue {
        match self {
            AvroValue::Fields(fields) => fields.get(name).unwrap_or(&AvroValue::Null),
            _ => &AvroValue::Null,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let AvroValue::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn bytes(&self) -> Option<&Bytes> {
        if let AvroValue::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    pub(super) fn bool(&self) -> Option<bool> {
        if let AvroValue::Bool(value) = self { Some(*value) } else { None }
    }

    /// Returns an `int`.
    pub(super) fn int(&self) -> Option<i32> {
        if let AvroValue::Int(value) = self { i32::try_from(*value).ok() } else { None }
    }

    pub(super) fn double(&self) -> Option<f64> {
        if let AvroValue::Double(value) = self { Some(*value) } else { None }
    }

    /// Returns the elements of an array; none of another value.
    pub(super) fn list(&self) -> &[AvroValue] {
        if let AvroValue::List(list) = self { list } else { &[] }
    }

    /// Returns the texts of a map.
    pub(super) fn texts(&self) -> Option<BTreeMap<String, String>> {
        let AvroValue::Fields(fields) = self else { return None };
        fields.iter().map(|(name, value)| Some((name.clone(), value.text()?.to_owned()))).collect()
    }
}

/// A type of a schema.
#[derive(Debug, Clone)]
enum AvroType {
    Null,
    Boolean,
    Int,
    Float,
    Double,
    Bytes,
    String,
    Fixed(usize),
    Enum(Vec<String>),
    Array(Arc<AvroType>),
    Map(Arc<AvroType>),
    Union(Vec<Arc<AvroType>>),
    Record(Vec<(String, Arc<AvroType>)>),
}

/// A schema, which says how bytes are read.
#[derive(Debug, Clone)]
pub(super) struct AvroSchema {
    of: Arc<AvroType>,
}

impl AvroSchema {
    /// Parses the JSON text of a schema.
    ///
    /// # Errors
    ///
    /// The reason, if it is not one, or has a type that refers to itself.
    pub(super) fn parse(text: &str) -> Result<AvroSchema, String> {
        let json: Json = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let of = AvroParser::default().parse(&json, 0)?;
        Ok(AvroSchema { of })
    }

    /// Decodes a value, which must be all of the bytes.
    ///
    /// # Errors
    ///
    /// The reason, if the bytes contradict the schema.
    pub(super) fn decode(&self, bytes: &Bytes) -> Result<AvroValue, String> {
        let values_left = bytes.len().saturating_mul(VALUES_OF_BYTE).saturating_add(VALUES_OF_NONE);
        let mut reader = AvroReader { rest: bytes.clone(), values_left, depth: 0 };
        let value = reader.value(&self.of)?;
        match reader.rest.len() {
            0 => Ok(value),
            left => Err(format!("{left} bytes follow the value")),
        }
    }
}

/// Reads the types of a schema. Those with a name can be used again by it.
#[derive(Default)]
struct AvroParser {
    named: BTreeMap<String, Arc<AvroType>>,
}

impl AvroParser {
    fn parse(&mut self, json: &Json, depth: usize) -> Result<Arc<AvroType>, String> {
        if depth > DEPTH_MAX {
            return Err(format!("its types are nested more than {DEPTH_MAX} deep"));
        }
        match json {
            Json::String(name) => self.named_type(name),
            Json::Array(branches) => {
                let branches = branches.iter().map(|branch| self.parse(branch, depth + 1));
                Ok(Arc::new(AvroType::Union(branches.collect::<Result<_, _>>()?)))
            }
            Json::Object(_) => self.complex(json, depth),
            other => Err(format!("{other} is not a type")),
        }
    }

    fn named_type(&self, name: &str) -> Result<Arc<AvroType>, String> {
        Ok(Arc::new(match name {
            "null" => AvroType::Null,
            "boolean" => AvroType::Boolean,
            "int" | "long" => AvroType::Int,
            "float" => AvroType::Float,
            "double" => AvroType::Double,
            "bytes" => AvroType::Bytes,
            "string" => AvroType::String,
            other => {
                let known = self.named.get(short_name(other)).cloned();
                return known.ok_or_else(|| format!("the type {other:?} is not defined"));
            }
        }))
    }

    fn complex(&mut self, json: &Json, depth: usize) -> Result<Arc<AvroType>, String> {
        let part = |name: &str| json.get(name).ok_or_else(|| format!("a type without {name:?}"));
        let kind = part("type")?;
        let found = match kind.as_str() {
            Some("array") => AvroType::Array(self.parse(part("items")?, depth + 1)?),
            Some("map") => AvroType::Map(self.parse(part("values")?, depth + 1)?),
            Some("enum") => AvroType::Enum(texts_of(part("symbols")?)),
            Some("fixed") => {
                let size = part("size")?.as_u64().and_then(|size| usize::try_from(size).ok());
                AvroType::Fixed(size.ok_or("a fixed type without a size")?)
            }
            Some("record" | "error") => {
                let fields = part("fields")?.as_array().ok_or("a record without fields")?;
                let mut read = Vec::with_capacity(fields.len());
                for field in fields {
                    let name = field.get("name").and_then(Json::as_str).ok_or("a field without a name")?;
                    let of = field.get("type").ok_or_else(|| format!("the field {name} without a type"))?;
                    read.push((name.to_owned(), self.parse(of, depth + 1)?));
                }
                AvroType::Record(read)
            }
            _ => return self.parse(kind, depth + 1),
        };
        let found = Arc::new(found);
        if let Some(name) = json.get("name").and_then(Json::as_str) {
            self.named.insert(short_name(name).to_owned(), found.clone());
            if self.named.len() > NAMED_TYPES_MAX {
                return Err(format!("it has more than {NAMED_TYPES_MAX} named types"));
            }
        }
        Ok(found)
    }
}

/// Returns a name without its namespace.
fn short_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn texts_of(json: &Json) -> Vec<String> {
    let list = json.as_array().into_iter().flatten();
    list.filter_map(Json::as_str).map(str::to_owned).collect()
}

/// Reads values.
struct AvroReader {
    rest: Bytes,
    /// The number of values that may still be read.
    values_left: usize,
    /// The number of values around the present one.
    depth: usize,
}

const SHORT: &str = "the bytes end within the value";

impl AvroReader {
    fn value(&mut self, of: &AvroType) -> Result<AvroValue, String> {
        let left = self.values_left.checked_sub(1).filter(|_| self.depth < DEPTH_MAX);
        self.values_left = left.ok_or("more or deeper values than a schema of Cassandra has")?;
        self.depth += 1;
        let value = self.content(of)?;
        self.depth -= 1;
        Ok(value)
    }

    fn content(&mut self, of: &AvroType) -> Result<AvroValue, String> {
        Ok(match of {
            AvroType::Null => AvroValue::Null,
            AvroType::Boolean => AvroValue::Bool(self.take(1)?[..] == [1]),
            AvroType::Int => AvroValue::Int(self.number()?),
            AvroType::Float => AvroValue::Double(f64::from(self.take(4)?.get_f32_le())),
            AvroType::Double => AvroValue::Double(self.take(8)?.get_f64_le()),
            AvroType::Bytes => AvroValue::Bytes(self.sized()?),
            AvroType::Fixed(size) => AvroValue::Bytes(self.take(*size)?),
            AvroType::String => AvroValue::Text(self.text()?),
            AvroType::Enum(symbols) => AvroValue::Text(self.choice(symbols)?.clone()),
            AvroType::Union(branches) => {
                let branch = self.choice(branches)?;
                self.value(branch)?
            }
            AvroType::Record(fields) => {
                let mut read = BTreeMap::new();
                for (name, of) in fields {
                    read.insert(name.clone(), self.value(of)?);
                }
                AvroValue::Fields(read)
            }
            AvroType::Array(of) => {
                let mut list = Vec::new();
                self.blocks(|reader| {
                    list.push(reader.value(of)?);
                    Ok(())
                })?;
                AvroValue::List(list)
            }
            AvroType::Map(of) => {
                let mut fields = BTreeMap::new();
                self.blocks(|reader| {
                    let name = reader.text()?;
                    fields.insert(name, reader.value(of)?);
                    Ok(())
                })?;
                AvroValue::Fields(fields)
            }
        })
    }

    /// Reads the blocks of an array or a map.
    fn blocks(
        &mut self,
        mut element: impl FnMut(&mut AvroReader) -> Result<(), String>,
    ) -> Result<(), String> {
        loop {
            let count = self.number()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                // The size of the block, which serves those that pass over it.
                self.number()?;
            }
            for _ in 0..count.unsigned_abs() {
                element(self)?;
            }
        }
    }

    fn choice<'t, T>(&mut self, from: &'t [T]) -> Result<&'t T, String> {
        let number = self.number()?;
        let chosen = usize::try_from(number).ok().and_then(|at| from.get(at));
        chosen.ok_or_else(|| format!("the choice {number} of {}", from.len()))
    }

    fn text(&mut self) -> Result<String, String> {
        String::from_utf8(self.sized()?.into()).map_err(|_| "a text that is not UTF-8".to_owned())
    }

    /// Reads bytes after their length.
    fn sized(&mut self) -> Result<Bytes, String> {
        let length = usize::try_from(self.number()?).map_err(|_| "a negative length".to_owned())?;
        self.take(length)
    }

    fn take(&mut self, length: usize) -> Result<Bytes, String> {
        if length > self.rest.len() {
            return Err(SHORT.to_owned());
        }
        Ok(self.rest.split_to(length))
    }

    /// Reads a number: seven bits in each byte, the lowest first, and the sign in the lowest bit.
    fn number(&mut self) -> Result<i64, String> {
        let mut found = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.take(1)?.get_u8();
            found |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok((found >> 1).cast_signed() ^ -(found & 1).cast_signed());
            }
        }
        Err("a number of more than 64 bits".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SCHEMA: &str = r#"{"type":"record","name":"KsDef","namespace":"a.b","fields":[
        {"name":"name","type":"string"},
        {"name":"comment","type":["string","null"]},
        {"name":"seconds","type":["int","null"],"default":0},
        {"name":"chance","type":"double"},
        {"name":"durable","type":"boolean"},
        {"name":"options","type":{"type":"map","values":"string"}},
        {"name":"columns","type":{"type":"array","items":{"type":"record","name":"Column","fields":[
            {"name":"name","type":"bytes"},
            {"name":"index","type":[{"type":"enum","name":"Index","symbols":["KEYS","CUSTOM"]},"null"]}]}}},
        {"name":"more","type":{"type":"array","items":"a.b.Column"}},
        {"name":"id","type":{"type":"fixed","name":"Id","size":2}}]}"#;

    const BYTES: &[u8] = b"\x0aCarts\x02\x00\x80\xbc\x69\0\0\0\0\0\0\xe0\x3f\x01\x02\x06key\x02v\0\
        \x04\x02a\x00\x02\x02b\x02\0\x01\x06\x00\x00\x00\0hi";

    fn decoded(bytes: &'static [u8]) -> Result<AvroValue, String> {
        AvroSchema::parse(SCHEMA).unwrap().decode(&Bytes::from_static(bytes))
    }

    #[test]
    fn values_of_all_types_are_decoded() {
        let found = decoded(BYTES).unwrap();
        assert_eq!(found.field("name").text(), Some("Carts"));
        assert_eq!(found.field("comment"), &AvroValue::Null);
        assert_eq!(found.field("seconds").int(), Some(864_000));
        assert_eq!((found.field("chance").double(), found.field("durable").bool()), (Some(0.5), Some(true)));
        let options = BTreeMap::from([("key".to_owned(), "v".to_owned())]);
        assert_eq!(found.field("options").texts(), Some(options));
        let column = |column: &AvroValue| {
            (column.field("name").bytes().unwrap().clone(), column.field("index").text().map(str::to_owned))
        };
        let columns: Vec<_> = found.field("columns").list().iter().map(column).collect();
        let custom = Some("CUSTOM".to_owned());
        assert_eq!(columns, [(Bytes::from_static(b"a"), custom), (Bytes::from_static(b"b"), None)]);
        let more: Vec<_> = found.field("more").list().iter().map(column).collect();
        assert_eq!(more, [(Bytes::new(), Some("KEYS".to_owned()))]);
        assert_eq!(found.field("id").bytes().unwrap(), &b"hi"[..]);
        assert_eq!(found.field("none"), &AvroValue::Null);
    }

    #[test]
    fn numbers_have_their_sign_in_the_lowest_bit() {
        let schema = AvroSchema::parse(r#"{"type":"long"}"#).unwrap();
        let number = |bytes: &'static [u8]| schema.decode(&Bytes::from_static(bytes));
        for (bytes, expected) in [
            (&b"\0"[..], 0),
            (b"\x01", -1),
            (b"\x80\x01", 64),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", i64::MIN),
        ] {
            assert_eq!(number(bytes), Ok(AvroValue::Int(expected)));
        }
        assert!(number(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").is_err());
    }

    #[test]
    fn wrong_schemas_and_bytes_are_refused() {
        for wrong in
            ["", "3", "[[[3]]]", r#"{"type":"record"}"#, r#""Unknown""#, r#"{"type":"fixed","name":"a"}"#]
        {
            AvroSchema::parse(wrong).expect_err(wrong);
        }
        AvroSchema::parse(&format!("{}3", r#"{"type":"#.repeat(100))).expect_err("deep");
        let deep = format!("{}\"int\"{}", "[".repeat(100), "]".repeat(100));
        AvroSchema::parse(&deep).expect_err("deep");
        assert_eq!(decoded(b"\x0aCa").unwrap_err(), SHORT);
        assert_eq!(decoded(b"\x01").unwrap_err(), "a negative length");
        assert_eq!(decoded(b"\0\x04").unwrap_err(), "the choice 2 of 2");
        // Very many elements without any bytes.
        let nulls = AvroSchema::parse(r#"{"type":"array","items":"null"}"#).unwrap();
        nulls.decode(&Bytes::from_static(b"\xfe\xff\xff\xff\xff\xff\x01\0")).expect_err("too many");
        let mut doubled = r#"{"type":"record","name":"r0","fields":[]}"#.to_owned();
        for level in 1..20 {
            let field = |of: &str| format!(r#"{{"name":"{}","type":{of}}}"#, of.len());
            let fields = field(&doubled) + "," + &field(&format!("\"r{}\"", level - 1));
            doubled = format!(r#"{{"type":"record","name":"r{level}","fields":[{fields}]}}"#);
        }
        let doubled = AvroSchema::parse(&doubled);
        doubled.and_then(|schema| schema.decode(&Bytes::new())).expect_err("exponentially many");
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>) {
            let _ = AvroSchema::parse(SCHEMA).unwrap().decode(&bytes.into());
        }

        #[test]
        fn a_changed_byte_is_no_reason_to_panic(at in 0..BYTES.len(), byte: u8, length in 0..BYTES.len()) {
            let mut bytes = BYTES.to_vec();
            bytes[at] = byte;
            let _ = AvroSchema::parse(SCHEMA).unwrap().decode(&bytes.clone().into());
            bytes.truncate(length);
            let _ = AvroSchema::parse(SCHEMA).unwrap().decode(&bytes.into());
        }
    }
}
