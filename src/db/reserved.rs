//! Keyspaces that no client changes.

use super::describe::SYSTEM_KEYSPACE;
use crate::storage::RemoteStore;

/// Keyspaces of the server's own beside `system`.
const OWN: [&str; 4] = ["system_schema", "system_traces", "system_auth", "system_virtual_schema"];

/// What the names of a cluster's own keyspaces begin with, those of Cassandra and of ScyllaDB of any release.
const OF_A_CLUSTER: &str = "system_";

/// Whether a keyspace is the server's own, or the cluster's where the store is one. Case does not count.
pub fn is_reserved(remote: Option<&dyn RemoteStore>, keyspace: &str) -> bool {
    let name = keyspace.to_ascii_lowercase();
    let is_clusters = |remote: &dyn RemoteStore| {
        name.starts_with(OF_A_CLUSTER)
            || remote.cql().is_some_and(|cql| cql.own_keyspace().eq_ignore_ascii_case(&name))
    };
    name == SYSTEM_KEYSPACE || OWN.contains(&name.as_str()) || remote.is_some_and(is_clusters)
}
