//! Counting and shadowing: from the cells that are stored to those that a read returns.
//!
//! A slice ends when it has counted enough, and what counts is not quite what is returned: a super column
//! without a tombstone of its own counts up to 0.6 even when nothing in it is live, one that was deleted and
//! filled again does not, and a cell written at the smallest timestamp of all counts but never shows.

use super::StoreError;
use crate::model::{Cell, DeletionTime, ReadCommand, SuperColumn, SuperCount};

/// Room that is made for a slice before its columns are seen.
const FIRST_ROOM: usize = 16;

/// The tombstones around a run of cells.
#[derive(Debug, Clone, Copy)]
pub struct Shadows {
    /// Of what directly holds the cells: the row, or the super column.
    pub container: DeletionTime,
    /// Of the row, around a super column; else `LIVE`.
    pub outer: DeletionTime,
}

impl Shadows {
    pub fn of_row(row: DeletionTime) -> Shadows {
        Shadows { container: row, outer: DeletionTime::LIVE }
    }

    /// Whether the read returns this cell.
    fn admits(&self, cell: &Cell, command: &ReadCommand) -> bool {
        let newer = !self.container.shadows(cell.timestamp) && !self.outer.shadows(cell.timestamp);
        newer && (cell.is_live() || command.with_tombstones && !cell.is_purgeable(command.gc_before))
    }

    /// Whether the cell uses up a place of the slice's count.
    fn counts(&self, cell: &Cell) -> bool {
        let is_shadowed = |deletion: DeletionTime| deletion.is_deleted() && deletion.shadows(cell.timestamp);
        cell.is_live() && !is_shadowed(self.container) && !is_shadowed(self.outer)
    }
}

/// Walks cells in the order of the slice and keeps those that the read returns, up to `count`.
pub fn collect_cells(
    cells: impl Iterator<Item = Result<Cell, StoreError>>,
    shadows: Shadows,
    count: usize,
    command: &ReadCommand,
) -> Result<Vec<Cell>, StoreError> {
    let mut found = Vec::with_capacity(count.min(FIRST_ROOM));
    let mut counted = 0;
    if count == 0 {
        return Ok(found);
    }
    for cell in cells {
        let cell = cell?;
        counted += usize::from(shadows.counts(&cell));
        if shadows.admits(&cell, command) {
            found.push(cell);
        }
        if counted >= count {
            break;
        }
    }
    Ok(found)
}

/// Walks super columns in the order of the slice and keeps those that the read returns, up to `count`.
pub fn collect_supers(
    supers: impl Iterator<Item = Result<SuperColumn, StoreError>>,
    row: DeletionTime,
    count: usize,
    command: &ReadCommand,
) -> Result<Vec<SuperColumn>, StoreError> {
    let mut found = Vec::new();
    let mut counted = 0;
    if count == 0 {
        return Ok(found);
    }
    for super_column in supers {
        let super_column = super_column?;
        counted += usize::from(super_counts(&super_column, row, command.behaviour.super_count));
        found.extend(visible_super(super_column, row, command));
        if counted >= count {
            break;
        }
    }
    Ok(found)
}

/// Whether a super column uses up a place of the slice's count.
fn super_counts(super_column: &SuperColumn, row: DeletionTime, rule: SuperCount) -> bool {
    let is_candidate = match rule {
        SuperCount::WithoutTombstone => !super_column.deletion.is_deleted(),
        SuperCount::WithLiveCell => {
            let newest = super_column.newest_live_timestamp();
            newest > i64::MIN && !super_column.deletion.shadows(newest)
        }
    };
    is_candidate && (!row.is_deleted() || !row.shadows(super_column.newest_live_timestamp()))
}

/// The super column with what the read returns of it; `None` when it does not return it at all.
fn visible_super(
    mut super_column: SuperColumn,
    row: DeletionTime,
    command: &ReadCommand,
) -> Option<SuperColumn> {
    if command.with_tombstones && row.is_deleted() && row.shadows(super_column.newest_timestamp()) {
        return None;
    }
    let shadows = Shadows { container: super_column.deletion, outer: row };
    super_column.cells.retain(|cell| shadows.admits(cell, command));
    let is_kept_tombstone =
        command.with_tombstones && super_column.deletion.local_deletion_time > command.gc_before;
    (!super_column.cells.is_empty() || is_kept_tombstone).then_some(super_column)
}
