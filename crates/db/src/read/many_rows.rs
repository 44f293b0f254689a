//! Reads of many rows: sequential if the rows are stored locally, concurrent if each read is a request to a cluster.

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::Reads;
use crate::Error;
use crate::limits::ROW_WORK;
use base::model::{ReadCommand, RowColumns};
use base::util::meter;
use store::within_limit;

impl Reads<'_> {
    /// Reads the same columns of many rows, in the order of the keys. Fails at the first error, and if the response
    /// of a cluster is too large.
    pub(crate) async fn read_each(
        &self,
        keys: Vec<Bytes>,
        command: &ReadCommand,
    ) -> Result<Vec<(Bytes, RowColumns)>, Error> {
        let Some(at_once) = self.request.store().capabilities().concurrent_reads else {
            return self.read_in_turn(keys, command).await;
        };
        meter::charge(memory_of(keys.len()))?;
        let mut rows = Vec::with_capacity(keys.len());
        let mut bytes = 0;
        let reads = keys.into_iter().map(|key| async move {
            let columns =
                self.request.store().read(key.clone(), command.clone(), self.request.consistency).await?;
            Ok::<_, Error>((key, columns))
        });
        let mut reads = stream::iter(reads).buffered(at_once);
        while let Some((key, columns)) = reads.try_next().await? {
            // Half of the memory is accounted to the reply.
            bytes = within_limit(bytes + columns.memory() / 2)?;
            rows.push((key, columns));
        }
        Ok(rows)
    }

    /// Counts the same columns in many rows, in the order of the keys. Fails at the first error.
    pub(super) async fn count_each(
        &self,
        keys: Vec<Bytes>,
        command: &ReadCommand,
    ) -> Result<Vec<(Bytes, usize)>, Error> {
        if self.request.store().capabilities().concurrent_reads.is_some() {
            let rows = self.read_each(keys, command).await?;
            return Ok(rows.into_iter().map(|(key, columns)| (key, columns.len())).collect());
        }
        let mut counts = Vec::with_capacity(keys.len());
        for key in keys {
            let count = self.count_columns(&key, command.clone(), self.request.consistency).await?;
            counts.push((key, count));
        }
        Ok(counts)
    }

    async fn read_in_turn(
        &self,
        keys: Vec<Bytes>,
        command: &ReadCommand,
    ) -> Result<Vec<(Bytes, RowColumns)>, Error> {
        meter::charge(memory_of(keys.len()))?;
        let mut rows = Vec::with_capacity(keys.len());
        for key in keys {
            let mut columns =
                self.request.store().read(key.clone(), command.clone(), self.request.consistency).await?;
            // The store has already accounted their memory.
            columns.detach();
            meter::yield_if_due(ROW_WORK + columns.len()).await?;
            rows.push((key, columns));
        }
        Ok(rows)
    }
}

/// Returns the memory that `rows` rows take in addition to their columns, here and in the reply.
fn memory_of(rows: usize) -> usize {
    2 * rows * size_of::<(Bytes, RowColumns)>()
}
