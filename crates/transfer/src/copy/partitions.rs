//! Rows of a store as partitions of an SSTable: sorted, and with range tombstones that do not overlap.
//!
//! ```text
//!   stored    a to g @5          written   start before a @5
//!             c to e @9                    boundary before c: @5 ends, @9 begins
//!                                          boundary after e: @9 ends, @5 begins
//!                                          end after g @5
//! ```
//!
//! Where tombstones overlap, the newest is the one that is written.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bytes::Bytes;

use base::marshal::TypeRef;
use base::model::{Cell, Change, DeletionTime, RangeTombstone};
use base::schema::CfDef;
use cluster::ClusterTable;
use sstable::{Partition, RangeBound, Unfiltered};

/// On which side of the names that begin with a prefix a point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PointSide {
    Before,
    At,
    After,
}

/// A point in the order of a row: the place of a cell, or a bound before or behind all names with a prefix.
#[derive(Debug, Clone)]
struct Point {
    /// The super column and the column, or the column; none for the ends of the row.
    names: Vec<Bytes>,
    side: PointSide,
}

/// Converts the rows of a column family.
#[derive(Debug)]
pub(super) struct Partitioned {
    table: ClusterTable,
    /// The comparators of the names of a point.
    comparators: Vec<TypeRef>,
}

/// An event at a point.
enum BoundOrCell {
    Cell(Cell),
    Bound(RangeBound),
}

impl Partitioned {
    pub(super) fn new(cf: &CfDef, table: ClusterTable) -> Partitioned {
        let comparators = std::iter::once(&cf.comparator).chain(cf.subcomparator()).cloned().collect();
        Partitioned { table, comparators }
    }

    pub(super) fn table(&self) -> &ClusterTable {
        &self.table
    }

    fn compare(&self, one: &Point, other: &Point) -> Ordering {
        let beyond =
            |side: PointSide| if side == PointSide::Before { Ordering::Less } else { Ordering::Greater };
        for (at, comparator) in self.comparators.iter().enumerate() {
            match (one.names.get(at), other.names.get(at)) {
                (Some(of_one), Some(of_other)) => match comparator.compare(of_one, of_other) {
                    Ordering::Equal => {}
                    unequal => return unequal,
                },
                (None, Some(_)) => return beyond(one.side),
                (Some(_), None) => return beyond(other.side).reverse(),
                (None, None) => break,
            }
        }
        one.side.cmp(&other.side)
    }

    /// Returns the partition of a row. Changes of the row may be in any order.
    pub(super) fn partition(&self, key: Bytes, changes: Vec<Change>) -> Partition {
        let mut deletion = DeletionTime::LIVE;
        let mut ranges: Vec<(Point, Point, DeletionTime)> = Vec::new();
        let mut events: Vec<(Point, BoundOrCell)> = Vec::new();
        for change in changes {
            match change {
                Change::Cell { super_column, cell } => {
                    let names = super_column.into_iter().chain([cell.name.clone()]).collect();
                    events.push((Point { names, side: PointSide::At }, BoundOrCell::Cell(cell)));
                }
                Change::DeleteRow { deletion: of_row } => deletion = newest(deletion, of_row),
                Change::DeleteSuper { name, deletion } => {
                    let point = |side| Point { names: vec![name.clone()], side };
                    ranges.push((point(PointSide::Before), point(PointSide::After), deletion));
                }
                Change::DeleteRange(range) => ranges.push(bounds_of(range)),
            }
        }
        ranges.retain(|(start, finish, _)| self.compare(start, finish).is_lt());
        events.extend(
            self.without_overlaps(ranges).into_iter().map(|(at, bound)| (at, BoundOrCell::Bound(bound))),
        );
        events.sort_by(|(one, _), (other, _)| self.compare(one, other));
        // A name is there once. If not, the newest cell counts.
        events.dedup_by(|(at, later), (before, earlier)| match (&mut *earlier, &mut *later) {
            (BoundOrCell::Cell(kept), BoundOrCell::Cell(cell)) if self.compare(before, at).is_eq() => {
                if cell.timestamp > kept.timestamp {
                    std::mem::swap(kept, cell);
                }
                true
            }
            _ => false,
        });
        let items = events.into_iter().map(|(Point { names, side }, event)| {
            let clustering = self.table.clustering(&names);
            match event {
                BoundOrCell::Cell(cell) => Unfiltered::Row { clustering, cell },
                BoundOrCell::Bound(bound) => {
                    Unfiltered::Bound { clustering, is_after: side == PointSide::After, bound }
                }
            }
        });
        Partition { key, deletion, items: items.collect() }
    }

