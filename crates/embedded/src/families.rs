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
//!
//! Step 1 of a `StoreChange` is one change of the manifest for all its column families and metadata records: a crash
//! leaves all of the change or nothing of it. Everything that can fail, such as opening tables, precedes it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arc_swap::{ArcSwap, Guard};
use parking_lot::{Mutex, MutexGuard};

use super::locks::AllRows;
use super::manifest::{Contents, FamilyRecord, Manifest};
use super::memtable::Memory;
use super::tables::{TableFolder, TableSpace, Tables, generation_in, id_in, number_of};
use base::schema::{Catalog, CfDef, FamilyName, StoredChanges};
use base::util::SharedMap;
use store::{Result, StoreChange, StoreError};

/// A column family of the schema.
pub(crate) struct OpenFamily {
    pub id: u32,
    pub tables: ArcSwap<Tables>,
    pub definition: ArcSwap<CfDef>,
}

/// All column families of the schema at one time. A clone shares them.
#[derive(Default, Clone)]
pub(crate) struct FamilySet {
    /// By keyspace, then name.
    by_name: SharedMap<String, SharedMap<String, Arc<OpenFamily>>>,
    by_id: SharedMap<u32, Arc<OpenFamily>>,
}

impl FamilySet {
    /// Returns a column family of the schema.
    ///
    /// # Errors
    /// `Mismatch` if the store does not have it.
    pub(crate) fn family(&self, cf: &CfDef) -> Result<&Arc<OpenFamily>> {
        let found = self.by_name.get(&cf.keyspace).and_then(|families| families.get(&cf.name));
        found.ok_or_else(|| {
            StoreError::Mismatch(format!("column family {}.{} is not in the store", cf.keyspace, cf.name))
        })
    }

    pub(crate) fn by_id(&self, id: u32) -> Option<&Arc<OpenFamily>> {
        self.by_id.get(&id)
    }

    /// Returns all column families.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<OpenFamily>> {
        self.by_id.values()
    }

    fn insert(&mut self, name: FamilyName, family: Arc<OpenFamily>) {
        debug_assert!(
            id_in(family.tables.load().number) == family.id,
            "column family {name} would use the tables of another one"
        );
        self.by_id.insert(family.id, family.clone());
        match self.by_name.get_mut(&name.keyspace) {
            Some(named) => drop(named.insert(name.name, family)),
            None => drop(self.by_name.insert(name.keyspace, [(name.name, family)].into_iter().collect())),
        }
    }

    fn remove(&mut self, name: &FamilyName) {
        let Some(named) = self.by_name.get_mut(&name.keyspace) else { return };
        if let Some(family) = named.remove(&name.name) {
            self.by_id.remove(&family.id);
        }
        if named.is_empty() {
            self.by_name.remove(&name.keyspace);
        }
    }
}

/// The current column families, and the operations that change them.
pub(crate) struct Families {
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
    /// The next unused id. `None` until the manifest has been searched for it.
    next_id: Option<u32>,
}

/// A snapshot of the column families, which `restore` returns to.
pub(crate) struct FamiliesSnapshot {
    set: Arc<FamilySet>,
    catalog: Catalog,
    tables: Vec<(Arc<OpenFamily>, Arc<Tables>, Arc<CfDef>)>,
}

/// A lock. While it is held, no column family is defined, altered, truncated or dropped.
pub(crate) struct HeldFamilies<'a>(MutexGuard<'a, Altering>);

/// A column family whose rows are removed.
struct ClearedFamily {
    name: FamilyName,
    /// Its record with the next generation.
    record: FamilyRecord,
    /// The directories of the earlier generation.
    earlier: TableFolder,
}

/// A column family that is new in the schema, or has another definition.
struct DefinedFamily {
    name: FamilyName,
    record: FamilyRecord,
    definition: Arc<CfDef>,
    /// The open column family: the one in use, or one that no request has seen yet.
    family: Arc<OpenFamily>,
}

