//! A dump of a row: everything that is stored, tombstones too, except the cells that no read can return.

use base::marshal::AbstractType;
use base::model::{Cell, Change, DeletionTime, RangeTombstone};
use base::schema::CfDef;
use base::util::Release;

use super::dropped_columns::is_dropped;
use super::row::{Comparators, StoredRow};
use super::tombstones::{Approach, Shadow, is_set};

/// The release whose comparators a dump uses: only 2.0 and later have range tombstones.
const RELEASE: Release = Release::V2_1;

/// Returns the changes that make up a row, in the order of a dump: the row's tombstone, its range tombstones, then its
/// columns in the order of their `ordered` bytes. A super column's tombstone comes before its cells.
pub fn changes_of(row: &StoredRow, cf: &CfDef) -> Vec<Change> {
    let comparators = Comparators::of(cf, RELEASE);
    let mut changes = Vec::new();
    if row.row_deletion() != DeletionTime::LIVE {
        changes.push(Change::DeleteRow { deletion: row.row_deletion() });
    }
    let mut ranges: Vec<RangeTombstone> = row.ranges.clone();
    ranges.sort_by_key(|range| (range.super_column.clone(), range.start.clone(), range.finish.clone()));
    changes.extend(ranges.into_iter().map(Change::DeleteRange));
    let mut cells: Vec<Cell> = row.cells.iter().filter(|cell| !is_dropped(cf, cell)).cloned().collect();
    cells.sort_by_cached_key(|cell| ordered(&*cf.comparator, &cell.name));
    let visible = not_hidden(cells, row.shadow(None, comparators).for_read());
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
        let visible = not_hidden(cells, row.shadow(Some(at), comparators).for_read());
        changes.extend(visible.map(|cell| Change::Cell { super_column: Some(found.name.clone()), cell }));
    }
    changes
}

fn ordered(comparator: &dyn AbstractType, name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    comparator.ordered(name, &mut bytes);
    bytes
}

/// Returns the cells that some read can return. Where range tombstones touch, a read from below returns the most.
fn not_hidden<'a>(cells: Vec<Cell>, shadow: Shadow<'a>) -> impl Iterator<Item = Cell> + 'a {
    cells.into_iter().filter(move |cell| !shadow.hides(cell, Approach::FromBelow))
}
