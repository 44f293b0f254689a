//! The embedded store: the `Store` trait over the engine.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use fjall::{Database, PersistMode};
use parking_lot::{Mutex, RwLock};

use super::commit::{Committer, SyncMode};
use super::disk_guard::DiskGuard;
use super::engine::{self, GcGraces, engine_error};
use super::family::{Family, Trees, id_in_name, long_name, tree_name};
use super::key::RowPrefix;
use super::ledger::{FamilyName, FamilyRecord, Ledger};
use super::locks::RowLocks;
use super::purge;
use super::row_reader::Moment;
use super::scan::{RowPrefixes, scan};
use super::shield;
use super::write::Writer;
use crate::model::{
    Behaviour, Change, ConsistencyLevel, Mutation, RangeCommand, ReadCommand, Row, RowColumns,
};
use crate::partitioner::PartitionerRef;
use crate::schema::{Catalog, CfDef};
use crate::storage::{Store, StoreError, StoreFuture, StoreStatus};
use crate::util::Clock;

/// How an embedded store is opened.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    pub directory: PathBuf,
    pub sync: SyncMode,
    /// Most bytes of data blocks that are kept in memory.
    pub cache_bytes: u64,
}

/// What the log adds to names and values of one change.
const ENTRY_BYTES: usize = 64;
/// Time between two looks at the queue of deletions.
const SWEEP_EVERY: Duration = Duration::from_secs(5);

/// Rows in the engine, in one data directory.
pub struct EmbeddedStore {
    committer: Committer,
    sweeper: Mutex<Option<JoinHandle<()>>>,
    inner: Arc<Inner>,
    /// Keeps other processes out of the directory. Let go last.
    _lock: File,
}

/// What reads, writes and the sweeper share.
pub struct Inner {
    pub database: Database,
    pub partitioner: PartitionerRef,
    pub ledger: Ledger,
    pub locks: RowLocks,
    pub clock: Arc<Clock>,
    families: RwLock<Families>,
    /// Held while the ledger's records of column families change.
    altering: Mutex<()>,
    guard: DiskGuard,
    is_closed: AtomicBool,
    /// The engine has panicked under a call of ours, and may have left locks behind that it cannot take again.
    has_panicked: AtomicBool,
    gc_graces: GcGraces,
}

#[derive(Default)]
struct Families {
    /// By keyspace, then name.
    by_name: HashMap<String, HashMap<String, Arc<Family>>>,
    by_id: HashMap<u32, (Arc<Family>, i32)>,
    /// Held on the disk but not defined.
    undefined: Vec<String>,
}

impl Inner {
    /// The trees of a column family.
    pub fn family(&self, cf: &CfDef) -> Result<Arc<Family>, StoreError> {
        let families = self.families.read();
        let found = families.by_name.get(&cf.keyspace).and_then(|families| families.get(&cf.name));
        found.cloned().ok_or_else(|| {
            StoreError::Mismatch(format!("column family {}.{} is not in the store", cf.keyspace, cf.name))
        })
    }

    /// A defined column family and its gc_grace in seconds.
    pub fn family_by_id(&self, id: u32) -> Option<(Arc<Family>, i32)> {
        self.families.read().by_id.get(&id).cloned()
    }

    /// Runs a call into the engine; a panic of it is an error, as long as it lasts.
    fn shielded<T>(&self, run: impl FnOnce(&Inner) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut has_returned = false;
        let outcome = shield::caught(|| {
            let outcome = run(self);
            has_returned = true;
            outcome
        });
        if !has_returned {
            self.has_panicked.store(true, Ordering::Relaxed);
        }
        outcome
    }

    fn check_open(&self) -> Result<(), StoreError> {
        if self.is_closed.load(Ordering::Relaxed) {
            return Err(StoreError::ReadOnly("the store is closed".to_owned()));
        }
        Ok(())
    }

    fn write(&self, mutations: Vec<Mutation>, behaviour: &'static Behaviour) -> Result<(), StoreError> {
        self.check_open()?;
        let bytes = mutations.iter().map(bytes_of).sum();
        self.guard.check(self.clock.now_ms(), bytes, || self.database.write_buffer_size())?;
        let keys: Vec<Bytes> = mutations.iter().map(|mutation| mutation.key.clone()).collect();
        let _locks = self.locks.lock(keys.iter().map(|key| &key[..]));
        let mut writer = Writer::new(self, behaviour);
        let mut added: HashSet<Bytes> = HashSet::new();
        let is_single = mutations.len() == 1;
        for mutation in mutations {
            // A row that comes twice must see its first change before it meets the second.
            if !is_single && !added.insert(mutation.key.clone()) {
                self.commit(writer)?;
                writer = Writer::new(self, behaviour);
                added = HashSet::from([mutation.key.clone()]);
            }
            writer.add(mutation)?;
        }
        self.commit(writer)
    }

