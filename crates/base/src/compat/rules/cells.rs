//! Rules of cells and tombstones: which of two writes wins, and which data a tombstone hides.

use super::rules;
use crate::compat::span::{Eras, before, only, since};
use crate::util::Release::{V0_3, V0_4, V0_6, V0_7, V1_1, V2_0, V2_1};

/// The ways to compare the timestamps of two versions of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampOrder {
    /// By the sign of their wrapping difference, unless the stored cell is a tombstone. Timestamps that are 2^63 or
    /// more apart then compare in reverse.
    WrappingUnlessOldIsDeleted,
    /// By the sign of their wrapping difference, unless either cell is a tombstone.
    WrappingBetweenValues,
    /// As signed numbers.
    Plain,
}

/// The rules that decide which of two values with the same timestamp wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueTie {
    /// The one that was written last.
    LastWritten,
    /// The larger one by unsigned bytes; a longer value wins over its own prefix.
    LargerUnsigned,
    /// The larger one by signed bytes, as Java compares them.
    LargerSigned,
}

/// The super columns that count towards the limit of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuperCount {
    /// Those without a tombstone of their own, even if they have no live cell.
    WithoutTombstone,
    /// Those that have a live cell newer than their tombstone.
    WithLiveCell,
}

rules! {
    /// The rules that decide which of two writes wins, and which data a tombstone hides.
    pub struct CellRules {
        /// The way to compare the timestamps of two cells (`Column.comparePriority`, later `reconcile`).
        timestamps: TimestampOrder = Eras([
            (V0_3, TimestampOrder::WrappingUnlessOldIsDeleted),
            (V0_6, TimestampOrder::WrappingBetweenValues),
            (V0_7, TimestampOrder::Plain),
        ]);
        /// The choice between two values with the same timestamp (the same methods).
        value_tie: ValueTie = Eras([
            (V0_3, ValueTie::LastWritten),
            (V0_6, ValueTie::LargerUnsigned),
            (V0_7, ValueTie::LargerSigned),
        ]);
        /// The super columns that count towards the limit of a slice (`SliceQueryFilter.collectReducedColumns`). A
        /// slice of 0.3 has an offset besides its limit: a super column that is counted but not returned would hide the
        /// next one.
        super_count: SuperCount = Eras([
            (V0_3, SuperCount::WithLiveCell),
            (V0_4, SuperCount::WithoutTombstone),
            (V0_7, SuperCount::WithLiveCell),
        ]);
        /// In a deleted row, a super column counts towards the limit if a cell in it is newer than the row's deletion,
        /// even if that cell is a tombstone (0.4). In later releases the cell must be live.
        super_counts_by_tombstones: bool = only(V0_4);
        /// A cell with the least timestamp counts as deleted for the limit of a slice (2.0 and later, where
        /// `DeletionInfo.isDeleted` compares it with the timestamp of no deletion). No release since returns it.
        least_timestamp_is_deleted: bool = since(V2_0);
        /// Two deletions of a row in one mutation merge like any two deletions (1.1 and later). Before, the second
        /// replaces the first even if it is older (`ColumnFamily.delete`).
        row_deletions_merge: bool = since(V1_1);
        /// An expiring cell is no longer returned from the beginning of its second of expiry (1.1 and later); before,
        /// from the end of that second (`ExpiringColumn.isMarkedForDelete`). Releases without expiring cells treat
        /// those that other clients wrote as newer releases do.
        expires_when_second_begins: bool = Eras([(V0_3, true), (V0_7, false), (V1_1, true)]);
        /// A counter's tombstone wins whatever the timestamps, so a deleted counter stays deleted (2.1). Before, later
        /// increments start it again from zero (`CounterColumn.reconcile`).
        counter_deletions_are_final: bool = since(V2_1);
        /// A read finds the range tombstone of a name by a binary search in their sorted list (2.1,
        /// `RangeTombstoneList.searchInternal`). Before, it goes through all of them together with the cells.
        range_tombstones_are_searched: bool = since(V2_1);
        /// The start of a range tombstone from a CQL statement has the end-of-component byte 0, the same as the bound's
        /// own name (before 2.1); in 2.1 it is 0xFF, which sorts before that name.
        range_tombstones_begin_at_name: bool = before(V2_1);
    }
}
