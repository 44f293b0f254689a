//! Copies column families from one store to another, with timestamps, times to live and tombstones, and compares both.
//!
//! `place` parses where a store is, and `open` opens it as a `Side`. `walk` reads a side in ring order, piece by piece:
//! a dump of all that is stored if the side supports dumps, else live cells, page by page (`pages`, with the
//! implementations `store_pages` and `thrift_pages`). `schema` selects the column families and creates those that the
//! target lacks, `write` writes, and `progress_file` records the progress. `verify` compares live cells by looking up
//! each in the other side; `merge` compares two dumps including tombstones. `meter` displays the progress. `export`
//! writes SSTables instead, and `partitions` sorts rows and their range tombstones for it.

mod difference;
mod error;
mod export;
mod families;
mod merge;
mod meter;
mod open;
mod pages;
mod partitions;
mod place;
mod progress_file;
mod run;
mod schema;
mod side;
mod store_pages;
mod tally;
mod thrift_client;
mod thrift_pages;
mod thrift_schema;
mod verify;
mod walk;
mod write;

pub use difference::{Differences, Kind as DifferenceKind};
pub use error::CopyError;
pub use export::{ExportOptions, Exported, export};
pub use merge::{DumpSource, MergeKey, MergeStep, Stream, next as next_of_dumps, rank as dump_rank};
pub use open::{OpenOptions, open};
pub use place::{Place, ThriftPlace};
pub use run::{CopyOptions, Interruption, Task, copy_families, run};
pub use schema::Selection;
pub use side::Side;
pub use thrift_client::ThriftClient;
pub use verify::Lookup;
pub use walk::Walk;
pub use write::Writer;

/// Rows of a page, by default.
pub const DEFAULT_ROWS: u16 = 256;
/// Pieces that are written concurrently, by default.
pub const DEFAULT_PARALLEL: u16 = 16;