    /// Hands a batch to the operating system: from then on a killed process loses nothing.
    fn commit(&self, writer: Writer<'_>) -> Result<(), StoreError> {
        match writer.finish() {
            None => Ok(()),
            Some(batch) => batch.durability(Some(PersistMode::Buffer)).commit().map_err(engine_error),
        }
    }

    fn read(&self, key: &[u8], command: &ReadCommand) -> Result<RowColumns, StoreError> {
        let family = self.family(&command.cf)?;
        let trees = family.trees.read().clone();
        let snapshot = self.database.snapshot();
        let row = RowPrefix::of(key, &*self.partitioner);
        Moment { trees: &trees, snapshot: &snapshot }.read_row(&row, command)
    }

    fn scan(&self, command: &RangeCommand) -> Result<Vec<Row>, StoreError> {
        let family = self.family(&command.read.cf)?;
        let trees = family.trees.read().clone();
        let snapshot = self.database.snapshot();
        scan(&trees, &snapshot, &*self.partitioner, command)
    }

    /// Every token in use, in order.
    fn tokens(&self) -> Result<Vec<Vec<u8>>, StoreError> {
        let families: Vec<Arc<Family>> =
            self.families.read().by_id.values().map(|(family, _)| family.clone()).collect();
        let snapshot = self.database.snapshot();
        let mut tokens = Vec::new();
        for family in families {
            let trees = family.trees.read().clone();
            let mut rows = RowPrefixes::new(&trees, &snapshot, &*self.partitioner, (Vec::new(), None));
            while let Some(row) = rows.next_row()? {
                tokens.extend(row.token(&*self.partitioner));
            }
        }
        tokens.sort();
        tokens.dedup();
        Ok(tokens)
    }

    /// Brings the ledger and the trees in line with a catalog. Column families are added, never removed.
    fn align(&self, catalog: &Catalog) -> Result<(), StoreError> {
        let _altering = self.altering.lock();
        let recorded: BTreeMap<FamilyName, FamilyRecord> = self.ledger.families()?.into_iter().collect();
        self.check_recorded(&recorded)?;
        let mut next_id = recorded.values().map(|record| record.id + 1).max().unwrap_or(1);
        let mut added = Vec::new();
        let mut wanted = Vec::new();
        for cf in catalog.column_families() {
            let name = (cf.keyspace.clone(), cf.name.clone());
            let record = match recorded.get(&name) {
                Some(record) => match record.conflict_with(cf) {
                    Some(conflict) => return Err(StoreError::Mismatch(conflict)),
                    None => record.clone(),
                },
                None => {
                    let record = FamilyRecord::new(next_id, cf);
                    next_id += 1;
                    added.push((name.clone(), record.clone()));
                    record
                }
            };
            wanted.push((name, record, cf.gc_grace_s));
        }
        self.ledger.note_families(&added)?;
        self.open_families(wanted, &recorded)
    }

    /// Every column family is noted before it gets a keyspace; one without a note means that notes were lost.
    fn check_recorded(&self, recorded: &BTreeMap<FamilyName, FamilyRecord>) -> Result<(), StoreError> {
        let known: HashSet<u32> = recorded.values().map(|record| record.id).collect();
        let names = self.database.list_keyspace_names();
        match names.iter().find(|name| id_in_name(name).is_some_and(|id| !known.contains(&id))) {
            None => Ok(()),
            Some(name) => Err(StoreError::Corrupt(format!(
                "the engine's keyspace {name} belongs to no column family that the store knows of; put back an \
                 undamaged copy of the data directory"
            ))),
        }
    }

