//! Parquet: a column of a primitive type for each column, and nested types for collections, tuples and user-defined types.
//!
//! A file has the values of the leaves. A level of definition says how much of the path to a leaf is there, and a level of
//! repetition to which list an element belongs:
//!
//! ```text
//!   l list<int>               optional group l (LIST) { repeated group list { optional int32 element } }
//!   [1, 2], null, []          values 1 2    definition 3 3 0 1    repetition 0 1 0 0
//! ```
//!
//! The rows of a group are in memory until it is written.

use std::fs::File;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use super::record_maker::Record;
use super::record_writer::RecordWriter;
use super::table_shape::TableShape;
use super::value::{Field, Value, ValueType};
use base::marshal::{
    CollectionForm, CqlType, Native, Types, ValueKind, list_from_bytes, map_from_bytes, tuple_from_bytes,
};
use base::util::counted;

/// Approximate size of a group of rows, in bytes.
const GROUP_BYTES: usize = 16 * 1024 * 1024;
/// Bytes that a null takes until it is written, and those that a value of bytes takes in addition to its own bytes.
const NULL_BYTES: usize = 4;
const VALUE_BYTES: usize = 40;

/// Writes Parquet.
pub(super) struct ParquetWriter {
    out: SerializedFileWriter<File>,
    shape: Arc<TableShape>,
    columns: Vec<ParquetNode>,
    group: RowGroup,
    /// Bytes after which the group is written.
    group_bytes: usize,
}

/// The values of a leaf that are not written yet.
enum LeafValues {
    Booleans(Vec<bool>),
    Integers(Vec<i32>),
    Longs(Vec<i64>),
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

struct Leaf {
    values: LeafValues,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

/// The rows of a group.
struct RowGroup {
    types: Types,
    leaves: Vec<Leaf>,
    bytes: usize,
    /// Values that became null.
    changed: u64,
    /// Keys of maps, which cannot be null, that became zero or empty.
    changed_keys: u64,
}

/// A column, or a part of a nested one.
struct ParquetNode {
    /// Keys of maps are required, everything else may be null.
    is_required: bool,
    content: ParquetContent,
}

enum ParquetContent {
    /// The number of the leaf, and its type.
    Leaf(usize, ValueType),
    /// The elements of a list or set, or the keys and values of a map, with the level of their repetition.
    Entries { fields: Vec<ParquetNode>, level: i16 },
    /// A tuple or user-defined type.
    Fields(Vec<ParquetNode>),
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

impl ParquetWriter {
    pub(super) fn begin(file: File, shape: Arc<TableShape>, types: Types) -> io::Result<ParquetWriter> {
        let mut schema = SchemaMaker { leaves: Vec::new() };
        let mut columns = Vec::new();
        let mut fields = Vec::new();
        for column in shape.columns() {
            let (node, of) = schema.node(&column.name, &column.of, false, 1).map_err(failed)?;
            columns.push(node);
            fields.push(of);
        }
        let name = format!("{}.{}", shape.cf.keyspace, shape.cf.name);
        let message = Type::group_type_builder(&name).with_fields(fields).build().map_err(failed)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let out = SerializedFileWriter::new(file, Arc::new(message), Arc::new(properties));
        let group = RowGroup { types, leaves: schema.leaves, bytes: 0, changed: 0, changed_keys: 0 };
        Ok(ParquetWriter { out: out.map_err(failed)?, shape, columns, group, group_bytes: GROUP_BYTES })
    }

