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
    /// Most bytes of data blocks that are kept in memory.
    pub cache_bytes: u64,
}

/// The options, and what the store works with.
pub struct Setup {
    pub options: EmbeddedOptions,
    pub partitioner: PartitionerRef,
    /// The schema as it stands.
    pub catalog: Mutex<Arc<Catalog>>,
    pub clock: Arc<Clock>,
}
