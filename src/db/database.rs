//! The database: one schema, one store, one partitioner.

use std::sync::Arc;

use parking_lot::RwLock;

use super::Error;
use super::authenticate::{Authenticator, Credential};
use super::validate::Validation;
use crate::model::{Behaviour, ConsistencyLevel};
use crate::partitioner::PartitionerRef;
use crate::schema::Catalog;
use crate::storage::Store;
use crate::util::Clock;

/// What a database is made of.
pub struct DatabaseParts {
    pub catalog: Arc<Catalog>,
    pub store: Arc<dyn Store>,
    pub partitioner: PartitionerRef,
    pub authenticator: Authenticator,
    pub clock: Arc<Clock>,
    pub cluster_name: String,
    /// The configuration file's text, which clients of the era could ask for.
    pub config_text: String,
    /// The node's token and address, as describe_ring shows them.
    pub token: String,
    pub endpoint: String,
}

/// Answers requests; shared by all connections.
pub struct Database {
    pub(super) parts: DatabaseParts,
    catalog: RwLock<Arc<Catalog>>,
}

impl Database {
    pub fn new(parts: DatabaseParts) -> Database {
        Database { catalog: RwLock::new(parts.catalog.clone()), parts }
    }

    /// The schema as it is now.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.catalog.read().clone()
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.parts.store
    }

    /// Whether data calls are refused before a login.
    pub fn requires_login(&self) -> bool {
        self.parts.authenticator.requires_login()
    }

    /// Checks a login to a keyspace.
    pub fn login(&self, keyspace: &[u8], credentials: &[Credential]) -> Result<(), Error> {
        self.parts.authenticator.login(keyspace, credentials)
    }

    pub(super) fn validation<'a>(
        &self,
        catalog: &'a Catalog,
        behaviour: &'static Behaviour,
    ) -> Validation<'a> {
        Validation { catalog, behaviour }
    }

    /// The second up to which tombstones of a column family are forgotten.
    pub(super) fn gc_before(&self, gc_grace_s: i32) -> i32 {
        self.parts.clock.now_s().saturating_sub(gc_grace_s)
    }

    /// Whether this one node is enough. A keyspace that wants more replicas than there are nodes answers as
    /// one did whose other nodes were down.
    pub(super) fn check_replicas(
        &self,
        catalog: &Catalog,
        keyspace: &[u8],
        consistency: ConsistencyLevel,
        is_write: bool,
        behaviour: &Behaviour,
    ) -> Result<(), Error> {
        let name = std::str::from_utf8(keyspace).unwrap_or_default();
        let replicas = catalog.keyspace(name).map_or(1, |keyspace| keyspace.replication_factor);
        let required = match consistency {
            _ if replicas < 1 => 1,
            _ if is_write && behaviour.writes_ignore_missing_replicas => 1,
            consistency => consistency.required(replicas),
        };
        if required <= 1 && replicas >= 1 {
            return Ok(());
        }
        Err(Error::Unavailable(format!(
            "consistency level {consistency} needs {required} of {replicas} replicas, and this is the only node"
        )))
    }
}
