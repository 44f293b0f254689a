//! Reads inside one row: which cells are picked, which of them are shown, and when the slice is full.
//!
//! A slice is walked in its order until `count` columns have taken a place. What takes a place is not always shown,
//! and what is shown does not always take a place; the rules for that are in `takes_place` and `super_takes_place`.

use std::cmp::Ordering;

use bytes::Bytes;
use thriftstore::marshal::AbstractType;
use thriftstore::model::{
    Cell, CellKind, DeletionTime, Predicate, ReadCommand, RowColumns, SliceRange, SuperColumn, SuperCount,
};
use thriftstore::util::Release;

use super::range_list::names_in_earlier_runs;
use super::reconcile::{at_second, is_tombstone};
use super::row::{Comparators, Row};
use super::tombstones::{Approach, Shadow, hides, is_set};

/// Whether a row is read alone, or by a scan of many rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReadBy {
    Key,
    Scan,
}

/// Returns what a read finds in a row.
pub fn read(row: &Row, command: &ReadCommand, read_by: ReadBy) -> RowColumns {
    assert!(command.cf.table.is_none(), "columns that were dropped from a CQL table are not modelled");
    let by = Comparators::of(&command.cf, command.behaviour.release);
    match (&command.super_column, command.cf.is_super()) {
        (Some(name), true) => {
            let is_same = |found: &SuperColumn| by.names.compare(&found.name, name) == Ordering::Equal;
            let Some(at) = row.supers.iter().position(is_same) else { return RowColumns::Cells(Vec::new()) };
            let shadow = row.shadow(Some(at), by).for_read();
            RowColumns::Cells(read_cells(&row.supers[at].cells, &shadow, by.subnames, (command, read_by)))
        }
        (None, true) => RowColumns::Supers(read_supers(row, command, by)),
        _ => {
            let shadow = row.shadow(None, by).for_read();
            RowColumns::Cells(read_cells(&row.cells, &shadow, by.names, (command, read_by)))
        }
    }
}

/// How many columns a predicate asks for.
fn places(predicate: &Predicate) -> usize {
    match predicate {
        Predicate::Range(range) => range.count,
        Predicate::Names(_) => usize::MAX,
    }
}

/// Whether a predicate picks a name. Both bounds of a slice are included, and an empty one is open.
fn picks(predicate: &Predicate, name: &[u8], names: &dyn AbstractType) -> bool {
    let SliceRange { start, finish, reversed, .. } = match predicate {
        Predicate::Names(wanted) => {
            return wanted.iter().any(|other| names.compare(other, name) == Ordering::Equal);
        }
        Predicate::Range(range) => range,
    };
    // A reversed slice starts at the larger name.
    let (smallest, largest) = if *reversed { (finish, start) } else { (start, finish) };
    let is_below = !smallest.is_empty() && names.compare(name, smallest) == Ordering::Less;
    let is_above = !largest.is_empty() && names.compare(name, largest) == Ordering::Greater;
    !is_below && !is_above
}

