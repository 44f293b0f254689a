//! The database: one schema, one store, one partitioner.

use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use parking_lot::RwLock;

use super::index::Unfinished;
use super::login::{Authenticator, LoginGuard, RoleKeeper};
use super::schema::{FamilyIds, SchemaEvents, SchemaVersion, SharedSchema};
use super::traces::Traces;
use crate::compat::Behaviour;
use crate::marshal::Types;
use crate::model::{Predicate, ReadCommand};
use crate::partitioner::PartitionerRef;
use crate::schema::{Catalog, CfDef};
use crate::storage::{RemoteCql, Store};
use crate::util::Clock;

/// A schema that stays as it is while this is held.
pub type CatalogNow = arc_swap::Guard<Arc<Catalog>>;

/// What a database is made of.
#[derive(Clone)]
pub struct DatabaseParts {
    pub catalog: Arc<Catalog>,
    pub store: Arc<dyn Store>,
    pub partitioner: PartitionerRef,
    pub authenticator: Authenticator,
    pub clock: Arc<Clock>,
    /// The types that a schema may name.
    pub types: Types,
    pub cluster_name: String,
    /// The configuration file's text, which clients of the era could ask for.
    pub config_text: String,
    /// The node's token and address, as describe_ring shows them.
    pub token: String,
    pub endpoint: String,
}

impl DatabaseParts {
    /// A node that is called as Cassandra calls one that nobody has configured, and that is open to everybody.
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
    /// Held while the schema changes.
    pub(super) changing: Arc<tokio::sync::Mutex<()>>,
    /// Indexes that are not complete yet, by their notes' names.
    pub(super) building: RwLock<HashMap<String, Unfinished>>,
    /// Who may log in and what they may do, where that is kept in the store.
    pub(super) roles: Arc<RoleKeeper>,
    /// Refuses logins after too many that failed.
    pub(super) login_guard: Arc<LoginGuard>,
    /// Conditional updates of one row take turns; rows share these by their hash.
    pub(super) cas_turns: Vec<tokio::sync::Mutex<()>>,
    pub(super) cas_hasher: RandomState,
}

/// Turns of conditional updates.
const CAS_TURNS: usize = 64;

impl Database {
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
            parts,
        }
    }

    /// The same schema over another store.
    pub fn with_store(&self, store: Arc<dyn Store>) -> Database {
        let parts = DatabaseParts { store, catalog: self.catalog.load_full(), ..self.parts.clone() };
        let (roles, login_guard) = (self.roles.clone(), self.login_guard.clone());
        let database = Database { roles, login_guard, ..Database::new(parts) };
        database.building.write().clone_from(&self.building.read());
        database
    }

    /// The schema as it is now.
    pub fn catalog(&self) -> CatalogNow {
        self.catalog.load()
    }

    /// The types that a schema may name.
    pub fn types(&self) -> &Types {
        &self.parts.types
    }

    /// What gives row keys their tokens.
    pub fn partitioner(&self) -> &PartitionerRef {
        &self.parts.partitioner
    }

    pub fn clock(&self) -> &Clock {
        &self.parts.clock
    }

    pub fn cluster_name(&self) -> &str {
        &self.parts.cluster_name
    }

    /// The node's token, and its address.
    pub fn token_and_endpoint(&self) -> (String, String) {
        (self.parts.token.clone(), self.parts.endpoint.clone())
    }

    /// The requests that were traced last.
    pub fn traces(&self) -> &Traces {
        &self.traces
    }

    /// A timestamp of now, in microseconds; never the same twice.
    pub fn next_micros(&self) -> i64 {
        self.parts.clock.next_micros()
    }

    /// The second of now, by which cells expire.
    pub fn now_s(&self) -> i32 {
        self.parts.clock.now_s()
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.parts.store
    }

    /// Where statements go instead of being run on cells: to the cluster that the store is.
    pub fn remote_cql(&self) -> Option<&dyn RemoteCql> {
        self.parts.store.capabilities().cql
    }

    /// A version-1 UUID of now.
    pub fn new_time_uuid(&self) -> [u8; 16] {
        // The node's number is of no importance, and the clock never gives one moment twice.
        let micros = u64::try_from(self.parts.clock.next_micros()).unwrap_or_default();
        let moment =
            uuid::Timestamp::from_unix_time(micros / 1_000_000, (micros % 1_000_000) as u32 * 1000, 0, 0);
        *uuid::Uuid::new_v1(moment, &[1, 0, 0, 0, 0, 1]).as_bytes()
    }

    /// A read of one row, as of now.
    pub(super) fn command(
        &self,
        cf: &Arc<CfDef>,
        super_column: Option<Bytes>,
        predicate: Predicate,
        behaviour: &'static Behaviour,
    ) -> ReadCommand {
        let now_s = self.now_s();
        ReadCommand {
            // The second up to which tombstones of the column family are forgotten.
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
