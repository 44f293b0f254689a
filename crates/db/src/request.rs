//! The context of a call or statement. It is created once, where the call or statement enters the database.

use std::sync::Arc;

use bytes::Bytes;

use super::database::CatalogNow;
use super::validate::Validation;
use super::{Database, Error, faults};
use crate::Result;
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Predicate, ReadCommand};
use base::schema::CfDef;
use base::util::log_keyspace;
use store::Store;

/// The keyspace, consistency level and release of a call or statement, and the schema as of its start.
///
/// A change of the schema waits for the requests that still use the previous schema. A task that waits for such a
/// change must therefore not hold a request.
pub struct Request<'a> {
    pub(super) database: &'a Database,
    pub(super) keyspace: &'a [u8],
    pub(super) consistency: ConsistencyLevel,
    pub(super) behaviour: &'static Behaviour,
    pub(super) catalog: CatalogNow,
    /// Whether an index that was just created is used although it is empty, as is recorded of the old servers for CQL
    /// over Thrift.
    pub sees_new_indexes: bool,
}

impl Database {
    /// Begins a request with the current schema, and records its keyspace and consistency level for the request log.
    pub fn request<'a>(
        &'a self,
        keyspace: &'a [u8],
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Request<'a> {
        log_keyspace(keyspace, consistency);
        if self.has_watched_requests() {
            faults::note_request(keyspace, consistency);
        }
        let catalog = self.catalog();
        Request { database: self, keyspace, consistency, behaviour, catalog, sees_new_indexes: false }
    }
}

impl Request<'_> {
    pub(super) fn store(&self) -> &dyn Store {
        &**self.database.store()
    }

    /// Returns the release's checks against the request's schema.
    pub(super) fn validation(&self) -> Validation<'_> {
        Validation::new(self.database.clock(), &self.catalog, self.behaviour)
    }

    /// Returns the command that reads one row as of the current time.
    pub(super) fn command(
        &self,
        cf: &Arc<CfDef>,
        super_column: Option<Bytes>,
        predicate: Predicate,
    ) -> ReadCommand {
        self.database.command(cf, super_column, predicate, self.behaviour)
    }

    /// Checks that one node is enough for a read at the request's consistency level.
    pub(super) fn check_replicas_to_read(&self) -> Result<()> {
        self.check_replicas(self.consistency, false)
    }

    /// Checks whether this one node satisfies the consistency level. If a keyspace requires more replicas than there
    /// are nodes, the request fails as in a cluster whose other nodes are down. A cluster that serves as the store
    /// does this check itself.
    pub(super) fn check_replicas(&self, consistency: ConsistencyLevel, is_write: bool) -> Result<()> {
        if self.store().capabilities().checks_consistency {
            return Ok(());
        }
        let replicas = self.catalog.keyspace(self.keyspace).map_or(1, |keyspace| keyspace.replication_factor);
        let required = match consistency {
            _ if replicas < 1 => 1,
            // These levels specify a number of nodes, not of replicas.
            ConsistencyLevel::Two | ConsistencyLevel::Three => consistency.required(replicas),
            _ if is_write && self.behaviour.writes.writes_ignore_missing_replicas => 1,
            consistency => consistency.required(replicas),
        };
        if required <= 1 && replicas >= 1 {
            return Ok(());
        }
        let why = format!(
            "Cannot achieve consistency level {consistency}: it needs {required} of {replicas} replicas, and this is the \
             only node"
        );
        Err(Error::Unavailable { why, required, alive: replicas.clamp(0, 1) })
    }
}
