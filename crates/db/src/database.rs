//! The database: one schema, one store, one partitioner.

use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use parking_lot::RwLock;
use tokio::sync::broadcast;

use super::activity::Activity;
use super::faults::{Faults, RequestOrigin, WatchedRequest, WatchedStore};
use super::index::Build;
use super::login::{Authenticator, LoginGuard, RoleKeeper};
use super::metrics::DatabaseMetrics;
use super::request_log::RequestLogSwitch;
use super::schema::{FamilyIds, SchemaEvents, SchemaVersion, SharedSchema};
use super::traces::Traces;
use base::compat::Behaviour;
use base::marshal::Types;
use base::model::{Predicate, ReadCommand};
use base::partitioner::PartitionerRef;
use base::schema::{Catalog, CfDef, SchemaChange};
use base::util::{Clock, RequestGate};
use store::{RemoteCql, Store};

/// A snapshot of the schema, which does not change while this guard is held.
pub(crate) type CatalogNow = arc_swap::Guard<Arc<Catalog>>;

/// The components and settings from which a [`Database`] is built.
#[derive(Clone)]
pub struct DatabaseParts {
    /// The keyspaces that the configuration defines.
    pub catalog: Arc<Catalog>,
    /// The store of all rows and metadata records.
    pub store: Arc<dyn Store>,
    /// The partitioner, which defines the order of rows.
    pub partitioner: PartitionerRef,
    /// The way in which users log in.
    pub authenticator: Authenticator,
    /// The clock of timestamps and expiry.
    pub clock: Arc<Clock>,
    /// The types that a schema may use.
    pub types: Types,
    /// The name of the cluster that clients see.
    pub cluster_name: String,
    /// The text of the configuration file, which Thrift-era clients could request.
    pub config_text: String,
    /// The node's token, as describe_ring shows it.
    pub token: String,
    /// The node's address, as describe_ring shows it.
    pub endpoint: String,
}

impl DatabaseParts {
    /// Returns the parts of a node with the default names of an unconfigured Cassandra node and without
    /// authentication.
    pub fn new(
        catalog: Arc<Catalog>,
        store: Arc<dyn Store>,
        partitioner: PartitionerRef,
        clock: Arc<Clock>,
    ) -> DatabaseParts {
        DatabaseParts {
            catalog,
            store,
            partitioner,
            authenticator: Authenticator::AllowAll,
            clock,
            types: Types::builtin(),
            cluster_name: "Test Cluster".to_owned(),
            config_text: String::new(),
            token: "0".to_owned(),
            endpoint: "127.0.0.1".to_owned(),
        }
    }
}

/// Answers requests; shared by all connections.
pub struct Database {
    pub(super) parts: DatabaseParts,
    pub(super) catalog: ArcSwap<Catalog>,
    pub(super) events: SchemaEvents,
    pub(super) version: SchemaVersion,
    pub(super) ids: FamilyIds,
    pub(super) traces: Traces,
    pub(super) shared: SharedSchema,
    /// Locked during each change of the schema.
    pub(super) changing: Arc<tokio::sync::Mutex<()>>,
    /// Indexes that are not complete yet, by the names of their metadata records.
    pub(super) building: RwLock<HashMap<String, Build>>,
    /// The roles and their permissions, if the authenticator keeps them in the store.
    pub(super) roles: Arc<RoleKeeper>,
    /// Refuses logins after too many failed ones.
    pub(super) login_guard: Arc<LoginGuard>,
    /// Locks that serialize the conditional updates of a row; the hash of its key selects the lock.
    pub(super) cas_turns: Vec<tokio::sync::Mutex<()>>,
    pub(super) cas_hasher: RandomState,
    /// Faults and the journal, if tests control the server.
    pub(super) faults: Option<Arc<Faults>>,
    /// The log of requests.
    pub(super) request_log: Arc<RequestLogSwitch>,
    /// Slow requests and errors, for the console.
    pub(super) activity: Arc<Activity>,
    /// The counts since the start.
    pub(super) metrics: Arc<DatabaseMetrics>,
    /// Lets changes of the whole database wait for requests; `None` if there are no such changes.
    pub(super) gate: Option<RequestGate>,
    /// Locked during each step of a builder of an index.
    pub(super) index_steps: tokio::sync::Mutex<()>,
}

/// The number of locks for conditional updates.
const CAS_TURNS: usize = 64;

impl Database {
    /// Returns a database that has not yet read its schema from the store; see `StoredSchema::load`.
    pub fn new(parts: DatabaseParts) -> Database {
        Database {
            catalog: ArcSwap::new(parts.catalog.clone()),
            events: SchemaEvents::default(),
            version: SchemaVersion::default(),
            ids: FamilyIds::default(),
            traces: Traces::default(),
            shared: SharedSchema::default(),
            changing: Arc::default(),
            building: RwLock::default(),
            roles: Arc::default(),
            login_guard: Arc::default(),
            cas_turns: (0..CAS_TURNS).map(|_| tokio::sync::Mutex::default()).collect(),
            cas_hasher: RandomState::new(),
            faults: None,
            request_log: Arc::default(),
            activity: Arc::default(),
            metrics: Arc::default(),
            gate: None,
            index_steps: tokio::sync::Mutex::default(),
            parts,
        }
    }

    /// Returns the same database with faults and a journal. Its store must be one in memory.
    #[must_use]
    pub fn with_faults(self) -> Database {
        let store = Arc::new(WatchedStore::new(self.parts.store.clone()));
        let parts = DatabaseParts { store, ..self.parts };
        Database { parts, faults: Some(Arc::default()), ..self }
    }

