//! The configuration, complete and checked.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::partitioner::PartitionerRef;
use crate::schema::Catalog;
use crate::util::Release;

/// When a write counts as safe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CommitLogSync {
    /// Writes are answered at once; the log is synced every so many milliseconds.
    Periodic { period_ms: u64 },
    /// Writes are answered when they are synced; a sync waits so many milliseconds for others to join.
    Batch { window_ms: f64 },
}

/// Who may log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authenticator {
    /// Everybody, and nobody has to.
    AllowAll,
    /// Those in the password file.
    Simple,
    /// The roles that are kept in the store (`PasswordAuthenticator` of 1.2 and later).
    Password,
}

impl Authenticator {
    /// Short class names, in the order of the variants.
    pub const CLASSES: [&str; 3] = ["AllowAllAuthenticator", "SimpleAuthenticator", "PasswordAuthenticator"];

    /// The authenticator of a class name; 0.6 wants it in full, here the short one will do too.
    pub fn resolve(class_name: &str) -> Option<Authenticator> {
        match class_name.strip_prefix("org.apache.cassandra.auth.").unwrap_or(class_name) {
            "AllowAllAuthenticator" => Some(Authenticator::AllowAll),
            "SimpleAuthenticator" => Some(Authenticator::Simple),
            "PasswordAuthenticator" => Some(Authenticator::Password),
            _ => None,
        }
    }
}

/// Whose rights are looked up once they have logged in (`authority` in the cassandra.yaml of 0.7 to
/// 1.1, `authorizer` from 1.2 on).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// Nobody's: whoever has logged in may do everything.
    AllowAll,
    /// Everybody's, in the access file.
    Simple,
    /// Everybody's, among the permissions of the roles in the store.
    Roles,
}

impl Authority {
    /// Short class names: those of 0.7 to 1.1, then those from 1.2 on.
    pub const CLASSES: [&str; 4] =
        ["AllowAllAuthority", "SimpleAuthority", "AllowAllAuthorizer", "CassandraAuthorizer"];

    /// The authority of a class name, in full or short.
    pub fn resolve(class_name: &str) -> Option<Authority> {
        match class_name.strip_prefix("org.apache.cassandra.auth.").unwrap_or(class_name) {
            "AllowAllAuthority" | "AllowAllAuthorizer" => Some(Authority::AllowAll),
            "CassandraAuthorizer" => Some(Authority::Roles),
            "SimpleAuthority" => Some(Authority::Simple),
            _ => None,
        }
    }
}

/// TLS for the connections of clients (`client_encryption_options` in a cassandra.yaml, whose Java keystores are PEM
/// files here).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientEncryption {
    /// The server's certificate and those between it and its authority.
    pub certificate_file: PathBuf,
    /// The private key of the certificate.
    pub key_file: PathBuf,
    /// Who signs clients' certificates; with `None` clients are not asked for any.
    pub client_authorities: Option<PathBuf>,
    /// Whether a client must show a certificate. Means nothing without `client_authorities`.
    pub require_client_auth: bool,
    /// Whether clients that do not speak TLS are served too.
    pub optional: bool,
}

/// The cluster behind this server, and how it is spoken to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Nodes to ask first, as `host:port`; at least one.
    pub contact_points: Vec<String>,
    pub local_data_center: Option<String>,
    pub login: Option<ClusterLogin>,
    /// `None`: nodes are spoken to without TLS.
    pub encryption: Option<ClusterEncryption>,
    /// What CQL calls `replication`, for every keyspace, instead of what the schema says.
    pub replication: Option<BTreeMap<String, String>>,
    /// `None`: the store's own.
    pub request_timeout_ms: Option<u64>,
    /// Requests that are with the cluster at one time; `None`: as many as the store thinks right.
    pub requests_max: Option<usize>,
}

/// Who we are to the cluster. The password is in a file, because clients may read the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterLogin {
    pub user: String,
    pub password_file: PathBuf,
}

/// TLS to the nodes of the cluster, by PEM files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterEncryption {
    /// Who signs the nodes' certificates; `None`: their certificates are not looked at.
    pub authorities: Option<PathBuf>,
    /// Our certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// What a storage-conf.xml says, with defaults for what it does not.
#[derive(Debug, Clone)]
pub struct Config {
    pub cluster_name: String,
    /// The keyspaces of the file; those that clients created are in the data directory.
    pub catalog: Catalog,
    pub partitioner: PartitionerRef,
    /// A token of the partitioner, in its text form; checked.
    pub initial_token: Option<String>,
    pub authenticator: Authenticator,
    /// `None`: that which goes with the authenticator.
    pub authority: Option<Authority>,
    pub commit_log_sync: CommitLogSync,
    /// As written: relative to where the server was started.
    pub commit_log_directory: PathBuf,
    /// As written; at least one.
    pub data_directories: Vec<PathBuf>,
    /// Host name or address of this node.
    pub listen_address: String,
    /// Host name or address that clients connect to, where it is not `listen_address`.
    pub thrift_address: Option<String>,
    /// 0 picks a free port.
    pub thrift_port: u16,
    /// What the file's clients use; both kinds are served.
    pub thrift_framed: bool,
    /// Whether the native protocol is served.
    pub native_transport: bool,
    /// Host name or address that clients of the native protocol connect to, where it is not `thrift_host()`.
    pub native_address: Option<String>,
    /// 0 picks a free port.
    pub native_port: u16,
    /// `None`: clients are served without TLS only.
    pub client_encryption: Option<ClientEncryption>,
    /// `None`: data are in a directory.
    pub cluster: Option<Cluster>,
    /// Milliseconds until TimedOutException; `None`: reads and writes take as long as they take.
    pub rpc_timeout_ms: Option<u64>,
    /// Seconds for which tombstones are kept, for keyspaces to come; those of the file have it in their CfDefs.
    pub gc_grace_s: i32,
    pub seeds: Vec<String>,
    /// The release that the file was written for, where its elements give it away.
    pub release_hint: Option<Release>,
    /// What was accepted and has no meaning here, or was not given: sentences to print at the start.
    pub notes: Vec<String>,
    /// The whole file, as clients may ask for it.
    pub text: String,
}

impl Config {
    /// The host that clients connect to.
    pub fn thrift_host(&self) -> &str {
        self.thrift_address.as_deref().unwrap_or(&self.listen_address)
    }

    /// The host that clients of the native protocol connect to.
    pub fn native_host(&self) -> &str {
        self.native_address.as_deref().unwrap_or(self.thrift_host())
    }
}
