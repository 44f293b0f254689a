//! A configuration while it is read, and the checks of several elements together.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::keyspace::{KeyspaceDraft, Replication};
use super::mistake::Mistake;
use super::note::Note;
use super::reading::ConfigReader;
use super::settings::{ClientEncryption, Cluster, CommitLogSync, Config};
use super::xml::Node;
use base::compat::features::ApiGeneration;
use base::partitioner::{PartitionerRef, RandomPartitioner};
use base::schema::Catalog;

/// The value of CommitLogSync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncChoice {
    Periodic,
    Batch,
}

/// The values of the elements of `<Storage>`.
///
/// An element whose value needs no other element sets its field of `config`. The other fields are for elements that
/// `finish` checks together, or whose defaults it reports in a note.
#[derive(Debug, Default)]
pub struct Draft {
    pub config: Config,
    pub keyspaces: Vec<KeyspaceDraft>,
    /// The line of each keyspace.
    pub keyspace_lines: BTreeMap<String, usize>,
    pub replication: Replication,
    pub partitioner: Option<PartitionerRef>,
    pub sync_mode: Option<SyncChoice>,
    pub sync_period_ms: Option<u64>,
    pub sync_window_ms: Option<f64>,
    pub commit_log_directory: Option<PathBuf>,
    pub data_directories: Vec<PathBuf>,
    /// `None` if not given; `Some(None)` if disabled or wrong.
    pub encryption: Option<Option<ClientEncryption>>,
    /// `None` if not given; `Some(None)` if wrong.
    pub cluster: Option<Option<Cluster>>,
}

impl Draft {
    /// Checks several elements together and sets defaults. Old servers did not start without a partitioner, directories
    /// and a sync mode; this server uses defaults, and notes that.
    pub fn finish(self, storage: &Node, file: &str, reading: &mut ConfigReader<'_>) -> Config {
        let mut missing = Vec::new();
        self.check_places(storage, reading);
        let commit_log_sync = self.commit_log_sync(storage, reading, &mut missing);
        let partitioner = self.partitioner.unwrap_or_else(|| {
            if given(storage, "Partitioner").is_none() {
                missing.push("Partitioner (RandomPartitioner)".to_owned());
            }
            Arc::new(RandomPartitioner)
        });
        check_token(&partitioner, storage, reading);
        let commit_log_directory = self.commit_log_directory.unwrap_or_else(|| {
            missing.push("CommitLogDirectory (data/commitlog)".to_owned());
            "data/commitlog".into()
        });
        let mut data_directories = self.data_directories;
        if data_directories.is_empty() {
            missing.push("DataFileDirectories (data/data)".to_owned());
            data_directories.push("data/data".into());
        }

        let catalog = catalog_of(self.keyspaces, &self.replication, self.config.gc_grace_s);
        let mut notes = Vec::new();
        if catalog.keyspaces.is_empty() {
            notes.push(Note::of(format!("{file}: No keyspaces configured")));
        }
        if self.cluster.is_some() {
            // The other defaults are about local data.
            missing.retain(|name| name.starts_with("Partitioner"));
        }
        if !missing.is_empty() {
            let missing = missing.join(", ");
            notes.push(Note::of(format!("{file}: not given, so defaults are used: {missing}")));
        }
        Config {
            catalog,
            initial_token: self.config.initial_token.map(|token| canonical_token(token, &partitioner)),
            partitioner,
            commit_log_sync,
            commit_log_directory,
            data_directories,
            // The file is of 0.4 to 0.6: if its clients are framed, a framed connection does not mean a later release.
            expected_generation: self.config.thrift_framed.then_some(ApiGeneration::WithKeyspace),
            client_encryption: self.encryption.flatten(),
            cluster: self.cluster.flatten(),
            release_hint: reading.release_hint(),
            notes,
            ..self.config
        }
    }

