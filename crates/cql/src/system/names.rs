//! The names of the system keyspaces.

/// The node, and the schema in the tables of releases before 3.0.
pub(crate) const SYSTEM: &str = "system";
/// The schema in the tables of 3.0 and later.
pub(crate) const SCHEMA: &str = "system_schema";
/// The traces of requests.
pub(crate) const TRACES: &str = "system_traces";
/// The virtual tables of 4.0.
pub(crate) const VIRTUAL: &str = "system_virtual_schema";

/// The roles. Its tables are empty if the server has no roles.
pub(crate) const AUTH: &str = "system_auth";

/// All of them.
pub(super) const KEYSPACES: [&str; 5] = [SYSTEM, SCHEMA, TRACES, AUTH, VIRTUAL];

/// Whether a keyspace is a system keyspace.
pub(crate) fn is_system(keyspace: &str) -> bool {
    KEYSPACES.contains(&keyspace)
}
