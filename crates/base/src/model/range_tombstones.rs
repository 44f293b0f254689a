//! The range tombstones of one level of a row, cut into ranges that do not overlap, as in the RangeTombstoneList of
//! Cassandra 2.1.
//!
//! Each range has the timestamp of the latest tombstone that covers it. Ranges may touch: the name at which one ends
//! can be the name at which the next begins, and between both there may be a range of just that name.
//!
//! ```text
//!   tombstones, in order of their timestamps
//!     b ---------------- h             @10
//!          d ------ f                  @20
//!                   f                  @30      a single name
//!
//!   ranges
//!     b -- d @10   d -- f @20   f -- f @30   f -- h @10
//! ```
//!
//! This is needed for one rule only: which names of a read by names 2.1 does not search for (`names_not_searched`). A
//! read of `c`, `d` and `e` searches for `c` and finds `b -- d`. `d` is in that range too, so it is not searched for
//! and gets the timestamp 10, although `d -- f` is later. `e` is after that range, so it is searched for.

use std::cmp::Ordering;

use bytes::Bytes;

use super::{DeletionTime, RangeTombstone};
use crate::marshal::AbstractType;

/// A bound of a range.
#[derive(Debug, Clone, Copy)]
enum NamePosition<'a> {
    /// Before all names.
    First,
    At(&'a [u8]),
    /// After all names.
    Last,
}

/// A tombstone, or the part of it that is a range of the list.
#[derive(Debug, Clone, Copy)]
struct TombstonePart<'a> {
    start: NamePosition<'a>,
    finish: NamePosition<'a>,
    timestamp: i64,
}

/// The ranges of one level of a row.
///
/// In Cassandra the order in which tombstones arrive decides where tombstones with equal timestamps are cut, and a cut
/// remains where a covered older tombstone ended. Here tombstones are added in the order of their timestamps.
#[derive(Debug)]
pub(super) struct RangeTombstones<'a> {
    /// Sorted ranges, which may touch.
    ranges: Vec<TombstonePart<'a>>,
    comparator: &'a dyn AbstractType,
}

