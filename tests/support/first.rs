//! The calls of 0.3.

use wire::thrift::TType;

use super::value::{Value, fields, map, structs, text, texts};

/// Returns the arguments that most calls begin with: table, row key, and a path such as `Standard1:column`.
pub fn args(table: &str, key: &[u8], path: impl AsRef<[u8]>) -> Value {
    fields([(1, text(table)), (2, text(key)), (3, text(path))])
}

/// Returns the arguments of [`args`], and more after them.
fn args_and<const N: usize>(
    table: &str,
    key: &[u8],
    path: impl AsRef<[u8]>,
    more: [(i16, Value); N],
) -> Value {
    let Value::Struct(mut all) = args(table, key, path) else { unreachable!() };
    all.extend(more);
    Value::Struct(all)
}

pub fn insert_args(
    table: &str,
    key: &[u8],
    path: impl AsRef<[u8]>,
    (value, timestamp): (&[u8], i64),
    block: bool,
) -> Value {
    args_and(table, key, path, [(4, text(value)), (5, Value::I64(timestamp)), (6, Value::Bool(block))])
}

pub fn remove_args(table: &str, key: &[u8], path: impl AsRef<[u8]>, timestamp: i64, block: bool) -> Value {
    args_and(table, key, path, [(4, Value::I64(timestamp)), (5, Value::Bool(block))])
}

pub fn slice_args(table: &str, key: &[u8], parent: impl AsRef<[u8]>, start: i32, count: i32) -> Value {
    args_and(table, key, parent, [(4, Value::I32(start)), (5, Value::I32(count))])
}

pub fn names_args(table: &str, key: &[u8], parent: impl AsRef<[u8]>, names: &[&str]) -> Value {
    args_and(table, key, parent, [(4, texts(names))])
}

pub fn since_args(table: &str, key: &[u8], parent: impl AsRef<[u8]>, since: i64) -> Value {
    args_and(table, key, parent, [(4, Value::I64(since))])
}

pub fn keys_args(table: &str, start: &str, stop: &str, count: i32) -> Value {
    fields([(1, text(table)), (2, text(start)), (3, text(stop)), (4, Value::I32(count))])
}

/// Returns the arguments of a batch: columns or super columns of one row, by column family.
pub fn batch_args(table: &str, key: &[u8], families: Vec<(&str, Vec<Value>)>, block: bool) -> Value {
    let families = families.into_iter().map(|(family, items)| (family, structs(items))).collect();
    let batch = fields([(1, text(table)), (2, text(key)), (3, map(TType::List, families))]);
    fields([(1, batch), (2, Value::Bool(block))])
}

/// Returns the only argument of a call about the server. The interface gives it no id, so Thrift numbered it -1.
pub fn about_args(about: &str) -> Value {
    fields([(-1, text(about))])
}

/// Returns the names and values of a list of `column_t`.
pub fn columns(list: &Value) -> Vec<(&str, &str)> {
    list.items().iter().map(|column| (column.field(1).str(), column.field(2).str())).collect()
}

/// Returns the names of a list of `column_t` or `superColumn_t`.
pub fn names(list: &Value) -> Vec<&str> {
    list.items().iter().map(|item| item.field(1).str()).collect()
}
