//! A row as its mutations have left it, and what one more mutation makes of it.
//!
//! Everything is in a `Vec` in the order in which it arrived. Nothing that is hidden is ever removed; a read finds out
//! what is hidden. Only increments are different: one that is hidden when it arrives is not stored.

use std::cmp::Ordering;

use bytes::Bytes;
use thriftstore::marshal::{self, AbstractType};
use thriftstore::model::{Behaviour, Cell, CellKind, Change, DeletionTime, RangeDeletion, SuperColumn};
use thriftstore::schema::CfDef;

use super::reconcile::{at_second, count, is_tombstone, joined, replaces};
use super::tombstones::{Approach, Shadow, merged};

#[derive(Debug, Default, Clone)]
pub struct Row {
    /// `None` if the row was never deleted.
    pub deletion: Option<DeletionTime>,
    pub ranges: Vec<RangeDeletion>,
    /// Of a Standard row.
    pub cells: Vec<Cell>,
    /// Of a Super row. Each has the name under which it was written first.
    pub supers: Vec<SuperColumn>,
}

/// The comparators of a column family in one release.
#[derive(Clone, Copy)]
pub struct Comparators<'a> {
    /// Of a Standard row's cells, or of super columns.
    pub names: &'a dyn AbstractType,
    /// Of the cells in super columns.
    pub subnames: &'a dyn AbstractType,
}

impl<'a> Comparators<'a> {
    pub fn of(cf: &'a CfDef, release: thriftstore::util::Release) -> Comparators<'a> {
        let names = marshal::at(&*cf.comparator, release);
        let subnames = cf.subcomparator().map_or(names, |sub| marshal::at(&**sub, release));
        Comparators { names, subnames }
    }
}

/// A cell of a mutation, and the super column that it is in: its place in the row's list.
type Placed = (Option<usize>, Cell);

impl Row {
    /// Whether nothing was ever stored in the row. Such a row is not in a scan.
    pub fn is_empty(&self) -> bool {
        self.deletion.is_none() && self.ranges.is_empty() && self.cells.is_empty() && self.supers.is_empty()
    }

    pub fn row_deletion(&self) -> DeletionTime {
        self.deletion.unwrap_or(DeletionTime::LIVE)
    }

    /// The tombstones around the cells of the row, or of the super column at this place.
    pub fn shadow<'a>(&self, super_column: Option<usize>, by: Comparators<'a>) -> Shadow<'a> {
        let Some(at) = super_column else {
            return Shadow::of_row(self.row_deletion(), &self.ranges, by.names);
        };
        let found = &self.supers[at];
        let held = (&found.name[..], found.deletion);
        Shadow::of_super(self.row_deletion(), &self.ranges, held, by.names, by.subnames)
    }

    /// Applies what one mutation says of the row: its deletions first, then its cells.
    pub fn apply(&mut self, cf: &CfDef, changes: &[Change], behaviour: &Behaviour, now_s: i32) {
        let by = Comparators::of(cf, behaviour.release);
        self.delete_row(changes, behaviour);
        self.delete_ranges(changes);
        let mut cells: Vec<Placed> = Vec::new();
        for change in changes {
            match change {
                Change::DeleteSuper { name, deletion } => {
                    let at = self.place_of_super(name, by.names);
                    self.supers[at].deletion = merged(self.supers[at].deletion, *deletion);
                }
                Change::Cell { super_column, cell } => {
                    let at = super_column.as_ref().map(|name| self.place_of_super(name, by.names));
                    add_to_mutation(&mut cells, (at, cell.clone()), by, behaviour);
                }
                Change::DeleteRow { .. } | Change::DeleteRange(_) => {}
            }
        }
        for placed in cells {
            self.write(placed, by, behaviour, now_s);
        }
        // A super column that has no cell and was never deleted is only a name: nothing was stored in it.
        self.supers.retain(|found| !found.cells.is_empty() || found.deletion != DeletionTime::LIVE);
    }

    fn delete_row(&mut self, changes: &[Change], behaviour: &Behaviour) {
        let mut of_mutation: Option<DeletionTime> = None;
        for change in changes {
            let Change::DeleteRow { deletion } = change else { continue };
            of_mutation = match of_mutation {
                // 1.1 and later: two deletions of the row in one mutation merge.
                Some(earlier) if behaviour.row_deletions_merge => Some(merged(earlier, *deletion)),
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
            let bounds = |range: &RangeDeletion| {
                (range.super_column.clone(), range.start.clone(), range.finish.clone())
            };
            match self.ranges.iter_mut().find(|old| bounds(old) == bounds(new)) {
                Some(old) => old.deletion = merged(old.deletion, new.deletion),
                None => self.ranges.push(new.clone()),
            }
        }
    }

    /// The place of a super column in the row's list, at the end of which it is put if it is new.
    fn place_of_super(&mut self, name: &Bytes, names: &dyn AbstractType) -> usize {
        let found = self.supers.iter().position(|old| names.compare(&old.name, name) == Ordering::Equal);
        found.unwrap_or_else(|| {
            let (name, deletion) = (name.clone(), DeletionTime::LIVE);
            self.supers.push(SuperColumn { name, deletion, cells: Vec::new() });
            self.supers.len() - 1
        })
    }

    /// Writes one cell, which meets the stored cell of its name. An expired cell is met as the tombstone that it is.
    fn write(&mut self, (at, new): Placed, by: Comparators<'_>, behaviour: &Behaviour, now_s: i32) {
        let names = if at.is_some() { by.subnames } else { by.names };
        let shadow = self.shadow(at, by);
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
        // The name is that of the write that won: names that compare equal may differ in their bytes.
        match (place, stored) {
            (_, None) => {}
            (Some(place), Some(cell)) => cells[place] = cell,
            (None, Some(cell)) => cells.push(cell),
        }
    }
}

/// What an increment makes of a counter. `None`: it is not stored.
fn counted(old: Option<Cell>, increment: &Cell, shadow: &Shadow<'_>, behaviour: &Behaviour) -> Option<Cell> {
    // An increment that no read would show is not stored. At a name where one range tombstone ends and the next begins
    // most reads come from below.
    let approach = Approach::FromBelow;
    if shadow.hides(increment, approach) {
        return None;
    }
    // 2.1: a counter stays deleted when anything around it was deleted, whatever the timestamps.
    if behaviour.counter_deletions_are_final && shadow.has_tombstone(increment, approach) {
        return None;
    }
    // 0.8 to 2.0: a counter that is hidden begins anew at zero.
    let old = old.filter(|old| is_tombstone(old) || !shadow.hides(old, approach));
    count(old.as_ref(), increment, behaviour)
}

/// Adds a cell to those of a mutation. All releases build the mutation's own row first, so that two writes of one
/// mutation to one cell meet each other before they meet what is stored.
fn add_to_mutation(cells: &mut Vec<Placed>, new: Placed, by: Comparators<'_>, behaviour: &Behaviour) {
    let (place, cell) = new;
    let names = if place.is_some() { by.subnames } else { by.names };
    let is_same = |(other_place, other): &Placed| {
        *other_place == place && names.compare(&other.name, &cell.name) == Ordering::Equal
    };
    match cells.iter().position(is_same) {
        Some(at) => cells[at].1 = joined(cells[at].1.clone(), cell, behaviour),
        None => cells.push((place, cell)),
    }
}
