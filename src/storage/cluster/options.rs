//! How to reach a cluster.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::util::Password;

/// Where a cluster is, and how it is spoken to.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// Nodes to ask first, as `host` or `host:port`; the others are found through them.
    pub contact_points: Vec<String>,
    /// The data centre whose nodes are preferred, and which LOCAL_ consistency levels mean.
    pub local_data_center: Option<String>,
    /// The cluster's own user and password, for all clients of this gateway.
    pub credentials: Option<(String, Password)>,
    pub tls: Option<ClusterTls>,
    /// What every keyspace that is made here is replicated by, instead of what the schema says.
    pub replication: Option<BTreeMap<String, String>>,
    /// How long a request may take before the client is told that it has timed out.
    pub request_timeout: Duration,
    /// Requests that are with the cluster at one time. More wait, as many again; what comes then is refused.
    pub requests_max: usize,
}

impl ClusterOptions {
    /// The port of the native protocol where none is said.
    pub const PORT: u16 = 9042;
    pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
    pub const REQUESTS_MAX: usize = 2048;

    /// A cluster without a password and TLS.
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

/// Who the cluster's nodes must be, and who we are to them.
#[derive(Debug, Clone, Default)]
pub struct ClusterTls {
    /// PEM file of the authorities that sign the nodes' certificates; `None`: their certificates are not looked at.
    pub authorities: Option<PathBuf>,
    /// PEM files of our own certificate and its key, where nodes ask for one.
    pub certificate: Option<(PathBuf, PathBuf)>,
}