impl<'a> RangeTombstones<'a> {
    /// Cuts range tombstones into ranges. `whole` is the deletion of the super column itself, which covers all of its
    /// names.
    pub(super) fn new(
        deletions: impl Iterator<Item = &'a RangeTombstone>,
        whole: DeletionTime,
        comparator: &'a dyn AbstractType,
    ) -> RangeTombstones<'a> {
        let whole = whole.is_deleted().then_some(TombstonePart {
            start: NamePosition::First,
            finish: NamePosition::Last,
            timestamp: whole.marked_for_delete_at,
        });
        let mut ranges = RangeTombstones { ranges: Vec::new(), comparator };
        let mut tombstones: Vec<TombstonePart<'a>> = deletions.map(TombstonePart::of).chain(whole).collect();
        tombstones.retain(|run| ranges.compare(run.start, run.finish).is_le());
        tombstones.sort_by(|one, other| {
            one.timestamp.cmp(&other.timestamp).then_with(|| {
                ranges.compare(one.start, other.start).then_with(|| ranges.compare(one.finish, other.finish))
            })
        });
        for tombstone in tombstones {
            ranges.add(tombstone);
        }
        debug_assert!(
            ranges.ranges.is_sorted_by(|one, next| ranges.compare(one.finish, next.start).is_le()),
            "ranges overlap, and a search would find one of them"
        );
        ranges
    }

    /// Returns those names, sorted, that are in the range that was found for an earlier one of them.
    pub(super) fn names_not_searched(&self, names: &[Bytes]) -> Vec<Bytes> {
        let mut sorted: Vec<&Bytes> = names.iter().collect();
        sorted.sort_by(|one, other| self.comparator.compare(one, other));
        sorted.dedup_by(|one, other| self.comparator.compare(one, other).is_eq());
        let mut not_searched = Vec::new();
        let mut last: Option<TombstonePart<'a>> = None;
        for name in sorted {
            if last.is_some_and(|run| self.compare(run.finish, NamePosition::At(name)).is_ge()) {
                not_searched.push(name.clone());
            } else {
                last = self.search(name);
            }
        }
        not_searched
    }

    /// Returns the range with the latest timestamp that a name is in.
    fn search(&self, name: &[u8]) -> Option<TombstonePart<'a>> {
        let name = NamePosition::At(name);
        let around = self.ranges[self.first_ending_at_or_after(name)..].iter();
        let around = around.take_while(|run| self.compare(run.start, name).is_le());
        around.max_by_key(|run| run.timestamp).copied()
    }

    /// Returns the index of the first range that does not end before a position.
    fn first_ending_at_or_after(&self, place: NamePosition<'_>) -> usize {
        self.ranges.partition_point(|run| self.compare(run.finish, place).is_lt())
    }

    fn compare(&self, one: NamePosition<'_>, other: NamePosition<'_>) -> Ordering {
        match (one, other) {
            (NamePosition::At(one), NamePosition::At(other)) => self.comparator.compare(one, other),
            (one, other) => one.rank().cmp(&other.rank()),
        }
    }

    fn is_one_name(&self, run: TombstonePart<'_>) -> bool {
        self.compare(run.start, run.finish).is_eq()
    }

    /// Adds a tombstone. No existing range is later.
    fn add(&mut self, mut new: TombstonePart<'a>) {
        let mut at = self.first_ending_at_or_after(new.start);
        while let Some(old) = self.ranges.get(at).copied() {
            let is_later = new.timestamp > old.timestamp;
            if self.compare(old.finish, new.start).is_eq() {
                // The new tombstone begins where the old range ends. A range of a single name is replaced by a later
                // one.
                if !self.is_one_name(old) {
                    at += 1;
                } else if is_later {
                    self.ranges.remove(at);
                } else if self.is_one_name(new) {
                    return;
                } else {
                    at += 1;
                }
                continue;
            }
            let rest = if is_later {
                self.replace_part(&mut at, old, new)
            } else {
                self.insert_before(&mut at, old, new)
            };
            let Some(rest) = rest else { return };
            new = rest;
        }
        self.ranges.insert(at, new);
    }

    /// Replaces the part of an older range that a tombstone covers. Returns the rest of the tombstone, which comes
    /// after that range.
    fn replace_part(
        &mut self,
        at: &mut usize,
        old: TombstonePart<'a>,
        new: TombstonePart<'a>,
    ) -> Option<TombstonePart<'a>> {
        if self.compare(old.start, new.start).is_lt() {
            self.ranges.insert(*at, TombstonePart { finish: new.start, ..old });
            *at += 1;
        }
        let to_start = self.compare(new.finish, old.start);
        if to_start.is_lt() || (to_start.is_eq() && !self.is_one_name(old)) {
            self.ranges.insert(*at, new);
            return None;
        }
        match self.compare(old.finish, new.finish) {
            Ordering::Greater => {
                self.ranges[*at].start = new.finish;
                self.ranges.insert(*at, new);
                None
            }
            Ordering::Less if *at + 1 < self.ranges.len() => {
                self.ranges[*at] = TombstonePart { finish: old.finish, ..new };
                *at += 1;
                Some(TombstonePart { start: old.finish, ..new })
            }
            _ => {
                self.ranges[*at] = new;
                None
            }
        }
    }

    /// Inserts the part of a tombstone before a range of the same timestamp, which stays. Returns the rest of the
    /// tombstone, which comes after that range.
    fn insert_before(
        &mut self,
        at: &mut usize,
        old: TombstonePart<'a>,
        new: TombstonePart<'a>,
    ) -> Option<TombstonePart<'a>> {
        if self.compare(new.start, old.start).is_lt() {
            if self.compare(new.finish, old.start).is_le() {
                self.ranges.insert(*at, new);
                return None;
            }
            self.ranges.insert(*at, TombstonePart { finish: old.start, ..new });
            *at += 1;
        }
        *at += 1;
        self.compare(new.finish, old.finish).is_gt().then_some(TombstonePart { start: old.finish, ..new })
    }
}

