//! Finds the next row behind damage.
//!
//! ```text
//!   Data    row a | row b ....... | row c        row b is damaged: it can end anywhere, and anything can be in it
//!   Index   a at 0, b at 40, c at 900            the next row is where the Index has one whose key is there too
//! ```
//!
//! An entry of the Index is only believed if the Data file has the same key at its position. If no later row is found so,
//! either the Index is of no use, or the rest of the Data file: the sizes of rows (up to 1.2) may show the next one.
//!
//! If row and entry differ, one of them is damaged. Bytes of the Data file that a checksum has verified are right, and
//! the Index is wrong. Without a checksum it is not known which one, and the row is left out. But if no row fits the
//! Index, neither those before nor those behind, and the row can be read to its end, the Index belongs to another file.

use bytes::Bytes;

use super::atom::Unit;
use super::component::Component;
use super::error::{Damage, SstableError};
use super::table::TableReader;
use crate::limits::SKIPPED_KEYS_MAX;

/// A part of a file that was skipped because of damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedRow {
    /// The position of the row in the content of the file.
    pub start: u64,
    /// The position of the next row that is read; `None` if everything up to the end is lost. The same as `start` if
    /// nothing is lost, because another file than the Data file is damaged.
    pub end: Option<u64>,
    /// The key of the row, if the row itself or the Index component shows it.
    pub key: Option<Bytes>,
    /// The rows that the Index component has in the skipped part.
    pub listed: ListedRows,
}

/// Rows of the Index component.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedRows {
    /// The keys of the first rows, as far as the component has them.
    pub keys: Vec<Bytes>,
    /// The number of all rows.
    pub count: u64,
}

impl ListedRows {
    /// Adds a row, whose key may not be known.
    fn add(&mut self, row_key: Option<Bytes>) {
        self.count += 1;
        if self.keys.len() < SKIPPED_KEYS_MAX {
            self.keys.extend(row_key);
        }
    }

    /// Adds rows that follow.
    pub fn append(&mut self, other: ListedRows) {
        self.count += other.count;
        let room = SKIPPED_KEYS_MAX.saturating_sub(self.keys.len());
        self.keys.extend(other.keys.into_iter().take(room));
    }
}

impl TableReader {
    /// Moves behind damage: to the next row that the Index component has, or that follows by the size of the present
    /// one. Returns the skipped part. The next damage may begin there.
    pub fn skip_damage(&mut self, damage: &Damage) -> Result<SkippedRow, SstableError> {
        let start = self.row_start;
        let (key, listed) = (damage.key.clone(), ListedRows::default());
        let mut skipped = SkippedRow { start, end: Some(start), key, listed };
        if damage.path == self.descriptor.path(Component::Statistics) {
            // The row goes on, with times that may be wrong.
            self.timestamps = None;
            return Ok(skipped);
        }
        self.order.forget();
        self.is_in_row = false;
        self.last_key = None;
        if damage.path == self.descriptor.index_path() || damage.path == self.descriptor.path(Component::Rows)
        {
            self.index_is_damaged = true;
            // The entries of a trie have no keys by which those that fit could be found again.
            if !self.index_differs || self.descriptor.format.has_tries {
                self.index = None;
            }
            self.seek(start)?;
            return Ok(skipped);
        }
        let differs = std::mem::take(&mut self.index_differs);
        let mut entries = 0;
        skipped.end = self.row_after(start, &mut skipped, &mut entries);
        let is_foreign = differs && !self.index_has_fitted && entries > 1;
        if skipped.end.is_none() && is_foreign && self.reads_to_end(start) {
            skipped.end = Some(start);
            skipped.listed = ListedRows::default();
            self.index_is_damaged = true;
        }
        if skipped.end.is_none() {
            skipped.end = self.rows.end_of_row(start).filter(|end| *end > start);
            if skipped.end.is_some() {
                // The Index has other rows than the file.
                skipped.listed = ListedRows::default();
            }
        }
        self.seek(skipped.end.unwrap_or_else(|| self.rows.input().length()))?;
        Ok(skipped)
    }

    /// Returns the position of the next row behind the present one that both the Index and the Data file have. Without
    /// one, the Index is not used any more. Lists the rows before it, and counts the entries that were read.
    fn row_after(&mut self, start: u64, skipped: &mut SkippedRow, entries: &mut u64) -> Option<u64> {
        let mut index = self.index.take()?;
        index.go_to(self.index_place).ok()?;
        loop {
            let place = index.place();
            let entry = index.next_entry().ok()??;
            *entries += 1;
            let key = if entry.position > start { self.rows.key_at(entry.position) } else { None };
            if key.is_some() && entry.key.as_ref().is_none_or(|of_index| Some(of_index) == key.as_ref()) {
                index.go_to(place).ok()?;
                self.index = Some(index);
                return Some(entry.position);
            }
            if entry.position == start && skipped.key.is_none() {
                skipped.key.clone_from(&entry.key);
            }
            if entry.position >= start {
                skipped.listed.add(entry.key);
            }
        }
    }

    /// Returns whether the row at a position can be read to its end.
    fn reads_to_end(&mut self, start: u64) -> bool {
        if self.seek(start).is_err() {
            return false;
        }
        loop {
            match self.rows.next_unit() {
                Ok(Some(Unit::EndOfRow)) => return true,
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return false,
            }
        }
    }
}
