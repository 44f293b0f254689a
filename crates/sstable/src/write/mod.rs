//! Writes SSTables of the version `me` (3.0.25 and 3.11.11), which Cassandra 3.11, 4 and 5 load.
//!
//! ```text
//!   partition    partitions with their rows and bounds of range tombstones, and their index of rows
//!   statistics   the Statistics component
//!   writer       all components of a table
//!   output       numbers and bytes
//! ```
//!
//! The table has a key, clustering columns, and one regular column `value`. Its partitions are in memory.

mod output;
mod partition;
mod statistics;
mod writer;

pub use partition::{Partition, RangeBound, Unfiltered};
pub use writer::{SstableWriter, WrittenColumns};
