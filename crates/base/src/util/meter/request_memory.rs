//! Limits the memory of all requests together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::util::limits::{
    REQUEST_CHUNK_BYTES, REQUEST_HELD_BYTES_MAX, REQUEST_MEMORY_BYTES_MIN, REQUEST_MEMORY_PARTS,
    REQUEST_MEMORY_WAIT_MS,
};

/// The memory that all requests together may hold, in chunks.
///
/// If all of it is held, a request that needs more waits in order, unless it is one of the largest: of n requests with
/// chunks, a request that holds at least one nth of the memory fails at once. So never all requests wait for each
/// other, and small requests succeed.
#[derive(Debug)]
pub struct RequestMemory {
    chunks: Semaphore,
    total: usize,
    /// Requests that hold chunks.
    holders: AtomicUsize,
}

impl RequestMemory {
    /// Creates a memory of `bytes`, or of `REQUEST_MEMORY_BYTES_MIN` if that is more.
    pub fn new(bytes: usize) -> RequestMemory {
        let total = (bytes.max(REQUEST_MEMORY_BYTES_MIN) / REQUEST_CHUNK_BYTES)
            .min(Semaphore::MAX_PERMITS)
            .min(u32::MAX as usize);
        RequestMemory {
            chunks: Semaphore::new(total),
            total: total * REQUEST_CHUNK_BYTES,
            holders: AtomicUsize::new(0),
        }
    }

    /// Returns the bytes that all requests together may hold.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the bytes that one request may hold.
    pub fn share(&self) -> usize {
        (self.total / REQUEST_MEMORY_PARTS).min(REQUEST_HELD_BYTES_MAX)
    }

    /// Returns the bytes that requests hold now.
    pub fn held(&self) -> usize {
        self.total - self.chunks.available_permits() * REQUEST_CHUNK_BYTES
    }

    /// Takes chunks if enough are free and no request waits for them.
    pub(super) fn try_take(&self, chunks: usize) -> bool {
        match self.chunks.try_acquire_many(count(chunks)) {
            Ok(permit) => {
                permit.forget();
                true
            }
            Err(_) => false,
        }
    }

    /// Waits in order for chunks, for a request that holds `held` bytes. Returns false if they are not free in time, or
    /// if the request is one of the largest.
    pub(super) async fn take(&self, chunks: usize, held: usize) -> bool {
        let holders = self.holders.load(Ordering::Relaxed).max(1);
        if held > 0 && held.saturating_mul(holders) >= self.total {
            return false;
        }
        let wait = Duration::from_millis(REQUEST_MEMORY_WAIT_MS);
        match tokio::time::timeout(wait, self.chunks.acquire_many(count(chunks))).await {
            Ok(Ok(permit)) => {
                permit.forget();
                true
            }
            _ => false,
        }
    }

    pub(super) fn add_holder(&self) {
        self.holders.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the chunks of a request that ends.
    pub(super) fn give_back(&self, chunks: usize) {
        let before = self.holders.fetch_sub(1, Ordering::Relaxed);
        debug_assert!(before > 0, "a request gives memory back twice");
        self.chunks.add_permits(chunks);
        debug_assert!(self.chunks.available_permits() * REQUEST_CHUNK_BYTES <= self.total);
    }
}

fn count(chunks: usize) -> u32 {
    u32::try_from(chunks).unwrap_or(u32::MAX)
}
