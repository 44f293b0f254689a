//! The embedded store: the `Store` trait over an open engine.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use smallvec::{SmallVec, smallvec};

use super::blocking::MayWait;
use super::disk_threads::DiskThreads;
use super::engine::{Engine, Setup};
use super::families::Fate;
use super::options::EmbeddedOptions;
use super::snapshots::{self, StoreSnapshot};
use super::write_path::Written;
use crate::model::{Behaviour, ConsistencyLevel, Mutation, RangeCommand, ReadCommand, Row, RowColumns};
use crate::partitioner::PartitionerRef;
use crate::schema::{Catalog, CfDef};
use crate::storage::disk::{Disk, RealDisk};
use crate::storage::{Dump, DumpCommand, Store, StoreError, StoreFuture, StoreStatus};
use crate::util::Clock;

/// Rows in one data directory, or in memory alone.
pub struct EmbeddedStore {
    engine: Arc<Engine>,
    disk_threads: DiskThreads,
}

impl EmbeddedStore {
    /// Opens a data directory, or makes one. Due deletions are swept in the background from the first `alter` on, which is
    /// given the whole schema.
    ///
    /// # Errors
    /// `Mismatch` when it was written under another partitioner or comparator, `Corrupt` when it is damaged, `Io` when
    /// the operating system refuses, or another process has it.
    pub fn open(
        options: EmbeddedOptions,
        partitioner: PartitionerRef,
        catalog: &Catalog,
        clock: Arc<Clock>,
    ) -> Result<EmbeddedStore, StoreError> {
        EmbeddedStore::open_on(Arc::new(RealDisk), options, partitioner, catalog, clock)
    }

