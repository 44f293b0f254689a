//! Reversed slices, as 3.0 and later return them.
//!
//! These releases store defined columns apart from the others, and merge both when they are read
//! (`ThriftResultsMerger`). The merge always takes the smaller name first, so in a reversed slice defined columns come in
//! ascending order. The limit counts what comes out of the merge.
//!
//! They also return the columns in super columns in descending order. Of several super columns of counters the last one keeps
//! the ascending order (`CassandraServer.thriftifyCounterSuperColumns`).

use std::sync::Arc;

use base::marshal;
use base::model::{Cell, Predicate, ReadCommand, RowColumns};
use base::schema::CfDef;
use base::util::Release;

/// A reversed slice that the release does not return in the store's order.
pub(crate) struct ReversedSlice {
    cf: Arc<CfDef>,
    release: Release,
    count: usize,
}

impl ReversedSlice {
    /// Returns how to order the result of a read, and lets the read return all columns of its slice if they are merged. `None`
    /// if the release has the store's order.
    pub(crate) fn of(read: &mut ReadCommand) -> Option<ReversedSlice> {
        let rules = &read.behaviour.reads;
        let is_of_supers = rules.super_cells_descend && read.cf.is_super() && read.super_column.is_none();
        let is_mixed = rules.defined_columns_ascend
            && !read.cf.is_super()
            && read.cf.table.is_none()
            && !read.cf.column_metadata.is_empty();
        match &mut read.predicate {
            Predicate::Range(range) if range.reversed && (is_mixed || is_of_supers) => {
                let all = if is_mixed { usize::MAX } else { range.count };
                let count = std::mem::replace(&mut range.count, all);
                Some(ReversedSlice { cf: read.cf.clone(), release: read.behaviour.release, count })
            }
            _ => None,
        }
    }

    /// Returns the columns of a row in the order of the release.
    pub(crate) fn merged(&self, columns: RowColumns) -> RowColumns {
        let mut merged = self.ordered(columns);
        merged.truncate(self.count);
        merged
    }

    /// Returns the columns as index expressions return them: in the opposite order.
    pub(crate) fn merged_with_conditions(&self, columns: RowColumns) -> RowColumns {
        let mut merged = self.ordered(columns);
        merged.reverse();
        merged.truncate(self.count);
        merged
    }

    fn ordered(&self, columns: RowColumns) -> RowColumns {
        let cells = match columns {
            RowColumns::Cells(cells) => cells,
            RowColumns::Supers(mut supers) => {
                let kept = usize::from(self.cf.is_counter());
                let turned = supers.len().saturating_sub(kept);
                supers[..turned].iter_mut().for_each(|each| each.cells.reverse());
                return RowColumns::Supers(supers);
            }
        };
        let metadata = &self.cf.column_metadata;
        let (mut defined, others): (Vec<Cell>, Vec<Cell>) =
            cells.into_iter().partition(|cell| metadata.contains_key(&cell.name));
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
        RowColumns::Cells(merged)
    }
}
