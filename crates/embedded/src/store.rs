//! The embedded store: the `Store` trait over an open engine.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use smallvec::{SmallVec, smallvec};

use super::blocking::{BlockingPermit, LONG_SLICE};
use super::disk_threads::{DiskThreads, Length};
use super::engine::{Durable, Engine, Setup};
use super::health::guard_read;
use super::options::EmbeddedOptions;
use super::read_path::{ReadRow, is_long};
use super::scan::ScanPlace;
use super::snapshots;
use super::write_path::WriteOutcome;
use crate::disk::{Disk, RealDisk};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Mutation, RangeCommand, ReadCommand, ReadOf, Row, RowColumns};
use base::partitioner::PartitionerRef;
use base::schema::Catalog;
use base::util::{Clock, meter};
use store::{
    BulkStore, Capabilities, Dump, DumpCommand, Result, SnapshotStore, Store, StoreChange, StoreError,
    StoreFuture, StoreSnapshot, StoreStatus, StoredSlice, StoredSliceCommand,
};

/// A store in one data directory, or only in memory.
pub struct EmbeddedStore {
    engine: Arc<Engine>,
    disk_threads: DiskThreads,
}

impl EmbeddedStore {
    /// Opens or creates a data directory. Due deletions are swept in the background after the first
    /// [`Store::change_schema`] with a catalog, which is the whole schema.
    ///
    /// # Errors
    /// `Mismatch` if it was written with another partitioner or comparator, `Corrupt` if it is damaged, `Io` if the
    /// operating system fails or another process has locked it.
    pub fn open(
        options: EmbeddedOptions,
        partitioner: PartitionerRef,
        catalog: &Catalog,
        clock: Arc<Clock>,
    ) -> Result<EmbeddedStore> {
        EmbeddedStore::open_on(Arc::new(RealDisk), options, partitioner, catalog, clock)
    }

