//! What a statement of CQL 2 answers.

use std::collections::BTreeMap;

use bytes::Bytes;

/// What a statement answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cql2Outcome {
    Void,
    /// USE: the session's keyspace is this one from now on. The client is told what `Void` tells it.
    Keyspace(String),
    Rows(Cql2Result),
}

/// Rows, which may have different columns, and what their names and values are. Types by their short names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cql2Result {
    pub rows: Vec<Cql2Row>,
    /// Of names that the comparator does not read: the key's.
    pub name_types: BTreeMap<Bytes, String>,
    /// Of the columns of these rows that are declared.
    pub value_types: BTreeMap<Bytes, String>,
    pub default_name_type: String,
    pub default_value_type: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cql2Row {
    pub key: Bytes,
    pub columns: Vec<Cql2Column>,
}

/// A column, or only its name where it was asked for and is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cql2Column {
    pub name: Bytes,
    pub value: Option<Bytes>,
    pub timestamp: Option<i64>,
    pub ttl_s: Option<i32>,
}
