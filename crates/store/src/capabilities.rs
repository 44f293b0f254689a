//! The abilities of a store.
//!
//! The embedded store only stores cells: `db` implements indexes, conditional updates and schema changes on top of it.
//! A cluster has its own. The layers above never check which store they have. They ask for the one capability that they
//! would otherwise provide:
//!
//! ```text
//!   capability            with it, db ...                        without it, db ...
//!   indexes               asks for keys by an indexed value      writes and reads rows of index entries
//!   conditional_updates   forwards the whole update              locks the row, reads, compares and writes
//!   logged_batches        forwards the whole batch               writes: any write is atomic
//!   shared_schema         follows the schema of other gateways   is the only one that changes it
//!   cql                   forwards statements                    runs statements on cells
//!   snapshots             returns to earlier states of all data  cannot
//!   directory             has its files verified                 cannot
//!   bulk_load             makes many writes durable together     waits for each write
//! ```

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::{RemoteCql, Store, StoreError, StoreFuture};
use crate::Result;
use crate::snapshot::StoreSnapshot;
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Bounds, Cell, Mutation, ReadCommand};
use base::schema::{Catalog, CfDef};
use base::util::Clock;
use base::util::limits::RESULT_BYTES_MAX;

/// A conditional update of one Standard row.
#[derive(Debug, Clone)]
pub struct CasCommand {
    /// The row's key.
    pub key: Bytes,
    /// Reads the columns to compare: the expected ones by name, or the row's first column.
    pub read: ReadCommand,
    /// The columns that must have these values. Empty: the row must have no columns.
    pub expected: Vec<(Bytes, Bytes)>,
    /// The changes to write if so. The store sets the timestamps.
    pub mutation: Mutation,
    /// The level of the read and of the decision.
    pub serial_consistency: ConsistencyLevel,
    /// The level of the write.
    pub commit_consistency: ConsistencyLevel,
}

/// The result of a conditional update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CasAnswer {
    /// The row was as expected, and the mutation is written.
    Applied,
    /// The columns that the row has instead.
    Refused(Vec<Cell>),
}

/// An index lookup: which rows have this value in this column?
#[derive(Debug, Clone)]
pub struct IndexLookup {
    /// The read of the rows. Only the column family and the times are used.
    pub read: ReadCommand,
    /// The name of the indexed column.
    pub column: Bytes,
    /// The value that the column must have.
    pub value: Bytes,
    /// Rows outside of these bounds are not returned.
    pub bounds: Bounds,
    /// Most row keys to return.
    pub max_keys: usize,
}

/// Returns the name that a cluster gives to the index of a column family's table. It is one index for all indexed
/// columns.
pub fn index_name(cf: &CfDef) -> String {
    format!("{}_value", cf.name)
}

/// The operations that a store can do by itself. The default is a store that only stores cells.
#[derive(Clone, Copy, Default)]
pub struct Capabilities<'a> {
    /// Indexes that the store keeps up to date itself.
    pub indexes: Option<&'a dyn IndexedStore>,
    /// Comparison and write of a row in one step.
    pub conditional_updates: Option<&'a dyn ConditionalStore>,
    /// Batches that are applied completely even if the store stops.
    pub logged_batches: Option<&'a dyn BatchStore>,
    /// A schema that several servers share.
    pub shared_schema: Option<&'a dyn SharedSchemaStore>,
    /// Execution of statements as they are written.
    pub cql: Option<&'a dyn RemoteCql>,
    /// Snapshots of all data, to which the store can return.
    pub snapshots: Option<&'a dyn SnapshotStore>,
    /// The data directory. It can be verified while the store is open.
    pub directory: Option<&'a Path>,
    /// Writes that become durable together.
    pub bulk_load: Option<&'a dyn BulkStore>,
    /// The number of rows that one request may read concurrently, if each read waits for a network. `None`: it is
    /// fastest to read rows one after another.
    pub concurrent_reads: Option<usize>,
    /// Whether the store checks consistency levels against its own replicas.
    pub checks_consistency: bool,
    /// Whether the store checks definitions of keyspaces and column families by CQL's rules. Then types of tables
    /// cannot change.
    pub checks_definitions: bool,
    /// Whether a row without live columns does not exist. Then a write without columns has no effect.
    pub drops_empty_rows: bool,
}

