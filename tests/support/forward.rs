//! Helps tests to write a [`Store`](thriftstore::storage::Store) that forwards most calls to another store.

/// Implements every method of `Store` except `status` and `remote`: each calls the store in the field of this name.
#[allow(unused_macros, reason = "not every test has a store of its own")]
macro_rules! forward_to {
    ($inner:ident) => {
        fn apply(
            &self,
            mutations: Vec<thriftstore::model::Mutation>,
            behaviour: &'static thriftstore::compat::Behaviour,
            consistency: thriftstore::compat::features::ConsistencyLevel,
        ) -> thriftstore::storage::StoreFuture<'_, ()> {
            self.$inner.apply(mutations, behaviour, consistency)
        }

        fn read(
            &self,
            key: bytes::Bytes,
            command: thriftstore::model::ReadCommand,
            consistency: thriftstore::compat::features::ConsistencyLevel,
        ) -> thriftstore::storage::StoreFuture<'_, thriftstore::model::RowColumns> {
            self.$inner.read(key, command, consistency)
        }

        fn scan(
            &self,
            command: thriftstore::model::RangeCommand,
            consistency: thriftstore::compat::features::ConsistencyLevel,
        ) -> thriftstore::storage::StoreFuture<'_, Vec<thriftstore::model::Row>> {
            self.$inner.scan(command, consistency)
        }

        fn splits(
            &self,
            start: Vec<u8>,
            end: Vec<u8>,
            keys_per_split: usize,
        ) -> thriftstore::storage::StoreFuture<'_, Vec<Vec<u8>>> {
            self.$inner.splits(start, end, keys_per_split)
        }

        fn truncate(
            &self,
            cf: std::sync::Arc<thriftstore::schema::CfDef>,
        ) -> thriftstore::storage::StoreFuture<'_, ()> {
            self.$inner.truncate(cf)
        }

        fn drop_family(
            &self,
            cf: std::sync::Arc<thriftstore::schema::CfDef>,
        ) -> thriftstore::storage::StoreFuture<'_, ()> {
            self.$inner.drop_family(cf)
        }

        fn records(&self) -> thriftstore::storage::StoreFuture<'_, Vec<(String, bytes::Bytes)>> {
            self.$inner.records()
        }

        fn put_records(
            &self,
            records: Vec<(String, Option<bytes::Bytes>)>,
        ) -> thriftstore::storage::StoreFuture<'_, ()> {
            self.$inner.put_records(records)
        }

        fn alter(
            &self,
            catalog: std::sync::Arc<thriftstore::schema::Catalog>,
        ) -> thriftstore::storage::StoreFuture<'_, ()> {
            self.$inner.alter(catalog)
        }

        fn close(&self) -> thriftstore::storage::StoreFuture<'_, ()> {
            self.$inner.close()
        }
    };
}

#[allow(unused_imports, reason = "not every test has a store of its own")]
pub(crate) use forward_to;
