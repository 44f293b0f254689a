//! The results of CQL 2 statements.

use std::collections::BTreeMap;

use bytes::Bytes;

/// The result of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cql2Outcome {
    /// No result: a change, or a definition.
    Void,
    /// USE: the session's new keyspace. The client gets the same result as for `Void`.
    Keyspace(String),
    /// The number of columns of a row: COUNT in 0.8.
    Count(i32),
    /// The rows of a SELECT, or its count.
    Rows(Cql2Result),
}

/// Rows, which may have different columns, and the types of their names and values. Types have their short names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cql2Result {
    /// The rows, in the order in which they were read.
    pub rows: Vec<Cql2Row>,
    /// The types of names that the comparator cannot parse: the name of the key.
    pub name_types: BTreeMap<Bytes, String>,
    /// The types of the declared columns in these rows.
    pub value_types: BTreeMap<Bytes, String>,
    /// The type of all names that `name_types` lacks: the comparator.
    pub default_name_type: String,
    /// The type of all values that `value_types` lacks: the default validation class.
    pub default_value_type: String,
}

/// A row of a result: CqlRow of Thrift.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cql2Row {
    /// The row key; `count` in the row of a count.
    pub key: Bytes,
    /// The columns in the order of the statement's list, or of the comparator.
    pub columns: Vec<Cql2Column>,
}

/// A column. Without a value, the statement named the column but the row does not have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cql2Column {
    /// The name, in the comparator's bytes.
    pub name: Bytes,
    /// The value; `None` if the row lacks the column.
    pub value: Option<Bytes>,
    /// The timestamp, by convention in microseconds; `None` for a count, and without a value.
    pub timestamp: Option<i64>,
}
