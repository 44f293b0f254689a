//! Secondary indexes: their entries, how they are built, and reads with conditions.

mod build;
mod filter;
mod index_reads;
mod indexes;
mod lookup;
mod stale_entries;
mod table_index;
mod unfinished;

pub(super) use build::start_building;
pub use index_reads::IndexReads;
pub use indexes::Indexes;
pub use table_index::{INDEX_ENTRIES, INDEX_KEYS, entry_value};
pub(super) use unfinished::{Build, build_record};
