//! Changes of the schema that have only one part.

use std::sync::Arc;

use base::schema::{Catalog, CfDef};
use bytes::Bytes;
use store::{Store, StoreChange, StoreFuture};

/// A [`StoreChange`] with one part, as a call of a store.
pub trait SchemaCalls: Store {
    fn truncate(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        self.change_schema(StoreChange { truncated: vec![cf], ..StoreChange::default() })
    }

    fn drop_family(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        self.change_schema(StoreChange { dropped: vec![cf], ..StoreChange::default() })
    }

    fn put_records(&self, records: Vec<(String, Option<Bytes>)>) -> StoreFuture<'_, ()> {
        self.change_schema(StoreChange::of_records(records))
    }

    fn alter(&self, catalog: Arc<Catalog>) -> StoreFuture<'_, ()> {
        self.change_schema(StoreChange::to_catalog(catalog))
    }
}

impl<S: Store + ?Sized> SchemaCalls for S {}
