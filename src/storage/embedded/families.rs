//! The column families of a store: what the manifest records of them, laid under the schema, and their tables.
//!
//! A column family has an id for ever, and a generation that each truncate and each drop raises. Tables and log records
//! carry both numbers. So a truncate is one change of the manifest: what carries an earlier generation is forgotten,
//! whenever the process ends. The steps:
//!
//! ```text
//!   1  the manifest says generation 2 and no longer lists the tables of generation 1     from here on it is done
//!   2  between two writes: empty tables of generation 2 take the place of the others, and memory forgets these
//!   3  the directories of generation 1 are removed when their last reader has ended, or at the next start
//! ```

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

/// A column family that is defined.
pub struct Family {
    pub id: u32,
    pub tables: ArcSwap<Tables>,
    pub definition: ArcSwap<CfDef>,
}

/// The column families at one moment. A copy shares them.
#[derive(Default, Clone)]
pub struct FamilySet {
    /// By keyspace, then name.
    by_name: SharedMap<String, SharedMap<String, Arc<Family>>>,
    by_id: SharedMap<u32, Arc<Family>>,
}

impl FamilySet {
    /// A column family of the schema.
    pub fn family(&self, cf: &CfDef) -> Result<&Arc<Family>, StoreError> {
        let found = self.by_name.get(&cf.keyspace).and_then(|families| families.get(&cf.name));
        found.ok_or_else(|| {
            StoreError::Mismatch(format!("column family {}.{} is not in the store", cf.keyspace, cf.name))
        })
    }

    pub fn by_id(&self, id: u32) -> Option<&Arc<Family>> {
        self.by_id.get(&id)
    }

    /// Every defined column family.
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

/// All column families, and their changes.
pub struct Families {
    manifest: Arc<Manifest>,
    /// `None` in a store without tables.
    space: Option<Arc<TableSpace>>,
    memory: Arc<Memory>,
    set: ArcSwap<FamilySet>,
    /// Held while column families are changed.
    altering: Mutex<Altering>,
}

/// What only changes of column families look at.
#[derive(Default)]
struct Altering {
    /// Tables of column families that are not defined, which a flush has opened.
    others: HashMap<u64, Arc<Tables>>,
    /// The catalog that the set is of.
    aligned: Catalog,
    /// Column families of that catalog that have been dropped since.
    dropped: BTreeSet<FamilyName>,
    /// An id that no column family has; `None` until the manifest has been looked through.
    next_id: Option<u32>,
}

/// Whether a column family is emptied or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClearKind {
    Truncated,
    Dropped,
}

/// The column families of a moment, to which one can return.
pub struct FamiliesAt {
    set: Arc<FamilySet>,
    aligned: Catalog,
    dropped: BTreeSet<FamilyName>,
    tables: Vec<(Arc<Family>, Arc<Tables>, Arc<CfDef>)>,
}

/// No column family is defined, altered, truncated or dropped until this is dropped.
pub struct HeldFamilies<'a>(MutexGuard<'a, Altering>);

/// A new generation that the manifest has, and memory has not yet.
pub struct NextGeneration<'a> {
    families: &'a Families,
    name: FamilyName,
    record: FamilyRecord,
    fate: ClearKind,
    earlier: TableFolder,
    altering: MutexGuard<'a, Altering>,
}

impl Families {
    pub fn new(manifest: Arc<Manifest>, space: Option<Arc<TableSpace>>, memory: Arc<Memory>) -> Families {
        Families { manifest, space, memory, set: ArcSwap::default(), altering: Mutex::default() }
    }

    /// The column families as they are now.
    pub fn now(&self) -> Guard<Arc<FamilySet>> {
        self.set.load()
    }

    /// A column family of the schema.
    pub fn family(&self, cf: &CfDef) -> Result<Arc<Family>, StoreError> {
        self.set.load().family(cf).cloned()
    }