    fn open_families(
        &self,
        wanted: Vec<(FamilyName, FamilyRecord, i32)>,
        recorded: &BTreeMap<FamilyName, FamilyRecord>,
    ) -> Result<(), StoreError> {
        let mut families = Families::default();
        let old = self.families.read();
        for ((keyspace, name), record, gc_grace_s) in wanted {
            self.note_gc_grace(&record, gc_grace_s);
            let family = match old.by_id.get(&record.id) {
                Some((family, _)) => family.clone(),
                None => {
                    let trees = Trees::open(&self.database, record.id, record.generation)?;
                    Arc::new(Family { id: record.id, trees: RwLock::new(Arc::new(trees)) })
                }
            };
            families.by_id.insert(record.id, (family.clone(), gc_grace_s));
            families.by_name.entry(keyspace).or_default().insert(name, family);
        }
        for ((keyspace, name), record) in recorded {
            if !families.by_id.contains_key(&record.id)
                && self.database.keyspace_exists(&tree_name(record.id, record.generation))
            {
                families.undefined.push(format!("{keyspace}.{name}"));
            }
        }
        drop(old);
        *self.families.write() = families;
        Ok(())
    }

    /// Drops what a truncate left behind that the machine's end cut short: generations before the noted one.
    fn drop_truncated(&self) -> Result<(), StoreError> {
        for (_, record) in self.ledger.families()? {
            for generation in 1..record.generation {
                let trees = Trees::open(&self.database, record.id, generation)?;
                for tree in trees.existing() {
                    self.database.delete_keyspace(tree.clone()).map_err(engine_error)?;
                }
            }
        }
        Ok(())
    }

    fn note_gc_grace(&self, record: &FamilyRecord, gc_grace_s: i32) {
        let name = tree_name(record.id, record.generation);
        for name in [long_name(&name), name] {
            engine::grace_of(&self.gc_graces, &name).store(gc_grace_s, Ordering::Relaxed);
        }
    }

    /// Starts a new generation of a column family and drops the old one.
    fn truncate(&self, cf: &CfDef) -> Result<(), StoreError> {
        self.check_open()?;
        let _altering = self.altering.lock();
        // Who writes has its trees in hand already: what it writes must not go to the generation that is dropped.
        let _rows = self.locks.lock_all();
        let family = self.family(cf)?;
        let mut trees = family.trees.write();
        let name = (cf.keyspace.clone(), cf.name.clone());
        let record = self.ledger.families()?.into_iter().find(|(other, _)| *other == name);
        let Some((_, mut record)) = record else { return Ok(()) };
        record.generation += 1;
        let gc_grace_s = self.family_by_id(record.id).map_or(cf.gc_grace_s, |(_, grace)| grace);
        self.note_gc_grace(&record, gc_grace_s);
        self.ledger.note_families(&[(name, record.clone())])?;
        let old = std::mem::replace(
            &mut *trees,
            Arc::new(Trees::open(&self.database, record.id, record.generation)?),
        );
        for tree in old.existing() {
            self.database.delete_keyspace(tree.clone()).map_err(engine_error)?;
        }
        Ok(())
    }
}

impl EmbeddedStore {
    /// Opens a data directory, or makes one. Fails when it was written under another partitioner or comparator.
    pub fn open(
        options: EmbeddedOptions,
        partitioner: PartitionerRef,
        catalog: &Catalog,
        clock: Arc<Clock>,
    ) -> Result<EmbeddedStore, StoreError> {
        let catalog = catalog.clone();
        shield::without_unwinding(move || EmbeddedStore::open_here(options, partitioner, &catalog, clock))
    }

    fn open_here(
        options: EmbeddedOptions,
        partitioner: PartitionerRef,
        catalog: &Catalog,
        clock: Arc<Clock>,
    ) -> Result<EmbeddedStore, StoreError> {
        let gc_graces = GcGraces::default();
        let directory = options.directory.clone();
        let lock = engine::lock_directory(&directory)?;
        let database = engine::open(&directory, options.cache_bytes, clock.clone(), gc_graces.clone())?;
        let ledger = Ledger::open(&database)?;
        let noted = ledger.partitioner_or_note(partitioner.class_name())?;
        if noted != partitioner.class_name() {
            return Err(StoreError::Mismatch(format!(
                "the data directory {} was written with Partitioner {noted}, but {} is configured; rows are sorted \
                 by it on the disk, so put it back or choose another data directory",
                directory.display(),
                partitioner.class_name()
            )));
        }
        let inner = Arc::new(Inner {
            database: database.clone(),
            partitioner,
            ledger,
            locks: RowLocks::new(),
            clock,
            families: RwLock::default(),
            altering: Mutex::default(),
            guard: DiskGuard::new(directory.clone()),
            is_closed: AtomicBool::new(false),
            has_panicked: AtomicBool::new(false),
            gc_graces,
        });
        inner.align(catalog)?;
        inner.drop_truncated()?;
        let committer = Committer::start(database, directory.join("engine"), options.sync)?;
        let sweeper = start_sweeper(inner.clone())?;
        Ok(EmbeddedStore { committer, sweeper: Mutex::new(Some(sweeper)), inner, _lock: lock })
    }

