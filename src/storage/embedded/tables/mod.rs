//! Sorted tables on the disk, and nothing else of an engine: no log, no memtable, no thread.
//!
//! ```text
//!   TableSpace   what all trees share: block cache, open files, sequence numbers, snapshots
//!   Tree         one directory of tables in levels: reads at a snapshot, takes in a sorted run, merges levels
//!   Tables       the trees of one generation of a column family: its entries, and those behind long keys
//!   Snapshot     which tables a reader sees, whatever is flushed or merged meanwhile
//!   TreeVersion  the files that list which tables a tree has
//! ```
//!
//! The trees are those of `lsm-tree`. What this folder adds is what a direct user of that library has to see to:
//!
//! - *Sequence numbers* must go up for ever, or a newer run would lose to an older one. They are restored from the
//!   tables when trees are opened.
//! - *Snapshots* must be counted, as a merge drops what no snapshot can see.
//! - *The file that names a tree's tables* has a checksum that the library writes and does not check.
//! - *A failed write* leaves files that nobody lists. They are removed.
//! - *Panics* over damaged files are turned into an error that names the column family and the directory.

mod check;
mod error;
mod filter;
mod generation;
mod snapshot;
mod space;
mod tree;
mod version;

pub use check::{check_table, check_tree};
pub use error::TreeName;
pub use filter::gc_before;
pub use generation::{TableFolder, Tables, generation_in, id_in, number_of};
pub use snapshot::Snapshot;
pub use space::{GIVEN_UP, TableOptions, TableSpace};
pub use tree::{TableWriter, TreeEntries};
pub use version::{ListedTable, TreeVersion};
