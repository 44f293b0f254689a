//! Tombstones of runs of names, cut so that each name is in one of them, or in two where they touch.

use std::cmp::Ordering;

use bytes::Bytes;

use super::{DeletionTime, RangeDeletion};
use crate::marshal::AbstractType;

/// A bound of a run.
#[derive(Debug, Clone, Copy)]
enum Place<'a> {
    /// Before all names.
    First,
    At(&'a [u8]),
    /// After all names.
    Last,
}

/// Names that one tombstone is the latest of, from one place to another.
#[derive(Debug, Clone, Copy)]
struct RangeTombstone<'a> {
    start: Place<'a>,
    finish: Place<'a>,
    timestamp: i64,
}

/// The runs of one level of a row, as Cassandra 2.1 keeps them in a RangeTombstoneList. In which order the
/// tombstones came decides where it cuts those of one timestamp, and leaves cuts where an older one has ended:
/// they are taken to have come in the order of their timestamps.
#[derive(Debug)]
pub struct RangeTombstones<'a> {
    /// In order. Where one ends the next may begin; one that is a single name may stand there between both.
    runs: Vec<RangeTombstone<'a>>,
    comparator: &'a dyn AbstractType,
}

impl<'a> RangeTombstones<'a> {
    /// `whole` is what is deleted of a super column itself: a run around all of its names.
    pub fn new(
        ranges: impl Iterator<Item = &'a RangeDeletion>,
        whole: DeletionTime,
        comparator: &'a dyn AbstractType,
    ) -> RangeTombstones<'a> {
        let whole = whole.is_deleted().then_some(RangeTombstone {
            start: Place::First,
            finish: Place::Last,
            timestamp: whole.marked_for_delete_at,
        });
        let mut runs = RangeTombstones { runs: Vec::new(), comparator };
        let mut tombstones: Vec<RangeTombstone<'a>> = ranges.map(RangeTombstone::of).chain(whole).collect();
        tombstones.retain(|run| runs.compare(run.start, run.finish).is_le());
        tombstones.sort_by(|one, other| {
            let by_place =
                || runs.compare(one.start, other.start).then_with(|| runs.compare(one.finish, other.finish));
            one.timestamp.cmp(&other.timestamp).then_with(by_place)
        });
        for tombstone in tombstones {
            runs.lay(tombstone);
        }
        runs
    }

    /// Those of some names that lie in the run that was found for an earlier one of them. In order.
    pub fn reached(&self, names: &[Bytes]) -> Vec<Bytes> {
        let mut sorted: Vec<&Bytes> = names.iter().collect();
        sorted.sort_by(|one, other| self.comparator.compare(one, other));
        sorted.dedup_by(|one, other| self.comparator.compare(one, other).is_eq());
        let mut reached = Vec::new();
        let mut last: Option<RangeTombstone<'a>> = None;
        for name in sorted {
            if last.is_some_and(|run| self.compare(run.finish, Place::At(name)).is_ge()) {
                reached.push(name.clone());
            } else {
                last = self.search(name);
            }
        }
        reached
    }

    /// The latest run that a name is in.
    fn search(&self, name: &[u8]) -> Option<RangeTombstone<'a>> {
        let name = Place::At(name);
        let around = self.runs[self.first_to(name)..].iter();
        let around = around.take_while(|run| self.compare(run.start, name).is_le());
        around.max_by_key(|run| run.timestamp).copied()
    }

    /// The first run that does not end before a place.
    fn first_to(&self, place: Place<'_>) -> usize {
        self.runs.partition_point(|run| self.compare(run.finish, place).is_lt())
    }

    fn compare(&self, one: Place<'_>, other: Place<'_>) -> Ordering {
        match (one, other) {
            (Place::At(one), Place::At(other)) => self.comparator.compare(one, other),
            (one, other) => one.rank().cmp(&other.rank()),
        }
    }

    fn is_one_name(&self, run: RangeTombstone<'_>) -> bool {
        self.compare(run.start, run.finish).is_eq()
    }

    /// Lays a tombstone over the runs that are there, none of which is later.
    fn lay(&mut self, mut new: RangeTombstone<'a>) {
        let mut at = self.first_to(new.start);
        while let Some(old) = self.runs.get(at).copied() {
            let is_later = new.timestamp > old.timestamp;
            if self.compare(old.finish, new.start).is_eq() {
                // It begins where the old one ends. A single name gives way to what is later.
                if !self.is_one_name(old) {
                    at += 1;
                } else if is_later {
                    self.runs.remove(at);
                } else if self.is_one_name(new) {
                    return;
                } else {
                    at += 1;
                }
                continue;
            }
            let rest =
                if is_later { self.lay_over(&mut at, old, new) } else { self.lay_beside(&mut at, old, new) };
            let Some(rest) = rest else { return };
            new = rest;
        }
        self.runs.insert(at, new);
    }

    /// Puts a tombstone in the place of an older one as far as it reaches. What is left of it comes after that.
    fn lay_over(
        &mut self,
        at: &mut usize,
        old: RangeTombstone<'a>,
        new: RangeTombstone<'a>,
    ) -> Option<RangeTombstone<'a>> {
        if self.compare(old.start, new.start).is_lt() {
            self.runs.insert(*at, RangeTombstone { finish: new.start, ..old });
            *at += 1;
        }
        let to_start = self.compare(new.finish, old.start);
        if to_start.is_lt() || (to_start.is_eq() && !self.is_one_name(old)) {
            self.runs.insert(*at, new);
            return None;
        }
        match self.compare(old.finish, new.finish) {
            Ordering::Greater => {
                self.runs[*at].start = new.finish;
                self.runs.insert(*at, new);
                None
            }
            Ordering::Less if *at + 1 < self.runs.len() => {
                self.runs[*at] = RangeTombstone { finish: old.finish, ..new };
                *at += 1;
                Some(RangeTombstone { start: old.finish, ..new })
            }
            _ => {
                self.runs[*at] = new;
                None
            }
        }
    }

    /// Puts a tombstone before one that stays. What is left of it comes after that.
    fn lay_beside(
        &mut self,
        at: &mut usize,
        old: RangeTombstone<'a>,
        new: RangeTombstone<'a>,
    ) -> Option<RangeTombstone<'a>> {
        if self.compare(new.start, old.start).is_lt() {
            if self.compare(new.finish, old.start).is_le() {
                self.runs.insert(*at, new);
                return None;
            }
            self.runs.insert(*at, RangeTombstone { finish: old.start, ..new });
            *at += 1;
        }
        *at += 1;
        self.compare(new.finish, old.finish).is_gt().then_some(RangeTombstone { start: old.finish, ..new })
    }
}

