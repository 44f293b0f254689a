//! The options of an embedded store.

use std::path::PathBuf;

use super::commit::SyncMode;

/// The options with which an embedded store is opened.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    /// Where the log, the manifest and the tables are.
    pub directory: PathBuf,
    /// When the log is synced, and which writes wait for it.
    pub sync: SyncMode,
    /// Limit, in bytes, of the row cache and the cache of data blocks together. In addition, a memtable has up to a
    /// quarter of this, at most 64 MiB, and a second one as much while the first is flushed.
    pub cache_bytes: u64,
}

/// Limits of the size of a memtable at which it is flushed.
const MEMTABLE_BYTES: std::ops::RangeInclusive<u64> = 1 << 20..=64 << 20;

impl EmbeddedOptions {
    /// Returns the size of a memtable, in bytes, at which it is flushed.
    pub fn memtable_bytes(&self) -> usize {
        let bytes = (self.cache_bytes / 4).clamp(*MEMTABLE_BYTES.start(), *MEMTABLE_BYTES.end());
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }
}
