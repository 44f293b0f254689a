//! Keyspaces that no client changes.

use crate::storage::Capabilities;

/// The keyspace that the old servers kept their own notes in.
pub(super) const SYSTEM_KEYSPACE: &str = "system";

/// Its column families, as 0.6 has them.
pub(super) const SYSTEM_FAMILIES: [&str; 2] = ["LocationInfo", "HintsColumnFamily"];

/// The keyspace in which 1.2 and later store traces.
pub(super) const TRACES_KEYSPACE: &str = "system_traces";

/// Keyspaces of the server's own beside `system`.
const OWN: [&str; 4] = ["system_schema", TRACES_KEYSPACE, "system_auth", "system_virtual_schema"];

/// Whether a keyspace is the server's own, or the store's own. Case does not count.
pub fn is_reserved(store: Capabilities<'_>, keyspace: &str) -> bool {
    let name = keyspace.to_ascii_lowercase();
    let is_own = store.shared_schema.is_some_and(|schema| schema.is_own_keyspace(&name));
    name == SYSTEM_KEYSPACE || OWN.contains(&name.as_str()) || is_own
}
