//! From data directories of formats 1 and 2 to format 3.
//!
//! Those kept column families, and what the store noted about itself, in an engine with a log of its own:
//!
//! ```text
//!   engine/*.jnl              the engine's log: in format 1 of all writes, in format 2 of the ledger's only
//!   engine/keyspaces/0        names of the other keyspaces
//!   engine/keyspaces/N        a tree: the ledger, or a generation of a column family (the same files as tables/ has)
//!   log/                      format 2: our commit log, as it is now
//! ```
//!
//! The steps, of which each can be cut short and done again:
//!
//! ```text
//!   1  what the engine's log has for the trees of column families is flushed into them
//!   2  the queue of deletions is copied from the ledger into tables of its own
//!   3  the trees of newest generations are renamed into tables/
//!   4  MANIFEST is written from the ledger; from here on the directory is of format 3
//!   5  THRIFTSTORE says so, and engine/ is removed
//! ```
//!
//! Until step 4 the ledger and the names of the keyspaces stay where they are, so a directory whose upgrade was cut short
//! is upgraded from the beginning.

mod engine;
mod journal;
mod ledger;
mod steps;

pub use steps::{remove_earlier, run};
