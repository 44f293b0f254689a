//! The column families of a store: their definitions from the schema, their records in the manifest, and their tables.
//!
//! A column family has an id that never changes, and a generation that each truncate and each drop raises. The
//! directories of its tables and its log records contain both numbers. So a truncate is one change of the manifest:
//! after it, everything with an earlier generation is ignored, even if the process is killed before the next step. The
//! steps of truncating `Posts`, which has id 7:
//!
//! ```text
//!                                                     manifest                memory            directories
//!      before                                         Posts 7.1, tables 7.1   tables of 7.1     7.1
//!   1  change the manifest: from here on it is done   Posts 7.2               tables of 7.1     7.1
//!   2  with all rows locked: install empty tables     Posts 7.2               empty 7.2         7.1
//!      and drop the memtables' rows of 7.1
//!   3  remove the directory when its last reader      Posts 7.2               empty 7.2
//!      has ended, or at the next start
//! ```
//!
//! A drop has the same steps, and marks the record as dropped. The record stays, so that a column family that is
//! created again with the same name continues with the next generation.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arc_swap::{ArcSwap, Guard};
use parking_lot::{Mutex, MutexGuard};

use super::locks::AllRows;
use super::manifest::{Contents, FamilyName, FamilyRecord, Manifest};
use super::memtable::Memory;
use super::tables::{TableFolder, TableSpace, Tables, generation_in, id_in, number_of};
use crate::schema::{Catalog, CfDef, StoredChanges};
use crate::storage::StoreError;
use crate::util::SharedMap;

/// A column family of the schema.
pub struct Family {
    pub id: u32,
    pub tables: ArcSwap<Tables>,
    pub definition: ArcSwap<CfDef>,
}

/// All column families of the schema at one time. A clone shares them.
#[derive(Default, Clone)]
pub struct FamilySet {
    /// By keyspace, then name.
    by_name: SharedMap<String, SharedMap<String, Arc<Family>>>,
    by_id: SharedMap<u32, Arc<Family>>,
}

impl FamilySet {
    /// Returns a column family of the schema.
    ///
    /// # Errors
    /// `Mismatch` if the store does not have it.
    pub fn family(&self, cf: &CfDef) -> Result<&Arc<Family>, StoreError> {
        let found = self.by_name.get(&cf.keyspace).and_then(|families| families.get(&cf.name));
        found.ok_or_else(|| {
            StoreError::Mismatch(format!("column family {}.{} is not in the store", cf.keyspace, cf.name))
        })
    }

    pub fn by_id(&self, id: u32) -> Option<&Arc<Family>> {
        self.by_id.get(&id)
    }

    /// Returns all column families.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Family>> {
        self.by_id.values()
    }

    fn insert(&mut self, (keyspace, name): FamilyName, family: Arc<Family>) {
        self.by_id.insert(family.id, family.clone());
        match self.by_name.get_mut(&keyspace) {
            Some(named) => drop(named.insert(name, family)),
            None => drop(self.by_name.insert(keyspace, [(name, family)].into_iter().collect())),
        }
    }

    fn remove(&mut self, (keyspace, name): &FamilyName) {
        let Some(named) = self.by_name.get_mut(keyspace) else { return };
        if let Some(family) = named.remove(name) {
            self.by_id.remove(&family.id);
        }
        if named.is_empty() {
            self.by_name.remove(keyspace);
        }
    }
}

/// The current column families, and the operations that change them.
pub struct Families {
    manifest: Arc<Manifest>,
    /// `None` in a store in memory.
    space: Option<Arc<TableSpace>>,
    memory: Arc<Memory>,
    set: ArcSwap<FamilySet>,
    /// Locked while column families are changed.
    altering: Mutex<Altering>,
}

/// State that is only used while column families are changed.
#[derive(Default)]
struct Altering {
    /// Tables, opened by a flush, of column families that are not in the schema.
    others: HashMap<u64, Arc<Tables>>,
    /// The catalog that `set` was built from.
    catalog: Catalog,
    /// Column families of that catalog that were dropped afterwards.
    dropped: BTreeSet<FamilyName>,
    /// Column families of the catalog whose keys are in the order of an earlier format.
    outdated: BTreeSet<FamilyName>,
    /// The next unused id. `None` until the manifest has been searched for it.
    next_id: Option<u32>,
}

