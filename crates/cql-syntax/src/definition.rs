//! The parsed definitions of tables.

use super::{TableName, TypeName};

/// The value of a property: a text or number, or a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyValue {
    Text(String),
    Map(Vec<(String, String)>),
}

/// `WITH a = b AND ...`, in the order of the text.
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
    /// All PRIMARY KEY clauses; there should be exactly one.
    pub primary_keys: Vec<PrimaryKey>,
    pub is_compact: bool,
    /// CLUSTERING ORDER BY: columns, and whether each is descending.
    pub clustering_order: Vec<(String, bool)>,
    pub properties: Properties,
}

/// The change of an ALTER TABLE.
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
    /// `ADD (a int, b int)` and `DROP (a, b)` of 3.x: several steps in order.
    Several(Vec<Alter>),
}
