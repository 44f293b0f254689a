//! The changes that write a row of counters, once their shards are merged.
//!
//! ```text
//!   row deleted at 5       hits 7 @ 3, views 9 @ 8        -> views 9 @ 8
//!   deletion of a..c @ 5   a 7 @ 3, d 9 @ 4               -> deletion of a..c @ 5, d 9 @ 4
//! ```
//!
//! Up to 2.0 a counter that was deleted can be incremented again. The target has the rules of 2.1, where it cannot: so a
//! counter that a deletion shadows is left out here, and a deletion that covers a counter with a later increment is not
//! written. In 2.1 and 2.2 a deletion shadows counters whatever their timestamps; 3.x compares timestamps again.

use std::cmp::Ordering;
use std::ops::Range;

use bytes::Bytes;

use base::marshal::AbstractType;
use base::model::{Cell, CellKind, Change, DeletionTime};
use base::schema::CfDef;

/// A counter with its super column.
pub(super) type Counter = (Option<Bytes>, Cell);

/// Returns the changes that write a row with these other changes and these counters. No counter has a newer deletion of
/// its own. `deletions_are_final` if a deletion of several counters shadows them whatever their timestamps.
pub(super) fn changes_of(
    cf: &CfDef,
    mut changes: Vec<Change>,
    counters: Vec<Counter>,
    deletions_are_final: bool,
) -> Vec<Change> {
    let mut row = CounterRow { cf, counters };
    row.counters.sort_by(|one, other| row_order(cf, one, &other.0, &other.1.name));
    let mut is_shadowed = vec![false; row.counters.len()];
    for change in &changes {
        let (covered, deletion) = row.covered_by(change);
        let counters = row.counters.get(covered.clone()).unwrap_or_default();
        for ((_, cell), is_shadowed) in counters.iter().zip(is_shadowed.iter_mut().skip(covered.start)) {
            let is_final = deletions_are_final && deletion.is_deleted();
            *is_shadowed |= is_final || deletion.shadows(cell.timestamp);
        }
    }
    let mut is_shadowed = is_shadowed.into_iter();
    row.counters.retain(|_| !is_shadowed.next().unwrap_or_default());
    changes.retain(|change| row.covered_by(change).0.is_empty());
    changes.extend(row.counters.into_iter().map(|(super_column, cell)| Change::Cell { super_column, cell }));
    changes
}

/// The counters of a row, sorted.
struct CounterRow<'a> {
    cf: &'a CfDef,
    counters: Vec<Counter>,
}

impl CounterRow<'_> {
    /// Returns which counters a deletion covers, and up to when it shadows them. The deletion of a column shadows none:
    /// it has been merged already.
    fn covered_by(&self, change: &Change) -> (Range<usize>, DeletionTime) {
        match change {
            Change::DeleteRow { deletion } => (0..self.counters.len(), *deletion),
            Change::DeleteSuper { name, deletion } => {
                let order = |counter: &Counter| compare(&*self.cf.comparator, holder(counter), name);
                (self.span(order, order), *deletion)
            }
            Change::Cell { super_column, cell } if matches!(cell.kind, CellKind::Deleted { .. }) => {
                let order = |counter: &Counter| row_order(self.cf, counter, super_column, &cell.name);
                (self.span(order, order), DeletionTime::LIVE)
            }
            Change::DeleteRange(range) => {
                let bound = |bound: &Bytes, open: Ordering, counter: &Counter| match &range.super_column {
                    _ if bound.is_empty() && range.super_column.is_none() => open,
                    None => compare(&*self.cf.comparator, outer_name(counter), bound),
                    Some(of) => compare(&*self.cf.comparator, holder(counter), of).then_with(|| {
                        if bound.is_empty() { open } else { self.compare_inner(&counter.1.name, bound) }
                    }),
                };
                let covered = self.span(
                    |counter| bound(&range.start, Ordering::Greater, counter),
                    |counter| bound(&range.finish, Ordering::Less, counter),
                );
                (covered, range.deletion)
            }
            Change::Cell { .. } => (0..0, DeletionTime::LIVE),
        }
    }

    fn compare_inner(&self, one: &[u8], other: &[u8]) -> Ordering {
        let comparator = self.cf.subcomparator().unwrap_or(&self.cf.comparator);
        comparator.compare(one, other)
    }

    /// Returns the counters that are neither before the start of something nor after its end.
    fn span(
        &self,
        to_start: impl Fn(&Counter) -> Ordering,
        to_end: impl Fn(&Counter) -> Ordering,
    ) -> Range<usize> {
        let start = self.counters.partition_point(|counter| to_start(counter).is_lt());
        let end = self.counters.partition_point(|counter| to_end(counter).is_le());
        start..end.max(start)
    }
}

/// Returns the name of the super column; empty without one.
fn holder(counter: &Counter) -> &[u8] {
    counter.0.as_deref().unwrap_or_default()
}

/// Returns the name by which the row is sorted.
fn outer_name(counter: &Counter) -> &[u8] {
    counter.0.as_deref().unwrap_or(&counter.1.name)
}

