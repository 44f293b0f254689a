//! The options of an embedded store.

use std::path::PathBuf;

use super::commit::SyncMode;
use crate::util::process_memory;

/// The options with which an embedded store is opened.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    /// Where the log, the manifest and the tables are.
    pub directory: PathBuf,
    /// When the log is synced, and which writes wait for it.
    pub sync: SyncMode,
    /// Limit, in bytes, of the row cache and the cache of data blocks together. In addition, a memtable has up to half of
    /// this (see `memtable_bytes`), and a second one as much while the first is flushed.
    pub cache_bytes: u64,
}

/// Limits of the size of a memtable at which it is flushed.
const MEMTABLE_BYTES: std::ops::RangeInclusive<u64> = 1 << 20..=64 << 20;

impl EmbeddedOptions {
    /// Returns the size of a memtable, in bytes, at which it is flushed: half of the caches, at most a sixteenth of the
    /// memory that the process may use. Large memtables make large runs of tables, which are merged less often.
    pub fn memtable_bytes(&self) -> usize {
        let sixteenth = process_memory::limit().map_or(u64::MAX, |limit| limit as u64 / 16);
        let bytes =
            (self.cache_bytes / 2).min(sixteenth).clamp(*MEMTABLE_BYTES.start(), *MEMTABLE_BYTES.end());
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }
}
