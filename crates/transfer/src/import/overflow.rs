//! Cells whose time to live has overflowed (CASSANDRA-14092). Times to live may have 20 years, and the second of expiry is a
//! number of 32 bits: since 2018 the sum can be negative, and the cell expires before it was written.
//!
//! `sstablescrub --reinsert-overflowed-ttl` of 2.1.20, 3.0.16, 3.11.2 and later restores them: they expire at the last
//! second that there is, and their timestamp is one higher, so that they win over the tombstones that compactions have made
//! of them.

use bytes::Bytes;

use super::losses::shown_key;
use base::model::{Cell, CellKind};
use sstable::Atom;

/// `AbstractCell.MAX_DELETION_TIME`: 2038-01-19 03:14:06.
const LAST_SECOND: i32 = i32::MAX - 1;
/// Keys that a report names.
const KEYS_MAX: usize = 5;

/// The cells of a column family whose time to live has overflowed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overflowed {
    cells: u64,
    /// The first rows that have some.
    keys: Vec<Bytes>,
}

impl Overflowed {
    /// Counts a part of a row, if it is such a cell.
    pub(super) fn see(&mut self, key: &Bytes, atom: &Atom) {
        if matches!(atom, Atom::Cell { cell, .. } if is_overflowed(cell)) {
            self.cells += 1;
            self.add_key(key);
        }
    }

    fn add_key(&mut self, key: &Bytes) {
        if self.keys.len() < KEYS_MAX && !self.keys.contains(key) {
            self.keys.push(key.clone());
        }
    }

    pub(super) fn add(&mut self, other: &Overflowed) {
        self.cells += other.cells;
        other.keys.iter().for_each(|key| self.add_key(key));
    }

    /// Returns the message for the report; `None` if there are no such cells.
    pub fn note(&self, are_restored: bool) -> Option<String> {
        let keys: Vec<String> = self.keys.iter().map(shown_key).collect();
        let outcome = if are_restored {
            "they are restored, and expire at 2038-01-19 03:14:06"
        } else {
            "they count as expired; --recover-expired overflow restores them"
        };
        (self.cells > 0).then(|| {
            format!(
                "{} cells expire before they were written, because their time to live goes beyond 2038-01-19 (CASSANDRA-14092), \
                 for example in the rows {}: {outcome}",
                self.cells,
                keys.join(", ")
            )
        })
    }
}

fn is_overflowed(cell: &Cell) -> bool {
    matches!(cell.kind, CellKind::Expiring { expires_at_s, .. } if expires_at_s < 0)
}

/// Returns a cell that has overflowed as it should have been written; `None` for other cells.
pub(super) fn restored(cell: &Cell) -> Option<Cell> {
    let CellKind::Expiring { ttl_s, expires_at_s: i32::MIN..0 } = cell.kind else { return None };
    let kind = CellKind::Expiring { ttl_s, expires_at_s: LAST_SECOND };
    Some(Cell { kind, timestamp: cell.timestamp.saturating_add(1), ..cell.clone() })
}
