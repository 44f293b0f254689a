//! Reads of cells by their stored names, for layers that check names and values themselves.

use std::sync::Arc;

use bytes::Bytes;

use super::{Ranges, Reads};
use crate::{Error, Result};
use base::model::{Bounds, Predicate, RangeCommand, Row, RowColumns, SliceRange};
use base::schema::CfDef;

impl Reads<'_> {
    /// Reads columns of one row, or of a super column in it.
    pub async fn read_cells(
        &self,
        cf: &Arc<CfDef>,
        key: Bytes,
        super_column: Option<Bytes>,
        predicate: Predicate,
    ) -> Result<RowColumns> {
        self.request.check_replicas_to_read()?;
        let command = self.request.command(cf, super_column, predicate);
        Ok(self.request.store().read(key, command, self.request.consistency).await?)
    }

    /// Returns whether a row has cells of some names, tombstones of them, or a tombstone of its own.
    pub async fn has_traces_of(&self, cf: &Arc<CfDef>, key: &Bytes, names: &[Bytes]) -> Result<bool> {
        let read = async |predicate: Predicate| {
            let mut command = self.request.command(cf, None, predicate);
            command.with_tombstones = true;
            let read = self.request.store().read(key.clone(), command, self.request.consistency);
            Ok::<_, Error>(!read.await?.is_empty())
        };
        if read(Predicate::Names(names.to_vec())).await? {
            return Ok(true);
        }
        let one = || Predicate::Range(SliceRange { count: 1, ..SliceRange::all() });
        // If a scan returns the row although it has no cell and no tombstone of a cell, the row has a tombstone of
        // its own.
        let bounds = Bounds::Keys { start: key.clone(), end: key.clone() };
        let rows = self.request.ranges().scan_cells(cf, bounds, 1, one()).await?;
        Ok(rows.iter().any(|row| row.key == *key) && !read(one()).await?)
    }
}

impl Ranges<'_> {
    /// Reads the same columns of rows in ring order. The result includes rows without live columns, which are empty.
    pub async fn scan_cells(
        &self,
        cf: &Arc<CfDef>,
        bounds: Bounds,
        max_rows: usize,
        predicate: Predicate,
    ) -> Result<Vec<Row>> {
        self.request.check_replicas_to_read()?;
        let read = self.request.command(cf, None, predicate);
        let command = RangeCommand { bounds, max_rows, read, skip_empty: false };
        Ok(self.request.store().scan(command, self.request.consistency).await?)
    }
}
