//! A cluster in memory, and gateways of it. Each gateway has its own store; all stores share the rows and the metadata
//! records.
#![allow(dead_code, reason = "every test binary uses its own part of it")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Bounds, Mutation, RangeCommand, ReadCommand, Row, RowColumns};
use base::partitioner;
use base::partitioner::PartitionerRef;
use base::schema::{Catalog, CfDef};
use base::util::Clock;
use bytes::Bytes;
use cluster::limits::CLUSTER_ROWS_AT_ONCE;
use db::{Database, DatabaseParts};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use store::{
    BatchStore, Capabilities, CasAnswer, CasCommand, ConditionalStore, IndexLookup, IndexedStore,
    SharedSchemaStore, Store, StoreChange, StoreError, StoreFuture, StoreStatus,
};

use super::reference_model::ReferenceModel;

/// The time that the cluster takes for a read.
pub const READ_TAKES: Duration = Duration::from_millis(2);

/// The state that all gateways share.
pub struct Cluster {
    rows: ReferenceModel,
    records: Mutex<(i64, BTreeMap<String, Bytes>)>,
    pub partitioner: PartitionerRef,
    clock: Arc<Clock>,
    /// The requests so far as text: writes, truncates, changes of tables.
    log: Mutex<Vec<String>>,
    /// How often the version of the records was read, and the records themselves.
    pub version_asks: AtomicUsize,
    pub note_reads: AtomicUsize,
    reads_now: AtomicUsize,
    pub reads_most: AtomicUsize,
    /// The most columns that one read has returned.
    pub columns_most: AtomicUsize,
    /// The error of the following requests.
    pub failure: Mutex<Option<StoreError>>,
    /// The existing tables, as `Keyspace.Table`.
    pub tables: Mutex<BTreeSet<String>>,
    /// The error of creating and dropping tables.
    pub tables_failure: Mutex<Option<StoreError>>,
    /// Whether the next change of records is applied but reported as timed out.
    pub loses_answer: Mutex<bool>,
    /// The number of following changes before which another record is written, so that they conflict with it.
    pub conflicting_writes: AtomicUsize,
    /// Runs once, after the next table has been dropped and before the rest of that change.
    pub after_drop: Mutex<Option<BoxFuture<'static, ()>>>,
    turn: tokio::sync::Mutex<()>,
}

impl Cluster {
    pub fn new() -> Arc<Cluster> {
        let partitioner = partitioner::resolve("Murmur3Partitioner").unwrap();
        let clock = Arc::new(Clock::system());
        Arc::new(Cluster {
            rows: ReferenceModel::new(partitioner.clone(), clock.clone()),
            records: Mutex::default(),
            partitioner,
            clock,
            log: Mutex::default(),
            version_asks: AtomicUsize::new(0),
            note_reads: AtomicUsize::new(0),
            reads_now: AtomicUsize::new(0),
            reads_most: AtomicUsize::new(0),
            columns_most: AtomicUsize::new(0),
            failure: Mutex::default(),
            tables: Mutex::default(),
            tables_failure: Mutex::default(),
            loses_answer: Mutex::default(),
            conflicting_writes: AtomicUsize::new(0),
            after_drop: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        })
    }

    /// Starts a gateway with the keyspaces of its configuration.
    pub async fn gateway(self: &Arc<Self>, catalog: Catalog) -> Arc<Database> {
        self.gateway_with(catalog, Database::new).await
    }

    /// Starts a gateway whose database `make` builds.
    pub async fn gateway_with(
        self: &Arc<Self>,
        catalog: Catalog,
        make: impl FnOnce(DatabaseParts) -> Database,
    ) -> Arc<Database> {
        let store = Gateway { cluster: self.clone(), seen: Mutex::new(0) };
        let partitioner = self.partitioner.clone();
        let parts = DatabaseParts::new(Arc::new(catalog), Arc::new(store), partitioner, self.clock.clone());
        let database = Arc::new(make(parts));
        database.stored_schema().load().await.unwrap();
        database
    }

