//! The entries of one row, from memtables and tables or from the row cache. Keys are relative to the row.

use std::cell::Cell;

use bytes::{Buf, Bytes};
use smallvec::SmallVec;

use super::blocking::BlockingPermit;
use super::key::{ROW_MARKER, RowPrefix};
use super::long_keys::{StoredEntries, WholeKey};
use super::memtable::{EntryMap, MemoryView};
use super::merge::MergedEntries;
use super::packed::{PackedValue, PackedWalk};
use super::row_cache::RowView;
use super::tables::{Snapshot, Tables};
use store::Result;

/// Where a row is read from.
pub(crate) enum RowSource<'a> {
    Stored(StoredRow<'a>),
    Cached(CachedView<'a>),
}

/// A row in the row cache.
pub(crate) struct CachedView<'a> {
    row: RowView<'a>,
    /// Probable position of the next key that is looked up.
    likely: Cell<usize>,
}

/// A row in memtables and tables.
pub(crate) struct StoredRow<'a> {
    /// `None` if only memtables are read.
    tables: Option<(&'a Tables, &'a Snapshot)>,
    row: &'a RowPrefix,
    /// Its entries in each memtable, newest first.
    memory: SmallVec<[EntryMap; 1]>,
    /// Probable position in a memtable of the next key that is looked up.
    likely: Cell<usize>,
}

impl<'a> RowSource<'a> {
    /// Returns the source of a cached row.
    pub(crate) fn cached(row: RowView<'a>) -> RowSource<'a> {
        RowSource::Cached(CachedView { row, likely: Cell::new(0) })
    }

    /// Returns the source of a row in memtables and tables. Without `may_wait` only memtables are read: the generation
    /// has no tables, or the caller knows that their entries do not change the result.
    pub(crate) fn stored(
        tables: &'a Tables,
        view: &'a MemoryView,
        row: &'a RowPrefix,
        may_wait: Option<&BlockingPermit>,
    ) -> RowSource<'a> {
        let memory = view.row(tables.number, row.as_bytes());
        let snapshot = view.snapshot.as_deref().filter(|_| may_wait.is_some() && !tables.is_empty());
        let tables = snapshot.map(|snapshot| (tables, snapshot));
        RowSource::Stored(StoredRow { tables, row, memory, likely: Cell::new(0) })
    }
}

impl StoredRow<'_> {
    /// Looks a key up in the memtables. `Some(None)` if the newest that has the key has removed it.
    fn in_memory(&self, key: &[u8]) -> Option<Option<PackedValue<'_>>> {
        self.memory.iter().find_map(|map| map.get(key, &self.likely))
    }

    fn in_tables(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.tables.map_or(Ok(None), |(tables, snapshot)| tables.get(snapshot, &self.row.entry(key)))
    }

    fn entries(&self, low: &[u8], high: &[u8], reversed: bool) -> RowEntries<'_> {
        let row = self.row;
        let stored = self.tables.map(|(tables, snapshot)| {
            StoredEntries::new(tables, snapshot, row.entry(low), Some(row.entry(high)), reversed)
        });
        let row_len = row.as_bytes().len();
        match stored {
            Some(entries) if self.memory.is_empty() => RowEntries::Stored { entries, row_len },
            stored => {
                let merged = MergedEntries::new(&self.memory, low, high, stored, row_len, reversed);
                RowEntries::Merged(Box::new(merged))
            }
        }
    }
}

impl CachedView<'_> {
    fn get(&self, key: &[u8]) -> Option<PackedValue<'_>> {
        let entries = &self.row.entries;
        // The row's deletion is the first entry if it exists, and every read looks it up.
        if key == ROW_MARKER {
            return if entries.begins_with(key) { entries.value(0) } else { None };
        }
        let found = entries.search(key, self.likely.get());
        self.likely.set(found.unwrap_or_else(|at| at) + 1);
        entries.value(found.ok()?)
    }
}

impl RowSource<'_> {
    /// Returns the value of one entry.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.look_at(key, |value| value.to_bytes())
    }

    /// Returns whether a cell with this timestamp certainly wins over every cell of the row. Only the row cache knows;
    /// otherwise `false`.
    pub(crate) fn loses_to(&self, timestamp: i64) -> bool {
        match self {
            RowSource::Stored(_) => false,
            RowSource::Cached(row) => row.row.newest < timestamp,
        }
    }

    /// Passes the value of one entry to `look`, without a copy if it is in memory.
    pub(crate) fn look_at<T>(&self, key: &[u8], look: impl Fn(PackedValue<'_>) -> T) -> Result<Option<T>> {
        match self {
            RowSource::Stored(row) => match row.in_memory(key) {
                Some(value) => Ok(value.map(look)),
                None => Ok(row.in_tables(key)?.map(|value| look(PackedValue::Large(&value)))),
            },
            RowSource::Cached(row) => Ok(row.get(key).map(look)),
        }
    }

    /// Returns where the key that was looked up last probably is in the memtable.
    pub(crate) fn likely(&self) -> usize {
        if let RowSource::Stored(row) = self { row.likely.get().saturating_sub(1) } else { 0 }
    }

    /// Returns the entries from `low`, inclusive, to `high`, exclusive; in descending order if `reversed`.
    pub(crate) fn entries(&self, low: &[u8], high: &[u8], reversed: bool) -> RowEntries<'_> {
        match self {
            RowSource::Stored(row) => row.entries(low, high, reversed),
            RowSource::Cached(row) => {
                RowEntries::Cached(PackedWalk::new(&row.row.entries, low, high, reversed))
            }
        }
    }
}

/// An iterator over entries of one row.
pub(crate) enum RowEntries<'a> {
    Stored { entries: StoredEntries<'a>, row_len: usize },
    Merged(Box<MergedEntries<'a>>),
    Cached(PackedWalk<'a>),
}

impl Iterator for RowEntries<'_> {
    type Item = Result<(RowKey, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            RowEntries::Stored { entries, row_len } => {
                let entry = entries.next()?;
                Some(entry.map(|(whole, value)| (RowKey::Stored { whole, row_len: *row_len }, value)))
            }
            RowEntries::Merged(entries) => entries.next(),
            RowEntries::Cached(entries) => {
                let (key, value) = entries.next()?;
                Some(Ok((RowKey::Memory(key), value)))
            }
        }
    }
}

/// An entry's key relative to its row.
#[derive(Clone)]
pub(crate) enum RowKey {
    Stored { whole: WholeKey, row_len: usize },
    Memory(Bytes),
}

impl AsRef<[u8]> for RowKey {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl RowKey {
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            RowKey::Stored { whole, row_len } => whole.as_slice().get(*row_len..).unwrap_or_default(),
            RowKey::Memory(key) => key,
        }
    }

    /// Returns the bytes from `at` on, if possible without a copy.
    pub(crate) fn into_tail(self, at: usize) -> Bytes {
        match self {
            RowKey::Stored { whole, row_len } => whole.tail(row_len + at),
            RowKey::Memory(mut key) => {
                key.advance(at.min(key.len()));
                key
            }
        }
    }
}
