//! The files that a compaction leaves if its server is killed: its sources and the SSTables that it made of them are
//! there together. Servers remove one or the other when they start. An import reads the same files as they would.
//!
//! ```text
//!   1  2  3  4          the SSTables 1 and 2 were compacted into 4
//!   |__|_____^
//!
//!   up to 1.1.2         the sources have a file `Compacted` once 4 is complete; until then 4 has the mark `tmp`
//!   1.1.3 to 1.2        counters: 4 has the ancestors 1 and 2, so they are obsolete
//!   2.0 to 2.2          if system.compactions_in_progress has 1 and 2: while both are there 4 is not complete; else what
//!                       is left of 1 and 2 is obsolete
//!   3.0 and later       a transaction log adds 4, removes 1 and 2, and has a last record if 4 is complete
//! ```
//!
//! Both together would be wrong: local shards of counters (up to 2.0) add up, and a value whose tombstone the
//! compaction has purged would come back. One half alone would be worse, so each rule leaves files out only if others
//! have their rows. An undecided case is a doubt, which ends an import unless damage is skipped.
//!
//! ```text
//!   choice         the rules for ancestors, without files
//!   compactions    .. applied to the SSTables of a node: 1.1.3 to 2.2
//!   transactions   transaction logs: 3.0 and later
//!   copies         SSTables and commit logs that are there twice
//!   values         whether a column family has counters
//! ```

mod choice;
mod compactions;
mod copies;
mod transactions;
mod values;

use std::path::PathBuf;

use super::FamilyName;
use super::inventory::Inventory;

/// A file that is not read, or for which the import cannot tell whether to read it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// The file, as it was found.
    pub path: PathBuf,
    /// The reason, for the user.
    pub why: String,
    /// The column family of the file.
    pub family: FamilyName,
}

/// Leaves out the SSTables that the servers would have removed when they started, and copies.
pub(super) fn leave_out(inventory: &mut Inventory) {
    transactions::leave_out(inventory);
    let nodes = inventory.directories.last().map_or(0, |last| last.node + 1);
    for node in 0..nodes {
        copies::leave_out(inventory, node);
        compactions::leave_out(inventory, node);
    }
    inventory.left_out.sort();
}
