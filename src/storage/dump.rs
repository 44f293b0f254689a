//! All that a store holds of a column family, piece by piece, for who takes it elsewhere.

use std::sync::Arc;

use bytes::Bytes;

use crate::model::{Cell, Change, RangeDeletion};
use crate::schema::CfDef;

/// What a change weighs beside its names and its value, in bytes.
const CHANGE_BYTES: usize = 64;

/// Asks for some of what is stored.
#[derive(Debug, Clone)]
pub struct DumpCommand {
    pub cf: Arc<CfDef>,
    /// Where the last answer has ended; `None`: begin.
    pub after: Option<Bytes>,
    /// About how many bytes the answer may have.
    pub max_bytes: usize,
}

/// A row, or a part of a wide one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPiece {
    pub key: Bytes,
    /// First the row's deletion and those of runs of names, by super column, start and finish; then the columns in the
    /// order in which they are stored, a super column's deletion before its cells. Counters are totals. What a deletion
    /// shadows is left out.
    pub changes: Vec<Change>,
}

/// Pieces of rows in ring order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dump {
    pub rows: Vec<RowPiece>,
    /// Where to go on, in words that only this kind of store understands; `None` at the end.
    pub place: Option<Bytes>,
}

/// About how many bytes a change has.
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

/// Puts tombstones of runs of names in the order of a dump.
pub fn sort_ranges(ranges: &mut [RangeDeletion]) {
    ranges
        .sort_by(|a, b| (&a.super_column, &a.start, &a.finish).cmp(&(&b.super_column, &b.start, &b.finish)));
}

/// Whether a column of a CQL table was dropped after this was written to it.
pub fn is_dropped(cf: &CfDef, cell: &Cell) -> bool {
    cf.table.as_ref().is_some_and(|table| table.is_dropped(&cell.name, cell.timestamp))
}
