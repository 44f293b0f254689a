//! Counts the data that was copied or compared.

use serde::{Deserialize, Serialize};

use base::model::Change;
use store::RowPiece;

/// Counts of rows, cells and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub rows: u64,
    /// Cells and tombstones of all kinds.
    pub cells: u64,
    /// Bytes of keys, names and values.
    pub bytes: u64,
}

impl Tally {
    /// Counts pieces; `rows` of them begin a row.
    pub fn of(pieces: &[RowPiece], rows: u64) -> Tally {
        let mut tally = Tally { rows, ..Tally::default() };
        for row in pieces {
            tally.cells += row.changes.len() as u64;
            tally.bytes += row.key.len() as u64;
            tally.bytes += row.changes.iter().map(bytes_of).sum::<u64>();
        }
        tally
    }

    pub fn add(&mut self, other: Tally) {
        self.rows += other.rows;
        self.cells += other.cells;
        self.bytes += other.bytes;
    }
}

fn bytes_of(change: &Change) -> u64 {
    let bytes = match change {
        Change::Cell { super_column, cell } => {
            super_column.as_ref().map_or(0, bytes::Bytes::len) + cell.name.len() + cell.value.len()
        }
        Change::DeleteSuper { name, .. } => name.len(),
        Change::DeleteRow { .. } => 0,
        Change::DeleteRange(range) => range.start.len() + range.finish.len(),
    };
    bytes as u64
}
