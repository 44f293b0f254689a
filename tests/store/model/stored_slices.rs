//! Stored slices and dumps read the same data: what no deletion hides in the slices of a row is what a dump returns of it.

use std::sync::Arc;

use base::model::{Change, DeletionTime, SliceRange};
use base::schema::CfDef;
use bytes::Bytes;
use store::{RowPiece, Store, StoredCell, StoredColumns, StoredSlice, StoredSliceCommand};

use super::support::wait;

/// A store, and the row of it to read.
pub struct StoredRow<'a> {
    pub store: &'a dyn Store,
    pub cf: &'a Arc<CfDef>,
    pub key: &'a Bytes,
}

impl StoredRow<'_> {
    /// Reads slices of `count` columns in one direction until the row ends.
    fn slices(&self, super_column: Option<&Bytes>, (count, reversed): (usize, bool)) -> Vec<StoredSlice> {
        let mut slices = Vec::new();
        let mut start = Bytes::new();
        loop {
            let command = StoredSliceCommand {
                cf: self.cf.clone(),
                key: self.key.clone(),
                super_column: super_column.cloned(),
                range: SliceRange { start, finish: Bytes::new(), reversed, count },
                cells_per_super: 1,
                max_bytes: usize::MAX,
                max_ranges: usize::MAX,
            };
            let slice = wait(self.store.stored_slice(command).unwrap()).unwrap();
            assert!(slice.columns.len() <= count, "{slice:?}");
            let next = slice.next.clone();
            slices.push(slice);
            match next {
                Some(next) => start = next,
                None => return slices,
            }
        }
    }

    /// Returns the changes that a dump returns, read in slices of `count` columns in one direction.
    pub fn read(&self, count: usize, reversed: bool) -> RowPiece {
        let slices = self.slices(None, (count, reversed));
        let mut changes = Vec::new();
        if slices[0].deletion != DeletionTime::LIVE {
            changes.push(Change::DeleteRow { deletion: slices[0].deletion });
        }
        changes.extend(slices[0].ranges.iter().cloned().map(Change::DeleteRange));
        let mut columns: Vec<Vec<Change>> = Vec::new();
        for slice in slices {
            match slice.columns {
                StoredColumns::Cells(cells) => columns.push(visible(cells, None, reversed)),
                StoredColumns::Supers(mut supers) => {
                    if reversed {
                        supers.reverse();
                    }
                    for column in &supers {
                        assert!(column.cells.len() <= 1, "{column:?}");
                    }
                    let all = supers
                        .into_iter()
                        .flat_map(|column| self.super_column(&column.name, count, reversed));
                    columns.push(all.collect());
                }
            }
        }
        if reversed {
            columns.reverse();
        }
        changes.extend(columns.into_iter().flatten());
        RowPiece { key: self.key.clone(), changes }
    }

    fn super_column(&self, name: &Bytes, count: usize, reversed: bool) -> Vec<Change> {
        let slices = self.slices(Some(name), (count, reversed));
        let deletion = slices[0].super_deletion;
        let mut columns: Vec<Vec<Change>> = Vec::new();
        for slice in slices {
            let StoredColumns::Cells(cells) = slice.columns else {
                panic!("super columns in a super column")
            };
            columns.push(visible(cells, Some(name), reversed));
        }
        if reversed {
            columns.reverse();
        }
        let deleted = deletion.is_deleted().then(|| Change::DeleteSuper { name: name.clone(), deletion });
        deleted.into_iter().chain(columns.into_iter().flatten()).collect()
    }
}

/// Returns the cells that no deletion hides, in ascending order.
fn visible(mut cells: Vec<StoredCell>, super_column: Option<&Bytes>, reversed: bool) -> Vec<Change> {
    if reversed {
        cells.reverse();
    }
    let shown = cells.into_iter().filter(|stored| !stored.is_shadowed);
    shown.map(|stored| Change::Cell { super_column: super_column.cloned(), cell: stored.cell }).collect()
}
