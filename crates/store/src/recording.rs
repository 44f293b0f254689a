//! A store that records requests: the reads of a statement, and the writes that it would do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;

use super::{
    Capabilities, IndexLookup, IndexedStore, Store, StoreChange, StoreError, StoreFuture, StoreStatus,
};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Cell, Mutation, RangeCommand, ReadCommand, Row, RowColumns};
use base::schema::CfDef;
use base::util::meter;

/// A recorded request.
#[derive(Debug, Clone)]
pub enum StoreRequest {
    /// A read of one row.
    Read {
        /// The row's key.
        key: Bytes,
        /// The read of the row.
        command: ReadCommand,
    },
    /// A read of many rows.
    Scan(RangeCommand),
    /// A mutation, which the store behind did not get.
    Write(Mutation),
}

/// A cell that a read has returned.
#[derive(Debug, Clone)]
pub struct ReadCell {
    /// The column family of the row.
    pub cf: Arc<CfDef>,
    /// The row's key.
    pub key: Bytes,
    /// The super column that holds the cell.
    pub super_column: Option<Bytes>,
    /// The cell.
    pub cell: Cell,
}

/// The limits of a recording. Requests and cells above the limits are only counted.
#[derive(Debug, Clone, Copy)]
pub struct RecordingLimits {
    /// Most requests.
    pub requests: usize,
    /// Most cells that reads have returned.
    pub cells: usize,
    /// Most bytes of the names and values of these cells.
    pub cell_bytes: usize,
}

impl Default for RecordingLimits {
    /// Returns the limits that store all requests, and no cells.
    fn default() -> RecordingLimits {
        RecordingLimits { requests: usize::MAX, cells: 0, cell_bytes: 0 }
    }
}

/// The cells that are stored.
#[derive(Default)]
struct ReadCells {
    cells: Vec<ReadCell>,
    bytes: usize,
}

/// Forwards reads to another store, discards writes, and records both.
pub struct RecordingStore {
    inner: Arc<dyn Store>,
    limits: RecordingLimits,
    requests: Mutex<Vec<StoreRequest>>,
    read: Mutex<ReadCells>,
    all_requests: AtomicUsize,
    cells: AtomicUsize,
    tombstones: AtomicU64,
}

impl RecordingStore {
    /// Returns a store that reads from `inner` and never writes to it.
    pub fn new(inner: Arc<dyn Store>) -> RecordingStore {
        RecordingStore {
            inner,
            limits: RecordingLimits::default(),
            requests: Mutex::default(),
            read: Mutex::default(),
            all_requests: AtomicUsize::default(),
            cells: AtomicUsize::default(),
            tombstones: AtomicU64::default(),
        }
    }

    /// Returns the same store with other limits.
    #[must_use]
    pub fn with_limits(self, limits: RecordingLimits) -> RecordingStore {
        RecordingStore { limits, ..self }
    }

    /// Returns the requests since the last call.
    pub fn take(&self) -> Vec<StoreRequest> {
        std::mem::take(&mut self.requests.lock())
    }

    /// Returns the number of cells that all reads have returned.
    pub fn cells_read(&self) -> usize {
        self.cells.load(Ordering::Relaxed)
    }

    /// Returns the number of all requests, with those above the limit.
    pub fn requests_made(&self) -> usize {
        self.all_requests.load(Ordering::Relaxed)
    }

    /// Returns the number of tombstones and expired columns that the reads have passed. They are counted by the meter of
    /// the request that reads.
    pub fn tombstones_passed(&self) -> u64 {
        self.tombstones.load(Ordering::Relaxed)
    }

    /// Returns the cells that were stored since the last call.
    pub fn take_cells(&self) -> Vec<ReadCell> {
        std::mem::take(&mut *self.read.lock()).cells
    }

    fn record(&self, request: impl FnOnce() -> StoreRequest) {
        self.all_requests.fetch_add(1, Ordering::Relaxed);
        let mut requests = self.requests.lock();
        if requests.len() < self.limits.requests {
            requests.push(request());
        }
    }

