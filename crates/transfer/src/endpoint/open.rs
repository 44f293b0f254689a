//! Opens the sides of a copy.

use std::path::Path;
use std::sync::Arc;

use super::server_tables::{ServerTables, server_tables};
use super::{Endpoint, Location, ThriftAddress};
use crate::TransferError;
use crate::thrift;
use crate::thrift::{ThriftPages, ThriftServer};
use base::marshal::Types;
use base::partitioner;
use base::partitioner::PartitionerRef;
use base::schema::Catalog;
use base::util::Clock;
use base::util::output::report_line;
use cluster::{ClusterLink, ClusterOptions};
use config::Config;
use db::{Database, DatabaseParts};
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode, check_not_foreign, check_parents};
use store::{Store, StoreError};

/// Cache of a data directory, in bytes.
const CACHE_BYTES: u64 = 128 * 1024 * 1024;

/// The options to open sides with.
pub struct OpenOptions<'a> {
    /// The column families that a configuration file defines, and the partitioner of a data directory.
    pub config: &'a Config,
    /// The comparators that names of types may mean, with the application's own.
    pub types: &'a Types,
    /// The clock of the stores that are opened.
    pub clock: Arc<Clock>,
    /// The connection to the cluster, if an endpoint is one.
    pub cluster: Option<&'a ClusterOptions>,
    /// The keyspace to copy, if only one. A login of 0.6 needs it.
    pub keyspace: Option<&'a str>,
    /// Whether the side is a target that is written: a missing data directory is created.
    pub creates: bool,
}

/// Opens one endpoint.
pub async fn open(place: &Location, options: &OpenOptions<'_>) -> Result<Endpoint, TransferError> {
    let name = place.to_string();
    let failed = |why: String| TransferError::Endpoint { endpoint: name.clone(), why };
    match place {
        Location::Data(directory) => {
            let store = open_data(directory, options).map_err(failed)?;
            over(name.clone(), store, options.config.partitioner.clone(), options).await
        }
        Location::Thrift(address) => open_thrift(name.clone(), address, options).await,
        Location::Cluster(_) => open_cluster(options).await,
        Location::Native(_) => Err(failed(
            "a server of the native protocol is only a source of export: export --format json, and import --from json:DIR"
                .to_owned(),
        )),
        Location::Sstables(_) => {
            Err(failed("SSTables are only a target of copy; import reads them".to_owned()))
        }
    }
}

fn open_data(directory: &Path, options: &OpenOptions<'_>) -> Result<Arc<dyn Store>, String> {
    if !options.creates && !directory.is_dir() {
        return Err("the directory does not exist".to_owned());
    }
    let embedded = EmbeddedOptions {
        directory: directory.to_path_buf(),
        // Writes that the progress file records must be on disk.
        sync: SyncMode::Batch,
        cache_bytes: CACHE_BYTES,
    };
    check_parents(directory).and_then(|()| check_not_foreign(directory)).map_err(|why| why.to_string())?;
    let (partitioner, clock) = (options.config.partitioner.clone(), options.clock.clone());
    let store = EmbeddedStore::open(embedded, partitioner, &options.config.catalog, clock);
    Ok(Arc::new(store.map_err(|error| format!("cannot open the data directory: {error}"))?))
}

/// Returns an endpoint of a store, with the schema that clients have created in it.
async fn over(
    name: String,
    store: Arc<dyn Store>,
    partitioner: PartitionerRef,
    options: &OpenOptions<'_>,
) -> Result<Endpoint, TransferError> {
    let catalog: Arc<Catalog> = Arc::new(options.config.catalog.clone());
    let parts = DatabaseParts {
        types: options.types.clone(),
        ..DatabaseParts::new(catalog, store, partitioner, options.clock.clone())
    };
    let database = Arc::new(Database::new(parts));
    let side = Endpoint::of_database(&name, database.clone(), options.clock.clone());
    let loaded = database.stored_schema().load().await;
    loaded.map_err(|error| {
        TransferError::of(&side, format!("cannot read the schema that clients created: {error}"))
    })?;
    Ok(side)
}

/// Opens a cluster, with its own partitioner. If the other endpoint has another one, rows come in another order.
async fn open_cluster(options: &OpenOptions<'_>) -> Result<Endpoint, TransferError> {
    let Some(cluster) = options.cluster else {
        return Err(TransferError::Schema("no cluster is configured".to_owned()));
    };
    let name = format!("cluster:{}", cluster.contact_points.join(","));
    let failed =
        |error: StoreError| TransferError::Endpoint { endpoint: name.clone(), why: error.to_string() };
    let link = ClusterLink::open(cluster).await.map_err(failed)?;
    let class = link.partitioner_class().await.map_err(failed)?;
    if options.creates && link.is_thriftstore().await.map_err(failed)? {
        let why = "it is a thriftstore, where this would create CQL tables, whose columns Thrift clients see under composite \
                   names; copy to thrift:HOST:PORT, which creates column families";
        return Err(TransferError::Schema(format!("{name}: {why}")));
    }
    let Some(partitioner) = partitioner::resolve(&class) else {
        return Err(failed(StoreError::Mismatch(format!("its partitioner {class} is not supported"))));
    };
    let store = link.into_store(cluster, partitioner.clone(), options.clock.clone()).await;
    over(name.clone(), store.map_err(failed)?, partitioner, options).await
}

async fn open_thrift(
    name: String,
    place: &ThriftAddress,
    options: &OpenOptions<'_>,
) -> Result<Endpoint, TransferError> {
    let failed = |why: String| TransferError::Endpoint { endpoint: name.clone(), why };
    let pages = ThriftPages::new(place.clone(), options.clock.clone()).map_err(failed)?;
    let pages = Arc::new(pages);
    let server = ThriftServer::open(pages.clone(), options.types.clone(), options.keyspace).await;
    let thrift = Some(Arc::new(server.map_err(failed)?));
    // With an unknown partitioner the progress bar shows no position.
    let partitioner = thrift::partitioner(&pages).await.map_err(failed)?;
    let endpoint = Endpoint { name, pages, database: None, thrift: thrift.clone(), partitioner };
    if let Some(server) = thrift.filter(|server| !server.pages.address.is_keyed) {
        let place = Arc::new(endpoint.clone());
        let ServerTables { tables, left_out } =
            server_tables(&place, &server.pages, &server.keyspaces(), options.types).await?;
        server.add_tables(tables.into_iter().map(|table| (table.cf, table.statements)));
        for (place, why) in left_out {
            report_line!("{}: the table {place} of CQL is left out: {why}", endpoint.name);
        }
    }
    Ok(endpoint)
}
