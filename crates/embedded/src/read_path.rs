//! The read path: a row is read from the row cache, else from memtables and tables.

use std::sync::Arc;

use bytes::Bytes;

use super::blocking::{self, BlockingPermit};
use super::dump::dump;
use super::families::Families;
use super::key::{ROW_END, RowPrefix};
use super::locks::{HeldRows, RowLocks};
use super::memtable::{Memory, MemoryView};
use super::row_cache::{CachedRow, RowCache, RowId};
use super::row_source::RowSource;
use super::scan::{ScanPiece, ScanPlace, ScannedRows, scan};
use super::tables::{TableSpace, Tables};
use base::model::{Predicate, RangeCommand, ReadCommand};
use base::partitioner::PartitionerRef;
use store::{Dump, DumpCommand, Result, StoredSlice, StoredSliceCommand};

/// A function that reads the columns of a row, or counts them.
pub(crate) type ReadRow<T> = fn(&RowSource<'_>, &ReadCommand) -> Result<T>;

/// The parts of the store that a read uses.
pub(crate) struct ReadPath {
    pub families: Arc<Families>,
    pub memory: Arc<Memory>,
    /// `None` in a store in memory.
    pub space: Option<Arc<TableSpace>>,
    pub row_cache: RowCache,
    pub locks: RowLocks,
    pub partitioner: PartitionerRef,
}

impl ReadPath {
    /// Returns a consistent view of memtables and tables.
    pub(crate) fn view(&self) -> MemoryView {
        self.memory.view(|| self.space.as_ref().map(|space| space.snapshot()))
    }

    /// Returns the prefix of a row's entries.
    pub(crate) fn prefix_of(&self, key: &[u8]) -> RowPrefix {
        RowPrefix::of(key, &*self.partitioner)
    }

    /// Reads one row.
    ///
    /// Returns `None` without `may_wait` if the read would take long or must read tables.
    pub(crate) fn read<T>(
        &self,
        key: &Bytes,
        command: &ReadCommand,
        read: ReadRow<T>,
        may_wait: Option<&BlockingPermit>,
    ) -> Result<Option<T>> {
        if may_wait.is_none() && has_many_names(command) {
            return Ok(None);
        }
        let families = self.families.now();
        let family = families.family(&command.cf)?;
        let tables = family.tables.load();
        let id = RowId { family: tables.number, key: key.clone() };
        if let Some(cached) = self.row_cache.get(&id)
            && let Some(row) = cached.view()
        {
            self.row_cache.hits.add(1);
            return read(&RowSource::cached(row), command).map(Some);
        }
        if may_wait.is_none() && is_long(command) {
            return Ok(None);
        }
        self.read_row(&id, &self.prefix_of(key), &tables, |row| read(row, command), may_wait)
    }

    /// Reads a row that is not in the cache, and loads it into the cache if it was used recently.
    ///
    /// Returns `None` without `may_wait` if tables must be read.
    fn read_row<T>(
        &self,
        id: &RowId,
        row: &RowPrefix,
        tables: &Tables,
        read: impl Fn(&RowSource<'_>) -> Result<T>,
        may_wait: Option<&BlockingPermit>,
    ) -> Result<Option<T>> {
        let view = self.view();
        let Some(source) = source_in(&view, tables, row, may_wait) else { return Ok(None) };
        self.row_cache.record_miss();
        if self.row_cache.is_worth_loading(id) {
            let rows = self.locks.lock_one(&id.key);
            // The cache must have writes that were made before the row was locked, so a new view is taken.
            let view = self.view();
            let Some(source) = source_in(&view, tables, row, may_wait) else { return Ok(None) };
            let cached = self.load_row(id, row, &source, &rows)?;
            drop(rows);
            if let Some(row) = cached.view() {
                return read(&RowSource::cached(row)).map(Some);
            }
        }
        read(&source).map(Some)
    }

    /// Loads a row into the cache unless it is there. The row is locked, and `source` was created since.
    pub(crate) fn load_row(
        &self,
        id: &RowId,
        row: &RowPrefix,
        source: &RowSource<'_>,
        rows: &HeldRows<'_>,
    ) -> Result<Arc<CachedRow>> {
        debug_assert!(self.locks.are_held(rows, &id.key), "the cached row would lack a concurrent write");
        if let Some(cached) = self.row_cache.get(id) {
            return Ok(cached);
        }
        self.row_cache.load(id, row, source.entries(&[], ROW_END, false))
    }

    /// Reads a part of the rows of a scan, in the order of the ring.
    pub(crate) fn scan(
        &self,
        command: &RangeCommand,
        from: ScanPlace,
        may_wait: &BlockingPermit,
    ) -> Result<ScanPiece> {
        let family = self.families.family(&command.read.cf)?;
        scan(self.stored_rows(&family.tables.load_full(), &self.view(), may_wait), command, from)
    }

    /// Reads all stored changes, tombstones included.
    pub(crate) fn dump(&self, command: &DumpCommand, may_wait: &BlockingPermit) -> Result<Dump> {
        let family = self.families.family(&command.cf)?;
        dump(self.stored_rows(&family.tables.load_full(), &self.view(), may_wait), command)
    }

    /// Reads a slice of a row with tombstones and hidden cells.
    pub(crate) fn stored_slice(
        &self,
        command: &StoredSliceCommand,
        may_wait: &BlockingPermit,
    ) -> Result<StoredSlice> {
        let family = self.families.family(&command.cf)?;
        let (tables, view) = (family.tables.load_full(), self.view());
        let row = self.prefix_of(&command.key);
        RowSource::stored(&tables, &view, &row, Some(may_wait)).stored_slice(command)
    }

    fn stored_rows<'a>(
        &'a self,
        tables: &'a Tables,
        view: &'a MemoryView,
        may_wait: &'a BlockingPermit,
    ) -> ScannedRows<'a> {
        ScannedRows { tables, view, partitioner: &*self.partitioner, may_wait }
    }

    /// Returns all tokens that rows have, sorted.
    pub(crate) fn tokens(&self, may_wait: &BlockingPermit) -> Result<Vec<Vec<u8>>> {
        let families = self.families.now();
        let view = self.view();
        let mut tokens = Vec::new();
        for family in families.all() {
            let tables = family.tables.load_full();
            let mut rows = self.stored_rows(&tables, &view, may_wait).within(Vec::new(), None);
            while let Some(row) = rows.next_row()? {
                tokens.extend(row.token(&*self.partitioner));
            }
        }
        tokens.sort();
        tokens.dedup();
        Ok(tokens)
    }
}

/// Returns the source of a row in memtables and tables. `None` without `may_wait` if there are tables.
///
/// The order matters: the view is taken before `tables` is checked. An entry that the view does not have in a memtable
/// was flushed before, so `tables` is then not empty.
fn source_in<'a>(
    view: &'a MemoryView,
    tables: &'a Tables,
    row: &'a RowPrefix,
    may_wait: Option<&BlockingPermit>,
) -> Option<RowSource<'a>> {
    let is_readable = may_wait.is_some() || tables.is_empty();
    is_readable.then(|| RowSource::stored(tables, view, row, may_wait))
}

/// Returns whether the command has so many names that reading them, even from the cache, would delay other connections.
fn has_many_names(command: &ReadCommand) -> bool {
    matches!(&command.predicate, Predicate::Names(names) if names.len() > blocking::LONG_SLICE)
}

/// Returns whether a slice is so long that reading it would delay other connections.
pub(crate) fn is_long(command: &ReadCommand) -> bool {
    matches!(&command.predicate, Predicate::Range(range) if range.count > blocking::LONG_SLICE)
}