    fn count(&self, cf: &Arc<CfDef>, holder: Option<&Bytes>, key: &Bytes, columns: &RowColumns) {
        let cells = match columns {
            RowColumns::Cells(cells) => {
                self.store(cf, holder, key, cells);
                cells.len()
            }
            RowColumns::Supers(supers) => {
                for column in supers {
                    self.store(cf, Some(&column.name), key, &column.cells);
                }
                supers.iter().map(|column| column.cells.len()).sum()
            }
        };
        self.cells.fetch_add(cells, Ordering::Relaxed);
    }

    /// Takes the number of tombstones from the meter, which is used again after the request.
    fn count_tombstones(&self) {
        if let Some(meter) = meter::current() {
            self.tombstones.fetch_max(meter.tombstones(), Ordering::Relaxed);
        }
    }

    /// Stores cells up to the limits.
    fn store(&self, cf: &Arc<CfDef>, holder: Option<&Bytes>, key: &Bytes, cells: &[Cell]) {
        if self.limits.cells == 0 {
            return;
        }
        let mut read = self.read.lock();
        for cell in cells {
            let bytes = cell.name.len() + cell.value.len();
            if read.cells.len() >= self.limits.cells || read.bytes + bytes > self.limits.cell_bytes {
                return;
            }
            read.bytes += bytes;
            let (cf, key, super_column) = (cf.clone(), key.clone(), holder.cloned());
            read.cells.push(ReadCell { cf, key, super_column, cell: cell.clone() });
        }
    }

    fn refused<'a, T>() -> StoreFuture<'a, T> {
        Box::pin(async {
            Err(StoreError::ReadOnly("changes are not possible while requests are recorded".to_owned()))
        })
    }
}

impl Store for RecordingStore {
    fn apply(
        &self,
        mutations: Vec<Mutation>,
        _behaviour: &'static Behaviour,
        _consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()> {
        mutations.into_iter().for_each(|mutation| self.record(|| StoreRequest::Write(mutation)));
        Box::pin(async { Ok(()) })
    }

    fn read(
        &self,
        key: Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, RowColumns> {
        self.record(|| StoreRequest::Read { key: key.clone(), command: command.clone() });
        Box::pin(async move {
            let (cf, holder) = (command.cf.clone(), command.super_column.clone());
            let columns = self.inner.read(key.clone(), command, consistency).await?;
            self.count(&cf, holder.as_ref(), &key, &columns);
            self.count_tombstones();
            Ok(columns)
        })
    }

    fn scan(&self, command: RangeCommand, consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
        self.record(|| StoreRequest::Scan(command.clone()));
        Box::pin(async move {
            let (cf, holder) = (command.read.cf.clone(), command.read.super_column.clone());
            let rows = self.inner.scan(command, consistency).await?;
            rows.iter().for_each(|row| self.count(&cf, holder.as_ref(), &row.key, &row.columns));
            self.count_tombstones();
            Ok(rows)
        })
    }

    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        self.inner.splits(start, end, keys_per_split)
    }

    fn records(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        self.inner.records()
    }

    fn change_schema(&self, _change: StoreChange) -> StoreFuture<'_, ()> {
        RecordingStore::refused()
    }

    fn status(&self) -> StoreStatus {
        self.inner.status()
    }

    /// Returns the abilities of the other store to read. Changes of data that it does by itself would pass the
    /// recording.
    fn capabilities(&self) -> Capabilities<'_> {
        let inner = self.inner.capabilities();
        Capabilities {
            indexes: inner.indexes.map(|_| self as &dyn IndexedStore),
            concurrent_reads: inner.concurrent_reads,
            checks_consistency: inner.checks_consistency,
            checks_definitions: inner.checks_definitions,
            drops_empty_rows: inner.drops_empty_rows,
            ..Capabilities::default()
        }
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        self.inner.close()
    }
}

impl IndexedStore for RecordingStore {
    /// Forwards a lookup. It is counted, but not stored: no layer above explains it.
    fn indexed_keys(
        &self,
        lookup: IndexLookup,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, Vec<Bytes>> {
        self.all_requests.fetch_add(1, Ordering::Relaxed);
        match self.inner.capabilities().indexes {
            Some(indexes) => indexes.indexed_keys(lookup, consistency),
            None => RecordingStore::refused(),
        }
    }
}
