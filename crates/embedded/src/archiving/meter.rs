//! The numbers of an archive, for metrics and the console.

use std::sync::atomic::{AtomicU64, Ordering};

use base::util::metrics::Counter;
use base::util::system_ms;
use store::ArchiveStatus;

/// Counters of an archive, which its threads change.
#[derive(Debug, Default)]
pub struct ArchiveMeter {
    /// Failed requests to the object storage, and failed full backups.
    pub failures: Counter,
    /// Times at which the archive has begun anew, because it could not follow.
    pub gaps: Counter,
    /// Full backups that are complete.
    pub full_backups: Counter,
    /// Failed removals of old parts.
    pub retention_failures: Counter,
    uploaded_bytes: AtomicU64,
    lag_bytes: AtomicU64,
    /// When the oldest write that is not in the archive was seen, in milliseconds since 1970; 0 if all are there.
    oldest_ms: AtomicU64,
}

impl ArchiveMeter {
    /// Adds bytes that were uploaded.
    pub fn add_uploaded(&self, bytes: u64) {
        self.uploaded_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Sets the bytes of the log that are not in the archive, and the time of the first of them in milliseconds since
    /// 1970.
    pub fn set_lag(&self, bytes: u64, oldest_ms: Option<u64>) {
        self.lag_bytes.store(bytes, Ordering::Relaxed);
        self.oldest_ms.store(oldest_ms.unwrap_or(0), Ordering::Relaxed);
    }

    pub(crate) fn status(&self) -> ArchiveStatus {
        let lag_ms = match self.oldest_ms.load(Ordering::Relaxed) {
            0 => 0,
            oldest => u64::try_from(system_ms()).unwrap_or(0).saturating_sub(oldest),
        };
        ArchiveStatus {
            lag_ms,
            lag_bytes: self.lag_bytes.load(Ordering::Relaxed),
            uploaded_bytes: self.uploaded_bytes.load(Ordering::Relaxed),
            full_backups: self.full_backups.get(),
            failures: self.failures.get(),
            gaps: self.gaps.get(),
            retention_failures: self.retention_failures.get(),
        }
    }
}
