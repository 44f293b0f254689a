//! Reads of many rows: one after another where rows are at hand, side by side where each is a question to a cluster.

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{Database, Error};
use crate::model::{ConsistencyLevel, ReadCommand, RowColumns};

impl Database {
    /// Reads the same of many rows, in the order of the keys. The first failure ends it.
    pub(super) async fn read_each(
        &self,
        keys: Vec<Bytes>,
        command: &ReadCommand,
        consistency: ConsistencyLevel,
    ) -> Result<Vec<(Bytes, RowColumns)>, Error> {
        let Some(remote) = self.store().remote() else {
            let mut rows = Vec::with_capacity(keys.len());
            for key in keys {
                let columns = self.store().read(key.clone(), command.clone(), consistency).await?;
                rows.push((key, columns));
            }
            return Ok(rows);
        };
        let read = |key: Bytes| async move {
            let columns = self.store().read(key.clone(), command.clone(), consistency).await?;
            Ok((key, columns))
        };
        stream::iter(keys.into_iter().map(read)).buffered(remote.rows_at_once()).try_collect().await
    }
}
