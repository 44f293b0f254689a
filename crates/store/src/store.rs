//! The trait of all stores.

use std::sync::Arc;

use bytes::Bytes;

use super::count::count_in_pages;
use super::{Capabilities, Dump, DumpCommand, StoreFuture, StoreStatus, StoredSlice, StoredSliceCommand};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Mutation, RangeCommand, ReadCommand, Row, RowColumns};
use base::schema::{Catalog, CfDef};

/// The changes of one schema change in a store.
#[derive(Debug, Clone, Default)]
pub struct StoreChange {
    /// Metadata records to write, by name. `None` removes a record.
    pub records: Vec<(String, Option<Bytes>)>,
    /// Column families whose rows are removed.
    pub truncated: Vec<Arc<CfDef>>,
    /// Column families that are removed with all their rows. Column families of the same names can be created later,
    /// with other types.
    pub dropped: Vec<Arc<CfDef>>,
    /// The whole schema after the change. `None` if it defines no column family anew.
    pub catalog: Option<Arc<Catalog>>,
}

impl StoreChange {
    /// Returns a change that only writes and removes metadata records.
    pub fn of_records(records: Vec<(String, Option<Bytes>)>) -> StoreChange {
        StoreChange { records, ..StoreChange::default() }
    }

    /// Returns a change that prepares the store for the column families of a catalog.
    pub fn to_catalog(catalog: Arc<Catalog>) -> StoreChange {
        StoreChange { catalog: Some(catalog), ..StoreChange::default() }
    }

    /// Returns whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.catalog.is_none() && !self.removes_rows()
    }

    /// Returns whether rows are removed.
    pub fn removes_rows(&self) -> bool {
        !self.truncated.is_empty() || !self.dropped.is_empty()
    }
}

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
        Box::pin(count_in_pages(move |command| self.read(key.clone(), command, consistency), command))
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

    /// Returns the metadata records of the layers above, by name: the schema that clients have created, roles, the
    /// state of indexes.
    fn records(&self) -> StoreFuture<'_, Vec<(String, Bytes)>>;

    /// Changes column families and metadata records, durably. A store on a disk or in memory makes the whole change or
    /// nothing of it. A cluster creates tables, then writes the records, then removes rows and tables; all records are
    /// one transaction.
    fn change_schema(&self, change: StoreChange) -> StoreFuture<'_, ()>;

    /// Returns the state that the status page shows.
    fn status(&self) -> StoreStatus;

    /// Returns the operations that the store can do by itself.
    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::default()
    }

    /// Makes all data durable and closes the store. Later calls fail.
    fn close(&self) -> StoreFuture<'_, ()>;
}