/// Whether a column family is truncated or dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClearKind {
    Truncated,
    Dropped,
}

/// A snapshot of the column families, which `restore` returns to.
pub struct FamiliesSnapshot {
    set: Arc<FamilySet>,
    catalog: Catalog,
    dropped: BTreeSet<FamilyName>,
    tables: Vec<(Arc<Family>, Arc<Tables>, Arc<CfDef>)>,
}

/// A lock. While it is held, no column family is defined, altered, truncated or dropped.
pub struct HeldFamilies<'a>(MutexGuard<'a, Altering>);

/// A new generation that is in the manifest and not yet installed in memory.
pub struct NextGeneration<'a> {
    families: &'a Families,
    name: FamilyName,
    record: FamilyRecord,
    kind: ClearKind,
    earlier: TableFolder,
    altering: MutexGuard<'a, Altering>,
}

impl Families {
    pub fn new(manifest: Arc<Manifest>, space: Option<Arc<TableSpace>>, memory: Arc<Memory>) -> Families {
        Families { manifest, space, memory, set: ArcSwap::default(), altering: Mutex::default() }
    }

    /// Returns the current column families.
    pub fn now(&self) -> Guard<Arc<FamilySet>> {
        self.set.load()
    }

    /// Returns a column family of the schema.
    ///
    /// # Errors
    /// `Mismatch` if the store does not have it.
    pub fn family(&self, cf: &CfDef) -> Result<Arc<Family>, StoreError> {
        self.set.load().family(cf).cloned()
    }