    /// The same on another disk than the operating system's: for tests.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        options: EmbeddedOptions,
        partitioner: PartitionerRef,
        catalog: &Catalog,
        clock: Arc<Clock>,
    ) -> Result<EmbeddedStore, StoreError> {
        let setup = Setup { options, disk, partitioner, clock };
        Ok(EmbeddedStore::over(Engine::open(setup, catalog)?))
    }

    /// An empty store that touches no disk and forgets everything when it is dropped.
    pub fn in_memory(
        partitioner: PartitionerRef,
        catalog: &Catalog,
        clock: Arc<Clock>,
    ) -> Result<EmbeddedStore, StoreError> {
        let engine = Engine::in_memory(partitioner, clock)?;
        engine.align(catalog)?;
        Ok(EmbeddedStore::over(engine))
    }

    fn over(engine: Engine) -> EmbeddedStore {
        EmbeddedStore { disk_threads: DiskThreads::new(engine.health.clone()), engine: Arc::new(engine) }
    }

    /// Runs work that may wait for the disk, or takes long, while the calling thread serves others.
    async fn waiting<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine, &MayWait) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let engine = self.engine.clone();
        self.disk_threads.run(move |may_wait| work(&engine, may_wait)).await
    }

    /// Remembers all that a store in memory holds, between two writes: rows, column families and metadata records. Takes
    /// microseconds and no memory.
    ///
    /// # Errors
    /// `Invalid` for a store on a disk.
    pub fn snapshot(&self) -> Result<StoreSnapshot, StoreError> {
        snapshots::take(&self.engine)
    }

    /// Makes a store in memory hold what it held when a snapshot of it was taken. An empty store's first snapshot resets
    /// it. Takes microseconds.
    ///
    /// # Errors
    /// `Invalid` for a store on a disk.
    pub fn restore(&self, snapshot: &StoreSnapshot) -> Result<(), StoreError> {
        snapshots::restore(&self.engine, snapshot)
    }

    /// The node's token as text: the one noted first stays.
    pub fn token_or_note(&self, token: &str) -> Result<String, StoreError> {
        let manifest = &self.engine.manifest;
        if let Some(noted) = &manifest.contents().token {
            return Ok(noted.clone());
        }
        manifest.change(|contents| contents.token = Some(token.to_owned()))?;
        Ok(token.to_owned())
    }

    /// Looks after due deletions now instead of when the sweeper next wakes. Returns how many there were.
    pub fn sweep(&self) -> Result<usize, StoreError> {
        self.engine.sweep(&MayWait::on_own_thread())
    }

    /// Writes all memory to tables and merges them, so that old tombstones go. For tests and operators.
    pub fn compact(&self) -> Result<(), StoreError> {
        self.engine.compact(&MayWait::on_own_thread())
    }

    /// Writes all memory to tables. For tests.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.engine.flush(&MayWait::on_own_thread())
    }

    /// Applies mutations of different rows, and waits for the disk only where others need not.
    async fn write(&self, mutations: Vec<Mutation>, behaviour: &'static Behaviour) -> Result<(), StoreError> {
        self.wait_for_room().await?;
        let outcome = match self.engine.write(mutations, behaviour, None) {
            Ok(Written::MustWait(mutations)) => {
                let write = move |engine: &Engine, may_wait: &MayWait| {
                    engine.write(mutations, behaviour, Some(may_wait))
                };
                self.waiting(write).await
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

    /// Sleeps a little while flushes and compactions do not keep up, and waits while memory is full. Fails when it cannot be
    /// flushed.
    async fn wait_for_room(&self) -> Result<(), StoreError> {
        let ahead = &self.engine.write.ahead;
        if let Some(delay) = ahead.throttle.delay(ahead.fill()) {
            tokio::time::sleep(delay).await;
        }
        while ahead.is_full() {
            let flushed = ahead.has_flushed.notified();
            tokio::pin!(flushed);
            // From here on nothing is missed; what has happened before is looked for once more.
            flushed.as_mut().enable();
            ahead.health.check()?;
            if let Some(trouble) = ahead.flush_trouble() {
                return Err(StoreError::ReadOnly(format!("memory is full and cannot be flushed: {trouble}")));
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
            match self.engine.durable.as_ref().map(|durable| durable.committer()) {
                Some(committer) if committer.waits() && consistency != ConsistencyLevel::Zero => {
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
        Box::pin(async move {
            if let Some(found) = self.engine.read(&key, &command, None)? {
                return Ok(found);
            }
            let found =
                self.waiting(move |engine, may_wait| engine.read(&key, &command, Some(may_wait))).await?;
            found.ok_or_else(|| StoreError::Io("a read that may wait has not been finished".to_owned()))
        })
    }

    fn scan(&self, command: RangeCommand, _consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
        Box::pin(
            async move { self.waiting(move |engine, may_wait| engine.read.scan(&command, may_wait)).await },
        )
    }

    fn dump(&self, command: DumpCommand) -> Option<StoreFuture<'_, Dump>> {
        Some(Box::pin(async move {
            self.waiting(move |engine, may_wait| engine.read.dump(&command, may_wait)).await
        }))
    }

    fn can_dump(&self) -> bool {
        true
    }

    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        Box::pin(async move {
            let tokens = self.waiting(|engine, may_wait| engine.read.tokens(may_wait)).await?;
            Ok(crate::storage::split_points(tokens, &start, &end, keys_per_split))
        })
    }

    fn truncate(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.waiting(move |engine, may_wait| engine.forget(&cf, Fate::Truncated, may_wait)).await
        })
    }

    fn drop_family(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.waiting(move |engine, may_wait| engine.forget(&cf, Fate::Dropped, may_wait)).await
        })
    }

    fn notes(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        let contents = self.engine.manifest.contents();
        let records = contents.records.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Box::pin(async move { Ok(records) })
    }

    fn note(&self, notes: Vec<(String, Option<Bytes>)>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.waiting(move |engine, _| {
                engine.health.check()?;
                engine.manifest.change(|contents| {
                    for (name, value) in notes {
                        match value {
                            Some(value) => contents.records.insert(name, value),
                            None => contents.records.remove(&name),
                        };
                    }
                })
            })
            .await
        })
    }

    fn alter(&self, catalog: Arc<Catalog>) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.waiting(move |engine, _| engine.align_whole(&catalog)).await })
    }

    fn status(&self) -> StoreStatus {
        self.engine.status()
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.waiting(|engine, _| engine.close()).await })
    }
}
