//! Imports the data directories of old servers: Cassandra 0.4 to 3.11.
//!
//! ```text
//!   inventory   the SSTables in directories, by column family
//!   schema      the schema that a server kept in its own tables
//!   reader      the rows of one SSTable, past its damage, in pieces
//!   counters    the counters of a family: the shards of all its SSTables and commit logs, row by row
//!   logs        the commit logs; their column families (`log_families`), counters (`logged_counters`), and which of
//!               their writes are in SSTables (`replay`)
//!   transfer    pieces of rows to the target, several at a time
//!   progress    which SSTables are imported already
//!   summary     what was imported, and what is lost
//!   run         all of it, one column family after the other
//! ```
//!
//! A column family is spread over SSTables, which overlap. The target reconciles what it gets by timestamps, so one SSTable
//! is written after the other, in any order and even twice. Counters are the exception: their shards add up, so all
//! SSTables of the family are read at the same time, together with its increments in commit logs.

mod counters;
mod error;
mod inventory;
mod log_families;
mod logged_counters;
mod logs;
mod progress;
mod reader;
mod replay;
mod run;
mod schema;
mod summary;
mod transfer;

pub use error::ImportError;
pub use inventory::{FamilyName, FoundLog, FoundTable, Inventory};
pub use run::{ImportOptions, import};
pub use schema::FoundSchema;
pub use summary::{FamilySummary, Summary};