    /// Waits for changes of column families that are under way, and lets none begin. Taken before rows are locked, as a
    /// truncate does too.
    pub fn hold(&self) -> HeldFamilies<'_> {
        HeldFamilies(self.altering.lock())
    }

    /// The column families as they are now, with their generations.
    pub fn at_this_moment(&self, HeldFamilies(altering): &HeldFamilies<'_>) -> FamiliesAt {
        let set = self.set.load_full();
        let state =
            |family: &Arc<Family>| (family.clone(), family.tables.load_full(), family.definition.load_full());
        let (aligned, dropped) = (altering.aligned.clone(), altering.dropped.clone());
        FamiliesAt { tables: set.all().map(state).collect(), set, aligned, dropped }
    }

    /// Returns to the column families of an earlier moment. Nobody writes meanwhile, as all rows are locked. Only for a
    /// store without tables, whose generations may come again.
    pub fn return_to(
        &self,
        earlier: &FamiliesAt,
        HeldFamilies(altering): &mut HeldFamilies<'_>,
        _: &AllRows<'_>,
    ) {
        altering.aligned = earlier.aligned.clone();
        altering.dropped = earlier.dropped.clone();
        for (family, tables, definition) in &earlier.tables {
            tables.gc_grace_s.store(definition.gc_grace_s, Ordering::Relaxed);
            family.tables.store(tables.clone());
            family.definition.store(definition.clone());
        }
        self.set.store(earlier.set.clone());
    }

    /// Brings the manifest and the tables in line with a catalog. Column families are added, never removed. Costs what
    /// differs from the catalog before.
    ///
    /// # Errors
    /// `Mismatch` when a definition contradicts the data, `Corrupt` when tables are damaged.
    pub fn align(&self, catalog: &Catalog) -> Result<(), StoreError> {
        let altering = &mut *self.altering.lock();
        let StoredChanges { mut added, gone } = catalog.stored_changes_since(&altering.aligned);
        added.extend(
            altering.dropped.iter().filter_map(|(keyspace, name)| catalog.stored_family(keyspace, name)),
        );
        let contents = self.manifest.contents();
        let mut next_id = altering.next_id.unwrap_or_else(|| contents.next_id());
        let mut wanted = Vec::new();
        for cf in added {
            let name = (cf.keyspace.clone(), cf.name.clone());
            let record = match contents.families.get(&name) {
                Some(dropped) if dropped.is_dropped => dropped.made_again(&cf),
                Some(record) => match record.conflict_with(&cf) {
                    Some(conflict) => return Err(StoreError::Mismatch(conflict)),
                    None => record.succeeded_by(&cf).unwrap_or_else(|| record.clone()),
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
        let mut set = FamilySet::clone(&self.set.load());
        for name in &gone {
            set.remove(name);
        }
        for (name, record, cf) in wanted {
            let family = self.opened(&name, &record, cf, &mut altering.others)?;
            set.insert(name, family);
        }
        self.set.store(Arc::new(set));
        altering.aligned = catalog.clone();
        altering.dropped.clear();
        Ok(())
    }

    /// A defined column family: the one that is there, or its tables opened.
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

    /// Column families that hold data but are not defined, as `Keyspace.ColumnFamily`. Looks at all.
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

    /// The tables of a generation; `None` when it is not the newest one of its column family. One that is not defined may
    /// have been written to before it was left out of the configuration.
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
        // Nothing is old in a column family of which nobody knows the gc_grace.
        let tables = Arc::new(self.open_tables(number, name, i32::MAX)?);
        others.insert(number, tables.clone());
        Ok(Some(tables))
    }

    /// Notes another generation of a column family in the manifest: whenever the process ends now, the earlier one is
    /// forgotten. `None`: there is nothing to forget. Waits for the disk.
    pub fn next_generation(
        &self,
        cf: &CfDef,
        fate: ClearKind,
    ) -> Result<Option<NextGeneration<'_>>, StoreError> {
        let altering = self.altering.lock();
        let name = (cf.keyspace.clone(), cf.name.clone());
        let recorded = self.manifest.contents().families.get(&name).cloned();
        let Some(mut record) = recorded.filter(|record| !record.is_dropped) else { return Ok(None) };
        let earlier = TableFolder::of_family(number_of(record.id, record.generation), &name);
        record.generation += 1;
        record.is_dropped = fate == ClearKind::Dropped;
        self.manifest.change(|contents: &mut Contents| {
            contents.families.insert(name.clone(), record.clone());
            contents.tables.remove(&earlier.main);
            contents.tables.remove(&earlier.long);
        })?;
        Ok(Some(NextGeneration { families: self, name, record, fate, earlier, altering }))
    }
}

impl NextGeneration<'_> {
    /// Puts the new generation in the place of the earlier one. Nobody writes meanwhile, as all rows are locked.
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
        if self.fate == ClearKind::Dropped {
            set.remove(&self.name);
            families.set.store(Arc::new(set));
            self.altering.dropped.insert(self.name.clone());
        }
        match earlier {
            Some(tables) => tables.forget(),
            None => self.remove_unopened(),
        }
    }

    /// Removes the tables of a column family that is not defined, which nobody has open.
    fn remove_unopened(&self) {
        let Some(space) = &self.families.space else { return };
        for folder in [&self.earlier.main, &self.earlier.long] {
            space.remove(folder);
        }
    }
}
