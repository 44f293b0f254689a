//! Counts the data that was copied or compared.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use base::model::Change;
use store::RowPiece;

/// Counts of rows, cells and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub rows: u64,
    /// Cells and tombstones of all kinds.
    pub cells: u64,
    /// Bytes of keys, names and values.
    pub bytes: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.rows += other.rows;
        self.cells += other.cells;
        self.bytes += other.bytes;
    }
}

/// Counts batches in the order of reading. A row may go on in the next batch.
#[derive(Debug, Default)]
pub(crate) struct RowCounter {
    pub last_key: Option<Bytes>,
}

impl RowCounter {
    /// Counts the rows that begin in a batch, its cells and its bytes.
    pub(crate) fn count(&mut self, rows: &[RowPiece]) -> Tally {
        let mut tally = Tally::default();
        for row in rows {
            tally.cells += row.changes.len() as u64;
            tally.bytes += row.key.len() as u64 + row.changes.iter().map(bytes_of).sum::<u64>();
            if self.last_key.as_ref() != Some(&row.key) {
                tally.rows += 1;
                self.last_key = Some(row.key.clone());
            }
        }
        tally
    }
}

fn bytes_of(change: &Change) -> u64 {
    let bytes = match change {
        Change::Cell { super_column, cell } => {
            super_column.as_ref().map_or(0, Bytes::len) + cell.name.len() + cell.value.len()
        }
        Change::DeleteSuper { name, .. } => name.len(),
        Change::DeleteRow { .. } => 0,
        Change::DeleteRange(range) => range.start.len() + range.finish.len(),
    };
    bytes as u64
}
