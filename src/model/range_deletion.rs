//! Tombstones of runs of names (2.0 and later).

use bytes::Bytes;

use super::DeletionTime;
use crate::marshal::AbstractType;

/// The tombstone of the names from one to another, both inclusive; an empty bound is open. It shadows what is
/// there and what comes later with an older timestamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeDeletion {
    /// The names are in this super column; else they are the row's own, which may be super columns.
    pub super_column: Option<Bytes>,
    pub start: Bytes,
    pub finish: Bytes,
    pub deletion: DeletionTime,
}

impl RangeDeletion {
    fn covers(&self, name: &[u8], comparator: &dyn AbstractType) -> bool {
        (self.start.is_empty() || comparator.compare(name, &self.start).is_ge())
            && (self.finish.is_empty() || comparator.compare(name, &self.finish).is_le())
    }

    /// Whether this is of the same names as another.
    pub fn is_of_same_names(&self, other: &RangeDeletion) -> bool {
        (&self.super_column, &self.start, &self.finish) == (&other.super_column, &other.start, &other.finish)
    }
}

/// The range tombstones that matter to one level of a row: its own columns, or those of a super column.
#[derive(Debug, Clone, Copy)]
pub struct LevelRanges<'a> {
    ranges: &'a [RangeDeletion],
    /// The super column, and the comparator of its name.
    holder: Option<(&'a [u8], &'a dyn AbstractType)>,
    comparator: &'a dyn AbstractType,
}

impl<'a> LevelRanges<'a> {
    /// Of the row's own columns.
    pub fn of_row(ranges: &'a [RangeDeletion], comparator: &'a dyn AbstractType) -> LevelRanges<'a> {
        LevelRanges { ranges, holder: None, comparator }
    }

    /// Of a super column's. `comparator` sorts its columns, `holders` the super columns.
    pub fn of_super(
        ranges: &'a [RangeDeletion],
        name: &'a [u8],
        holders: &'a dyn AbstractType,
        comparator: &'a dyn AbstractType,
    ) -> LevelRanges<'a> {
        LevelRanges { ranges, holder: Some((name, holders)), comparator }
    }

    fn is_of_level(&self, range: &RangeDeletion) -> bool {
        match (&self.holder, &range.super_column) {
            (None, None) => true,
            (Some((name, holders)), Some(super_column)) => holders.compare(name, super_column).is_eq(),
            _ => false,
        }
    }

    /// What shadows a name of this level: all tombstones over it as one.
    pub fn over(&self, name: &[u8]) -> DeletionTime {
        let over = self.ranges.iter().filter(|range| self.is_of_level(range));
        let over = over.filter(|range| range.covers(name, self.comparator));
        over.fold(DeletionTime::LIVE, |all, range| all.merged(range.deletion))
    }
}
