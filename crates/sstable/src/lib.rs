//! Reads the files of old servers: the SSTables of Cassandra 0.4 to 3.11.
//!
//! ```text
//!   component   names and directories of files          input        numbers, bytes and blocks of a file
//!   format      what each version of the format has     compressed   chunks and their checksums
//!   table       one SSTable, its rows and damage        checksum     checksums of blocks and whole files
//!   rows        rows in one of two formats:
//!   old         rows of 0.4 to 2.2                       statistics   types and baselines of rows of 3.x
//!   modern      rows of 3.0 to 3.11                      index        positions of rows
//!   atom        the content of rows, for both           counter      shards of counters
//!   commit_log  the writes that were not in SSTables yet
//!   ancestors   the SSTables that a compaction made an SSTable from
//!   transactions   what a compaction of 3.x adds and removes
//!   flushed     those writes of commit logs that an SSTable has
//!   show        rows as JSON and as text                key_order    row keys, tokens, the order of rows
//!   write       SSTables of 3.11
//!   described   the column family of a file of 3.x
//!   companions  the files beside a Data file            skip         how reading goes on behind damage
//! ```
//!
//! Rows are read as a stream: a row can be larger than the memory. The reader returns cells of this server's model
//! (`model::Cell`), with the names that they have in 2.1, for all releases. Counters keep their shards, because the
//! shards of several tables must be merged before their total is known.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![warn(missing_docs)]

mod ancestors;
mod atom;
mod checksum;
mod commit_log;
mod companions;
mod component;
mod compressed;
mod counter;
mod described;
mod error;
mod flushed;
mod format;
mod index;
mod input;
mod key_order;
pub mod limits;
mod modern;
mod old;
mod rows;
mod show;
mod skip;
mod statistics;
mod table;
mod transactions;
mod write;

pub use ancestors::ancestors;
pub use atom::{Atom, Unit};
pub use commit_log::{CommitLog, LogFamily, LogRow, LogWrite, LostParts};
pub use companions::named_partitioner;
pub use component::{Component, Descriptor};
pub use counter::{CounterCell, CounterState, Shard, ShardKind};
pub use error::{Damage, SstableError};
pub use flushed::{Flushed, LogPosition};
pub use format::{FORMATS, Format};
pub use modern::LogTable;
pub use show::{Form, Shower, ShownAs};
pub use skip::SkippedRow;
pub use table::{TableOptions, TableReader};
pub use transactions::{RecordKind, TransactionLog, TransactionRecord, is_transaction_log};
pub use write::{Partition, RangeBound, SstableWriter, Unfiltered, WrittenColumns};
