//! Counters: plain ones for rare events, and ones with a part for each thread for frequent events.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Parts of a counter. Threads beyond this number share parts, which is correct but slower.
pub(super) const SHARDS: usize = 16;

/// Returns the part of this thread.
pub(super) fn own_shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
    }
    // A thread that is ending has no value any more.
    OWN.try_with(|own| *own).unwrap_or_default()
}

/// A counter of rare events.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one event.
    pub fn increase(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of events since the start.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number in two cache lines of its own: processors load lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct ShardPart(AtomicU64);

/// A counter of frequent events.
#[derive(Debug)]
pub struct ShardedCounter([ShardPart; SHARDS]);

impl Default for ShardedCounter {
    fn default() -> ShardedCounter {
        ShardedCounter::new()
    }
}

impl ShardedCounter {
    /// Creates a counter at 0.
    pub const fn new() -> ShardedCounter {
        ShardedCounter([const { ShardPart(AtomicU64::new(0)) }; SHARDS])
    }

    /// Adds to the part of this thread, without waiting for other threads.
    pub fn add(&self, count: u64) {
        if let Some(part) = self.0.get(own_shard()) {
            part.0.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Returns the sum of all parts. Additions at the same time may be missing.
    pub fn get(&self) -> u64 {
        self.0.iter().map(|part| part.0.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_are_counted() {
        let counter = ShardedCounter::new();
        std::thread::scope(|scope| {
            for _ in 0..2 * SHARDS {
                scope.spawn(|| (0..100).for_each(|_| counter.add(3)));
            }
        });
        assert_eq!(counter.get(), 300 * 2 * SHARDS as u64);
    }
}
