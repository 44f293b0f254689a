//! Reads inside one row: which columns a predicate selects, which of them are returned, and where a slice ends.
//!
//! A slice ends when `count` columns have been counted. Not every column that is counted is returned, and not every
//! column that is returned is counted: `is_counted` and `is_super_counted` have the rules.

use std::cmp::Ordering;

use base::compat::rules::SuperCount;
use base::marshal::AbstractType;
use base::model::{
    Cell, CellKind, DeletionTime, Predicate, ReadCommand, RowColumns, SliceRange, SuperColumn,
};
use base::util::Release;
use bytes::Bytes;

use super::dropped_columns::is_dropped;
use super::range_list::names_in_earlier_pieces;
use super::reconcile::{at_second, is_tombstone};
use super::row::{Comparators, StoredRow};
use super::tombstones::{Approach, Shadow, hides, is_set};

/// Whether a read is of a single row or part of a scan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReadBy {
    Key,
    Scan,
}

/// Reads columns of a row.
pub fn read(row: &StoredRow, command: &ReadCommand, read_by: ReadBy) -> RowColumns {
    let comparators = Comparators::of(&command.cf, command.behaviour.release);
    if !command.cf.is_super() {
        let shadow = row.shadow(None, comparators).for_read();
        let cells = read_cells(&row.cells, &shadow, comparators.names, (command, read_by));
        return RowColumns::Cells(cells);
    }
    let Some(name) = &command.super_column else {
        return RowColumns::Supers(read_supers(row, command, comparators));
    };
    let is_same = |found: &SuperColumn| comparators.names.compare(&found.name, name) == Ordering::Equal;
    let Some(at) = row.supers.iter().position(is_same) else { return RowColumns::Cells(Vec::new()) };
    let shadow = row.shadow(Some(at), comparators).for_read();
    RowColumns::Cells(read_cells(&row.supers[at].cells, &shadow, comparators.subnames, (command, read_by)))
}

/// Returns how many columns are counted until the read ends.
fn limit(predicate: &Predicate) -> usize {
    match predicate {
        Predicate::Range(range) => range.count,
        Predicate::Names(_) => usize::MAX,
    }
}

/// Whether a predicate selects a name. All releases: both bounds of a slice are included; an empty bound is open.
fn selects(predicate: &Predicate, name: &[u8], names: &dyn AbstractType) -> bool {
    let SliceRange { start, finish, reversed, .. } = match predicate {
        Predicate::Names(wanted) => {
            return wanted.iter().any(|other| names.compare(other, name) == Ordering::Equal);
        }
        Predicate::Range(range) => range,
    };
    // All releases: a reversed slice starts at the larger name.
    let (smallest, largest) = if *reversed { (finish, start) } else { (start, finish) };
    let is_below = !smallest.is_empty() && names.compare(name, smallest) == Ordering::Less;
    let is_above = !largest.is_empty() && names.compare(name, largest) == Ordering::Greater;
    !is_below && !is_above
}

/// Sorts selected columns. All releases: a read by names returns columns in the comparator's order too.
fn sort<T>(selected: &mut [T], name: impl Fn(&T) -> &Bytes, predicate: &Predicate, names: &dyn AbstractType) {
    selected.sort_by(|one, other| names.compare(name(one), name(other)));
    if is_reversed(predicate) {
        selected.reverse();
    }
}

fn is_reversed(predicate: &Predicate) -> bool {
    matches!(predicate, Predicate::Range(SliceRange { reversed: true, .. }))
}

/// Reads cells of a Standard row or of one super column.
fn read_cells(
    cells: &[Cell],
    shadow: &Shadow<'_>,
    names: &dyn AbstractType,
    (command, read_by): (&ReadCommand, ReadBy),
) -> Vec<Cell> {
    let predicate = &command.predicate;
    let is_selected = |cell: &&Cell| selects(predicate, &cell.name, names) && !is_dropped(&command.cf, cell);
    let mut selected: Vec<Cell> = cells.iter().filter(is_selected).cloned().collect();
    sort(&mut selected, |cell| &cell.name, predicate, names);
    let reached = match predicate {
        Predicate::Names(requested) => names_in_earlier_pieces(&shadow.ranges(), requested, names),
        Predicate::Range(_) => Vec::new(),
    };
    let mut returned = Vec::new();
    let mut left = limit(predicate);
    for cell in selected {
        if left == 0 {
            break;
        }
        let cell = at_second(&cell, command.now_s, command.behaviour);
        let approach = approach(&cell.name, &reached, names, (command, read_by));
        left -= usize::from(is_counted(&cell, shadow, approach, command.behaviour.release));
        if is_returned(&cell, command) && !shadow.hides(&cell, approach) {
            returned.push(cell);
        }
    }
    returned
}

/// Returns the direction from which a read of cells comes to a name.
fn approach(
    name: &Bytes,
    reached: &[Bytes],
    names: &dyn AbstractType,
    (command, read_by): (&ReadCommand, ReadBy),
) -> Approach {
    let is_2_1 = command.behaviour.release >= Release::V2_1;
    let is_same = |other: &Bytes| names.compare(other, name) == Ordering::Equal;
    match &command.predicate {
        // 2.1 and later: a reversed slice searches for each name. 2.0: a reversed slice comes from above.
        Predicate::Range(range) if range.reversed && is_2_1 => Approach::Search,
        Predicate::Range(range) if range.reversed => Approach::FromAbove,
        // 2.1: a slice of a single row searches for the name that it starts with.
        Predicate::Range(range)
            if is_2_1 && read_by == ReadBy::Key && !range.start.is_empty() && is_same(&range.start) =>
        {
            Approach::Search
        }
        // 2.1: a read of a single row by names searches for each name that the piece of an earlier name does not reach.
        Predicate::Names(_) if is_2_1 && read_by == ReadBy::Key && !reached.iter().any(is_same) => {
            Approach::Search
        }
        // 2.0 and later: all other reads come from below. Earlier releases have no range tombstones.
        _ => Approach::FromBelow,
    }
}

