//! The parsed definitions of tables.

use super::{TableName, TypeName};

/// The value of a property: a text or number, or a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyValue {
    /// A constant or word as written, without quotes.
    Text(String),
    /// `{'class': 'SimpleStrategy', ...}`: names and values without quotes. The last of several equal names counts.
    Map(Vec<(String, String)>),
}

/// `WITH a = b AND ...`, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Properties(pub Vec<(String, PropertyValue)>);

/// A column in the parentheses of CREATE TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// The column's name.
    pub name: String,
    /// The column's type.
    pub cql_type: TypeName,
    /// STATIC: all rows of a partition share the value.
    pub is_static: bool,
    /// `k int PRIMARY KEY`.
    pub is_primary_key: bool,
}

/// `PRIMARY KEY ((a, b), c)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimaryKey {
    /// The columns whose values together determine the partition.
    pub partition_key: Vec<String>,
    /// The clustering columns, by which the rows of a partition are sorted.
    pub clustering: Vec<String>,
}

/// `CREATE TABLE table (...) WITH ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateTable {
    /// The new table.
    pub table: TableName,
    /// IF NOT EXISTS: an existing table is not an error.
    pub if_not_exists: bool,
    /// The columns in the order of the text.
    pub columns: Vec<ColumnDefinition>,
    /// All PRIMARY KEY clauses; there should be exactly one.
    pub primary_keys: Vec<PrimaryKey>,
    /// COMPACT STORAGE: rows are stored as Thrift clients see them.
    pub is_compact: bool,
    /// CLUSTERING ORDER BY: columns, and whether each is descending.
    pub clustering_order: Vec<(String, bool)>,
    /// All other properties after WITH.
    pub properties: Properties,
}

/// The change of an ALTER TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alter {
    /// `ALTER column TYPE type`.
    Type {
        /// The column to change.
        column: String,
        /// Its new type.
        cql_type: TypeName,
    },
    /// `ADD column type`.
    Add {
        /// The new column.
        column: String,
        /// Its type.
        cql_type: TypeName,
        /// STATIC: all rows of a partition share the value.
        is_static: bool,
    },
    /// `DROP column`.
    Drop {
        /// The column to remove.
        column: String,
    },
    /// `RENAME a TO b AND c TO d`: pairs of the old and the new name.
    Rename(Vec<(String, String)>),
    /// `WITH name = value AND ...`.
    With(Properties),
    /// `ADD (a int, b int)` and `DROP (a, b)` of 3.x: several steps in order.
    Several(Vec<Alter>),
}
