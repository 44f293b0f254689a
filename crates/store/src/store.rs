//! The trait of all stores.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

use super::count::count_in_pages;
use super::{Capabilities, Dump, DumpCommand, StoreError, StoreStatus, StoredSlice, StoredSliceCommand};
use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::model::{Mutation, RangeCommand, ReadCommand, Row, RowColumns};
use crate::schema::{Catalog, CfDef};

/// The future of a store's result.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Stores rows. All backends return the same results; tests run the same scripts on all of them.
pub trait Store: Send + Sync {
    /// Applies mutations, each atomically. Returns when they are as durable as the configuration requires.
    fn apply(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()>;

    /// Reads columns of one row. A row that does not exist has none.
    fn read(
        &self,
        key: Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, RowColumns>;

    /// Counts the columns that [`Store::read`] would return. The default implementation reads them in pages.
    fn count(
        &self,
        key: Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, usize> {
        let read = move |command| self.read(key.clone(), command, consistency);
        Box::pin(count_in_pages(read, command))
    }

    /// Reads rows in the order of the ring.
    fn scan(&self, command: RangeCommand, consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>>;

    /// Reads all stored changes, tombstones included, in the order of the ring. `None` if the store can only read live
    /// data.
    fn dump(&self, _command: DumpCommand) -> Option<StoreFuture<'_, Dump>> {
        None
    }

    /// Returns whether [`Store::dump`] is possible.
    fn can_dump(&self) -> bool {
        false
    }

    /// Reads a slice of a row with tombstones and hidden cells. `None` if the store can only read live data.
    fn stored_slice(&self, _command: StoredSliceCommand) -> Option<StoreFuture<'_, StoredSlice>> {
        None
    }

    /// Splits a range of the ring into parts of about `keys_per_split` rows each, over all column families. Returns the
    /// tokens of the inner boundaries.
    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>>;

    /// Removes all rows of a column family.
    fn truncate(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()>;

    /// Drops a column family with all its rows. A column family of the same name can be created later, with other
    /// types.
    fn drop_family(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()>;

    /// Returns the metadata records of the layers above, by name: the schema that clients have created, roles, the
    /// state of indexes.
    fn records(&self) -> StoreFuture<'_, Vec<(String, Bytes)>>;

    /// Writes metadata records, or removes those with `None`: all of them or none, and durably.
    fn put_records(&self, records: Vec<(String, Option<Bytes>)>) -> StoreFuture<'_, ()>;

    /// Prepares the store for the column families of a new catalog.
    fn alter(&self, catalog: Arc<Catalog>) -> StoreFuture<'_, ()>;

    /// Returns the state that the status page shows.
    fn status(&self) -> StoreStatus;

    /// Returns what the store can do by itself.
    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::default()
    }

    /// Makes all data durable and closes the store. Later calls fail.
    fn close(&self) -> StoreFuture<'_, ()>;
}
