//! The embedded store: the `Store` trait over the engine, which it opens again when one of its writes has failed.
//!
//! The engine accepts nothing more after a failed write, be it of its log or of a table that it merges; a disk that
//! was full for a moment is enough. Its log holds all that was acknowledged, so opening it again brings everything
//! back. That is done by the first write that finds the disk with room again:
//!
//! ```text
//!   write -> Poisoned -> no call is in the engine any more -> close it -> open it -> the next write
//! ```
//!
//! It is not done after a failed sync: what the system's cache then shows need not be on the disk.

use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwapOption, Guard};
use bytes::Bytes;
use parking_lot::Mutex;
use smallvec::{SmallVec, smallvec};

use super::blocking;
use super::engine::{self, engine_error};
use super::flush::flush;
use super::inner::Inner;
use super::purge;
use super::running::Running;
use super::setup::{EmbeddedOptions, Setup};
use super::shield;
use crate::model::{Behaviour, ConsistencyLevel, Mutation, RangeCommand, ReadCommand, Row, RowColumns};
use crate::partitioner::PartitionerRef;
use crate::schema::{Catalog, CfDef};
use crate::storage::{Dump, DumpCommand, Store, StoreError, StoreFuture, StoreStatus};
use crate::util::Clock;

/// Time between two attempts to open the engine again.
const REOPEN_EVERY: Duration = Duration::from_secs(2);
/// How long calls may take to leave the engine that is to be closed.
const LEAVE_WITHIN: Duration = Duration::from_secs(10);

/// What is open now, if something is. Who holds it delays its being opened again.
type RunningNow = Guard<Option<Arc<Running>>>;

/// Rows in the engine, in one data directory.
pub struct EmbeddedStore {
    setup: Setup,
    /// Empty while the engine is opened again, and after an attempt at it that has failed.
    running: ArcSwapOption<Running>,
    /// Held by who opens the engine again, or waits for that.
    last_reopening: Mutex<Option<Instant>>,
    /// Keeps other processes out of the directory. Let go last.
    _lock: File,
}

impl EmbeddedStore {
    /// Opens a data directory, or makes one. Fails when it was written under another partitioner or comparator.
    pub fn open(
        options: EmbeddedOptions,
        partitioner: PartitionerRef,
        catalog: &Catalog,
        clock: Arc<Clock>,
    ) -> Result<EmbeddedStore, StoreError> {
        let lock = engine::lock_directory(&options.directory)?;
        let catalog = Mutex::new(Arc::new(catalog.clone()));
        let setup = Setup { options, partitioner, catalog, clock };
        let running = Running::start(&setup)?;
        Ok(EmbeddedStore {
            setup,
            running: ArcSwapOption::new(Some(Arc::new(running))),
            last_reopening: Mutex::default(),
            _lock: lock,
        })
    }

    /// The open engine; one that has failed to open is tried again.
    fn running(&self) -> Result<RunningNow, StoreError> {
        let running = self.running.load();
        if running.is_some() {
            return Ok(running);
        }
        // Somebody is opening it again, or has failed to.
        let mut last = self.last_reopening.lock();
        if self.running.load().is_none() {
            check_rested(&last)?;
            self.open_again(&mut last)?;
        }
        Ok(self.running.load())
    }

    /// Runs a call into the engine.
    fn with<T>(&self, run: impl FnOnce(&Inner) -> Result<T, StoreError>) -> Result<T, StoreError> {
        opened(&self.running()?)?.inner.shielded(run)
    }

    /// Whether a write that was refused may be accepted by an engine that is opened again.
    fn may_recover(&self, running: &Running) -> bool {
        let inner = &running.inner;
        inner.is_poisoned()
            && !inner.intake.is_closed()
            && !inner.has_panicked()
            && inner.intake.check_synced().is_ok()
            && inner.has_room()
    }

    /// Closes an engine of which a write has failed, and opens it again. Not more frequently than now and then. Others
    /// wait for the end of this, and have the engine as it is then.
    fn reopen(&self) -> Result<(), StoreError> {
        let mut last = self.last_reopening.lock();
        if self.running.load().as_ref().is_some_and(|running| !self.may_recover(running)) {
            // Somebody was faster.
            return Ok(());
        }
        check_rested(&last)?;
        if let Some(running) = self.running.swap(None)
            && let Err(busy) = unused(running)
        {
            self.running.store(Some(busy));
            *last = Some(Instant::now());
            return Err(not_open());
        }
        self.open_again(&mut last)
    }

