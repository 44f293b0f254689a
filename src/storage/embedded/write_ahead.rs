//! The commit log, and the memtables that it makes safe.
//!
//! ```text
//!   write    record in the log (the operating system has it) -> memtable -> answered
//!   freeze   no write under way: the log goes on in another segment, memory in another memtable
//!   flush    what is frozen becomes tables; then its segments are removed
//! ```
//!
//! So a segment holds the records of just one memtable, and is needed until that is flushed. A store in memory has no
//! log.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use super::health::Health;
use super::log::{CommitLog, SealedRecord, Segment};
use super::memtable::Memory;
use super::throttle::Throttle;
use crate::storage::StoreError;

/// Bytes of the log at which its memtable is flushed, however small, as a multiple of the memtable's limit: they are
/// replayed after a crash.
const LOG_FACTOR: u64 = 2;
/// Bytes of a memtable at which writers wait until the one before it is flushed, as a multiple of its limit.
const FULL_FACTOR: usize = 2;
/// Bytes of the log that are left to be replayed at the next start, which costs less than to flush them.
const SMALL_LOG_BYTES: u64 = 256 * 1024;

/// The commit log and the memtables.
pub struct WriteAhead {
    /// `None` in a store in memory.
    log: Option<CommitLog>,
    pub memory: Arc<Memory>,
    /// Held by each write from the log to the memtable, and by a freeze between two writes.
    gate: RwLock<()>,
    /// The first segment that is still needed. Held by whoever flushes, or forgets what would be flushed.
    pub first_segment: Mutex<u64>,
    /// Bytes of a memtable at which it is flushed: what is overwritten until then never reaches a table.
    memtable_bytes: usize,
    /// Wakes writers that wait until a memtable has been flushed, or cannot be.
    pub has_flushed: Notify,
    /// Why the last flush failed, while the next has not succeeded.
    flush_trouble: Mutex<Option<StoreError>>,
    pub throttle: Throttle,
    pub health: Arc<Health>,
}

impl WriteAhead {
    /// Goes on with a log and the memtables that have been replayed from it.
    pub fn new(
        log: Option<CommitLog>,
        memory: Arc<Memory>,
        first_segment: u64,
        memtable_bytes: usize,
        health: Arc<Health>,
    ) -> WriteAhead {
        WriteAhead {
            log,
            memory,
            gate: RwLock::default(),
            first_segment: Mutex::new(first_segment),
            memtable_bytes,
            has_flushed: Notify::new(),
            flush_trouble: Mutex::default(),
            throttle: Throttle::default(),
            health,
        }
    }

    /// Takes a record: from then on a killed process does not lose it, and everybody sees it. When this fails, nothing
    /// has changed. The record was made under the locks of its rows, which are still held.
    pub fn take(&self, record: &SealedRecord) -> Result<(), StoreError> {
        let _writing = self.gate.read();
        self.health.check()?;
        if let Some(log) = &self.log {
            log.append(record)?;
        }
        self.memory.apply(record.rows());
        Ok(())
    }

    /// Runs something between two writes.
    pub fn between_writes<T>(&self, run: impl FnOnce(&Memory) -> T) -> T {
        let _no_writes = self.gate.write();
        run(&self.memory)
    }

    /// From now on nothing is taken.
    pub fn close(&self) {
        self.health.close();
        // A writer that has seen it open may still be on its way.
        drop(self.gate.write());
        self.has_flushed.notify_waiters();
    }

    /// Waits until the disk has everything taken so far. A failure is final.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.health.check_failure()?;
        let Some(log) = &self.log else { return Ok(()) };
        log.sync().map_err(|error| {
            let why = format!("the disk could not sync the commit log ({error})");
            self.health.fail(&why);
            StoreError::Io(why)
        })
    }

    /// Notes how a flush has ended. Writers that wait for one are refused while it fails.
    pub fn set_flushed(&self, outcome: &Result<(), StoreError>) {
        *self.flush_trouble.lock() = outcome.as_ref().err().cloned();
        self.has_flushed.notify_waiters();
    }

    /// Why what is in memory cannot be flushed.
    pub fn flush_trouble(&self) -> Option<StoreError> {
        self.flush_trouble.lock().clone()
    }

    /// Whether a memtable should be flushed, and none is.
    pub fn wants_flush(&self) -> bool {
        if self.log.is_none() {
            return false;
        }
        let is_large = self.memory.active_bytes() >= self.memtable_bytes
            || self.bytes_of_log() >= LOG_FACTOR * self.memtable_bytes as u64;
        is_large && self.memory.frozen().is_empty()
    }

    /// How much of the room for what is written during a flush is used: from 0 to 1.
    pub fn fill(&self) -> f64 {
        let over = self.memory.active_bytes().saturating_sub(self.memtable_bytes);
        if over == 0 || self.log.is_none() {
            return 0.0;
        }
        over as f64 / ((FULL_FACTOR - 1) * self.memtable_bytes) as f64
    }

    /// Whether writers should wait for a flush.
    pub fn is_full(&self) -> bool {
        self.log.is_some()
            && self.memory.active_bytes() >= FULL_FACTOR * self.memtable_bytes
            && !self.health.is_closed()
    }

    /// Whether the log is long enough to be flushed when the store closes.
    pub fn is_worth_flushing(&self) -> bool {
        self.log.is_some() && (!self.memory.frozen().is_empty() || self.bytes_of_log() >= SMALL_LOG_BYTES)
    }

    /// About how many bytes wait in memory to be flushed.
    pub fn bytes_in_memory(&self) -> u64 {
        self.memory.bytes() as u64
    }

    pub fn bytes_of_log(&self) -> u64 {
        self.log.as_ref().map_or(0, CommitLog::bytes)
    }

    /// Makes the segment that follows; `None` in a store without a log.
    pub fn prepare_next(&self) -> Result<Option<Segment>, StoreError> {
        self.log.as_ref().map(CommitLog::prepare_next).transpose()
    }

    /// Ends the active memtable together with its segment, which is given back: writers need not wait for its end.
    /// Nothing may be frozen yet.
    pub fn freeze(&self, next: Segment) -> Result<Option<Segment>, StoreError> {
        let _no_writes = self.gate.write();
        let full = self.log.as_ref().map(|log| log.go_on_in(next)).transpose()?;
        self.memory.freeze();
        Ok(full)
    }

    /// Lets go of the frozen memtable and its segments: tables hold them, and the manifest says so.
    pub fn let_go(&self, segments: std::ops::Range<u64>) {
        self.memory.let_go();
        if let Some(log) = &self.log {
            log.remove(segments);
        }
    }

    /// The segment that is written to.
    pub fn segment(&self) -> u64 {
        self.log.as_ref().map_or(0, CommitLog::number)
    }
}
