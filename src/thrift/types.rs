//! The API's structs, read into neutral requests and written from results.

use bytes::Bytes;

use super::failure::Failure;
use super::java_map::in_java_order;
use super::wire::{Reader, TType, Writer};
use crate::db::{
    ColumnOrSuper, ColumnParent, ColumnPath, Credential, Deletion, Found, KeyRange, MutationRequest,
    NewColumn, NewSuper, RequestedRange, SlicePredicate,
};
use crate::model::{Cell, Row, RowColumns, SuperColumn};

/// Room that is made for a list before its elements are seen: an announced count may be a lie.
const FIRST_ROOM: usize = 1024;

fn missing<T>(field: &str, holder: &str) -> Result<T, Failure> {
    Err(Failure::missing(field, holder))
}

/// Reads a list by its elements; `None` when they are of another type, which counts as an absent field.
fn list<'a, T>(
    reader: &mut Reader<'a>,
    element: TType,
    read: impl Fn(&mut Reader<'a>) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let (found, count) = reader.list_begin()?;
    if found != element && count > 0 {
        return Err(Failure::Protocol(format!("list of {found:?} where {element:?} is declared")));
    }
    let mut items = Vec::with_capacity(count.min(FIRST_ROOM));
    for _ in 0..count {
        items.push(read(reader)?);
    }
    Ok(items)
}

/// Reads a map by its pairs, in the order sent. A key that comes again replaces the first, as in a Java map.
fn map<'a, T>(
    reader: &mut Reader<'a>,
    value: TType,
    read: impl Fn(&mut Reader<'a>) -> Result<T, Failure>,
) -> Result<Vec<(Bytes, T)>, Failure> {
    let (key_type, value_type, count) = reader.map_begin()?;
    if count > 0 && (key_type != TType::String || value_type != value) {
        return Err(Failure::Protocol(format!(
            "map of {key_type:?} to {value_type:?} where String to {value:?} is declared"
        )));
    }
    let mut pairs: Vec<(Bytes, T)> = Vec::with_capacity(count.min(FIRST_ROOM));
    let mut places = std::collections::HashMap::with_capacity(count.min(FIRST_ROOM));
    for _ in 0..count {
        let key = reader.bytes()?;
        let item = read(reader)?;
        match places.get(&key) {
            Some(&at) => {
                let pair: &mut (Bytes, T) = &mut pairs[at];
                pair.1 = item;
            }
            None => {
                places.insert(key.clone(), pairs.len());
                pairs.push((key, item));
            }
        }
    }
    Ok(pairs)
}

/// A list of binaries or strings.
pub fn byte_strings(reader: &mut Reader<'_>) -> Result<Vec<Bytes>, Failure> {
    list(reader, TType::String, |reader| Ok(reader.bytes()?))
}

pub fn column_parent(reader: &mut Reader<'_>) -> Result<ColumnParent, Failure> {
    let (mut column_family, mut super_column) = (None, None);
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (3, TType::String) => column_family = Some(reader.bytes()?),
            (4, TType::String) => super_column = Some(reader.bytes()?),
            _ => reader.skip(ttype)?,
        }
    }
    let Some(column_family) = column_family else { return missing("column_family", "ColumnParent") };
    Ok(ColumnParent { column_family, super_column })
}

pub fn column_path(reader: &mut Reader<'_>) -> Result<ColumnPath, Failure> {
    let (mut column_family, mut super_column, mut column) = (None, None, None);
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (3, TType::String) => column_family = Some(reader.bytes()?),
            (4, TType::String) => super_column = Some(reader.bytes()?),
            (5, TType::String) => column = Some(reader.bytes()?),
            _ => reader.skip(ttype)?,
        }
    }
    let Some(column_family) = column_family else { return missing("column_family", "ColumnPath") };
    Ok(ColumnPath { column_family, super_column, column })
}

/// A slice's range. Java clients leave out nothing, hand-written ones may leave out `reversed` and `count`.
fn slice_range(reader: &mut Reader<'_>) -> Result<RequestedRange, Failure> {
    let (mut start, mut finish, mut reversed, mut count) = (None, None, false, 100);
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::String) => start = Some(reader.bytes()?),
            (2, TType::String) => finish = Some(reader.bytes()?),
            (3, TType::Bool) => reversed = reader.bool()?,
            (4, TType::I32) => count = reader.i32()?,
            _ => reader.skip(ttype)?,
        }
    }
    let Some(start) = start else { return missing("start", "SliceRange") };
    let Some(finish) = finish else { return missing("finish", "SliceRange") };
    Ok(RequestedRange { start, finish, reversed, count })
}

pub fn slice_predicate(reader: &mut Reader<'_>) -> Result<SlicePredicate, Failure> {
    let mut predicate = SlicePredicate::default();
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::List) => predicate.column_names = Some(byte_strings(reader)?),
            (2, TType::Struct) => predicate.slice_range = Some(slice_range(reader)?),
            _ => reader.skip(ttype)?,
        }
    }
    Ok(predicate)
}

pub fn key_range(reader: &mut Reader<'_>) -> Result<KeyRange, Failure> {
    let mut range =
        KeyRange { start_key: None, end_key: None, start_token: None, end_token: None, count: 100 };
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::String) => range.start_key = Some(reader.bytes()?),
            (2, TType::String) => range.end_key = Some(reader.bytes()?),
            (3, TType::String) => range.start_token = Some(reader.bytes()?),
            (4, TType::String) => range.end_token = Some(reader.bytes()?),
            (5, TType::I32) => range.count = reader.i32()?,
            _ => reader.skip(ttype)?,
        }
    }
    Ok(range)
}

