//! The engine: the parts of an open store, and its background threads.
//!
//! A directory that was closed cleanly and one whose process was killed are opened in the same steps. Each step needs only
//! what the steps before it have read:
//!
//! ```text
//!   LockedDirectory    keeps other processes out
//!   Manifest           column families, their trees, the first segment of the log that is needed
//!   TableSpace         the tables that the manifest lists
//!   open_log           replays the needed segments into memtables, and continues the log behind them
//!   change_families    applies the schema of the configuration, as any other change of the schema
//!
//!   threads            committer    syncs the log           flusher    writes frozen memtables to tables
//!                      compactor    merges tables           sweeper    removes old tombstones
//! ```
//!
//! The sweeper starts last, and rests until the schema of clients is known too. A thread that panics makes the store
//! refuse writes (`Health`).

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::archiving::ArchiveMeter;
use super::blocking::BlockingPermit;
use super::commit::Committer;
use super::deletion_queue::{DeletionQueue, QUEUE_FAMILY};
use super::disk_guard::DiskGuard;
use super::families::Families;
use super::flush::Flush;
use super::format::LockedDirectory;
use super::health::Health;
use super::locks::RowLocks;
use super::log::CommitLog;
use super::manifest::{Contents, LogSpan, Manifest};
use super::memtable::Memory;
use super::options::EmbeddedOptions;
use super::partitioner::settle_partitioner;
use super::read_path::ReadPath;
use super::recovery::replay_newest;
use super::row_cache::RowCache;
use super::sweeper::Sweeper;
use super::tables::{TableSpace, TableSpaceOptions, Tables};
use super::threads::{NextRun, Worker};
use super::write_ahead::WriteAhead;
use super::write_path::{WriteOutcome, WritePath};
use crate::disk::Disk;
use base::compat::Behaviour;
use base::model::Mutation;
use base::partitioner::PartitionerRef;
use base::schema::Catalog;
use base::util::Clock;
use base::util::metrics::Counter;
use store::{EngineStatus, Result, StoreChange, StoreError, StoreStatus};

/// Time between two checks of the queue of deletions.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
/// Time between two checks whether a flush is due. Writers also wake the flush thread.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// The interval at which the trees are checked for work if no flush asks for a check.
const COMPACT_EVERY: Duration = Duration::from_secs(5);
/// Time after a failed compaction until the next attempt: a disk that was full may have space again.
const COMPACT_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// The parts with which a store is opened.
pub(crate) struct Setup {
    pub options: EmbeddedOptions,
    pub disk: Arc<dyn Disk>,
    pub partitioner: PartitionerRef,
    pub clock: Arc<Clock>,
}

/// The parts that only a store on a disk has.
pub(crate) struct Durable {
    pub space: Arc<TableSpace>,
    flush: Arc<Flush>,
    committer: Committer,
    flusher: Worker,
    compactor: Arc<Worker>,
    /// Keeps other processes out of the directory.
    directory: LockedDirectory,
}

/// An open store.
pub(crate) struct Engine {
    pub health: Arc<Health>,
    pub manifest: Arc<Manifest>,
    pub families: Arc<Families>,
    pub read: Arc<ReadPath>,
    pub write: Arc<WritePath>,
    sweeper: Arc<Sweeper>,
    /// `None` until the store is open.
    sweeping: Option<Worker>,
    /// Set when the whole schema is known: the part in the configuration, and the part of clients, which is read from
    /// the store itself. Before that the sweeper would treat column families of clients as undefined and postpone their
    /// deletions.
    knows_schema: Arc<AtomicBool>,
    /// `None` in a store in memory.
    pub durable: Option<Durable>,
    /// Set if the store is archived.
    pub archive: OnceLock<Arc<ArchiveMeter>>,
}

impl Engine {
    /// Opens or creates a data directory with a catalog.
    pub(crate) fn open(setup: Setup, catalog: &Catalog) -> Result<Engine> {
        let directory = LockedDirectory::take(&setup.options.directory)?;
        let health = Arc::new(Health::default());
        let manifest = Arc::new(open_manifest(&setup, &health)?);
        let space = open_space(&setup, &manifest)?;
        let memory = Arc::new(Memory::default());
        let (log, first) = open_log(&setup, &manifest, &memory)?;
        settle_partitioner(&setup, &manifest, &memory)?;
        let ahead = WriteAhead::new(Some(log), memory, first, setup.options.memtable_bytes(), health);
        let guard = DiskGuard::new(setup.disk.clone(), setup.options.directory.clone());
        let backing = Backing { ahead: Arc::new(ahead), space: Some(space.clone()), guard: Some(guard) };
        let cache_bytes = setup.options.cache_bytes / 2;
        let mut engine = Engine::new(backing, manifest, setup.partitioner, setup.clock, cache_bytes)?;
        engine.change_families(&StoreChange::to_catalog(Arc::new(catalog.clone())))?;
        engine.durable = Some(engine.start_durable(space, setup.options, directory)?);
        engine.start_sweeping()
    }

