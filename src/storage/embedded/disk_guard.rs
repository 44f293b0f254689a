//! Stops writes before the disk is full: an engine that cannot write its log accepts nothing more until it is
//! opened again, a writer that is told early can simply try later.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use crate::storage::StoreError;

/// Free space below which writes stop: room for a memtable to be flushed and merged.
const RESERVE_BYTES: u64 = 256 * 1024 * 1024;
/// On small disks this part of the whole.
const RESERVE_PART: u64 = 8;
/// Milliseconds between two looks at the disk.
const LOOK_EVERY_MS: i64 = 200;

/// Watches the free space of the data directory.
pub struct DiskGuard {
    directory: PathBuf,
    next_look_ms: AtomicI64,
    is_full: AtomicBool,
}

impl DiskGuard {
    pub fn new(directory: PathBuf) -> DiskGuard {
        DiskGuard { directory, next_look_ms: AtomicI64::new(i64::MIN), is_full: AtomicBool::new(false) }
    }

    /// Refuses when the disk is nearly full. Looks at it now and then only.
    pub fn check(&self, now_ms: i64) -> Result<(), StoreError> {
        if now_ms >= self.next_look_ms.load(Ordering::Relaxed) {
            self.next_look_ms.store(now_ms.saturating_add(LOOK_EVERY_MS), Ordering::Relaxed);
            self.look();
        }
        if self.is_full.load(Ordering::Relaxed) { Err(StoreError::ReadOnly(self.reason())) } else { Ok(()) }
    }

    /// Why writes are refused; `None` while they are not.
    pub fn refusal(&self) -> Option<String> {
        self.is_full.load(Ordering::Relaxed).then(|| self.reason())
    }

    fn reason(&self) -> String {
        format!("the disk of {} is nearly full; free some space and write again", self.directory.display())
    }

    fn look(&self) {
        let Ok(disk) = rustix::fs::statvfs(&self.directory) else { return };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let whole = disk.f_blocks.saturating_mul(disk.f_frsize);
        let is_full = free < RESERVE_BYTES.min(whole / RESERVE_PART);
        if is_full != self.is_full.swap(is_full, Ordering::Relaxed) {
            if is_full {
                tracing::error!(free_bytes = free, "{}", self.reason());
            } else {
                tracing::info!(free_bytes = free, "the disk has room again; writes are accepted");
            }
        }
    }
}
