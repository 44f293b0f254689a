//! The queue of deletions that shadow other entries. The sweeper processes each one when it is due.
//!
//! The queue is one row of entries with tables of its own, so a deletion and its queue entry are in the same log
//! record.
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
use super::memtable::MemoryView;
use super::row_source::RowSource;
use super::tables::{TableFolder, Tables};
use super::write_batch::WriteBatch;
use store::{Result, StoreError};

/// The number of the queue in the commit log and the memtables. The numbers of column families are larger.
pub(crate) const QUEUE_FAMILY: u64 = 0;
/// The prefix of its keys.
const PREFIX: &[u8] = b"q";
/// Bytes of a key after the prefix.
const KEY_BYTES: usize = 16;

/// The queue of deletions.
pub(crate) struct DeletionQueue {
    tables: Arc<Tables>,
    next_number: AtomicU64,
}

/// A deletion in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueuedDeletion {
    /// Its key in the queue.
    place: Bytes,
    pub family: u32,
    pub marker: Bytes,
}

impl DeletionQueue {
    /// Returns the directories of the queue's tables.
    pub(crate) fn folder() -> TableFolder {
        TableFolder {
            main: "queue".to_owned(),
            long: "queue.long".to_owned(),
            owner: "the queue of deletions".to_owned(),
        }
    }

    /// Opens the queue from its entries in memtables and tables.
    pub(crate) fn open(
        tables: Tables,
        view: &MemoryView,
        may_wait: &BlockingPermit,
    ) -> Result<DeletionQueue> {
        let queue = DeletionQueue { tables: Arc::new(tables), next_number: AtomicU64::new(0) };
        let mut largest = 0;
        // Numbers only distinguish deletions that are due in the same second.
        queue.walk(view, may_wait, &[0xFF; KEY_BYTES], |place, _| {
            largest = largest.max(BigEndian::read_u64(&place[8..]) + 1);
            Ok(true)
        })?;
        queue.next_number.store(largest, Ordering::Relaxed);
        Ok(queue)
    }

    pub(crate) fn tables(&self) -> &Arc<Tables> {
        &self.tables
    }

    /// Adds a deletion to the queue, in the batch that stores it.
    pub(crate) fn add(&self, batch: &mut WriteBatch, due_s: i64, family: u32, marker: &[u8]) {
        debug_assert!(family != 0, "the sweeper would look for an entry of the queue in a column family");
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        // A negative second would sort after all others.
        let place = [due_s.max(0).to_be_bytes(), number.to_be_bytes()].concat();
        let value = [&family.to_be_bytes()[..], marker].concat();
        self.change(batch, &place, Some(&value));
    }

    /// Removes a deletion from the queue, in a batch.
    pub(crate) fn remove(&self, batch: &mut WriteBatch, deletion: &QueuedDeletion) {
        self.change(batch, &deletion.place, None);
    }

    /// Returns the deletions that are due, at most `most`.
    pub(crate) fn due(
        &self,
        view: &MemoryView,
        may_wait: &BlockingPermit,
        now_s: i64,
        most: usize,
    ) -> Result<Vec<QueuedDeletion>> {
        let mut due = Vec::new();
        self.walk(view, may_wait, &now_s.saturating_add(1).max(0).to_be_bytes(), |place, value| {
            if value.len() < 4 {
                return Err(StoreError::Corrupt("a queued deletion has no column family".to_owned()));
            }
            due.push(QueuedDeletion { place, family: BigEndian::read_u32(&value), marker: value.slice(4..) });
            Ok(due.len() < most)
        })?;
        debug_assert!(due.is_sorted_by(|a, b| a.place < b.place), "a deletion would wait behind later ones");
        Ok(due)
    }

    /// Calls `each` for the entries before `high`, in order, until it returns `false`.
    fn walk(
        &self,
        view: &MemoryView,
        may_wait: &BlockingPermit,
        high: &[u8],
        mut each: impl FnMut(Bytes, Bytes) -> Result<bool>,
    ) -> Result<()> {
        let row = RowPrefix::fixed(PREFIX);
        let source = RowSource::stored(&self.tables, view, &row, Some(may_wait));
        for entry in source.entries(&[], high, false) {
            let (key, value) = entry?;
            let place = key.into_tail(0);
            if place.len() == KEY_BYTES && !each(place, value)? {
                break;
            }
        }
        Ok(())
    }

    fn change(&self, batch: &mut WriteBatch, place: &[u8], value: Option<&[u8]>) {
        let mut changes = ChangeList::default();
        changes.add(place, value);
        batch.add(QUEUE_FAMILY, &RowPrefix::fixed(PREFIX), changes, None);
    }
}