    /// The node's token as text: the one noted first stays.
    pub fn token_or_note(&self, token: &str) -> Result<String, StoreError> {
        self.inner.ledger.token_or_note(token)
    }

    /// Looks after due deletions now instead of when the sweeper next wakes. Returns how many there were.
    pub fn sweep(&self) -> Result<usize, StoreError> {
        self.inner.shielded(purge::sweep)
    }

    /// Writes all memory to tables and merges them, so that old tombstones go. For tests and operators.
    pub fn compact(&self) -> Result<(), StoreError> {
        let families: Vec<Arc<Family>> =
            self.inner.families.read().by_id.values().map(|(family, _)| family.clone()).collect();
        for family in families {
            let trees = family.trees.read().clone();
            for tree in trees.existing() {
                tree.rotate_memtable_and_wait().map_err(engine_error)?;
                tree.major_compact().map_err(engine_error)?;
            }
        }
        Ok(())
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
    });
    bytes.map(|bytes| (bytes + mutation.key.len() + ENTRY_BYTES) as u64).sum()
}

fn start_sweeper(inner: Arc<Inner>) -> Result<JoinHandle<()>, StoreError> {
    let run = move || {
        while !inner.is_closed.load(Ordering::Relaxed) {
            match inner.shielded(purge::sweep) {
                Ok(0) => std::thread::park_timeout(SWEEP_EVERY),
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!("old tombstones were not removed: {error}");
                    std::thread::park_timeout(SWEEP_EVERY);
                }
            }
        }
    };
    std::thread::Builder::new()
        .name("sweeper".to_owned())
        .spawn(run)
        .map_err(|error| StoreError::Io(format!("cannot start the sweeper: {error}")))
}

impl Store for EmbeddedStore {
    fn apply(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.committer.check()?;
            self.inner.shielded(|inner| inner.write(mutations, behaviour))?;
            if self.committer.waits() && consistency != ConsistencyLevel::Zero {
                self.committer.synced().await?;
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
        Box::pin(async move { self.inner.shielded(|inner| inner.read(&key, &command)) })
    }

    fn scan(&self, command: RangeCommand, _consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
        Box::pin(async move { self.inner.shielded(|inner| inner.scan(&command)) })
    }

    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        Box::pin(async move {
            let tokens = self.inner.shielded(Inner::tokens)?;
            Ok(crate::storage::split_points(tokens, &start, &end, keys_per_split))
        })
    }

    fn truncate(&self, cf: Arc<CfDef>) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.inner.shielded(|inner| inner.truncate(&cf)) })
    }

    fn alter(&self, catalog: Arc<Catalog>) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.inner.shielded(|inner| inner.align(&catalog)) })
    }

    fn status(&self) -> StoreStatus {
        // A disk that was full when something was last written may have room by now.
        let in_memory = || self.inner.database.write_buffer_size();
        let _ = self.inner.guard.check(self.inner.clock.now_ms(), 0, in_memory);
        let has_failed = self.committer.check().err().map(|error| error.to_string());
        StoreStatus {
            disk_bytes: self.inner.database.disk_space().unwrap_or(0),
            read_only: has_failed.or_else(|| self.inner.guard.refusal()),
            undefined: self.inner.families.read().undefined.clone(),
        }
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.inner.is_closed.store(true, Ordering::Relaxed);
            self.committer.stop();
            if let Some(sweeper) = self.sweeper.lock().take() {
                sweeper.thread().unpark();
                if sweeper.join().is_err() {
                    tracing::error!("the sweeper has panicked");
                }
            }
            self.inner.database.persist(PersistMode::SyncAll).map_err(engine_error)
        })
    }
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        self.inner.is_closed.store(true, Ordering::Relaxed);
        self.committer.stop();
        if let Some(sweeper) = self.sweeper.lock().take() {
            sweeper.thread().unpark();
            // A sweeper that panicked has said so; there is nobody left to tell.
            let _ = sweeper.join();
        }
        let is_poisoned = self.inner.database.persist(PersistMode::Buffer).is_err();
        if is_poisoned || self.inner.has_panicked.load(Ordering::Relaxed) {
            // An engine that has panicked may panic again when it is dropped. What it holds is left to the end of
            // the process, which is near.
            std::mem::forget(self.inner.clone());
        }
    }
}
