//! Truncates of column families, with their indexes.

use super::change::SchemaChanges;
use crate::validate::Validation;
use crate::{DbFuture, Error, faults};
use store::StoreChange;

impl SchemaChanges<'_> {
    /// Removes all data of a column family. Once begun, the truncate completes even if the request that waits for it
    /// times out.
    pub fn truncate<'a>(&'a self, keyspace: &'a [u8], family: &'a [u8]) -> DbFuture<'a, ()> {
        Box::pin(async move {
            let changing = self.database.changing.clone().lock_owned().await;
            self.stored().load_newest().await?;
            let catalog = self.database.catalog();
            let checks = Validation::new(self.database.clock(), &catalog, self.behaviour);
            checks.keyspace(keyspace)?;
            let cf = checks.column_family(keyspace, family).map_err(|error| {
                // 0.7 looks for nodes that hold the column family, and finds none.
                if self.behaviour.schema.truncate_needs_nodes {
                    Error::unavailable(error.to_string())
                } else {
                    error
                }
            })?;
            let truncated = self.own_indexes(cf).chain([cf]).cloned().collect();
            let change = StoreChange { truncated, ..StoreChange::default() };
            let store = self.database.store().clone();
            let truncating = faults::run_for(faults::current(), async move {
                let _changing = changing;
                store.change_schema(change).await
            });
            let truncated = tokio::spawn(truncating)
                .await
                .map_err(|error| Error::Internal(format!("a truncate was not finished: {error}")))?;
            Ok(truncated?)
        })
    }
}
