//! A slice of a row as it is stored: with tombstones, and with cells that deletions hide.

use std::sync::Arc;

use bytes::Bytes;

use base::model::{Cell, DeletionTime, RangeTombstone, SliceRange};
use base::schema::CfDef;

/// A request for a slice of a row as it is stored.
#[derive(Debug, Clone)]
pub struct StoredSliceCommand {
    /// The column family to read.
    pub cf: Arc<CfDef>,
    /// The row's key.
    pub key: Bytes,
    /// The super column whose columns are read. `None`: the row's columns.
    pub super_column: Option<Bytes>,
    /// The names to read, and the direction. `count` limits all columns, tombstones and hidden cells included.
    pub range: SliceRange,
    /// Most cells of each super column of the row, from its beginning.
    pub cells_per_super: usize,
    /// Approximate limit of the bytes of names and values.
    pub max_bytes: usize,
    /// Most range tombstones.
    pub max_ranges: usize,
}

/// A cell, and whether a deletion hides it from reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCell {
    /// The cell. It may have expired.
    pub cell: Cell,
    /// Whether a deletion of the row, of the super column or of a range hides it.
    pub is_shadowed: bool,
}

/// A super column with its first cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSuper {
    /// The name.
    pub name: Bytes,
    /// Its own deletion; `LIVE` if there is none.
    pub deletion: DeletionTime,
    /// Its first cells.
    pub cells: Vec<StoredCell>,
    /// Whether it has more cells.
    pub has_more: bool,
}

/// The columns of a stored slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredColumns {
    /// Of a Standard row, or of a super column.
    Cells(Vec<StoredCell>),
    /// Of a Super row.
    Supers(Vec<StoredSuper>),
}

impl StoredColumns {
    /// Returns the number of columns, or of super columns.
    pub fn len(&self) -> usize {
        match self {
            StoredColumns::Cells(cells) => cells.len(),
            StoredColumns::Supers(supers) => supers.len(),
        }
    }

    /// Returns whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of the first column or super column.
    pub fn first(&self) -> Option<&Bytes> {
        match self {
            StoredColumns::Cells(cells) => cells.first().map(|stored| &stored.cell.name),
            StoredColumns::Supers(supers) => supers.first().map(|stored| &stored.name),
        }
    }
}

/// A slice of a row as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSlice {
    /// The deletion of the row; `LIVE` if there is none.
    pub deletion: DeletionTime,
    /// The deletion of the super column that was asked for; `LIVE` if there is none.
    pub super_deletion: DeletionTime,
    /// The first range tombstones of the row, or of the super column that was asked for.
    pub ranges: Vec<RangeTombstone>,
    /// The number of all of them.
    pub range_count: usize,
    /// The columns, in the order of the slice.
    pub columns: StoredColumns,
    /// The name at which the slice continues in its direction; `None` at its end.
    pub next: Option<Bytes>,
}
