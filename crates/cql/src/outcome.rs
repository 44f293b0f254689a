//! The results of statements.

use std::sync::Arc;

use bytes::Bytes;

use base::marshal::CqlType;
pub use base::schema::{ChangeKind, ChangedTarget, SchemaChange};

/// The specification of a result column, or of a marker.
#[derive(Debug, Clone)]
pub struct ColumnSpec {
    /// The keyspace of the table.
    pub keyspace: String,
    /// The table that the column or marker belongs to.
    pub table: String,
    /// The column, or the text of the selector as the release prints it.
    pub name: String,
    /// The type of the values.
    pub cql_type: CqlType,
    /// Whether it is a field of a value. Every protocol gets fields in their stored form.
    pub is_field: bool,
}

impl ColumnSpec {
    /// Whether protocols before version 3 need its values in the short form.
    pub fn has_short_form(&self) -> bool {
        self.cql_type.is_multi_cell_collection() && !self.is_field
    }
}

/// Rows of a result. Collections have 32-bit lengths, as in protocol 3 and later; older protocols convert them.
#[derive(Debug, Clone)]
pub struct ResultSet {
    /// The columns of each row, in order.
    pub columns: Arc<[ColumnSpec]>,
    /// `None` is null.
    pub rows: Vec<Vec<Option<Bytes>>>,
    /// The position of the next page; `None` on the last page.
    pub paging_state: Option<Bytes>,
}

/// The result of a statement.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// No result: a change without IF, or a statement on users.
    Void,
    /// No result except a warning. The statement has been executed.
    Warned(String),
    /// The rows of a SELECT, or `[applied]` of a conditional update.
    Rows(ResultSet),
    /// USE: the session's new keyspace.
    Keyspace(String),
    /// A definition that has changed the schema, as it is reported to registered clients.
    Schema(SchemaChange),
}
