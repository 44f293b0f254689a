//! Definitions of tables, as they are written.

use super::{TableName, TypeName};

/// A property's value: a text or number, or a map of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyValue {
    Text(String),
    Map(Vec<(String, String)>),
}

/// `WITH a = b AND ...`, in the order written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Properties(pub Vec<(String, PropertyValue)>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDefinition {
    pub name: String,
    pub cql_type: TypeName,
    pub is_static: bool,
    /// `k int PRIMARY KEY`.
    pub is_primary_key: bool,
}

/// `PRIMARY KEY ((a, b), c)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimaryKey {
    pub partition_key: Vec<String>,
    pub clustering: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateTable {
    pub table: TableName,
    pub if_not_exists: bool,
    pub columns: Vec<ColumnDefinition>,
    /// Each PRIMARY KEY clause: there should be one.
    pub primary_keys: Vec<PrimaryKey>,
    pub is_compact: bool,
    /// CLUSTERING ORDER BY: columns, and whether each goes backwards.
    pub clustering_order: Vec<(String, bool)>,
    pub properties: Properties,
}

/// What ALTER TABLE does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alter {
    Type {
        column: String,
        cql_type: TypeName,
    },
    Add {
        column: String,
        cql_type: TypeName,
        is_static: bool,
    },
    Drop {
        column: String,
    },
    Rename(Vec<(String, String)>),
    With(Properties),
    /// `ADD (a int, b int)` and `DROP (a, b)`, of 3.x: one after the other.
    Several(Vec<Alter>),
}
