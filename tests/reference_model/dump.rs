//! All that is stored in a row, tombstones too, but for the cells that no read will ever show.

use thriftstore::model::{Cell, Change, DeletionTime, RangeDeletion};
use thriftstore::schema::CfDef;
use thriftstore::util::Release;

use super::row::{Comparators, Row};
use super::tombstones::{Approach, Shadow, is_set};

/// Only 2.0 and later have range tombstones, so names are compared as in these releases.
const RELEASE: Release = Release::V2_1;

/// Returns a row in the order of a dump: its deletion, its range tombstones, then its columns in the order in which a
/// store keeps them, which is that of their `ordered` bytes. A super column's deletion comes before its cells.
pub fn changes_of(row: &Row, cf: &CfDef) -> Vec<Change> {
    let by = Comparators::of(cf, RELEASE);
    let mut changes = Vec::new();
    if row.row_deletion() != DeletionTime::LIVE {
        changes.push(Change::DeleteRow { deletion: row.row_deletion() });
    }
    let mut ranges: Vec<RangeDeletion> = row.ranges.clone();
    ranges.sort_by_key(|range| (range.super_column.clone(), range.start.clone(), range.finish.clone()));
    changes.extend(ranges.into_iter().map(Change::DeleteRange));
    let mut cells = row.cells.clone();
    cells.sort_by_cached_key(|cell| ordered(&*cf.comparator, &cell.name));
    let visible = not_hidden(cells, row.shadow(None, by).for_read());
    changes.extend(visible.map(|cell| Change::Cell { super_column: None, cell }));
    let mut supers: Vec<usize> = (0..row.supers.len()).collect();
    supers.sort_by_cached_key(|at| ordered(&*cf.comparator, &row.supers[*at].name));
    for at in supers {
        let found = &row.supers[at];
        if is_set(found.deletion) {
            changes.push(Change::DeleteSuper { name: found.name.clone(), deletion: found.deletion });
        }
        let mut cells = found.cells.clone();
        let subcomparator = cf.subcomparator().unwrap_or(&cf.comparator);
        cells.sort_by_cached_key(|cell| ordered(&**subcomparator, &cell.name));
        let visible = not_hidden(cells, row.shadow(Some(at), by).for_read());
        changes.extend(visible.map(|cell| Change::Cell { super_column: Some(found.name.clone()), cell }));
    }
    changes
}

fn ordered(comparator: &dyn thriftstore::marshal::AbstractType, name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    comparator.ordered(name, &mut bytes);
    bytes
}

/// The cells that some read may show: a read from below hides least where range tombstones touch.
fn not_hidden<'a>(cells: Vec<Cell>, shadow: Shadow<'a>) -> impl Iterator<Item = Cell> + 'a {
    cells.into_iter().filter(move |cell| !shadow.hides(cell, Approach::FromBelow))
}
