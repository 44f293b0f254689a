//! Opens the sides of a copy.

use std::path::Path;
use std::sync::Arc;

use super::place::Place;
use super::side::Side;
use super::thrift_pages::ThriftPages;
use super::{CopyError, ThriftPlace, thrift_schema};
use base::compat::features::ConsistencyLevel;
use base::marshal::Types;
use base::partitioner;
use base::partitioner::PartitionerRef;
use base::schema::Catalog;
use base::util::Clock;
use cluster::{ClusterLink, ClusterOptions};
use config::Config;
use db::{Database, DatabaseParts};
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode, check_not_foreign, check_parents};
use store::{Store, StoreError};

/// The consistency level of all reads and writes.
pub const CONSISTENCY: ConsistencyLevel = ConsistencyLevel::Quorum;

/// Cache of a data directory, in bytes.
const CACHE_BYTES: u64 = 128 * 1024 * 1024;

/// The options to open sides with.
pub struct OpenOptions<'a> {
    /// The column families that a configuration file defines, and the partitioner of a data directory.
    pub config: &'a Config,
    pub types: &'a Types,
    pub clock: Arc<Clock>,
    /// The connection to the cluster, if a side is one.
    pub cluster: Option<&'a ClusterOptions>,
    /// The keyspace to copy, if only one. A login of 0.6 needs it.
    pub keyspace: Option<&'a str>,
    /// Whether to create a missing data directory.
    pub creates: bool,
}

/// Opens one side.
pub async fn open(place: &Place, options: &OpenOptions<'_>) -> Result<Side, CopyError> {
    let name = place.to_string();
    let failed = |why: String| CopyError::Side { side: name.clone(), why };
    match place {
        Place::Data(directory) => {
            let store = open_data(directory, options).map_err(failed)?;
            over(name.clone(), store, options.config.partitioner.clone(), options).await
        }
        Place::Thrift(thrift) => open_thrift(name.clone(), thrift, options).await,
        Place::Cluster(_) => open_cluster(options).await,
        Place::Sstables(_) => Err(failed("SSTables are only a target of copy; import reads them".to_owned())),
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

/// Returns a side of a store, with the schema that clients have created in it.
async fn over(
    name: String,
    store: Arc<dyn Store>,
    partitioner: PartitionerRef,
    options: &OpenOptions<'_>,
) -> Result<Side, CopyError> {
    let catalog: Arc<Catalog> = Arc::new(options.config.catalog.clone());
    let parts = DatabaseParts {
        types: options.types.clone(),
        ..DatabaseParts::new(catalog, store, partitioner, options.clock.clone())
    };
    let database = Arc::new(Database::new(parts));
    let side = Side::of_database(&name, database.clone(), options.clock.clone());
    let loaded = database.stored_schema().load().await;
    loaded.map_err(|error| {
        CopyError::of(&side, format!("cannot read the schema that clients created: {error}"))
    })?;
    Ok(side)
}

/// Opens a cluster, with its own partitioner. If the other side has another one, rows come in another order.
async fn open_cluster(options: &OpenOptions<'_>) -> Result<Side, CopyError> {
    let Some(cluster) = options.cluster else {
        return Err(CopyError::Schema("no cluster is configured".to_owned()));
    };
    let name = format!("cluster:{}", cluster.contact_points.join(","));
    let failed = |error: StoreError| CopyError::Side { side: name.clone(), why: error.to_string() };
    let link = ClusterLink::open(cluster).await.map_err(failed)?;
    let class = link.partitioner_class().await.map_err(failed)?;
    let unknown = || failed(StoreError::Mismatch(format!("its partitioner {class} is not supported")));
    let partitioner = partitioner::resolve(&class).ok_or_else(unknown)?;
    let store = link.into_store(cluster, partitioner.clone(), options.clock.clone()).await;
    over(name.clone(), store.map_err(failed)?, partitioner, options).await
}

async fn open_thrift(
    name: String,
    place: &ThriftPlace,
    options: &OpenOptions<'_>,
) -> Result<Side, CopyError> {
    let failed = |why: String| CopyError::Side { side: name.clone(), why };
    let pages = ThriftPages::new(place.clone(), options.clock.clone()).map_err(failed)?;
    let described =
        thrift_schema::keyspaces(&pages, options.types, options.keyspace).await.map_err(failed)?;
    // With an unknown partitioner the progress bar shows no position.
    let partitioner = thrift_schema::partitioner(&pages).await.map_err(failed)?;
    Ok(Side { name: name.clone(), pages: Arc::new(pages), database: None, described, partitioner })
}
