//! The memtables: the newest entries, sorted in memory. The commit log has them too, and tables do not have them yet.
//!
//! ```text
//!   Memory      the active Memtable, and frozen ones: in a durable store at most one, which is being flushed
//!   Memtable    by generation of a column family: Rows
//!   Rows        in the order of the ring: the entries of each row
//!   EntryMap    sorted: key relative to the row -> value or removal; packed in chunks
//! ```
//!
//! An entry in a memtable hides the entries of the same key in tables: reads do not compare them, since the write has
//! already decided which one wins. A write finds its row once, no matter how many columns it changes.

mod entry_map;
mod memory;
mod rows;
mod table;

pub(crate) use entry_map::{EntryMap, EntryRange};
pub(crate) use memory::{Frozen, Memory, MemoryView};
pub(crate) use rows::Rows;
pub(crate) use table::Memtable;
