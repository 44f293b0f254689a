//! Reversed slices of column families with column definitions, as 3.0 and later return them.
//!
//! These releases store defined columns apart from the others, and merge both when they are read
//! (`ThriftResultsMerger`). The merge always takes the smaller name first, so in a reversed slice defined columns come in
//! ascending order. The limit counts what comes out of the merge.

use std::sync::Arc;

use base::marshal;
use base::model::{Cell, Predicate, ReadCommand, RowColumns};
use base::schema::CfDef;
use base::util::Release;

/// The merge of a reversed slice.
pub(crate) struct ReversedSlice {
    cf: Arc<CfDef>,
    release: Release,
    count: usize,
}

impl ReversedSlice {
    /// Returns the merge that the result of a read needs, and lets the read return all columns of its slice. `None` if the
    /// release has the store's order.
    pub(crate) fn of(read: &mut ReadCommand) -> Option<ReversedSlice> {
        let is_mixed = read.behaviour.reads.defined_columns_ascend
            && !read.cf.is_super()
            && read.cf.table.is_none()
            && !read.cf.column_metadata.is_empty();
        match &mut read.predicate {
            Predicate::Range(range) if range.reversed && is_mixed => {
                let count = std::mem::replace(&mut range.count, usize::MAX);
                Some(ReversedSlice { cf: read.cf.clone(), release: read.behaviour.release, count })
            }
            _ => None,
        }
    }

    /// Returns the columns of a row in the order of the release.
    pub(crate) fn merged(&self, columns: RowColumns) -> RowColumns {
        let RowColumns::Cells(cells) = columns else { return columns };
        let is_defined = |cell: &Cell| self.cf.column_metadata.contains_key(&cell.name);
        let (mut defined, others): (Vec<Cell>, Vec<Cell>) = cells.into_iter().partition(is_defined);
        defined.reverse();
        let names = marshal::at(&*self.cf.comparator, self.release);
        let mut merged = Vec::with_capacity(defined.len() + others.len());
        let mut defined = defined.into_iter().peekable();
        for other in others {
            while let Some(cell) = defined.next_if(|cell| names.compare(&cell.name, &other.name).is_lt()) {
                merged.push(cell);
            }
            merged.push(other);
        }
        merged.extend(defined);
        merged.truncate(self.count);
        RowColumns::Cells(merged)
    }
}