    /// Returns the requests since the last call, and forgets them.
    pub fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock())
    }

    fn log(&self, request: impl Into<String>) {
        self.log.lock().push(request.into());
    }

    pub fn record_names(&self) -> Vec<String> {
        self.records.lock().1.keys().cloned().collect()
    }

    /// Writes a record as a server of another version would.
    pub fn write_record(&self, name: &str, value: &'static [u8]) {
        let mut records = self.records.lock();
        records.0 += 1;
        records.1.insert(name.to_owned(), Bytes::from_static(value));
    }

    pub fn fail_with(&self, error: StoreError) {
        *self.failure.lock() = Some(error);
    }

    fn failing(&self) -> Result<(), StoreError> {
        self.failure.lock().clone().map_or(Ok(()), Err)
    }

    fn failing_tables(&self) -> Result<(), StoreError> {
        self.tables_failure.lock().clone().map_or_else(|| self.failing(), Err)
    }

    pub fn records_version(&self) -> i64 {
        self.records.lock().0
    }

    fn describe(mutations: &[Mutation]) -> String {
        let mut families: Vec<String> = Vec::new();
        for family in mutations.iter().flat_map(|mutation| &mutation.families) {
            families.push(family.cf.name.clone());
        }
        families.join(" ")
    }
}

/// One gateway's store.
struct Gateway {
    cluster: Arc<Cluster>,
    /// The version of the records that this gateway has read.
    seen: Mutex<i64>,
}

impl Gateway {
    async fn read_now(
        &self,
        key: Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> Result<RowColumns, StoreError> {
        let cluster = &self.cluster;
        cluster.failing()?;
        let now = cluster.reads_now.fetch_add(1, Ordering::SeqCst) + 1;
        cluster.reads_most.fetch_max(now, Ordering::SeqCst);
        // Reads of later keys finish first.
        let hurry = u64::from(key.last().copied().unwrap_or_default()) % 8;
        tokio::time::sleep(READ_TAKES + Duration::from_micros((8 - hurry) * 200)).await;
        cluster.reads_now.fetch_sub(1, Ordering::SeqCst);
        let columns = cluster.rows.read(key, command, consistency).await?;
        cluster.columns_most.fetch_max(columns.len(), Ordering::SeqCst);
        Ok(columns)
    }

    fn check_newest(&self) -> Result<(), StoreError> {
        if self.cluster.records_version() == *self.seen.lock() { Ok(()) } else { Err(overtaken()) }
    }

    fn create_tables(&self, catalog: &Catalog) -> Result<(), StoreError> {
        let families: Vec<String> = catalog.column_families().map(|cf| cf.name.clone()).collect();
        self.cluster.log(format!("alter {}", families.join(" ")));
        self.cluster.failing_tables()?;
        self.check_newest()?;
        let tables = catalog.column_families().map(|cf| format!("{}.{}", cf.keyspace, cf.name));
        self.cluster.tables.lock().extend(tables);
        Ok(())
    }

    async fn drop_table(&self, cf: &CfDef) -> Result<(), StoreError> {
        self.cluster.log(format!("drop {}", cf.name));
        self.cluster.failing_tables()?;
        self.check_newest()?;
        self.cluster.tables.lock().remove(&format!("{}.{}", cf.keyspace, cf.name));
        let then = self.cluster.after_drop.lock().take();
        if let Some(then) = then {
            then.await;
        }
        Ok(())
    }

    fn note_now(&self, records: Vec<(String, Option<Bytes>)>) -> Result<(), StoreError> {
        let cluster = &self.cluster;
        cluster.failing()?;
        let mut kept = cluster.records.lock();
        if cluster.conflicting_writes.load(Ordering::SeqCst) > 0 {
            cluster.conflicting_writes.fetch_sub(1, Ordering::SeqCst);
            kept.0 += 1;
            kept.1.insert("unrelated".to_owned(), Bytes::new());
        }
        if kept.0 != *self.seen.lock() {
            return Err(overtaken());
        }
        for (name, value) in records {
            match value {
                Some(value) => kept.1.insert(name, value),
                None => kept.1.remove(&name),
            };
        }
        kept.0 += 1;
        *self.seen.lock() = kept.0;
        if std::mem::take(&mut *cluster.loses_answer.lock()) {
            return Err(StoreError::TimedOut("no answer".to_owned()));
        }
        Ok(())
    }
}

fn overtaken() -> StoreError {
    StoreError::SchemaDisagreement("another change came first".to_owned())
}

impl Store for Gateway {
    fn apply(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.cluster.failing()?;
            self.cluster.log(format!("apply {} at {consistency}", Cluster::describe(&mutations)));
            self.cluster.rows.apply(mutations, behaviour, consistency).await
        })
    }

    fn read(
        &self,
        key: Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, RowColumns> {
        Box::pin(self.read_now(key, command, consistency))
    }

    fn scan(&self, command: RangeCommand, consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
        self.cluster.rows.scan(command, consistency)
    }

    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        self.cluster.rows.splits(start, end, keys_per_split)
    }

    fn records(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        Box::pin(async {
            self.cluster.failing()?;
            self.cluster.note_reads.fetch_add(1, Ordering::SeqCst);
            let records = self.cluster.records.lock();
            *self.seen.lock() = records.0;
            Ok(records.1.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
        })
    }

    fn change_schema(&self, change: StoreChange) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if let Some(catalog) = &change.catalog {
                self.create_tables(catalog)?;
            }
            if !change.records.is_empty() {
                self.note_now(change.records)?;
            }
            for cf in &change.dropped {
                self.drop_table(cf).await?;
            }
            let truncated = change.truncated.iter().map(|cf| format!("truncate {}", cf.name));
            truncated.for_each(|line| self.cluster.log(line));
            let (truncated, dropped) = (change.truncated, change.dropped);
            let rows = StoreChange { truncated, dropped, ..StoreChange::default() };
            self.cluster.rows.change_schema(rows).await
        })
    }

    fn status(&self) -> StoreStatus {
        StoreStatus::default()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            directory: None,
            indexes: Some(self),
            conditional_updates: Some(self),
            logged_batches: Some(self),
            shared_schema: Some(self),
            cql: None,
            snapshots: None,
            bulk_load: None,
            concurrent_reads: Some(CLUSTER_ROWS_AT_ONCE),
            checks_consistency: true,
            checks_definitions: true,
            drops_empty_rows: true,
        }
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

