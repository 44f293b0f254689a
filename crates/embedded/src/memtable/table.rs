//! A memtable: the rows written since the last freeze, by generation of their column family.

use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

use arc_swap::ArcSwap;

use super::rows::Rows;
use base::util::KeyMap;

/// The rows of all column families, by the number of the generation.
#[derive(Default)]
pub(crate) struct Memtable {
    /// The map is copied to add a generation: every write reads it, and generations are few.
    families: ArcSwap<KeyMap<u64, Arc<Rows>>>,
    bytes: AtomicIsize,
}

impl Memtable {
    /// Merges several frozen memtables. If `is_lowest`, removals are dropped, since no older entries are left that they
    /// could hide.
    pub(crate) fn merged(newest_first: &[Arc<Memtable>], is_lowest: bool) -> Memtable {
        let mut layers: KeyMap<u64, Vec<Arc<Rows>>> = KeyMap::default();
        for table in newest_first {
            for (family, rows) in table.families.load().iter() {
                layers.entry(*family).or_default().push(rows.clone());
            }
        }
        let merge = |(family, layers): (u64, Vec<Arc<Rows>>)| match &layers[..] {
            [only] => (family, only.clone()),
            _ => (family, Arc::new(Rows::merged(&layers, is_lowest))),
        };
        let families: KeyMap<u64, Arc<Rows>> = layers.into_iter().map(merge).collect();
        Memtable {
            bytes: AtomicIsize::new(families.values().map(|rows| rows.bytes()).sum()),
            families: ArcSwap::from_pointee(families),
        }
    }

    /// Returns the rows of a generation, and creates them if needed.
    fn rows_or_create(&self, family: u64) -> Arc<Rows> {
        if let Some(rows) = self.families.load().get(&family) {
            return rows.clone();
        }
        let made = Arc::<Rows>::default();
        let before = self.families.rcu(|families| {
            let mut families = KeyMap::clone(families);
            families.entry(family).or_insert_with(|| made.clone());
            families
        });
        // Another thread may have created them first.
        before.get(&family).cloned().unwrap_or(made)
    }

    /// Runs `run` on the rows of a generation, which are created if needed.
    pub(crate) fn with_rows<T>(&self, family: u64, run: impl FnOnce(&Rows) -> T) -> T {
        match self.families.load().get(&family) {
            Some(rows) => run(rows),
            None => run(&self.rows_or_create(family)),
        }
    }

    /// Adds the bytes by which rows have grown.
    pub(crate) fn add_bytes(&self, grown: isize) {
        self.bytes.fetch_add(grown, Ordering::Relaxed);
    }

    /// Returns the rows of a generation, if there are any.
    pub(crate) fn rows(&self, family: u64) -> Option<Arc<Rows>> {
        self.families.load().get(&family).cloned()
    }

    /// Returns the rows of all generations, sorted by number.
    pub(crate) fn families(&self) -> Vec<(u64, Arc<Rows>)> {
        let mut families: Vec<_> =
            self.families.load().iter().map(|(number, rows)| (*number, rows.clone())).collect();
        families.sort_by_key(|(number, _)| *number);
        families
    }

    /// Returns a frozen memtable without a generation.
    pub(crate) fn without(table: &Arc<Memtable>, family: u64) -> Arc<Memtable> {
        let Some(rows) = table.rows(family) else { return table.clone() };
        let mut families = KeyMap::clone(&table.families.load());
        families.remove(&family);
        let bytes = table.bytes.load(Ordering::Relaxed) - rows.bytes();
        Arc::new(Memtable { families: ArcSwap::from_pointee(families), bytes: AtomicIsize::new(bytes) })
    }

    /// Drops the rows of a generation. The caller prevents writes to it.
    pub(crate) fn forget(&self, family: u64) {
        let before = self.families.rcu(|families| {
            let mut families = KeyMap::clone(families);
            families.remove(&family);
            families
        });
        if let Some(rows) = before.get(&family) {
            self.bytes.fetch_sub(rows.bytes(), Ordering::Relaxed);
        }
    }

    /// Returns whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.families.load().values().all(|rows| rows.is_empty())
    }

    /// Returns the approximate memory that it uses, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        usize::try_from(self.bytes.load(Ordering::Relaxed)).unwrap_or(0)
    }
}