/// Sorts what a predicate has picked. Columns asked for by name come in the comparator's order too.
fn sort<T>(picked: &mut [T], name: impl Fn(&T) -> &Bytes, predicate: &Predicate, names: &dyn AbstractType) {
    picked.sort_by(|one, other| names.compare(name(one), name(other)));
    if is_reversed(predicate) {
        picked.reverse();
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
    let mut picked: Vec<Cell> =
        cells.iter().filter(|cell| picks(predicate, &cell.name, names)).cloned().collect();
    sort(&mut picked, |cell| &cell.name, predicate, names);
    let reached = match predicate {
        Predicate::Names(asked) => names_in_earlier_runs(&shadow.ranges(), asked, names),
        Predicate::Range(_) => Vec::new(),
    };
    let mut shown = Vec::new();
    let mut left = places(predicate);
    for cell in picked {
        if left == 0 {
            break;
        }
        let cell = at_second(&cell, command.now_s, command.behaviour);
        let approach = approach(&cell.name, &reached, names, (command, read_by));
        left -= usize::from(takes_place(&cell, shadow, approach));
        if is_shown(&cell, command) && !shadow.hides(&cell, approach) {
            shown.push(cell);
        }
    }
    shown
}

/// How a read of cells comes to one of them, which matters where range tombstones touch.
fn approach(
    name: &Bytes,
    reached: &[Bytes],
    names: &dyn AbstractType,
    (command, read_by): (&ReadCommand, ReadBy),
) -> Approach {
    let is_2_1 = command.behaviour.release == Release::V2_1;
    let is_same = |other: &Bytes| names.compare(other, name) == Ordering::Equal;
    match &command.predicate {
        // 2.0: a reversed slice comes from above. 2.1: a reversed slice searches for each name.
        Predicate::Range(range) if range.reversed && is_2_1 => Approach::Search,
        Predicate::Range(range) if range.reversed => Approach::FromAbove,
        // 2.1: a slice of a single row searches for the name that it starts with.
        Predicate::Range(range)
            if is_2_1 && read_by == ReadBy::Key && !range.start.is_empty() && is_same(&range.start) =>
        {
            Approach::Search
        }
        // 2.1: a read of a single row by names searches for each name that the run of an earlier name does not reach.
        Predicate::Names(_) if is_2_1 && read_by == ReadBy::Key && !reached.iter().any(is_same) => {
            Approach::Search
        }
        // 2.0 and later: all other reads come from below. Before, there are no range tombstones.
        _ => Approach::FromBelow,
    }
}

/// Whether a cell takes one of the places of the slice. All releases: a live cell that no tombstone hides. One of the
/// smallest timestamp takes a place though it is never shown, because "no tombstone" hides it only later.
fn takes_place(cell: &Cell, shadow: &Shadow<'_>, approach: Approach) -> bool {
    let mut tombstones = shadow.around(cell, approach).into_iter().filter(|deletion| is_set(*deletion));
    !is_tombstone(cell) && !tombstones.any(|deletion| hides(deletion, cell.timestamp))
}

/// Whether a read shows such a cell if nothing hides it: a live one, or a tombstone that is asked for and that gc_grace
/// still keeps.
fn is_shown(cell: &Cell, command: &ReadCommand) -> bool {
    match cell.kind {
        CellKind::Deleted { local_deletion_time } => {
            command.with_tombstones && local_deletion_time > command.gc_before
        }
        _ => true,
    }
}

/// Reads whole super columns.
fn read_supers(row: &Row, command: &ReadCommand, by: Comparators<'_>) -> Vec<SuperColumn> {
    let mut picked: Vec<SuperColumn> = (0..row.supers.len())
        .filter(|at| picks(&command.predicate, &row.supers[*at].name, by.names))
        .map(|at| without_hidden_by_ranges(row, at, command, by))
        .collect();
    sort(&mut picked, |found| &found.name, &command.predicate, by.names);
    let mut shown = Vec::new();
    let mut left = places(&command.predicate);
    for found in picked {
        if left == 0 {
            break;
        }
        left -= usize::from(super_takes_place(&found, row.row_deletion(), command));
        shown.extend(shown_super(found, row.row_deletion(), command));
    }
    shown
}

/// A super column at the read's second, without the cells that range tombstones hide. Range tombstones over the super
/// column itself become part of its own tombstone. Its cells are in order, also in a reversed slice.
fn without_hidden_by_ranges(row: &Row, at: usize, command: &ReadCommand, by: Comparators<'_>) -> SuperColumn {
    // 2.1: a reversed slice searches for each name in a super column. All other reads come from below.
    let is_2_1 = command.behaviour.release == Release::V2_1;
    let approach =
        if is_2_1 && is_reversed(&command.predicate) { Approach::Search } else { Approach::FromBelow };
    let shadow = row.shadow(Some(at), by).for_read();
    let found = &row.supers[at];
    let cells = found.cells.iter().map(|cell| at_second(cell, command.now_s, command.behaviour));
    let mut cells: Vec<Cell> =
        cells.filter(|cell| !hides(shadow.range_over(&cell.name, approach), cell.timestamp)).collect();
    cells.sort_by(|one, other| by.subnames.compare(&one.name, &other.name));
    SuperColumn { name: found.name.clone(), deletion: shadow.super_column(), cells }
}

/// The largest timestamp of some cells; the smallest of all if there are none.
fn newest<'a>(cells: impl Iterator<Item = &'a Cell>) -> i64 {
    cells.map(|cell| cell.timestamp).max().unwrap_or(i64::MIN)
}

/// Whether a super column takes one of the places of the slice.
fn super_takes_place(found: &SuperColumn, row: DeletionTime, command: &ReadCommand) -> bool {
    let newest_live = newest(found.cells.iter().filter(|cell| !is_tombstone(cell)));
    let is_counted = match command.behaviour.super_count {
        // 0.4 to 0.6: one that was never deleted, even if no cell in it is live.
        SuperCount::WithoutTombstone => !is_set(found.deletion),
        // 0.3, and 0.7 and later: one with a live cell that is newer than its tombstone.
        SuperCount::WithLiveCell => !hides(found.deletion, newest_live),
    };
    let newest = match command.behaviour.super_counts_by_tombstones {
        // 0.4: in a deleted row, the newest cell has to be newer than the row's deletion, be it a tombstone.
        true => newest(found.cells.iter()),
        // All others: the newest live cell has to be newer.
        false => newest_live,
    };
    is_counted && !(is_set(row) && hides(row, newest))
}

/// What a read shows of a super column. `None`: nothing.
fn shown_super(found: SuperColumn, row: DeletionTime, command: &ReadCommand) -> Option<SuperColumn> {
    let SuperColumn { name, deletion, mut cells } = found;
    // 0.4: a read with tombstones leaves out a super column that the row's deletion hides as a whole.
    if command.with_tombstones && is_set(row) && hides(row, newest(cells.iter())) {
        return None;
    }
    // 0.4: a read that keeps no tombstone at all does not see a super column that was deleted and filled again.
    if command.gc_before == i32::MAX && is_set(deletion) {
        return None;
    }
    cells.retain(|cell| {
        is_shown(cell, command) && !hides(deletion, cell.timestamp) && !hides(row, cell.timestamp)
    });
    // A super column without cells is shown as a tombstone that is asked for and that gc_grace still keeps.
    let is_kept = command.with_tombstones && deletion.local_deletion_time > command.gc_before;
    (!cells.is_empty() || is_kept).then_some(SuperColumn { name, deletion, cells })
}
