//! Errors of rows in JSON.

/// The reason why a row cannot be read. Its text names the part of the row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RowError(pub String);
