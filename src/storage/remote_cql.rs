//! CQL that a store which is a cluster runs itself: statements go to it as texts, values come back as bytes.

use bytes::Bytes;

use super::StoreFuture;
use crate::compat::features::ConsistencyLevel;
use crate::marshal::CqlType;

/// A column of a result, or a value that a marker stands for.
#[derive(Debug, Clone)]
pub struct RemoteColumn {
    pub keyspace: String,
    pub table: String,
    pub name: String,
    pub cql_type: CqlType,
}

/// Rows. A collection's value has 32-bit lengths.
#[derive(Debug, Clone, Default)]
pub struct RemoteRows {
    pub columns: Vec<RemoteColumn>,
    /// `None` is null.
    pub rows: Vec<Vec<Option<Bytes>>>,
}

/// What a statement answers.
#[derive(Debug, Clone)]
pub enum RemoteOutcome {
    Void,
    Rows(RemoteRows),
}

/// How a statement is run.
#[derive(Debug, Clone, Copy)]
pub struct RemoteLevels {
    pub consistency: ConsistencyLevel,
    /// Of conditional updates.
    pub serial_consistency: ConsistencyLevel,
    /// The store may gather the result in pages. There are SELECTs that a cluster runs only as a whole.
    pub is_paged: bool,
}

/// Runs CQL. All clients share the store, and it knows nothing of any one's session: a statement names its keyspaces,
/// and USE must never come here.
pub trait RemoteCql: Send + Sync {
    /// The keyspace that the store has for itself, which is no client's.
    fn own_keyspace(&self) -> &str;

    /// Whether there is such a keyspace, whoever made it.
    fn has_keyspace<'a>(&'a self, name: &'a str) -> StoreFuture<'a, bool>;

    /// Runs a statement without markers. A result of more than `RESULT_BYTES_MAX` is refused.
    fn query<'a>(&'a self, text: &'a str, levels: RemoteLevels) -> StoreFuture<'a, RemoteOutcome>;

    /// What the markers of a statement stand for.
    fn prepare<'a>(&'a self, text: &'a str) -> StoreFuture<'a, Vec<RemoteColumn>>;

    /// Runs a statement with values for its markers, all of them. It need not have been prepared before.
    fn execute<'a>(
        &'a self,
        text: &'a str,
        values: &'a [Bytes],
        levels: RemoteLevels,
    ) -> StoreFuture<'a, RemoteOutcome>;
}
