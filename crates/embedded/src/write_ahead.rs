//! The commit log and the memtables. A write is appended to the log before it is in a memtable.
//!
//! ```text
//!   write    record in the log (the operating system has it) -> memtable -> acknowledged
//!   freeze   between two writes: the log switches to another segment, memory to another memtable
//!   flush    the frozen memtable becomes tables; then its segments are removed
//! ```
//!
//! So a segment has records of one memtable only, and is needed until that memtable is flushed. A store in memory has
//! no log, and a bulk load (`bulk_load`) leaves it out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use super::health::Health;
use super::log::{CommitLog, RowRecord, SealedRecord, Segment};
use super::memtable::Memory;
use super::throttle::Throttle;
use store::{Result, StoreError};

/// Length of the log at which the memtable is flushed even if it is small, as a multiple of `memtable_bytes`. This
/// limits how much is replayed after a crash.
const LOG_FACTOR: u64 = 2;
/// Size of the active memtable at which writers wait until the frozen one is flushed, as a multiple of
/// `memtable_bytes`.
const FULL_FACTOR: usize = 2;
/// Length of the log up to which closing the store does not flush it: replaying it at the next start costs less.
const SMALL_LOG_BYTES: u64 = 256 * 1024;

/// The commit log and the memtables.
pub(crate) struct WriteAhead {
    /// `None` in a store in memory.
    log: Option<CommitLog>,
    pub memory: Arc<Memory>,
    /// Locked for reading by each write while it changes log and memtable, and for writing by a freeze.
    gate: RwLock<()>,
    /// The first segment that is still needed. Locked during a flush, and while rows that could be flushed are
    /// discarded.
    pub first_segment: Mutex<u64>,
    /// Size of the active memtable, in bytes, at which it is flushed. Values that are overwritten before are never
    /// written to a table.
    memtable_bytes: usize,
    /// Set during a bulk load: writes are not logged, and are durable only after a flush.
    is_loading: AtomicBool,
    /// Wakes writers that wait for a flush, when it has ended or failed.
    pub has_flushed: Notify,
    /// The error of the last flush. `None` if it succeeded.
    flush_error: Mutex<Option<StoreError>>,
    pub throttle: Throttle,
    pub health: Arc<Health>,
}

