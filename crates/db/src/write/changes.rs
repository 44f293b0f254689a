//! Converts validated arguments to changes of cells.

use bytes::Bytes;

use crate::args::{
    ColumnOrSuper, CounterColumn, CounterSuper, Deletion, MutationRequest, NewColumn, NewSuper,
    RequestedRange,
};
use base::model::{Cell, Change, DeletionTime, RangeTombstone};
use base::schema::CfDef;
use base::util::Clock;

/// Builds changes with the current time.
#[derive(Clone, Copy)]
pub(super) struct ChangeBuilder<'a> {
    pub clock: &'a Clock,
}

impl ChangeBuilder<'_> {
    /// Adds the changes of one element of a batch.
    pub(super) fn add_changes(&self, cf: &CfDef, request: MutationRequest, changes: &mut Vec<Change>) {
        if let Some(insert) = request.insert {
            self.add_insert(cf, insert, changes);
        }
        if let Some(deletion) = request.deletion {
            self.add_deletion(cf, *deletion, changes);
        }
    }

    /// Adds the changes of an insert. If both a column and a super column are given, 0.6 writes only the column.
    fn add_insert(&self, cf: &CfDef, insert: ColumnOrSuper, changes: &mut Vec<Change>) {
        let add = |super_column: Option<Bytes>, counter: CounterColumn| {
            let cell = Cell::increment(counter.name, counter.delta, self.clock.next_micros());
            Change::Cell { super_column, cell }
        };
        if let Some(column) = insert.column {
            changes.push(self.column(cf, None, column));
        } else if let Some(super_column) = insert.super_column {
            let NewSuper { name, columns } = *super_column;
            changes.extend(columns.into_iter().map(|column| self.column(cf, Some(name.clone()), column)));
        } else if let Some(counter) = insert.counter {
            changes.push(add(None, *counter));
        } else if let Some(counters) = insert.counter_super {
            let CounterSuper { name, columns } = *counters;
            changes.extend(columns.into_iter().map(|counter| add(Some(name.clone()), counter)));
        }
    }

    /// Returns the change that stores a validated column.
    pub(super) fn column(&self, cf: &CfDef, super_column: Option<Bytes>, column: NewColumn) -> Change {
        let NewColumn { name, value, timestamp, ttl_s } = column;
        let (value, timestamp) = (value.unwrap_or_default(), timestamp.unwrap_or_default());
        let cell = match ttl_s.or_else(|| cf.default_ttl_s()).filter(|ttl_s| *ttl_s > 0) {
            Some(ttl_s) => Cell::expiring(name, value, timestamp, ttl_s, self.clock.now_s()),
            None => Cell::live(name, value, timestamp),
        };
        Change::Cell { super_column, cell }
    }

    fn add_deletion(&self, cf: &CfDef, deletion: Deletion, changes: &mut Vec<Change>) {
        let Deletion { timestamp, super_column, predicate } = deletion;
        // Deletions of counters use the server's time, whatever the client sends.
        let timestamp = match timestamp {
            Some(timestamp) if !cf.is_counter() => timestamp,
            _ => self.clock.next_micros(),
        };
        let predicate = predicate.unwrap_or_default();
        if let Some(names) = predicate.column_names {
            let names = names.into_iter();
            changes.extend(names.map(|name| self.deletion(cf, super_column.clone(), Some(name), timestamp)));
        } else if let Some(range) = predicate.slice_range {
            let deletion = self.deletion_time(timestamp);
            // `reversed` is ignored: a range that goes backwards deletes nothing.
            let RequestedRange { start, finish, .. } = range;
            changes.push(Change::DeleteRange(RangeTombstone { super_column, start, finish, deletion }));
        } else {
            changes.push(self.deletion(cf, super_column, None, timestamp));
        }
    }

    fn deletion_time(&self, timestamp: i64) -> DeletionTime {
        DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: self.clock.now_s() }
    }

    /// Returns the deletion of a path. In a Super column family, a name without a super column is the name of a super
    /// column.
    pub(super) fn deletion(
        &self,
        cf: &CfDef,
        super_column: Option<Bytes>,
        column: Option<Bytes>,
        timestamp: i64,
    ) -> Change {
        let deletion = self.deletion_time(timestamp);
        match (super_column, column) {
            (None, Some(name)) if cf.is_super() => Change::DeleteSuper { name, deletion },
            (super_column, Some(column)) => Change::Cell {
                super_column,
                cell: Cell::tombstone(column, timestamp, deletion.local_deletion_time),
            },
            (Some(name), None) => Change::DeleteSuper { name, deletion },
            (None, None) => Change::DeleteRow { deletion },
        }
    }
}