    /// Returns faults and the journal; `None` if tests do not control the server.
    pub fn faults(&self) -> Option<&Arc<Faults>> {
        self.faults.as_ref()
    }

    /// Returns the same database with another guard of logins.
    #[must_use]
    pub fn with_login_guard(self, guard: LoginGuard) -> Database {
        Database { login_guard: Arc::new(guard), ..self }
    }

    /// Returns the same database with another log of requests.
    #[must_use]
    pub fn with_request_log(self, log: RequestLogSwitch) -> Database {
        Database { request_log: Arc::new(log), ..self }
    }

    /// Returns whether some requests are watched: for rules of faults, the journal, the log of requests or its followers.
    #[inline]
    pub(super) fn has_watched_requests(&self) -> bool {
        self.faults.is_some() || self.request_log.is_on()
    }

    /// Returns the log of requests.
    pub fn request_log(&self) -> &Arc<RequestLogSwitch> {
        &self.request_log
    }

    /// Returns the slow requests and errors.
    pub fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// Returns a database with the same schema over another store.
    pub fn with_store(&self, store: Arc<dyn Store>) -> Database {
        let parts = DatabaseParts { store, catalog: self.catalog.load_full(), ..self.parts.clone() };
        let (roles, login_guard) = (self.roles.clone(), self.login_guard.clone());
        let database = Database { roles, login_guard, ..Database::new(parts) };
        database.building.write().clone_from(&self.building.read());
        database
    }

    /// Returns a database with another schema and another store, whose requests are watched and logged with those of this
    /// one.
    pub fn view(&self, catalog: Arc<Catalog>, store: Arc<dyn Store>) -> Database {
        let view = self.with_store(store);
        view.catalog.store(catalog);
        Database { faults: self.faults.clone(), request_log: self.request_log.clone(), ..view }
    }

    /// Returns the current schema.
    pub fn catalog(&self) -> CatalogNow {
        self.catalog.load()
    }

    /// The types that a schema may use.
    pub fn types(&self) -> &Types {
        &self.parts.types
    }

    /// Returns the partitioner, which computes the tokens of row keys.
    pub fn partitioner(&self) -> &PartitionerRef {
        &self.parts.partitioner
    }

    /// Returns the clock of timestamps and expiry.
    pub fn clock(&self) -> &Clock {
        &self.parts.clock
    }

    /// Returns the name of the cluster that clients see.
    pub fn cluster_name(&self) -> &str {
        &self.parts.cluster_name
    }

    /// Returns the node's token and its address.
    pub fn token_and_endpoint(&self) -> (String, String) {
        (self.parts.token.clone(), self.parts.endpoint.clone())
    }

    /// Returns the most recently traced requests.
    pub fn traces(&self) -> &Traces {
        &self.traces
    }

    /// Returns the current time in microseconds; never the same value twice.
    pub fn next_micros(&self) -> i64 {
        self.parts.clock.next_micros()
    }

    /// Returns the current time in seconds, which decides whether cells have expired.
    pub fn now_s(&self) -> i32 {
        self.parts.clock.now_s()
    }

    /// Returns the store of all rows and metadata records.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.parts.store
    }

    /// Returns the interface of the cluster that runs statements itself, if the store is a cluster; other stores run
    /// statements on cells.
    pub fn remote_cql(&self) -> Option<&dyn RemoteCql> {
        self.parts.store.capabilities().cql
    }

    /// Returns a version 1 UUID of the current time.
    pub fn new_time_uuid(&self) -> [u8; 16] {
        // The node identifier does not matter, because the clock never returns the same time twice.
        let micros = u64::try_from(self.parts.clock.next_micros()).unwrap_or_default();
        let moment =
            uuid::Timestamp::from_unix_time(micros / 1_000_000, (micros % 1_000_000) as u32 * 1000, 0, 0);
        *uuid::Uuid::new_v1(moment, &[1, 0, 0, 0, 0, 1]).as_bytes()
    }

    /// Returns the counts of this database.
    pub fn metrics(&self) -> &DatabaseMetrics {
        &self.metrics
    }

    /// Returns the number of indexes that are being built.
    pub fn index_builds(&self) -> usize {
        self.building.read().len()
    }

    /// Returns a receiver of all changes of the schema from now on, by all clients and in all languages. The changes of
    /// one statement or call arrive together.
    pub fn schema_events(&self) -> broadcast::Receiver<Arc<[SchemaChange]>> {
        self.events.subscribe()
    }

    /// Returns the schema version: a UUID that changes whenever the schema changes.
    pub fn schema_version(&self) -> String {
        let catalog = Arc::clone(&self.catalog());
        let bytes = self.version.of(&catalog).to_be_bytes();
        uuid::Builder::from_md5_bytes(bytes).into_uuid().to_string()
    }

    /// Begins to watch a request; `None` if nothing needs to know it.
    #[inline]
    pub fn watch(&self, origin: RequestOrigin) -> Option<Arc<WatchedRequest>> {
        if !self.has_watched_requests() {
            return None;
        }
        WatchedRequest::begin(self.faults(), self.request_log(), origin)
    }

    /// Returns the command that reads one row as of the current time.
    pub(super) fn command(
        &self,
        cf: &Arc<CfDef>,
        super_column: Option<Bytes>,
        predicate: Predicate,
        behaviour: &'static Behaviour,
    ) -> ReadCommand {
        let now_s = self.now_s();
        ReadCommand {
            // Tombstones of the column family up to this second are purged.
            gc_before: now_s.saturating_sub(cf.gc_grace_s),
            now_s,
            cf: cf.clone(),
            super_column,
            predicate,
            behaviour,
            with_tombstones: false,
        }
    }
}
