//! What a store does by itself that is a database of its own, and that we must not do on top of it.

use std::sync::Arc;

use bytes::Bytes;

use super::{RemoteCql, StoreError, StoreFuture};
use crate::model::{Behaviour, Bounds, Cell, ConsistencyLevel, Mutation, ReadCommand};
use crate::schema::{Catalog, CfDef};
use crate::util::limits::{CLUSTER_ROWS_AT_ONCE, RESULT_BYTES_MAX};

/// A conditional update of one Standard row.
#[derive(Debug, Clone)]
pub struct CasCommand {
    pub key: Bytes,
    /// What is looked at: the expected columns by name, or the row's first one.
    pub read: ReadCommand,
    /// The columns that must be there with these values. Empty: the row must have none.
    pub expected: Vec<(Bytes, Bytes)>,
    /// What is written then. Its timestamps are the store's own.
    pub mutation: Mutation,
    pub serial_consistency: ConsistencyLevel,
    pub commit_consistency: ConsistencyLevel,
}

/// What became of a conditional update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CasAnswer {
    Applied,
    /// The columns that were found instead.
    Refused(Vec<Cell>),
}

/// A look into an index: which rows have this value in this column?
#[derive(Debug, Clone)]
pub struct IndexLookup {
    /// How the rows would be read; of it only the column family and the times matter.
    pub read: ReadCommand,
    pub column: Bytes,
    pub value: Bytes,
    pub bounds: Bounds,
    pub max_keys: usize,
}

/// What a cluster calls the one index of a column family's indexed columns, which is in the same keyspace.
pub fn index_name(cf: &CfDef) -> String {
    format!("{}_value", cf.name)
}

/// The other side of a store that is a cluster. It keeps indexes itself, has a schema that others change too, and
/// decides which replicas take part.
///
/// Its tables are made and dropped by one front at a time, which must have read the newest notes when it begins; and notes
/// are changed only by who has read them as they are. `alter`, `drop_family`, `drop_keyspace`, `note` and, where it makes
/// tables, `follow` end in `SchemaDisagreement` otherwise.
pub trait RemoteStore: Send + Sync {
    /// Applies mutations all of them or none, though not all at the same moment.
    fn apply_logged(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()>;

    /// Writes columns of a row if it is as expected, in one order for all fronts.
    fn compare_and_set(&self, command: CasCommand) -> StoreFuture<'_, CasAnswer>;

    /// Keys of the rows that an index leads to, in ring order.
    fn indexed_keys(&self, lookup: IndexLookup, consistency: ConsistencyLevel)
    -> StoreFuture<'_, Vec<Bytes>>;

    /// How many rows one request may read side by side.
    fn rows_at_once(&self) -> usize {
        CLUSTER_ROWS_AT_ONCE
    }

    /// Grows with every change of the notes, whoever makes it.
    fn notes_version(&self) -> StoreFuture<'_, i64>;

    /// Drops a keyspace in which there is no table any more. One that is gone already is no error.
    fn drop_keyspace<'a>(&'a self, name: &'a str) -> StoreFuture<'a, ()>;

    /// Another front has changed the schema to this. It should have made the tables; any that is not there is made.
    fn follow(&self, catalog: Arc<Catalog>) -> StoreFuture<'_, ()>;

    /// Where the store runs CQL itself.
    fn cql(&self) -> Option<&dyn RemoteCql> {
        None
    }
}

/// What has come of one answer, in bytes. Errors: `Invalid` when that is more than one answer can have.
pub fn within_limit(bytes: usize) -> Result<usize, StoreError> {
    if bytes > RESULT_BYTES_MAX {
        return Err(StoreError::Invalid(format!(
            "the answer has more than {RESULT_BYTES_MAX} bytes: ask for fewer columns or rows at a time"
        )));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_a_limit() {
        assert!(within_limit(RESULT_BYTES_MAX).is_ok());
        assert!(matches!(within_limit(RESULT_BYTES_MAX + 1), Err(StoreError::Invalid(_))));
    }
}
