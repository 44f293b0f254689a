//! Helpers for tests on a ring: its address, and stores on it.
#![allow(dead_code, reason = "every test binary uses its own part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "../schema_calls.rs"]
mod schema_calls;

use std::sync::Arc;

use base::partitioner;
use base::schema::{Catalog, CfDef, KeyspaceDef};
use base::util::Clock;
use cluster::{ClusterLink, ClusterOptions, ClusterStore};
#[allow(unused_imports, reason = "every test binary uses its own part of it")]
pub use schema_calls::SchemaCalls;
use store::Store;

/// Returns the addresses of the nodes of the ring that `tests/cluster/run` has started.
pub fn ring() -> Vec<String> {
    let nodes =
        std::env::var("THRIFTSTORE_RING").expect("THRIFTSTORE_RING is not set: run tests/cluster/run");
    nodes.split(',').map(str::to_owned).collect()
}

pub fn options() -> ClusterOptions {
    ClusterOptions::new(ring())
}

/// Returns a runtime like the server's, in which the driver's tasks run between requests.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Opens a store on the ring that has read the metadata records there, so it may change tables.
pub async fn store(options: &ClusterOptions) -> ClusterStore {
    let link = ClusterLink::open(options).await.unwrap();
    let class = link.partitioner_class().await.unwrap();
    let partitioner = partitioner::resolve(&class).unwrap();
    let store = ClusterStore::open(link, options, partitioner, Arc::new(Clock::system())).await.unwrap();
    store.records().await.unwrap();
    store
}

/// Drops every keyspace that is not a system keyspace, including the metadata records of gateways. Only for a ring that
/// nothing else uses.
pub async fn empty() {
    let link = ClusterLink::open(&options()).await.unwrap();
    for name in texts(&link, "SELECT keyspace_name FROM system_schema.keyspaces").await {
        if !name.starts_with("system") {
            link.session.query_unpaged(format!("DROP KEYSPACE \"{name}\""), ()).await.unwrap();
        }
    }
}

/// Runs a statement on the ring, without a store.
pub async fn cql(text: &str) {
    let link = ClusterLink::open(&options()).await.unwrap();
    link.session.query_unpaged(text, ()).await.unwrap();
}

/// Returns the sorted names of a keyspace's tables on the ring.
pub async fn tables(keyspace: &str) -> Vec<String> {
    let link = ClusterLink::open(&options()).await.unwrap();
    let text = format!("SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{keyspace}'");
    let mut names = texts(&link, &text).await;
    names.sort();
    names
}

/// Returns the result of a query that selects one text.
async fn texts(link: &ClusterLink, query: &str) -> Vec<String> {
    let found = link.session.query_unpaged(query, ()).await.unwrap().into_rows_result().unwrap();
    found.rows::<(String,)>().unwrap().map(|row| row.unwrap().0).collect()
}

/// Returns a name that no other run uses.
pub fn own_name(what: &str) -> String {
    format!("{what}_{}", std::process::id())
}

/// Returns a catalog of one keyspace with three replicas.
pub fn catalog(keyspace: &str, families: impl IntoIterator<Item = CfDef>) -> Arc<Catalog> {
    let mut def = KeyspaceDef { replication_factor: 3, ..KeyspaceDef::new(keyspace) };
    for cf in families {
        def.column_families.insert(cf.name.clone(), Arc::new(cf));
    }
    let mut catalog = Catalog::default();
    catalog.keyspaces.insert(keyspace.to_owned(), def);
    Arc::new(catalog)
}
