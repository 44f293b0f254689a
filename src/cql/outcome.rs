//! What a statement answers.

use std::sync::Arc;

use bytes::Bytes;

use crate::marshal::CqlType;
pub use crate::schema::{ChangeKind, ChangedTarget, SchemaChange};

/// A column of a result, or a value that a marker stands for.
#[derive(Debug, Clone)]
pub struct ColumnSpec {
    pub keyspace: String,
    pub table: String,
    pub name: String,
    pub cql_type: CqlType,
    /// It is a field of a value, which every protocol gets as it is stored.
    pub is_field: bool,
}

impl ColumnSpec {
    /// Whether protocols before 3 turn its values into a form of theirs.
    pub fn has_short_form(&self) -> bool {
        self.cql_type.is_multi_cell() && !self.is_field
    }
}

/// Rows. A collection's value has 32-bit lengths, as from protocol 3 on; older protocols turn it into theirs.
#[derive(Debug, Clone)]
pub struct ResultSet {
    pub columns: Arc<[ColumnSpec]>,
    /// `None` is null.
    pub rows: Vec<Vec<Option<Bytes>>>,
    /// Where the next page begins; `None` on the last.
    pub paging_state: Option<Bytes>,
}

/// What a statement answers.
#[derive(Debug, Clone)]
pub enum Outcome {
    Void,
    /// Nothing but a word of warning. It is done all the same.
    Warned(String),
    Rows(ResultSet),
    /// USE: the session's keyspace is this one from now on.
    Keyspace(String),
    Schema(SchemaChange),
}
