//! The IF clause of a statement.

use super::condition::ColumnCondition;

/// The IF clause.
#[derive(Debug)]
pub(super) enum RowTest {
    None,
    Exists,
    NotExists,
    Columns(Vec<ColumnCondition>),
}
