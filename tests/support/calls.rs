//! The calls of 0.4 to 0.6, by name.

use std::io::{Read, Write};

use wire::thrift::TType;

use super::client::{Client, Reply};
use super::value::{Value, fields, map, structs, text, texts};

pub const ZERO: i32 = 0;
pub const ONE: i32 = 1;
pub const QUORUM: i32 = 2;
pub const ALL: i32 = 5;
pub const ANY: i32 = 6;

/// A name, or `None` to leave the field out.
pub type Name<'a> = Option<&'a [u8]>;

pub fn path(family: &str, super_column: Name<'_>, column: Name<'_>) -> Value {
    let mut path = parent(family, super_column);
    if let (Value::Struct(fields), Some(column)) = (&mut path, column) {
        fields.insert(5, text(column));
    }
    path
}

pub fn parent(family: &str, super_column: Name<'_>) -> Value {
    let mut parent = fields([(3, text(family))]);
    if let (Value::Struct(fields), Some(name)) = (&mut parent, super_column) {
        fields.insert(4, text(name));
    }
    parent
}

pub fn names<T: AsRef<[u8]>>(names: &[T]) -> Value {
    fields([(1, texts(names))])
}

pub fn slice(start: &[u8], finish: &[u8], reversed: bool, count: i32) -> Value {
    let range =
        fields([(1, text(start)), (2, text(finish)), (3, Value::Bool(reversed)), (4, Value::I32(count))]);
    fields([(2, range)])
}

/// Returns a predicate that selects the first 100 columns.
pub fn everything() -> Value {
    slice(b"", b"", false, 100)
}

pub fn column(name: &[u8], value: &[u8], timestamp: i64) -> Value {
    fields([(1, text(name)), (2, text(value)), (3, Value::I64(timestamp))])
}

/// Returns a Thrift `Mutation` that writes a column.
pub fn write(column: Value) -> Value {
    fields([(1, fields([(1, column)]))])
}

/// Returns a Thrift `Mutation` that writes a super column.
pub fn write_super(name: &[u8], columns: Vec<Value>) -> Value {
    fields([(1, fields([(2, fields([(1, text(name)), (2, structs(columns))]))]))])
}

/// Returns a Thrift `Mutation` that deletes columns by name.
pub fn delete<T: AsRef<[u8]>>(of: &[T], timestamp: i64) -> Value {
    fields([(2, fields([(1, Value::I64(timestamp)), (3, names(of))]))])
}

/// The mutations of one row, by column family.
pub type Families<'a> = Vec<(&'a str, Vec<Value>)>;

/// Returns the mutation map of `batch_mutate`: row key, column family, mutations.
pub fn rows(rows: Vec<(&str, Families<'_>)>) -> Value {
    let families = |families: Families<'_>| {
        map(TType::List, families.into_iter().map(|(name, mutations)| (name, structs(mutations))).collect())
    };
    map(TType::Map, rows.into_iter().map(|(key, of_row)| (key, families(of_row))).collect())
}

pub fn insert_args(
    keyspace: &str,
    key: &[u8],
    path: Value,
    (value, timestamp): (&[u8], i64),
    level: i32,
) -> Value {
    fields([
        (1, text(keyspace)),
        (2, text(key)),
        (3, path),
        (4, text(value)),
        (5, Value::I64(timestamp)),
        (6, Value::I32(level)),
    ])
}

pub fn get_args(keyspace: &str, key: &[u8], path: Value, level: i32) -> Value {
    fields([(1, text(keyspace)), (2, text(key)), (3, path), (4, Value::I32(level))])
}

pub fn get_slice_args(keyspace: &str, key: &[u8], parent: Value, predicate: Value, level: i32) -> Value {
    fields([(1, text(keyspace)), (2, text(key)), (3, parent), (4, predicate), (5, Value::I32(level))])
}

pub fn multiget_slice_args(keyspace: &str, keys: &[&str], parent: Value, predicate: Value) -> Value {
    fields([(1, text(keyspace)), (2, texts(keys)), (3, parent), (4, predicate), (5, Value::I32(ONE))])
}

pub fn batch_mutate_args(keyspace: &str, rows: Value, level: i32) -> Value {
    fields([(1, text(keyspace)), (2, rows), (3, Value::I32(level))])
}

pub fn remove_args(keyspace: &str, key: &[u8], path: Value, timestamp: i64, level: i32) -> Value {
    fields([
        (1, text(keyspace)),
        (2, text(key)),
        (3, path),
        (4, Value::I64(timestamp)),
        (5, Value::I32(level)),
    ])
}

pub fn key_range(start: &str, end: &str, count: i32) -> Value {
    fields([(1, text(start)), (2, text(end)), (5, Value::I32(count))])
}

pub fn range_slices_args(keyspace: &str, parent: Value, predicate: Value, range: Value, level: i32) -> Value {
    fields([(1, text(keyspace)), (2, parent), (3, predicate), (4, range), (5, Value::I32(level))])
}

/// Returns the names and values of the columns of a `get_slice` reply.
pub fn columns(slice: &Value) -> Vec<(Vec<u8>, Vec<u8>)> {
    let column = |found: &Value| (found.field(1).bytes().to_vec(), found.field(2).bytes().to_vec());
    slice.items().iter().map(|item| column(item.field(1))).collect()
}

/// Returns the values of the columns of a `get_slice` reply, as text.
pub fn values(slice: &Value) -> Vec<String> {
    columns(slice).into_iter().map(|(_, value)| String::from_utf8(value).unwrap()).collect()
}

/// Returns the names of the columns of a `get_slice` reply, as text.
pub fn column_names(slice: &Value) -> Vec<String> {
    columns(slice).into_iter().map(|(name, _)| String::from_utf8(name).unwrap()).collect()
}

/// Writes a column of `Keyspace1` and reads it back, to check that the connection still works.
pub fn check_alive(client: &mut Client<impl Read + Write>) {
    let column = || path("Standard1", None, Some(b"alive"));
    client.call("insert", &insert_args("Keyspace1", b"alive", column(), (b"yes", 1), ONE)).void();
    let found = client.call("get", &get_args("Keyspace1", b"alive", column(), ONE));
    assert_eq!(found.value().field(1).field(2).str(), "yes");
}

/// Returns the value of a column of `Keyspace1.Standard1`, or `None` if there is no such column.
pub fn value_of(client: &mut Client<impl Read + Write>, key: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    match client.call("get", &get_args("Keyspace1", key, path("Standard1", None, Some(name)), ONE)) {
        Reply::Result(fields) if fields.contains_key(&2) => None,
        reply => Some(reply.value().field(1).field(2).bytes().to_vec()),
    }
}
