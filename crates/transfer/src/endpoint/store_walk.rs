//! Reads a column family of an endpoint in ring order, batch by batch.

use std::sync::Arc;

use bytes::Bytes;

use super::Endpoint;
use crate::TransferError;
use crate::rows::{BATCH_BYTES, RowBatch, RowSource};
use base::model::{Change, Row, RowColumns};
use base::partitioner::PartitionerRef;
use base::schema::CfDef;
use store::{Dump, DumpCommand, RowPiece};

/// Columns of each row in a page: at first, and at most.
const FIRST_COLUMNS: usize = 64;
const COLUMNS_MAX: usize = 1024;
/// Rows of a page: at first, and at least. A page repeats the last row of the page before.
const FIRST_ROWS: usize = 16;
const ROWS_MIN: usize = 2;

/// A walk over a column family. Its batches have the place after them; only the last one has none.
pub(crate) struct StoreWalk {
    endpoint: Arc<Endpoint>,
    cf: Arc<CfDef>,
    /// The column family of the batches, as the target defines it.
    into: Arc<CfDef>,
    after: Option<Bytes>,
    is_over: bool,
    rows_max: usize,
    /// Size of the next page; adapts to the data.
    rows: usize,
    columns: usize,
}

impl StoreWalk {
    /// Starts a walk after a place; `None` for the beginning.
    pub(crate) fn new(
        endpoint: Arc<Endpoint>,
        cf: Arc<CfDef>,
        after: Option<Bytes>,
        rows_max: usize,
    ) -> StoreWalk {
        let rows_max = rows_max.max(ROWS_MIN);
        let rows = FIRST_ROWS.min(rows_max);
        let (into, columns) = (cf.clone(), FIRST_COLUMNS);
        StoreWalk { endpoint, cf, into, after, is_over: false, rows_max, rows, columns }
    }

    /// Sets the column family of the target.
    pub(crate) fn into_family(self, into: Arc<CfDef>) -> StoreWalk {
        StoreWalk { into, ..self }
    }

    /// Returns the order of the rows, if it is known.
    pub(crate) fn partitioner(&self) -> Option<&PartitionerRef> {
        self.endpoint.partitioner.as_ref()
    }

    /// Returns the next part of a dump, if the endpoint supports dumps.
    async fn dumped(&self) -> Result<Option<Dump>, TransferError> {
        let Some(database) = &self.endpoint.database else { return Ok(None) };
        let command = DumpCommand { cf: self.cf.clone(), after: self.after.clone(), max_bytes: BATCH_BYTES };
        let Some(dump) = database.store().dump(command) else { return Ok(None) };
        dump.await.map(Some).map_err(|error| TransferError::of(&self.endpoint, error))
    }

    /// Returns the next page of live cells.
    async fn page(&mut self) -> Result<(Vec<RowPiece>, Option<Bytes>), TransferError> {
        let place = self.after.as_ref().and_then(PagePlace::read);
        if self.after.is_some() && place.is_none() {
            return Err(TransferError::of(&self.endpoint, "the place in the progress file is invalid"));
        }
        let paged = match place {
            Some(PagePlace { key, column: Some(column) }) => self.rest_of_row(key, column).await,
            Some(PagePlace { key, column: None }) => self.rows_after(key).await,
            None => self.rows_after(Bytes::new()).await,
        };
        let (rows, place) = paged.map_err(|why| TransferError::of(&self.endpoint, why))?;
        self.adapt(rows.iter().flat_map(|row| &row.changes).map(store::weight).sum());
        Ok((rows, place.map(|place| place.write())))
    }

    /// Adapts the size of pages to the last one: larger if it was small, smaller if it was large.
    fn adapt(&mut self, bytes: usize) {
        if bytes > 2 * BATCH_BYTES {
            self.rows = (self.rows / 2).max(ROWS_MIN);
            self.columns = (self.columns / 2).max(ROWS_MIN);
        } else if bytes < BATCH_BYTES / 2 {
            self.rows = (self.rows * 2).min(self.rows_max);
            self.columns = (self.columns * 2).min(COLUMNS_MAX);
        }
    }

