//! Reads of many rows: sequential if the rows are stored locally, concurrent if each read is a request to a cluster.

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{Reads, ReversedSlice};
use crate::limits::ROW_WORK;
use crate::{Error, Result};
use base::model::{ReadCommand, RowColumns};
use base::util::meter;
use store::within_limit;

/// Rows of one part.
const PART: usize = 1024;

/// The same columns of many rows, which are read in parts in the order of the keys: a caller can write one part to its
/// reply before the next is read. A row without columns takes 64 bytes here, and its key in a message perhaps 12.
pub struct ManyRows<'a> {
    reads: Reads<'a>,
    /// The rows that are left.
    keys: std::vec::IntoIter<Bytes>,
    command: ReadCommand,
    /// The merge of the columns that were read.
    merge: Option<ReversedSlice>,
    /// Bytes of the rows that a cluster has sent.
    bytes: usize,
}

impl<'a> Reads<'a> {
    /// Returns the rows of some keys.
    pub(crate) fn rows(self, keys: Vec<Bytes>, command: ReadCommand) -> ManyRows<'a> {
        ManyRows { reads: self, keys: keys.into_iter(), command, merge: None, bytes: 0 }
    }

    /// Counts the same columns in many rows, in the order of the keys. Fails at the first error.
    pub(super) async fn count_each(
        &self,
        keys: Vec<Bytes>,
        command: ReadCommand,
    ) -> Result<Vec<(Bytes, usize)>> {
        let mut counts = Vec::with_capacity(keys.len());
        if self.request.store().capabilities().concurrent_reads.is_some() {
            let mut rows = self.rows(keys, command);
            while rows.left() > 0 {
                let part = rows.next_part().await?;
                counts.extend(part.into_iter().map(|(key, columns)| (key, columns.len())));
            }
            return Ok(counts);
        }
        for key in keys {
            let count = self.count_columns(&key, command.clone(), self.request.consistency).await?;
            counts.push((key, count));
        }
        Ok(counts)
    }
}

impl<'a> ManyRows<'a> {
    /// Returns the same rows, with their columns merged.
    pub(super) fn merged_by(self, merge: Option<ReversedSlice>) -> ManyRows<'a> {
        ManyRows { merge, ..self }
    }

    /// Returns how many rows are left.
    pub fn left(&self) -> usize {
        self.keys.len()
    }

    /// Reads the next rows; none if none are left.
    ///
    /// # Errors
    /// The first error of a read, and if the rows of a cluster are too large together.
    pub async fn next_part(&mut self) -> Result<Vec<(Bytes, RowColumns)>> {
        let mut rows = self.read_part().await?;
        if let Some(merge) = &self.merge {
            for (_, columns) in &mut rows {
                *columns = merge.merged(std::mem::replace(columns, RowColumns::Cells(Vec::new())));
            }
        }
        Ok(rows)
    }

    async fn read_part(&mut self) -> Result<Vec<(Bytes, RowColumns)>> {
        let count = self.left().min(PART);
        meter::charge(memory_of(count))?;
        let mut rows = Vec::with_capacity(count);
        let request = self.reads.request;
        let Some(at_once) = request.store().capabilities().concurrent_reads else {
            for key in self.keys.by_ref().take(count) {
                let read = request.store().read(key.clone(), self.command.clone(), request.consistency);
                let mut columns = read.await?;
                // The store has already accounted their memory.
                columns.detach();
                meter::yield_if_due(ROW_WORK + columns.len()).await?;
                rows.push((key, columns));
            }
            return Ok(rows);
        };
        let command = &self.command;
        let reads = self.keys.by_ref().take(count).map(|key| async move {
            let columns = request.store().read(key.clone(), command.clone(), request.consistency).await?;
            Ok::<_, Error>((key, columns))
        });
        let mut reads = stream::iter(reads).buffered(at_once);
        while let Some((key, columns)) = reads.try_next().await? {
            // Half of the memory is accounted to the reply.
            self.bytes = within_limit(self.bytes + columns.memory() / 2)?;
            rows.push((key, columns));
        }
        Ok(rows)
    }

    /// Reads all rows.
    pub(crate) async fn all(mut self) -> Result<Vec<(Bytes, RowColumns)>> {
        let mut rows = self.next_part().await?;
        while self.left() > 0 {
            rows.append(&mut self.next_part().await?);
        }
        Ok(rows)
    }
}

/// Returns the memory that `rows` rows take in addition to their columns, here and in the reply.
fn memory_of(rows: usize) -> usize {
    2 * rows * size_of::<(Bytes, RowColumns)>()
}
