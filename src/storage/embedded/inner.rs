//! What reads, writes and the sweeper share: the engine, opened, what waits to be flushed to it, and our notes about it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use bytes::Bytes;
use fjall::{Database, PersistMode};
use parking_lot::{Mutex, RwLock};

use super::blocking;
use super::disk_guard::DiskGuard;
use super::dump::dump;
use super::engine::{self, GcGraces, engine_error};
use super::families::Families;
use super::family::{Family, Trees, generation_in, id_in, id_in_name, long_name, number_of, tree_name};
use super::intake::Intake;
use super::key::{ROW_END, RowPrefix};
use super::ledger::{FamilyName, FamilyRecord, Ledger};
use super::locks::RowLocks;
use super::log::{CommitLog, replay};
use super::memtable::{Memory, View};
use super::queue::{QUEUE_FAMILY, Queue};
use super::row_cache::{CachedRow, RowCache, RowId};
use super::row_source::RowSource;
use super::scan::{RowPrefixes, scan};
use super::setup::{EmbeddedOptions, Setup};
use super::shield;
use super::write::Writer;
use super::write_batch::{BatchBuilder, Cached};
use crate::model::{
    Behaviour, Change, Mutation, Predicate, RangeCommand, ReadCommand, ReadOf, Row, RowColumns,
};
use crate::partitioner::PartitionerRef;
use crate::schema::{Catalog, CfDef};
use crate::storage::{Dump, DumpCommand, StoreError, StoreStatus};
use crate::util::Clock;

/// What the log adds to names and values of one change.
const ENTRY_BYTES: usize = 64;

/// The engine in one data directory.
pub struct Inner {
    pub database: Database,
    pub partitioner: PartitionerRef,
    pub ledger: Ledger,
    pub queue: Queue,
    pub intake: Intake,
    pub locks: RowLocks,
    pub clock: Arc<Clock>,
    pub row_cache: RowCache,
    families: ArcSwap<Families>,
    /// Column families by their ids, for the sweeper.
    definitions: RwLock<HashMap<u32, Arc<CfDef>>>,
    /// Held while the ledger's records of column families change.
    altering: Mutex<()>,
    guard: DiskGuard,
    /// The engine has panicked under a call of ours, and may have left locks behind that it cannot take again.
    has_panicked: AtomicBool,
    gc_graces: GcGraces,
}

impl Inner {
    /// Opens the engine over a data directory that is locked, and lays the catalog over it.
    pub fn open(setup: &Setup) -> Result<Inner, StoreError> {
        let gc_graces = GcGraces::default();
        let (directory, clock) = (&setup.options.directory, setup.clock.clone());
        let database =
            engine::open(directory, setup.options.cache_bytes / 2, clock.clone(), gc_graces.clone())?;
        let ledger = Ledger::open(&database)?;
        let partitioner = setup.partitioner.clone();
        let noted = ledger.partitioner_or_note(partitioner.class_name())?;
        if noted != partitioner.class_name() {
            return Err(StoreError::Mismatch(format!(
                "the data directory {} was written with Partitioner {noted}, but {} is configured; rows are sorted \
                 by it on the disk, so put it back or choose another data directory",
                directory.display(),
                partitioner.class_name()
            )));
        }
        let intake = open_intake(&setup.options, &ledger)?;
        let queue = Queue::open(ledger.queue_trees(), &intake.view(&database))?;
        let inner = Inner {
            database,
            partitioner,
            ledger,
            queue,
            intake,
            locks: RowLocks::new(),
            clock,
            row_cache: RowCache::new(setup.options.cache_bytes / 2),
            families: ArcSwap::default(),
            definitions: RwLock::default(),
            altering: Mutex::default(),
            guard: DiskGuard::new(directory.clone()),
            has_panicked: AtomicBool::new(false),
            gc_graces,
        };
        inner.align(&setup.catalog.lock().clone())?;
        inner.drop_truncated()?;
        Ok(inner)
    }

    pub fn has_panicked(&self) -> bool {
        self.has_panicked.load(Ordering::Relaxed)
    }

    /// Whether the engine accepts nothing more until it is opened again: one of its writes has failed.
    pub fn is_poisoned(&self) -> bool {
        self.intake.flush_has_failed()
            || matches!(self.database.persist(PersistMode::Buffer), Err(fjall::Error::Poisoned))
    }

    /// Refuses when the disk has too little room for a write of so many bytes.
    pub fn check_room(&self, bytes: u64) -> Result<(), StoreError> {
        self.guard.check(self.clock.now_ms(), bytes, || self.in_memory())
    }

    /// Whether the disk has room, looked at just now.
    pub fn has_room(&self) -> bool {
        self.guard.has_room(self.in_memory())
    }

