//! The results of CQL 2 statements.

use std::collections::BTreeMap;

use bytes::Bytes;

/// The result of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cql2Outcome {
    Void,
    /// USE: the session's new keyspace. The client gets the same result as for `Void`.
    Keyspace(String),
    Rows(Cql2Result),
}

/// Rows, which may have different columns, and the types of their names and values. Types have their short names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cql2Result {
    pub rows: Vec<Cql2Row>,
    /// The types of names that the comparator cannot parse: the name of the key.
    pub name_types: BTreeMap<Bytes, String>,
    /// The types of the declared columns in these rows.
    pub value_types: BTreeMap<Bytes, String>,
    pub default_name_type: String,
    pub default_value_type: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cql2Row {
    pub key: Bytes,
    pub columns: Vec<Cql2Column>,
}

/// A column. Without a value, the statement named the column but the row does not have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cql2Column {
    pub name: Bytes,
    pub value: Option<Bytes>,
    pub timestamp: Option<i64>,
}
