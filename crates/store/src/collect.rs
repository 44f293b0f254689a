//! Decides which of the stored columns a read returns, and which count towards the limit of a slice.
//!
//! A slice ends when enough columns have been counted, and the counted columns are not exactly the returned ones. Up to
//! 0.6 a super column without a tombstone of its own counts even if it has no live cells, and one that was deleted and
//! written again does not count. A cell with the smallest possible timestamp counts but is never returned.

use super::gather::{Gather, check};
use crate::Result;
use crate::limits::CELLS_PER_CHECK;
use base::compat::Behaviour;
use base::compat::rules::SuperCount;
use base::marshal;
use base::model::{
    Cell, DeletionTime, LevelRanges, RangeTombstone, RangeTombstoneRule, ReadCommand, SuperColumn,
};
use base::util::meter;
use base::util::metrics::ShardedCounter;

/// The tombstones and expired columns that reads have passed, of all stores of this process. Reads that pass many are
/// slow.
pub static TOMBSTONES_READ: ShardedCounter = ShardedCounter::new();

/// Counts tombstones, and adds them to [`TOMBSTONES_READ`] and to the request's meter at the end of a slice.
#[derive(Default)]
struct TombstoneCount(u64);

impl Drop for TombstoneCount {
    fn drop(&mut self) {
        if self.0 > 0 {
            TOMBSTONES_READ.add(self.0);
            meter::pass_tombstones(self.0);
        }
    }
}

/// The deletions that can shadow the cells of one level: the row, or a super column.
#[derive(Debug, Clone, Copy)]
pub struct Shadows<'a> {
    /// The deletion of the row, or of the super column that the cells are in.
    pub container: DeletionTime,
    /// The deletion of the row if the cells are in a super column, otherwise `LIVE`.
    pub outer: DeletionTime,
    /// The range tombstones. `None` if the row has none.
    pub ranges: Option<LevelRanges<'a>>,
}

impl<'a> Shadows<'a> {
    /// Returns the deletions of cells that are not in super columns.
    pub fn of_row(row: DeletionTime, ranges: Option<LevelRanges<'a>>) -> Shadows<'a> {
        Shadows { container: row, outer: DeletionTime::LIVE, ranges }
    }

    fn over(&self, cell: &Cell) -> DeletionTime {
        self.ranges.map_or(DeletionTime::LIVE, |ranges| ranges.over(&cell.name))
    }

    /// Returns whether a cell is shadowed.
    pub fn hide(&self, cell: &Cell) -> bool {
        self.container.shadows(cell.timestamp)
            || self.outer.shadows(cell.timestamp)
            || self.over(cell).shadows(cell.timestamp)
    }

    /// Returns whether a deletion of any timestamp covers a cell.
    pub fn cover_with_deletion(&self, cell: &Cell) -> bool {
        self.container.is_deleted() || self.outer.is_deleted() || self.over(cell).is_deleted()
    }

    /// Returns whether the read returns a cell.
    fn admits(&self, cell: &Cell, command: &ReadCommand) -> bool {
        let newer = !self.hide(cell);
        newer && (cell.is_live() || command.with_tombstones && !cell.is_purgeable(command.gc_before))
    }

    /// Returns whether a cell counts towards the limit of the slice.
    fn counts(&self, cell: &Cell, behaviour: &Behaviour) -> bool {
        let least_is_deleted = behaviour.cells.least_timestamp_is_deleted;
        let is_shadowed = |deletion: DeletionTime| {
            (deletion.is_deleted() || least_is_deleted) && deletion.shadows(cell.timestamp)
        };
        cell.is_live()
            && !is_shadowed(self.container)
            && !is_shadowed(self.outer)
            && !is_shadowed(self.over(cell))
    }
}

/// Iterates over cells in the order of the slice, and gathers those that the read returns, until `count` have been
/// counted.
pub fn collect_cells(
    cells: impl Iterator<Item = Result<Cell>>,
    shadows: Shadows<'_>,
    count: usize,
    command: &ReadCommand,
    gather: &mut impl Gather,
) -> Result<()> {
    let mut counted = 0;
    if count == 0 {
        return Ok(());
    }
    let table = command.cf.table.as_deref();
    let mut tombstones = TombstoneCount::default();
    for (at, cell) in cells.enumerate() {
        if at % CELLS_PER_CHECK == CELLS_PER_CHECK - 1 {
            check(gather)?;
        }
        let mut cell = cell?;
        cell.expire(command.now_s, command.behaviour);
        if table.is_some_and(|table| table.is_dropped(&cell.name, cell.timestamp)) {
            continue;
        }
        tombstones.0 += u64::from(!cell.is_live());
        counted += usize::from(shadows.counts(&cell, command.behaviour));
        if shadows.admits(&cell, command) {
            gather.cell(cell)?;
        }
        if counted >= count {
            break;
        }
    }
    Ok(())
}

/// The tombstones of a row of super columns.
#[derive(Debug, Clone, Copy)]
pub struct RowTombstones<'a> {
    /// The deletion of the whole row.
    pub row: DeletionTime,
    /// Its range tombstones.
    pub ranges: &'a [RangeTombstone],
}

