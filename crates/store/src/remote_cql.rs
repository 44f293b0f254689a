//! CQL that a cluster runs itself: statements are forwarded as texts, and values returned as bytes.

use bytes::Bytes;

use super::StoreFuture;
use base::compat::features::ConsistencyLevel;
use base::marshal::CqlType;

/// A column of a result, or the value of a marker.
#[derive(Debug, Clone)]
pub struct RemoteColumn {
    /// The keyspace of the table that the column belongs to.
    pub keyspace: String,
    /// The table that the column belongs to.
    pub table: String,
    /// The name in the result, or the marker's name.
    pub name: String,
    /// The type of the values.
    pub cql_type: CqlType,
}

/// The rows of a result. Values of collections have 32-bit lengths.
#[derive(Debug, Clone, Default)]
pub struct RemoteRows {
    /// The columns of each row, in order.
    pub columns: Vec<RemoteColumn>,
    /// `None` is null.
    pub rows: Vec<Vec<Option<Bytes>>>,
}

/// The result of a statement.
#[derive(Debug, Clone)]
pub enum RemoteOutcome {
    /// The statement has no result.
    Void,
    /// The statement has a result, which may have no rows.
    Rows(RemoteRows),
}

/// The settings with which a statement is run.
#[derive(Debug, Clone, Copy)]
pub struct RemoteLevels {
    /// Of reads and writes.
    pub consistency: ConsistencyLevel,
    /// The serial consistency level of conditional updates.
    pub serial_consistency: ConsistencyLevel,
    /// Whether the store may read the result in pages. A cluster runs some SELECTs only as a whole.
    pub is_paged: bool,
}

/// Runs CQL. All clients share the store, and it has no sessions: statements must name their keyspaces, and USE must
/// not be forwarded.
pub trait RemoteCql: Send + Sync {
    /// Returns the store's own keyspace, which clients cannot use.
    fn own_keyspace(&self) -> &str;

    /// Returns whether a keyspace exists on the cluster, also if it was not created by this server.
    fn has_keyspace<'a>(&'a self, name: &'a str) -> StoreFuture<'a, bool>;

    /// Runs a statement without markers. A result of more than `RESULT_BYTES_MAX` is refused.
    fn query<'a>(&'a self, text: &'a str, levels: RemoteLevels) -> StoreFuture<'a, RemoteOutcome>;

    /// Prepares a statement. Returns the columns of its markers.
    fn prepare<'a>(&'a self, text: &'a str) -> StoreFuture<'a, Vec<RemoteColumn>>;

    /// Runs a statement with values for all its markers. It is prepared if needed.
    fn execute<'a>(
        &'a self,
        text: &'a str,
        values: &'a [Bytes],
        levels: RemoteLevels,
    ) -> StoreFuture<'a, RemoteOutcome>;
}
