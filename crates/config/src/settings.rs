//! The complete and checked configuration.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::note::Note;
use base::compat::features::ApiGeneration;
use base::partitioner::{PartitionerRef, RandomPartitioner};
use base::schema::Catalog;
use base::util::Release;

/// When writes are synced to disk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CommitLogSync {
    /// Writes are acknowledged at once; the log is synced every `period_ms` milliseconds.
    Periodic {
        /// Milliseconds between syncs, and so the writes that a power failure can lose.
        period_ms: u64,
    },
    /// Writes are acknowledged when they are synced. The window has no effect: a sync begins at once, and writes that
    /// arrive during it share the next one.
    Batch {
        /// Milliseconds to wait for further writes.
        window_ms: f64,
    },
}

/// The way in which users log in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AuthenticatorKind {
    /// Everybody, with or without a login.
    #[default]
    AllowAll,
    /// The users in the password file.
    Simple,
    /// The roles in the store (`PasswordAuthenticator` of 1.2 and later).
    Password,
}

impl AuthenticatorKind {
    /// Short class names, in the order of the variants.
    pub const CLASSES: [&str; 3] = ["AllowAllAuthenticator", "SimpleAuthenticator", "PasswordAuthenticator"];

    /// Returns the authenticator with a class name. 0.6 requires the full name; here the short one works too.
    pub fn resolve(class_name: &str) -> Option<AuthenticatorKind> {
        match class_name.strip_prefix("org.apache.cassandra.auth.").unwrap_or(class_name) {
            "AllowAllAuthenticator" => Some(AuthenticatorKind::AllowAll),
            "SimpleAuthenticator" => Some(AuthenticatorKind::Simple),
            "PasswordAuthenticator" => Some(AuthenticatorKind::Password),
            _ => None,
        }
    }
}

/// Where the rights of logged-in users come from (`authority` in the cassandra.yaml of 0.7 to 1.1, `authorizer` from
/// 1.2 on).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// Every user has all rights.
    AllowAll,
    /// The access file.
    Simple,
    /// The permissions of the roles in the store.
    Roles,
}

impl Authority {
    /// Short class names: from 0.7 to 1.1, then from 1.2 on.
    pub const CLASSES: [&str; 4] =
        ["AllowAllAuthority", "SimpleAuthority", "AllowAllAuthorizer", "CassandraAuthorizer"];

    /// Returns the authority with a class name, full or short.
    pub fn resolve(class_name: &str) -> Option<Authority> {
        match class_name.strip_prefix("org.apache.cassandra.auth.").unwrap_or(class_name) {
            "AllowAllAuthority" | "AllowAllAuthorizer" => Some(Authority::AllowAll),
            "CassandraAuthorizer" => Some(Authority::Roles),
            "SimpleAuthority" => Some(Authority::Simple),
            _ => None,
        }
    }
}

/// TLS for the connections of clients: `client_encryption_options` in a cassandra.yaml, with PEM files instead of Java
/// keystores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientEncryption {
    /// The server's certificate and its intermediate certificates.
    pub certificate_file: PathBuf,
    /// The private key of the certificate.
    pub key_file: PathBuf,
    /// The authorities of clients' certificates; `None` if clients are not asked for certificates.
    pub client_authorities: Option<PathBuf>,
    /// Whether a client must have a certificate. No effect without `client_authorities`.
    pub require_client_auth: bool,
    /// Whether clients without TLS are accepted too.
    pub optional: bool,
}

/// The cluster behind this server, and how to connect to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cluster {
    /// The nodes to connect to first, as `host:port`; at least one.
    pub contact_points: Vec<String>,
    /// The data centre of requests and of LOCAL_QUORUM; `None`: that of the first node that answers.
    pub local_data_center: Option<String>,
    /// `None`: the nodes require no login.
    pub login: Option<ClusterLogin>,
    /// `None`: connections to nodes are without TLS.
    pub encryption: Option<ClusterEncryption>,
    /// The map of CQL's `replication` for all keyspaces, instead of that in the schema.
    pub replication: Option<BTreeMap<String, String>>,
    /// `None`: the default of the store.
    pub request_timeout_ms: Option<u64>,
    /// Concurrent requests to the cluster; `None`: the default of the store.
    pub requests_max: Option<usize>,
}

/// The login of this server at the cluster. The password is in a file, because clients can read the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterLogin {
    /// The name of the user.
    pub user: String,
    /// The file whose first line is the password.
    pub password_file: PathBuf,
}