/// Iterates over super columns in the order of the slice, and gathers those that the read returns, until `count` have
/// been counted.
pub fn collect_supers(
    supers: impl Iterator<Item = Result<SuperColumn>>,
    tombstones: RowTombstones<'_>,
    count: usize,
    command: &ReadCommand,
    gather: &mut impl Gather,
) -> Result<()> {
    let mut counted = 0;
    if count == 0 {
        return Ok(());
    }
    for super_column in supers {
        meter::check()?;
        let mut super_column = super_column?;
        if super_column.cells.is_empty() && super_column.deletion == DeletionTime::LIVE {
            // Its entry only stores the name. The super column does not exist for reads.
            continue;
        }
        for cell in &mut super_column.cells {
            cell.expire(command.now_s, command.behaviour);
        }
        shadow_cells(&mut super_column, tombstones.ranges, command);
        counted += usize::from(super_counts(&super_column, tombstones.row, command.behaviour));
        if let Some(visible) = visible_super(super_column, tombstones.row, command) {
            gather.super_column(visible)?;
        }
        if counted >= count {
            break;
        }
    }
    Ok(())
}

/// Removes cells that range tombstones shadow, and merges those that cover the whole super column into its deletion.
fn shadow_cells(super_column: &mut SuperColumn, ranges: &[RangeTombstone], command: &ReadCommand) {
    let Some(subcomparator) = command.cf.subcomparator().filter(|_| !ranges.is_empty()) else { return };
    let release = command.behaviour.release;
    let (holders, names) =
        (marshal::at(&*command.cf.comparator, release), marshal::at(&**subcomparator, release));
    let over = LevelRanges::of_supers(ranges, holders).over(&super_column.name);
    super_column.deletion = super_column.deletion.merged(over);
    let (holder, whole) = (&super_column.name[..], super_column.deletion);
    let inside = LevelRanges::of_super(ranges, holder, whole, holders, names)
        .with_rule(RangeTombstoneRule::of_supers(command));
    super_column.cells.retain(|cell| !inside.over(&cell.name).shadows(cell.timestamp));
}

/// Returns whether a super column counts towards the limit of the slice.
fn super_counts(super_column: &SuperColumn, row: DeletionTime, behaviour: &Behaviour) -> bool {
    let is_candidate = match behaviour.cells.super_count {
        SuperCount::WithoutTombstone => !super_column.deletion.is_deleted(),
        SuperCount::WithLiveCell => {
            let newest = super_column.newest_live_timestamp();
            newest > i64::MIN && !super_column.deletion.shadows(newest)
        }
    };
    let newest = match behaviour.cells.super_counts_by_tombstones {
        true => super_column.newest_timestamp(),
        false => super_column.newest_live_timestamp(),
    };
    is_candidate && (!row.is_deleted() || !row.shadows(newest))
}

/// Returns the super column with the cells that the read returns. `None` if the read does not return it.
fn visible_super(
    mut super_column: SuperColumn,
    row: DeletionTime,
    command: &ReadCommand,
) -> Option<SuperColumn> {
    if command.with_tombstones && row.is_deleted() && row.shadows(super_column.newest_timestamp()) {
        return None;
    }
    if command.gc_before == i32::MAX && super_column.deletion.is_deleted() {
        // A read for which all tombstones are old does not return a super column that was deleted, even if it was
        // written again.
        return None;
    }
    let shadows = Shadows { container: super_column.deletion, outer: row, ranges: None };
    super_column.cells.retain(|cell| shadows.admits(cell, command));
    let is_kept_tombstone =
        command.with_tombstones && super_column.deletion.local_deletion_time > command.gc_before;
    (!super_column.cells.is_empty() || is_kept_tombstone).then_some(super_column)
}
