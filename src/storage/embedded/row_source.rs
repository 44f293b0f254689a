//! One row's entries, wherever they are: in memory and the engine, or in the cache. Keys are relative to the row.

use std::cell::Cell;
use std::sync::Arc;

use bytes::Bytes;

use super::family::Trees;
use super::key::{ROW_MARKER, RowPrefix};
use super::long_keys::{Entries, WholeKey};
use super::memtable::{EntryMap, View};
use super::merge::MergedEntries;
use super::row_cache::{Entry, RowView, search};
use crate::storage::StoreError;

/// The place that a row is read from, at one moment.
pub enum RowSource<'a> {
    Stored(StoredRow<'a>),
    Cached(CachedView<'a>),
}

/// A row as the cache has it.
pub struct CachedView<'a> {
    entries: RowView<'a>,
    /// Where the next key to be asked for is likely to stand.
    likely: Cell<usize>,
}

/// A row as memory and the engine have it.
pub struct StoredRow<'a> {
    trees: &'a Trees,
    view: &'a View,
    row: &'a RowPrefix,
    /// What memory knows of it, newest first.
    memory: Vec<Arc<EntryMap>>,
}

impl<'a> RowSource<'a> {
    /// The row in the cache.
    pub fn cached(entries: RowView<'a>) -> RowSource<'a> {
        RowSource::Cached(CachedView { entries, likely: Cell::new(0) })
    }

    /// The row of a generation that has this prefix, in memory and engine.
    pub fn stored(trees: &'a Trees, view: &'a View, row: &'a RowPrefix) -> RowSource<'a> {
        RowSource::Stored(StoredRow { trees, view, row, memory: view.row(trees.number, row.as_bytes()) })
    }
}

impl StoredRow<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        match self.memory.iter().find_map(|map| map.get(key)) {
            Some((_, value)) => Ok(value.clone()),
            None => self.trees.get(&self.view.snapshot, &self.row.entry(key)),
        }
    }

    fn entries(&self, low: &[u8], high: &[u8], reversed: bool) -> RowEntries<'_> {
        let (row, snapshot) = (self.row, &self.view.snapshot);
        let engine = Entries::new(self.trees, snapshot, row.entry(low), Some(row.entry(high)), reversed);
        let row_len = row.as_bytes().len();
        if self.memory.is_empty() {
            return RowEntries::Engine { entries: engine, row_len };
        }
        RowEntries::Merged(Box::new(MergedEntries::new(&self.memory, (low, high), engine, row_len, reversed)))
    }
}

impl RowSource<'_> {
    /// The value of one entry.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        match self {
            RowSource::Stored(row) => row.get(key),
            RowSource::Cached(row) => {
                // The row's deletion stands first or not at all, and every read asks for it.
                if key == ROW_MARKER {
                    let first = row.entries.first().filter(|first| first.key[..] == *ROW_MARKER);
                    return Ok(first.map(|first| first.value.clone()));
                }
                let found = search(&row.entries, key, row.likely.get());
                row.likely.set(found.unwrap_or_else(|at| at) + 1);
                Ok(found.ok().map(|at| row.entries[at].value.clone()))
            }
        }
    }

    /// Entries from `low` on and before `high`, or backwards.
    pub fn entries(&self, low: &[u8], high: &[u8], reversed: bool) -> RowEntries<'_> {
        match self {
            RowSource::Stored(row) => row.entries(low, high, reversed),
            RowSource::Cached(CachedView { entries, .. }) => {
                let from = first_not_below(entries, low);
                let to = first_not_below(entries, high);
                RowEntries::Cached { entries: entries.get(from..to).unwrap_or(&[]).iter(), reversed }
            }
        }
    }
}

/// Where the first entry stands whose key is not below this. Open slices ask for the ends.
fn first_not_below(entries: &[Entry], bound: &[u8]) -> usize {
    if entries.first().is_none_or(|first| &first.key[..] >= bound) {
        0
    } else if entries.last().is_some_and(|last| &last.key[..] < bound) {
        entries.len()
    } else {
        search(entries, bound, 0).unwrap_or_else(|at| at)
    }
}

/// Entries of one row, on their way.
pub enum RowEntries<'a> {
    Engine { entries: Entries<'a>, row_len: usize },
    Merged(Box<MergedEntries<'a>>),
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
            RowEntries::Merged(entries) => entries.next(),
            RowEntries::Cached { entries, reversed } => {
                let entry = if *reversed { entries.next_back()? } else { entries.next()? };
                Some(Ok((RowKey::Memory(entry.key.clone()), entry.value.clone())))
            }
        }
    }
}

/// An entry's key relative to its row.
pub enum RowKey {
    Engine { whole: WholeKey, row_len: usize },
    Memory(Bytes),
}

impl RowKey {
    pub fn as_slice(&self) -> &[u8] {
        match self {
            RowKey::Engine { whole, row_len } => whole.as_slice().get(*row_len..).unwrap_or_default(),
            RowKey::Memory(key) => key,
        }
    }

    /// The bytes from `at` on, without a copy where that can be.
    pub fn tail(&self, at: usize) -> Bytes {
        match self {
            RowKey::Engine { whole, row_len } => whole.tail(row_len + at),
            RowKey::Memory(key) => key.slice(at.min(key.len())..),
        }
    }
}
