//! Row locks: a write reads what it replaces, so two writes of one row must not meet.
//!
//! They are held within one synchronous call only, and nobody who holds one waits for a flush or a task.

use std::hash::{BuildHasher, RandomState};

use parking_lot::{Mutex, MutexGuard};

/// More stripes than connections write at once, few enough to stay in the cache.
const STRIPES: usize = 1024;

/// A row that is locked until this is dropped.
pub type RowGuard<'a> = MutexGuard<'a, ()>;

/// Locks for all rows. Rows that share a stripe wait for each other, which costs time only.
pub struct RowLocks {
    stripes: Vec<Mutex<()>>,
    hasher: RandomState,
}

impl RowLocks {
    pub fn new() -> RowLocks {
        RowLocks { stripes: (0..STRIPES).map(|_| Mutex::default()).collect(), hasher: RandomState::new() }
    }

    /// Locks one row.
    pub fn lock_one(&self, key: &[u8]) -> RowGuard<'_> {
        self.stripes[self.stripe_of(key)].lock()
    }

    /// Locks these row keys, always in one order so that no two callers wait for each other.
    pub fn lock<'a>(&self, keys: impl Iterator<Item = &'a [u8]>) -> Vec<RowGuard<'_>> {
        let mut stripes: Vec<usize> = keys.map(|key| self.stripe_of(key)).collect();
        stripes.sort_unstable();
        stripes.dedup();
        stripes.into_iter().map(|stripe| self.stripes[stripe].lock()).collect()
    }

    /// Locks all rows: nothing is written meanwhile.
    pub fn lock_all(&self) -> Vec<RowGuard<'_>> {
        self.stripes.iter().map(Mutex::lock).collect()
    }

    fn stripe_of(&self, key: &[u8]) -> usize {
        usize::try_from(self.hasher.hash_one(key) % STRIPES as u64).unwrap_or(0)
    }
}
