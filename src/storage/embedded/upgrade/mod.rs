//! Upgrades data directories of earlier formats to format 4.
//!
//! Format 3 has the files of format 4. An empty component under a `ReversedType` had keys that sort first, and
//! `component_order` gives such entries new keys. The manifest records which column families have been upgraded.
//!
//! Formats 1 and 2 stored column families, and the ledger (now the manifest), in a storage engine with a log of its own:
//!
//! ```text
//!   engine/*.jnl              the engine's log: in format 1 all writes, in format 2 changes of the ledger only
//!   engine/keyspaces/0        the names of the other keyspaces
//!   engine/keyspaces/N        a tree: the ledger, or a generation of a column family (with the same files as in tables/)
//!   log/                      format 2: the commit log, as it is now
//! ```
//!
//! The steps, each of which can be interrupted and repeated:
//!
//! ```text
//!   1  the engine's log is replayed, and the trees of column families are flushed
//!   2  the queue of deletions is copied from the ledger into tables of its own
//!   3  the trees of the newest generations are renamed into tables/
//!   4  MANIFEST is written from the ledger; from here on the files are those of format 3
//!   5  THRIFTSTORE is written, and engine/ is removed
//! ```
//!
//! Until step 4 the ledger and the names of the keyspaces stay where they are, so an interrupted upgrade starts again
//! from the beginning.

mod component_order;
mod engine;
mod journal;
mod ledger;
mod steps;

pub use component_order::reorder_family;
pub use steps::{remove_earlier, run};
