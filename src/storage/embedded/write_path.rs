//! Writes: what wins is decided under the rows' locks, then goes into the log, the memtable and the row cache.
//!
//! ```text
//!   check     is the store open, has the disk room?
//!   lock      the rows, so that two writes of one row do not meet
//!   look      at what each row holds: in the cache, else in memory, else in tables (which may wait for the disk)
//!   decide    of two writes to a cell the winner is kept, by the rules of the client's release (`write.rs`)
//!   take      one record into the log: all of it or nothing survives (`write_ahead.rs`); then the memtable
//!   show      the same changes to the rows in the cache; then the locks are opened
//! ```

use std::sync::Arc;

use bytes::Bytes;

use super::blocking::BlockingPermit;
use super::deletion_queue::DeletionQueue;
use super::disk_guard::DiskGuard;
use super::locks::HeldRows;
use super::read_path::ReadPath;
use super::write::{Writer, look_up};
use super::write_ahead::WriteAhead;
use super::write_batch::{Cached, WriteBatch};
use crate::compat::Behaviour;
use crate::model::{Change, Mutation};
use crate::storage::StoreError;
use crate::util::Clock;

/// What the log adds to names and values of one change.
const ENTRY_BYTES: usize = 64;

/// What a write goes through.
pub struct WritePath {
    pub read: Arc<ReadPath>,
    pub ahead: Arc<WriteAhead>,
    pub queue: DeletionQueue,
    /// `None` in a store in memory.
    pub guard: Option<DiskGuard>,
    pub clock: Arc<Clock>,
}

/// How a write has ended.
pub enum WriteOutcome {
    Done,
    /// Nothing was done, as what it meets is in tables only. Here it is again, for a thread that may wait.
    MustWait(Vec<Mutation>),
}

impl WritePath {
    /// Applies mutations of different rows. Without `may_wait` nothing waits for the disk.
    pub fn write(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        may_wait: Option<&BlockingPermit>,
    ) -> Result<WriteOutcome, StoreError> {
        self.ahead.health.check()?;
        self.check_room(mutations.iter().map(bytes_of).sum())?;
        let rows = match &mutations[..] {
            [mutation] => self.read.locks.lock_one(&mutation.key),
            mutations => self.read.locks.lock(mutations.iter().map(|mutation| &mutation.key[..])),
        };
        let families = self.read.families.now();
        let mutations: Vec<Mutation> = mutations.into_iter().map(Mutation::joined).collect();
        let look_up = look_up(&self.read, &families, &mutations, behaviour, &rows)?;
        if may_wait.is_none() && look_up.found.iter().any(|found| found.must_wait) {
            return Ok(WriteOutcome::MustWait(mutations));
        }
        let mut found = look_up.found.into_iter();
        let (view, batch) = (look_up.view, WriteBatch::default());
        let mut writer = Writer { path: self, behaviour, rows: &rows, may_wait, view, batch };
        for mutation in mutations {
            for change in mutation.families {
                if !change.changes.is_empty()
                    && let Some(found) = found.next()
                {
                    writer.add(&mutation.key, change, found)?;
                }
            }
        }
        self.commit(writer.batch, &rows)?;
        Ok(WriteOutcome::Done)
    }

    /// Makes a batch safe and visible, if it changes something. Its rows are locked.
    pub fn commit(&self, batch: WriteBatch, _: &HeldRows<'_>) -> Result<(), StoreError> {
        if batch.record.is_empty() {
            return Ok(());
        }
        let record = batch.record.seal()?;
        self.ahead.take(&record).inspect_err(|_| self.suspect_disk())?;
        for (row, cached) in record.rows().zip(&batch.cached) {
            if let Some(Cached { id, row: cached }) = cached {
                self.read.row_cache.apply(id, cached, row.changes);
            }
        }
        Ok(())
    }

    /// Takes the disk for full until it has been looked at: a write to it has failed.
    pub fn suspect_disk(&self) {
        if let Some(guard) = &self.guard {
            guard.suspect();
        }
    }

    /// Refuses when the disk has too little room for a write of so many bytes.
    pub fn check_room(&self, bytes: u64) -> Result<(), StoreError> {
        match &self.guard {
            Some(guard) => guard.check(self.clock.now_ms(), bytes, || self.ahead.bytes_in_memory()),
            None => Ok(()),
        }
    }
}

/// About how many bytes a mutation adds to the log.
fn bytes_of(mutation: &Mutation) -> u64 {
    let changes = mutation.families.iter().flat_map(|family| &family.changes);
    let bytes = changes.map(|change| match change {
        Change::Cell { super_column, cell } => {
            super_column.as_ref().map_or(0, Bytes::len) + cell.name.len() + cell.value.len()
        }
        Change::DeleteSuper { name, .. } => name.len(),
        Change::DeleteRow { .. } => 0,
        Change::DeleteRange(range) => range.start.len() + range.finish.len(),
    });
    bytes.map(|bytes| (bytes + mutation.key.len() + ENTRY_BYTES) as u64).sum()
}
