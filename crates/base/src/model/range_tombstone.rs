//! Range tombstones (2.0 and later), and the deletion that they give to each name of a row.

use bytes::Bytes;

use super::range_tombstone_rule::{RangeTombstoneRule, ReadOf, TombstoneBound};
use super::range_tombstones::RangeTombstones;
use super::{DeletionTime, Predicate, ReadCommand};
use crate::marshal::AbstractType;

/// A range tombstone: the deletion of all names from `start` to `finish`, both inclusive. An empty bound is open. It
/// shadows existing cells, and cells written later with an older timestamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeTombstone {
    /// The super column that the names are in. `None`: names of the row's columns, which may be super columns.
    pub super_column: Option<Bytes>,
    /// The first name that is deleted.
    pub start: Bytes,
    /// The last name that is deleted.
    pub finish: Bytes,
    /// The timestamp up to which cells are shadowed.
    pub deletion: DeletionTime,
}

impl RangeTombstone {
    fn covers(&self, name: &[u8], comparator: &dyn AbstractType) -> bool {
        (self.start.is_empty() || comparator.compare(name, &self.start).is_ge())
            && (self.finish.is_empty() || comparator.compare(name, &self.finish).is_le())
    }

    /// Returns the memory that it takes, in bytes.
    pub fn memory(&self) -> usize {
        let holder = self.super_column.as_ref().map_or(0, Bytes::len);
        size_of::<RangeTombstone>() + holder + self.start.len() + self.finish.len()
    }

    /// Returns whether two range tombstones have the same range.
    pub fn has_same_range(&self, other: &RangeTombstone) -> bool {
        (&self.super_column, &self.start, &self.finish) == (&other.super_column, &other.start, &other.finish)
    }
}

/// The range tombstones of a row's columns, sorted so that those that cover a name are found without checking all of
/// them. A row can have many: in a CQL table, one for each collection of a partition.
#[derive(Debug)]
pub struct SortedRanges {
    /// The tombstones, sorted by their starts.
    ranges: Vec<RangeTombstone>,
    /// For each tombstone, the index of the one that ends last among those up to it.
    furthest: Vec<usize>,
}

impl SortedRanges {
    /// Sorts the range tombstones of the row's columns by `comparator`. Range tombstones of columns in super columns
    /// are left out.
    pub fn new(mut ranges: Vec<RangeTombstone>, comparator: &dyn AbstractType) -> SortedRanges {
        ranges.retain(|range| range.super_column.is_none());
        ranges.sort_by(|one, other| match (one.start.is_empty(), other.start.is_empty()) {
            (false, false) => comparator.compare(&one.start, &other.start),
            (is_open, is_other_open) => is_other_open.cmp(&is_open),
        });
        let mut furthest: Vec<usize> = Vec::with_capacity(ranges.len());
        for (at, range) in ranges.iter().enumerate() {
            let before = furthest.last().copied().filter(|before| {
                let finish = &ranges[*before].finish;
                finish.is_empty()
                    || (!range.finish.is_empty() && comparator.compare(finish, &range.finish).is_ge())
            });
            furthest.push(before.unwrap_or(at));
        }
        debug_assert!(
            furthest.is_sorted() && furthest.iter().enumerate().all(|(at, furthest)| *furthest <= at),
            "a search would leave out ranges"
        );
        SortedRanges { ranges, furthest }
    }

    /// Returns whether nothing is deleted.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

/// The range tombstones of one level of a row: of its columns, or of the columns of a super column.
#[derive(Debug, Clone, Copy)]
pub struct LevelRanges<'a> {
    ranges: &'a [RangeTombstone],
    /// `SortedRanges::furthest`, if `ranges` are sorted.
    furthest: Option<&'a [usize]>,
    /// The super column, and the comparator of super column names.
    holder: Option<(&'a [u8], &'a dyn AbstractType)>,
    /// The deletion of the super column itself, which covers all of its names.
    whole: DeletionTime,
    comparator: &'a dyn AbstractType,
    rule: RangeTombstoneRule<'a>,
}

