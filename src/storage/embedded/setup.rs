//! All that is needed to open the store, or to open it again.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use super::commit::SyncMode;
use crate::partitioner::PartitionerRef;
use crate::schema::Catalog;
use crate::util::Clock;

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

/// The options, and what the store works with.
pub struct Setup {
    pub options: EmbeddedOptions,
    pub partitioner: PartitionerRef,
    /// The schema as it stands.
    pub catalog: Mutex<Arc<Catalog>>,
    pub clock: Arc<Clock>,
}