    /// Opens the engine, which is closed.
    fn open_again(&self, last: &mut Option<Instant>) -> Result<(), StoreError> {
        tracing::warn!("a write of the storage engine had failed; opening it again");
        let reopened = Running::start(&self.setup);
        *last = Some(Instant::now());
        match reopened {
            Ok(running) => {
                self.running.store(Some(Arc::new(running)));
                Ok(())
            }
            Err(error) => {
                tracing::error!("the storage engine does not open again: {error}");
                Err(error)
            }
        }
    }

    /// Applies mutations of different rows.
    async fn write(
        &self,
        running: &Running,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
    ) -> Result<(), StoreError> {
        let inner = &running.inner;
        wait_for_room(running).await?;
        let outcome = inner.shielded(|inner| inner.write(mutations, behaviour));
        if inner.intake.wants_flush() {
            running.flusher.wake();
        }
        outcome
    }

    /// The node's token as text: the one noted first stays.
    pub fn token_or_note(&self, token: &str) -> Result<String, StoreError> {
        self.with(|inner| inner.ledger.token_or_note(token))
    }

    /// Looks after due deletions now instead of when the sweeper next wakes. Returns how many there were.
    pub fn sweep(&self) -> Result<usize, StoreError> {
        self.with(purge::sweep)
    }

    /// Writes all memory to tables and merges them, so that old tombstones go. For tests and operators.
    pub fn compact(&self) -> Result<(), StoreError> {
        self.with(|inner| {
            flush(inner)?;
            for family in inner.families() {
                let trees = family.trees.load();
                for tree in trees.existing() {
                    tree.rotate_memtable_and_wait().map_err(engine_error)?;
                    tree.major_compact().map_err(engine_error)?;
                }
            }
            Ok(())
        })
    }
}

/// Waits while memory is full. Fails when it will not be flushed, or the disk has failed.
async fn wait_for_room(running: &Running) -> Result<(), StoreError> {
    let intake = &running.inner.intake;
    loop {
        intake.check_synced()?;
        if intake.flush_has_failed() {
            return Err(not_open());
        }
        if !intake.is_full() {
            return Ok(());
        }
        let flushed = intake.has_flushed.notified();
        tokio::pin!(flushed);
        // From here on nothing is missed; what has happened before is looked for once more.
        flushed.as_mut().enable();
        if intake.is_full() && !intake.flush_has_failed() {
            running.flusher.wake();
            flushed.await;
        }
    }
}

/// Splits mutations so that no row comes twice in one part: it must see its first change before it meets the second.
fn of_different_rows(mutations: Vec<Mutation>) -> SmallVec<[Vec<Mutation>; 1]> {
    let mut seen = HashSet::new();
    if mutations.len() < 2 || mutations.iter().all(|mutation| seen.insert(mutation.key.clone())) {
        return smallvec![mutations];
    }
    let mut parts: SmallVec<[Vec<Mutation>; 1]> = smallvec![Vec::new()];
    seen.clear();
    for mutation in mutations {
        if !seen.insert(mutation.key.clone()) {
            seen = HashSet::from([mutation.key.clone()]);
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(mutation);
        }
    }
    parts
}

/// Refuses when the last attempt to open the engine again was a moment ago.
fn check_rested(last: &Option<Instant>) -> Result<(), StoreError> {
    if last.is_some_and(|last| last.elapsed() < REOPEN_EVERY) { Err(not_open()) } else { Ok(()) }
}

/// The engine, if it is open.
fn opened(running: &RunningNow) -> Result<&Arc<Running>, StoreError> {
    running.as_ref().ok_or_else(not_open)
}

fn not_open() -> StoreError {
    StoreError::ReadOnly(
        "a write to the disk has failed, and the storage engine is not open again yet".to_owned(),
    )
}

