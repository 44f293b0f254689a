//! The write path: decides which cells win, under the locks of their rows, and stores those.
//!
//! ```text
//!   check       that the store accepts writes
//!   lock        the rows, so that two writes of one row do not run at the same time
//!   look up     the existing cells of each row: in the row cache, else in memtables, else in tables
//!   reconcile   new and existing cells by the rules of the client's release (`write.rs`): only winners are stored
//!   append      if the disk has space, one record to the log, which survives a crash completely or not at all
//!               (`write_ahead.rs`); then change the memtable
//!   publish     the same changes to the rows in the cache; then unlock
//! ```
//!
//! For example, the row `austen` has the cell `title` with timestamp 20 in a table, and two clients write to it:
//!
//! ```text
//!   client 1                           client 2                        the row afterwards
//!   write title @10                                                    title @20
//!     lock austen                      write title @30
//!     find @20 in the table              wait for the lock
//!     @10 loses: no record
//!     unlock, acknowledge                lock austen
//!                                        @30 is newer than the         title @30 in log and memtable, which
//!                                        tables: they are not read     hides the entry in the table
//!                                        append, unlock, acknowledge
//! ```
//!
//! A write that must read tables runs on a thread that may wait for the disk: without a `BlockingPermit`, `write`
//! returns such mutations unchanged as `MustWait`, before anything has been stored.

use std::collections::HashSet;
use std::sync::Arc;

use super::blocking::BlockingPermit;
use super::deletion_queue::DeletionQueue;
use super::disk_guard::DiskGuard;
use super::locks::HeldRows;
use super::read_path::ReadPath;
use super::write::{RowWriter, look_up};
use super::write_ahead::WriteAhead;
use super::write_batch::{Cached, WriteBatch};
use base::compat::Behaviour;
use base::model::Mutation;
use base::util::Clock;
use store::Result;

/// The parts of the store that a write uses.
pub(crate) struct WritePath {
    pub read: Arc<ReadPath>,
    pub ahead: Arc<WriteAhead>,
    pub queue: DeletionQueue,
    /// `None` in a store in memory.
    pub guard: Option<DiskGuard>,
    pub clock: Arc<Clock>,
}

/// Bytes of a row whose changes are mostly moved to the record without a copy.
const LONG_ROW_BYTES: usize = 1024 * 1024;

/// The result of a write.
pub(crate) enum WriteOutcome {
    Done,
    /// Nothing was stored, since tables must be read. Returns the mutations for a thread that may wait for the disk.
    MustWait(Vec<Mutation>),
}

impl WritePath {
    /// Applies mutations of different rows. Without `may_wait` tables are not read.
    pub(crate) fn write(
        &self,
        mut mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        may_wait: Option<&BlockingPermit>,
    ) -> Result<WriteOutcome> {
        self.ahead.health.check()?;
        let rows = match &mutations[..] {
            [mutation] => self.read.locks.lock_one(&mutation.key),
            mutations => self.read.locks.lock(mutations.iter().map(|mutation| &mutation.key[..])),
        };
        let families = self.read.families.now();
        for mutation in &mut mutations {
            mutation.join();
            // An index that was dropped since the request has begun needs no entries.
            mutation.families.retain(|change| !change.cf.is_index() || families.family(&change.cf).is_ok());
        }
        let look_up = look_up(&self.read, &families, &mutations, behaviour, &rows)?;
        if may_wait.is_none() && look_up.found.iter().any(|found| found.must_wait) {
            return Ok(WriteOutcome::MustWait(mutations));
        }
        debug_assert!(
            mutations.iter().map(|mutation| &mutation.key).collect::<HashSet<_>>().len() == mutations.len(),
            "the second mutation of a row would not see the result of the first"
        );
        let changed = mutations.iter().flat_map(|mutation| &mutation.families);
        debug_assert!(
            changed.filter(|change| !change.changes.is_empty()).count() == look_up.found.len(),
            "changes without a row that was looked up would be lost"
        );
        let mut found = look_up.found.into_iter();
        let (view, mut batch) = (look_up.view, WriteBatch::default());
        if mutations.len() > 1 {
            let bytes = mutations.iter().map(Mutation::bytes);
            batch.record.make_room(bytes.filter(|bytes| *bytes < LONG_ROW_BYTES).sum());
        }
        let mut writer = RowWriter { path: self, behaviour, rows: &rows, may_wait, view, batch };
        for mutation in mutations {
            for change in mutation.families {
                if !change.changes.is_empty()
                    && let Some(found) = found.next()
                {
                    writer.add(&mutation.key, change, found)?;
                }
            }
        }
        self.check_room(writer.batch.record.len() as u64)?;
        self.commit(writer.batch, &rows)?;
        Ok(WriteOutcome::Done)
    }

    /// Appends a batch to the log, and makes its changes visible in the memtable and the row cache. Does nothing if it
    /// is empty. Its rows are locked.
    pub(crate) fn commit(&self, batch: WriteBatch, rows: &HeldRows<'_>) -> Result<()> {
        if batch.record.is_empty() {
            return Ok(());
        }
        let record = batch.record.seal()?;
        self.ahead.append(&record).inspect_err(|_| self.suspect_disk())?;
        debug_assert!(
            record.rows().count() == batch.cached.len(),
            "a cached row would get the changes of another one"
        );
        for (row, cached) in record.rows().zip(&batch.cached) {
            if let Some(Cached { id, row: cached }) = cached {
                debug_assert!(
                    self.read.locks.are_held(rows, &id.key),
                    "the cache would miss a concurrent write"
                );
                debug_assert!(
                    id.family == row.family,
                    "a cached row would get changes of another column family"
                );
                debug_assert!(
                    cached.prefix().as_bytes() == row.prefix,
                    "a cached row would get those of another row"
                );
                self.read.row_cache.apply(id, cached, row.changes);
            }
        }
        Ok(())
    }

    /// Assumes that the disk is full until the free space is measured again, since a write to it has failed.
    pub(crate) fn suspect_disk(&self) {
        if let Some(guard) = &self.guard {
            guard.suspect();
        }
    }

    /// Fails if the disk has too little space for a write of this size.
    pub(crate) fn check_room(&self, bytes: u64) -> Result<()> {
        match &self.guard {
            Some(guard) => guard.check(self.clock.now_ms(), bytes, || self.ahead.bytes_in_memory()),
            None => Ok(()),
        }
    }
}
