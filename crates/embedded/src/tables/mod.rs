//! Sorted tables on the disk, without log, memtables or threads.
//!
//! ```text
//!   TableSpace   what all trees share: block cache, open files, sequence numbers, snapshots
//!   Tree         one directory of tables in levels: reads at a snapshot, adds a sorted run, merges levels
//!   Runs         the tables of a tree as readers see them
//!   RunHistory   the runs of a tree for each snapshot that a reader holds
//!   Tables       the trees of one generation of a column family: ordinary entries, and entries with long keys
//!   Snapshot     which tables a reader sees, regardless of later flushes and merges
//!   TreeVersion  the files that list which tables a tree has; the manifest records which one counts
//! ```
//!
//! The trees come from the library `lsm-tree`. This folder does what the library leaves to its users:
//!
//! - *Sequence numbers* must always increase, or an older run would win over a newer one. They are restored from the
//!   tables when trees are opened.
//! - *Snapshots* must be counted, since a merge drops entries that no snapshot can see.
//! - *Reads* do not use the library's list of tables, which is locked while a new one is synced; see `runs`.
//! - *The file that lists a tree's tables* has a checksum that the library writes and does not check.
//! - *A failed write* leaves files that are not listed. They are removed.
//! - *Panics* caused by damaged files are converted to errors that name the column family and the directory.

mod check;
mod error;
mod filter;
mod generation;
mod runs;
mod snapshot;
mod space;
mod tree;
mod version;

pub(crate) use check::{check_table, key_range_of};
pub(crate) use error::{GIVEN_UP, TreeName};
pub(crate) use filter::gc_before;
pub(crate) use generation::{TableFolder, Tables, generation_in, id_in, number_of};
pub(crate) use snapshot::Snapshot;
pub(crate) use space::{TableSpace, TableSpaceOptions};
pub(crate) use tree::{TableWriter, TreeEntries};
pub(crate) use version::{ListedTable, TreeVersion};
