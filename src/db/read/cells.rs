//! Reads of cells by their stored names, for layers that check names and values themselves.

use std::sync::Arc;

use bytes::Bytes;

use super::{Ranges, Reads};
use crate::db::Error;
use crate::model::{Bounds, Predicate, RangeCommand, Row, RowColumns};
use crate::schema::CfDef;

impl Reads<'_> {
    /// Reads columns of one row, or of a super column in it.
    pub async fn read_cells(
        &self,
        cf: &Arc<CfDef>,
        key: Bytes,
        super_column: Option<Bytes>,
        predicate: Predicate,
    ) -> Result<RowColumns, Error> {
        self.request.check_replicas_to_read()?;
        let command = self.request.command(cf, super_column, predicate);
        Ok(self.request.store().read(key, command, self.request.consistency).await?)
    }
}

impl Ranges<'_> {
    /// Reads the same columns of rows in ring order. Rows in which nothing is live are among them, empty.
    pub async fn scan_cells(
        &self,
        cf: &Arc<CfDef>,
        bounds: Bounds,
        max_rows: usize,
        predicate: Predicate,
    ) -> Result<Vec<Row>, Error> {
        self.request.check_replicas_to_read()?;
        let read = self.request.command(cf, None, predicate);
        let command = RangeCommand { bounds, max_rows, read, skip_empty: false };
        Ok(self.request.store().scan(command, self.request.consistency).await?)
    }
}