fn column(reader: &mut Reader<'_>) -> Result<NewColumn, Failure> {
    let (mut name, mut value, mut timestamp) = (None, None, None);
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::String) => name = Some(reader.bytes()?),
            (2, TType::String) => value = Some(reader.bytes()?),
            (3, TType::I64) => timestamp = Some(reader.i64()?),
            _ => reader.skip(ttype)?,
        }
    }
    let Some(name) = name else { return missing("name", "Column") };
    let Some(value) = value else { return missing("value", "Column") };
    let Some(timestamp) = timestamp else { return missing("timestamp", "Column") };
    Ok(NewColumn { name, value, timestamp })
}

fn super_column(reader: &mut Reader<'_>) -> Result<NewSuper, Failure> {
    let (mut name, mut columns) = (None, None);
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::String) => name = Some(reader.bytes()?),
            (2, TType::List) => columns = Some(list(reader, TType::Struct, column)?),
            _ => reader.skip(ttype)?,
        }
    }
    let Some(name) = name else { return missing("name", "SuperColumn") };
    let Some(columns) = columns else { return missing("columns", "SuperColumn") };
    Ok(NewSuper { name, columns })
}

fn column_or_super(reader: &mut Reader<'_>) -> Result<ColumnOrSuper, Failure> {
    let mut either = ColumnOrSuper::default();
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::Struct) => either.column = Some(column(reader)?),
            (2, TType::Struct) => either.super_column = Some(super_column(reader)?),
            _ => reader.skip(ttype)?,
        }
    }
    Ok(either)
}

fn deletion(reader: &mut Reader<'_>) -> Result<Deletion, Failure> {
    let (mut timestamp, mut super_column, mut predicate) = (None, None, None);
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::I64) => timestamp = Some(reader.i64()?),
            (2, TType::String) => super_column = Some(reader.bytes()?),
            (3, TType::Struct) => predicate = Some(slice_predicate(reader)?),
            _ => reader.skip(ttype)?,
        }
    }
    let Some(timestamp) = timestamp else { return missing("timestamp", "Deletion") };
    Ok(Deletion { timestamp, super_column, predicate })
}

fn mutation(reader: &mut Reader<'_>) -> Result<MutationRequest, Failure> {
    let mut mutation = MutationRequest::default();
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::Struct) => mutation.insert = Some(column_or_super(reader)?),
            (2, TType::Struct) => mutation.deletion = Some(deletion(reader)?),
            _ => reader.skip(ttype)?,
        }
    }
    Ok(mutation)
}

/// batch_insert's map of column family to what is written.
pub fn insert_map(reader: &mut Reader<'_>) -> Result<Vec<(Bytes, Vec<ColumnOrSuper>)>, Failure> {
    let families = map(reader, TType::List, |reader| list(reader, TType::Struct, column_or_super))?;
    Ok(in_java_order(families))
}

/// What batch_mutate maps a row key to: column family to mutations.
pub type FamilyMutations = Vec<(Bytes, Vec<MutationRequest>)>;

/// batch_mutate's map of row key to column family to mutations.
pub fn mutation_map(reader: &mut Reader<'_>) -> Result<Vec<(Bytes, FamilyMutations)>, Failure> {
    let families = |reader: &mut Reader<'_>| {
        map(reader, TType::List, |reader| list(reader, TType::Struct, mutation)).map(in_java_order)
    };
    map(reader, TType::Map, families).map(in_java_order)
}

/// A map of text to text, as logins send their credentials.
pub fn credentials(reader: &mut Reader<'_>) -> Result<Vec<Credential>, Failure> {
    let mut found = None;
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::Map) => found = Some(map(reader, TType::String, |reader| Ok(reader.bytes()?))?),
            _ => reader.skip(ttype)?,
        }
    }
    let Some(found) = found else { return missing("credentials", "AuthenticationRequest") };
    Ok(found)
}

fn write_column(writer: &mut Writer<'_>, cell: &Cell) {
    writer.field_string(1, &cell.name);
    writer.field_string(2, &cell.value);
    writer.field_i64(3, cell.timestamp);
    writer.stop();
}

fn write_super(writer: &mut Writer<'_>, super_column: &SuperColumn) {
    writer.field_string(1, &super_column.name);
    writer.field_list(2, TType::Struct, super_column.cells.len());
    for cell in &super_column.cells {
        write_column(writer, cell);
    }
    writer.stop();
}

/// A ColumnOrSuperColumn; with nothing set where nothing was found.
pub fn write_found(writer: &mut Writer<'_>, found: Option<&Found>) {
    match found {
        None => {}
        Some(Found::Column(cell)) => {
            writer.field_struct(1);
            write_column(writer, cell);
        }
        Some(Found::Super(super_column)) => {
            writer.field_struct(2);
            write_super(writer, super_column);
        }
    }
    writer.stop();
}

/// A list of ColumnOrSuperColumn.
pub fn write_columns(writer: &mut Writer<'_>, columns: &RowColumns) {
    writer.list_begin(TType::Struct, columns.len());
    match columns {
        RowColumns::Cells(cells) => {
            for cell in cells {
                writer.field_struct(1);
                write_column(writer, cell);
                writer.stop();
            }
        }
        RowColumns::Supers(supers) => {
            for super_column in supers {
                writer.field_struct(2);
                write_super(writer, super_column);
                writer.stop();
            }
        }
    }
}

/// A KeySlice.
pub fn write_row(writer: &mut Writer<'_>, row: &Row) {
    writer.field_string(1, &row.key);
    writer.field_begin(TType::List, 2);
    write_columns(writer, &row.columns);
    writer.stop();
}