    /// Returns an empty store in memory.
    pub(crate) fn in_memory(partitioner: PartitionerRef, clock: Arc<Clock>) -> Result<Engine> {
        let contents = Contents { partitioner: partitioner.class_name().to_owned(), ..Contents::default() };
        Engine::with_memory(Memory::default(), contents, partitioner, clock)
    }

    /// Returns a store in memory with these memtables and this manifest.
    pub(crate) fn with_memory(
        memory: Memory,
        contents: Contents,
        partitioner: PartitionerRef,
        clock: Arc<Clock>,
    ) -> Result<Engine> {
        let health = Arc::new(Health::default());
        let manifest = Arc::new(Manifest::in_memory(contents, health.clone()));
        let ahead = Arc::new(WriteAhead::new(None, Arc::new(memory), 0, usize::MAX, health));
        let backing = Backing { ahead, space: None, guard: None };
        Engine::new(backing, manifest, partitioner, clock, 0)?.start_sweeping()
    }

    /// Applies mutations of different rows. After a panic all writes are refused.
    pub(crate) fn write(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        may_wait: Option<&BlockingPermit>,
    ) -> Result<WriteOutcome> {
        self.health.guard_change(|| self.write.write(mutations, behaviour, may_wait))
    }

    /// Changes column families and metadata records: the whole change is durable, or nothing of it.
    pub(crate) fn change_schema(&self, change: &StoreChange, _: &BlockingPermit) -> Result<()> {
        self.health.check()?;
        self.health.guard_change(|| self.change_families(change))
    }

    fn change_families(&self, change: &StoreChange) -> Result<()> {
        // Waits for a running flush, which would write the removed rows. This can take a second; writes continue.
        let _no_flush = change.removes_rows().then(|| self.write.ahead.first_segment.lock());
        let next = self.families.change(change)?;
        // The locks wait for writers that use the earlier tables. Their writes are removed with these.
        next.install(&self.read.locks.lock_all());
        Ok(())
    }

    /// Flushes the memtable.
    pub(crate) fn flush(&self, _: &BlockingPermit) -> Result<()> {
        match &self.durable {
            Some(durable) => self.health.guard_change(|| durable.flush.run()),
            None => Ok(()),
        }
    }

    /// Flushes the memtable and merges all tables, which drops old tombstones.
    pub(crate) fn compact(&self, may_wait: &BlockingPermit) -> Result<()> {
        self.flush(may_wait)?;
        let Some(durable) = &self.durable else { return Ok(()) };
        for family in self.families.now().all() {
            for (_, tree) in family.tables.load_full().existing() {
                self.health.guard_change(|| tree.compact_all(&durable.space))?;
            }
        }
        Ok(())
    }

    /// Starts to sweep deletions: all column families of the schema are in the store.
    pub(crate) fn set_schema_known(&self) {
        self.knows_schema.store(true, Ordering::Release);
        self.sweeping.iter().for_each(Worker::wake);
    }

    /// Sweeps due deletions. Returns how many there were.
    pub(crate) fn sweep(&self, may_wait: &BlockingPermit) -> Result<usize> {
        self.health.guard_change(|| self.sweeper.sweep(may_wait))
    }

    pub(crate) fn status(&self) -> StoreStatus {
        let ahead = &self.write.ahead;
        let refusal = self.health.failure().map(str::to_owned).or_else(|| {
            // The disk may have space again since the last write was refused.
            self.write.guard.as_ref()?.refusal(ahead.bytes_in_memory())
        });
        let tables = self.durable.as_ref().map_or(0, |durable| durable.space.disk_bytes());
        let cache = &self.read.row_cache;
        let space = self.durable.as_ref().map(|durable| &durable.space);
        let engine = EngineStatus {
            memtable_bytes: ahead.bytes_in_memory(),
            commit_log_bytes: ahead.bytes_of_log(),
            table_bytes: tables,
            unmerged_runs: space.map_or(0, |space| space.unmerged_runs() as u64),
            flushes: self.durable.as_ref().map_or(0, |durable| durable.flush.flushes.get()),
            compactions: space.map_or(0, |space| space.compactions.get()),
            block_cache_bytes: space.map_or(0, |space| space.cache_bytes()),
            row_cache_bytes: cache.bytes(),
            row_cache_hits: cache.hits.get(),
            row_cache_misses: cache.misses(),
        };
        StoreStatus {
            disk_bytes: tables + ahead.bytes_of_log(),
            read_only: refusal,
            undefined: self.families.undefined(),
            cluster: None,
            engine: Some(engine),
            archive: self.archive.get().map(|meter| meter.status()),
        }
    }

