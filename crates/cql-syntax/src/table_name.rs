//! The name of a table.

/// The name of a table, and its keyspace if the statement names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    /// The keyspace; `None` means the keyspace of the session.
    pub keyspace: Option<String>,
    /// The name without the keyspace. In CQL 3 it is in lower case unless it was in quotes; in CQL 2 it keeps its case.
    pub name: String,
}