    /// Writes the group.
    fn flush(&mut self) -> Result<()> {
        if self.group.bytes == 0 {
            return Ok(());
        }
        self.group.bytes = 0;
        let mut group = self.out.next_row_group()?;
        for leaf in &mut self.group.leaves {
            if let Some(mut column) = group.next_column()? {
                leaf.write(column.untyped())?;
                column.close()?;
            }
        }
        group.close().map(drop)
    }
}

impl RecordWriter for ParquetWriter {
    fn write(&mut self, record: Record) -> io::Result<()> {
        for (at, node) in self.shape.written.iter().zip(&self.columns) {
            self.group.put(node, record.fields.get(*at).unwrap_or(&Field::Null), 0, 0);
        }
        if self.group.bytes >= self.group_bytes { self.flush().map_err(failed) } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> io::Result<Vec<String>> {
        self.flush().map_err(failed)?;
        self.out.finish().map_err(failed)?;
        self.out.inner().sync_all()?;
        let RowGroup { changed, changed_keys, .. } = self.group;
        let of_keys = (changed_keys, "map entry", "zero or nothing as the key");
        let mut notes = Vec::new();
        for (count, noun, instead) in [(changed, "value", "NULL"), of_keys] {
            if count > 0 {
                let count = counted(count, noun);
                notes.push(format!("{count}: {instead} instead of bytes that are not of the column's type"));
            }
        }
        Ok(notes)
    }
}

impl Leaf {
    fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        macro_rules! write_each {
            ($($kind:ident $of:ident),*) => {
                match (&mut self.values, writer) {
                    $((LeafValues::$kind(values), ColumnWriter::$of(writer)) => {
                        let is_nested = writer.get_descriptor().max_rep_level() > 0;
                        let repetition = is_nested.then_some(&self.repetition[..]);
                        let definition = (writer.get_descriptor().max_def_level() > 0).then_some(&self.definition[..]);
                        writer.write_batch(values, definition, repetition)?;
                        values.clear();
                    })*
                    _ => return Err(ParquetError::General("a leaf of another type".to_owned())),
                }
            };
        }
        write_each!(
            Booleans BoolColumnWriter, Integers Int32ColumnWriter, Longs Int64ColumnWriter, Floats FloatColumnWriter,
            Doubles DoubleColumnWriter, Bytes ByteArrayColumnWriter, Fixed FixedLenByteArrayColumnWriter
        );
        self.definition.clear();
        self.repetition.clear();
        Ok(())
    }

