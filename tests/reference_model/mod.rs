//! The reference model: a store that is as simple as it can be, for the tests to compare other stores with.
//!
//! The embedded store decides which write wins when the write arrives, keeps names in the order of bytes, stops reading
//! when a slice is full, and caches rows. Each of these can be wrong. The model does none of it cleverly: a row is a
//! few lists in the order of arrival, and a read copies the lists, sorts them and walks them from the beginning.
//!
//! The model has no code in common with the stores that it is compared with, so that a mistake in one is not a mistake
//! in both. Of the crate it uses only
//!
//! - the plain types of `model` and `schema` (`Cell`, `Mutation`, `ReadCommand`, `CfDef` ...), and no method of theirs
//!   that decides anything,
//! - the fields of `Behaviour`, which name the rule of a release; what follows from a rule is written here again,
//! - the comparators' `compare`, the partitioner's `token`, and `ordered` for the order of a dump.
//!
//! Every rule stands beside its code, in one sentence that begins with the releases that have it. A line of a module
//! for each question:
//!
//! ```text
//!   reconcile.rs    Which of two writes to a cell stays? When is a cell expired? How does a counter add up?
//!   tombstones.rs   Which cells do the tombstones of rows, super columns and ranges hide?
//!   range_list.rs   Which range tombstone does a read by names of 2.1 find?
//!   row.rs          What does a mutation make of a row?
//!   slice.rs        Which columns does a read show, and when is the slice full?
//!   ring.rs         Which rows does a scan read? Where is the ring split?
//!   dump.rs         What is stored?
//! ```
//!
//! Not modelled: that tombstones are forgotten after gc_grace, which depends on when a store compacts; and columns
//! that were dropped from a CQL table.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod dump;
mod range_list;
mod reconcile;
mod ring;
mod row;
mod slice;
mod tombstones;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use row::Row;
use slice::ReadBy;
use thriftstore::model::{
    Behaviour, Change, ConsistencyLevel, Mutation, RangeCommand, ReadCommand, RowColumns,
};
use thriftstore::partitioner::PartitionerRef;
use thriftstore::schema::{Catalog, CfDef};
use thriftstore::storage::{Dump, DumpCommand, RowPiece, Store, StoreFuture, StoreStatus};
use thriftstore::util::Clock;

/// Keyspace and name of a column family.
type FamilyName = (String, String);

/// The rows of a column family with their keys, in no order.
type Rows = Vec<(Bytes, Row)>;

/// A store in memory that is compared with others.
pub struct ReferenceModel {
    partitioner: PartitionerRef,
    clock: Arc<Clock>,
    families: Mutex<BTreeMap<FamilyName, Rows>>,
    notes: Mutex<BTreeMap<String, Bytes>>,
}

impl ReferenceModel {
    pub fn new(partitioner: PartitionerRef, clock: Arc<Clock>) -> ReferenceModel {
        ReferenceModel { partitioner, clock, families: Mutex::default(), notes: Mutex::default() }
    }

    fn rows(&self, cf: &CfDef) -> Rows {
        self.families.lock().unwrap().get(&name_of(cf)).cloned().unwrap_or_default()
    }

    /// Applies one mutation. All releases: what it says of one column family, even in several places, is one change.
    fn apply_one(&self, mutation: &Mutation, behaviour: &Behaviour) {
        let mut families = self.families.lock().unwrap();
        let mut changes_of: BTreeMap<FamilyName, (Arc<CfDef>, Vec<Change>)> = BTreeMap::new();
        for family in &mutation.families {
            let entry =
                changes_of.entry(name_of(&family.cf)).or_insert_with(|| (family.cf.clone(), Vec::new()));
            entry.1.extend(family.changes.iter().cloned());
        }
        for (name, (cf, changes)) in changes_of {
            let rows = families.entry(name).or_default();
            let at = rows.iter().position(|(key, _)| *key == mutation.key).unwrap_or_else(|| {
                rows.push((mutation.key.clone(), Row::default()));
                rows.len() - 1
            });
            rows[at].1.apply(&cf, &changes, behaviour, self.clock.now_s());
            // A row in which nothing was stored, since increments were hidden, is not there.
            rows.retain(|(_, row)| !row.is_empty());
        }
    }