impl<'a> TombstonePart<'a> {
    fn of(range: &'a RangeTombstone) -> TombstonePart<'a> {
        let start = if range.start.is_empty() { NamePosition::First } else { NamePosition::At(&range.start) };
        let finish =
            if range.finish.is_empty() { NamePosition::Last } else { NamePosition::At(&range.finish) };
        TombstonePart { start, finish, timestamp: range.deletion.marked_for_delete_at }
    }
}

impl NamePosition<'_> {
    fn rank(self) -> u8 {
        match self {
            NamePosition::First => 0,
            NamePosition::At(_) => 1,
            NamePosition::Last => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::BytesType;

    fn range(&(start, finish, timestamp): &(&'static str, &'static str, i64)) -> RangeTombstone {
        RangeTombstone {
            super_column: None,
            start: start.into(),
            finish: finish.into(),
            deletion: DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: 1 },
        }
    }

    fn not_searched(ranges: &[(&'static str, &'static str, i64)], names: &'static str) -> String {
        let ranges: Vec<RangeTombstone> = ranges.iter().map(range).collect();
        let names: Vec<Bytes> = (0..names.len()).map(|at| Bytes::from(&names[at..=at])).collect();
        let not_searched =
            RangeTombstones::new(ranges.iter(), DeletionTime::LIVE, &BytesType).names_not_searched(&names);
        not_searched.iter().map(|name| String::from_utf8_lossy(name)).collect()
    }

    #[test]
    fn a_range_ends_where_a_later_one_begins() {
        let around_b = [("a", "c", 5), ("b", "b", 7)];
        assert_eq!(not_searched(&around_b, "ab"), "b");
        assert_eq!(not_searched(&around_b, "bb"), "", "a name is searched for once");
        assert_eq!(not_searched(&around_b, "bc"), "", "the range that is found for b ends there");
        assert_eq!(not_searched(&[("a", "b", 5), ("b", "c", 7)], "cab"), "b");
        assert_eq!(not_searched(&[("a", "z", 3), ("c", "d", 4)], "bce"), "c");
        assert_eq!(not_searched(&[("a", "z", 3), ("c", "d", 4)], "ade"), "");
        assert_eq!(not_searched(&[("", "", 3), ("c", "d", 4)], "ac"), "c");
    }

    #[test]
    fn a_range_is_cut_where_a_covered_older_one_ended() {
        let late = [("a", "z", 3), ("g", "g", 4)];
        assert_eq!(not_searched(&late, "bg"), "g");
        assert_eq!(not_searched(&[&late[..], &[("b", "c", 1), ("d", "e", 2)]].concat(), "bg"), "");
        assert_eq!(not_searched(&[("a", "c", 3), ("e", "f", 3), ("c", "e", 3)], "bcdef"), "ce");
    }

    #[test]
    fn a_range_of_a_single_name_is_replaced_by_a_later_one() {
        assert_eq!(not_searched(&[("c", "c", 4), ("b", "d", 5)], "bcd"), "cd");
        assert_eq!(not_searched(&[("c", "c", 4), ("c", "d", 5)], "cd"), "d");
        assert_eq!(not_searched(&[("b", "d", 3), ("c", "c", 4), ("c", "e", 2)], "bc"), "c");
    }

    #[test]
    fn the_deletion_of_a_super_column_covers_all_of_its_names() {
        let inside = [range(&("b", "b", 7))];
        let names = [Bytes::from("a"), Bytes::from("b")];
        let whole = DeletionTime { marked_for_delete_at: 5, local_deletion_time: 1 };
        assert_eq!(RangeTombstones::new(inside.iter(), whole, &BytesType).names_not_searched(&names), ["b"]);
        assert!(
            RangeTombstones::new(inside.iter(), DeletionTime::LIVE, &BytesType)
                .names_not_searched(&names)
                .is_empty()
        );
        let later = DeletionTime { marked_for_delete_at: 8, ..whole };
        assert_eq!(RangeTombstones::new(inside.iter(), later, &BytesType).names_not_searched(&names), ["b"]);
    }
}
