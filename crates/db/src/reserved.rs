//! The reserved keyspaces, which clients cannot change.

use store::Capabilities;

/// The keyspace in which the old servers stored their own metadata.
pub(super) const SYSTEM_KEYSPACE: &str = "system";

/// The column families of `system` in 0.6.
pub(super) const SYSTEM_FAMILIES: [&str; 2] = ["LocationInfo", "HintsColumnFamily"];

/// The server's own keyspaces other than `system`.
const OWN: [&str; 4] = ["system_schema", "system_traces", "system_auth", "system_virtual_schema"];

/// Returns whether a keyspace belongs to the server or to the store. Case is ignored.
pub fn is_reserved(store: Capabilities<'_>, keyspace: &str) -> bool {
    let name = keyspace.to_ascii_lowercase();
    let is_own = store.shared_schema.is_some_and(|schema| schema.is_own_keyspace(&name));
    name == SYSTEM_KEYSPACE || OWN.contains(&name.as_str()) || is_own
}
