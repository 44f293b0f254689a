//! The options of an import.

use std::path::PathBuf;
use std::time::Duration;

use super::as_of::AsOf;
use crate::Interruption;
use base::partitioner::PartitionerRef;

/// Time between two checkpoints, after which a killed import goes on.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(10);

/// The options of an import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The partitioner of the files that do not name their own.
    pub partitioner: PartitionerRef,
    /// Whether damaged parts are reported and left out; otherwise the first one ends the import.
    pub skips_damage: bool,
    /// The file that records finished SSTables, so that a later run leaves them out; `None` records nothing.
    pub progress_file: Option<PathBuf>,
    /// Time between two checkpoints, if there is a progress file.
    pub checkpoint_every: Duration,
    /// Stops the import between two batches.
    pub interruption: Interruption,
    /// The second of the old clock at which the import is to happen.
    pub as_of: Option<AsOf>,
    /// Whether cells whose time to live has overflowed are restored.
    pub restores_overflow: bool,
    /// Whether standard error gets the progress.
    pub shows_progress: bool,
}

impl ImportOptions {
    /// Returns the options of an import that ends at damage, records no progress and prints nothing.
    pub fn new(partitioner: PartitionerRef) -> ImportOptions {
        ImportOptions {
            partitioner,
            skips_damage: false,
            progress_file: None,
            checkpoint_every: CHECKPOINT_EVERY,
            interruption: Interruption::default(),
            as_of: None,
            restores_overflow: false,
            shows_progress: false,
        }
    }
}
