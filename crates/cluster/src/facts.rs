//! The facts that decide whether a cluster is fit for a gateway.

use std::collections::BTreeMap;

/// A release with a defect that requests of gateways meet: in Cassandra 5.0.5 a scan for keys fails if a range of a flushed
/// row was deleted (IllegalStateException in SSTableScanner).
pub const DEFECTIVE_VERSION: &str = "5.0.5";

/// A cluster as one node of it describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterFacts {
    /// The number of nodes of each release.
    pub releases: BTreeMap<String, usize>,
    /// Different versions of the schema that nodes have.
    pub schemas: usize,
    /// The Java class name of the partitioner.
    pub partitioner: String,
    /// Milliseconds by which the clock of the node is ahead of this machine's. The time of the answer's way is part of it.
    pub clock_ahead_ms: i64,
    /// Whether the keyspace of the gateways exists.
    pub has_own_keyspace: bool,
    /// Whether the gateway's user may create keyspaces; `None` if the cluster does not say.
    pub may_create: Option<bool>,
}
