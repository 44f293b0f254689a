//! One row as a dump of a store has it: names once, in order, without what deletions shadow.

use bytes::Bytes;

use base::compat::features::releases::NEWEST;
use base::marshal;
use base::marshal::AbstractType;
use base::model::{Cell, CellKind, Change, DeletionTime, LevelRanges, RangeTombstone, Winner, reconcile};
use base::schema::CfDef;
use db::Restore;
use store::{is_dropped, sort_ranges};

/// The state of one row. Its changes come in the order of their names; changes of the same name one after the other.
pub(super) struct RowFold<'a> {
    cf: &'a CfDef,
    deletion: DeletionTime,
    ranges: Vec<RangeTombstone>,
    /// The present super column, with its own deletion.
    holder: Option<(Bytes, DeletionTime)>,
    /// Whether the deletion of the super column is not in `out` yet.
    holder_waits: bool,
    /// The cell that further ones of its name are reconciled with.
    cell: Option<Cell>,
    out: Vec<Change>,
}

impl<'a> RowFold<'a> {
    /// Begins with all deletions of the row and of ranges.
    pub(super) fn new(cf: &'a CfDef, deletion: DeletionTime, ranges: Vec<RangeTombstone>) -> RowFold<'a> {
        let ranges = merged_ranges(ranges);
        let mut out = Vec::new();
        if deletion.is_deleted() {
            out.push(Change::DeleteRow { deletion });
        }
        out.extend(ranges.iter().cloned().map(Change::DeleteRange));
        RowFold { cf, deletion, ranges, holder: None, holder_waits: false, cell: None, out }
    }

    /// Adds a cell, or the deletion of a super column. Deletions of the row and of ranges are known already.
    pub(super) fn add(&mut self, change: Change) {
        match change {
            Change::DeleteRow { .. } | Change::DeleteRange(_) => {}
            Change::DeleteSuper { name, deletion } => {
                self.enter(Some(&name));
                if let Some((_, own)) = &mut self.holder {
                    *own = own.merged(deletion);
                }
            }
            Change::Cell { super_column, cell } => {
                self.enter(super_column.as_ref());
                let names = self.names_of_cells();
                self.cell = match self.cell.take() {
                    Some(before) if names.compare(&before.name, &cell.name).is_eq() => {
                        Some(winner(before, cell))
                    }
                    before => {
                        self.cell = before;
                        self.push_cell();
                        Some(cell)
                    }
                };
            }
        }
    }

    /// Returns the decided changes.
    pub(super) fn take(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.out)
    }

    /// Returns the rest.
    pub(super) fn finish(mut self) -> Vec<Change> {
        self.enter(None);
        self.push_cell();
        self.out
    }

    fn names(&self) -> &'a dyn AbstractType {
        marshal::at(&*self.cf.comparator, NEWEST)
    }

    fn names_of_cells(&self) -> &'a dyn AbstractType {
        self.cf.subcomparator().map_or_else(|| self.names(), |names| marshal::at(&**names, NEWEST))
    }

    /// Moves to a super column, if that is not the present one.
    fn enter(&mut self, name: Option<&Bytes>) {
        let is_same = match (&self.holder, name) {
            (Some((holder, _)), Some(name)) => self.names().compare(holder, name).is_eq(),
            (None, None) => true,
            _ => false,
        };
        if is_same {
            return;
        }
        self.push_cell();
        self.push_holder();
        self.holder = name.map(|name| (name.clone(), DeletionTime::LIVE));
        self.holder_waits = true;
    }

    fn push_holder(&mut self) {
        if let Some((name, deletion)) = &self.holder
            && self.holder_waits
            && deletion.is_deleted()
        {
            self.out.push(Change::DeleteSuper { name: name.clone(), deletion: *deletion });
        }
        self.holder_waits = false;
    }

    fn push_cell(&mut self) {
        let Some(cell) = self.cell.take() else { return };
        self.push_holder();
        let (names, ranges) = (self.names(), &self.ranges);
        let (over, super_column) = match &self.holder {
            None => (LevelRanges::of_row(ranges, names).over(&cell.name), None),
            Some((holder, own)) => {
                let whole = own.merged(LevelRanges::of_supers(ranges, names).over(holder));
                let inside = LevelRanges::of_super(ranges, holder, whole, names, self.names_of_cells());
                (whole.merged(inside.over(&cell.name)), Some(holder.clone()))
            }
        };
        let is_dropped = self.holder.is_none() && is_dropped(self.cf, &cell);
        if !is_dropped && !over.merged(self.deletion).shadows(cell.timestamp) {
            self.out.push(Change::Cell { super_column, cell });
        }
    }
}

/// Returns the cell that stays. The total of a counter has all that was merged into it.
fn winner(before: Cell, cell: Cell) -> Cell {
    let stays = match (before.kind == CellKind::Counter, cell.kind == CellKind::Counter) {
        (true, false) => Winner::Old,
        (false, true) => Winner::New,
        _ => reconcile(&before, &cell, Restore::behaviour()),
    };
    if stays == Winner::Old { before } else { cell }
}

/// Sorts range tombstones, and merges tombstones of the same range.
fn merged_ranges(mut ranges: Vec<RangeTombstone>) -> Vec<RangeTombstone> {
    sort_ranges(&mut ranges);
    ranges.dedup_by(|next, before| {
        let is_same = before.has_same_range(next);
        if is_same {
            before.deletion = before.deletion.merged(next.deletion);
        }
        is_same
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::schema::Catalog;

    fn cell(name: &str, value: &str, timestamp: i64) -> Change {
        let cell = Cell::live(Bytes::from(name.to_owned()), Bytes::from(value.to_owned()), timestamp);
        Change::Cell { super_column: None, cell }
    }

    fn deletion(at: i64) -> DeletionTime {
        DeletionTime { marked_for_delete_at: at, local_deletion_time: 1 }
    }

    fn range(start: &str, finish: &str, at: i64) -> RangeTombstone {
        let (start, finish) = (Bytes::from(start.to_owned()), Bytes::from(finish.to_owned()));
        RangeTombstone { super_column: None, start, finish, deletion: deletion(at) }
    }

    #[test]
    fn the_newest_of_each_name_stays_unless_it_is_shadowed() {
        let catalog: Catalog = config::parse(
            "<Storage><Keyspaces><Keyspace Name='K'><ColumnFamily Name='A' CompareWith='BytesType'/></Keyspace>\
             </Keyspaces></Storage>",
            "test",
            &base::marshal::Types::builtin(),
        )
        .unwrap()
        .catalog;
        let cf = catalog.column_family("K", "A").unwrap();
        let ranges = vec![range("c", "d", 7), range("c", "d", 5)];
        let mut fold = RowFold::new(cf, deletion(2), ranges);
        let changes =
            [cell("a", "1", 3), cell("a", "2", 4), cell("b", "1", 2), cell("c", "1", 7), cell("d", "1", 8)];
        changes.into_iter().for_each(|change| fold.add(change));
        let expected = [
            Change::DeleteRow { deletion: deletion(2) },
            Change::DeleteRange(range("c", "d", 7)),
            cell("a", "2", 4),
            cell("d", "1", 8),
        ];
        assert_eq!(fold.finish(), expected);
    }
}
