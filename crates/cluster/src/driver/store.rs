//! `ClusterStore`: the `Store` trait on a cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::cql::ClientStatements;
use super::keyspaces::{self, KnownTables};
use super::link::Link;
use super::metadata_records::{MetadataRecords, TablesLock};
use super::node_watch::NodeWatch;
use super::scan::RingScan;
use super::splits::splits;
use super::table::PreparedTable;
use super::tables::PreparedTables;
use super::write::MutationWriter;
use super::{cas, read};
use crate::keyspace::{self, map};
use crate::options::ClusterOptions;
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Mutation, RangeCommand, ReadCommand, Row, RowColumns};
use base::partitioner::PartitionerRef;
use base::schema::{Catalog, quoted_name};
use base::util::Clock;
use store::{
    BatchStore, Capabilities, CasAnswer, CasCommand, ConditionalStore, IndexLookup, IndexedStore, RemoteCql,
    Result, SharedSchemaStore, Store, StoreChange, StoreFuture, StoreStatus,
};

/// Replicas of the gateways' own keyspace, unless the operator has set the replication or there are fewer nodes.
const OWN_KEYSPACE_COPIES: usize = 3;

/// A store on a cluster, with one table for each column family.
pub struct ClusterStore {
    pub(super) link: Link,
    /// Prepared statements of clients.
    pub(super) statements: ClientStatements,
    tables: PreparedTables,
    records: MetadataRecords,
    nodes: NodeWatch,
    partitioner: PartitionerRef,
    clock: Arc<Clock>,
    replication: Option<BTreeMap<String, String>>,
    /// The catalog for which tables were last created.
    catalog: Mutex<Option<Arc<Catalog>>>,
}

impl Link {
    /// Opens the store of the cluster. `partitioner` is the cluster's.
    ///
    /// # Errors
    /// If the tables of the gateways cannot be created.
    pub async fn into_store(
        self,
        options: &ClusterOptions,
        partitioner: PartitionerRef,
        clock: Arc<Clock>,
    ) -> Result<Arc<dyn Store>> {
        Ok(Arc::new(ClusterStore::open(self, options, partitioner, clock).await?))
    }
}

impl ClusterStore {
    /// Opens a store on a connected cluster. `partitioner` is the cluster's partitioner.
    pub async fn open(
        link: Link,
        options: &ClusterOptions,
        partitioner: PartitionerRef,
        clock: Arc<Clock>,
    ) -> Result<ClusterStore> {
        let nodes = link.session.get_cluster_state().get_nodes_info().len();
        let copies = nodes.clamp(1, OWN_KEYSPACE_COPIES);
        let replication = match &options.replication {
            Some(replication) => map(replication),
            None => format!("{{'class': 'SimpleStrategy', 'replication_factor': '{copies}'}}"),
        };
        link.warn_of_release().await?;
        MetadataRecords::set_up(&link, &replication).await?;
        Ok(ClusterStore {
            link,
            statements: ClientStatements::new(),
            tables: PreparedTables::default(),
            records: MetadataRecords::default(),
            nodes: NodeWatch::default(),
            partitioner,
            clock,
            replication: options.replication.clone(),
            catalog: Mutex::default(),
        })
    }

    fn writing<'a>(&'a self, behaviour: &'a Behaviour, consistency: ConsistencyLevel) -> MutationWriter<'a> {
        let now_s = self.clock.now_s();
        MutationWriter { link: &self.link, tables: &self.tables, behaviour, now_s, consistency }
    }

    fn scan_of<'a>(&'a self, table: &'a PreparedTable, consistency: ConsistencyLevel) -> RingScan<'a> {
        RingScan { link: &self.link, table, partitioner: &*self.partitioner, consistency }
    }

