//! The columns of a read are collected, or only counted.
//!
//! Both charge the request's meter while columns come, and both check regularly whether the request must stop.

use crate::Result;
use base::model::{Cell, RowColumns, SuperColumn, detach_cells};
use base::util::limits::REQUEST_CHUNK_BYTES;
use base::util::meter;

/// Receives the columns of a read.
pub trait Gather {
    /// Receives a column outside of super columns.
    fn cell(&mut self, cell: Cell) -> Result<()>;

    /// Receives a super column with its columns.
    fn super_column(&mut self, super_column: SuperColumn) -> Result<()>;

    /// Charges the columns since the last call to the request's meter.
    fn settle(&mut self) -> Result<()>;
}

/// Charges the columns since the last call, and fails if the request must stop.
pub fn check(gather: &mut impl Gather) -> Result<()> {
    gather.settle()?;
    Ok(meter::check()?)
}

/// Collects columns.
#[derive(Debug, Default)]
pub struct KeptColumns {
    cells: Vec<Cell>,
    supers: Vec<SuperColumn>,
    /// Bytes that are not charged yet.
    bytes: usize,
    /// Number of columns that are charged and detached from the memory of their rows.
    settled: usize,
}

/// Capacity reserved when the first column comes, so that rows without columns allocate nothing.
const FIRST_ROOM: usize = 16;

impl KeptColumns {
    /// Returns the cells, and charges the rest of them.
    pub fn into_cells(mut self) -> Result<RowColumns> {
        debug_assert!(self.supers.is_empty(), "super columns would be left out of the result");
        meter::charge(std::mem::take(&mut self.bytes))?;
        Ok(RowColumns::Cells(self.cells))
    }

    /// Returns the super columns, and charges the rest of them.
    pub fn into_supers(mut self) -> Result<RowColumns> {
        debug_assert!(self.cells.is_empty(), "cells would be left out of the result");
        meter::charge(std::mem::take(&mut self.bytes))?;
        Ok(RowColumns::Supers(self.supers))
    }
}

impl Gather for KeptColumns {
    fn cell(&mut self, cell: Cell) -> Result<()> {
        self.bytes += cell.memory();
        if self.cells.is_empty() {
            self.cells.reserve(FIRST_ROOM);
        }
        self.cells.push(cell);
        if self.bytes >= REQUEST_CHUNK_BYTES { self.settle() } else { Ok(()) }
    }

    fn super_column(&mut self, super_column: SuperColumn) -> Result<()> {
        self.bytes += super_column.memory();
        self.supers.push(super_column);
        if self.bytes >= REQUEST_CHUNK_BYTES { self.settle() } else { Ok(()) }
    }

    fn settle(&mut self) -> Result<()> {
        // Names and values may share larger blocks of memory, which they would keep allocated.
        if let Some(new) = self.cells.get_mut(self.settled..) {
            detach_cells(new);
        }
        for super_column in self.supers.get_mut(self.settled..).unwrap_or_default() {
            super_column.detach();
        }
        let columns = self.cells.len().max(self.supers.len());
        debug_assert!(self.settled <= columns, "new columns would be neither charged nor detached");
        self.settled = columns;
        Ok(meter::charge(std::mem::take(&mut self.bytes))?)
    }
}

/// Counts columns without collecting them.
#[derive(Debug, Default)]
pub struct CountedColumns {
    /// Columns and super columns so far.
    pub count: usize,
}

impl Gather for CountedColumns {
    fn cell(&mut self, _: Cell) -> Result<()> {
        self.count += 1;
        Ok(())
    }

    fn super_column(&mut self, _: SuperColumn) -> Result<()> {
        self.count += 1;
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        Ok(())
    }
}
