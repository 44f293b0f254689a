//! The keyspaces that other servers create for themselves. `db::reserved` has the keyspaces of this server.

/// Up to 1.1 there is only `system`. 1.2 adds `system_auth` and `system_traces`, 2.2 `system_distributed`, 3.0
/// `system_schema`, 4.0 the two of virtual tables, 5.1 `system_cluster_metadata`. DataStax Enterprise and ScyllaDB have
/// the rest.
const NAMES: [&str; 11] = [
    "system",
    "system_auth",
    "system_traces",
    "system_distributed",
    "system_schema",
    "system_views",
    "system_virtual_schema",
    "system_cluster_metadata",
    "dse_system",
    "system_distributed_everywhere",
    "system_replicated_keys",
];

/// Returns whether a server creates this keyspace for itself. Users have keyspaces like `system_of_record`, so the
/// beginning of a name is not enough.
pub fn is_system_keyspace(name: &str) -> bool {
    NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyspaces_of_users_are_not_of_the_server() {
        assert!(is_system_keyspace("system") && is_system_keyspace("system_distributed"));
        for name in ["System", "system_of_record", "systems", "Keyspace1", ""] {
            assert!(!is_system_keyspace(name), "{name}");
        }
    }
}
