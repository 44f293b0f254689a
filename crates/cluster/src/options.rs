//! The options with which a cluster is used.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use base::util::Password;

/// The addresses of a cluster, and how to connect to it.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// Nodes to connect to first, as `host` or `host:port`. The driver finds the others through them.
    pub contact_points: Vec<String>,
    /// The data centre whose nodes are used, also for LOCAL_ consistency levels.
    pub local_data_center: Option<String>,
    /// The user and the password of this gateway in the cluster. All clients of the gateway share them.
    pub credentials: Option<(String, Password)>,
    /// `None`: connections are not encrypted.
    pub tls: Option<ClusterTls>,
    /// Replication of every keyspace that this gateway creates, in place of that in the schema.
    pub replication: Option<BTreeMap<String, String>>,
    /// Time limit of a request to the cluster.
    pub request_timeout: Duration,
    /// Limit of concurrent requests to the cluster. As many more wait, and further ones are refused.
    pub requests_max: usize,
}

impl ClusterOptions {
    /// The default port of the native protocol.
    pub const PORT: u16 = 9042;
    /// The time limit of a request if the configuration has no RequestTimeoutInMillis.
    pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
    /// Requests at the cluster at the same time if the configuration has no MaxRequests.
    pub const REQUESTS_MAX: usize = 2048;

    /// Returns the options of a cluster without password and TLS.
    pub fn new(contact_points: Vec<String>) -> ClusterOptions {
        ClusterOptions {
            contact_points,
            local_data_center: None,
            credentials: None,
            tls: None,
            replication: None,
            request_timeout: ClusterOptions::REQUEST_TIMEOUT,
            requests_max: ClusterOptions::REQUESTS_MAX,
        }
    }
}

/// The certificates by which the cluster's nodes and this gateway authenticate to each other.
#[derive(Debug, Clone, Default)]
pub struct ClusterTls {
    /// PEM file of the authorities that sign the nodes' certificates. `None`: their certificates are not checked.
    pub authorities: Option<PathBuf>,
    /// PEM files of this gateway's certificate and its key, if nodes require one.
    pub certificate: Option<(PathBuf, PathBuf)>,
}
