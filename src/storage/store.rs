//! The trait behind which rows are kept.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

use super::count::count_in_pages;
use super::{Capabilities, Dump, DumpCommand, StoreError, StoreStatus};
use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::model::{Mutation, RangeCommand, ReadCommand, Row, RowColumns};
use crate::schema::{Catalog, CfDef};

/// What a store answers with, later.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Keeps rows. Every backend answers every call alike; the tests run one script on all of them.
pub trait Store: Send + Sync {
    /// Applies mutations, each atomically, and answers when they will survive what the durability promises.
    fn apply(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()>;

    /// Reads columns of one row. An absent row has none.
    fn read(
        &self,
        key: Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, RowColumns>;

    /// Counts the columns that [`Store::read`] would return. By default they are read in pages.
    fn count(
        &self,
        key: Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, usize> {
        let read = move |command| self.read(key.clone(), command, consistency);
        Box::pin(count_in_pages(read, command))
    }

    /// Reads rows in ring order.
    fn scan(&self, command: RangeCommand, consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>>;

    /// Reads all that is stored, tombstones too, in ring order. `None` where a store tells only what is alive.
    fn dump(&self, _command: DumpCommand) -> Option<StoreFuture<'_, Dump>> {
        None
    }

    /// Whether [`Store::dump`] answers.
    fn can_dump(&self) -> bool {
        false
    }

    /// Splits a range of the ring into parts of about `keys_per_split` rows each, over all column families:
    /// the inner boundaries' tokens.
    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>>;

    /// Forgets every row of a column family.
    fn truncate(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()>;

    /// Forgets a column family for good, with all that it holds. One of its name may be made again, with other
    /// types.
    fn drop_family(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()>;

    /// What others than the store keep in it, by name: the schema that clients have made.
    fn notes(&self) -> StoreFuture<'_, Vec<(String, Bytes)>>;

    /// Keeps notes, or with `None` takes them away: all of them or none, and durably.
    fn note(&self, notes: Vec<(String, Option<Bytes>)>) -> StoreFuture<'_, ()>;

    /// Makes room for the column families of a new catalog.
    fn alter(&self, catalog: Arc<Catalog>) -> StoreFuture<'_, ()>;

    fn status(&self) -> StoreStatus;

    /// What the store does by itself.
    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::default()
    }

    /// Makes everything durable and stops. Calls after it fail.
    fn close(&self) -> StoreFuture<'_, ()>;
}