    /// Returns the columns of one row after the name `seen`.
    async fn rest_of_row(
        &self,
        key: Bytes,
        seen: Bytes,
    ) -> Result<(Vec<RowPiece>, Option<PagePlace>), String> {
        let found = self.endpoint.pages.row(&self.cf, key.clone(), seen.clone(), self.columns).await?;
        let may_stop_early = self.endpoint.pages.may_stop_early(&self.cf);
        let (is_full, last) = (found.len() >= self.columns, last_name(&found));
        // The column `seen` may have been deleted; then the page begins with another.
        let columns = without_first(found, &seen);
        let is_end = columns.is_empty() || !(is_full || may_stop_early);
        let place = PagePlace { key: key.clone(), column: if is_end { None } else { last } };
        let changes = changes_of(columns);
        let piece = (!changes.is_empty()).then_some(RowPiece { key, changes });
        Ok((piece.into_iter().collect(), Some(place)))
    }

    /// Returns the rows after a key; from the first if it is empty. The page ends with the first row that has more
    /// columns.
    async fn rows_after(&self, start: Bytes) -> Result<(Vec<RowPiece>, Option<PagePlace>), String> {
        let may_stop_early = self.endpoint.pages.may_stop_early(&self.cf);
        let found = self.endpoint.pages.range(&self.cf, start.clone(), self.rows, self.columns).await?;
        let is_last = found.len() < self.rows;
        let mut place = None;
        let mut pieces = Vec::with_capacity(found.len());
        for Row { key, columns } in found {
            if key == start && !start.is_empty() {
                continue;
            }
            let goes_on = columns.len() >= self.columns || may_stop_early;
            let last = last_name(&columns).unwrap_or_default();
            place = Some(PagePlace { key: key.clone(), column: goes_on.then_some(last) });
            let changes = changes_of(columns);
            pieces.extend((!changes.is_empty()).then_some(RowPiece { key, changes }));
            if goes_on {
                return Ok((pieces, place));
            }
        }
        Ok((pieces, place.filter(|_| !is_last)))
    }
}

impl RowSource for StoreWalk {
    type Error = TransferError;

    async fn next(&mut self) -> Result<Option<RowBatch>, TransferError> {
        if self.is_over {
            return Ok(None);
        }
        let (rows, place) = match self.dumped().await? {
            Some(dump) => (dump.rows, dump.place),
            None => self.page().await?,
        };
        self.is_over = place.is_none();
        self.after = place.clone();
        Ok(Some(RowBatch { cf: self.into.clone(), rows, place }))
    }
}

fn last_name(columns: &RowColumns) -> Option<Bytes> {
    match columns {
        RowColumns::Cells(cells) => cells.last().map(|cell| cell.name.clone()),
        RowColumns::Supers(supers) => supers.last().map(|held| held.name.clone()),
    }
}

fn without_first(mut columns: RowColumns, name: &Bytes) -> RowColumns {
    match &mut columns {
        RowColumns::Cells(cells) => cells.retain(|cell| cell.name != name),
        RowColumns::Supers(supers) => supers.retain(|held| held.name != name),
    }
    columns
}

fn changes_of(columns: RowColumns) -> Vec<Change> {
    match columns {
        RowColumns::Cells(cells) => {
            cells.into_iter().map(|cell| Change::Cell { super_column: None, cell }).collect()
        }
        RowColumns::Supers(supers) => {
            let mut changes = Vec::new();
            for held in supers {
                for cell in held.cells {
                    changes.push(Change::Cell { super_column: Some(held.name.clone()), cell });
                }
            }
            changes
        }
    }
}

/// The place of a walk over pages: after a row, or after a column of a row.
struct PagePlace {
    key: Bytes,
    column: Option<Bytes>,
}

impl PagePlace {
    /// Encodes the place: the key's length, the key, and within a row a byte 1 and the column's name.
    fn write(&self) -> Bytes {
        let length = u32::try_from(self.key.len()).unwrap_or(u32::MAX).to_be_bytes();
        let mut place = [&length[..], &self.key].concat();
        if let Some(column) = &self.column {
            place.push(1);
            place.extend_from_slice(column);
        }
        place.into()
    }

    fn read(place: &Bytes) -> Option<PagePlace> {
        let (length, rest) = place.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (key, rest) = rest.split_at_checked(length)?;
        let column = match rest.split_first() {
            None => None,
            Some((1, column)) => Some(Bytes::copy_from_slice(column)),
            Some(_) => return None,
        };
        Some(PagePlace { key: Bytes::copy_from_slice(key), column })
    }
}
