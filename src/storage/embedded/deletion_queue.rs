//! The queue of deletions that shadow others: each is looked at when it is due.
//!
//! It is one row of tables of its own, so that a deletion is queued in the record that makes it.
//!
//! ```text
//!   q | i64 due second | u64 number      u32 family id | key of the deletion
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use byteorder::{BigEndian, ByteOrder};
use bytes::Bytes;

use super::blocking::BlockingPermit;
use super::key::RowPrefix;
use super::log::ChangeList;
use super::memtable::View;
use super::row_source::RowSource;
use super::tables::{TableFolder, Tables};
use super::write_batch::WriteBatch;
use crate::storage::StoreError;

/// The number under which the commit log and memory know the queue; column families have larger ones.
pub const QUEUE_FAMILY: u64 = 0;
/// What all its keys begin with.
const PREFIX: &[u8] = b"q";
/// Bytes of a key behind that.
const KEY_BYTES: usize = 16;

/// The queue.
pub struct DeletionQueue {
    tables: Arc<Tables>,
    next_number: AtomicU64,
}

/// A tombstone that waits until gc_grace has passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedDeletion {
    /// Its place in the queue, to take it off.
    place: Bytes,
    pub family: u32,
    pub marker: Bytes,
}

impl DeletionQueue {
    /// The directories of the queue's tables.
    pub fn folder() -> TableFolder {
        TableFolder {
            main: "queue".to_owned(),
            long: "queue.long".to_owned(),
            owner: "the queue of deletions".to_owned(),
        }
    }

    /// Opens the queue, as memory and tables have it.
    pub fn open(tables: Tables, view: &View, may_wait: &BlockingPermit) -> Result<DeletionQueue, StoreError> {
        let queue = DeletionQueue { tables: Arc::new(tables), next_number: AtomicU64::new(0) };
        let mut largest = 0;
        // Numbers only keep two deletions of one second apart; those of earlier runs are smaller or taken off.
        queue.walk((view, may_wait), &[0xFF; KEY_BYTES], |place, _| {
            largest = largest.max(BigEndian::read_u64(&place[8..]) + 1);
            Ok(true)
        })?;
        queue.next_number.store(largest, Ordering::Relaxed);
        Ok(queue)
    }

    pub fn tables(&self) -> &Arc<Tables> {
        &self.tables
    }

    /// Adds a deletion, as part of the batch that makes it.
    pub fn add(&self, batch: &mut WriteBatch, due_s: i64, family: u32, marker: &[u8]) {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        // A negative due second sorts as a large one; no clock of ours gives one.
        let place = [due_s.max(0).to_be_bytes(), number.to_be_bytes()].concat();
        let value = [&family.to_be_bytes()[..], marker].concat();
        self.change(batch, &place, Some(&value));
    }

    /// Takes a deletion off, as part of a batch.
    pub fn remove(&self, batch: &mut WriteBatch, deletion: &QueuedDeletion) {
        self.change(batch, &deletion.place, None);
    }

    /// The deletions that are due, at most so many.
    pub fn due(
        &self,
        (view, may_wait): (&View, &BlockingPermit),
        now_s: i64,
        most: usize,
    ) -> Result<Vec<QueuedDeletion>, StoreError> {
        let mut due = Vec::new();
        self.walk((view, may_wait), &now_s.saturating_add(1).max(0).to_be_bytes(), |place, value| {
            if value.len() < 4 {
                return Err(StoreError::Corrupt("a queued deletion has no family".to_owned()));
            }
            due.push(QueuedDeletion { place, family: BigEndian::read_u32(&value), marker: value.slice(4..) });
            Ok(due.len() < most)
        })?;
        Ok(due)
    }

    /// Goes through the queue up to a place, as long as it is told to.
    fn walk(
        &self,
        (view, may_wait): (&View, &BlockingPermit),
        high: &[u8],
        mut each: impl FnMut(Bytes, Bytes) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let row = RowPrefix::fixed(PREFIX);
        let source = RowSource::stored(&self.tables, view, &row, Some(may_wait));
        for entry in source.entries(&[], high, false) {
            let (key, value) = entry?;
            let place = key.tail(0);
            if place.len() == KEY_BYTES && !each(place, value)? {
                break;
            }
        }
        Ok(())
    }

    fn change(&self, batch: &mut WriteBatch, place: &[u8], value: Option<&[u8]>) {
        let mut changes = ChangeList::default();
        changes.add(place, value);
        batch.add(QUEUE_FAMILY, &RowPrefix::fixed(PREFIX), &changes, None);
    }
}
