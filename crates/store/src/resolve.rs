//! Resolves a mutation of one row: several changes to one column are reconciled to one change.
//!
//! Cassandra builds a row from the mutation first and then merges it with the stored row. So a change is reconciled
//! with earlier changes of its own mutation before it is reconciled with stored cells. This has one visible effect: up
//! to 1.0, a second row deletion in a mutation replaces the first one even if it is older.

use bytes::Bytes;

use super::collect::Shadows;
use base::compat::Behaviour;
use base::marshal;
use base::marshal::AbstractType;
use base::model::{
    Cell, CellKind, CellView, CfMutation, Change, Changes, DeletionTime, RangeTombstone, SuperColumn, Winner,
    reconcile,
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
            let mut unsorted = Vec::with_capacity(row.count);
            cells.take_all(|change| {
                if let Change::Cell { cell, .. } = change {
                    unsorted.push(cell);
                }
            });
            row.sorted = merge_cells(unsorted, comparator, behaviour);
        }
        row
    }

    /// Lends each cell to `take`.
    ///
    /// # Errors
    /// The first error of `take`.
    pub fn try_take<E>(self, mut take: impl FnMut(CellView<'_>) -> Result<(), E>) -> Result<(), E> {
        self.in_order.try_take_cells(&mut take)?;
        self.sorted.iter().try_for_each(|cell| take(cell.into()))
    }
}

impl ResolvedRow {
    /// Returns whether the mutation adds to a counter.
    pub fn counts(&self) -> bool {
        let is_increment = |cell: &Cell| cell.kind == CellKind::Increment;
        self.cells.has_increments
            || self.supers.iter().any(|super_column| super_column.cells.iter().any(is_increment))
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

/// Returns the total of a counter after an increment: the cell to store. `None` if a deletion shadows the increment. An
/// expired cell must be passed as the tombstone that it has become.
pub fn total_to_store(
    old: Option<&Cell>,
    increment: Cell,
    behaviour: &Behaviour,
    shadows: Shadows<'_>,
) -> Option<Cell> {
    let is_final = behaviour.cells.counter_deletions_are_final && shadows.cover_with_deletion(&increment);
    if is_final || shadows.hide(&increment) {
        return None;
    }
    let old = old.filter(|old| !old.is_live() || !shadows.hide(old));
    let total = increment.counted(old, behaviour);
    debug_assert!(
        total.as_ref().is_none_or(|total| total.kind != CellKind::Increment),
        "an increment would be stored in place of a total, and lost"
    );
    total
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
        } else if is_same && reconcile(old, &*new, behaviour) == Winner::New {
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
