//! Which cells are hidden by the tombstones of rows, of super columns and of ranges of names.
//!
//! A tombstone hides a cell whose timestamp is not larger than its own. Only the bounds of range tombstones need more
//! rules. Cassandra 2.0 and 2.1 cut range tombstones that overlap into pieces. A name at which one piece ends and the
//! next begins is in both pieces, and the kind of the read decides which piece counts:
//!
//! ```text
//!   tombstones   a..b @3     b..c @7        cell b @5
//!                |-----------|
//!                            |-----------|
//!                a           b           c
//!
//!   Approach::FromBelow     The read comes from a and uses a..b @3: the cell is visible.
//!   Approach::FromAbove     The read comes from c and uses b..c @7: the cell is hidden.
//!   Approach::Search        The read searches for b and finds the later piece, b..c @7: the cell is hidden.
//! ```

use std::cmp::Ordering;

use base::marshal::AbstractType;
use base::model::{Cell, DeletionTime, RangeTombstone};
use bytes::Bytes;

/// The direction from which a read comes to a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Approach {
    FromBelow,
    FromAbove,
    Search,
}

/// Whether there is a tombstone. All releases: the smallest timestamp means "no tombstone".
pub fn is_set(deletion: DeletionTime) -> bool {
    deletion.marked_for_delete_at != i64::MIN
}

/// Whether a tombstone hides a cell of this timestamp. All releases: equal timestamps hide. So even "no tombstone" hides
/// a cell of the smallest timestamp, and no read ever shows such a cell.
pub fn hides(deletion: DeletionTime, timestamp: i64) -> bool {
    deletion.marked_for_delete_at >= timestamp
}

/// Merges two tombstones. All releases: the larger timestamp and the larger second are taken, each for itself.
pub fn merged(one: DeletionTime, other: DeletionTime) -> DeletionTime {
    DeletionTime {
        marked_for_delete_at: i64::max(one.marked_for_delete_at, other.marked_for_delete_at),
        local_deletion_time: i32::max(one.local_deletion_time, other.local_deletion_time),
    }
}

fn all_merged<'a>(ranges: impl IntoIterator<Item = &'a RangeTombstone>) -> DeletionTime {
    ranges.into_iter().fold(DeletionTime::LIVE, |all, range| merged(all, range.deletion))
}

fn is_same(bound: &[u8], name: &[u8], names: &dyn AbstractType) -> bool {
    !bound.is_empty() && names.compare(bound, name) == Ordering::Equal
}

/// Whether a range tombstone covers a name. Both bounds are included; an empty bound is open.
fn covers(range: &RangeTombstone, name: &[u8], names: &dyn AbstractType) -> bool {
    let begins = range.start.is_empty() || names.compare(&range.start, name) != Ordering::Greater;
    let ends = range.finish.is_empty() || names.compare(&range.finish, name) != Ordering::Less;
    begins && ends
}

/// The tombstones around the cells of a Standard row, or of one super column.
pub struct Shadow<'a> {
    /// The row's tombstone.
    row: DeletionTime,
    /// The super column's tombstone, merged with the range tombstones that cover its name.
    super_column: DeletionTime,
    /// The range tombstones of the cells' names.
    ranges: Vec<RangeTombstone>,
    /// Whether the super column's tombstone is also a range tombstone over all names of its cells.
    has_outer_range: bool,
    names: &'a dyn AbstractType,
}

impl<'a> Shadow<'a> {
    /// Returns the tombstones around the cells of a Standard row. `names` compares the names of cells.
    pub fn of_row(row: DeletionTime, ranges: &[RangeTombstone], names: &'a dyn AbstractType) -> Shadow<'a> {
        let own = ranges.iter().filter(|range| range.super_column.is_none());
        let (super_column, ranges) = (DeletionTime::LIVE, own.cloned().collect());
        Shadow { row, super_column, ranges, has_outer_range: false, names }
    }

    /// Returns the tombstones around the cells of a super column with this name and tombstone. `supers` compares the names
    /// of super columns, `names` the names of cells.
    pub fn of_super(
        row: DeletionTime,
        ranges: &[RangeTombstone],
        (name, deletion): (&[u8], DeletionTime),
        supers: &dyn AbstractType,
        names: &'a dyn AbstractType,
    ) -> Shadow<'a> {
        let of_supers = ranges.iter().filter(|range| range.super_column.is_none());
        let super_column =
            merged(deletion, all_merged(of_supers.filter(|range| covers(range, name, supers))));
        let is_inside = |range: &&RangeTombstone| {
            range.super_column.as_ref().is_some_and(|holder| supers.compare(holder, name) == Ordering::Equal)
        };
        let inside = ranges.iter().filter(is_inside).cloned().collect();
        Shadow { row, super_column, ranges: inside, has_outer_range: false, names }
    }

    /// Returns the same tombstones for a read. 2.0 and later: the tombstone of a super column is also a range tombstone over
    /// all names of its cells. Writes of increments search for their counter by its name, so it does not matter to them.
    #[must_use]
    pub fn for_read(mut self) -> Shadow<'a> {
        self.has_outer_range = is_set(self.super_column);
        self
    }

    /// Returns the super column's tombstone, merged with the range tombstones that cover its name.
    pub fn super_column(&self) -> DeletionTime {
        self.super_column
    }

    /// Returns the range tombstones from which 2.1 makes its list.
    pub fn ranges(&self) -> Vec<RangeTombstone> {
        let (start, finish, deletion) = (Bytes::new(), Bytes::new(), self.super_column);
        let outer = RangeTombstone { super_column: None, start, finish, deletion };
        self.ranges.iter().cloned().chain(self.has_outer_range.then_some(outer)).collect()
    }

    /// Returns the range tombstones that count at a name, merged.
    pub fn range_over(&self, name: &[u8], approach: Approach) -> DeletionTime {
        let over: Vec<&RangeTombstone> =
            self.ranges.iter().filter(|range| covers(range, name, self.names)).collect();
        let goes_on = |range: &&RangeTombstone| match approach {
            Approach::FromBelow => !is_same(&range.start, name, self.names),
            Approach::FromAbove => !is_same(&range.finish, name, self.names),
            Approach::Search => true,
        };
        let going_on: Vec<&RangeTombstone> = over.iter().copied().filter(goes_on).collect();
        // 2.0 and later: a range tombstone that begins at the name counts for a read from below only if no other one
        // covers the names just below. The same holds from above.
        let is_alone = going_on.is_empty() && !self.has_outer_range;
        all_merged(if is_alone { over } else { going_on })
    }

    /// Whether any tombstone hides the cell.
    pub fn hides(&self, cell: &Cell, approach: Approach) -> bool {
        self.around(cell, approach).into_iter().any(|deletion| hides(deletion, cell.timestamp))
    }

    /// Whether there is any tombstone around the cell, even one that does not hide it.
    pub fn has_tombstone(&self, cell: &Cell, approach: Approach) -> bool {
        self.around(cell, approach).into_iter().any(is_set)
    }

    /// Returns the tombstones around a cell: of the row, of the super column, and of ranges.
    pub fn around(&self, cell: &Cell, approach: Approach) -> [DeletionTime; 3] {
        [self.row, self.super_column, self.range_over(&cell.name, approach)]
    }
}
