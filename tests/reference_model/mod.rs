//! The reference model: a store in memory, as simple as possible, with which the tests compare the other stores.
//!
//! The embedded store looks up only the cells that a write meets, stores names in the order of bytes, stops reading when
//! a slice is full, and caches rows. Each of these can go wrong. The model does none of them: a row is a few lists in the
//! order of arrival, and a read copies the lists, sorts the copies and walks through them.
//!
//! The model shares no rule's code with the other stores, so that a mistake in a rule shows as a disagreement. It uses
//! only these parts of the crate:
//!
//! - the plain types of `model` and `schema` (`Cell`, `Mutation`, `ReadCommand`, `CfDef`), but no method that decides
//!   anything;
//! - the fields of `Behaviour`, which are data: each names the rule of a release. The model has its own code for it;
//! - `compare` of comparators, `token` of partitioners, and `ordered` for the order of a dump.
//!
//! Each rule is written beside its code, in one sentence that starts with the releases in which it holds. Each module
//! answers one question:
//!
//! ```text
//!   reconcile.rs         When does a cell expire? Which of two writes to it wins? How does a counter add up?
//!   tombstones.rs        Which cells are hidden by tombstones of rows, super columns and ranges?
//!   range_list.rs        Which range tombstone does 2.1 use for a name?
//!   dropped_columns.rs   Which cells belong to a column that was dropped from a CQL table?
//!   row.rs               What does a mutation change in a row?
//!   slice.rs             Which columns does a read return, and where does a slice end?
//!   ring.rs              Which rows does a scan read, and where is the ring split?
//!   dump.rs              What is stored in a row?
//! ```
//!
//! The model is itself compared with the old servers: `tests/recordings/of_model.rs` replays their conversations on it.
//!
//! Not modelled: the removal of tombstones after gc_grace, because it depends on when a store compacts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod dropped_columns;
mod dump;
mod range_list;
mod reconcile;
mod ring;
mod row;
mod slice;
mod tombstones;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Change, Mutation, RangeCommand, ReadCommand, Row, RowColumns};
use base::partitioner::PartitionerRef;
use base::schema::CfDef;
use base::util::Clock;
use bytes::Bytes;
use row::StoredRow;
use slice::ReadBy;
use store::{Dump, DumpCommand, RowPiece, Store, StoreChange, StoreFuture, StoreStatus};

/// Keyspace and name of a column family.
type FamilyName = (String, String);

/// The rows of a column family with their keys, in no order.
type Rows = Vec<(Bytes, StoredRow)>;

/// A store in memory with which other stores are compared.
pub struct ReferenceModel {
    partitioner: PartitionerRef,
    clock: Arc<Clock>,
    families: Mutex<BTreeMap<FamilyName, Rows>>,
    records: Mutex<BTreeMap<String, Bytes>>,
}

impl ReferenceModel {
    pub fn new(partitioner: PartitionerRef, clock: Arc<Clock>) -> ReferenceModel {
        ReferenceModel { partitioner, clock, families: Mutex::default(), records: Mutex::default() }
    }

    fn rows(&self, cf: &CfDef) -> Rows {
        self.families.lock().unwrap().get(&name_of(cf)).cloned().unwrap_or_default()
    }

    /// Applies one mutation. All releases: its changes to one column family are applied together.
    fn apply_one(&self, mutation: &Mutation, behaviour: &Behaviour) {
        let mut families = self.families.lock().unwrap();
        let mut changes_of: BTreeMap<FamilyName, (Arc<CfDef>, Vec<Change>)> = BTreeMap::new();
        for family in &mutation.families {
            let entry =
                changes_of.entry(name_of(&family.cf)).or_insert_with(|| (family.cf.clone(), Vec::new()));
            family.changes.clone().take_all(|change| entry.1.push(change));
        }
        for (name, (cf, changes)) in changes_of {
            let rows = families.entry(name).or_default();
            let at = rows.iter().position(|(key, _)| *key == mutation.key).unwrap_or_else(|| {
                rows.push((mutation.key.clone(), StoredRow::default()));
                rows.len() - 1
            });
            rows[at].1.apply(&cf, &changes, behaviour, self.clock.now_s());
            // A row in which nothing was stored, because all increments were hidden, does not exist.
            rows.retain(|(_, row)| !row.is_empty());
        }
    }

    fn read_one(&self, key: &Bytes, command: &ReadCommand) -> RowColumns {
        let rows = self.rows(&command.cf);
        let row = rows.into_iter().find(|(other, _)| other == key).map(|(_, row)| row).unwrap_or_default();
        slice::read(&row, command, ReadBy::Key)
    }

    fn scan_now(&self, command: &RangeCommand) -> Vec<Row> {
        let mut found = Vec::new();
        for (key, row) in ring::rows_of_scan(&self.rows(&command.read.cf), command, &*self.partitioner) {
            let columns = slice::read(&row, &command.read, ReadBy::Scan);
            let is_empty = match &columns {
                RowColumns::Cells(cells) => cells.is_empty(),
                RowColumns::Supers(supers) => supers.is_empty(),
            };
            // 0.4, 0.5: get_key_range leaves out rows without live columns. All other scans return these rows empty and
            // count them.
            if found.len() < command.max_rows && !(command.skip_empty && is_empty) {
                found.push(Row { key, columns });
            }
        }
        found
    }

    /// Returns all rows in one dump. The requested size is only approximate, so the model ignores it.
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

/// Returns a future that is ready.
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

    fn scan(&self, command: RangeCommand, _consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
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

    fn records(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        ready(self.records.lock().unwrap().clone().into_iter().collect())
    }

    fn change_schema(&self, change: StoreChange) -> StoreFuture<'_, ()> {
        change.truncated.iter().chain(&change.dropped).for_each(|cf| self.forget(cf));
        let mut stored = self.records.lock().unwrap();
        for (name, value) in change.records {
            match value {
                Some(value) => stored.insert(name, value),
                None => stored.remove(&name),
            };
        }
        ready(())
    }

    fn status(&self) -> StoreStatus {
        StoreStatus::default()
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        ready(())
    }
}
