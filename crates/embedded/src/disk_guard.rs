//! Refuses writes before the disk is full, so that memtables can still be flushed and tables merged. A client can
//! repeat a refused write later.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use crate::disk::{Disk, FreeSpace, RealDisk};
use store::{Result, StoreError};

/// Free bytes below which writes are refused, in addition to the size of the memtables. A merge needs this space: in
/// the upper levels it writes a few hundred MiB before the tables that it read are removed.
const RESERVE_BYTES: u64 = 1024 * 1024 * 1024;
/// On small disks the reserve is the disk's size divided by this.
const RESERVE_PART: u64 = 8;
/// Milliseconds between two measurements of the free space.
const CHECK_EVERY_MS: i64 = 200;
/// Bytes written between two measurements. Writers can fill a small disk within `CHECK_EVERY_MS`.
const CHECK_EVERY_BYTES: u64 = 64 * 1024;

/// Returns the free bytes of a file system below which writes are refused.
pub fn reserve(space: FreeSpace) -> u64 {
    RESERVE_BYTES.min(space.whole / RESERVE_PART)
}

/// Returns the free space of the file system of a directory. `None` if it is unknown.
pub fn free_space(directory: &Path) -> Option<FreeSpace> {
    RealDisk.free_space(directory).ok()
}

/// Watches the free space of the data directory.
pub(crate) struct DiskGuard {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    next_check_ms: AtomicI64,
    bytes_since_check: AtomicU64,
    is_full: AtomicBool,
}

impl DiskGuard {
    pub(crate) fn new(disk: Arc<dyn Disk>, directory: PathBuf) -> DiskGuard {
        DiskGuard {
            disk,
            directory,
            next_check_ms: AtomicI64::new(i64::MIN),
            bytes_since_check: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
        }
    }

    /// Fails if the disk is nearly full. `bytes` is the size of the write, `in_memory` returns the size of the
    /// memtables. The free space is not measured for each write.
    pub(crate) fn check(&self, now_ms: i64, bytes: u64, in_memory: impl Fn() -> u64) -> Result<()> {
        let written = self.bytes_since_check.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let is_full = self.is_full.load(Ordering::Relaxed);
        if is_full || written >= CHECK_EVERY_BYTES || now_ms >= self.next_check_ms.load(Ordering::Relaxed) {
            self.next_check_ms.store(now_ms.saturating_add(CHECK_EVERY_MS), Ordering::Relaxed);
            self.bytes_since_check.store(0, Ordering::Relaxed);
            self.measure(bytes.saturating_add(in_memory()));
        }
        if self.is_full.load(Ordering::Relaxed) { Err(StoreError::ReadOnly(self.reason())) } else { Ok(()) }
    }

    /// Assumes that the disk is full until the next measurement, since a write has failed.
    pub(crate) fn suspect(&self) {
        self.is_full.store(true, Ordering::Relaxed);
    }

    /// Measures the free space, and returns why writes are refused. `None` if they are accepted.
    pub(crate) fn refusal(&self, in_memory: u64) -> Option<String> {
        self.measure(in_memory);
        self.is_full.load(Ordering::Relaxed).then(|| self.reason())
    }

    fn reason(&self) -> String {
        format!("the disk of {} is nearly full; free some space and write again", self.directory.display())
    }

    fn measure(&self, wanted: u64) {
        let Ok(space) = self.disk.free_space(&self.directory) else { return };
        let free = space.free;
        let is_full = free < reserve(space).saturating_add(wanted);
        if is_full != self.is_full.swap(is_full, Ordering::Relaxed) {
            if is_full {
                tracing::error!(free_bytes = free, "{}", self.reason());
            } else {
                tracing::info!(free_bytes = free, "the disk has space again; writes are accepted");
            }
        }
    }
}
