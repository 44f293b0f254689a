//! How an embedded store is opened.

use std::path::PathBuf;

use super::commit::SyncMode;

/// How an embedded store is opened.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    pub directory: PathBuf,
    pub sync: SyncMode,
    /// Most bytes of rows and data blocks that are kept in memory. A quarter of this, but no more than 64 MiB, may wait
    /// to be written to tables, and as much again while it is.
    pub cache_bytes: u64,
}

/// Limits of what a memtable takes before it is flushed.
const MEMTABLE_BYTES: std::ops::RangeInclusive<u64> = 1 << 20..=64 << 20;

impl EmbeddedOptions {
    /// Bytes of a memtable at which it is flushed.
    pub fn memtable_bytes(&self) -> usize {
        let bytes = (self.cache_bytes / 4).clamp(*MEMTABLE_BYTES.start(), *MEMTABLE_BYTES.end());
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }
}
