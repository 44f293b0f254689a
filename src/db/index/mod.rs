//! Secondary indexes: their entries, their construction, and reads by conditions.

mod build;
mod indexed_reads;
mod indexes;
mod lookup;
mod table_index;

pub(super) use build::{Unfinished, build_note};
pub use table_index::INDEX_KEYS;
