//! All that was written since the last freeze, by generation of column family.

use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

use arc_swap::ArcSwap;

use super::rows::Rows;
use crate::util::KeyMap;

/// Rows of every column family, by the number of its generation.
#[derive(Default)]
pub struct Memtable {
    /// Copied when a generation comes to it: there are few, and every write looks here.
    families: ArcSwap<KeyMap<u64, Arc<Rows>>>,
    bytes: AtomicIsize,
}

impl Memtable {
    /// What several hold together, newest first; nobody writes to them any more. Below the lowest there is nothing that
    /// a removal could hide.
    pub fn merged(newest_first: &[Arc<Memtable>], is_lowest: bool) -> Memtable {
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

    /// The rows of a generation, which are made if need be.
    fn rows_or_make(&self, family: u64) -> Arc<Rows> {
        if let Some(rows) = self.families.load().get(&family) {
            return rows.clone();
        }
        let made = Arc::<Rows>::default();
        let before = self.families.rcu(|families| {
            let mut families = KeyMap::clone(families);
            families.entry(family).or_insert_with(|| made.clone());
            families
        });
        // Somebody may have been faster.
        before.get(&family).cloned().unwrap_or(made)
    }

    /// Does something with the rows of a generation, which are made if need be.
    pub fn with_rows<T>(&self, family: u64, run: impl FnOnce(&Rows) -> T) -> T {
        match self.families.load().get(&family) {
            Some(rows) => run(rows),
            None => run(&self.rows_or_make(family)),
        }
    }

    /// Counts bytes that its rows have grown by.
    pub fn add_bytes(&self, grown: isize) {
        self.bytes.fetch_add(grown, Ordering::Relaxed);
    }

    /// The rows of a generation, if any were written.
    pub fn rows(&self, family: u64) -> Option<Arc<Rows>> {
        self.families.load().get(&family).cloned()
    }

    /// The generations that were written to.
    pub fn families(&self) -> Vec<(u64, Arc<Rows>)> {
        let mut families: Vec<_> =
            self.families.load().iter().map(|(number, rows)| (*number, rows.clone())).collect();
        families.sort_by_key(|(number, _)| *number);
        families
    }

    /// The same memtable without a generation; nobody writes to it any more.
    pub fn without(table: &Arc<Memtable>, family: u64) -> Arc<Memtable> {
        let Some(rows) = table.rows(family) else { return table.clone() };
        let mut families = KeyMap::clone(&table.families.load());
        families.remove(&family);
        let bytes = table.bytes.load(Ordering::Relaxed) - rows.bytes();
        Arc::new(Memtable { families: ArcSwap::from_pointee(families), bytes: AtomicIsize::new(bytes) })
    }

    /// Forgets a generation. Nobody writes to it any more.
    pub fn forget(&self, family: u64) {
        let before = self.families.rcu(|families| {
            let mut families = KeyMap::clone(families);
            families.remove(&family);
            families
        });
        if let Some(rows) = before.get(&family) {
            self.bytes.fetch_sub(rows.bytes(), Ordering::Relaxed);
        }
    }

    /// Whether nothing was written to it.
    pub fn is_empty(&self) -> bool {
        self.families.load().values().all(|rows| rows.is_empty())
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        usize::try_from(self.bytes.load(Ordering::Relaxed)).unwrap_or(0)
    }
}