fn compare(comparator: &dyn AbstractType, one: &[u8], other: &[u8]) -> Ordering {
    comparator.compare(one, other)
}

/// Returns the order of a counter and a name, which may be in a super column.
fn row_order(cf: &CfDef, counter: &Counter, super_column: &Option<Bytes>, name: &Bytes) -> Ordering {
    let (own_super, cell) = counter;
    match (own_super, super_column) {
        (Some(one), Some(other)) => cf.comparator.compare(one, other).then_with(|| {
            let comparator = cf.subcomparator().unwrap_or(&cf.comparator);
            comparator.compare(&cell.name, name)
        }),
        (None, None) => cf.comparator.compare(&cell.name, name),
        (one, other) => one.is_some().cmp(&other.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use base::marshal::BytesType;
    use base::model::RangeTombstone;
    use base::schema::ColumnType;

    fn counter(holder: Option<&'static str>, name: &'static str, timestamp: i64) -> Counter {
        let value = Bytes::copy_from_slice(&7_i64.to_be_bytes());
        let cell = Cell { name: name.into(), value, timestamp, kind: CellKind::Counter };
        (holder.map(Bytes::from), cell)
    }

    fn at(marked_for_delete_at: i64) -> DeletionTime {
        DeletionTime { marked_for_delete_at, local_deletion_time: 1 }
    }

    fn range(of: Option<&'static str>, start: &'static str, finish: &'static str, timestamp: i64) -> Change {
        Change::DeleteRange(RangeTombstone {
            super_column: of.map(Bytes::from),
            start: start.into(),
            finish: finish.into(),
            deletion: at(timestamp),
        })
    }

    /// The names of counters that are left, and the number of other changes.
    fn written(is_super: bool, changes: Vec<Change>, counters: Vec<Counter>) -> (String, usize) {
        written_if((is_super, false), changes, counters)
    }

    fn written_if(
        (is_super, is_final): (bool, bool),
        changes: Vec<Change>,
        counters: Vec<Counter>,
    ) -> (String, usize) {
        let mut cf = CfDef::new("Shop", "Hits");
        if is_super {
            cf.column_type = ColumnType::Super { subcomparator: Arc::new(BytesType) };
        }
        let (mut names, mut others) = (String::new(), 0);
        for change in changes_of(&cf, changes, counters, is_final) {
            match change {
                Change::Cell { cell, .. } if cell.kind == CellKind::Counter => {
                    names.push_str(std::str::from_utf8(&cell.name).unwrap());
                }
                _ => others += 1,
            }
        }
        (names, others)
    }

    #[test]
    fn deletions_leave_counters_with_later_increments() {
        let abc = || vec![counter(None, "c", 9), counter(None, "a", 3), counter(None, "b", 5)];
        let row = |timestamp| vec![Change::DeleteRow { deletion: at(timestamp) }];
        assert_eq!(written(false, vec![], abc()), ("abc".into(), 0));
        assert_eq!(written(false, row(5), abc()), ("c".into(), 0));
        assert_eq!(written(false, row(9), abc()), (String::new(), 1));
        assert_eq!(written(false, vec![range(None, "a", "b", 4)], abc()), ("bc".into(), 0));
        assert_eq!(written(false, vec![range(None, "a", "b", 5)], abc()), ("c".into(), 1));
        assert_eq!(written(false, vec![range(None, "b", "", 9)], abc()), ("a".into(), 1));
        assert_eq!(written(false, vec![range(None, "", "a", 2)], abc()), ("abc".into(), 0));
        assert_eq!(written_if((false, true), row(1), abc()), (String::new(), 1));
        assert_eq!(written_if((false, true), vec![range(None, "a", "b", 1)], abc()), ("c".into(), 1));
        let column = |name: &'static str| {
            vec![Change::Cell { super_column: None, cell: Cell::tombstone(name.into(), 2, 1) }]
        };
        assert_eq!(written(false, column("b"), abc()), ("abc".into(), 0));
        assert_eq!(written(false, column("d"), abc()), ("abc".into(), 1));
    }

    #[test]
    fn deletions_of_super_columns_cover_only_theirs() {
        let all = || vec![counter(Some("s"), "a", 3), counter(Some("s"), "b", 6), counter(Some("t"), "c", 3)];
        let super_column =
            |timestamp| vec![Change::DeleteSuper { name: "s".into(), deletion: at(timestamp) }];
        assert_eq!(written(true, super_column(5), all()), ("bc".into(), 0));
        assert_eq!(written(true, super_column(6), all()), ("c".into(), 1));
        assert_eq!(written(true, vec![range(Some("s"), "b", "", 9)], all()), ("ac".into(), 1));
        assert_eq!(written(true, vec![range(None, "t", "", 9)], all()), ("ab".into(), 1));
        assert_eq!(written(true, vec![range(Some("t"), "", "c", 2)], all()), ("abc".into(), 0));
    }
}