    /// Syncs the log and stops the threads. Flushes the memtable if replaying the log would make the next start slow.
    pub(crate) fn close(&self) -> Result<()> {
        // The sync is first, because the process may not wait for the threads.
        self.write.ahead.close();
        self.write.ahead.sync()?;
        self.stop_threads();
        match &self.durable {
            Some(durable) if self.write.ahead.is_worth_flushing() => {
                let flushed = self.health.guard_change(|| durable.flush.run());
                flushed.or_else(|error| match error {
                    // The disk is full, but it has the log, which the next start replays.
                    StoreError::ReadOnly(why) if self.health.failure().is_none() => {
                        tracing::warn!("the memtable was not flushed and is replayed from the commit log at the next start: {why}");
                        Ok(())
                    }
                    error => Err(error),
                })
            }
            _ => Ok(()),
        }
    }

    fn stop_threads(&self) {
        self.write.ahead.close();
        if let Some(durable) = &self.durable {
            durable.space.close();
            durable.compactor.stop();
            durable.committer.stop();
            durable.flusher.stop();
        }
        self.sweeping.iter().for_each(Worker::stop);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop_threads();
    }
}

impl Durable {
    /// Wakes the flush thread.
    pub(crate) fn wake_flusher(&self) {
        self.flusher.wake();
    }

    /// Returns the data directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory.directory
    }

    pub(crate) fn committer(&self) -> &Committer {
        &self.committer
    }
}

/// The storage of a store, which differs between a disk and memory.
struct Backing {
    ahead: Arc<WriteAhead>,
    space: Option<Arc<TableSpace>>,
    guard: Option<DiskGuard>,
}

impl Engine {
    /// Returns a store whose threads are not started.
    fn new(
        backing: Backing,
        manifest: Arc<Manifest>,
        partitioner: PartitionerRef,
        clock: Arc<Clock>,
        cache_bytes: u64,
    ) -> Result<Engine> {
        let Backing { ahead, space, guard } = backing;
        let memory = ahead.memory.clone();
        let families = Arc::new(Families::new(manifest.clone(), space.clone(), memory.clone()));
        let read = Arc::new(ReadPath {
            families: families.clone(),
            memory,
            space: space.clone(),
            row_cache: RowCache::new(cache_bytes),
            locks: RowLocks::new(),
            partitioner,
        });
        let queue_tables = Tables::empty(QUEUE_FAMILY, DeletionQueue::folder(), i32::MAX)
            .open(space.as_deref(), &manifest.contents().tables)?;
        let queue = DeletionQueue::open(queue_tables, &read.view(), &BlockingPermit::on_own_thread())?;
        let health = ahead.health.clone();
        let write = Arc::new(WritePath { read: read.clone(), ahead, queue, guard, clock });
        let sweeper = Arc::new(Sweeper { write: write.clone(), manifest: manifest.clone() });
        Ok(Engine {
            health,
            manifest,
            families,
            read,
            write,
            sweeper,
            sweeping: None,
            knows_schema: Arc::default(),
            durable: None,
            archive: OnceLock::new(),
        })
    }

    /// Starts the threads of a store on a disk.
    fn start_durable(
        &self,
        space: Arc<TableSpace>,
        options: EmbeddedOptions,
        directory: LockedDirectory,
    ) -> Result<Durable> {
        let ahead = self.write.ahead.clone();
        let flush = Arc::new(Flush {
            ahead: ahead.clone(),
            families: self.families.clone(),
            manifest: self.manifest.clone(),
            space: space.clone(),
            queue: self.write.queue.tables().clone(),
            flushes: Counter::default(),
        });
        let committer = Committer::start(ahead, options.sync)?;
        let compactor = Arc::new(self.start_compactor(space.clone())?);
        let flusher = self.start_flusher(flush.clone(), compactor.clone())?;
        Ok(Durable { space, flush, committer, flusher, compactor, directory })
    }

    fn start_compactor(&self, space: Arc<TableSpace>) -> Result<Worker> {
        let write = self.write.clone();
        Worker::start("compaction", self.health.clone(), move || match space.compact_trees() {
            // A compaction that was stopped because the store closes is not a failure.
            _ if space.is_closing() => NextRun::Rest(COMPACT_EVERY),
            Ok(has_worked) => {
                write.ahead.throttle.set_runs(space.unmerged_runs());
                if has_worked { NextRun::GoOn } else { NextRun::Rest(COMPACT_EVERY) }
            }
            Err(error) => {
                tracing::error!("tables were not merged: {error}");
                if matches!(error, StoreError::ReadOnly(_)) {
                    write.suspect_disk();
                }
                NextRun::Rest(COMPACT_AGAIN_AFTER)
            }
        })
    }