    /// Locks out changes of column families, after waiting for running ones. Must be called before rows are locked, as
    /// a truncate does.
    pub fn hold(&self) -> HeldFamilies<'_> {
        HeldFamilies(self.altering.lock())
    }

    /// Takes a snapshot of the column families and their generations.
    pub fn snapshot(&self, HeldFamilies(altering): &HeldFamilies<'_>) -> FamiliesSnapshot {
        let set = self.set.load_full();
        let state =
            |family: &Arc<Family>| (family.clone(), family.tables.load_full(), family.definition.load_full());
        let (catalog, dropped) = (altering.catalog.clone(), altering.dropped.clone());
        FamiliesSnapshot { tables: set.all().map(state).collect(), set, catalog, dropped }
    }

    /// Restores the column families of a snapshot. All rows are locked, so no thread writes. Only for a store in
    /// memory: with tables, a generation must not be used again.
    pub fn restore(
        &self,
        earlier: &FamiliesSnapshot,
        HeldFamilies(altering): &mut HeldFamilies<'_>,
        _: &AllRows<'_>,
    ) {
        altering.catalog = earlier.catalog.clone();
        altering.dropped = earlier.dropped.clone();
        for (family, tables, definition) in &earlier.tables {
            tables.gc_grace_s.store(definition.gc_grace_s, Ordering::Relaxed);
            family.tables.store(tables.clone());
            family.definition.store(definition.clone());
        }
        self.set.store(earlier.set.clone());
    }

    /// Takes over the column families of a snapshot of another store in memory. Both have the same ids and generations,
    /// but neither sees what the other does with them later.
    pub fn adopt(&self, snapshot: &FamiliesSnapshot) {
        let altering = &mut *self.altering.lock();
        altering.catalog = snapshot.catalog.clone();
        altering.dropped = snapshot.dropped.clone();
        let mut set = FamilySet::default();
        for (family, tables, definition) in &snapshot.tables {
            let name = (definition.keyspace.clone(), definition.name.clone());
            let folder = TableFolder::of_family(tables.number, &name);
            let tables = Tables::empty(tables.number, folder, definition.gc_grace_s);
            let (tables, definition) = (ArcSwap::from_pointee(tables), ArcSwap::new(definition.clone()));
            set.insert(name, Arc::new(Family { id: family.id, tables, definition }));
        }
        self.set.store(Arc::new(set));
    }

    /// Adds the column families of a catalog to the manifest and opens their tables. Column families that are not in
    /// the catalog stay in the manifest. The cost is proportional to the difference from the catalog before. Returns the
    /// column families whose keys are in the order of an earlier format.
    ///
    /// # Errors
    /// `Mismatch` if a definition contradicts the data, `Corrupt` if tables are damaged.
    pub fn align(&self, catalog: &Catalog) -> Result<Vec<FamilyName>, StoreError> {
        let altering = &mut *self.altering.lock();
        let StoredChanges { mut added, gone } = catalog.stored_changes_since(&altering.catalog);
        added.extend(
            altering.dropped.iter().filter_map(|(keyspace, name)| catalog.stored_family(keyspace, name)),
        );
        let contents = self.manifest.contents();
        let mut next_id = altering.next_id.unwrap_or_else(|| contents.next_id());
        let mut wanted = Vec::new();
        for cf in added {
            let name = (cf.keyspace.clone(), cf.name.clone());
            let record = match contents.families.get(&name) {
                Some(dropped) if dropped.is_dropped => dropped.recreated(&cf),
                Some(record) => match record.conflict_with(&cf) {
                    Some(conflict) => return Err(StoreError::Mismatch(conflict)),
                    None => record.with_comparator_of(&cf).unwrap_or_else(|| record.clone()),
                },
                None => {
                    next_id += 1;
                    FamilyRecord::new(next_id - 1, &cf)
                }
            };
            wanted.push((name, record, cf));
        }
        self.manifest.change(|contents| {
            for (name, record, _) in &wanted {
                if contents.families.get(name) != Some(record) {
                    contents.families.insert(name.clone(), record.clone());
                }
            }
        })?;
        altering.next_id = Some(next_id);
        altering.outdated.retain(|name| !gone.contains(name));
        let outdated = wanted.iter().filter(|(_, record, _)| record.is_outdated());
        altering.outdated.extend(outdated.map(|(name, ..)| name.clone()));
        let mut set = FamilySet::clone(&self.set.load());
        for name in &gone {
            set.remove(name);
        }
        for (name, record, cf) in wanted {
            let family = self.opened(&name, &record, cf, &mut altering.others)?;
            set.insert(name, family);
        }
        self.set.store(Arc::new(set));
        altering.catalog = catalog.clone();
        altering.dropped.clear();
        Ok(altering.outdated.iter().cloned().collect())
    }

    /// Records that the keys of a column family are in the order of the newest format.
    pub fn set_reordered(&self, name: &FamilyName) -> Result<(), StoreError> {
        let altering = &mut *self.altering.lock();
        self.manifest.change(|contents| {
            let reordered = contents.families.get(name).map(FamilyRecord::reordered);
            if let Some(record) = reordered {
                contents.families.insert(name.clone(), record);
            }
        })?;
        altering.outdated.remove(name);
        Ok(())
    }

    /// Returns a column family with a new definition: the existing one, or one whose tables are opened.
    fn opened(
        &self,
        name: &FamilyName,
        record: &FamilyRecord,
        cf: Arc<CfDef>,
        others: &mut HashMap<u64, Arc<Tables>>,
    ) -> Result<Arc<Family>, StoreError> {
        let number = number_of(record.id, record.generation);
        if let Some(family) = self.set.load().by_id(record.id) {
            family.tables.load().gc_grace_s.store(cf.gc_grace_s, Ordering::Relaxed);
            family.definition.store(cf);
            return Ok(family.clone());
        }
        let tables = match others.remove(&number) {
            Some(tables) => tables,
            None => Arc::new(self.open_tables(number, name, cf.gc_grace_s)?),
        };
        tables.gc_grace_s.store(cf.gc_grace_s, Ordering::Relaxed);
        Ok(Arc::new(Family { id: record.id, tables: ArcSwap::new(tables), definition: ArcSwap::new(cf) }))
    }

    fn open_tables(&self, number: u64, name: &FamilyName, gc_grace_s: i32) -> Result<Tables, StoreError> {
        let tables = Tables::empty(number, TableFolder::of_family(number, name), gc_grace_s);
        tables.open(self.space.as_deref(), &self.manifest.contents().tables)
    }

    /// Returns the column families that have data but are not in the schema, as `Keyspace.ColumnFamily`. Searches the
    /// whole manifest.
    pub fn undefined(&self) -> Vec<String> {
        let (set, contents) = (self.set.load(), self.manifest.contents());
        let holds_data = |name: &FamilyName, record: &FamilyRecord| {
            let number = number_of(record.id, record.generation);
            let folder = TableFolder::of_family(number, name);
            contents.tables.contains_key(&folder.main) || self.memory.holds(number)
        };
        let others = contents.families.iter().filter(|(_, record)| set.by_id(record.id).is_none());
        others
            .filter(|(name, record)| holds_data(name, record))
            .map(|((keyspace, name), _)| format!("{keyspace}.{name}"))
            .collect()
    }

    /// Returns the tables of a generation, for a flush. `None` if it is not the newest generation of its column family.
    ///
    /// The column family need not be in the schema: it may have been written to before it was removed from the
    /// configuration.
    pub fn tables_of(&self, number: u64) -> Result<Option<Arc<Tables>>, StoreError> {
        let others = &mut self.altering.lock().others;
        if let Some(family) = self.set.load().by_id(id_in(number)) {
            let tables = family.tables.load_full();
            return Ok((tables.number == number).then_some(tables));
        }
        let contents = self.manifest.contents();
        let recorded = contents.family_of_id(id_in(number));
        let Some((name, _)) = recorded.filter(|(_, record)| record.generation == generation_in(number))
        else {
            return Ok(None);
        };
        if let Some(tables) = others.get(&number) {
            return Ok(Some(tables.clone()));
        }
        // The gc_grace of a column family that is not defined is unknown, so no tombstone is dropped.
        let tables = Arc::new(self.open_tables(number, name, i32::MAX)?);
        others.insert(number, tables.clone());
        Ok(Some(tables))
    }

    /// Records the next generation of a column family in the manifest. From then on the earlier generation is gone,
    /// even if the process is killed. Waits for the disk.
    ///
    /// Returns `None` if the column family is not in the manifest, or already dropped.
    pub fn next_generation(
        &self,
        cf: &CfDef,
        kind: ClearKind,
    ) -> Result<Option<NextGeneration<'_>>, StoreError> {
        let altering = self.altering.lock();
        let name = (cf.keyspace.clone(), cf.name.clone());
        let recorded = self.manifest.contents().families.get(&name).cloned();
        let Some(mut record) = recorded.filter(|record| !record.is_dropped) else { return Ok(None) };
        let earlier = TableFolder::of_family(number_of(record.id, record.generation), &name);
        record.generation += 1;
        record.is_dropped = kind == ClearKind::Dropped;
        self.manifest.change(|contents: &mut Contents| {
            contents.families.insert(name.clone(), record.clone());
            contents.tables.remove(&earlier.main);
            contents.tables.remove(&earlier.long);
        })?;
        Ok(Some(NextGeneration { families: self, name, record, kind, earlier, altering }))
    }
}