    /// Returns whether the cluster lacks the table of a column family that is new to this gateway.
    async fn lacks_tables(&self, catalog: &Catalog) -> Result<bool> {
        let before = self.catalog.lock().clone();
        for keyspace in catalog.keyspaces.values() {
            let mut new: Vec<_> = keyspace.column_families.values().collect();
            new.retain(|cf| {
                let known = before.as_ref().and_then(|before| before.column_family(&cf.keyspace, &cf.name));
                !known.is_some_and(|known| Arc::ptr_eq(known, cf))
            });
            if !new.is_empty() {
                let tables = KnownTables::of(&self.link, &keyspace.name).await?;
                if new.iter().any(|cf| !tables.has(&cf.name)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Changes tables under a lock of all gateways, and only if this gateway has read the newest metadata records. With
    /// older ones it would create tables that others have dropped, or drop tables that others have created again.
    ///
    /// # Errors
    /// `SchemaDisagreement` if metadata records have changed since this gateway has read them, or the lock was lost.
    async fn change_tables(&self, change: impl Future<Output = Result<()>>) -> Result<()> {
        let lock = TablesLock::take(&self.link).await?;
        let changing = async {
            self.records.check_newest(&self.link).await?;
            change.await
        };
        let changed = tokio::select! {
            changed = changing => changed,
            lost = lock.renew_until_lost(&self.link) => return Err(lost),
        };
        lock.release(&self.link).await;
        changed
    }

    /// Creates the keyspaces and tables of a catalog that the cluster lacks.
    async fn create_missing(&self, catalog: &Arc<Catalog>) -> Result<()> {
        let before = self.catalog.lock().clone();
        let known = |name: &str| before.as_ref().and_then(|before| before.keyspace(name));
        for keyspace in catalog.keyspaces.values() {
            let is_same = known(&keyspace.name).is_some_and(|known| {
                let other = &known.column_families;
                keyspace::replication(known, None) == keyspace::replication(keyspace, None)
                    && known.durable_writes == keyspace.durable_writes
                    && other.len() == keyspace.column_families.len()
                    && keyspace
                        .column_families
                        .iter()
                        .all(|(name, cf)| other.get(name).is_some_and(|known| Arc::ptr_eq(known, cf)))
            });
            if !is_same {
                keyspaces::create_missing(
                    &self.link,
                    keyspace,
                    known(&keyspace.name),
                    self.replication.as_ref(),
                )
                .await?;
            }
        }
        *self.catalog.lock() = Some(catalog.clone());
        Ok(())
    }
}

/// The prefix of the names of system keyspaces, in all releases of Cassandra and ScyllaDB.
const KEYSPACES_OF_CLUSTER: &str = "system_";

impl Store for ClusterStore {
    fn apply(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.writing(behaviour, consistency).apply(mutations).await })
    }

    fn read(
        &self,
        key: Bytes,
        command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, RowColumns> {
        Box::pin(async move {
            let table = self.tables.of(&command.cf)?;
            read::read(&self.link, &table, &key, &command, consistency).await
        })
    }

    fn scan(&self, command: RangeCommand, consistency: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
        Box::pin(async move {
            let table = self.tables.of(&command.read.cf)?;
            self.scan_of(&table, consistency).rows(&command).await
        })
    }

    fn splits(&self, start: Vec<u8>, end: Vec<u8>, keys_per_split: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        let catalog = self.catalog.lock().clone();
        let keyspaces =
            catalog.map(|catalog| catalog.keyspaces.keys().cloned().collect()).unwrap_or_default();
        Box::pin(async move {
            splits(&self.link, &*self.partitioner, keyspaces, &start, &end, keys_per_split).await
        })
    }

    fn records(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        Box::pin(self.records.all(&self.link))
    }

    fn change_schema(&self, change: StoreChange) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if let Some(catalog) = &change.catalog {
                self.change_tables(self.create_missing(catalog)).await?;
            }
            if !change.records.is_empty() {
                self.records.change(&self.link, change.records).await?;
            }
            for cf in change.truncated.iter().filter(|cf| !cf.is_index()) {
                self.link.truncate(&PreparedTable::of(cf)?.quoted_name).await?;
            }
            for cf in change.dropped.iter().filter(|cf| !cf.is_index()) {
                self.tables.forget(cf);
                let statement = format!("DROP TABLE IF EXISTS {}", PreparedTable::of(cf)?.quoted_name);
                self.change_tables(self.link.define(&statement)).await?;
            }
            Ok(())
        })
    }

    fn status(&self) -> StoreStatus {
        StoreStatus { cluster: Some(self.link.status()), ..StoreStatus::default() }
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            indexes: Some(self),
            conditional_updates: Some(self),
            logged_batches: Some(self),
            shared_schema: Some(self),
            cql: Some(self),
            snapshots: None,
            directory: None,
            bulk_load: None,
            concurrent_reads: Some(self.link.rows_at_once()),
            checks_consistency: true,
            checks_definitions: true,
            drops_empty_rows: true,
        }
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        self.link.gate.close();
        Box::pin(async { Ok(()) })
    }
}

impl BatchStore for ClusterStore {
    fn apply_logged(
        &self,
        mutations: Vec<Mutation>,
        behaviour: &'static Behaviour,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.writing(behaviour, consistency).apply_logged(mutations).await })
    }
}

impl ConditionalStore for ClusterStore {
    fn compare_and_set(&self, command: CasCommand) -> StoreFuture<'_, CasAnswer> {
        Box::pin(async move {
            let table = self.tables.of(&command.read.cf)?;
            cas::compare_and_set(&self.link, &table, command).await
        })
    }
}

impl IndexedStore for ClusterStore {
    fn indexed_keys(
        &self,
        lookup: IndexLookup,
        consistency: ConsistencyLevel,
    ) -> StoreFuture<'_, Vec<Bytes>> {
        Box::pin(async move {
            let table = self.tables.of(&lookup.read.cf)?;
            self.scan_of(&table, consistency).indexed_keys(&lookup).await
        })
    }
}

impl SharedSchemaStore for ClusterStore {
    fn is_own_keyspace(&self, name: &str) -> bool {
        name.starts_with(KEYSPACES_OF_CLUSTER) || self.own_keyspace().eq_ignore_ascii_case(name)
    }

    fn records_version(&self) -> StoreFuture<'_, i64> {
        // Gateways ask every second.
        self.nodes.note(&self.link.status().nodes);
        Box::pin(self.records.version(&self.link))
    }

    fn drop_keyspace<'a>(&'a self, name: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let statement = format!("DROP KEYSPACE IF EXISTS {}", quoted_name(name));
            let dropping = async {
                if KnownTables::of(&self.link, name).await?.is_empty() {
                    self.link.define(&statement).await?;
                }
                Ok(())
            };
            self.change_tables(dropping).await
        })
    }

    fn follow(&self, catalog: Arc<Catalog>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if self.lacks_tables(&catalog).await? {
                return self.change_tables(self.create_missing(&catalog)).await;
            }
            *self.catalog.lock() = Some(catalog);
            Ok(())
        })
    }
}
