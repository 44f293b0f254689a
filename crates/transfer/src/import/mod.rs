//! Imports the data directories of old servers: Cassandra 0.4 to 5.0.
//!
//! ```text
//!   options     its options
//!   inventory   the SSTables in directories (`sstable_file`), by column family; `search` finds them
//!   leftovers   .. but for those that a killed server has left, and would not have read
//!   schema      the schema that a server kept in its own tables
//!   fits        whether definitions can belong to the SSTables
//!   source_partitioner   the order of the rows in SSTables
//!   as_of       the clock of the old servers
//!
//!   sstable_rows   the rows of one SSTable, past its damage
//!   merge       the rows of all SSTables of a family, in the order of the ring
//!   counters    the counters of a family: the shards of all its SSTables and commit logs, row by row;
//!               `counter_row` is what is written of them
//!   logs        the commit logs; their column families (`log_families`, `old_names`), which of their writes are in
//!               SSTables (`replay`), how much they have (`logged_counts`), and their rows in order (`logged_rows`)
//!   row_batcher    collects rows into batches        read_thread       the thread that reads, a source of rows
//!
//!   run         imports one column family after the other, then the commit logs
//!   import_target  the target, and what of it is durable        import_progress   the progress file
//!   file_rows   the rows of files as a store with them would dump them (`file_dump`, `fold`), for exports
//!   verify      compares the files with the target
//!   summary     what was imported; what is lost (`losses`), and the writes of column families that were not defined (`unfound`)
//! ```
//!
//! A column family is spread over SSTables, which overlap. The target reconciles what it gets by timestamps, so it may
//! get the rows in any order and even twice. A data directory is loaded in bulk: the SSTables of a family are merged, and
//! the rows come in the order in which the target stores them, past its commit log. A cluster gets one SSTable after the
//! other. Counters are the exception: their shards add up, so all SSTables of the family are read at the same time,
//! together with its increments in commit logs.

mod as_of;
mod counter_row;
mod counters;
mod error;
mod file_dump;
mod file_rows;
mod fits;
mod fold;
mod import_progress;
mod import_target;
mod inventory;
mod leftovers;
mod log_families;
mod logged_counts;
mod logged_rows;
mod logs;
mod losses;
mod merge;
mod old_names;
mod options;
mod overflow;
mod read_thread;
mod replay;
mod row_batcher;
mod run;
mod schema;
mod search;
mod source_partitioner;
mod sstable_file;
mod sstable_rows;
mod summary;
mod unfound;
mod verify;

pub use as_of::{AsOf, ClockShift};
pub use base::schema::FamilyName;
pub use error::ImportError;
pub use file_rows::FileRows;
pub use fits::misfits;
pub use import_progress::recorded_parts;
pub use inventory::Inventory;
pub use leftovers::LeftOut;
pub use logged_counts::LoggedCounts;
pub use losses::{Losses, Lost};
pub use options::{CHECKPOINT_EVERY, ImportOptions};
pub use overflow::Overflowed;
pub(crate) use read_thread::{BatchSender, ReadThread};
pub(crate) use row_batcher::RowBatcher;
pub use run::import;
pub use schema::{Defined, FoundSchema, SchemaSource};
pub(crate) use schema::{
    NEW_TABLES, OLD_TABLES, OLD_USER_TYPES, SchemaRow, SchemaTable, SchemaTables, ServerTable, rows_of_cells,
};
pub use search::SCHEMA_KEYSPACES;
pub use source_partitioner::{SourcePartitioner, source_partitioner, storage_conf_near};
pub use sstable_file::{NodePath, SstableFile};
pub(crate) use summary::ReadSummary;
pub use summary::{FamilySummary, Summary};
pub use unfound::{Unfound, UnfoundWrites};
pub use verify::{TargetComparison, VerifiedImport, check_comparable, verify};