impl<'a> LevelRanges<'a> {
    /// Returns the range tombstones of the row's columns, which are cells.
    pub fn of_row(ranges: &'a [RangeTombstone], comparator: &'a dyn AbstractType) -> LevelRanges<'a> {
        LevelRanges {
            ranges,
            furthest: None,
            holder: None,
            whole: DeletionTime::LIVE,
            comparator,
            rule: RangeTombstoneRule::default(),
        }
    }

    /// Returns the range tombstones of the row's columns, which are cells, sorted by the same comparator.
    pub fn of_sorted(sorted: &'a SortedRanges, comparator: &'a dyn AbstractType) -> LevelRanges<'a> {
        LevelRanges { furthest: Some(&sorted.furthest), ..LevelRanges::of_row(&sorted.ranges, comparator) }
    }

    /// Returns the range tombstones of the row's super columns. All tombstones that cover a super column apply to it.
    pub fn of_supers(ranges: &'a [RangeTombstone], comparator: &'a dyn AbstractType) -> LevelRanges<'a> {
        LevelRanges { rule: RangeTombstoneRule::Greatest, ..LevelRanges::of_row(ranges, comparator) }
    }

    /// Returns the range tombstones of the columns of a super column, whose own deletion is `whole`. `comparator` sorts
    /// the columns, `holders` the super columns.
    pub fn of_super(
        ranges: &'a [RangeTombstone],
        name: &'a [u8],
        whole: DeletionTime,
        holders: &'a dyn AbstractType,
        comparator: &'a dyn AbstractType,
    ) -> LevelRanges<'a> {
        LevelRanges { holder: Some((name, holders)), whole, ..LevelRanges::of_row(ranges, comparator) }
    }

    /// Sets the rule of the read.
    #[must_use]
    pub fn with_rule(self, rule: RangeTombstoneRule<'a>) -> LevelRanges<'a> {
        LevelRanges { rule, ..self }
    }

    /// Returns the names for which 2.1 does not search, because they are in the range that it has found for an earlier
    /// name. [`RangeTombstoneRule::of_cells`] needs them. They only matter if a range tombstone begins at one of the
    /// names; otherwise the result is empty.
    pub fn names_not_searched(&self, command: &ReadCommand, read_of: ReadOf) -> Vec<Bytes> {
        let (Predicate::Names(names), true) =
            (&command.predicate, RangeTombstoneRule::searches(command, read_of))
        else {
            return Vec::new();
        };
        let begins_at_name = |name: &Bytes| {
            let mut around = self.around(name).iter().filter(|range| self.is_of_level(range));
            around.any(|of| !of.start.is_empty() && self.comparator.compare(&of.start, name).is_eq())
        };
        if names.len() < 2 || !names.iter().any(begins_at_name) {
            return Vec::new();
        }
        let of_level = self.ranges.iter().filter(|range| self.is_of_level(range));
        RangeTombstones::new(of_level, self.whole, self.comparator).names_not_searched(names)
    }

    fn is_of_level(&self, range: &RangeTombstone) -> bool {
        match (&self.holder, &range.super_column) {
            (None, None) => true,
            (Some((name, holders)), Some(super_column)) => holders.compare(name, super_column).is_eq(),
            _ => false,
        }
    }

    /// Returns a part of the tombstones that has all those that cover a name.
    fn around(&self, name: &[u8]) -> &'a [RangeTombstone] {
        let Some(furthest) = self.furthest else { return self.ranges };
        // An empty bound is before each name as a start, and after each name as a finish.
        let begun = self.ranges.partition_point(|RangeTombstone { start, .. }| {
            start.is_empty() || self.comparator.compare(start, name).is_le()
        });
        let over = furthest.partition_point(|at| {
            let finish = &self.ranges[*at].finish;
            !finish.is_empty() && self.comparator.compare(finish, name).is_lt()
        });
        let around = self.ranges.get(over..begun).unwrap_or_default();
        let covering = |ranges: &[RangeTombstone]| {
            ranges.iter().filter(|range| range.covers(name, self.comparator)).count()
        };
        debug_assert!(
            self.ranges.len() > 64 || covering(around) == covering(self.ranges),
            "a cell that was deleted would come back"
        );
        around
    }

    /// Returns the deletion of a name of this level: all tombstones that cover it, merged. The rule of the read may
    /// leave out tombstones that have a bound at the name, but not if only such tombstones cover it.
    pub fn over(&self, name: &[u8]) -> DeletionTime {
        let around = self.around(name);
        let over = || {
            let of_level = around.iter().filter(|range| self.is_of_level(range));
            of_level.filter(|range| range.covers(name, self.comparator))
        };
        let all = |all: DeletionTime, range: &RangeTombstone| all.merged(range.deletion);
        let Some(bound) = self.rule.ignored_bound(name, self.comparator) else {
            return over().fold(DeletionTime::LIVE, all);
        };
        let touches = |range: &&RangeTombstone| {
            let bound = match bound {
                TombstoneBound::Start => &range.start,
                TombstoneBound::Finish => &range.finish,
            };
            !bound.is_empty() && self.comparator.compare(name, bound).is_eq()
        };
        if !self.whole.is_deleted() && over().all(|range| touches(&range)) {
            return over().fold(DeletionTime::LIVE, all);
        }
        over().filter(|range| !touches(range)).fold(DeletionTime::LIVE, all)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::marshal::BytesType;

    fn ranges() -> impl Strategy<Value = Vec<RangeTombstone>> {
        let range =
            ("[a-f]{0,2}", "[a-f]{0,2}", 0i64..8).prop_map(|(start, finish, timestamp)| RangeTombstone {
                super_column: None,
                start: start.into(),
                finish: finish.into(),
                deletion: DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: 1 },
            });
        proptest::collection::vec(range, 0..12)
    }

    proptest! {
        #[test]
        fn sorted_ranges_give_the_same_deletions(ranges in ranges(), name in "[a-f]{1,2}", is_reversed: bool) {
            let rule = if is_reversed { RangeTombstoneRule::FromAbove } else { RangeTombstoneRule::default() };
            let sorted = SortedRanges::new(ranges.clone(), &BytesType);
            let all = LevelRanges::of_row(&ranges, &BytesType).with_rule(rule);
            let found = LevelRanges::of_sorted(&sorted, &BytesType).with_rule(rule);
            prop_assert_eq!(found.over(name.as_bytes()), all.over(name.as_bytes()));
        }
    }

    /// Returns the deletion of a name of one letter by the definition of the rules: the latest tombstone that covers
    /// it, or the latest one that covers it and the names just before it or just after it.
    fn naive(ranges: &[RangeTombstone], name: u8, rule: RangeTombstoneRule<'_>) -> DeletionTime {
        let latest = |place: u8| {
            let is_over = |range: &&RangeTombstone| {
                let starts = range.start.first().is_none_or(|start| 2 * start <= place);
                starts && range.finish.first().is_none_or(|finish| 2 * finish >= place)
            };
            let over = ranges.iter().filter(is_over).map(|range| range.deletion);
            over.reduce(DeletionTime::merged)
        };
        let beside = match rule {
            RangeTombstoneRule::FromBelow { except } if except != Some(&[name]) => latest(2 * name - 1),
            RangeTombstoneRule::Searched { except } if except.contains(&Bytes::from(vec![name])) => {
                latest(2 * name - 1)
            }
            RangeTombstoneRule::FromAbove => latest(2 * name + 1),
            _ => None,
        };
        beside.or_else(|| latest(2 * name)).unwrap_or(DeletionTime::LIVE)
    }

    proptest! {
        #[test]
        fn the_rule_of_the_read_decides_at_a_bound(
            bounds in proptest::collection::vec(("[1-5]?", "[1-5]?", 0i64..5), 0..8),
            name in b'1'..=b'5',
            start in b'1'..=b'5',
        ) {
            let ranges: Vec<RangeTombstone> = bounds.into_iter().map(|(start, finish, timestamp)| RangeTombstone {
                super_column: None,
                start: start.into(),
                finish: finish.into(),
                deletion: DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: 1 },
            }).collect();
            let (start, not_searched) = ([start], [Bytes::from(vec![start])]);
            let level = LevelRanges::of_row(&ranges, &BytesType);
            for rule in [
                RangeTombstoneRule::Greatest,
                RangeTombstoneRule::default(),
                RangeTombstoneRule::FromBelow { except: Some(&start) },
                RangeTombstoneRule::FromAbove,
                RangeTombstoneRule::Searched { except: &not_searched },
            ] {
                prop_assert_eq!(level.with_rule(rule).over(&[name]), naive(&ranges, name, rule), "{:?}", rule);
            }
        }
    }
}
