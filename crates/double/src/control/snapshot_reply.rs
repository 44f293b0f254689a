//! A snapshot, as replies show it.

use schemars::JsonSchema;
use serde::Serialize;

use db::DatabaseSnapshot;

/// A snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SnapshotReply {
    /// The name of the snapshot.
    pub name: String,
    /// The number of column families in its schema.
    pub column_families: usize,
    /// Approximate memory of its rows, in bytes. Several snapshots can share rows.
    pub bytes: usize,
}

impl SnapshotReply {
    pub(super) fn new(name: &str, snapshot: &DatabaseSnapshot) -> SnapshotReply {
        let bytes = DatabaseSnapshot::bytes_of(std::iter::once(snapshot));
        SnapshotReply { name: name.to_owned(), column_families: snapshot.families(), bytes }
    }
}