/// Drops an engine when no call uses it any more; gives it back when that takes too long.
fn unused(mut running: Arc<Running>) -> Result<(), Arc<Running>> {
    let started = Instant::now();
    loop {
        match Arc::try_unwrap(running) {
            Ok(running) => {
                drop_engine(running);
                return Ok(());
            }
            Err(busy) if started.elapsed() > LEAVE_WITHIN => return Err(busy),
            Err(busy) => running = busy,
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Drops an engine, which may panic over locks that a panic of its threads has left behind.
fn drop_engine<T>(running: T) {
    let dropped = shield::caught(|| {
        drop(running);
        Ok(())
    });
    if let Err(error) = dropped {
        tracing::error!("{error}");
    }
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        drop_engine(self.running.swap(None));
    }
}

impl Store for EmbeddedStore {
    fn apply(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let guard = self.running()?;
            let running = opened(&guard)?;
            for mutations in of_different_rows(mutations) {
                let Err(error) = self.write(running, mutations, behaviour).await else { continue };
                // The write that finds the engine poisoned is refused, and opens it again for the next.
                if self.may_recover(running) {
                    drop(guard);
                    blocking::long(|| self.reopen())?;
                }
                return Err(error);
            }
            if running.committer.waits() && consistency != ConsistencyLevel::Zero {
                running.committer.synced().await?;
            }
            Ok(())
        })
    }

    fn read(
        &self,
        key: Bytes,
        command: ReadCommand,
        _consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, RowColumns> {
        Box::pin(async move { self.with(|inner| inner.read(&key, &command)) })
    }

    fn scan(&self, command: RangeCommand, _consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
        Box::pin(async move { blocking::long(|| self.with(|inner| inner.scan(&command))) })
    }

    fn dump(&self, command: DumpCommand) -> Option<StoreFuture<'_, Dump>> {
        Some(Box::pin(async move { blocking::long(|| self.with(|inner| inner.dump(&command))) }))
    }

    fn can_dump(&self) -> bool {
        true
    }

    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        Box::pin(async move {
            let tokens = blocking::long(|| self.with(Inner::tokens))?;
            Ok(crate::storage::split_points(tokens, &start, &end, keys_per_split))
        })
    }

    fn truncate(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        Box::pin(async move { blocking::long(|| self.with(|inner| inner.truncate(&cf))) })
    }

    fn drop_family(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            blocking::long(|| self.with(|inner| inner.drop_family(&cf)))?;
            // An engine that is opened again must not take it up again.
            let mut catalog = self.setup.catalog.lock();
            *catalog = Arc::new(catalog.without(&cf));
            Ok(())
        })
    }

    fn notes(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        Box::pin(async move { self.with(|inner| inner.ledger.notes()) })
    }

    fn note(&self, notes: Vec<(String, Option<Bytes>)>) -> StoreFuture<'_, ()> {
        Box::pin(async move { blocking::long(|| self.with(|inner| inner.ledger.keep_notes(&notes))) })
    }

    fn alter(&self, catalog: Arc<Catalog>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            blocking::long(|| self.with(|inner| inner.align(&catalog)))?;
            *self.setup.catalog.lock() = catalog;
            Ok(())
        })
    }

    fn status(&self) -> StoreStatus {
        let Some(running) = self.running().ok().and_then(Guard::into_inner) else {
            return StoreStatus { read_only: Some(not_open().to_string()), ..StoreStatus::default() };
        };
        let mut status = running.inner.status();
        let has_failed = running.inner.intake.check_synced().err().map(|error| error.to_string());
        status.read_only = has_failed.or(status.read_only);
        status
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move { opened(&self.running()?)?.close() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partitioner::RandomPartitioner;
    use crate::storage::SyncMode;

    fn open(directory: &std::path::Path) -> EmbeddedStore {
        let options = EmbeddedOptions {
            directory: directory.to_owned(),
            sync: SyncMode::Periodic(Duration::from_secs(1)),
            cache_bytes: 1 << 20,
        };
        let partitioner = Arc::new(RandomPartitioner);
        EmbeddedStore::open(options, partitioner, &Catalog::default(), Arc::new(Clock::system())).unwrap()
    }

    #[test]
    fn who_finds_no_engine_waits_for_who_opens_it() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path());
        let being_opened = store.last_reopening.lock();
        let engine = store.running.swap(None);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| store.with(|inner| Ok(inner.families().len())));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!reader.is_finished());
            store.running.store(engine);
            drop(being_opened);
            assert_eq!(reader.join().unwrap().unwrap(), 0);
        });
        assert!(store.last_reopening.lock().is_none(), "nobody has opened it once more");
    }

    #[test]
    fn a_closed_engine_is_opened_now_and_then() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path());
        drop_engine(store.running.swap(None));
        assert_eq!(store.with(|inner| Ok(inner.families().len())).unwrap(), 0);
        drop_engine(store.running.swap(None));
        assert!(matches!(store.with(|_| Ok(())), Err(StoreError::ReadOnly(_))));
    }
}
