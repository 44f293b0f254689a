//! Reads of rows as they are stored, for people who look at them.

use std::sync::Arc;

use bytes::Bytes;

use super::{Ranges, Reads};
use crate::Result;
use base::model::{Bounds, Cell, DeletionTime, Predicate, RowColumns, SliceRange};
use base::schema::CfDef;
use store::{StoredCell, StoredColumns, StoredSlice, StoredSliceCommand, StoredSuper};

/// Rows to read as they are stored.
#[derive(Debug, Clone)]
pub struct StoredRowsArgs {
    /// The column family.
    pub cf: Arc<CfDef>,
    /// The key at whose token the rows begin; empty: at the beginning of the ring.
    pub start: Bytes,
    /// Most rows.
    pub rows: usize,
    /// Most columns of each row.
    pub columns: usize,
    /// Approximate limit of the bytes of keys, names and values.
    pub max_bytes: usize,
}

/// Rows as they are stored.
#[derive(Debug, Clone)]
pub struct StoredRows {
    /// Keys and first columns, in ring order.
    pub rows: Vec<(Bytes, StoredSlice)>,
    /// The key of the row after them; `None` at the end of the ring.
    pub next: Option<Bytes>,
}

impl Reads<'_> {
    /// Reads a slice of a row with tombstones and hidden cells; if the store can only read live data, without them.
    pub async fn stored_slice(&self, command: StoredSliceCommand) -> Result<StoredSlice> {
        self.request.check_replicas_to_read()?;
        if let Some(slice) = self.request.store().stored_slice(command.clone()) {
            return Ok(slice.await?);
        }
        let StoredSliceCommand { cf, key, super_column, range, cells_per_super, .. } = command;
        let count = range.count;
        let range = SliceRange { count: count.saturating_add(1), ..range };
        let mut columns = self.read_cells(&cf, key, super_column, Predicate::Range(range)).await?;
        let next = (columns.len() > count).then(|| columns.ends().1.cloned()).flatten();
        columns.truncate(count);
        Ok(live_slice(columns, next, cells_per_super))
    }
}

impl Ranges<'_> {
    /// Reads rows in ring order, each with its first columns as they are stored. The result includes rows that have
    /// only tombstones. It ends early when `max_bytes` are read, but has at least one row if there is one.
    pub async fn stored_rows(&self, args: StoredRowsArgs) -> Result<StoredRows> {
        let StoredRowsArgs { cf, start, rows, columns, max_bytes } = args;
        let bounds = Bounds::Keys { start, end: Bytes::new() };
        let range = SliceRange { count: columns, ..SliceRange::all() };
        if !self.request.store().can_dump() {
            let range = SliceRange { count: columns.saturating_add(1), ..range };
            let mut found = self.scan_cells(&cf, bounds, rows + 1, Predicate::Range(range)).await?;
            let next = found.get(rows).map(|row| row.key.clone());
            found.truncate(rows);
            let mut rows = Vec::with_capacity(found.len());
            for mut row in found {
                let next = (row.columns.len() > columns).then(|| row.columns.ends().1.cloned()).flatten();
                row.columns.truncate(columns);
                rows.push((row.key, live_slice(row.columns, next, columns)));
            }
            return Ok(StoredRows { rows, next });
        }
        // A scan for no names finds the rows without reading their columns.
        let found = self.scan_cells(&cf, bounds, rows + 1, Predicate::Names(Vec::new())).await?;
        let mut slices = Vec::new();
        let mut left = max_bytes;
        for key in found.into_iter().map(|row| row.key) {
            if left == 0 || slices.len() == rows {
                return Ok(StoredRows { rows: slices, next: Some(key) });
            }
            let command = StoredSliceCommand {
                cf: cf.clone(),
                key: key.clone(),
                super_column: None,
                range: range.clone(),
                cells_per_super: 1,
                max_bytes: left,
                max_ranges: 0,
            };
            let slice = self.request.reads().stored_slice(command).await?;
            left = left.saturating_sub(key.len() + bytes_of(&slice.columns));
            slices.push((key, slice));
        }
        Ok(StoredRows { rows: slices, next: None })
    }
}

/// Returns the bytes of names and values.
fn bytes_of(columns: &StoredColumns) -> usize {
    let of = |stored: &StoredCell| stored.cell.name.len() + stored.cell.value.len();
    match columns {
        StoredColumns::Cells(cells) => cells.iter().map(of).sum(),
        StoredColumns::Supers(supers) => {
            supers.iter().map(|column| column.name.len() + column.cells.iter().map(of).sum::<usize>()).sum()
        }
    }
}

/// Returns a slice of live columns as a stored one.
fn live_slice(columns: RowColumns, next: Option<Bytes>, cells_per_super: usize) -> StoredSlice {
    let stored = |cell: Cell| StoredCell { cell, is_shadowed: false };
    let columns = match columns {
        RowColumns::Cells(cells) => StoredColumns::Cells(cells.into_iter().map(stored).collect()),
        RowColumns::Supers(supers) => {
            let supers = supers.into_iter().map(|column| StoredSuper {
                name: column.name,
                deletion: DeletionTime::LIVE,
                has_more: column.cells.len() > cells_per_super,
                cells: column.cells.into_iter().take(cells_per_super).map(stored).collect(),
            });
            StoredColumns::Supers(supers.collect())
        }
    };
    let (deletion, super_deletion) = (DeletionTime::LIVE, DeletionTime::LIVE);
    StoredSlice { deletion, super_deletion, ranges: Vec::new(), range_count: 0, columns, next }
}
