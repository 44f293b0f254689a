//! What becomes of the columns that a read returns: they are kept, or only counted.
//!
//! Both are counted against the request's memory while they come, and both look now and then whether the request should go on.

use super::StoreError;
use crate::model::{Cell, RowColumns, SuperColumn, detach_cells};
use crate::util::limits::REQUEST_CHUNK_BYTES;
use crate::util::meter;

/// Where a read puts its columns.
pub trait Gather {
    fn cell(&mut self, cell: Cell) -> Result<(), StoreError>;

    fn super_column(&mut self, super_column: SuperColumn) -> Result<(), StoreError>;

    /// Counts what has come since the last time against the request's memory.
    fn settle(&mut self) -> Result<(), StoreError>;
}

/// Counts what has come, and asks whether the request should go on.
pub fn check(gather: &mut impl Gather) -> Result<(), StoreError> {
    gather.settle()?;
    Ok(meter::check()?)
}

/// Keeps columns.
#[derive(Debug, Default)]
pub struct KeptColumns {
    cells: Vec<Cell>,
    supers: Vec<SuperColumn>,
    /// Bytes that are not counted yet.
    bytes: usize,
    /// Columns that were counted, and no longer share memory with the rows that they came from.
    settled: usize,
}

/// Room that is made for the first columns: rows without any have none.
const FIRST_ROOM: usize = 16;

impl KeptColumns {
    /// The columns, of which all are counted now.
    pub fn into_cells(mut self) -> Result<RowColumns, StoreError> {
        meter::charge(std::mem::take(&mut self.bytes))?;
        Ok(RowColumns::Cells(self.cells))
    }

    /// The same of super columns.
    pub fn into_supers(mut self) -> Result<RowColumns, StoreError> {
        meter::charge(std::mem::take(&mut self.bytes))?;
        Ok(RowColumns::Supers(self.supers))
    }
}

impl Gather for KeptColumns {
    fn cell(&mut self, cell: Cell) -> Result<(), StoreError> {
        self.bytes += cell.memory();
        if self.cells.is_empty() {
            self.cells.reserve(FIRST_ROOM);
        }
        self.cells.push(cell);
        if self.bytes >= REQUEST_CHUNK_BYTES { self.settle() } else { Ok(()) }
    }

    fn super_column(&mut self, super_column: SuperColumn) -> Result<(), StoreError> {
        self.bytes += super_column.memory();
        self.supers.push(super_column);
        if self.bytes >= REQUEST_CHUNK_BYTES { self.settle() } else { Ok(()) }
    }

    fn settle(&mut self) -> Result<(), StoreError> {
        // Names and values may be parts of larger pieces of memory, which would stay with them.
        if let Some(new) = self.cells.get_mut(self.settled..) {
            detach_cells(new);
        }
        for super_column in self.supers.get_mut(self.settled..).unwrap_or_default() {
            super_column.detach();
        }
        self.settled = self.cells.len().max(self.supers.len());
        Ok(meter::charge(std::mem::take(&mut self.bytes))?)
    }
}

/// Counts columns and forgets them.
#[derive(Debug, Default)]
pub struct CountedColumns {
    pub count: usize,
}

impl Gather for CountedColumns {
    fn cell(&mut self, _: Cell) -> Result<(), StoreError> {
        self.count += 1;
        Ok(())
    }

    fn super_column(&mut self, _: SuperColumn) -> Result<(), StoreError> {
        self.count += 1;
        Ok(())
    }

    fn settle(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}
