//! One of the two open stores of a copy.

use std::sync::Arc;

use super::pages::Pages;
use super::store_pages::StorePages;
use crate::TransferError;
use crate::thrift::ThriftServer;
use base::compat::features::ConsistencyLevel;
use base::marshal::Types;
use base::partitioner::PartitionerRef;
use base::schema::{Catalog, CfDef, KeyspaceDef};
use base::util::Clock;
use db::{Database, DatabaseParts};
use embedded::EmbeddedStore;

/// The consistency level of all reads and writes.
pub(super) const CONSISTENCY: ConsistencyLevel = ConsistencyLevel::Quorum;

/// A store to copy from or to.
#[derive(Clone)]
pub struct Endpoint {
    /// The name, the same in every run.
    pub name: String,
    /// Reads the live cells.
    pub pages: Arc<dyn Pages>,
    /// The database of a store; `None` for a Thrift server.
    pub database: Option<Arc<Database>>,
    /// The Thrift server, if the endpoint is one.
    pub(crate) thrift: Option<Arc<ThriftServer>>,
    /// The order of the rows, if it is known.
    pub partitioner: Option<PartitionerRef>,
}

impl Endpoint {
    /// Returns the endpoint of a database that is open.
    pub fn of_database(name: &str, database: Arc<Database>, clock: Arc<Clock>) -> Endpoint {
        let pages = Arc::new(StorePages::new(database.store().clone(), clock, CONSISTENCY));
        let partitioner = Some(database.partitioner().clone());
        Endpoint { name: name.to_owned(), pages, database: Some(database), thrift: None, partitioner }
    }

    /// Returns the endpoint of an empty store in memory with definitions.
    ///
    /// # Errors
    ///
    /// If the store cannot be opened.
    pub fn in_memory(
        name: &str,
        catalog: Catalog,
        types: &Types,
        partitioner: PartitionerRef,
        clock: &Arc<Clock>,
    ) -> Result<Endpoint, TransferError> {
        let store = EmbeddedStore::in_memory(partitioner.clone(), &catalog, clock.clone());
        let store = store.map_err(|error| TransferError::named(name, error))?;
        let parts = DatabaseParts::new(Arc::new(catalog), Arc::new(store), partitioner, clock.clone());
        let database = Arc::new(Database::new(DatabaseParts { types: types.clone(), ..parts }));
        Ok(Endpoint::of_database(name, database, clock.clone()))
    }

    /// Returns whether the endpoint supports dumps of all that is stored, including tombstones.
    pub fn can_dump(&self) -> bool {
        self.database.as_ref().is_some_and(|database| database.store().can_dump())
    }

    /// Returns the current keyspaces.
    pub fn keyspaces(&self) -> Vec<KeyspaceDef> {
        match (&self.database, &self.thrift) {
            (Some(database), _) => database.catalog().keyspaces.values().cloned().collect(),
            (None, Some(server)) => server.keyspaces(),
            (None, None) => Vec::new(),
        }
    }

    /// Returns the definition of a column family.
    pub fn column_family(&self, keyspace: &str, name: &str) -> Option<Arc<CfDef>> {
        match &self.database {
            Some(database) => database.catalog().column_family(keyspace, name).cloned(),
            None => self.thrift.as_ref()?.column_family(keyspace, name),
        }
    }

    /// Returns the database of an endpoint that is not a Thrift server.
    pub fn writable(&self) -> Result<&Arc<Database>, TransferError> {
        self.database.as_ref().ok_or_else(|| {
            TransferError::of(self, "it is a Thrift server: use its data directory or cluster")
        })
    }

    /// Returns whether the rows of both endpoints are in the same order.
    pub fn is_in_order_of(&self, other: &Endpoint) -> bool {
        match (&self.partitioner, &other.partitioner) {
            (Some(one), Some(other)) => one.class_name() == other.class_name(),
            _ => false,
        }
    }

    /// Makes all writes durable.
    pub async fn close(&self) -> Result<(), TransferError> {
        let Some(database) = &self.database else { return Ok(()) };
        database.store().close().await.map_err(|error| TransferError::of(self, error))
    }
}
