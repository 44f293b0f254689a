//! What a read finds in a row.

use bytes::Bytes;

use super::{Cell, DeletionTime};

/// A super column: its own tombstone and its cells in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperColumn {
    pub name: Bytes,
    pub deletion: DeletionTime,
    pub cells: Vec<Cell>,
}

impl SuperColumn {
    /// The newest timestamp of a live cell, shadowed or not; `i64::MIN` when there is none.
    pub fn newest_live_timestamp(&self) -> i64 {
        self.cells.iter().filter(|cell| cell.is_live()).map(|cell| cell.timestamp).max().unwrap_or(i64::MIN)
    }

    /// The newest timestamp of any cell, tombstones too; `i64::MIN` when there is none.
    pub fn newest_timestamp(&self) -> i64 {
        self.cells.iter().map(|cell| cell.timestamp).max().unwrap_or(i64::MIN)
    }
}

/// The columns that a read found, in the order in which it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowColumns {
    /// Of a Standard row, or of one super column.
    Cells(Vec<Cell>),
    Supers(Vec<SuperColumn>),
}

impl RowColumns {
    pub fn len(&self) -> usize {
        match self {
            RowColumns::Cells(cells) => cells.len(),
            RowColumns::Supers(supers) => supers.len(),
        }
    }

    /// Keeps the first so many.
    pub fn truncate(&mut self, count: usize) {
        match self {
            RowColumns::Cells(cells) => cells.truncate(count),
            RowColumns::Supers(supers) => supers.truncate(count),
        }
    }

    pub fn reverse(&mut self) {
        match self {
            RowColumns::Cells(cells) => cells.reverse(),
            RowColumns::Supers(supers) => supers.reverse(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A row of a range scan. It may be empty: Cassandra shows deleted rows so until compaction forgets them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub key: Bytes,
    pub columns: RowColumns,
}
