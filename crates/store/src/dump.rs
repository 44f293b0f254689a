//! Dumps: all stored changes of a column family, tombstones included, in pieces, to copy them elsewhere.

use std::sync::Arc;

use bytes::Bytes;

use base::model::{Cell, Change, RangeTombstone};
use base::schema::CfDef;

/// Bytes that a change counts in addition to its names and its value.
const CHANGE_BYTES: usize = 64;

/// A request for a piece of a dump.
#[derive(Debug, Clone)]
pub struct DumpCommand {
    /// The column family to read.
    pub cf: Arc<CfDef>,
    /// The place at which the previous piece ended. `None` for the first piece.
    pub after: Option<Bytes>,
    /// Approximate limit of the piece's size in bytes.
    pub max_bytes: usize,
}

/// A row, or a part of a wide row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPiece {
    /// The key of the row. All pieces of a wide row have the same one.
    pub key: Bytes,
    /// First the row's deletion and its range tombstones, sorted by super column, start and finish. Then the columns in
    /// the order in which they are stored, with a super column's deletion before its cells. Counters are totals.
    /// Shadowed entries are left out.
    pub changes: Vec<Change>,
}

/// Pieces of rows, in the order of the ring.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dump {
    /// A wide row may continue in the next answer.
    pub rows: Vec<RowPiece>,
    /// Where the next piece begins, in a format that only the same kind of store can read. `None` at the end.
    pub place: Option<Bytes>,
}

/// Returns the approximate size of a change in bytes.
pub fn weight(change: &Change) -> usize {
    let length = |name: &Option<Bytes>| name.as_ref().map_or(0, Bytes::len);
    CHANGE_BYTES
        + match change {
            Change::Cell { super_column, cell } => length(super_column) + cell.name.len() + cell.value.len(),
            Change::DeleteSuper { name, .. } => name.len(),
            Change::DeleteRow { .. } => 0,
            Change::DeleteRange(range) => {
                length(&range.super_column) + range.start.len() + range.finish.len()
            }
        }
}

/// Sorts range tombstones in the order of a dump.
pub fn sort_ranges(ranges: &mut [RangeTombstone]) {
    ranges
        .sort_by(|a, b| (&a.super_column, &a.start, &a.finish).cmp(&(&b.super_column, &b.start, &b.finish)));
}

/// Returns whether a cell is in a column of a CQL table that was dropped after the cell was written.
pub fn is_dropped(cf: &CfDef, cell: &Cell) -> bool {
    cf.table.as_ref().is_some_and(|table| table.is_dropped(&cell.name, cell.timestamp))
}