/// A change of the column families that is in the manifest and not yet installed in memory.
pub(crate) struct NextFamilies<'a> {
    families: &'a Families,
    altering: MutexGuard<'a, Altering>,
    catalog: Catalog,
    next_id: u32,
    cleared: Vec<ClearedFamily>,
    defined: Vec<DefinedFamily>,
    /// The column families that `catalog` does not have any more, and some that are in `defined`.
    gone: Vec<FamilyName>,
}

impl Families {
    pub(crate) fn new(
        manifest: Arc<Manifest>,
        space: Option<Arc<TableSpace>>,
        memory: Arc<Memory>,
    ) -> Families {
        Families { manifest, space, memory, set: ArcSwap::default(), altering: Mutex::default() }
    }

    /// Returns the current column families.
    pub(crate) fn now(&self) -> Guard<Arc<FamilySet>> {
        self.set.load()
    }

    /// Returns a column family of the schema.
    ///
    /// # Errors
    /// `Mismatch` if the store does not have it.
    pub(crate) fn family(&self, cf: &CfDef) -> Result<Arc<OpenFamily>> {
        self.set.load().family(cf).cloned()
    }

    /// Locks out changes of column families, after waiting for running ones. Must be called before rows are locked, as
    /// a truncate does.
    pub(crate) fn hold(&self) -> HeldFamilies<'_> {
        HeldFamilies(self.altering.lock())
    }

    /// Takes a snapshot of the column families and their generations.
    pub(crate) fn snapshot(&self, HeldFamilies(altering): &HeldFamilies<'_>) -> FamiliesSnapshot {
        let set = self.set.load_full();
        let mut tables = Vec::new();
        for family in set.all() {
            tables.push((family.clone(), family.tables.load_full(), family.definition.load_full()));
        }
        FamiliesSnapshot { tables, set, catalog: altering.catalog.clone() }
    }

    /// Restores the column families of a snapshot. All rows are locked, so no thread writes. Only for a store in
    /// memory: with tables, a generation must not be used again.
    pub(crate) fn restore(
        &self,
        earlier: &FamiliesSnapshot,
        HeldFamilies(altering): &mut HeldFamilies<'_>,
        _: &AllRows<'_>,
    ) {
        assert!(self.space.is_none(), "a store with tables would use generations again");
        altering.catalog = earlier.catalog.clone();
        for (family, tables, definition) in &earlier.tables {
            tables.gc_grace_s.store(definition.gc_grace_s, Ordering::Relaxed);
            family.tables.store(tables.clone());
            family.definition.store(definition.clone());
        }
        self.set.store(earlier.set.clone());
    }

    /// Takes over the column families of a snapshot of another store in memory. Both have the same ids and generations,
    /// but neither sees what the other does with them later.
    pub(crate) fn adopt(&self, snapshot: &FamiliesSnapshot) {
        assert!(self.space.is_none(), "the tables of a store on a disk belong to its own column families");
        let altering = &mut *self.altering.lock();
        altering.catalog = snapshot.catalog.clone();
        let mut set = FamilySet::default();
        for (family, tables, definition) in &snapshot.tables {
            let name = FamilyName::of(definition);
            let folder = TableFolder::of_family(tables.number, &name);
            let tables = Tables::empty(tables.number, folder, definition.gc_grace_s);
            let (tables, definition) = (ArcSwap::from_pointee(tables), ArcSwap::new(definition.clone()));
            set.insert(name, Arc::new(OpenFamily { id: family.id, tables, definition }));
        }
        self.set.store(Arc::new(set));
    }

    /// Changes column families and metadata records in one change of the manifest: new and changed definitions, the next
    /// generations of truncated and dropped column families, and the records. From then on the earlier generations are
    /// gone, even if the process is killed. Column families that are not in the catalog stay in the manifest. The cost is
    /// proportional to the difference from the catalog before. Waits for the disk.
    ///
    /// # Errors
    /// `Mismatch` if a definition contradicts the data, `Corrupt` if tables are damaged. Nothing has changed then.
    pub(crate) fn change(&self, change: &StoreChange) -> Result<NextFamilies<'_>> {
        let altering = self.altering.lock();
        let contents = self.manifest.contents();
        let cleared = self.cleared(change, &contents)?;
        let catalog = Catalog::clone(change.catalog.as_deref().unwrap_or(&altering.catalog));
        let catalog = change.dropped.iter().fold(catalog, |catalog, cf| catalog.without(cf));
        let StoredChanges { added, gone } = catalog.stored_changes_since(&altering.catalog);
        let mut records = contents.families.clone();
        records.extend(cleared.iter().map(|cleared| (cleared.name.clone(), cleared.record.clone())));
        let mut next_id = altering.next_id.unwrap_or_else(|| contents.next_id());
        let mut defined = Vec::new();
        for definition in added {
            let name = FamilyName::of(&definition);
            let record = self.record_of(&definition, records.get(&name), &mut next_id)?;
            if records.get(&name) != Some(&record) {
                records.insert(name.clone(), record.clone());
            }
            let family = self.opened(&name, &record, &definition, &altering.others)?;
            defined.push(DefinedFamily { name, record, definition, family });
        }
        self.manifest.change(|contents| {
            // No other thread changes the records of column families while `altering` is locked.
            contents.families = records;
            for ClearedFamily { earlier, .. } in &cleared {
                contents.tables.remove(&earlier.main);
                contents.tables.remove(&earlier.long);
            }
            for (name, value) in &change.records {
                match value {
                    Some(value) => contents.records.insert(name.clone(), value.clone()),
                    None => contents.records.remove(name),
                };
            }
        })?;
        Ok(NextFamilies { families: self, altering, catalog, next_id, cleared, defined, gone })
    }

    /// Returns the record of a column family that is defined, from its record in the manifest. A new one gets the next id.
    fn record_of(
        &self,
        cf: &CfDef,
        recorded: Option<&FamilyRecord>,
        next_id: &mut u32,
    ) -> Result<FamilyRecord> {
        match recorded {
            Some(dropped) if dropped.is_dropped => Ok(dropped.recreated(cf)),
            Some(record) => match record.conflict_with(cf) {
                None => Ok(record.with_comparator_of(cf).unwrap_or_else(|| record.clone())),
                Some(_) if !self.has_entries(&FamilyName::of(cf), record)? => Ok(record.retyped(cf)),
                Some(conflict) => Err(StoreError::Mismatch(conflict)),
            },
            None => {
                *next_id += 1;
                Ok(FamilyRecord::new(*next_id - 1, cf))
            }
        }
    }

    /// Returns the next generations of the column families that a change truncates or drops. Those that are not in the
    /// manifest, or already dropped, are left out.
    fn cleared(&self, change: &StoreChange, contents: &Contents) -> Result<Vec<ClearedFamily>> {
        change.truncated.iter().try_for_each(|cf| self.family(cf).map(drop))?;
        let truncated = change.truncated.iter().map(|cf| (cf, false));
        let dropped = change.dropped.iter().map(|cf| (cf, true));
        let next = truncated.chain(dropped).filter_map(|(cf, is_dropped)| {
            let name = FamilyName::of(cf);
            let record = contents.families.get(&name).filter(|record| !record.is_dropped)?;
            let earlier = TableFolder::of_family(number_of(record.id, record.generation), &name);
            let generation = record.generation + 1;
            let record = FamilyRecord { generation, is_dropped, ..record.clone() };
            Some(ClearedFamily { name, record, earlier })
        });
        Ok(next.collect())
    }

    /// Returns a column family that has a record: the one in use, or one whose tables are opened.
    fn opened(
        &self,
        name: &FamilyName,
        record: &FamilyRecord,
        definition: &Arc<CfDef>,
        others: &HashMap<u64, Arc<Tables>>,
    ) -> Result<Arc<OpenFamily>> {
        if let Some(family) = self.set.load().by_id(record.id) {
            return Ok(family.clone());
        }
        let number = number_of(record.id, record.generation);
        let tables = match others.get(&number) {
            Some(tables) => tables.clone(),
            None => Arc::new(self.open_tables(number, name, definition.gc_grace_s)?),
        };
        let (tables, definition) = (ArcSwap::new(tables), ArcSwap::new(definition.clone()));
        Ok(Arc::new(OpenFamily { id: record.id, tables, definition }))
    }

    fn open_tables(&self, number: u64, name: &FamilyName, gc_grace_s: i32) -> Result<Tables> {
        let tables = Tables::empty(number, TableFolder::of_family(number, name), gc_grace_s);
        tables.open(self.space.as_deref(), &self.manifest.contents().tables)
    }

    /// Returns whether a column family has a single entry, be it a tombstone. One that is open may have some: requests
    /// use its types.
    fn has_entries(&self, name: &FamilyName, record: &FamilyRecord) -> Result<bool> {
        let number = number_of(record.id, record.generation);
        if self.memory.holds(number) || self.set.load().by_id(record.id).is_some() {
            return Ok(true);
        }
        let (folder, space) = (TableFolder::of_family(number, name), self.space.as_deref());
        let contents = self.manifest.contents();
        for tree in [&folder.main, &folder.long] {
            if let (Some(space), Some(record)) = (space, contents.tables.get(tree))
                && space.name_of(tree, &folder.owner).has_entries(&**space.disk(), record.identity)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the column families that have data but are not in the schema, as `Keyspace.ColumnFamily`. Searches the
    /// whole manifest.
    pub(crate) fn undefined(&self) -> Vec<String> {
        let (set, contents) = (self.set.load(), self.manifest.contents());
        let mut undefined = Vec::new();
        for (name, record) in contents.families.iter().filter(|(_, record)| set.by_id(record.id).is_none()) {
            let number = number_of(record.id, record.generation);
            let folder = TableFolder::of_family(number, name);
            if contents.tables.contains_key(&folder.main) || self.memory.holds(number) {
                undefined.push(name.to_string());
            }
        }
        undefined
    }

    /// Returns the tables of a generation, for a flush. `None` if it is not the newest generation of its column family.
    ///
    /// The column family need not be in the schema: it may have been written to before it was removed from the
    /// configuration.
    pub(crate) fn tables_of(&self, number: u64) -> Result<Option<Arc<Tables>>> {
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
}

impl NextFamilies<'_> {
    /// Installs the change in memory. All rows are locked, so no thread writes.
    pub(crate) fn install(mut self, _: &AllRows<'_>) {
        for cleared in std::mem::take(&mut self.cleared) {
            self.clear(cleared);
        }
        let altering = &mut *self.altering;
        let mut set = FamilySet::clone(&self.families.set.load());
        self.gone.iter().for_each(|name| set.remove(name));
        for DefinedFamily { name, record, definition, family } in self.defined {
            assert!(family.id == record.id, "column family {name} would get the rows of another one");
            altering.others.remove(&number_of(record.id, record.generation));
            family.tables.load().gc_grace_s.store(definition.gc_grace_s, Ordering::Relaxed);
            family.definition.store(definition);
            set.insert(name, family);
        }
        self.families.set.store(Arc::new(set));
        altering.catalog = self.catalog;
        altering.next_id = Some(self.next_id);
    }

    /// Replaces the earlier generation of a column family by an empty one.
    fn clear(&mut self, ClearedFamily { name, record, earlier }: ClearedFamily) {
        assert!(record.generation > 1, "a cleared generation of {name} has none before it");
        let (families, number) = (self.families, number_of(record.id, record.generation));
        families.memory.forget(number - 1);
        let tables = match families.set.load().by_id(record.id) {
            Some(family) => {
                let grace = family.tables.load().gc_grace_s.load(Ordering::Relaxed);
                let folder = TableFolder::of_family(number, &name);
                Some(family.tables.swap(Arc::new(Tables::empty(number, folder, grace))))
            }
            None => self.altering.others.remove(&(number - 1)),
        };
        match (tables, &families.space) {
            (Some(tables), _) => tables.forget(),
            // Tables of a column family that is not in the schema may not be open.
            (None, Some(space)) => {
                [&earlier.main, &earlier.long].into_iter().for_each(|folder| space.remove(folder))
            }
            (None, None) => {}
        }
    }
}