    fn read_one(&self, key: &Bytes, command: &ReadCommand) -> RowColumns {
        let rows = self.rows(&command.cf);
        let row = rows.into_iter().find(|(other, _)| other == key).map(|(_, row)| row).unwrap_or_default();
        slice::read(&row, command, ReadBy::Key)
    }

    fn scan_now(&self, command: &RangeCommand) -> Vec<thriftstore::model::Row> {
        let mut found = Vec::new();
        for (key, row) in ring::rows_of_scan(&self.rows(&command.read.cf), command, &*self.partitioner) {
            let columns = slice::read(&row, &command.read, ReadBy::Scan);
            let is_empty = match &columns {
                RowColumns::Cells(cells) => cells.is_empty(),
                RowColumns::Supers(supers) => supers.is_empty(),
            };
            // 0.4, 0.5: get_key_range leaves out rows in which nothing is live. All other scans return them empty, and
            // they count as rows.
            if found.len() < command.max_rows && !(command.skip_empty && is_empty) {
                found.push(thriftstore::model::Row { key, columns });
            }
        }
        found
    }

    /// Returns all rows at once, whatever size was asked for: the size is only about.
    fn dump_now(&self, command: &DumpCommand) -> Dump {
        let mut rows = self.rows(&command.cf);
        rows.sort_by_key(|(key, _)| (ring::token_of(key, &*self.partitioner), key.clone()));
        let pieces = rows.into_iter().map(|(key, row)| {
            let changes = dump::changes_of(&row, &command.cf);
            RowPiece { key, changes }
        });
        Dump { rows: pieces.filter(|piece| !piece.changes.is_empty()).collect(), place: None }
    }

    fn forget(&self, cf: &CfDef) {
        self.families.lock().unwrap().remove(&name_of(cf));
    }
}

fn name_of(cf: &CfDef) -> FamilyName {
    (cf.keyspace.clone(), cf.name.clone())
}

/// An answer that is there already.
fn ready<'a, T: Send + 'a>(answer: T) -> StoreFuture<'a, T> {
    Box::pin(async move { Ok(answer) })
}

impl Store for ReferenceModel {
    fn apply(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        _consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()> {
        mutations.iter().for_each(|mutation| self.apply_one(mutation, behaviour));
        ready(())
    }

    fn read(
        &self,
        key: Bytes,
        command: ReadCommand,
        _consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, RowColumns> {
        ready(self.read_one(&key, &command))
    }

    fn scan(
        &self,
        command: RangeCommand,
        _consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, Vec<thriftstore::model::Row>> {
        ready(self.scan_now(&command))
    }

    fn dump(&self, command: DumpCommand) -> Option<StoreFuture<'_, Dump>> {
        Some(ready(self.dump_now(&command)))
    }

    fn can_dump(&self) -> bool {
        true
    }

    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        let families = self.families.lock().unwrap();
        let keys = families.values().flatten().map(|(key, _)| ring::token_of(key, &*self.partitioner));
        ready(ring::splits(keys.collect(), &start, &end, keys_per_split))
    }

    fn truncate(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        self.forget(&cf);
        ready(())
    }

    fn drop_family(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        self.forget(&cf);
        ready(())
    }

    fn notes(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        ready(self.notes.lock().unwrap().clone().into_iter().collect())
    }

    fn note(&self, notes: Vec<(String, Option<Bytes>)>) -> StoreFuture<'_, ()> {
        let mut stored = self.notes.lock().unwrap();
        for (name, value) in notes {
            match value {
                Some(value) => stored.insert(name, value),
                None => stored.remove(&name),
            };
        }
        ready(())
    }

    fn alter(&self, _catalog: Arc<Catalog>) -> StoreFuture<'_, ()> {
        ready(())
    }

    fn status(&self) -> StoreStatus {
        StoreStatus::default()
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        ready(())
    }
}
