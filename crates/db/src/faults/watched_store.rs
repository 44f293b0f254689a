//! A store whose reads and writes meet the rules of faults.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;

use super::rule::Operation;
use super::watched_request::{Effects, RowAccess, Stage, WatchedRequest, current};
use crate::Error;
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Mutation, RangeCommand, ReadCommand, Row, RowColumns};
use base::schema::CfDef;
use store::{
    Capabilities, Dump, DumpCommand, Store, StoreChange, StoreError, StoreFuture, StoreStatus, StoredSlice,
    StoredSliceCommand,
};

/// Forwards everything to another store. Reads and writes of watched requests are delayed or fail as the rules say.
pub struct WatchedStore {
    inner: Arc<dyn Store>,
}

impl WatchedStore {
    /// Watches a store. It must be one that only stores cells, as a store in memory: operations that a store does by
    /// itself are not watched.
    pub fn new(inner: Arc<dyn Store>) -> WatchedStore {
        WatchedStore { inner }
    }
}

/// Runs an operation of the store under the effects that the rules have on it.
async fn under<T>(
    request: &WatchedRequest,
    mut effects: Effects,
    operation: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    effects.pause().await;
    match effects.error {
        None => operation.await,
        Some((error, is_applied)) => {
            if is_applied {
                operation.await?;
            }
            Err(as_store_error(request, error))
        }
    }
}

/// Returns the error as the store's. An error that no store has replaces the outcome of the request.
fn as_store_error(request: &WatchedRequest, error: Error) -> StoreError {
    match error {
        Error::Unavailable { why, required, alive } => StoreError::Unavailable { why, required, alive },
        Error::TimedOut(why) => StoreError::TimedOut(why),
        Error::Overloaded(why) => StoreError::Overloaded(why),
        Error::InvalidRequest(why) | Error::Unknown(why) => StoreError::Invalid(why),
        Error::SchemaDisagreement(why) => StoreError::SchemaDisagreement(why),
        error => {
            let why = error.to_string();
            request.fail(error);
            StoreError::Io(why)
        }
    }
}

impl WatchedStore {
    fn row<'a, T: Send + 'a>(
        &'a self,
        operation: Operation,
        cf: Arc<CfDef>,
        key: Option<Bytes>,
        forward: impl FnOnce(&'a dyn Store) -> StoreFuture<'a, T> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        let Some(request) = current().filter(|_| !cf.is_index()) else { return forward(&*self.inner) };
        let effects = request.effects(&Stage::Rows(&[RowAccess { operation, cf: &cf, key: key.as_ref() }]));
        Box::pin(async move { under(&request, effects, forward(&*self.inner)).await })
    }
}

impl Store for WatchedStore {
    fn apply(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()> {
        let Some(request) = current() else { return self.inner.apply(mutations, behaviour, consistency) };
        let mut accesses = Vec::with_capacity(mutations.len());
        for mutation in &mutations {
            for family in mutation.families.iter().filter(|family| !family.cf.is_index()) {
                let key = Some(&mutation.key);
                accesses.push(RowAccess { operation: Operation::Write, cf: &family.cf, key });
            }
        }
        let effects = request.effects(&Stage::Rows(&accesses));
        Box::pin(async move {
            under(&request, effects, self.inner.apply(mutations, behaviour, consistency)).await
        })
    }

    fn read(
        &self,
        key: Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, RowColumns> {
        let (cf, row) = (command.cf.clone(), Some(key.clone()));
        self.row(Operation::Read, cf, row, move |store| store.read(key, command, consistency))
    }

    fn count(
        &self,
        key: Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, usize> {
        let (cf, row) = (command.cf.clone(), Some(key.clone()));
        self.row(Operation::Read, cf, row, move |store| store.count(key, command, consistency))
    }

    fn scan(&self, command: RangeCommand, consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
        self.row(Operation::Scan, command.read.cf.clone(), None, move |store| {
            store.scan(command, consistency)
        })
    }

    fn dump(&self, command: DumpCommand) -> Option<StoreFuture<'_, Dump>> {
        self.inner.dump(command)
    }

    fn can_dump(&self) -> bool {
        self.inner.can_dump()
    }

    fn stored_slice(&self, command: StoredSliceCommand) -> Option<StoreFuture<'_, StoredSlice>> {
        self.inner.stored_slice(command)
    }

    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        self.inner.splits(start, end, keys_per_split)
    }

    fn records(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        self.inner.records()
    }

    /// Only a truncate of a column family is watched.
    fn change_schema(&self, change: StoreChange) -> StoreFuture<'_, ()> {
        match change.truncated.iter().find(|cf| !cf.is_index()).cloned() {
            Some(cf) => self.row(Operation::Truncate, cf, None, move |store| store.change_schema(change)),
            None => self.inner.change_schema(change),
        }
    }

    fn status(&self) -> StoreStatus {
        self.inner.status()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        self.inner.capabilities()
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        self.inner.close()
    }
}
