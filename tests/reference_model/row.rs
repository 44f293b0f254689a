//! A stored row, and what a mutation changes in it.
//!
//! Everything is in a `Vec` in the order in which it arrived. A cell that a tombstone hides stays in its list, and
//! reads leave it out. Only increments are different: an increment that is hidden when it arrives is not stored.

use std::cmp::Ordering;

use base::compat::Behaviour;
use base::marshal;
use base::marshal::AbstractType;
use base::model::{Cell, CellKind, Change, DeletionTime, RangeTombstone, SuperColumn};
use base::schema::CfDef;
use base::util::Release;
use bytes::Bytes;

use super::reconcile::{at_second, count, is_tombstone, merged_in_mutation, replaces};
use super::tombstones::{Approach, Shadow, merged};

#[derive(Debug, Default, Clone)]
pub struct StoredRow {
    /// `None` if the row was never deleted.
    pub deletion: Option<DeletionTime>,
    pub ranges: Vec<RangeTombstone>,
    /// The cells of a Standard row.
    pub cells: Vec<Cell>,
    /// The super columns of a Super row. A super column keeps the name under which it was written first.
    pub supers: Vec<SuperColumn>,
}

/// The comparators of a column family in one release.
#[derive(Clone, Copy)]
pub struct Comparators<'a> {
    /// Compares the names of a Standard row's cells, or of super columns.
    pub names: &'a dyn AbstractType,
    /// Compares the names of the cells in super columns.
    pub subnames: &'a dyn AbstractType,
}

impl<'a> Comparators<'a> {
    pub fn of(cf: &'a CfDef, release: Release) -> Comparators<'a> {
        let names = marshal::at(&*cf.comparator, release);
        let subnames = cf.subcomparator().map_or(names, |sub| marshal::at(&**sub, release));
        Comparators { names, subnames }
    }
}

/// A cell of a mutation with the place of its super column in the row's list.
type Placed = (Option<usize>, Cell);

impl StoredRow {
    /// Whether nothing was ever stored in the row. A scan does not return such a row.
    pub fn is_empty(&self) -> bool {
        self.deletion.is_none() && self.ranges.is_empty() && self.cells.is_empty() && self.supers.is_empty()
    }

    pub fn row_deletion(&self) -> DeletionTime {
        self.deletion.unwrap_or(DeletionTime::LIVE)
    }