    /// Returns the bounds of tombstones that cover the same names with the newest of their deletions.
    fn without_overlaps(&self, ranges: Vec<(Point, Point, DeletionTime)>) -> Vec<(Point, RangeBound)> {
        let mut ends: Vec<(Point, DeletionTime, bool)> = Vec::with_capacity(2 * ranges.len());
        for (start, finish, deletion) in ranges {
            ends.push((start, deletion, true));
            ends.push((finish, deletion, false));
        }
        ends.sort_by(|(one, ..), (other, ..)| self.compare(one, other));
        let mut bounds: Vec<(Point, RangeBound)> = Vec::new();
        // The number of open tombstones with each deletion.
        let mut open: BTreeMap<(i64, i32), u64> = BTreeMap::new();
        let mut before: Option<DeletionTime> = None;
        let mut ends = ends.into_iter().peekable();
        while let Some((point, deletion, is_start)) = ends.next() {
            let place = (deletion.marked_for_delete_at, deletion.local_deletion_time);
            let count = open.entry(place).or_default();
            *count = if is_start { *count + 1 } else { count.saturating_sub(1) };
            if *count == 0 {
                open.remove(&place);
            }
            if ends.peek().is_some_and(|(next, ..)| self.compare(&point, next).is_eq()) {
                continue;
            }
            let now =
                open.last_key_value().map(|((marked_for_delete_at, local_deletion_time), _)| DeletionTime {
                    marked_for_delete_at: *marked_for_delete_at,
                    local_deletion_time: *local_deletion_time,
                });
            let bound = match (before, now) {
                (None, Some(deletion)) => RangeBound::Start { deletion },
                (Some(deletion), None) => RangeBound::End { deletion },
                (Some(ending), Some(starting)) if ending != starting => {
                    RangeBound::Boundary { ending, starting }
                }
                _ => continue,
            };
            before = now;
            bounds.push((point, bound));
        }
        bounds
    }
}

fn newest(one: DeletionTime, other: DeletionTime) -> DeletionTime {
    let times = [one, other].map(|deletion| (deletion.marked_for_delete_at, deletion.local_deletion_time));
    if times[0] >= times[1] { one } else { other }
}

