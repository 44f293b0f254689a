//! Reads of many rows: one after another where rows are at hand, side by side where each is a question to a cluster.

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{Database, Error};
use crate::model::{Cell, ConsistencyLevel, ReadCommand, RowColumns, SuperColumn};
use crate::storage::within_limit;

impl Database {
    /// Reads the same of many rows, in the order of the keys. The first failure ends it, and so does an answer of a cluster
    /// that is too large.
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
            Ok::<_, Error>((key, columns))
        };
        let mut rows = Vec::with_capacity(keys.len());
        let mut bytes = 0;
        let mut reads = stream::iter(keys.into_iter().map(read)).buffered(remote.rows_at_once());
        while let Some((key, columns)) = reads.try_next().await? {
            bytes = within_limit(bytes + bytes_of(&columns))?;
            rows.push((key, columns));
        }
        Ok(rows)
    }
}

/// About how much memory columns take.
fn bytes_of(columns: &RowColumns) -> usize {
    let of_cells = |cells: &[Cell]| -> usize {
        cells.iter().map(|cell| size_of::<Cell>() + cell.name.len() + cell.value.len()).sum()
    };
    match columns {
        RowColumns::Cells(cells) => of_cells(cells),
        RowColumns::Supers(supers) => {
            supers.iter().map(|one| size_of::<SuperColumn>() + one.name.len() + of_cells(&one.cells)).sum()
        }
    }
}
