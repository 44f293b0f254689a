//! All that was written since the last freeze, by generation of column family.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

use parking_lot::RwLock;

use super::rows::Rows;

/// Rows of every column family, by the number of its generation.
#[derive(Default)]
pub struct Memtable {
    /// Memtables of one store are numbered one after another.
    number: u64,
    families: RwLock<HashMap<u64, Arc<Rows>>>,
    bytes: AtomicIsize,
}

impl Memtable {
    /// An empty one that follows another.
    pub fn after(earlier: &Memtable) -> Memtable {
        Memtable { number: earlier.number + 1, ..Memtable::default() }
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// The rows of a generation, to write to.
    pub fn rows_or_make(&self, family: u64) -> Arc<Rows> {
        if let Some(rows) = self.families.read().get(&family) {
            return rows.clone();
        }
        self.families.write().entry(family).or_default().clone()
    }

    /// Counts bytes that its rows have grown by.
    pub fn add_bytes(&self, grown: isize) {
        self.bytes.fetch_add(grown, Ordering::Relaxed);
    }

    /// The rows of a generation, if any were written.
    pub fn rows(&self, family: u64) -> Option<Arc<Rows>> {
        self.families.read().get(&family).cloned()
    }

    /// The generations that were written to.
    pub fn families(&self) -> Vec<(u64, Arc<Rows>)> {
        let mut families: Vec<_> =
            self.families.read().iter().map(|(number, rows)| (*number, rows.clone())).collect();
        families.sort_by_key(|(number, _)| *number);
        families
    }

    /// Forgets a generation. Nobody writes to it any more.
    pub fn forget(&self, family: u64) {
        if let Some(rows) = self.families.write().remove(&family) {
            self.bytes.fetch_sub(rows.bytes(), Ordering::Relaxed);
        }
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        usize::try_from(self.bytes.load(Ordering::Relaxed)).unwrap_or(0)
    }
}
