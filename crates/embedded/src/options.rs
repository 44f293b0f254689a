//! The options of an embedded store.

use std::path::PathBuf;

use super::commit::SyncMode;
use base::util::process_memory;

/// The options with which an embedded store is opened.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    /// Where the log, the manifest and the tables are.
    pub directory: PathBuf,
    /// When the log is synced, and which writes wait for it.
    pub sync: SyncMode,
    /// Limit, in bytes, of the row cache and the cache of data blocks together. In addition, a memtable has up to half of
    /// this (see `process_memory::memtable_bytes`), and a second one up to twice as much while the first is flushed.
    pub cache_bytes: u64,
}

impl EmbeddedOptions {
    /// Returns the size of a memtable, in bytes, at which it is flushed.
    pub fn memtable_bytes(&self) -> usize {
        process_memory::memtable_bytes(usize::try_from(self.cache_bytes).unwrap_or(usize::MAX))
    }
}