    /// Opens a store on another disk than the operating system's, for tests.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        options: EmbeddedOptions,
        partitioner: PartitionerRef,
        catalog: &Catalog,
        clock: Arc<Clock>,
    ) -> Result<EmbeddedStore> {
        let setup = Setup { options, disk, partitioner, clock };
        Ok(EmbeddedStore::over(Engine::open(setup, catalog)?))
    }

    /// Returns an empty store in memory, which does not use the disk.
    pub fn in_memory(
        partitioner: PartitionerRef,
        catalog: &Catalog,
        clock: Arc<Clock>,
    ) -> Result<EmbeddedStore> {
        let engine = Engine::in_memory(partitioner, clock)?;
        let change = StoreChange::to_catalog(Arc::new(catalog.clone()));
        engine.change_schema(&change, &BlockingPermit::on_own_thread())?;
        Ok(EmbeddedStore::over(engine))
    }

    /// Returns the open engine.
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    fn over(engine: Engine) -> EmbeddedStore {
        EmbeddedStore { disk_threads: DiskThreads::new(), engine: Arc::new(engine) }
    }

    /// Runs work that may wait for the disk on another thread.
    async fn waiting_for<T: Send + 'static>(
        &self,
        length: Length,
        work: impl FnOnce(&Engine, &BlockingPermit) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let engine = self.engine.clone();
        self.disk_threads.run(length, move |may_wait| work(&engine, may_wait)).await
    }

    /// Reads a row on this thread if memory can answer, else on a thread that may wait for the disk. If the read needs
    /// memory that other requests hold, it waits for it and starts again.
    async fn read_row<T: Send + 'static>(
        &self,
        key: Bytes,
        command: ReadCommand,
        read: ReadRow<T>,
    ) -> Result<T> {
        let before = meter::mark();
        let read_now = |key: &Bytes, command: &ReadCommand| {
            guard_read(|| self.engine.read.read(key, command, read, None))
        };
        let mut outcome = match read_now(&key, &command) {
            Ok(Some(found)) => return Ok(found),
            outcome => outcome,
        };
        let length = if is_long(&command) { Length::Long } else { Length::Short };
        let asked = Arc::new((key, command));
        loop {
            if let Ok(None) = &outcome {
                let asked = asked.clone();
                let waiting = self.waiting_for(length, move |engine, wait| {
                    // The client may have disconnected while the read waited for a thread.
                    meter::check()?;
                    engine.read.read(&asked.0, &asked.1, read, Some(wait))
                });
                outcome = waiting.await;
            }
            match outcome {
                Err(StoreError::Overloaded(_)) if meter::lacks_memory() => {
                    before.restore();
                    meter::wait_for_memory().await?;
                    outcome = read_now(&asked.0, &asked.1);
                }
                Ok(Some(found)) => return Ok(found),
                Ok(None) => {
                    return Err(StoreError::Io(
                        "a read that may wait for the disk has returned no result".to_owned(),
                    ));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads the rows of a scan in pieces.
    async fn scan_pieces(&self, command: RangeCommand) -> Result<Vec<Row>> {
        let mut command = Arc::new(command);
        let mut found = Vec::new();
        let mut place = ScanPlace::default();
        loop {
            let before = meter::mark();
            let (asked, from) = (command.clone(), place.clone());
            let scan =
                self.waiting_for(Length::Long, move |engine, wait| engine.read.scan(&asked, from, wait));
            let piece = match scan.await {
                Err(StoreError::Overloaded(_)) if meter::lacks_memory() => {
                    before.restore();
                    meter::wait_for_memory().await?;
                    continue;
                }
                piece => piece?,
            };
            let Some(next) = piece.next else {
                // Mostly there is only one piece, which needs no copy.
                if found.is_empty() {
                    return Ok(piece.rows);
                }
                found.extend(piece.rows);
                return Ok(found);
            };
            place = next;
            debug_assert!(piece.rows.len() < command.max_rows, "a scan would continue behind its last row");
            Arc::make_mut(&mut command).max_rows -= piece.rows.len();
            found.extend(piece.rows);
        }
    }

    /// Takes a snapshot of a store in memory: rows, column families and metadata records. Takes microseconds and copies
    /// nothing.
    ///
    /// # Errors
    /// `Invalid` for a store on a disk.
    pub fn snapshot(&self) -> Result<StoreSnapshot> {
        snapshots::take(&self.engine).map(StoreSnapshot::new)
    }

    /// Restores a snapshot of this store in memory. A snapshot of the empty store resets it. Takes microseconds.
    ///
    /// # Errors
    /// `Invalid` for a store on a disk.
    pub fn restore(&self, snapshot: &StoreSnapshot) -> Result<()> {
        snapshots::restore(&self.engine, snapshots::content(snapshot)?)
    }

    /// Returns the node's token as text. The first call stores its argument, later calls return the stored token.
    pub fn token_or_new(&self, token: &str) -> Result<String> {
        let manifest = &self.engine.manifest;
        if let Some(stored) = &manifest.contents().token {
            return Ok(stored.clone());
        }
        manifest.change(|contents| contents.token = Some(token.to_owned()))?;
        Ok(token.to_owned())
    }

    /// Sweeps due deletions now. Returns how many there were. For tests.
    pub fn sweep(&self) -> Result<usize> {
        self.engine.sweep(&BlockingPermit::on_own_thread())
    }

    /// Flushes the memtable and merges all tables, which drops old tombstones. For tests and operators.
    pub fn compact(&self) -> Result<()> {
        self.engine.compact(&BlockingPermit::on_own_thread())
    }

    /// Flushes the memtable. For tests.
    pub fn flush(&self) -> Result<()> {
        self.engine.flush(&BlockingPermit::on_own_thread())
    }

    /// Applies mutations of different rows, on this thread or on one that may wait for the disk.
    async fn write(&self, mutations: Vec<Mutation>, behaviour: &'static Behaviour) -> Result<()> {
        self.wait_for_room().await?;
        // A bulk load looks into tables. A client's write mostly does not.
        let is_long = is_long_write(&mutations) || self.engine.write.ahead.is_loading();
        let outcome = match is_long {
            true => Ok(WriteOutcome::MustWait(mutations)),
            false => self.engine.write(mutations, behaviour, None),
        };
        let outcome = match outcome {
            Ok(WriteOutcome::MustWait(mutations)) => {
                self.waiting_for(Length::Short, move |engine: &Engine, may_wait: &BlockingPermit| {
                    engine.write(mutations, behaviour, Some(may_wait))
                })
                .await
            }
            outcome => outcome,
        };
        if let Some(durable) = &self.engine.durable
            && self.engine.write.ahead.wants_flush()
        {
            durable.wake_flusher();
        }
        outcome.map(|_| ())
    }

    /// Delays a write while flushes and compactions do not keep up, and waits while the memtable is full. Fails if the
    /// memtable cannot be flushed.
    async fn wait_for_room(&self) -> Result<()> {
        let ahead = &self.engine.write.ahead;
        if let Some(delay) = ahead.throttle.delay(ahead.fill()) {
            tokio::time::sleep(delay).await;
        }
        while ahead.is_full() {
            let flushed = ahead.has_flushed.notified();
            tokio::pin!(flushed);
            // From here on no notification is missed, so the state is checked again.
            flushed.as_mut().enable();
            ahead.health.check()?;
            if let Some(error) = ahead.flush_error() {
                return Err(StoreError::ReadOnly(format!("memory is full and cannot be flushed: {error}")));
            }
            if ahead.is_full() {
                if let Some(durable) = &self.engine.durable {
                    durable.wake_flusher();
                }
                flushed.await;
            }
        }
        Ok(())
    }
}

/// Returns whether a write has so many changes that it would delay other connections.
fn is_long_write(mutations: &[Mutation]) -> bool {
    let families = mutations.iter().flat_map(|mutation| &mutation.families);
    families.map(|family| family.changes.len()).sum::<usize>() > LONG_SLICE
}

/// Splits mutations into parts that have each row at most once: the second mutation of a row must see the result of the
/// first.
fn of_different_rows(mutations: Vec<Mutation>) -> SmallVec<[Vec<Mutation>; 1]> {
    let mut keys = HashSet::new();
    if mutations.len() < 2 || mutations.iter().all(|mutation| keys.insert(&mutation.key)) {
        return smallvec![mutations];
    }
    let mut parts: SmallVec<[Vec<Mutation>; 1]> = smallvec![Vec::new()];
    let mut seen = HashSet::new();
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

impl Store for EmbeddedStore {
    fn apply(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            for mutations in of_different_rows(mutations) {
                self.write(mutations, behaviour).await?;
            }
            let is_logged = !self.engine.write.ahead.is_loading();
            match self.engine.durable.as_ref().map(|durable| durable.committer()) {
                Some(committer)
                    if is_logged && committer.waits() && consistency != ConsistencyLevel::Zero =>
                {
                    committer.synced().await
                }
                _ => Ok(()),
            }
        })
    }

    fn read(
        &self,
        key: Bytes,
        command: ReadCommand,
        _consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, RowColumns> {
        Box::pin(self.read_row(key, command, |row, command| row.read(command, ReadOf::Row)))
    }

    fn count(
        &self,
        key: Bytes,
        command: ReadCommand,
        _consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, usize> {
        Box::pin(self.read_row(key, command, |row, command| row.count(command, ReadOf::Row)))
    }

    fn scan(&self, command: RangeCommand, _consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
        Box::pin(self.scan_pieces(command))
    }

    fn dump(&self, command: DumpCommand) -> Option<StoreFuture<'_, Dump>> {
        Some(Box::pin(async move {
            self.waiting_for(Length::Long, move |engine, wait| engine.read.dump(&command, wait)).await
        }))
    }

    fn can_dump(&self) -> bool {
        true
    }

    fn stored_slice(&self, command: StoredSliceCommand) -> Option<StoreFuture<'_, StoredSlice>> {
        Some(Box::pin(async move {
            self.waiting_for(Length::Short, move |engine, wait| engine.read.stored_slice(&command, wait))
                .await
        }))
    }

    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        Box::pin(async move {
            let tokens =
                self.waiting_for(Length::Long, |engine, may_wait| engine.read.tokens(may_wait)).await?;
            Ok(store::split_points(tokens, &start, &end, keys_per_split))
        })
    }

    fn records(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        let contents = self.engine.manifest.contents();
        let records = contents.records.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Box::pin(async move { Ok(records) })
    }

    fn change_schema(&self, change: StoreChange) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.waiting_for(Length::Short, move |engine, may_wait| {
                engine.change_schema(&change, may_wait)?;
                if change.catalog.is_some() {
                    engine.set_schema_known();
                }
                Ok(())
            })
            .await
        })
    }

    fn status(&self) -> StoreStatus {
        self.engine.status()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        let snapshots: Option<&dyn SnapshotStore> = match self.engine.durable {
            None => Some(self),
            Some(_) => None,
        };
        let directory = self.engine.durable.as_ref().map(Durable::directory);
        Capabilities { snapshots, directory, bulk_load: Some(self), ..Capabilities::default() }
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.waiting_for(Length::Short, |engine, _| engine.close()).await })
    }
}