impl BatchStore for Gateway {
    fn apply_logged(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.cluster.log(format!("logged {} at {consistency}", Cluster::describe(&mutations)));
            self.cluster.rows.apply(mutations, behaviour, consistency).await
        })
    }
}

impl ConditionalStore for Gateway {
    fn compare_and_set(&self, command: CasCommand) -> StoreFuture<'_, CasAnswer> {
        Box::pin(async move {
            let _turn = self.cluster.turn.lock().await;
            let CasCommand { key, read, expected, mutation, serial_consistency, commit_consistency } =
                command;
            self.cluster.log(format!("cas at {serial_consistency} then {commit_consistency}"));
            let behaviour = read.behaviour;
            let RowColumns::Cells(found) = self.cluster.rows.read(key, read, serial_consistency).await?
            else {
                return Err(StoreError::Invalid("no Standard row".to_owned()));
            };
            let held: Vec<_> = found.iter().map(|cell| (cell.name.clone(), cell.value.clone())).collect();
            if held != expected {
                return Ok(CasAnswer::Refused(found));
            }
            self.cluster.rows.apply(vec![mutation], behaviour, commit_consistency).await?;
            Ok(CasAnswer::Applied)
        })
    }
}

impl IndexedStore for Gateway {
    fn indexed_keys(
        &self,
        lookup: IndexLookup,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, Vec<Bytes>> {
        Box::pin(async move {
            let IndexLookup { read, column, value, bounds, max_keys } = lookup;
            let from = match &bounds {
                Bounds::Keys { start, .. } => format!("key {}", String::from_utf8_lossy(start)),
                _ => "after a token".to_owned(),
            };
            self.cluster.log(format!("index from {from}, {max_keys} keys"));
            let command = RangeCommand { bounds, max_rows: usize::MAX, read, skip_empty: true };
            let rows = self.cluster.rows.scan(command, consistency).await?;
            let holds = |row: &Row| match &row.columns {
                RowColumns::Cells(cells) => {
                    cells.iter().any(|cell| cell.is_live() && cell.name == column && cell.value == value)
                }
                RowColumns::Supers(_) => false,
            };
            Ok(rows.into_iter().filter(holds).map(|row| row.key).take(max_keys).collect())
        })
    }
}

impl SharedSchemaStore for Gateway {
    fn is_own_keyspace(&self, name: &str) -> bool {
        name.starts_with("system_")
    }

    fn records_version(&self) -> StoreFuture<'_, i64> {
        Box::pin(async {
            self.cluster.version_asks.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            self.cluster.failing()?;
            Ok(self.cluster.records.lock().0)
        })
    }

    fn drop_keyspace<'a>(&'a self, name: &'a str) -> StoreFuture<'a, ()> {
        self.cluster.log(format!("drop keyspace {name}"));
        Box::pin(async { self.check_newest() })
    }

    fn follow(&self, catalog: Arc<Catalog>) -> StoreFuture<'_, ()> {
        let families: Vec<String> = catalog.column_families().map(|cf| cf.name.clone()).collect();
        self.cluster.log(format!("follow {}", families.join(" ")));
        Box::pin(async { Ok(()) })
    }
}