    fn start_flusher(&self, flush: Arc<Flush>, compactor: Arc<Worker>) -> Result<Worker> {
        let (write, health) = (self.write.clone(), self.health.clone());
        Worker::start("flush", self.health.clone(), move || {
            let has_failed = write.ahead.flush_error().is_some();
            if !write.ahead.wants_flush() && !has_failed || health.failure().is_some() {
                return NextRun::Rest(FLUSH_EVERY);
            }
            let outcome = health.guard_change(|| flush.run());
            write.ahead.set_flushed(&outcome);
            write.ahead.throttle.set_runs(flush.space.unmerged_runs());
            compactor.wake();
            let Err(error) = outcome else { return NextRun::GoOn };
            tracing::error!("the memtable was not flushed; the flush is repeated: {error}");
            write.suspect_disk();
            NextRun::Rest(FLUSH_EVERY)
        })
    }

    fn start_sweeping(mut self) -> Result<Engine> {
        let (sweeper, health) = (self.sweeper.clone(), self.health.clone());
        let may_wait = BlockingPermit::on_own_thread();
        let may_sweep = self.knows_schema.clone();
        self.sweeping = Some(Worker::start("sweeper", self.health.clone(), move || {
            if !may_sweep.load(Ordering::Acquire) {
                return NextRun::Rest(SWEEP_EVERY);
            }
            let swept =
                health.guard_change(|| sweeper.write.check_room(0).and_then(|()| sweeper.sweep(&may_wait)));
            match swept {
                Ok(0) => NextRun::Rest(SWEEP_EVERY),
                Ok(_) => NextRun::GoOn,
                Err(_) if health.is_closed() => NextRun::GoOn,
                Err(error) => {
                    tracing::warn!("old tombstones were not removed: {error}");
                    NextRun::Rest(SWEEP_EVERY)
                }
            }
        })?);
        Ok(self)
    }
}

/// Reads the manifest. A new directory gets an empty one.
fn open_manifest(setup: &Setup, health: &Arc<Health>) -> Result<Manifest> {
    let (disk, path) = (setup.disk.clone(), &setup.options.directory);
    let is_new = ["log", "tables"].iter().all(|part| !path.join(part).exists());
    if is_new && !Manifest::exists(&*disk, path)? {
        let contents =
            Contents { partitioner: setup.partitioner.class_name().to_owned(), ..Contents::default() };
        return Manifest::create(disk, path, contents, health.clone());
    }
    // A killed process may have renamed the manifest without syncing the directory. A power failure could still undo
    // that, and later writes rely on it.
    disk.sync_directory(path).map_err(StoreError::io_at(path))?;
    let manifest = Manifest::open(disk, path, health.clone())?;
    for (name, record) in manifest.contents().families.iter() {
        record.check_key_order(path, name)?;
    }
    Ok(manifest)
}

/// Opens the directory of tables, and removes tables that the manifest does not list.
fn open_space(setup: &Setup, manifest: &Arc<Manifest>) -> Result<Arc<TableSpace>> {
    let space = TableSpace::new(TableSpaceOptions {
        directory: setup.options.directory.join("tables"),
        cache_bytes: setup.options.cache_bytes / 2,
        clock: setup.clock.clone(),
        disk: setup.disk.clone(),
        manifest: manifest.clone(),
    });
    let contents = manifest.contents();
    space.remove_unlisted(|folder| contents.tables.contains_key(folder))?;
    Ok(Arc::new(space))
}

/// Opens or creates the commit log, and replays it into the memtable. Returns also the first segment that is needed.
fn open_log(setup: &Setup, manifest: &Manifest, memory: &Memory) -> Result<(CommitLog, u64)> {
    let directory = setup.options.directory.join("log");
    let contents = manifest.contents();
    let Some(LogSpan { first, last }) = contents.log else {
        let log = CommitLog::create(setup.disk.clone(), &directory, 1)?;
        manifest.change(|contents| contents.log = Some(LogSpan { first: 1, last: 1 }))?;
        return Ok((log, 1));
    };
    let replayed = replay_newest(&*setup.disk, &directory, &contents, |row| {
        memory.apply(std::iter::once(row));
    })?;
    assert!(replayed.end.segment >= first, "the log would continue before its first segment {first}");
    let set_last = |last| manifest.change(|contents| contents.log = Some(LogSpan { first, last }));
    if replayed.end.segment < last {
        set_last(replayed.end.segment)?;
    }
    let log = CommitLog::open(setup.disk.clone(), &directory, &replayed, first)?;
    assert!(log.number() >= replayed.end.segment, "new records would precede those that were replayed");
    if log.number() > replayed.end.segment {
        set_last(log.number())?;
    }
    Ok((log, first))
}