impl BulkStore for EmbeddedStore {
    fn begin_load(&self) -> Result<()> {
        self.engine.begin_load()
    }

    fn checkpoint_load(&self) -> StoreFuture<'_, ()> {
        Box::pin(self.waiting_for(Length::Long, |engine, may_wait| engine.checkpoint_load(may_wait)))
    }

    fn end_load(&self) -> StoreFuture<'_, ()> {
        Box::pin(self.waiting_for(Length::Long, |engine, may_wait| engine.end_load(may_wait)))
    }
}

impl SnapshotStore for EmbeddedStore {
    fn prepare_snapshot(&self) {
        snapshots::prepare(&self.engine);
    }

    fn take_snapshot(&self) -> Result<StoreSnapshot> {
        self.snapshot()
    }

    fn restore_snapshot(&self, snapshot: &StoreSnapshot) -> Result<()> {
        self.restore(snapshot)
    }

    fn open_further(&self, snapshot: &StoreSnapshot, clock: Arc<Clock>) -> Result<Arc<dyn Store>> {
        let partitioner = self.engine.read.partitioner.clone();
        Ok(Arc::new(EmbeddedStore::over(snapshots::open(partitioner, clock, snapshots::content(snapshot)?)?)))
    }

    fn clear_rows(&self, records: &[String]) -> Result<()> {
        snapshots::clear(&self.engine, records)
    }
}
