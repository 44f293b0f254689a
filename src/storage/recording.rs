//! A store that records requests: what a statement reads and would write.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;

use super::{Store, StoreError, StoreFuture, StoreStatus};
use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::model::{Mutation, RangeCommand, ReadCommand, Row, RowColumns};
use crate::schema::{Catalog, CfDef};

/// A recorded request.
#[derive(Debug, Clone)]
pub enum StoreRequest {
    /// A read of one row.
    Read {
        /// The row's key.
        key: Bytes,
        /// What was read of the row.
        command: ReadCommand,
    },
    /// A read of many rows.
    Scan(RangeCommand),
    /// A mutation, which the store behind did not get.
    Write(Mutation),
}

/// Forwards reads to another store, discards writes, and records both.
pub struct RecordingStore {
    inner: Arc<dyn Store>,
    requests: Mutex<Vec<StoreRequest>>,
    cells: AtomicUsize,
}

impl RecordingStore {
    /// Returns a store that reads from `inner` and never writes to it.
    pub fn new(inner: Arc<dyn Store>) -> RecordingStore {
        RecordingStore { inner, requests: Mutex::default(), cells: AtomicUsize::default() }
    }

    /// Returns the requests since the last call.
    pub fn take(&self) -> Vec<StoreRequest> {
        std::mem::take(&mut self.requests.lock())
    }

    /// Returns the number of cells that all reads have returned.
    pub fn cells_read(&self) -> usize {
        self.cells.load(Ordering::Relaxed)
    }

    fn count(&self, columns: &RowColumns) {
        let cells = match columns {
            RowColumns::Cells(cells) => cells.len(),
            RowColumns::Supers(supers) => supers.iter().map(|column| column.cells.len()).sum(),
        };
        self.cells.fetch_add(cells, Ordering::Relaxed);
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
        self.requests.lock().extend(mutations.into_iter().map(StoreRequest::Write));
        Box::pin(async { Ok(()) })
    }

    fn read(
        &self,
        key: Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, RowColumns> {
        self.requests.lock().push(StoreRequest::Read { key: key.clone(), command: command.clone() });
        Box::pin(async move {
            let columns = self.inner.read(key, command, consistency).await?;
            self.count(&columns);
            Ok(columns)
        })
    }

    fn scan(&self, command: RangeCommand, consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
        self.requests.lock().push(StoreRequest::Scan(command.clone()));
        Box::pin(async move {
            let rows = self.inner.scan(command, consistency).await?;
            rows.iter().for_each(|row| self.count(&row.columns));
            Ok(rows)
        })
    }

    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        self.inner.splits(start, end, keys_per_split)
    }

    fn truncate(&self, _cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        RecordingStore::refused()
    }

    fn drop_family(&self, _cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        RecordingStore::refused()
    }

    fn records(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        self.inner.records()
    }

    fn put_records(&self, _notes: Vec<(String, Option<Bytes>)>) -> StoreFuture<'_, ()> {
        RecordingStore::refused()
    }

    fn alter(&self, _catalog: Arc<Catalog>) -> StoreFuture<'_, ()> {
        RecordingStore::refused()
    }

    fn status(&self) -> StoreStatus {
        self.inner.status()
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        self.inner.close()
    }
}
