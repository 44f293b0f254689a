//! Copies column families from one store to another, with timestamps, times to live and tombstones, and compares both.
//!
//! `selection` selects the column families and creates those that the target lacks, `family_copy` copies or compares one,
//! `progress_file` records the progress, and `repair` looks at differences again. `export` writes SSTables instead, and `partitions` sorts rows and their range
//! tombstones for it.

mod export;
mod family_copy;
mod partitions;
mod progress_file;
mod repair;
mod run;
mod selection;

pub use export::{Exported, export};
pub use repair::RepairPause;
pub use run::{CopyOptions, Task, copy_families, run};
pub use selection::{ComparedSchemas, Selection, compare_schemas, create_missing};
pub(crate) use selection::{Pair, SelectedFamilies, prepare, selected_families};

/// Batches that are written concurrently, by default.
pub const DEFAULT_PARALLEL: u16 = 16;
