//! Row locks. A write reads the cells that it replaces, so two writes of one row must not run at the same time.
//!
//! A lock is held within one synchronous call only. A thread that holds one never waits for a flush or a task.
//! Functions that require the lock of a row take `HeldRows` as an argument.

use std::hash::BuildHasher;

use parking_lot::{Mutex, MutexGuard};
use smallvec::{SmallVec, smallvec};

use base::util::KeyHasher;

/// More stripes than connections that write at the same time, and few enough for the CPU's cache.
const STRIPES: usize = 1024;

/// Rows that are locked until this is dropped.
pub(crate) struct HeldRows<'a> {
    guards: SmallVec<[MutexGuard<'a, ()>; 1]>,
}

/// All rows, locked until this is dropped: no thread writes, or loads a row into the cache.
pub(crate) struct AllRows<'a> {
    _guards: Vec<MutexGuard<'a, ()>>,
}

/// Locks for all rows. A row is mapped to a stripe by its hash; writes of rows that share a stripe wait for each other.
pub(crate) struct RowLocks {
    stripes: Vec<Mutex<()>>,
    hasher: KeyHasher,
}

impl RowLocks {
    pub(crate) fn new() -> RowLocks {
        RowLocks { stripes: (0..STRIPES).map(|_| Mutex::default()).collect(), hasher: KeyHasher::default() }
    }

    /// Locks one row.
    pub(crate) fn lock_one(&self, key: &[u8]) -> HeldRows<'_> {
        HeldRows { guards: smallvec![self.stripes[self.stripe_of(key)].lock()] }
    }

    /// Locks rows. They are always locked in the order of the stripes, so that two callers cannot deadlock.
    pub(crate) fn lock<'a>(&self, keys: impl Iterator<Item = &'a [u8]>) -> HeldRows<'_> {
        let mut stripes: Vec<usize> = keys.map(|key| self.stripe_of(key)).collect();
        stripes.sort_unstable();
        stripes.dedup();
        HeldRows { guards: stripes.into_iter().map(|stripe| self.stripes[stripe].lock()).collect() }
    }

    /// Returns whether a row is among those that a caller holds, for assertions.
    pub(crate) fn are_held(&self, rows: &HeldRows<'_>, key: &[u8]) -> bool {
        let stripe = &self.stripes[self.stripe_of(key)];
        rows.guards.iter().any(|guard| std::ptr::eq(MutexGuard::mutex(guard), stripe))
    }

    /// Locks all rows.
    pub(crate) fn lock_all(&self) -> AllRows<'_> {
        AllRows { _guards: self.stripes.iter().map(Mutex::lock).collect() }
    }

    fn stripe_of(&self, key: &[u8]) -> usize {
        usize::try_from(self.hasher.hash_one(key) % STRIPES as u64).unwrap_or(0)
    }
}