impl NextGeneration<'_> {
    /// Replaces the earlier generation in memory. All rows are locked, so no thread writes.
    pub fn install(mut self, _: &AllRows<'_>) {
        let (families, id) = (self.families, self.record.id);
        let number = number_of(id, self.record.generation);
        families.memory.forget(number - 1);
        let mut set = FamilySet::clone(&families.set.load());
        let earlier = match set.by_id(id) {
            Some(family) => {
                let grace = family.tables.load().gc_grace_s.load(Ordering::Relaxed);
                let folder = TableFolder::of_family(number, &self.name);
                Some(family.tables.swap(Arc::new(Tables::empty(number, folder, grace))))
            }
            None => self.altering.others.remove(&(number - 1)),
        };
        if self.kind == ClearKind::Dropped {
            set.remove(&self.name);
            families.set.store(Arc::new(set));
            self.altering.dropped.insert(self.name.clone());
        }
        match earlier {
            Some(tables) => tables.forget(),
            None => self.remove_unopened(),
        }
    }

    /// Removes the tables of a column family that is not in the schema, which are not open.
    fn remove_unopened(&self) {
        let Some(space) = &self.families.space else { return };
        for folder in [&self.earlier.main, &self.earlier.long] {
            space.remove(folder);
        }
    }
}
