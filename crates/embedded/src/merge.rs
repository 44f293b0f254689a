//! Merges the entries of one row in memtables and tables.

use bytes::Bytes;

use super::long_keys::{StoredEntries, WholeKey};
use super::memtable::{EntryMap, EntryRange};
use super::packed::PackedValue;
use super::row_source::RowKey;
use store::Result;

/// An entry in tables.
type TableEntry = Result<(WholeKey, Bytes)>;

/// An iterator over entries in the order of their keys, in either direction. Of several entries with one key the newest
/// is returned; if it is a removal, none.
pub(crate) struct MergedEntries<'a> {
    /// The entries of each memtable, newest first.
    memory: Vec<EntryRange>,
    /// `None` if tables are not read.
    tables: Option<std::iter::Peekable<StoredEntries<'a>>>,
    row_len: usize,
    reversed: bool,
}

impl<'a> MergedEntries<'a> {
    /// Returns the entries from `low`, inclusive, to `high`, exclusive. `tables` has the entries of the same range.
    pub(crate) fn new(
        memory: &[EntryMap],
        low: &[u8],
        high: &[u8],
        tables: Option<StoredEntries<'a>>,
        row_len: usize,
        reversed: bool,
    ) -> MergedEntries<'a> {
        let memory = memory.iter().map(|map| EntryRange::new(map.clone(), low, high)).collect();
        MergedEntries { memory, tables: tables.map(Iterator::peekable), row_len, reversed }
    }

    /// Returns the index of the memtable with the next key, and the newest one if several have it.
    fn next_in_memory(&self) -> Option<usize> {
        let mut best: Option<(usize, &[u8])> = None;
        for (at, range) in self.memory.iter().enumerate() {
            let Some((key, _)) = range.peek(self.reversed) else { continue };
            let comes_first =
                best.is_none_or(|(_, other)| if self.reversed { key > other } else { key < other });
            if comes_first {
                best = Some((at, key));
            }
        }
        best.map(|(at, _)| at)
    }

    /// Takes the next entry of a memtable, and skips the older entries with the same key.
    fn take_from_memory(&mut self, at: usize) -> Option<(Bytes, Option<Bytes>)> {
        let (key, value) = self.memory[at].peek(self.reversed)?;
        let (key, value) = (Bytes::copy_from_slice(key), value.map(PackedValue::to_bytes));
        for range in &mut self.memory {
            if range.peek(self.reversed).is_some_and(|(other, _)| other == key) {
                range.skip(self.reversed);
            }
        }
        let row_len = self.row_len;
        if let Some(tables) = &mut self.tables {
            tables.next_if(
                |entry| matches!(entry, Ok((whole, _)) if whole.as_slice().get(row_len..) == Some(&key[..])),
            );
        }
        Some((key, value))
    }
}

impl Iterator for MergedEntries<'_> {
    type Item = Result<(RowKey, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        let row_len = self.row_len;
        let of_tables =
            |entry: TableEntry| entry.map(|(whole, value)| (RowKey::Stored { whole, row_len }, value));
        loop {
            let Some(at) = self.next_in_memory() else { return self.tables.as_mut()?.next().map(of_tables) };
            let in_tables = self.tables.as_mut().and_then(|tables| tables.peek());
            let tables_first = match (in_tables, self.memory[at].peek(self.reversed)) {
                (Some(Ok((whole, _))), Some((key, _))) => {
                    let other = whole.as_slice().get(row_len..).unwrap_or_default();
                    if self.reversed { other > key } else { other < key }
                }
                // The key of an unreadable entry is unknown, so the error is returned at once.
                (Some(Err(_)), _) => true,
                (None, _) | (_, None) => false,
            };
            if tables_first {
                return self.tables.as_mut()?.next().map(of_tables);
            }
            if let (key, Some(value)) = self.take_from_memory(at)? {
                return Some(Ok((RowKey::Memory(key), value)));
            }
        }
    }
}
