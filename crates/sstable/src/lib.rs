//! Reads SSTables and commit logs of Cassandra 0.4 to 5.0 without a server, and writes SSTables of 3.11.
//!
//! ```text
//!   Alter/Changed-c19b../me-1-big-Data.db          its Index, Statistics and other files are beside it
//!
//!   Unit::Row       key 61
//!   Unit::Atom      cell ::new = "stone" @1250000000000010
//!   Unit::EndOfRow
//!   Unit::Row       key 63                          a row can be larger than the memory
//!   ..
//! ```
//!
//! ```no_run
//! use sstable::{SstableError, TableOptions, TableReader, Unit};
//!
//! # fn main() -> Result<(), SstableError> {
//! let mut table = TableReader::open("me-1-big-Data.db".as_ref(), &TableOptions::default())?;
//! while let Some(unit) = table.next_unit()? {
//!     if let Unit::Row { key, .. } = unit {
//!         println!("{key:?}");
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A [`TableReader`] reads an SSTable as [`Unit`]s; behind damage it goes on with [`TableReader::skip_damage`],
//! which tells what was lost. A [`CommitLog`] has the writes that may be in no SSTable yet; [`Flushed`] knows which
//! of them are. A [`TransactionLog`] tells which SSTables an interrupted compaction has left. A [`Descriptor`] is
//! what the name of a file says. A [`Shower`] prints rows, an [`SstableWriter`] writes them.
//!
//! Cells are of this server's model ([`base::model::Cell`]), with the names that they have in 2.1, for all releases.
//! Counters keep their shards, because the shards of several tables must be merged before their total is known.
//!
//! ```text
//!   component   names and directories of files          input        numbers, bytes and blocks of a file
//!   format      what each version of the format has     compressed   chunks and their checksums
//!   table       one SSTable, its rows and damage        checksum     checksums of blocks and whole files
//!   rows        rows in one of two formats:
//!   old         rows of 0.4 to 2.2                      statistics   types and baselines of rows of 3.x
//!   modern      rows of 3.0 to 5.0                      index        positions of rows
//!   atom        the content of rows, for both           counter      shards of counters
//!   show        rows as JSON and as text                key_order    row keys, tokens, the order of rows
//!   described   the column family of a file of 3.x      ancestors    from which SSTables one was compacted
//!   companions  the files beside a Data file            skip         how reading goes on behind damage
//!   commit_log  the records of commit logs              flushed      which of them an SSTable has
//!   write       SSTables of 3.11                        transactions what a compaction of 3.x adds and removes
//!   key_range   the last row by the statistics of 5.0   trie_index   positions of rows in tries
//! ```

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
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
mod key_range;
pub mod limits;
mod modern;
mod old;
mod rows;
mod show;
mod skip;
mod statistics;
mod table;
mod transactions;
mod trie_index;
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
pub use skip::{ListedRows, SkippedRow};
pub use table::{TableOptions, TableReader};
pub use transactions::{RecordKind, TransactionLog, TransactionRecord, is_transaction_log};
pub use write::{Partition, RangeBound, SstableWriter, Unfiltered, WrittenColumns};
