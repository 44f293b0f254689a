//! The values of a configuration while it is read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::keyspace::{KeyspaceDraft, Replication};
use super::settings::{ClientEncryption, Cluster, Config};
use super::xml::Text;

/// The value of CommitLogSync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SyncChoice {
    Periodic,
    Batch,
}

/// The values of the settings of the server.
///
/// A setting whose value needs no other setting sets its field of `config`. The other fields are for settings that
/// `finish` checks together.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub config: Config,
    pub keyspaces: Vec<KeyspaceDraft>,
    /// The line of each keyspace.
    pub keyspace_lines: BTreeMap<String, usize>,
    /// The replication of keyspaces without their own.
    pub replication: Replication,
    /// gc_grace of all column families, if it is given for all.
    pub gc_grace_s: Option<i32>,
    pub initial_token: Option<Text>,
    pub sync_mode: Option<SyncChoice>,
    pub sync_period_ms: Option<u64>,
    pub sync_window_ms: Option<f64>,
    pub data_directories: Vec<PathBuf>,
    /// `None` if not given; `Some(None)` if disabled or wrong.
    pub encryption: Option<Option<ClientEncryption>>,
    /// `None` if not given; `Some(None)` if wrong.
    pub cluster: Option<Option<Cluster>>,
}