    /// Returns the mode: from `CommitLogSync`, or else from which of its two settings is given.
    fn commit_log_sync(
        &self,
        storage: &Node,
        reading: &mut ConfigReader<'_>,
        missing: &mut Vec<String>,
    ) -> CommitLogSync {
        let period = given(storage, "CommitLogSyncPeriodInMS");
        let window = given(storage, "CommitLogSyncBatchWindowInMS");
        let mode = self.sync_mode.unwrap_or_else(|| {
            let mode = match (period, window) {
                (None, Some(_)) => SyncChoice::Batch,
                _ => SyncChoice::Periodic,
            };
            if given(storage, "CommitLogSync").is_none() {
                let word = if mode == SyncChoice::Batch { "batch" } else { "periodic" };
                missing.push(format!("CommitLogSync ({word})"));
            }
            mode
        });
        // With a misspelt mode it is unknown which of the two settings is wrong.
        let is_certain = self.sync_mode.is_some() || given(storage, "CommitLogSync").is_none();
        match mode {
            SyncChoice::Periodic => {
                if let (Some(window), true) = (window, is_certain) {
                    reading.error(window.name.span, Mistake::WindowWithPeriodic);
                }
                if period.is_none() {
                    missing.push("CommitLogSyncPeriodInMS (10000)".to_owned());
                }
                CommitLogSync::Periodic { period_ms: self.sync_period_ms.unwrap_or(10_000) }
            }
            SyncChoice::Batch => {
                if let (Some(period), true) = (period, is_certain) {
                    reading.error(period.name.span, Mistake::PeriodWithBatch);
                }
                if window.is_none() {
                    missing.push("CommitLogSyncBatchWindowInMS (1)".to_owned());
                }
                CommitLogSync::Batch { window_ms: self.sync_window_ms.unwrap_or(1.0) }
            }
        }
    }

    fn check_places(&self, storage: &Node, reading: &mut ConfigReader<'_>) {
        if let Some(log) = &self.commit_log_directory
            && self.data_directories.contains(log)
            && let Some(node) = given(storage, "CommitLogDirectory")
        {
            reading.error(node.text.span, Mistake::LogAmongData);
        }
        if let Some(node) = given(storage, "ListenAddress")
            && node.text.value.trim() == "0.0.0.0"
        {
            reading.note(node.text.span, || {
                "ListenAddress 0.0.0.0 is accepted here; 0.5 and later require a single interface".to_owned()
            });
        }
    }
}

/// Returns the catalog of the file's keyspaces.
fn catalog_of(keyspaces: Vec<KeyspaceDraft>, replication: &Replication, gc_grace_s: i32) -> Catalog {
    let mut catalog = Catalog::default();
    if let Some(factor) = replication.factor {
        catalog.replication_factor = factor;
    }
    for keyspace in keyspaces {
        let keyspace = keyspace.finish(replication, gc_grace_s);
        catalog.keyspaces.insert(keyspace.name.clone(), keyspace);
    }
    catalog
}

/// Returns a token as the partitioner writes it. An invalid one, which is a mistake, is returned as it is.
fn canonical_token(token: String, partitioner: &PartitionerRef) -> String {
    match partitioner.parse_token(&token) {
        Ok(parsed) => partitioner.token_text(&parsed),
        Err(_) => token,
    }
}

/// Checks that the token is valid for the partitioner. Skipped if the partitioner itself is wrong.
fn check_token(partitioner: &PartitionerRef, storage: &Node, reading: &mut ConfigReader<'_>) {
    let wrong = |error: &super::error::ConfigError| matches!(error.mistake, Mistake::UnknownPartitioner(_));
    let Some(node) = given(storage, "InitialToken") else { return };
    if reading.errors.iter().any(wrong) {
        return;
    }
    let given = node.text.value.trim();
    if let Err(error) = partitioner.parse_token(given) {
        let mistake = Mistake::BadToken { given: given.to_owned(), reason: error.reason };
        reading.error(node.text.span, mistake);
    }
}

/// Returns the first nonempty element with a name, which is the effective one.
fn given<'n>(storage: &'n Node, name: &str) -> Option<&'n Node> {
    storage.children.iter().find(|child| child.name.value == name && !child.text.value.trim().is_empty())
}