/// A store that has indexes of its own.
pub trait IndexedStore: Send + Sync {
    /// Returns the keys of rows that an index finds, in the order of the ring.
    fn indexed_keys(&self, lookup: IndexLookup, consistency: ConsistencyLevel)
    -> StoreFuture<'_, Vec<Bytes>>;
}

/// A store that runs conditional updates of its own (Paxos).
pub trait ConditionalStore: Send + Sync {
    /// Writes columns of a row if it has the expected columns. The updates of all gateways to a row have one order.
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

/// A store whose schema other gateways change, too.
///
/// Only one gateway at a time may create and drop tables, and only a gateway that has read the newest metadata records
/// may change tables or records. Otherwise `change_schema`, `drop_keyspace` and, if it creates tables, `follow` fail with
/// `SchemaDisagreement`.
pub trait SharedSchemaStore: Send + Sync {
    /// Returns whether a keyspace is the cluster's or the gateways' own, which clients cannot change. The name is in
    /// lower case.
    fn is_own_keyspace(&self, name: &str) -> bool;

    /// Returns the version of the metadata records, which every change by any gateway increases.
    fn records_version(&self) -> StoreFuture<'_, i64>;

    /// Drops a keyspace if it has no tables. It is not an error if it does not exist.
    fn drop_keyspace<'a>(&'a self, name: &'a str) -> StoreFuture<'a, ()>;

    /// Adopts a schema that another gateway has changed. That gateway should have created the tables; missing ones are
    /// created.
    fn follow(&self, catalog: Arc<Catalog>) -> StoreFuture<'_, ()>;
}

/// A store that can take many writes without making each durable. During a load nothing else may write.
pub trait BulkStore: Send + Sync {
    /// Begins a load: [`Store::apply`] returns before the writes are durable.
    fn begin_load(&self) -> Result<()>;

    /// Makes all writes so far durable. Writes since the last checkpoint are lost if the process is killed.
    fn checkpoint_load(&self) -> StoreFuture<'_, ()>;

    /// Makes all writes durable, and ends the load.
    fn end_load(&self) -> StoreFuture<'_, ()>;
}

/// A store that can return to an earlier state of all its data. The methods take microseconds.
pub trait SnapshotStore: Send + Sync {
    /// Does the part of a snapshot that can take long, while requests run: merges parts that earlier snapshots have
    /// divided.
    fn prepare_snapshot(&self);

    /// Takes a snapshot: rows, column families and metadata records. Nothing is copied.
    fn take_snapshot(&self) -> Result<StoreSnapshot>;

    /// Returns to a snapshot.
    fn restore_snapshot(&self, snapshot: &StoreSnapshot) -> Result<()>;

    /// Opens a further store in memory in the state of a snapshot. It shares the snapshot's rows; whatever is written or
    /// defined later in one of the stores is not in the other.
    fn open_further(&self, snapshot: &StoreSnapshot, clock: Arc<Clock>) -> Result<Arc<dyn Store>>;

    /// Removes the rows of all column families, and these metadata records.
    fn clear_rows(&self, records: &[String]) -> Result<()>;
}

/// Checks the size, in bytes, of the part of a result that has been read, and returns it.
///
/// # Errors
/// `Invalid` if the result is larger than `RESULT_BYTES_MAX`.
pub fn within_limit(bytes: usize) -> Result<usize> {
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
    fn results_have_a_size_limit() {
        assert!(within_limit(RESULT_BYTES_MAX).is_ok());
        assert!(matches!(within_limit(RESULT_BYTES_MAX + 1), Err(StoreError::Invalid(_))));
    }
}
