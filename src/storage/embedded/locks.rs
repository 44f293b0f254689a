//! Row locks: a write reads what it replaces, so two writes of one row must not meet.
//!
//! They are held within one synchronous call only, and nobody who holds one waits for a flush or a task. What must only
//! be done under a row's lock takes `HeldRows` as an argument.

use std::hash::BuildHasher;

use parking_lot::{Mutex, MutexGuard};
use smallvec::{SmallVec, smallvec};

use crate::util::KeyHasher;

/// More stripes than connections write at once, few enough to stay in the cache.
const STRIPES: usize = 1024;

/// Rows that are locked until this is dropped.
pub struct HeldRows<'a> {
    _guards: SmallVec<[MutexGuard<'a, ()>; 1]>,
}

/// All rows, locked: nobody writes, and nobody loads a row into the cache.
pub struct AllRows<'a> {
    _guards: Vec<MutexGuard<'a, ()>>,
}

/// Locks for all rows. Rows that share a stripe wait for each other, which costs time only.
pub struct RowLocks {
    stripes: Vec<Mutex<()>>,
    hasher: KeyHasher,
}

impl RowLocks {
    pub fn new() -> RowLocks {
        RowLocks { stripes: (0..STRIPES).map(|_| Mutex::default()).collect(), hasher: KeyHasher::default() }
    }

    /// Locks one row.
    pub fn lock_one(&self, key: &[u8]) -> HeldRows<'_> {
        HeldRows { _guards: smallvec![self.stripes[self.stripe_of(key)].lock()] }
    }

    /// Locks these row keys, always in one order so that no two callers wait for each other.
    pub fn lock<'a>(&self, keys: impl Iterator<Item = &'a [u8]>) -> HeldRows<'_> {
        let mut stripes: Vec<usize> = keys.map(|key| self.stripe_of(key)).collect();
        stripes.sort_unstable();
        stripes.dedup();
        HeldRows { _guards: stripes.into_iter().map(|stripe| self.stripes[stripe].lock()).collect() }
    }

    /// Locks all rows.
    pub fn lock_all(&self) -> AllRows<'_> {
        AllRows { _guards: self.stripes.iter().map(Mutex::lock).collect() }
    }

    fn stripe_of(&self, key: &[u8]) -> usize {
        usize::try_from(self.hasher.hash_one(key) % STRIPES as u64).unwrap_or(0)
    }
}
