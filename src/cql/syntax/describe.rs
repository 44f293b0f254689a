//! DESCRIBE, as Cassandra 4.0 has it.

use super::TableName;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Describe {
    pub what: Described,
    pub with_internals: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Described {
    Cluster,
    Schema {
        /// The system's own keyspaces too.
        is_full: bool,
    },
    /// All elements of a kind.
    List(ElementKind),
    Keyspace {
        /// `None`: that of the session.
        name: Option<String>,
        /// Without what is in it.
        is_only: bool,
    },
    Element {
        kind: ElementKind,
        name: TableName,
    },
    /// Whatever has this name: a keyspace, a table or an index.
    Named(TableName),
}

/// What a schema is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementKind {
    Keyspace,
    Table,
    Index,
    View,
    Type,
    Function,
    Aggregate,
}

impl ElementKind {
    /// What results call it.
    pub fn name(self) -> &'static str {
        match self {
            ElementKind::Keyspace => "keyspace",
            ElementKind::Table => "table",
            ElementKind::Index => "index",
            ElementKind::View => "materialized_view",
            ElementKind::Type => "type",
            ElementKind::Function => "function",
            ElementKind::Aggregate => "aggregate",
        }
    }
}
