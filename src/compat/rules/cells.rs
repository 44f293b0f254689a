//! Rules of cells and tombstones: which of two writes wins, and which data a tombstone hides.

use super::rules;
use crate::compat::span::{Eras, before, only, since};
use crate::util::Release::{V0_3, V0_4, V0_6, V0_7, V1_1, V2_1};

/// How two timestamps are compared when one cell meets another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampOrder {
    /// By the sign of their wrapping difference, unless the cell that is there is a tombstone: two that lie
    /// 2^63 or more apart compare the wrong way round.
    WrappingUnlessOldIsDeleted,
    /// By the sign of their wrapping difference, unless either is a tombstone.
    WrappingBetweenValues,
    Plain,
}

/// Which of two values with one timestamp wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueTie {
    LastWritten,
    /// By unsigned bytes; a longer value beats its own prefix.
    LargerUnsigned,
    /// By bytes as Java's, -128 to 127.
    LargerSigned,
}

/// Which super columns use up a slice's count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuperCount {
    /// Those without a tombstone of their own, whether or not anything in them is live.
    WithoutTombstone,
    /// Those with a live cell newer than their tombstone.
    WithLiveCell,
}

rules! {
    /// Which of two writes wins, and which data a tombstone hides.
    pub struct CellRules {
        /// How the timestamps of two cells are compared (`Column.comparePriority`, later `reconcile`).
        timestamps: TimestampOrder = Eras([
            (V0_3, TimestampOrder::WrappingUnlessOldIsDeleted),
            (V0_6, TimestampOrder::WrappingBetweenValues),
            (V0_7, TimestampOrder::Plain),
        ]);
        /// Which of two values with one timestamp wins (the same methods).
        value_tie: ValueTie = Eras([
            (V0_3, ValueTie::LastWritten),
            (V0_6, ValueTie::LargerUnsigned),
            (V0_7, ValueTie::LargerSigned),
        ]);
        /// Which super columns use up a slice's count (`SliceQueryFilter.collectReducedColumns`). A slice of 0.3 goes by
        /// positions: a super column that takes one and is not returned would hide the next.
        super_count: SuperCount = Eras([
            (V0_3, SuperCount::WithLiveCell),
            (V0_4, SuperCount::WithoutTombstone),
            (V0_7, SuperCount::WithLiveCell),
        ]);
        /// In a deleted row a super column uses up a slice's count when anything in it is newer than the row's deletion,
        /// even a tombstone (0.4); after, when a live cell is.
        super_counts_by_tombstones: bool = only(V0_4);
        /// Two deletions of a row in one mutation merge like any two (1.1 and later); before, the second takes the
        /// place of the first even when it is older (`ColumnFamily.delete`).
        row_deletions_merge: bool = since(V1_1);
        /// An expiring cell is gone when its second begins (1.1 and later), not when it is over
        /// (`ExpiringColumn.isMarkedForDelete`). Releases without expiring cells see those of others as newer ones do.
        expires_when_second_begins: bool = Eras([(V0_3, true), (V0_7, false), (V1_1, true)]);
        /// A counter's tombstone wins whatever the timestamps (2.1): a deleted counter stays deleted. Before, it
        /// begins anew with what is added later (`CounterColumn.reconcile`).
        counter_deletions_are_final: bool = since(V2_1);
        /// A read finds the range tombstone of a name by a search in the sorted list of them (2.1,
        /// `RangeTombstoneList.searchInternal`); before, it goes through all of them beside the cells.
        range_tombstones_are_searched: bool = since(V2_1);
        /// Range tombstones that a statement makes begin with the bound's own name (before 2.1) or after it; the end of
        /// component is 0 or 0xFF.
        range_tombstones_begin_at_name: bool = before(V2_1);
    }
}