    /// How many bytes wait to be written to tables.
    fn in_memory(&self) -> u64 {
        self.database.write_buffer_size().saturating_add(self.intake.bytes_in_memory())
    }

    /// Memory and engine at this moment.
    pub fn view(&self) -> View {
        self.intake.view(&self.database)
    }

    /// Every defined column family.
    pub fn families(&self) -> Vec<Arc<Family>> {
        self.families.load().by_id.values().map(|(family, _)| family.clone()).collect()
    }

    pub fn status(&self) -> StoreStatus {
        // A disk that was full when something was last written may have room by now.
        let refusal = if self.has_room() { None } else { self.guard.refusal() };
        StoreStatus {
            disk_bytes: self.database.disk_space().unwrap_or(0) + self.intake.bytes_of_log(),
            read_only: refusal,
            undefined: self.families.load().undefined.clone(),
            cluster: None,
        }
    }

    /// The column families as they are now.
    pub fn families_now(&self) -> arc_swap::Guard<Arc<Families>> {
        self.families.load()
    }

    /// The trees of a column family.
    pub fn family(&self, cf: &CfDef) -> Result<Arc<Family>, StoreError> {
        self.families.load().family(cf).cloned()
    }

    /// The definition of a column family.
    pub fn definition(&self, id: u32) -> Option<Arc<CfDef>> {
        self.definitions.read().get(&id).cloned()
    }

    /// A defined column family and its gc_grace in seconds.
    pub fn family_by_id(&self, id: u32) -> Option<(Arc<Family>, i32)> {
        self.families.load().by_id.get(&id).cloned()
    }

