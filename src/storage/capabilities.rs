//! What a store can do by itself.
//!
//! Our own store keeps cells and nothing else: indexes, conditional updates and the schema are built on top of it, by `db`.
//! A cluster has its own. The layers above never ask which store they have; they ask for the one capability that they would
//! otherwise provide:
//!
//! ```text
//!   capability            with it, db ...                        without it, db ...
//!   indexes               asks for keys by an indexed value      writes and reads rows of index entries
//!   conditional_updates   hands the whole update over            locks the row, reads, compares and writes
//!   logged_batches        hands the whole batch over             writes: any write is atomic
//!   shared_schema         follows the schema of other gateways   is the only one that changes it
//!   cql                   forwards statements                    runs statements on cells
//! ```

use std::sync::Arc;

use bytes::Bytes;

use super::{RemoteCql, StoreError, StoreFuture};
use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::model::{Bounds, Cell, Mutation, ReadCommand};
use crate::schema::{Catalog, CfDef};
use crate::util::limits::RESULT_BYTES_MAX;

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

/// What a store can do by itself. The default is a store that only keeps cells.
#[derive(Clone, Copy, Default)]
pub struct Capabilities<'a> {
    pub indexes: Option<&'a dyn IndexedStore>,
    pub conditional_updates: Option<&'a dyn ConditionalStore>,
    pub logged_batches: Option<&'a dyn BatchStore>,
    pub shared_schema: Option<&'a dyn SharedSchemaStore>,
    pub cql: Option<&'a dyn RemoteCql>,
    /// How many rows one request may read concurrently, where each read waits for a network. `None`: reads of several rows are
    /// fastest one after another.
    pub concurrent_reads: Option<usize>,
    /// The store compares consistency levels with its own replicas.
    pub checks_consistency: bool,
    /// The store checks definitions of keyspaces and column families by CQL's rules, and the types of its tables cannot change.
    pub checks_definitions: bool,
    /// A row whose columns are all deleted is no row, so a write of no columns has no effect.
    pub drops_empty_rows: bool,
}

/// A store that has indexes of its own.
pub trait IndexedStore: Send + Sync {
    /// Returns keys of the rows that an index leads to, in ring order.
    fn indexed_keys(&self, lookup: IndexLookup, consistency: ConsistencyLevel)
    -> StoreFuture<'_, Vec<Bytes>>;
}

/// A store that runs conditional updates of its own (Paxos).
pub trait ConditionalStore: Send + Sync {
    /// Writes columns of a row if it is as expected. All gateways' updates of a row have one order.
    fn compare_and_set(&self, command: CasCommand) -> StoreFuture<'_, CasAnswer>;
}

/// A store in which a write of several rows is only atomic if it is logged first.
pub trait BatchStore: Send + Sync {
    /// Applies all mutations or none, though not all at the same time.
    fn apply_logged(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()>;
}

/// A store whose schema other servers change, too.
///
/// Its tables are made and dropped by one gateway at a time, which must have read the newest notes when it begins; and notes
/// are changed only by a gateway that has read them as they are. `alter`, `drop_family`, `drop_keyspace`, `note` and, where it
/// makes tables, `follow` end in `SchemaDisagreement` otherwise.
pub trait SharedSchemaStore: Send + Sync {
    /// Whether a keyspace is the store's own, which no client changes. The name is in lower case.
    fn is_own_keyspace(&self, name: &str) -> bool;

    /// Grows with every change of the notes, by any gateway.
    fn notes_version(&self) -> StoreFuture<'_, i64>;

    /// Drops a keyspace in which there is no table any more. One that does not exist is no error.
    fn drop_keyspace<'a>(&'a self, name: &'a str) -> StoreFuture<'a, ()>;

    /// Another gateway has changed the schema to this. It should have made the tables; any that is missing is made.
    fn follow(&self, catalog: Arc<Catalog>) -> StoreFuture<'_, ()>;
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
