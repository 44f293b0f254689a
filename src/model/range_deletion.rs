//! Tombstones of runs of names (2.0 and later).

use bytes::Bytes;

use super::range_tombstone_rule::{Bound, RangeTombstoneRule, ReadOf};
use super::range_tombstones::RangeTombstones;
use super::{DeletionTime, Predicate, ReadCommand};
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

/// The tombstones of a row's own names, so that those over a name are found without a look at all of them: a row may
/// have as many as a table's partition has collections.
#[derive(Debug)]
pub struct SortedRanges {
    /// By their starts.
    ranges: Vec<RangeDeletion>,
    /// For each, which of those up to it reaches furthest.
    furthest: Vec<usize>,
}

impl SortedRanges {
    /// `comparator` sorts the names. What is in super columns is left out.
    pub fn new(mut ranges: Vec<RangeDeletion>, comparator: &dyn AbstractType) -> SortedRanges {
        ranges.retain(|range| range.super_column.is_none());
        ranges.sort_by(|one, other| match (one.start.is_empty(), other.start.is_empty()) {
            (false, false) => comparator.compare(&one.start, &other.start),
            (is_open, is_other_open) => is_other_open.cmp(&is_open),
        });
        let mut furthest: Vec<usize> = Vec::with_capacity(ranges.len());
        for (at, range) in ranges.iter().enumerate() {
            let before = furthest.last().copied().filter(|before| {
                let finish = &ranges[*before].finish;
                let is_beyond = || comparator.compare(finish, &range.finish).is_ge();
                finish.is_empty() || (!range.finish.is_empty() && is_beyond())
            });
            furthest.push(before.unwrap_or(at));
        }
        SortedRanges { ranges, furthest }
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

/// The range tombstones that matter to one level of a row: its own columns, or those of a super column.
#[derive(Debug, Clone, Copy)]
pub struct LevelRanges<'a> {
    ranges: &'a [RangeDeletion],
    /// Of sorted ones, see `SortedRanges`.
    furthest: Option<&'a [usize]>,
    /// The super column, and the comparator of its name.
    holder: Option<(&'a [u8], &'a dyn AbstractType)>,
    /// What is deleted of the super column itself, which is a run around all of its names.
    whole: DeletionTime,
    comparator: &'a dyn AbstractType,
    rule: RangeTombstoneRule<'a>,
}

impl<'a> LevelRanges<'a> {
    /// Of the row's own columns, which are cells.
    pub fn of_row(ranges: &'a [RangeDeletion], comparator: &'a dyn AbstractType) -> LevelRanges<'a> {
        LevelRanges {
            ranges,
            furthest: None,
            holder: None,
            whole: DeletionTime::LIVE,
            comparator,
            rule: RangeTombstoneRule::default(),
        }
    }

