//! What the tests on a ring share: where it is, and stores on it.
#![allow(dead_code, reason = "every test binary uses its own part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::sync::Arc;

use thriftstore::partitioner;
use thriftstore::schema::{Catalog, CfDef, KeyspaceDef};
use thriftstore::storage::Store;
use thriftstore::storage::cluster::{ClusterLink, ClusterOptions, ClusterStore};
use thriftstore::util::Clock;

/// The nodes of the ring that `tests/cluster/run` has started.
pub fn ring() -> Vec<String> {
    let nodes =
        std::env::var("THRIFTSTORE_RING").expect("THRIFTSTORE_RING names the ring: run tests/cluster/run");
    nodes.split(',').map(str::to_owned).collect()
}

pub fn options() -> ClusterOptions {
    ClusterOptions::new(ring())
}

/// A runtime as the server has one: the driver's tasks go on between requests.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A store on the ring, which has read what gateways have noted there: it may change tables.
pub async fn store(options: &ClusterOptions) -> ClusterStore {
    let link = ClusterLink::open(options).await.unwrap();
    let class = link.partitioner_class().await.unwrap();
    let partitioner = partitioner::resolve(&class).unwrap();
    let store = ClusterStore::open(link, options, partitioner, Arc::new(Clock::system())).await.unwrap();
    store.notes().await.unwrap();
    store
}

/// Drops every keyspace that is not the cluster's own, with what gateways have noted: only for a ring that nobody else
/// uses.
pub async fn empty() {
    let link = ClusterLink::open(&options()).await.unwrap();
    for name in texts(&link, "SELECT keyspace_name FROM system_schema.keyspaces").await {
        if !name.starts_with("system") {
            link.session.query_unpaged(format!("DROP KEYSPACE \"{name}\""), ()).await.unwrap();
        }
    }
}

/// Runs a statement on the ring, past any store.
pub async fn cql(text: &str) {
    let link = ClusterLink::open(&options()).await.unwrap();
    link.session.query_unpaged(text, ()).await.unwrap();
}

/// The names of a keyspace's tables on the ring, sorted.
pub async fn tables(keyspace: &str) -> Vec<String> {
    let link = ClusterLink::open(&options()).await.unwrap();
    let text = format!("SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{keyspace}'");
    let mut names = texts(&link, &text).await;
    names.sort();
    names
}

/// What a query of one text finds.
async fn texts(link: &ClusterLink, query: &str) -> Vec<String> {
    let found = link.session.query_unpaged(query, ()).await.unwrap().into_rows_result().unwrap();
    found.rows::<(String,)>().unwrap().map(|row| row.unwrap().0).collect()
}

/// A name that no other run has.
pub fn own_name(what: &str) -> String {
    format!("{what}_{}", std::process::id())
}

/// A schema of one keyspace, kept three times.
pub fn catalog(keyspace: &str, families: impl IntoIterator<Item = CfDef>) -> Arc<Catalog> {
    let mut def = KeyspaceDef { replication_factor: 3, ..KeyspaceDef::new(keyspace) };
    for cf in families {
        def.column_families.insert(cf.name.clone(), Arc::new(cf));
    }
    let mut catalog = Catalog::default();
    catalog.keyspaces.insert(keyspace.to_owned(), def);
    Arc::new(catalog)
}