    /// Adds a value. Returns false if it is not one of the leaf's type. Bytes are copied: they are parts of whole pages.
    fn push(&mut self, value: Value, bytes: Option<&Bytes>) -> bool {
        match (&mut self.values, value) {
            (LeafValues::Booleans(values), Value::Boolean(value)) => values.push(value),
            (LeafValues::Integers(values), Value::Integer(number)) => values.push(number as i32),
            (LeafValues::Longs(values), Value::Integer(number) | Value::Timestamp(number)) => {
                values.push(number)
            }
            (LeafValues::Floats(values), Value::Float(number)) => values.push(number),
            (LeafValues::Doubles(values), Value::Double(number)) => values.push(number),
            (LeafValues::Bytes(values), Value::Blob(bytes)) => values.push(bytes.to_vec().into()),
            (LeafValues::Bytes(values), value) => {
                values.push(value.text().unwrap_or_default().into_bytes().into())
            }
            // Dates, times and UUIDs have a text besides their bytes. Dates count days from the middle of their numbers.
            (LeafValues::Integers(values), Value::Text(_)) => {
                match bytes.map(|bytes| <[u8; 4]>::try_from(&bytes[..])) {
                    Some(Ok(days)) => values.push(i32::from_be_bytes(days) ^ i32::MIN),
                    _ => return false,
                }
            }
            (LeafValues::Longs(values), Value::Text(_)) => {
                match bytes.map(|bytes| <[u8; 8]>::try_from(&bytes[..])) {
                    Some(Ok(nanoseconds)) => values.push(i64::from_be_bytes(nanoseconds)),
                    _ => return false,
                }
            }
            (LeafValues::Fixed(values), Value::Text(_)) => match bytes.filter(|bytes| bytes.len() == 16) {
                Some(bytes) => values.push(bytes.to_vec().into()),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    /// Returns the bytes that the newest value takes.
    fn newest_bytes(&self) -> usize {
        match &self.values {
            LeafValues::Booleans(_) => 1,
            LeafValues::Integers(_) | LeafValues::Floats(_) => 4,
            LeafValues::Longs(_) | LeafValues::Doubles(_) => 8,
            LeafValues::Bytes(values) => values.last().map_or(0, |value| value.len() + VALUE_BYTES),
            LeafValues::Fixed(values) => values.last().map_or(0, |value| value.len() + VALUE_BYTES),
        }
    }

    /// Adds the value of a key that cannot be null.
    fn push_default(&mut self) {
        match &mut self.values {
            LeafValues::Booleans(values) => values.push(false),
            LeafValues::Integers(values) => values.push(0),
            LeafValues::Longs(values) => values.push(0),
            LeafValues::Floats(values) => values.push(0.0),
            LeafValues::Doubles(values) => values.push(0.0),
            LeafValues::Bytes(values) => values.push(Vec::new().into()),
            LeafValues::Fixed(values) => values.push(vec![0; 16].into()),
        }
    }
}

impl RowGroup {
    /// Adds a value. `definition` and `repetition` are the levels of what it is a part of.
    fn put(&mut self, node: &ParquetNode, field: &Field, definition: i16, repetition: i16) {
        let present = definition + i16::from(!node.is_required);
        let bytes = if let Field::Bytes(bytes) = field { Some(bytes) } else { None };
        let (fields, level) = match &node.content {
            ParquetContent::Leaf(at, of) => {
                let value = of.value(field, &self.types);
                let Some(leaf) = self.leaves.get_mut(*at) else { return };
                let is_null = value == Value::Null;
                let is_there = !is_null && leaf.push(value, bytes);
                if !is_there && node.is_required {
                    self.changed_keys += 1;
                    leaf.push_default();
                } else {
                    self.changed += u64::from(!is_there && !is_null);
                }
                let has_value = is_there || node.is_required;
                self.bytes += NULL_BYTES + if has_value { leaf.newest_bytes() } else { 0 };
                leaf.definition.push(if is_there { present } else { definition });
                leaf.repetition.push(repetition);
                return;
            }
            ParquetContent::Entries { fields, level } => (fields, Some(*level)),
            ParquetContent::Fields(fields) => (fields, None),
        };
        let Some(entries) = bytes.and_then(|bytes| entries_of(bytes, fields.len(), level.is_some())) else {
            self.changed += u64::from(bytes.is_some());
            return self.put_null(node, definition, repetition);
        };
        if entries.is_empty() {
            return fields.iter().for_each(|field| self.put_null(field, present, repetition));
        }
        let (inner, next) = (present + i16::from(level.is_some()), level.unwrap_or(repetition));
        for (number, entry) in entries.into_iter().enumerate() {
            let repetition = if number == 0 { repetition } else { next };
            // Older values of a user-defined type do not have the fields that were added.
            let values = entry.into_iter().chain(std::iter::repeat(None));
            for (field, value) in fields.iter().zip(values) {
                self.put(field, &Field::from(value), inner, repetition);
            }
        }
    }

    fn put_null(&mut self, node: &ParquetNode, definition: i16, repetition: i16) {
        match &node.content {
            ParquetContent::Leaf(at, _) => {
                self.bytes += NULL_BYTES;
                if let Some(leaf) = self.leaves.get_mut(*at) {
                    leaf.definition.push(definition);
                    leaf.repetition.push(repetition);
                }
            }
            ParquetContent::Entries { fields, .. } | ParquetContent::Fields(fields) => {
                fields.iter().for_each(|field| self.put_null(field, definition, repetition));
            }
        }
    }
}

/// Returns the elements of a list or set, the pairs of a map, or one entry with the fields of a tuple or user-defined type.
fn entries_of(bytes: &Bytes, fields: usize, is_repeated: bool) -> Option<Vec<Vec<Option<Bytes>>>> {
    match (is_repeated, fields) {
        (true, 1) => {
            let elements = list_from_bytes(bytes, CollectionForm::Long)?;
            Some(elements.into_iter().map(|element| vec![Some(element)]).collect())
        }
        (true, _) => {
            let entries = map_from_bytes(bytes, CollectionForm::Long)?;
            Some(entries.into_iter().map(|(key, value)| vec![Some(key), Some(value)]).collect())
        }
        (false, _) => Some(vec![tuple_from_bytes(bytes)?]),
    }
}

/// Makes the types of columns.
struct SchemaMaker {
    leaves: Vec<Leaf>,
}

impl SchemaMaker {
    /// Returns a column and its type. `level` is the level of the elements of a list.
    fn node(
        &mut self,
        name: &str,
        of: &ValueType,
        is_required: bool,
        level: i16,
    ) -> Result<(ParquetNode, TypePtr)> {
        let repetition = if is_required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        let nested = |cql_type: &CqlType| ValueType::Cql(cql_type.clone());
        let (logical, entry, parts) = match of {
            ValueType::Cql(CqlType::List { element, .. } | CqlType::Set { element, .. }) => {
                (LogicalType::List, "list", vec![("element".to_owned(), nested(element))])
            }
            ValueType::Cql(CqlType::Map { key, value, .. }) => {
                let parts = vec![("key".to_owned(), nested(key)), ("value".to_owned(), nested(value))];
                (LogicalType::Map, "key_value", parts)
            }
            ValueType::Cql(CqlType::Tuple(types)) => {
                let parts =
                    types.iter().enumerate().map(|(at, of)| (format!("field_{}", at + 1), nested(of)));
                return self.fields(name, parts.collect(), repetition, level);
            }
            ValueType::Cql(CqlType::User { user, .. }) => {
                let parts = user.fields.iter().map(|(name, of)| (name.clone(), nested(of)));
                return self.fields(name, parts.collect(), repetition, level);
            }
            of => return self.leaf(name, of, repetition),
        };
        let is_map = parts.len() == 2;
        let (fields, types) = self.parts(&parts, is_map, level + 1)?;
        let repeated =
            Type::group_type_builder(entry).with_repetition(Repetition::REPEATED).with_fields(types);
        let of = Type::group_type_builder(name)
            .with_repetition(repetition)
            .with_logical_type(Some(logical))
            .with_fields(vec![Arc::new(repeated.build()?)])
            .build()?;
        Ok((ParquetNode { is_required, content: ParquetContent::Entries { fields, level } }, Arc::new(of)))
    }

    /// Returns the parts of a nested column and their types. Of a map the first part, the key, is required.
    fn parts(
        &mut self,
        parts: &[(String, ValueType)],
        is_map: bool,
        level: i16,
    ) -> Result<(Vec<ParquetNode>, Vec<TypePtr>)> {
        let mut fields = Vec::new();
        let mut types = Vec::new();
        for (at, (name, of)) in parts.iter().enumerate() {
            let (field, field_type) = self.node(name, of, is_map && at == 0, level)?;
            fields.push(field);
            types.push(field_type);
        }
        Ok((fields, types))
    }

    fn fields(
        &mut self,
        name: &str,
        parts: Vec<(String, ValueType)>,
        repetition: Repetition,
        level: i16,
    ) -> Result<(ParquetNode, TypePtr)> {
        let (fields, types) = self.parts(&parts, false, level)?;
        let of = Type::group_type_builder(name).with_repetition(repetition).with_fields(types).build()?;
        let is_required = repetition == Repetition::REQUIRED;
        Ok((ParquetNode { is_required, content: ParquetContent::Fields(fields) }, Arc::new(of)))
    }

    fn leaf(&mut self, name: &str, of: &ValueType, repetition: Repetition) -> Result<(ParquetNode, TypePtr)> {
        let (physical, logical) = physical_of(of);
        let values = match physical {
            Physical::BOOLEAN => LeafValues::Booleans(Vec::new()),
            Physical::INT32 => LeafValues::Integers(Vec::new()),
            Physical::INT64 => LeafValues::Longs(Vec::new()),
            Physical::FLOAT => LeafValues::Floats(Vec::new()),
            Physical::DOUBLE => LeafValues::Doubles(Vec::new()),
            Physical::FIXED_LEN_BYTE_ARRAY => LeafValues::Fixed(Vec::new()),
            _ => LeafValues::Bytes(Vec::new()),
        };
        let mut builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        if physical == Physical::FIXED_LEN_BYTE_ARRAY {
            builder = builder.with_length(16);
        }
        let leaf_type = builder.with_logical_type(logical).build()?;
        self.leaves.push(Leaf { values, definition: Vec::new(), repetition: Vec::new() });
        let content = ParquetContent::Leaf(self.leaves.len() - 1, of.clone());
        Ok((ParquetNode { is_required: repetition == Repetition::REQUIRED, content }, Arc::new(leaf_type)))
    }
}

/// Returns the type of a leaf. Numbers without limits, addresses and durations are texts.
fn physical_of(of: &ValueType) -> (Physical, Option<LogicalType>) {
    let text = (Physical::BYTE_ARRAY, Some(LogicalType::String));
    let integer = |bits: i8| Some(LogicalType::integer(bits, true));
    let native = match of {
        ValueType::Cql(CqlType::Native(native)) => *native,
        ValueType::Integer => return (Physical::INT64, integer(64)),
        ValueType::Json => return (Physical::BYTE_ARRAY, Some(LogicalType::Json)),
        _ => return text,
    };
    match (native, native.kind()) {
        (Native::Uuid | Native::Timeuuid, _) => (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)),
        (Native::Date, _) => (Physical::INT32, Some(LogicalType::Date)),
        (Native::Time, _) => (Physical::INT64, Some(LogicalType::time(false, TimeUnit::NANOS))),
        (_, ValueKind::Blob) => (Physical::BYTE_ARRAY, None),
        (_, ValueKind::Boolean) => (Physical::BOOLEAN, None),
        (_, ValueKind::Integer { bytes: 1 }) => (Physical::INT32, integer(8)),
        (_, ValueKind::Integer { bytes: 2 }) => (Physical::INT32, integer(16)),
        (_, ValueKind::Integer { bytes: 4 }) => (Physical::INT32, integer(32)),
        (_, ValueKind::Integer { .. } | ValueKind::Counter) => (Physical::INT64, integer(64)),
        (_, ValueKind::Float) => (Physical::FLOAT, None),
        (_, ValueKind::Double) => (Physical::DOUBLE, None),
        (_, ValueKind::Timestamp) => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
        _ => text,
    }
}

#[cfg(test)]
mod tests;