    /// Of the row's own columns, which are cells; sorted by the same comparator.
    pub fn of_sorted(sorted: &'a SortedRanges, comparator: &'a dyn AbstractType) -> LevelRanges<'a> {
        LevelRanges { furthest: Some(&sorted.furthest), ..LevelRanges::of_row(&sorted.ranges, comparator) }
    }

    /// Of the row's super columns, whose bounds no name is equal to.
    pub fn of_supers(ranges: &'a [RangeDeletion], comparator: &'a dyn AbstractType) -> LevelRanges<'a> {
        LevelRanges { rule: RangeTombstoneRule::Greatest, ..LevelRanges::of_row(ranges, comparator) }
    }

    /// Of the columns of a super column of which `whole` is deleted. `comparator` sorts them, `holders` the super
    /// columns.
    pub fn of_super(
        ranges: &'a [RangeDeletion],
        (name, whole): (&'a [u8], DeletionTime),
        holders: &'a dyn AbstractType,
        comparator: &'a dyn AbstractType,
    ) -> LevelRanges<'a> {
        LevelRanges { holder: Some((name, holders)), whole, ..LevelRanges::of_row(ranges, comparator) }
    }

    /// For a read that goes by a rule.
    #[must_use]
    pub fn read_by(self, rule: RangeTombstoneRule<'a>) -> LevelRanges<'a> {
        LevelRanges { rule, ..self }
    }

    /// Those of the names that a read asks for which fall to the run that was found for one before, as
    /// [`RangeTombstoneRule::of_cells`] needs them. Only where a tombstone begins do they matter.
    pub fn reached(&self, command: &ReadCommand, read_of: ReadOf) -> Vec<Bytes> {
        let (Predicate::Names(names), true) =
            (&command.predicate, RangeTombstoneRule::searches(command, read_of))
        else {
            return Vec::new();
        };
        let begins_at = |range: &RangeDeletion, name: &Bytes| {
            !range.start.is_empty() && self.comparator.compare(&range.start, name).is_eq()
        };
        let is_begun_at = |name: &Bytes| {
            let mut around = self.around(name).iter();
            around.any(|range| self.is_of_level(range) && begins_at(range, name))
        };
        if names.len() < 2 || !names.iter().any(is_begun_at) {
            return Vec::new();
        }
        let of_level = self.ranges.iter().filter(|range| self.is_of_level(range));
        RangeTombstones::new(of_level, self.whole, self.comparator).reached(names)
    }

    fn is_of_level(&self, range: &RangeDeletion) -> bool {
        match (&self.holder, &range.super_column) {
            (None, None) => true,
            (Some((name, holders)), Some(super_column)) => holders.compare(name, super_column).is_eq(),
            _ => false,
        }
    }

    /// Those among which are all that cover a name.
    fn around(&self, name: &[u8]) -> &'a [RangeDeletion] {
        let Some(furthest) = self.furthest else { return self.ranges };
        let is_after = |bound: &Bytes| !bound.is_empty() && self.comparator.compare(bound, name).is_gt();
        let is_before = |bound: &Bytes| !bound.is_empty() && self.comparator.compare(bound, name).is_lt();
        let begun = &self.ranges[..self.ranges.partition_point(|range| !is_after(&range.start))];
        let over = furthest.partition_point(|at| is_before(&self.ranges[*at].finish));
        begun.get(over..).unwrap_or_default()
    }

    /// What shadows a name of this level: all tombstones over it as one, except those that the rule of the read
    /// leaves out because they have a bound there. They count where no others are.
    pub fn over(&self, name: &[u8]) -> DeletionTime {
        let around = self.around(name);
        let over = || {
            let of_level = around.iter().filter(|range| self.is_of_level(range));
            of_level.filter(|range| range.covers(name, self.comparator))
        };
        let all = |all: DeletionTime, range: &RangeDeletion| all.merged(range.deletion);
        let Some(bound) = self.rule.left_out(name, self.comparator) else {
            return over().fold(DeletionTime::LIVE, all);
        };
        let touches = |range: &&RangeDeletion| {
            let bound = match bound {
                Bound::Start => &range.start,
                Bound::Finish => &range.finish,
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

    fn ranges() -> impl Strategy<Value = Vec<RangeDeletion>> {
        let range =
            ("[a-f]{0,2}", "[a-f]{0,2}", 0i64..8).prop_map(|(start, finish, timestamp)| RangeDeletion {
                super_column: None,
                start: start.into(),
                finish: finish.into(),
                deletion: DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: 1 },
            });
        proptest::collection::vec(range, 0..12)
    }

    proptest! {
        #[test]
        fn sorted_ones_shadow_what_the_others_do(ranges in ranges(), name in "[a-f]{1,2}", is_reversed: bool) {
            let rule = if is_reversed { RangeTombstoneRule::FromAbove } else { RangeTombstoneRule::default() };
            let sorted = SortedRanges::new(ranges.clone(), &BytesType);
            let all = LevelRanges::of_row(&ranges, &BytesType).read_by(rule);
            let found = LevelRanges::of_sorted(&sorted, &BytesType).read_by(rule);
            prop_assert_eq!(found.over(name.as_bytes()), all.over(name.as_bytes()));
        }
    }

    /// What a read heeds at a name of one letter: the latest tombstone over it, or the latest over the names just
    /// before and just after it, where that goes on to it.
    fn naive(ranges: &[RangeDeletion], name: u8, rule: RangeTombstoneRule<'_>) -> DeletionTime {
        let latest = |place: u8| {
            let is_over = |range: &&RangeDeletion| {
                let starts = range.start.first().is_none_or(|start| 2 * start <= place);
                starts && range.finish.first().is_none_or(|finish| 2 * finish >= place)
            };
            let over = ranges.iter().filter(is_over).map(|range| range.deletion);
            over.reduce(DeletionTime::merged)
        };
        let beside = match rule {
            RangeTombstoneRule::FromBelow { but_at } if but_at != Some(&[name]) => latest(2 * name - 1),
            RangeTombstoneRule::Searched { but_at } if but_at.contains(&Bytes::from(vec![name])) => {
                latest(2 * name - 1)
            }
            RangeTombstoneRule::FromAbove => latest(2 * name + 1),
            _ => None,
        };
        beside.or_else(|| latest(2 * name)).unwrap_or(DeletionTime::LIVE)
    }

    proptest! {
        #[test]
        fn the_way_of_the_read_decides_at_a_bound(
            bounds in proptest::collection::vec(("[1-5]?", "[1-5]?", 0i64..5), 0..8),
            name in b'1'..=b'5',
            start in b'1'..=b'5',
        ) {
            let ranges: Vec<RangeDeletion> = bounds.into_iter().map(|(start, finish, timestamp)| RangeDeletion {
                super_column: None,
                start: start.into(),
                finish: finish.into(),
                deletion: DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: 1 },
            }).collect();
            let (start, reached) = ([start], [Bytes::from(vec![start])]);
            let level = LevelRanges::of_row(&ranges, &BytesType);
            for rule in [
                RangeTombstoneRule::Greatest,
                RangeTombstoneRule::default(),
                RangeTombstoneRule::FromBelow { but_at: Some(&start) },
                RangeTombstoneRule::FromAbove,
                RangeTombstoneRule::Searched { but_at: &reached },
            ] {
                prop_assert_eq!(level.read_by(rule).over(&[name]), naive(&ranges, name, rule), "{:?}", rule);
            }
        }
    }
}