fn bounds_of(range: RangeTombstone) -> (Point, Point, DeletionTime) {
    let RangeTombstone { super_column, start, finish, deletion } = range;
    let point = |name: Bytes, side| {
        let names = super_column.iter().cloned().chain((!name.is_empty()).then_some(name)).collect();
        Point { names, side }
    };
    (point(start, PointSide::Before), point(finish, PointSide::After), deletion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::Types;
    use base::schema::ColumnType;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn partitioned(is_super: bool) -> Partitioned {
        let mut cf = CfDef::new("Ks", "Cf");
        if is_super {
            cf.column_type =
                ColumnType::Super { subcomparator: Types::builtin().parse("BytesType").unwrap() };
        }
        let table = ClusterTable::of(&Arc::new(cf.clone())).unwrap();
        Partitioned::new(&cf, table)
    }

    fn deletion(at: i64) -> DeletionTime {
        DeletionTime { marked_for_delete_at: at, local_deletion_time: 1 }
    }

    fn range(super_column: Option<u8>, start: &[u8], finish: &[u8], at: i64) -> Change {
        Change::DeleteRange(RangeTombstone {
            super_column: super_column.map(|name| vec![name].into()),
            start: start.to_vec().into(),
            finish: finish.to_vec().into(),
            deletion: deletion(at),
        })
    }

    /// Returns the deletions that hold at each name, by walking over the items.
    fn deletions(partition: &Partition) -> BTreeMap<Vec<Bytes>, Option<i64>> {
        let mut open: Option<DeletionTime> = None;
        let mut found = BTreeMap::new();
        for item in &partition.items {
            match item {
                Unfiltered::Row { clustering, .. } => {
                    found.insert(clustering.clone(), open.map(|open| open.marked_for_delete_at));
                }
                Unfiltered::Bound { bound, .. } => match bound {
                    RangeBound::Start { deletion } => {
                        assert_eq!(open.replace(*deletion), None);
                    }
                    RangeBound::End { deletion } => assert_eq!(open.take(), Some(*deletion)),
                    RangeBound::Boundary { ending, starting } => {
                        assert_eq!(open.replace(*starting), Some(*ending));
                    }
                },
            }
        }
        assert_eq!(open, None);
        found
    }

    #[test]
    fn overlapping_tombstones_become_boundaries() {
        let changes = vec![range(None, b"a", b"g", 5), range(None, b"c", b"e", 9)];
        let items = partitioned(false).partition(Bytes::new(), changes).items;
        let shown: Vec<_> = items
            .iter()
            .map(|item| match item {
                Unfiltered::Bound { clustering, is_after, .. } => (clustering[0].clone(), *is_after),
                Unfiltered::Row { .. } => panic!("there are no cells"),
            })
            .collect();
        let expected = [("a", false), ("c", false), ("e", true), ("g", true)];
        assert_eq!(shown, expected.map(|(name, is_after)| (Bytes::from(name), is_after)));
    }

    type Ranges = Vec<(Option<u8>, Option<u8>, Option<u8>, i64)>;

    proptest! {
        /// Each name has the newest deletion of the tombstones that cover it.
        #[test]
        fn every_name_has_its_newest_deletion(
            ranges in prop::collection::vec(
                (prop::option::of(0u8..3), prop::option::of(0u8..6), prop::option::of(0u8..6), 1i64..5), 0..6
            ),
            supers in prop::collection::vec((0u8..3, 1i64..5), 0..3),
        ) {
            let ranges: Ranges = ranges;
            let mut changes: Vec<Change> = Vec::new();
            for (holder, start, finish, at) in &ranges {
                let name = |name: &Option<u8>| name.iter().copied().collect::<Vec<u8>>();
                changes.push(range(*holder, &name(start), &name(finish), *at));
            }
            for (name, at) in &supers {
                changes.push(Change::DeleteSuper { name: vec![*name].into(), deletion: deletion(*at) });
            }
            for holder in 0u8..3 {
                for name in 0u8..6 {
                    let cell = Cell::live(vec![name].into(), Bytes::new(), 1);
                    changes.push(Change::Cell { super_column: Some(vec![holder].into()), cell });
                }
            }
            let found = deletions(&partitioned(true).partition(Bytes::new(), changes));
            prop_assert_eq!(found.len(), 18);
            for (names, deletion) in found {
                let (holder, name) = (names[0][0], names[1][0]);
                let covers = |start: &Option<u8>, finish: &Option<u8>, name: u8| {
                    start.is_none_or(|start| start <= name) && finish.is_none_or(|finish| name <= finish)
                };
                let of_ranges = ranges.iter().filter(|(of, start, finish, _)| match of {
                    Some(of) => *of == holder && covers(start, finish, name),
                    None => covers(start, finish, holder),
                });
                let of_supers = supers.iter().filter(|(of, _)| *of == holder).map(|(_, at)| *at);
                let expected = of_ranges.map(|(.., at)| *at).chain(of_supers).max();
                prop_assert_eq!(deletion, expected);
            }
        }
    }
}
