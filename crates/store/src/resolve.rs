//! Resolves a mutation of one row: several changes to one column are reconciled to one change.
//!
//! Cassandra builds a row from the mutation first and then merges it with the stored row. So a change is reconciled
//! with earlier changes of its own mutation before it is reconciled with stored cells. This has one visible effect: up
//! to 1.0, a second row deletion in a mutation replaces the first one even if it is older.

use std::iter::{Chain, FilterMap};

use bytes::Bytes;

use super::collect::Shadows;
use base::compat::Behaviour;
use base::marshal;
use base::marshal::AbstractType;
use base::model::{
    Cell, CellKind, CfMutation, Change, Changes, DeletionTime, IntoChanges, RangeTombstone, SuperColumn,
    Winner, reconcile,
};

/// The row that a mutation describes, with names sorted by the comparators.
#[derive(Debug, Default)]
pub struct ResolvedRow {
    /// The deletion of the whole row.
    pub deletion: Option<DeletionTime>,
    /// Columns outside of super columns.
    pub cells: RowCells,
    /// Super columns with their columns.
    pub supers: Vec<SuperColumn>,
    /// Deletions of ranges of names.
    pub ranges: Vec<RangeTombstone>,
}

/// Different cells in the order of their names. Cells of a long mutation stay packed if they are in this order already.
#[derive(Debug, Default)]
pub struct RowCells {
    /// The cells as the mutation has them, or none.
    in_order: Changes,
    /// The cells of a mutation that had another order.
    sorted: Vec<Cell>,
    /// Number of cells in the mutation: at least as many as are here.
    pub count: usize,
    /// Bytes of their names and values.
    pub bytes: usize,
    /// Whether some are additions to counters.
    has_increments: bool,
}

impl RowCells {
    fn new(cells: Changes, comparator: &dyn AbstractType, behaviour: &Behaviour) -> RowCells {
        let mut row = RowCells::default();
        let mut is_in_order = true;
        let mut last: Option<&[u8]> = None;
        for cell in cells.cells() {
            row.count += 1;
            row.bytes += cell.name.len() + cell.value.len();
            row.has_increments |= cell.kind == CellKind::Increment;
            is_in_order = is_in_order && last.is_none_or(|last| comparator.compare(last, cell.name).is_lt());
            last = Some(cell.name);
        }
        if is_in_order {
            row.in_order = cells;
        } else {
            row.sorted = merge_cells(cells.into_iter().filter_map(cell_of).collect(), comparator, behaviour);
        }
        row
    }
}

impl IntoIterator for RowCells {
    type Item = Cell;
    type IntoIter = Chain<FilterMap<IntoChanges, fn(Change) -> Option<Cell>>, std::vec::IntoIter<Cell>>;

    fn into_iter(self) -> Self::IntoIter {
        let cell_of: fn(Change) -> Option<Cell> = cell_of;
        self.in_order.into_iter().filter_map(cell_of).chain(self.sorted)
    }
}

fn cell_of(change: Change) -> Option<Cell> {
    match change {
        Change::Cell { cell, .. } => Some(cell),
        Change::DeleteSuper { .. } | Change::DeleteRow { .. } | Change::DeleteRange(_) => None,
    }
}

impl ResolvedRow {
    /// Returns whether the mutation adds to a counter.
    pub fn counts(&self) -> bool {
        let mut of_supers = self.supers.iter().flat_map(|super_column| &super_column.cells);
        self.cells.has_increments || of_supers.any(|cell| cell.kind == CellKind::Increment)
    }
}

/// A change to a super column.
enum SuperChange {
    Cell(Cell),
    Delete(DeletionTime),
}

