//! One row's entries, wherever they are: in the engine or in the cache. Keys are relative to the row.

use bytes::Bytes;
use fjall::Snapshot;

use super::family::Trees;
use super::key::{ROW_MARKER, RowPrefix};
use super::long_keys::{Entries, WholeKey};
use super::row_cache::{Entry, RowView};
use crate::storage::StoreError;

/// The place that a row is read from, at one moment.
pub enum RowSource<'a> {
    Engine { trees: &'a Trees, snapshot: &'a Snapshot, row: &'a RowPrefix },
    Cached(RowView<'a>),
}

impl RowSource<'_> {
    /// The value of one entry.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        match self {
            RowSource::Engine { trees, snapshot, row } => trees.get(snapshot, &row.entry(key)),
            RowSource::Cached(entries) => {
                // The row's deletion stands first or not at all, and every read asks for it.
                if key == ROW_MARKER {
                    let first = entries.first().filter(|(first, _)| first[..] == *ROW_MARKER);
                    return Ok(first.map(|(_, value)| value.clone()));
                }
                let found = entries.binary_search_by(|(other, _)| other[..].cmp(key));
                Ok(found.ok().map(|at| entries[at].1.clone()))
            }
        }
    }

    /// Entries from `low` on and before `high`, or backwards.
    pub fn entries(&self, low: &[u8], high: &[u8], reversed: bool) -> RowEntries<'_> {
        match self {
            RowSource::Engine { trees, snapshot, row } => {
                let entries = Entries::new(trees, snapshot, row.entry(low), Some(row.entry(high)), reversed);
                RowEntries::Engine { entries, row_len: row.as_bytes().len() }
            }
            RowSource::Cached(entries) => {
                let from = first_not_below(entries, low);
                let to = first_not_below(entries, high);
                RowEntries::Cached { entries: entries.get(from..to).unwrap_or(&[]).iter(), reversed }
            }
        }
    }
}

/// Where the first entry stands whose key is not below this. Open slices ask for the ends.
fn first_not_below(entries: &[Entry], bound: &[u8]) -> usize {
    if entries.first().is_none_or(|(first, _)| &first[..] >= bound) {
        0
    } else if entries.last().is_some_and(|(last, _)| &last[..] < bound) {
        entries.len()
    } else {
        entries.partition_point(|(key, _)| &key[..] < bound)
    }
}

/// Entries of one row, on their way.
pub enum RowEntries<'a> {
    Engine { entries: Entries<'a>, row_len: usize },
    Cached { entries: std::slice::Iter<'a, Entry>, reversed: bool },
}

impl Iterator for RowEntries<'_> {
    type Item = Result<(RowKey, Bytes), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            RowEntries::Engine { entries, row_len } => {
                let entry = entries.next()?;
                Some(entry.map(|(whole, value)| (RowKey::Engine { whole, row_len: *row_len }, value)))
            }
            RowEntries::Cached { entries, reversed } => {
                let (key, value) = if *reversed { entries.next_back()? } else { entries.next()? };
                Some(Ok((RowKey::Cached(key.clone()), value.clone())))
            }
        }
    }
}

/// An entry's key relative to its row.
pub enum RowKey {
    Engine { whole: WholeKey, row_len: usize },
    Cached(Bytes),
}

impl RowKey {
    pub fn as_slice(&self) -> &[u8] {
        match self {
            RowKey::Engine { whole, row_len } => whole.as_slice().get(*row_len..).unwrap_or_default(),
            RowKey::Cached(key) => key,
        }
    }

    /// The bytes from `at` on, without a copy where that can be.
    pub fn tail(&self, at: usize) -> Bytes {
        match self {
            RowKey::Engine { whole, row_len } => whole.tail(row_len + at),
            RowKey::Cached(key) => key.slice(at.min(key.len())..),
        }
    }
}
