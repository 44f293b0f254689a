//! Where writes go: into the commit log, then into memory.
//!
//! ```text
//!   write   -> record in the log (the operating system has it) -> memtable -> answered
//!   freeze     no write under way: the log goes on in another segment, memory in another memtable
//!   flush      what is frozen becomes tables of the engine; then its segments are removed
//! ```
//!
//! So a segment holds the records of just one memtable, and is needed until that is flushed.

use std::sync::atomic::{AtomicBool, Ordering};

use fjall::Database;
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::Notify;

use super::log::{CommitLog, FullSegment, NextSegment};
use super::memtable::{Memory, Memtable, View};
use super::write_batch::{Cached, WriteBatch};
use crate::storage::StoreError;
use crate::util::Spread;

/// Bytes of the log at which its memtable is flushed, however small, as a multiple of the memtable's limit: they are
/// replayed after a crash.
const LOG_FACTOR: u64 = 2;
/// Bytes of a memtable at which writers wait until the one before it is flushed, as a multiple of its limit.
const FULL_FACTOR: usize = 2;
/// Bytes of the log that are left to be replayed at the next start, which costs less than to flush them.
const SMALL_LOG_BYTES: u64 = 256 * 1024;

/// The commit log and the memtables that it makes safe.
pub struct Intake {
    log: CommitLog,
    memory: Memory,
    /// Held by each write from the log to the memtable, and by a freeze between two writes.
    gate: Gate,
    /// The first segment that is still needed. Held by the one who flushes, or who forgets what would be flushed.
    pub first_segment: Mutex<u64>,
    /// Bytes of a memtable at which it is flushed: what is overwritten until then never reaches a table.
    memtable_bytes: usize,
    /// Tells writers that wait that a memtable has been flushed, or cannot be.
    pub has_flushed: Notify,
    is_closed: AtomicBool,
    sync_has_failed: AtomicBool,
    flush_has_failed: AtomicBool,
}

/// Every write passes through it, each thread by a door of its own. Who closes it waits for those who are on the way.
#[derive(Default)]
struct Gate(Spread<RwLock<()>>);

impl Gate {
    fn pass(&self) -> RwLockReadGuard<'_, ()> {
        self.0.mine().read()
    }

    fn close(&self) -> Vec<RwLockWriteGuard<'_, ()>> {
        self.0.iter().map(RwLock::write).collect()
    }
}

impl Intake {
    /// Goes on with a log and what has been replayed of it.
    pub fn new(log: CommitLog, memory: Memory, first_segment: u64, memtable_bytes: usize) -> Intake {
        Intake {
            log,
            memory,
            gate: Gate::default(),
            first_segment: Mutex::new(first_segment),
            memtable_bytes,
            has_flushed: Notify::new(),
            is_closed: AtomicBool::new(false),
            sync_has_failed: AtomicBool::new(false),
            flush_has_failed: AtomicBool::new(false),
        }
    }

    /// Takes a batch: from then on a killed process does not lose it, and everybody sees it. When this fails, nothing
    /// has changed. The caller holds the locks of its rows.
    pub fn take(&self, batch: &WriteBatch) -> Result<(), StoreError> {
        let _writing = self.gate.pass();
        self.check_open()?;
        self.log.append(&batch.record)?;
        let rows = batch.rows();
        self.memory.apply(rows.map(|(row, cached)| (row, cached.map(Cached::in_memtable))));
        Ok(())
    }

    /// Memory and engine at this moment.
    pub fn view(&self, database: &Database) -> View {
        self.memory.view(database)
    }

    /// From now on nothing is taken.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        // Who has seen it open may still be on the way.
        drop(self.gate.close());
    }

    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Refuses when the store is closed.
    pub fn check_open(&self) -> Result<(), StoreError> {
        if self.is_closed() {
            return Err(StoreError::ReadOnly("the store is closed".to_owned()));
        }
        Ok(())
    }

    /// Waits until the disk has everything taken so far. A failure is final.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.check_synced()?;
        self.log.sync().map_err(|error| {
            self.sync_has_failed.store(true, Ordering::Relaxed);
            tracing::error!("sync of the write log: {error}; writes are refused until a restart");
            StoreError::Io(format!("sync of the write log: {error}"))
        })
    }

    /// Refuses when a sync has failed before.
    pub fn check_synced(&self) -> Result<(), StoreError> {
        if self.sync_has_failed.load(Ordering::Relaxed) {
            return Err(StoreError::ReadOnly(
                "the disk could not sync the write log, so nothing more is accepted until a restart"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Notes that a flush has failed: what is frozen stays so until the engine is opened again.
    pub fn set_flush_failed(&self) {
        self.flush_has_failed.store(true, Ordering::Relaxed);
        self.has_flushed.notify_waiters();
    }

    pub fn flush_has_failed(&self) -> bool {
        self.flush_has_failed.load(Ordering::Relaxed)
    }

    /// Whether a memtable should be flushed, and none is.
    pub fn wants_flush(&self) -> bool {
        let is_large = self.memory.active_bytes() >= self.memtable_bytes
            || self.log.bytes() >= LOG_FACTOR * self.memtable_bytes as u64;
        is_large && self.memory.frozen().is_none()
    }

    /// Whether writers should wait for a flush.
    pub fn is_full(&self) -> bool {
        self.memory.active_bytes() >= FULL_FACTOR * self.memtable_bytes && !self.is_closed()
    }

    /// Whether the log is long enough to be flushed when the store closes.
    pub fn is_worth_flushing(&self) -> bool {
        self.memory.frozen().is_some() || self.log.bytes() >= SMALL_LOG_BYTES
    }

    /// About how many bytes wait in memory to be flushed.
    pub fn bytes_in_memory(&self) -> u64 {
        self.memory.bytes() as u64
    }

    pub fn bytes_of_log(&self) -> u64 {
        self.log.bytes()
    }

    /// The memtable that waits to be flushed.
    pub fn frozen(&self) -> Option<std::sync::Arc<Memtable>> {
        self.memory.frozen()
    }

    /// Makes the segment that follows.
    pub fn prepare_next(&self) -> Result<NextSegment, StoreError> {
        self.log.prepare_next()
    }

    /// Ends the active memtable together with its segment, which is given back: writers need not wait for its end.
    /// Nothing may be frozen yet.
    pub fn freeze(&self, next: NextSegment) -> Result<FullSegment, StoreError> {
        let _no_writes = self.gate.close();
        let full = self.log.go_on_in(next)?;
        self.memory.freeze();
        Ok(full)
    }

    /// Lets go of the frozen memtable and its segments: the engine's tables hold them, and the ledger says so.
    pub fn let_go(&self, segments: std::ops::Range<u64>) {
        self.memory.let_go();
        self.has_flushed.notify_waiters();
        self.log.remove(segments);
    }

    /// The segment that is written to.
    pub fn segment(&self) -> u64 {
        self.log.number()
    }

    /// Forgets a generation of a column family. The caller holds all rows and `first_segment`.
    pub fn forget(&self, family: u64) {
        self.memory.forget(family);
    }

    /// Whether a generation has entries that wait to be flushed.
    pub fn holds(&self, family: u64) -> bool {
        self.memory.holds(family)
    }
}