/// Resolves the changes to one column family of a row.
pub fn resolve(mutation: CfMutation, behaviour: &Behaviour) -> ResolvedRow {
    let comparator = marshal::at(&*mutation.cf.comparator, behaviour.release);
    let subcomparator = mutation.cf.subcomparator().map(|sub| marshal::at(&**sub, behaviour.release));
    let mut row = ResolvedRow::default();
    let mut super_changes = Vec::new();
    let mut cells = mutation.changes;
    cells.leave_cells(|change| match change {
        Change::DeleteRow { deletion } => {
            let earlier = row.deletion.filter(|_| behaviour.cells.row_deletions_merge);
            row.deletion = Some(earlier.map_or(deletion, |earlier| earlier.merged(deletion)));
        }
        Change::DeleteRange(range) => row.ranges.push(range),
        Change::Cell { super_column, cell } => {
            super_changes.extend(super_column.map(|name| (name, SuperChange::Cell(cell))));
        }
        Change::DeleteSuper { name, deletion } => super_changes.push((name, SuperChange::Delete(deletion))),
    });
    row.cells = RowCells::new(cells, comparator, behaviour);
    row.supers = gather_supers(super_changes, comparator);
    for super_column in &mut row.supers {
        let cells = std::mem::take(&mut super_column.cells);
        super_column.cells = merge_cells(cells, subcomparator.unwrap_or(comparator), behaviour);
    }
    row
}

/// Reconciles a new cell with the existing one of its name. Returns the cell to store, or `None` if the existing one
/// stays. An expired cell must be passed as the tombstone that it has become.
pub fn cell_to_store(
    old: Option<Cell>,
    new: Cell,
    behaviour: &Behaviour,
    shadows: Shadows<'_>,
) -> Option<Cell> {
    if new.kind == CellKind::Increment {
        let is_final = behaviour.cells.counter_deletions_are_final && shadows.cover_with_deletion(&new);
        if is_final || shadows.hide(&new) {
            return None;
        }
        let old = old.filter(|old| !old.is_live() || !shadows.hide(old));
        let total = new.counted(old.as_ref(), behaviour);
        debug_assert!(
            total.as_ref().is_none_or(|total| total.kind != CellKind::Increment),
            "an increment would be stored in place of a total, and lost"
        );
        return total;
    }
    match old {
        Some(old) if reconcile(&old, &new, behaviour) == Winner::Old => None,
        _ => Some(new),
    }
}

/// Sorts cells by name, and reconciles cells of the same name in the order of the mutation.
fn merge_cells(mut cells: Vec<Cell>, comparator: &dyn AbstractType, behaviour: &Behaviour) -> Vec<Cell> {
    if cells.is_sorted_by(|a, b| comparator.compare(&a.name, &b.name).is_lt()) {
        return cells;
    }
    cells.sort_by(|a, b| comparator.compare(&a.name, &b.name));
    cells.dedup_by(|new, old| {
        let is_same = comparator.compare(&old.name, &new.name).is_eq();
        if is_same && old.kind == CellKind::Increment && new.kind == CellKind::Increment {
            let sum = old.count().unwrap_or_default().wrapping_add(new.count().unwrap_or_default());
            *old = Cell::increment(old.name.clone(), sum, old.timestamp.max(new.timestamp));
        } else if is_same && reconcile(old, new, behaviour) == Winner::New {
            std::mem::swap(old, new);
        }
        is_same
    });
    debug_assert!(cells.is_sorted_by(|a, b| comparator.compare(&a.name, &b.name).is_lt()));
    cells
}

/// Groups changes by super column. Of several equal names the first one is kept.
fn gather_supers(mut changes: Vec<(Bytes, SuperChange)>, comparator: &dyn AbstractType) -> Vec<SuperColumn> {
    changes.sort_by(|(a, _), (b, _)| comparator.compare(a, b));
    let mut supers: Vec<SuperColumn> = Vec::new();
    for (name, change) in changes {
        let is_next = supers.last().is_none_or(|last| comparator.compare(&last.name, &name).is_ne());
        if is_next {
            supers.push(SuperColumn { name, deletion: DeletionTime::LIVE, cells: Vec::new() });
        }
        if let Some(last) = supers.last_mut() {
            match change {
                SuperChange::Cell(cell) => last.cells.push(cell),
                SuperChange::Delete(deletion) => last.deletion = last.deletion.merged(deletion),
            }
        }
    }
    debug_assert!(supers.is_sorted_by(|a, b| comparator.compare(&a.name, &b.name).is_lt()));
    supers
}
