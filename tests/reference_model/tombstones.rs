//! What tombstones hide: those of a row, of a super column, and of a range of names.
//!
//! A tombstone hides a cell whose timestamp is not larger than its own. That is all there is to it, but for names at
//! which a range tombstone begins or ends. Cassandra 2.0 and 2.1 cut range tombstones that overlap into runs, and a
//! name at which one run ends and the next begins is in both. The read decides which of them counts:
//!
//! ```text
//!   tombstones   a..b @3     b..c @7        cell b @5
//!                |-----------|
//!                            |-----------|
//!                a           b           c
//!
//!   Approach::FromBelow     the read comes from a and looks at a..b @3: the cell is visible
//!   Approach::FromAbove     the read comes from c and looks at b..c @7: the cell is hidden
//!   Approach::Search        the read looks for b and finds the later one, @7: the cell is hidden
//! ```

use std::cmp::Ordering;

use bytes::Bytes;
use thriftstore::marshal::AbstractType;
use thriftstore::model::{Cell, DeletionTime, RangeDeletion};

/// How a read comes to a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Approach {
    FromBelow,
    FromAbove,
    Search,
}

/// Whether there is a tombstone at all: "no tombstone" is the smallest timestamp.
pub fn is_set(deletion: DeletionTime) -> bool {
    deletion.marked_for_delete_at != i64::MIN
}

/// Whether a cell of this timestamp is hidden. A cell of the smallest timestamp is hidden even by "no tombstone": no
/// release ever shows it.
pub fn hides(deletion: DeletionTime, timestamp: i64) -> bool {
    deletion.marked_for_delete_at >= timestamp
}

/// Two tombstones as one. All releases take the larger timestamp and the larger second, each for itself.
pub fn merged(one: DeletionTime, other: DeletionTime) -> DeletionTime {
    DeletionTime {
        marked_for_delete_at: i64::max(one.marked_for_delete_at, other.marked_for_delete_at),
        local_deletion_time: i32::max(one.local_deletion_time, other.local_deletion_time),
    }
}

fn all_merged<'a>(ranges: impl IntoIterator<Item = &'a RangeDeletion>) -> DeletionTime {
    ranges.into_iter().fold(DeletionTime::LIVE, |all, range| merged(all, range.deletion))
}

fn is_same(bound: &[u8], name: &[u8], names: &dyn AbstractType) -> bool {
    !bound.is_empty() && names.compare(bound, name) == Ordering::Equal
}

/// Whether a name is in a range tombstone. Both bounds are included, and an empty one is open.
fn covers(range: &RangeDeletion, name: &[u8], names: &dyn AbstractType) -> bool {
    let begins = range.start.is_empty() || names.compare(&range.start, name) != Ordering::Greater;
    let ends = range.finish.is_empty() || names.compare(&range.finish, name) != Ordering::Less;
    begins && ends
}

/// The tombstones around the cells of a Standard row, or of one super column.
pub struct Shadow<'a> {
    /// The row's tombstone.
    row: DeletionTime,
    /// The super column's tombstone, together with the range tombstones over its name.
    super_column: DeletionTime,
    /// The range tombstones of the cells' names.
    ranges: Vec<RangeDeletion>,
    /// Whether the super column's tombstone counts as a run of all names where range tombstones touch.
    has_outer_run: bool,
    names: &'a dyn AbstractType,
}

impl<'a> Shadow<'a> {
    /// Around the cells of a Standard row. `names` compares them.
    pub fn of_row(row: DeletionTime, ranges: &[RangeDeletion], names: &'a dyn AbstractType) -> Shadow<'a> {
        let own = ranges.iter().filter(|range| range.super_column.is_none());
        let (super_column, ranges) = (DeletionTime::LIVE, own.cloned().collect());
        Shadow { row, super_column, ranges, has_outer_run: false, names }
    }

    /// Around the cells of a super column of this name and tombstone. `supers` compares the names of super columns,
    /// `names` those of the cells.
    pub fn of_super(
        row: DeletionTime,
        ranges: &[RangeDeletion],
        (name, deletion): (&[u8], DeletionTime),
        supers: &dyn AbstractType,
        names: &'a dyn AbstractType,
    ) -> Shadow<'a> {
        let of_supers = ranges.iter().filter(|range| range.super_column.is_none());
        let super_column =
            merged(deletion, all_merged(of_supers.filter(|range| covers(range, name, supers))));
        let is_inside = |range: &&RangeDeletion| {
            range.super_column.as_ref().is_some_and(|holder| supers.compare(holder, name) == Ordering::Equal)
        };
        let inside = ranges.iter().filter(is_inside).cloned().collect();
        Shadow { row, super_column, ranges: inside, has_outer_run: false, names }
    }

    /// The same for a read. 2.1 takes the tombstone of a super column for a run of all names in it.
    #[must_use]
    pub fn for_read(mut self) -> Shadow<'a> {
        self.has_outer_run = is_set(self.super_column);
        self
    }

    /// The super column's own tombstone, together with the range tombstones over its name.
    pub fn super_column(&self) -> DeletionTime {
        self.super_column
    }

    /// The range tombstones that 2.1 cuts into runs.
    pub fn ranges(&self) -> Vec<RangeDeletion> {
        let (start, finish, deletion) = (Bytes::new(), Bytes::new(), self.super_column);
        let outer = RangeDeletion { super_column: None, start, finish, deletion };
        self.ranges.iter().cloned().chain(self.has_outer_run.then_some(outer)).collect()
    }

    /// The range tombstones over a name, as one.
    pub fn range_over(&self, name: &[u8], approach: Approach) -> DeletionTime {
        let over: Vec<&RangeDeletion> =
            self.ranges.iter().filter(|range| covers(range, name, self.names)).collect();
        let goes_on = |range: &&RangeDeletion| match approach {
            Approach::FromBelow => !is_same(&range.start, name, self.names),
            Approach::FromAbove => !is_same(&range.finish, name, self.names),
            Approach::Search => true,
        };
        let going_on: Vec<&RangeDeletion> = over.iter().copied().filter(goes_on).collect();
        // A run that only begins (or ends) at the name is met only if no other one comes from that side.
        let is_alone = going_on.is_empty() && !self.has_outer_run;
        all_merged(if is_alone { over } else { going_on })
    }

    /// Whether any tombstone hides the cell.
    pub fn hides(&self, cell: &Cell, approach: Approach) -> bool {
        self.around(cell, approach).into_iter().any(|deletion| hides(deletion, cell.timestamp))
    }

    /// Whether there is any tombstone around the cell, even an older one.
    pub fn has_tombstone(&self, cell: &Cell, approach: Approach) -> bool {
        self.around(cell, approach).into_iter().any(is_set)
    }

    /// The tombstones around a cell.
    pub fn around(&self, cell: &Cell, approach: Approach) -> [DeletionTime; 3] {
        [self.row, self.super_column, self.range_over(&cell.name, approach)]
    }
}
