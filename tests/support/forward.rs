//! Helps tests to write a [`Store`](store::Store) that forwards most calls to another store.

/// Implements every method of `Store` except `status` and `remote`: each calls the store in the field of this name.
#[allow(unused_macros, reason = "not every test has a store of its own")]
macro_rules! forward_to {
    ($inner:ident) => {
        fn apply(
            &self,
            mutations: Vec<base::model::Mutation>,
            behaviour: &'static base::compat::Behaviour,
            consistency: base::compat::features::ConsistencyLevel,
        ) -> store::StoreFuture<'_, ()> {
            self.$inner.apply(mutations, behaviour, consistency)
        }

        fn read(
            &self,
            key: bytes::Bytes,
            command: base::model::ReadCommand,
            consistency: base::compat::features::ConsistencyLevel,
        ) -> store::StoreFuture<'_, base::model::RowColumns> {
            self.$inner.read(key, command, consistency)
        }

        fn scan(
            &self,
            command: base::model::RangeCommand,
            consistency: base::compat::features::ConsistencyLevel,
        ) -> store::StoreFuture<'_, Vec<base::model::Row>> {
            self.$inner.scan(command, consistency)
        }

        fn splits(
            &self,
            start: Vec<u8>,
            end: Vec<u8>,
            keys_per_split: usize,
        ) -> store::StoreFuture<'_, Vec<Vec<u8>>> {
            self.$inner.splits(start, end, keys_per_split)
        }

        fn records(&self) -> store::StoreFuture<'_, Vec<(String, bytes::Bytes)>> {
            self.$inner.records()
        }

        fn change_schema(&self, change: store::StoreChange) -> store::StoreFuture<'_, ()> {
            self.$inner.change_schema(change)
        }

        fn close(&self) -> store::StoreFuture<'_, ()> {
            self.$inner.close()
        }
    };
}

#[allow(unused_imports, reason = "not every test has a store of its own")]
pub(crate) use forward_to;
