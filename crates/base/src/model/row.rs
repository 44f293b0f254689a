//! Rows and columns that reads return.

use bytes::{Bytes, BytesMut};

use super::{Cell, DeletionTime};

/// A super column: its deletion and its sorted cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperColumn {
    /// Bytes that are valid for the comparator of the column family.
    pub name: Bytes,
    /// The tombstone of the whole super column; `LIVE` if there is none.
    pub deletion: DeletionTime,
    /// Sorted by the subcomparator.
    pub cells: Vec<Cell>,
}

impl SuperColumn {
    /// Returns the newest timestamp of a live cell, shadowed or not. `i64::MIN` if there is none.
    pub fn newest_live_timestamp(&self) -> i64 {
        self.cells.iter().filter(|cell| cell.is_live()).map(|cell| cell.timestamp).max().unwrap_or(i64::MIN)
    }

    /// Returns the newest timestamp of any cell, tombstones included. `i64::MIN` if there is none.
    pub fn newest_timestamp(&self) -> i64 {
        self.cells.iter().map(|cell| cell.timestamp).max().unwrap_or(i64::MIN)
    }

    /// Returns the approximate memory of the super column in a result and in the reply, in bytes.
    pub fn memory(&self) -> usize {
        let cells: usize = self.cells.iter().map(Cell::memory).sum();
        2 * (size_of::<SuperColumn>() + self.name.len()) + cells
    }

    /// Copies its name and cells to memory of their own; see [`detach_cells`].
    pub fn detach(&mut self) {
        self.name = Bytes::copy_from_slice(&self.name);
        detach_cells(&mut self.cells);
    }
}

/// Longer values are not copied when cells are detached: the block of memory that they share is not much larger.
const COPIED_VALUE_BYTES_MAX: usize = 2 * 1024;

/// Copies names and values of cells to one new block of memory. Those that come from tables share the memory of whole
/// keys and blocks, which would otherwise stay allocated as long as the cells.
pub fn detach_cells(cells: &mut [Cell]) {
    let is_copied = |cell: &Cell| cell.value.len() <= COPIED_VALUE_BYTES_MAX;
    let mut bytes = 0;
    for cell in &*cells {
        bytes += cell.name.len() + if is_copied(cell) { cell.value.len() } else { 0 };
    }
    let mut copied = BytesMut::with_capacity(bytes);
    for cell in &*cells {
        copied.extend_from_slice(&cell.name);
        if is_copied(cell) {
            copied.extend_from_slice(&cell.value);
        }
    }
    let mut copied = copied.freeze();
    for cell in cells {
        cell.name = copied.split_to(cell.name.len());
        if is_copied(cell) {
            cell.value = copied.split_to(cell.value.len());
        }
    }
    debug_assert!(copied.is_empty(), "cells have names or values of other cells");
}

/// The columns that a read returns, in the order of the read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowColumns {
    /// Cells of a Standard row, or of one super column.
    Cells(Vec<Cell>),
    /// Of a Super row.
    Supers(Vec<SuperColumn>),
}

impl RowColumns {
    /// Returns the names of the first and the last column or super column.
    pub fn ends(&self) -> (Option<&Bytes>, Option<&Bytes>) {
        match self {
            RowColumns::Cells(cells) => {
                (cells.first().map(|cell| &cell.name), cells.last().map(|cell| &cell.name))
            }
            RowColumns::Supers(supers) => {
                (supers.first().map(|column| &column.name), supers.last().map(|column| &column.name))
            }
        }
    }

    /// Returns the number of columns, or of super columns.
    pub fn len(&self) -> usize {
        match self {
            RowColumns::Cells(cells) => cells.len(),
            RowColumns::Supers(supers) => supers.len(),
        }
    }

    /// Keeps the first `count` columns.
    pub fn truncate(&mut self, count: usize) {
        match self {
            RowColumns::Cells(cells) => cells.truncate(count),
            RowColumns::Supers(supers) => supers.truncate(count),
        }
    }

    /// Puts the columns in the opposite order; cells in a super column stay as they are.
    pub fn reverse(&mut self) {
        match self {
            RowColumns::Cells(cells) => cells.reverse(),
            RowColumns::Supers(supers) => supers.reverse(),
        }
    }

    /// Returns whether the read found nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the approximate memory of the columns in a result and in the reply, in bytes.
    pub fn memory(&self) -> usize {
        match self {
            RowColumns::Cells(cells) => cells.iter().map(Cell::memory).sum(),
            RowColumns::Supers(supers) => supers.iter().map(SuperColumn::memory).sum(),
        }
    }

    /// Copies the columns to memory of their own; see [`detach_cells`].
    pub fn detach(&mut self) {
        match self {
            RowColumns::Cells(cells) => detach_cells(cells),
            RowColumns::Supers(supers) => supers.iter_mut().for_each(SuperColumn::detach),
        }
    }
}

/// A row of a range scan. It may have no columns (a ghost): Cassandra returns deleted rows so until a compaction
/// removes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The row's key.
    pub key: Bytes,
    /// The columns that the scan's predicate selects.
    pub columns: RowColumns,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detached_cells_are_equal_and_share_no_memory() {
        let block = Bytes::from(vec![7; 100_000]);
        let cell = |at: usize, bytes| Cell::live(block.slice(at..at + 3), block.slice(..bytes), 1);
        let mut cells = vec![cell(0, 5), cell(3, 0), cell(6, COPIED_VALUE_BYTES_MAX + 1), cell(9, 1)];
        let before = cells.clone();
        detach_cells(&mut cells);
        assert_eq!(cells, before);
        drop(before);
        let is_in_block = |bytes: &Bytes| block.as_ptr_range().contains(&bytes.as_ptr());
        assert!(cells.iter().all(|cell| !is_in_block(&cell.name)));
        assert_eq!(cells.iter().filter(|cell| is_in_block(&cell.value)).count(), 1, "the long one stays");
        detach_cells(&mut []);
    }
}
