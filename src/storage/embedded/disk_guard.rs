//! Stops writes before the disk is full: what is in memory must still find room in tables, and tables must still be
//! merged. A writer that is refused early can simply try later.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use crate::storage::StoreError;
use crate::storage::disk::Disk;

/// Free space below which writes stop, beside what memory holds: room for tables to be merged. A merge in the
/// upper levels rewrites a few hundred MiB before it drops what it read.
const RESERVE_BYTES: u64 = 1024 * 1024 * 1024;
/// On small disks this part of the whole.
const RESERVE_PART: u64 = 8;
/// Milliseconds between two looks at the disk.
const LOOK_EVERY_MS: i64 = 200;
/// Bytes that are written between two looks, for writers that fill a small disk within the time above.
const LOOK_EVERY_BYTES: u64 = 64 * 1024;

/// Watches the free space of the data directory.
pub struct DiskGuard {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    next_look_ms: AtomicI64,
    unseen_bytes: AtomicU64,
    is_full: AtomicBool,
}

impl DiskGuard {
    pub fn new(disk: Arc<dyn Disk>, directory: PathBuf) -> DiskGuard {
        DiskGuard {
            disk,
            directory,
            next_look_ms: AtomicI64::new(i64::MIN),
            unseen_bytes: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
        }
    }

    /// Refuses a write of so many bytes when the disk is nearly full. Looks at it now and then only; `in_memory`
    /// tells how many bytes wait to be flushed to it.
    pub fn check(&self, now_ms: i64, bytes: u64, in_memory: impl Fn() -> u64) -> Result<(), StoreError> {
        let unseen = self.unseen_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let is_full = self.is_full.load(Ordering::Relaxed);
        if is_full || unseen >= LOOK_EVERY_BYTES || now_ms >= self.next_look_ms.load(Ordering::Relaxed) {
            self.next_look_ms.store(now_ms.saturating_add(LOOK_EVERY_MS), Ordering::Relaxed);
            self.unseen_bytes.store(0, Ordering::Relaxed);
            self.look(bytes.saturating_add(in_memory()));
        }
        if self.is_full.load(Ordering::Relaxed) { Err(StoreError::ReadOnly(self.reason())) } else { Ok(()) }
    }

    /// Takes the disk for full until it has been looked at: a write has failed.
    pub fn suspect(&self) {
        self.is_full.store(true, Ordering::Relaxed);
    }

    /// Why writes are refused, by a look at the disk just now; `None` while they are not.
    pub fn refusal(&self, in_memory: u64) -> Option<String> {
        self.look(in_memory);
        self.is_full.load(Ordering::Relaxed).then(|| self.reason())
    }

    fn reason(&self) -> String {
        format!("the disk of {} is nearly full; free some space and write again", self.directory.display())
    }

    fn look(&self, wanted: u64) {
        let Ok(space) = self.disk.free_space(&self.directory) else { return };
        let (free, whole) = (space.free, space.whole);
        let is_full = free < RESERVE_BYTES.min(whole / RESERVE_PART).saturating_add(wanted);
        if is_full != self.is_full.swap(is_full, Ordering::Relaxed) {
            if is_full {
                tracing::error!(free_bytes = free, "{}", self.reason());
            } else {
                tracing::info!(free_bytes = free, "the disk has room again; writes are accepted");
            }
        }
    }
}
