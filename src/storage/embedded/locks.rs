//! Row locks: a write reads what it replaces, so two writes of one row must not meet.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use parking_lot::{ArcMutexGuard, Mutex, RawMutex};

/// More stripes than connections write at once, few enough to stay in the cache.
const STRIPES: usize = 1024;

/// A row that is locked until this is dropped, by whichever thread.
pub type RowGuard = ArcMutexGuard<RawMutex, ()>;

/// Locks for all rows. Rows that share a stripe wait for each other, which costs time only.
pub struct RowLocks {
    stripes: Vec<Arc<Mutex<()>>>,
    hasher: RandomState,
}

impl RowLocks {
    pub fn new() -> RowLocks {
        RowLocks { stripes: (0..STRIPES).map(|_| Arc::default()).collect(), hasher: RandomState::new() }
    }

    /// Locks one row. Where somebody else has, calls `before_waiting` first.
    pub fn lock_one(&self, key: &[u8], before_waiting: impl FnOnce()) -> RowGuard {
        lock(&self.stripes[self.stripe_of(key)], before_waiting)
    }

    /// Locks these row keys, always in one order so that no two callers wait for each other.
    pub fn lock<'a>(&self, keys: impl Iterator<Item = &'a [u8]>, before_waiting: impl Fn()) -> Vec<RowGuard> {
        let mut stripes: Vec<usize> = keys.map(|key| self.stripe_of(key)).collect();
        stripes.sort_unstable();
        stripes.dedup();
        stripes.into_iter().map(|stripe| lock(&self.stripes[stripe], &before_waiting)).collect()
    }

    /// Locks all rows: nothing is written meanwhile.
    pub fn lock_all(&self, before_waiting: impl Fn()) -> Vec<RowGuard> {
        self.stripes.iter().map(|stripe| lock(stripe, &before_waiting)).collect()
    }

    fn stripe_of(&self, key: &[u8]) -> usize {
        usize::try_from(self.hasher.hash_one(key) % STRIPES as u64).unwrap_or(0)
    }
}

fn lock(stripe: &Arc<Mutex<()>>, before_waiting: impl FnOnce()) -> RowGuard {
    stripe.try_lock_arc().unwrap_or_else(|| {
        before_waiting();
        stripe.lock_arc()
    })
}