impl<'a> RangeTombstone<'a> {
    fn of(range: &'a RangeDeletion) -> RangeTombstone<'a> {
        let start = if range.start.is_empty() { Place::First } else { Place::At(&range.start) };
        let finish = if range.finish.is_empty() { Place::Last } else { Place::At(&range.finish) };
        RangeTombstone { start, finish, timestamp: range.deletion.marked_for_delete_at }
    }
}

impl Place<'_> {
    fn rank(self) -> u8 {
        match self {
            Place::First => 0,
            Place::At(_) => 1,
            Place::Last => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marshal::BytesType;

    fn range(&(start, finish, timestamp): &(&'static str, &'static str, i64)) -> RangeDeletion {
        RangeDeletion {
            super_column: None,
            start: start.into(),
            finish: finish.into(),
            deletion: DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: 1 },
        }
    }

    fn reached(ranges: &[(&'static str, &'static str, i64)], names: &'static str) -> String {
        let ranges: Vec<RangeDeletion> = ranges.iter().map(range).collect();
        let names: Vec<Bytes> = (0..names.len()).map(|at| Bytes::from(&names[at..=at])).collect();
        let reached = RangeTombstones::new(ranges.iter(), DeletionTime::LIVE, &BytesType).reached(&names);
        reached.iter().map(|name| String::from_utf8_lossy(name)).collect()
    }

    #[test]
    fn a_run_reaches_to_where_a_later_one_begins() {
        let around_b = [("a", "c", 5), ("b", "b", 7)];
        assert_eq!(reached(&around_b, "ab"), "b");
        assert_eq!(reached(&around_b, "bb"), "", "a name is looked for once");
        assert_eq!(reached(&around_b, "bc"), "", "the run that is found for b ends there");
        assert_eq!(reached(&[("a", "b", 5), ("b", "c", 7)], "cab"), "b");
        assert_eq!(reached(&[("a", "z", 3), ("c", "d", 4)], "bce"), "c");
        assert_eq!(reached(&[("a", "z", 3), ("c", "d", 4)], "ade"), "");
        assert_eq!(reached(&[("", "", 3), ("c", "d", 4)], "ac"), "c");
    }

    #[test]
    fn a_run_ends_where_an_older_one_did_that_it_covers() {
        let late = [("a", "z", 3), ("g", "g", 4)];
        assert_eq!(reached(&late, "bg"), "g");
        assert_eq!(reached(&[&late[..], &[("b", "c", 1), ("d", "e", 2)]].concat(), "bg"), "");
        assert_eq!(reached(&[("a", "c", 3), ("e", "f", 3), ("c", "e", 3)], "bcdef"), "ce");
    }

    #[test]
    fn a_single_name_gives_way_to_what_is_later() {
        assert_eq!(reached(&[("c", "c", 4), ("b", "d", 5)], "bcd"), "cd");
        assert_eq!(reached(&[("c", "c", 4), ("c", "d", 5)], "cd"), "d");
        assert_eq!(reached(&[("b", "d", 3), ("c", "c", 4), ("c", "e", 2)], "bc"), "c");
    }

    #[test]
    fn what_is_deleted_of_a_super_column_is_a_run_around_all_of_its_names() {
        let inside = [range(&("b", "b", 7))];
        let names = [Bytes::from("a"), Bytes::from("b")];
        let whole = DeletionTime { marked_for_delete_at: 5, local_deletion_time: 1 };
        assert_eq!(RangeTombstones::new(inside.iter(), whole, &BytesType).reached(&names), ["b"]);
        assert!(
            RangeTombstones::new(inside.iter(), DeletionTime::LIVE, &BytesType).reached(&names).is_empty()
        );
        let later = DeletionTime { marked_for_delete_at: 8, ..whole };
        assert_eq!(RangeTombstones::new(inside.iter(), later, &BytesType).reached(&names), ["b"]);
    }
}
