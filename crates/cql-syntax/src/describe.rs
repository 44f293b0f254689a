//! DESCRIBE, as in Cassandra 4.0.

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
        /// Whether the system keyspaces are included.
        is_full: bool,
    },
    /// All schema elements of a kind.
    List(ElementKind),
    Keyspace {
        /// `None`: the keyspace of the session.
        name: Option<String>,
        /// Whether the elements inside the keyspace are left out.
        is_only: bool,
    },
    Element {
        kind: ElementKind,
        name: TableName,
    },
    /// The element with this name: a keyspace, a table or an index.
    Named(TableName),
}

/// The kinds of schema elements.
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
    /// Returns the name of the kind in results.
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
