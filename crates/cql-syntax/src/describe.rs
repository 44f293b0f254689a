//! DESCRIBE, as in Cassandra 4.0.

use super::TableName;

/// `DESCRIBE ... WITH INTERNALS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Describe {
    /// The described elements.
    pub what: Described,
    /// WITH INTERNALS: the ids and dropped columns of tables are included.
    pub with_internals: bool,
}

/// The elements that a DESCRIBE is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Described {
    /// `CLUSTER`: the name, partitioner and snitch of the cluster.
    Cluster,
    /// `SCHEMA` or `FULL SCHEMA`: the statements that create all keyspaces and their elements.
    Schema {
        /// Whether the system keyspaces are included.
        is_full: bool,
    },
    /// All schema elements of a kind.
    List(ElementKind),
    /// `KEYSPACE name` or `ONLY KEYSPACE name`.
    Keyspace {
        /// `None`: the keyspace of the session.
        name: Option<String>,
        /// Whether the elements inside the keyspace are left out.
        is_only: bool,
    },
    /// `TABLE name`, `INDEX name` and similar.
    Element {
        /// The kind of the element.
        kind: ElementKind,
        /// The element, with its keyspace if the statement names it.
        name: TableName,
    },
    /// The element with this name: a keyspace, a table or an index.
    Named(TableName),
}

/// The kinds of schema elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ElementKind {
    /// A keyspace.
    Keyspace,
    /// A table.
    Table,
    /// A secondary index.
    Index,
    /// A materialized view.
    #[strum(serialize = "materialized_view")]
    View,
    /// A user-defined type.
    Type,
    /// A user-defined function.
    Function,
    /// A user-defined aggregate.
    Aggregate,
}

impl ElementKind {
    /// Returns the name of the kind in results.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