    /// Returns the tombstones around the cells of the row, or around those of the super column at this place.
    pub fn shadow<'a>(&self, super_column: Option<usize>, comparators: Comparators<'a>) -> Shadow<'a> {
        let Some(at) = super_column else {
            return Shadow::of_row(self.row_deletion(), &self.ranges, comparators.names);
        };
        let found = &self.supers[at];
        let held = (&found.name[..], found.deletion);
        Shadow::of_super(self.row_deletion(), &self.ranges, held, comparators.names, comparators.subnames)
    }

    /// Applies the changes of one mutation: its deletions first, then its cells.
    pub fn apply(&mut self, cf: &CfDef, changes: &[Change], behaviour: &Behaviour, now_s: i32) {
        let comparators = Comparators::of(cf, behaviour.release);
        self.delete_row(changes, behaviour);
        self.delete_ranges(changes);
        let mut cells: Vec<Placed> = Vec::new();
        for change in changes {
            match change {
                Change::DeleteSuper { name, deletion } => {
                    let at = self.place_of_super(name, comparators.names);
                    self.supers[at].deletion = merged(self.supers[at].deletion, *deletion);
                }
                Change::Cell { super_column, cell } => {
                    let at = super_column.as_ref().map(|name| self.place_of_super(name, comparators.names));
                    add_to_mutation(&mut cells, (at, cell.clone()), comparators, behaviour);
                }
                Change::DeleteRow { .. } | Change::DeleteRange(_) => {}
            }
        }
        for placed in cells {
            self.write(placed, comparators, behaviour, now_s);
        }
        // A super column without a cell and without a tombstone is not stored: all of its increments were hidden.
        self.supers.retain(|found| !found.cells.is_empty() || found.deletion != DeletionTime::LIVE);
    }

    fn delete_row(&mut self, changes: &[Change], behaviour: &Behaviour) {
        let mut of_mutation: Option<DeletionTime> = None;
        for change in changes {
            let Change::DeleteRow { deletion } = change else { continue };
            of_mutation = match of_mutation {
                // 1.1 and later: two deletions of the row in one mutation merge.
                Some(earlier) if behaviour.cells.row_deletions_merge => Some(merged(earlier, *deletion)),
                // Up to 1.0: the second deletion replaces the first, even with a smaller timestamp.
                _ => Some(*deletion),
            };
        }
        // All releases: the deletion of a mutation merges with the stored one.
        if let Some(new) = of_mutation {
            self.deletion = Some(merged(self.row_deletion(), new));
        }
    }

    /// 2.0 and later: range tombstones with the same bounds merge; all others are stored side by side.
    fn delete_ranges(&mut self, changes: &[Change]) {
        for change in changes {
            let Change::DeleteRange(new) = change else { continue };
            let bounds = |range: &RangeTombstone| {
                (range.super_column.clone(), range.start.clone(), range.finish.clone())
            };
            match self.ranges.iter_mut().find(|old| bounds(old) == bounds(new)) {
                Some(old) => old.deletion = merged(old.deletion, new.deletion),
                None => self.ranges.push(new.clone()),
            }
        }
    }

    /// Returns the place of a super column in the row's list. A new super column is added at the end.
    fn place_of_super(&mut self, name: &Bytes, names: &dyn AbstractType) -> usize {
        let found = self.supers.iter().position(|old| names.compare(&old.name, name) == Ordering::Equal);
        found.unwrap_or_else(|| {
            let (name, deletion) = (name.clone(), DeletionTime::LIVE);
            self.supers.push(SuperColumn { name, deletion, cells: Vec::new() });
            self.supers.len() - 1
        })
    }

    /// Writes one cell. All releases: a stored cell that has expired is a tombstone for the new one.
    fn write(&mut self, (at, new): Placed, comparators: Comparators<'_>, behaviour: &Behaviour, now_s: i32) {
        let names = if at.is_some() { comparators.subnames } else { comparators.names };
        let shadow = self.shadow(at, comparators);
        let cells = match at {
            Some(at) => &mut self.supers[at].cells,
            None => &mut self.cells,
        };
        let place = cells.iter().position(|old| names.compare(&old.name, &new.name) == Ordering::Equal);
        let old = place.map(|place| at_second(&cells[place], now_s, behaviour));
        let stored = match &old {
            _ if new.kind == CellKind::Increment => counted(old, &new, &shadow, behaviour),
            Some(old) if !replaces(&new, old, behaviour) => None,
            _ => Some(new),
        };
        // All releases: names that compare equal may differ in bytes; the cell has the name of the write that wins.
        match (place, stored) {
            (_, None) => {}
            (Some(place), Some(cell)) => cells[place] = cell,
            (None, Some(cell)) => cells.push(cell),
        }
    }
}

/// Returns the counter after an increment; `None` if the increment is not stored.
fn counted(old: Option<Cell>, increment: &Cell, shadow: &Shadow<'_>, behaviour: &Behaviour) -> Option<Cell> {
    // The project's rule: a hidden increment is not stored. Where range tombstones touch, it comes from below, as most
    // reads do.
    let approach = Approach::FromBelow;
    if shadow.hides(increment, approach) {
        return None;
    }
    // 2.1: a counter stays deleted if its row, its super column or a range around it was deleted, whatever the
    // timestamps.
    if behaviour.cells.counter_deletions_are_final && shadow.has_tombstone(increment, approach) {
        return None;
    }
    // 0.8 to 2.0: a hidden counter starts again at zero.
    let old = old.filter(|old| is_tombstone(old) || !shadow.hides(old, approach));
    count(old.as_ref(), increment, behaviour)
}

/// Adds a cell to those of a mutation. All releases: two writes of one mutation to the same cell are merged before the
/// result is merged with the stored cell.
fn add_to_mutation(
    cells: &mut Vec<Placed>,
    new: Placed,
    comparators: Comparators<'_>,
    behaviour: &Behaviour,
) {
    let (place, cell) = new;
    let names = if place.is_some() { comparators.subnames } else { comparators.names };
    let is_same = |(other_place, other): &Placed| {
        *other_place == place && names.compare(&other.name, &cell.name) == Ordering::Equal
    };
    match cells.iter().position(is_same) {
        Some(at) => cells[at].1 = merged_in_mutation(cells[at].1.clone(), cell, behaviour),
        None => cells.push((place, cell)),
    }
}