/// Whether a cell is counted. All releases: a live cell that no tombstone hides is counted. Up to 1.2 a cell of the
/// smallest timestamp is counted too if there is no tombstone around it, although it is never returned.
fn is_counted(cell: &Cell, shadow: &Shadow<'_>, approach: Approach, release: Release) -> bool {
    if release >= Release::V2_0 && cell.timestamp == i64::MIN {
        return false;
    }
    let mut tombstones = shadow.around(cell, approach).into_iter().filter(|deletion| is_set(*deletion));
    !is_tombstone(cell) && !tombstones.any(|deletion| hides(deletion, cell.timestamp))
}

/// Whether a read returns a cell that nothing hides. All releases: live cells, and on request the tombstones that
/// gc_grace still keeps.
fn is_returned(cell: &Cell, command: &ReadCommand) -> bool {
    match cell.kind {
        CellKind::Deleted { local_deletion_time } => {
            command.with_tombstones && local_deletion_time > command.gc_before
        }
        _ => true,
    }
}

/// Reads whole super columns.
fn read_supers(row: &StoredRow, command: &ReadCommand, comparators: Comparators<'_>) -> Vec<SuperColumn> {
    let mut selected: Vec<SuperColumn> = (0..row.supers.len())
        .filter(|at| selects(&command.predicate, &row.supers[*at].name, comparators.names))
        .map(|at| without_hidden_by_ranges(row, at, command, comparators))
        .collect();
    sort(&mut selected, |found| &found.name, &command.predicate, comparators.names);
    let mut returned = Vec::new();
    let mut left = limit(&command.predicate);
    for found in selected {
        if left == 0 {
            break;
        }
        left -= usize::from(is_super_counted(&found, row.row_deletion(), command));
        returned.extend(returned_super(found, row.row_deletion(), command));
    }
    returned
}

/// Returns a super column at the read's second, without the cells that range tombstones hide. Its tombstone is merged
/// with the range tombstones that cover its name. All releases: its cells ascend, also in a reversed slice.
fn without_hidden_by_ranges(
    row: &StoredRow,
    at: usize,
    command: &ReadCommand,
    comparators: Comparators<'_>,
) -> SuperColumn {
    // 2.1 and later: a reversed slice searches for each name in a super column. All other reads come from below.
    let is_2_1 = command.behaviour.release >= Release::V2_1;
    let approach =
        if is_2_1 && is_reversed(&command.predicate) { Approach::Search } else { Approach::FromBelow };
    let shadow = row.shadow(Some(at), comparators).for_read();
    let found = &row.supers[at];
    let cells = found.cells.iter().map(|cell| at_second(cell, command.now_s, command.behaviour));
    let mut cells: Vec<Cell> =
        cells.filter(|cell| !hides(shadow.range_over(&cell.name, approach), cell.timestamp)).collect();
    cells.sort_by(|one, other| comparators.subnames.compare(&one.name, &other.name));
    SuperColumn { name: found.name.clone(), deletion: shadow.super_column(), cells }
}

/// Returns the largest timestamp of some cells; `i64::MIN` if there are none.
fn newest<'a>(cells: impl Iterator<Item = &'a Cell>) -> i64 {
    cells.map(|cell| cell.timestamp).max().unwrap_or(i64::MIN)
}

/// Whether a super column is counted.
fn is_super_counted(found: &SuperColumn, row: DeletionTime, command: &ReadCommand) -> bool {
    let newest_live = newest(found.cells.iter().filter(|cell| !is_tombstone(cell)));
    let is_candidate = match command.behaviour.cells.super_count {
        // 0.4 to 0.6: a super column without a tombstone is counted, even if no cell in it is live.
        SuperCount::WithoutTombstone => !is_set(found.deletion),
        // 0.3, and 0.7 and later: a super column with a live cell that is newer than its tombstone is counted.
        SuperCount::WithLiveCell => !hides(found.deletion, newest_live),
    };
    let newest = match command.behaviour.cells.super_counts_by_tombstones {
        // 0.4: in a deleted row, its newest cell must be newer than the row's tombstone, even if that cell is one too.
        true => newest(found.cells.iter()),
        // All other releases: its newest live cell must be newer.
        false => newest_live,
    };
    is_candidate && !(is_set(row) && hides(row, newest))
}

/// Returns what a read returns of a super column; `None` if it does not return the super column.
fn returned_super(found: SuperColumn, row: DeletionTime, command: &ReadCommand) -> Option<SuperColumn> {
    let SuperColumn { name, deletion, mut cells } = found;
    // 0.4: a read with tombstones does not return a super column in which the row's tombstone hides everything.
    if command.with_tombstones && is_set(row) && hides(row, newest(cells.iter())) {
        return None;
    }
    // 0.4: a read that keeps no tombstone, however new, does not return a super column that was deleted and filled again.
    if command.gc_before == i32::MAX && is_set(deletion) {
        return None;
    }
    cells.retain(|cell| {
        is_returned(cell, command) && !hides(deletion, cell.timestamp) && !hides(row, cell.timestamp)
    });
    // All releases: a super column without cells is returned on request, if gc_grace still keeps its tombstone.
    let is_kept = command.with_tombstones && deletion.local_deletion_time > command.gc_before;
    (!cells.is_empty() || is_kept).then_some(SuperColumn { name, deletion, cells })
}
