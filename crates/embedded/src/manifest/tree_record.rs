//! The record of a directory of tables in the manifest.
//!
//! ```text
//!   "1.2": {"newest": 1700000000000000, "identity": {"list": 7, "list_sum": 8301..., "tables_sum": 1125...}}
//!
//!   manifest --> v7, by its number and checksum --> each table, by the checksum of its whole file
//!           `--> what the tables contain, by one checksum over their metadata
//! ```
//!
//! So every file of a directory of tables belongs to the column family and the generation in the directory's name, and
//! to the time of the manifest. Files that were swapped, put in from another directory, or put back from an earlier
//! time do not have the recorded checksums. The whole files are only read to verify them. At a start the metadata is
//! compared, which a table's file has at its end and which the tree library reads anyway.

use serde::{Deserialize, Serialize};

/// The record of a directory of tables in the manifest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredTree")]
pub(crate) struct TreeRecord {
    /// A timestamp that no cell in the tables exceeds. `None` if that is unknown.
    pub newest: Option<i64>,
    /// `None` if an earlier version of the program wrote the tables, and no start has recorded it yet.
    pub identity: Option<TreeIdentity>,
}

/// The identity of the tables in a directory at one time. Checksums are 64 bits of XXH3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TreeIdentity {
    /// The N of `vN`, the list of the tables.
    pub list: u64,
    /// Checksum of `vN`.
    pub list_sum: u64,
    /// Checksum of the metadata of all tables.
    pub tables_sum: u64,
}

/// A record as a manifest has it. Up to format 2 it is only the timestamp.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredTree {
    Newest(Option<i64>),
    Record { newest: Option<i64>, identity: Option<TreeIdentity> },
}

impl From<StoredTree> for TreeRecord {
    fn from(stored: StoredTree) -> TreeRecord {
        let (StoredTree::Newest(newest) | StoredTree::Record { newest, .. }) = stored;
        let identity = if let StoredTree::Record { identity, .. } = stored { identity } else { None };
        TreeRecord { newest, identity }
    }
}
