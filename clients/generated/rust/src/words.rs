//! Short words for the client's long ones, and what the lines say in different ways.

use std::collections::BTreeMap;
use std::io::Cursor;

use thrift::protocol::{
    TBinaryInputProtocol, TBinaryOutputProtocol, TFieldIdentifier, TOutputProtocol, TSerializable, TType,
};

use crate::cassandra::{
    CfDef, Column, ColumnDef, ColumnOrSuperColumn, ColumnParent, ColumnPath, IndexExpression, IndexOperator,
    IndexType, KeyRange, KsDef, Mutation, SlicePredicate, SliceRange,
};

pub type Changes = BTreeMap<String, Vec<Mutation>>;

pub fn bytes(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

pub fn long(number: i64) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

pub fn parent(family: &str) -> ColumnParent {
    ColumnParent::new(family.to_owned(), None)
}

pub fn within(family: &str, super_column: Vec<u8>) -> ColumnParent {
    ColumnParent::new(family.to_owned(), super_column)
}

pub fn path(family: &str, super_column: Option<Vec<u8>>, column: Option<&str>) -> ColumnPath {
    ColumnPath::new(family.to_owned(), super_column, column.map(bytes))
}

pub fn names(names: &[&str]) -> SlicePredicate {
    let names: Vec<_> = names.iter().map(|name| bytes(name)).collect();
    SlicePredicate::new(names, None)
}

pub fn between(start: &str, finish: &str, reversed: bool, count: i32) -> SlicePredicate {
    SlicePredicate::new(None, SliceRange::new(bytes(start), bytes(finish), reversed, count))
}

pub fn all() -> SlicePredicate {
    between("", "", false, 100)
}

pub fn expression(name: &str, op: IndexOperator, value: Vec<u8>) -> IndexExpression {
    IndexExpression::new(bytes(name), op, value)
}

pub fn column(name: &str, value: Vec<u8>, timestamp: i64) -> Column {
    Column::new(bytes(name), value, timestamp, None)
}

pub fn text(name: &str, value: &str) -> Column {
    column(name, bytes(value), 10)
}

pub fn entry(entry: ColumnOrSuperColumn) -> Mutation {
    Mutation::new(entry, None)
}

pub fn write(column: Column) -> Mutation {
    entry(ColumnOrSuperColumn { column: Some(column), ..Default::default() })
}

pub fn changes(family: &str, mutations: Vec<Mutation>) -> Changes {
    BTreeMap::from([(family.to_owned(), mutations)])
}

/// Texts as they are, and the eight bytes of a small number as that number.
pub fn readable(bytes: &[u8]) -> String {
    match <[u8; 8]>::try_from(bytes).map(i64::from_be_bytes) {
        Ok(number @ -9999..=9999) => number.to_string(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

pub fn pair(column: &Column) -> String {
    format!("{}={}", readable(&column.name), readable(&value_of(column)))
}

/// `name=value name=value` in their order.
pub fn columns(entries: &[ColumnOrSuperColumn]) -> String {
    pairs(entries.iter().flat_map(|entry| &entry.column))
}

pub fn pairs<'c>(columns: impl IntoIterator<Item = &'c Column>) -> String {
    columns.into_iter().map(pair).collect::<Vec<_>>().join(" ")
}

/// `name[name=value ...]` in their order.
pub fn super_columns(entries: &[ColumnOrSuperColumn]) -> String {
    let found = entries.iter().flat_map(|entry| &entry.super_column);
    found
        .map(|each| format!("{}[{}]", readable(&each.name), pairs(&each.columns)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A definition with nothing but its names. Its struct has as many fields as its line knows options, so it is
/// read from a message that has just these two.
pub fn family(keyspace: &str, name: &str) -> thrift::Result<CfDef> {
    let mut message = Cursor::new(Vec::new());
    let mut output = TBinaryOutputProtocol::new(&mut message, true);
    for (id, text) in [(1, keyspace), (2, name)] {
        output.write_field_begin(&TFieldIdentifier::new("", TType::String, id))?;
        output.write_string(text)?;
    }
    output.write_field_stop()?;
    message.set_position(0);
    CfDef::read_from_in_protocol(&mut TBinaryInputProtocol::new(message, true))
}

#[cfg(feature = "line_0_7")]
mod line {
    use super::*;

    pub fn value_of(column: &Column) -> Vec<u8> {
        column.value.clone()
    }

    pub fn timestamp_of(column: &Column) -> i64 {
        column.timestamp
    }

    pub fn rows(start: &str, end: &str, count: i32) -> KeyRange {
        KeyRange::new(bytes(start), bytes(end), None, None, count)
    }

    pub fn described(name: &str, class: &str, index: Option<&str>) -> ColumnDef {
        let kind = index.map(|_| IndexType::KEYS);
        ColumnDef::new(bytes(name), class.to_owned(), kind, index.map(str::to_owned))
    }

    pub fn keyspace(name: &str, strategy: &str, families: Vec<CfDef>) -> KsDef {
        KsDef::new(name.to_owned(), strategy.to_owned(), None, 1, families)
    }
}

#[cfg(not(feature = "line_0_7"))]
mod line {
    use super::*;

    pub fn value_of(column: &Column) -> Vec<u8> {
        column.value.clone().unwrap_or_default()
    }

    pub fn timestamp_of(column: &Column) -> i64 {
        column.timestamp.unwrap_or_default()
    }

    #[cfg(feature = "line_1_0")]
    pub fn rows(start: &str, end: &str, count: i32) -> KeyRange {
        KeyRange::new(bytes(start), bytes(end), None, None, count)
    }

    #[cfg(feature = "line_2_1")]
    pub fn rows(start: &str, end: &str, count: i32) -> KeyRange {
        KeyRange::new(bytes(start), bytes(end), None, None, count, None)
    }

    pub fn described(name: &str, class: &str, index: Option<&str>) -> ColumnDef {
        let kind = index.map(|_| IndexType::KEYS);
        ColumnDef::new(bytes(name), class.to_owned(), kind, index.map(str::to_owned), None)
    }

    pub fn keyspace(name: &str, strategy: &str, families: Vec<CfDef>) -> KsDef {
        let options = BTreeMap::from([("replication_factor".to_owned(), "1".to_owned())]);
        KsDef::new(name.to_owned(), strategy.to_owned(), options, None, families, None)
    }
}

pub use line::{described, keyspace, rows, timestamp_of, value_of};