impl WriteAhead {
    /// Returns the write-ahead state for an open log and the memtables that were replayed from it.
    pub(crate) fn new(
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
            is_loading: AtomicBool::new(false),
            has_flushed: Notify::new(),
            flush_error: Mutex::default(),
            throttle: Throttle::default(),
            health,
        }
    }

    /// Appends a record to the log and applies it to the active memtable. Afterwards all readers see it, and a killed
    /// process does not lose it. During a bulk load the log is left out. The caller holds the locks of the record's rows since before it built the record.
    ///
    /// # Errors
    /// Neither log nor memtable has changed.
    pub(crate) fn append(&self, record: &SealedRecord) -> Result<()> {
        let _writing = self.gate.read();
        self.health.check()?;
        if let Some(log) = self.log.as_ref().filter(|_| !self.is_loading()) {
            log.append(record)?;
        }
        self.memory.apply(record.rows());
        Ok(())
    }

    /// Applies a row of another log to the active memtable, as a bulk load.
    pub(crate) fn apply_replayed(&self, row: RowRecord<'_>) {
        debug_assert!(self.is_loading(), "the row would be lost when the process ends");
        let _writing = self.gate.read();
        self.memory.apply(std::iter::once(row));
    }

    /// Begins or ends a bulk load, between two writes.
    pub(crate) fn set_loading(&self, is_loading: bool) {
        let _no_writes = self.gate.write();
        self.is_loading.store(is_loading, Ordering::Relaxed);
    }

    /// Returns whether writes are not logged.
    pub(crate) fn is_loading(&self) -> bool {
        self.is_loading.load(Ordering::Relaxed)
    }

    /// Runs `run` while no write is between log and memtable.
    pub(crate) fn between_writes<T>(&self, run: impl FnOnce(&Memory) -> T) -> T {
        let _no_writes = self.gate.write();
        run(&self.memory)
    }

    /// Refuses all later writes, and waits for those that are being appended.
    pub(crate) fn close(&self) {
        self.health.close();
        // Waits for writers that have already passed the check.
        drop(self.gate.write());
        self.has_flushed.notify_waiters();
    }

    /// Waits until all writes so far are on the disk. After a failure, writes are refused until a restart.
    pub(crate) fn sync(&self) -> Result<()> {
        self.health.check_failure()?;
        let Some(log) = &self.log else { return Ok(()) };
        log.sync().map_err(|error| {
            let why = format!("the disk could not sync the commit log ({error})");
            self.health.fail(&why);
            StoreError::Io(why)
        })
    }

    /// Records the result of a flush, and wakes the writers that wait for it. Waiting writers are refused while flushes
    /// fail.
    pub(crate) fn set_flushed(&self, outcome: &Result<()>) {
        *self.flush_error.lock() = outcome.as_ref().err().cloned();
        self.has_flushed.notify_waiters();
    }

    /// Returns the error of the last flush, if it failed.
    pub(crate) fn flush_error(&self) -> Option<StoreError> {
        self.flush_error.lock().clone()
    }

    /// Returns whether the active memtable should be flushed, and no flush is running.
    pub(crate) fn wants_flush(&self) -> bool {
        if self.log.is_none() {
            return false;
        }
        let is_large = self.memory.active_bytes() >= self.memtable_bytes
            || self.bytes_of_log() >= LOG_FACTOR * self.memtable_bytes as u64;
        is_large && self.memory.frozen().is_empty()
    }

    /// Returns how full the active memtable is during a flush: 0 when the flush is due, 1 when writers must wait.
    pub(crate) fn fill(&self) -> f64 {
        let over = self.memory.active_bytes().saturating_sub(self.memtable_bytes);
        if over == 0 || self.log.is_none() {
            return 0.0;
        }
        over as f64 / ((FULL_FACTOR - 1) * self.memtable_bytes) as f64
    }

    /// Returns whether writers must wait for a flush.
    pub(crate) fn is_full(&self) -> bool {
        self.log.is_some()
            && self.memory.active_bytes() >= FULL_FACTOR * self.memtable_bytes
            && !self.health.is_closed()
    }

    /// Returns whether closing the store should flush the memtable, so that the next start need not replay the log. The
    /// log does not have the writes of a bulk load.
    pub(crate) fn is_worth_flushing(&self) -> bool {
        self.log.is_some()
            && (self.is_loading()
                || !self.memory.frozen().is_empty()
                || self.bytes_of_log() >= SMALL_LOG_BYTES)
    }

    /// Returns the approximate size of the memtables in bytes.
    pub(crate) fn bytes_in_memory(&self) -> u64 {
        self.memory.bytes() as u64
    }

    pub(crate) fn bytes_of_log(&self) -> u64 {
        self.log.as_ref().map_or(0, CommitLog::bytes)
    }

    /// Creates the next segment. `None` in a store in memory.
    pub(crate) fn prepare_next(&self) -> Result<Option<Segment>> {
        self.log.as_ref().map(CommitLog::prepare_next).transpose()
    }

    /// Freezes the active memtable and switches the log to the next segment. No memtable may be frozen yet.
    ///
    /// Returns the full segment. The caller drops it, which cuts its file, after this method has released the writers.
    pub(crate) fn freeze(&self, next: Segment) -> Result<Option<Segment>> {
        let _no_writes = self.gate.write();
        assert!(
            self.log.is_none() || self.memory.frozen().is_empty(),
            "a memtable was frozen before the last one was flushed, and its rows would be dropped with those"
        );
        let full = self.log.as_ref().map(|log| log.switch_to(next)).transpose()?;
        self.memory.freeze();
        debug_assert!(
            self.memory.active_bytes() == 0,
            "the next segment would not have the rows of its memtable"
        );
        Ok(full)
    }

    /// Drops the frozen memtable and removes its segments, those before `needed`, after the manifest lists the tables
    /// that replace them.
    pub(crate) fn remove_flushed(&self, needed: u64) {
        assert!(needed <= self.segment(), "the segment that records are appended to would be removed");
        self.memory.drop_frozen();
        if let Some(log) = &self.log {
            log.remove_before(needed);
        }
    }

    /// Returns the log. `None` in a store in memory.
    pub(crate) fn log(&self) -> Option<&CommitLog> {
        self.log.as_ref()
    }

    /// Returns the number of the current segment; 0 in a store in memory.
    pub(crate) fn segment(&self) -> u64 {
        self.log.as_ref().map_or(0, CommitLog::number)
    }
}
