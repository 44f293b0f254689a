//! What the commit log holds and the tables do not yet: the newest entries, in memory, in order.
//!
//! ```text
//!   Memory      the active Memtable, and frozen ones: in a durable store at most one, which is being flushed
//!   Memtable    by generation of a column family: Rows
//!   Rows        in ring order: the entries of each row
//!   EntryMap    in order: key relative to the row -> value, or its removal; packed in chunks
//! ```
//!
//! An entry here is laid over the tables' of the same key: it wins, whatever either says, for which of two writes
//! wins was decided when the later one was made. One row is one thing to find, however many columns a write changes.

mod entry_map;
mod memory;
mod rows;
mod table;

pub use entry_map::{EntryMap, EntryRange};
pub use memory::{Frozen, Memory, View};
pub use rows::Rows;