    /// Runs a call into the engine; a panic of it is an error, as long as it lasts.
    pub fn shielded<T>(&self, run: impl FnOnce(&Inner) -> Result<T, StoreError>) -> Result<T, StoreError> {
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

    /// Applies mutations of different rows: decides what wins, under the rows' locks, and makes it safe and visible.
    pub fn write(&self, mutations: Vec<Mutation>, behaviour: &'static Behaviour) -> Result<(), StoreError> {
        self.intake.check_open()?;
        self.check_room(mutations.iter().map(bytes_of).sum())?;
        let _locks = match &mutations[..] {
            [mutation] => (Some(self.locks.lock_one(&mutation.key)), Vec::new()),
            mutations => (None, self.locks.lock(mutations.iter().map(|mutation| &mutation.key[..]))),
        };
        let mut writer = Writer::new(self, behaviour);
        for mutation in mutations {
            writer.add(mutation)?;
        }
        self.commit(writer.finish())
    }

    /// Makes a batch safe and visible, if it changes something. The caller holds the locks of its rows.
    pub fn commit(&self, batch: BatchBuilder) -> Result<(), StoreError> {
        let Some(batch) = batch.finish()? else { return Ok(()) };
        self.intake.take(&batch).inspect_err(|_| self.guard.suspect())?;
        for (row, cached) in batch.rows() {
            if let Some(Cached { id, row: cached, likely }) = cached {
                self.row_cache.apply(id, cached, row.changes, *likely);
            }
        }
        Ok(())
    }

    pub fn read(&self, key: &Bytes, command: &ReadCommand) -> Result<RowColumns, StoreError> {
        let families = self.families_now();
        let family = families.family(&command.cf)?;
        let trees = family.trees.load();
        let id = RowId { family: trees.number, key: key.clone() };
        let cached = match self.row_cache.get(&id) {
            None if self.row_cache.is_worth_loading(&id) => {
                let _lock = self.locks.lock_one(key);
                Some(self.load_row(&id, &trees, &RowPrefix::of(key, &*self.partitioner))?)
            }
            cached => cached,
        };
        if let Some(cached) = &cached {
            cached.prefetch();
        }
        if let Some(view) = cached.as_ref().and_then(|cached| cached.view()) {
            return RowSource::cached(view, 0).read(command, ReadOf::Row);
        }
        let row = RowPrefix::of(key, &*self.partitioner);
        let is_long =
            matches!(&command.predicate, Predicate::Range(range) if range.count > blocking::LONG_SLICE);
        blocking::long_if(is_long, || {
            let view = self.view();
            RowSource::stored(&trees, &view, &row).read(command, ReadOf::Row)
        })
    }

    /// Brings a row into the cache, unless it is there. The caller holds its lock.
    pub fn load_row(&self, id: &RowId, trees: &Trees, row: &RowPrefix) -> Result<Arc<CachedRow>, StoreError> {
        if let Some(cached) = self.row_cache.get(id) {
            return Ok(cached);
        }
        let view = self.view();
        let source = RowSource::stored(trees, &view, row);
        self.row_cache.load(id, row, source.entries(&[], ROW_END, false))
    }

    pub fn scan(&self, command: &RangeCommand) -> Result<Vec<Row>, StoreError> {
        let family = self.family(&command.read.cf)?;
        let trees = family.trees.load();
        scan(&trees, &self.view(), &*self.partitioner, command)
    }

    pub fn dump(&self, command: &DumpCommand) -> Result<Dump, StoreError> {
        let family = self.family(&command.cf)?;
        let trees = family.trees.load();
        dump(&trees, &self.view(), &*self.partitioner, command)
    }

    /// Every token in use, in order.
    pub fn tokens(&self) -> Result<Vec<Vec<u8>>, StoreError> {
        let families = self.families();
        let view = self.view();
        let mut tokens = Vec::new();
        for family in families {
            let trees = family.trees.load();
            let mut rows = RowPrefixes::new(&trees, &view, &*self.partitioner, (Vec::new(), None));
            while let Some(row) = rows.next_row()? {
                tokens.extend(row.token(&*self.partitioner));
            }
        }
        tokens.sort();
        tokens.dedup();
        Ok(tokens)
    }

    /// Brings the ledger and the trees in line with a catalog. Column families are added, never removed.
    pub fn align(&self, catalog: &Catalog) -> Result<(), StoreError> {
        let _altering = self.altering.lock();
        let recorded: BTreeMap<FamilyName, FamilyRecord> = self.ledger.families()?.into_iter().collect();
        self.check_recorded(&recorded)?;
        let mut next_id = recorded.values().map(|record| record.id + 1).max().unwrap_or(1);
        let mut added = Vec::new();
        let mut wanted = Vec::new();
        let mut definitions = HashMap::new();
        for cf in catalog.stored_families() {
            let name = (cf.keyspace.clone(), cf.name.clone());
            let record = match recorded.get(&name) {
                Some(dropped) if dropped.is_dropped => {
                    let record = dropped.made_again(cf);
                    added.push((name.clone(), record.clone()));
                    record
                }
                Some(record) => match record.conflict_with(cf) {
                    Some(conflict) => return Err(StoreError::Mismatch(conflict)),
                    None => {
                        let successor = record.succeeded_by(cf);
                        added.extend(successor.iter().map(|record| (name.clone(), record.clone())));
                        successor.unwrap_or_else(|| record.clone())
                    }
                },
                None => {
                    let record = FamilyRecord::new(next_id, cf);
                    next_id += 1;
                    added.push((name.clone(), record.clone()));
                    record
                }
            };
            definitions.insert(record.id, cf.clone());
            wanted.push((name, record, cf.gc_grace_s));
        }
        *self.definitions.write() = definitions;
        self.ledger.note_families(&added)?;
        self.open_families(wanted, &recorded)
    }

    /// Every column family is noted before it gets a keyspace; one without a note means that notes were lost.
    pub fn check_recorded(&self, recorded: &BTreeMap<FamilyName, FamilyRecord>) -> Result<(), StoreError> {
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

    pub fn open_families(
        &self,
        wanted: Vec<(FamilyName, FamilyRecord, i32)>,
        recorded: &BTreeMap<FamilyName, FamilyRecord>,
    ) -> Result<(), StoreError> {
        let mut families = Families::default();
        let old = self.families.load();
        for ((keyspace, name), record, gc_grace_s) in wanted {
            self.note_gc_grace(&record, gc_grace_s);
            let family = match old.by_id.get(&record.id) {
                Some((family, _)) => family.clone(),
                None => {
                    let trees = Trees::open(&self.database, record.id, record.generation)?;
                    Arc::new(Family { id: record.id, trees: ArcSwap::new(Arc::new(trees)) })
                }
            };
            families.by_id.insert(record.id, (family.clone(), gc_grace_s));
            families.by_name.entry(keyspace).or_default().insert(name, family);
        }
        for ((keyspace, name), record) in recorded {
            let holds_data = || {
                self.database.keyspace_exists(&tree_name(record.id, record.generation))
                    || self.intake.holds(number_of(record.id, record.generation))
            };
            if !families.by_id.contains_key(&record.id) && holds_data() {
                families.undefined.push(format!("{keyspace}.{name}"));
            }
        }
        drop(old);
        self.families.store(Arc::new(families));
        Ok(())
    }

    /// Drops what a truncate left behind that the machine's end cut short: generations before the noted one.
    pub fn drop_truncated(&self) -> Result<(), StoreError> {
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

    pub fn note_gc_grace(&self, record: &FamilyRecord, gc_grace_s: i32) {
        let name = tree_name(record.id, record.generation);
        for name in [long_name(&name), name] {
            engine::grace_of(&self.gc_graces, &name).store(gc_grace_s, Ordering::Relaxed);
        }
    }

    /// Starts a new generation of a column family and drops the old one.
    pub fn truncate(&self, cf: &CfDef) -> Result<(), StoreError> {
        self.intake.check_open()?;
        // Before the rows: a flush may take a second, and nobody would write meanwhile.
        let _no_flush = self.intake.first_segment.lock();
        let _altering = self.altering.lock();
        // Who writes has its trees in hand already: what it writes must not go to the generation that is dropped.
        let _rows = self.locks.lock_all();
        let family = self.family(cf)?;
        self.next_generation(cf, &family, false)
    }

    /// Forgets a column family with all that it holds.
    pub fn drop_family(&self, cf: &CfDef) -> Result<(), StoreError> {
        self.intake.check_open()?;
        let _no_flush = self.intake.first_segment.lock();
        let _altering = self.altering.lock();
        let _rows = self.locks.lock_all();
        let Some(family) = self.recorded_family(cf)? else { return Ok(()) };
        self.next_generation(cf, &family, true)?;
        let mut families = Families::clone(&self.families.load());
        families.undefined.retain(|name| *name != format!("{}.{}", cf.keyspace, cf.name));
        families.by_id.remove(&family.id);
        if let Some(named) = families.by_name.get_mut(&cf.keyspace) {
            named.remove(&cf.name);
        }
        self.families.store(Arc::new(families));
        self.definitions.write().remove(&family.id);
        Ok(())
    }

    /// A column family that holds or held data, be it defined or not. `None`: there is none to forget.
    fn recorded_family(&self, cf: &CfDef) -> Result<Option<Arc<Family>>, StoreError> {
        if let Ok(family) = self.family(cf) {
            return Ok(Some(family));
        }
        let name = (cf.keyspace.clone(), cf.name.clone());
        let recorded = self.ledger.families()?.into_iter().find(|(other, _)| *other == name);
        let Some((_, record)) = recorded.filter(|(_, record)| !record.is_dropped) else { return Ok(None) };
        let trees = Trees::open(&self.database, record.id, record.generation)?;
        Ok(Some(Arc::new(Family { id: record.id, trees: ArcSwap::new(Arc::new(trees)) })))
    }

    /// Notes another generation of a column family, puts its empty trees in the place of the old ones, and drops
    /// those. The rows' locks are held.
    fn next_generation(&self, cf: &CfDef, family: &Family, is_dropped: bool) -> Result<(), StoreError> {
        let name = (cf.keyspace.clone(), cf.name.clone());
        let record = self.ledger.families()?.into_iter().find(|(other, _)| *other == name);
        let Some((_, mut record)) = record else { return Ok(()) };
        record.generation += 1;
        record.is_dropped = is_dropped;
        let gc_grace_s = self.family_by_id(record.id).map_or(cf.gc_grace_s, |(_, grace)| grace);
        self.note_gc_grace(&record, gc_grace_s);
        self.ledger.note_families(&[(name, record.clone())])?;
        let trees = Trees::open(&self.database, record.id, record.generation)?;
        let old = family.trees.swap(Arc::new(trees));
        self.intake.forget(old.number);
        for tree in old.existing() {
            self.database.delete_keyspace(tree.clone()).map_err(engine_error)?;
        }
        Ok(())
    }
}

/// Opens the commit log, or starts one, and brings back what was not flushed.
fn open_intake(options: &EmbeddedOptions, ledger: &Ledger) -> Result<Intake, StoreError> {
    let directory = &options.directory;
    let log_directory = directory.join("log");
    let memory = Memory::default();
    let Some((first, last)) = ledger.log()? else {
        engine::mark_format(directory)?;
        let log = CommitLog::create(&log_directory, 1)?;
        ledger.note_log(1, 1)?;
        return Ok(Intake::new(log, memory, 1, options.memtable_bytes()));
    };
    let newest: HashMap<u32, u32> =
        ledger.families()?.into_iter().map(|(_, record)| (record.id, record.generation)).collect();
    let replayed = replay(&log_directory, (first, last), |row| {
        let (id, generation) = (id_in(row.family), generation_in(row.family));
        match newest.get(&id) {
            // A truncate has taken it away.
            Some(newest) if generation < *newest => return Ok(()),
            Some(newest) if generation == *newest => {}
            None if row.family == QUEUE_FAMILY => {}
            _ => {
                return Err(StoreError::Corrupt(format!(
                    "the write log has a row of column family {id}, generation {generation}, which the ledger does not \
                     know; put back an undamaged copy of the data directory"
                )));
            }
        }
        memory.apply(std::iter::once((row, None)));
        Ok(())
    })?;
    if replayed.number < last {
        ledger.note_log(first, replayed.number)?;
    }
    let log = CommitLog::open(&log_directory, &replayed, first)?;
    Ok(Intake::new(log, memory, first, options.memtable_bytes()))
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