/// TLS to the nodes of the cluster, with PEM files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterEncryption {
    /// The authorities of the nodes' certificates; `None`: certificates are not checked.
    pub authorities: Option<PathBuf>,
    /// The files of this server's certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// Milliseconds until requests fail with TimedOutException; `None`: no limit, or the limit `all_ms`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// The limit of reads, scans and writes without one of their own.
    pub all_ms: Option<u64>,
    /// The limit of reads by keys.
    pub read_ms: Option<u64>,
    /// The limit of scans, and of reads by an index.
    pub range_ms: Option<u64>,
    /// The limit of writes.
    pub write_ms: Option<u64>,
    /// The limit of a truncate, to which `all_ms` does not apply.
    pub truncate_ms: Option<u64>,
}

/// The settings of a storage-conf.xml or cassandra.yaml, with defaults.
#[derive(Debug, Clone)]
pub struct Config {
    /// The name that describe_cluster_name returns.
    pub cluster_name: String,
    /// The keyspaces of the file; those that clients created are in the data directory.
    pub catalog: Catalog,
    /// The order of row keys.
    pub partitioner: PartitionerRef,
    /// A token as text, checked by the partitioner.
    pub initial_token: Option<String>,
    /// The rule of logins.
    pub authenticator: AuthenticatorKind,
    /// `None`: the default of the authenticator.
    pub authority: Option<Authority>,
    /// When writes are synced to disk.
    pub commit_log_sync: CommitLogSync,
    /// As written: relative to the working directory.
    pub commit_log_directory: PathBuf,
    /// As written; at least one.
    pub data_directories: Vec<PathBuf>,
    /// Directories that Cassandra used and this server does not. The server refuses to start if they hold files of
    /// Cassandra, because its user may expect that they are read.
    pub unused_directories: Vec<PathBuf>,
    /// Host name or address of this node.
    pub listen_address: String,
    /// Host name or address that Thrift clients connect to, if it is not `listen_address`.
    pub thrift_address: Option<String>,
    /// 0 picks a free port.
    pub thrift_port: u16,
    /// The transport of the file's clients. The server detects both.
    pub thrift_framed: bool,
    /// The API generation of clients whose calls do not show theirs, if the file determines it.
    pub expected_generation: Option<ApiGeneration>,
    /// Whether the server accepts clients of the native protocol.
    pub native_transport: bool,
    /// Host name or address that clients of the native protocol connect to, if it is not `thrift_host()`.
    pub native_address: Option<String>,
    /// 0 picks a free port.
    pub native_port: u16,
    /// `None`: the file has no certificate, and the server supports TLS only with one of its options.
    pub client_encryption: Option<ClientEncryption>,
    /// Whether the file enables TLS with a Java keystore, which the server does not read.
    pub needs_tls: bool,
    /// `None`: data is stored in a directory.
    pub cluster: Option<Cluster>,
    /// The time limits of requests.
    pub timeouts: Timeouts,
    /// gc_grace in seconds for new column families; column families of the file have it in their CfDefs.
    pub gc_grace_s: i32,
    /// The addresses of seeds. They have no effect, because there are no other nodes.
    pub seeds: Vec<String>,
    /// The only release that has all elements of the file, if there is one.
    pub release_hint: Option<Release>,
    /// Messages to log at startup: settings that are ignored or have no effect, and defaults.
    pub notes: Vec<Note>,
    /// The text of the file, which clients can read.
    pub text: String,
}

impl Default for Config {
    /// Returns the settings of a file without elements, with default directories.
    fn default() -> Config {
        Config {
            cluster_name: "Test Cluster".to_owned(),
            catalog: Catalog::default(),
            partitioner: Arc::new(RandomPartitioner),
            initial_token: None,
            authenticator: AuthenticatorKind::AllowAll,
            authority: None,
            commit_log_sync: CommitLogSync::Periodic { period_ms: 10_000 },
            commit_log_directory: "data/commitlog".into(),
            data_directories: vec!["data/data".into()],
            unused_directories: Vec::new(),
            listen_address: "127.0.0.1".to_owned(),
            thrift_address: None,
            thrift_port: 9160,
            thrift_framed: false,
            expected_generation: None,
            native_transport: true,
            native_address: None,
            native_port: 9042,
            client_encryption: None,
            needs_tls: false,
            cluster: None,
            timeouts: Timeouts::default(),
            gc_grace_s: 864_000,
            seeds: Vec::new(),
            release_hint: None,
            notes: Vec::new(),
            text: String::new(),
        }
    }
}

impl Config {
    /// Returns the host that Thrift clients connect to.
    pub fn thrift_host(&self) -> &str {
        self.thrift_address.as_deref().unwrap_or(&self.listen_address)
    }

    /// Returns the host that clients of the native protocol connect to.
    pub fn native_host(&self) -> &str {
        self.native_address.as_deref().unwrap_or(self.thrift_host())
    }
}
