//! Writes rows to a server with `batch_mutate`, which 0.6 and later have.
//!
//! Cells and deletions have the timestamps of the source, so writing them twice changes nothing. A time to live is the
//! time that is left. Increments of counters must not be written twice.

use bytes::Bytes;

use super::error::ThriftCallError;
use super::pages::{CONSISTENCY, ThriftPages};
use super::value::{Fields, ThriftValue};
use base::model::{Cell, CellKind, Change, DeletionTime, Mutation, RangeTombstone};
use base::schema::CfDef;

/// The changes of one row: a Mutation each, by column family.
struct BatchedRow {
    key: Bytes,
    families: Vec<(String, Vec<ThriftValue>)>,
}

impl ThriftPages {
    /// Writes mutations of one keyspace at QUORUM. Cells that expire get the time to live that is left at `now_s`.
    ///
    /// # Errors
    ///
    /// If the server is not reached, or refuses the call. Rows may have been written.
    pub(crate) async fn write(&self, mutations: &[Mutation], now_s: i32) -> Result<(), ThriftCallError> {
        let Some(keyspace) = keyspace_of(mutations) else { return Ok(()) };
        let rows = rows_of(mutations, now_s).into_iter().map(|row| {
            let families = row.families.into_iter();
            let families = families.map(|(name, changes)| (name.as_str().into(), ThriftValue::List(changes)));
            (ThriftValue::Bytes(row.key), ThriftValue::Map(families.collect()))
        });
        let mut arguments = vec![ThriftValue::Map(rows.collect()), ThriftValue::Int(CONSISTENCY)];
        if self.address.is_keyed {
            arguments.insert(0, keyspace.into());
        }
        let arguments = Fields((1..).zip(arguments).collect());
        self.exchange(Some(keyspace), "batch_mutate", arguments).await.map(drop)
    }
}

fn keyspace_of(mutations: &[Mutation]) -> Option<&str> {
    mutations.iter().flat_map(|mutation| &mutation.families).map(|family| &family.cf.keyspace[..]).next()
}

/// Groups the changes by row: a key must be in the map of a call only once, and a wide row has several pieces.
fn rows_of(mutations: &[Mutation], now_s: i32) -> Vec<BatchedRow> {
    let mut rows: Vec<BatchedRow> = Vec::with_capacity(mutations.len());
    for mutation in mutations {
        // The pieces of a row follow each other.
        if rows.last().is_none_or(|last| last.key != mutation.key) {
            rows.push(BatchedRow { key: mutation.key.clone(), families: Vec::new() });
        }
        let Some(row) = rows.last_mut() else { continue };
        for family in &mutation.families {
            let changes = family.changes.iter().map(|change| mutation_of(&family.cf, &change, now_s));
            match row.families.iter_mut().find(|(name, _)| *name == family.cf.name) {
                Some((_, known)) => known.extend(changes),
                None => row.families.push((family.cf.name.clone(), changes.collect())),
            }
        }
    }
    rows
}

/// Returns a Mutation: a ColumnOrSuperColumn or a Deletion.
fn mutation_of(cf: &CfDef, change: &Change, now_s: i32) -> ThriftValue {
    match change {
        Change::Cell { super_column, cell } => match cell.kind {
            CellKind::Deleted { .. } => {
                let names = ThriftValue::List(vec![ThriftValue::Bytes(cell.name.clone())]);
                let predicate = ThriftValue::from([(1, names)]);
                deletion(cell.timestamp, super_column.as_ref(), Some(predicate))
            }
            kind => written(cf, super_column.as_ref(), cell, kind, now_s),
        },
        Change::DeleteSuper { name, deletion: DeletionTime { marked_for_delete_at, .. } } => {
            deletion(*marked_for_delete_at, Some(name), None)
        }
        Change::DeleteRow { deletion: DeletionTime { marked_for_delete_at, .. } } => {
            deletion(*marked_for_delete_at, None, None)
        }
        Change::DeleteRange(RangeTombstone { super_column, start, finish, deletion: time }) => {
            let range = ThriftValue::from([
                (1, ThriftValue::Bytes(start.clone())),
                (2, ThriftValue::Bytes(finish.clone())),
                (3, ThriftValue::Bool(false)),
                (4, ThriftValue::Int(i32::MAX)),
            ]);
            let predicate = ThriftValue::from([(2, range)]);
            deletion(time.marked_for_delete_at, super_column.as_ref(), Some(predicate))
        }
    }
}

/// Returns a Mutation with a Deletion.
fn deletion(timestamp: i64, super_column: Option<&Bytes>, predicate: Option<ThriftValue>) -> ThriftValue {
    let mut fields = vec![(1, ThriftValue::Long(timestamp))];
    fields.extend(super_column.map(|name| (2, ThriftValue::Bytes(name.clone()))));
    fields.extend(predicate.map(|predicate| (3, predicate)));
    ThriftValue::from([(2, ThriftValue::Struct(Fields(fields)))])
}

/// Returns a Mutation with a cell, in its super column if it has one.
fn written(cf: &CfDef, super_column: Option<&Bytes>, cell: &Cell, kind: CellKind, now_s: i32) -> ThriftValue {
    let name = ThriftValue::Bytes(cell.name.clone());
    let is_counter = cf.is_counter();
    let column = if is_counter {
        ThriftValue::from([(1, name), (2, ThriftValue::Long(cell.count().unwrap_or_default()))])
    } else {
        let mut fields = vec![
            (1, name),
            (2, ThriftValue::Bytes(cell.value.clone())),
            (3, ThriftValue::Long(cell.timestamp)),
        ];
        if let CellKind::Expiring { expires_at_s, .. } = kind {
            fields.push((4, ThriftValue::Int(expires_at_s.saturating_sub(now_s).max(1))));
        }
        ThriftValue::Struct(Fields(fields))
    };
    let either = match (super_column, is_counter) {
        (None, false) => (1, column),
        (None, true) => (3, column),
        (Some(holder), is_counter) => {
            let columns = ThriftValue::List(vec![column]);
            let holder = ThriftValue::from([(1, ThriftValue::Bytes(holder.clone())), (2, columns)]);
            (if is_counter { 4 } else { 2 }, holder)
        }
    };
    ThriftValue::from([(1, ThriftValue::from([either]))])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_pieces_of_a_row_become_one_entry() {
        let cf = Arc::new(CfDef::new("K", "A"));
        let piece = |key: &'static str, name: &'static str| {
            let cell = Cell::live(name.into(), "v".into(), 7);
            Mutation::of(key.into(), cf.clone(), vec![Change::Cell { super_column: None, cell }])
        };
        let rows = rows_of(&[piece("a", "1"), piece("a", "2"), piece("b", "1")], 0);
        let counts: Vec<_> = rows.iter().map(|row| (&row.key[..], row.families[0].1.len())).collect();
        assert_eq!(counts, [(&b"a"[..], 2), (&b"b"[..], 1)]);
    }
}
