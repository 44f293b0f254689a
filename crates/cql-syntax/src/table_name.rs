//! The name of a table.

/// The name of a table, and its keyspace if the statement names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    pub keyspace: Option<String>,
    pub name: String,
}
