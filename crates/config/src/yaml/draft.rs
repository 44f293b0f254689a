//! A cassandra.yaml while it is read, and the checks of several settings together.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::apply::{apply, entry};
use super::inert::INERT;
use super::mistake::YamlMistake;
use super::node::{Content, Entry};
use super::reader;
use super::settings::SETTINGS;
use crate::draft::SyncChoice;
use crate::error::{ConfigError, ConfigErrors};
use crate::note::Note;
use crate::reading::ConfigReader;
use crate::settings::{Authenticator, Authority, CommitLogSync, Config, Timeouts};
use crate::source::{Source, Span};
use crate::xml::Text;
use base::compat::features::ApiGeneration;
use base::marshal::Types;
use base::partitioner::{PartitionerRef, RandomPartitioner};
use base::schema::{Catalog, KeyspaceDef};

/// The values of the settings. `None` if the setting is absent.
#[derive(Debug, Default)]
pub struct YamlDraft {
    pub cluster_name: Option<String>,
    pub partitioner: Option<PartitionerRef>,
    pub initial_token: Option<Text>,
    pub authenticator: Authenticator,
    pub authority: Option<Authority>,
    pub keyspaces: Vec<KeyspaceDef>,
    /// The line of each keyspace.
    pub keyspace_lines: BTreeMap<String, usize>,
    pub data_directories: Vec<PathBuf>,
    pub commit_log_directory: Option<Text>,
    pub sync_mode: Option<SyncChoice>,
    pub sync_period_ms: Option<u64>,
    pub sync_window_ms: Option<f64>,
    pub listen_address: Option<String>,
    pub rpc_address: Option<String>,
    pub rpc_port: Option<u16>,
    pub native_transport: Option<bool>,
    pub native_port: Option<u16>,
    pub needs_tls: bool,
    pub timeouts: Timeouts,
}

/// Parses a cassandra.yaml; `file_name` is its name in messages.
pub fn parse(text: &str, file_name: &str, types: &Types) -> Result<Config, ConfigErrors> {
    let source = Arc::new(Source::new(file_name, text));
    let mut reading = ConfigReader::new(&source, types, |_| None);
    let wrong = |(span, mistake): (Span, YamlMistake)| {
        ConfigErrors::new(vec![ConfigError::new(mistake.into(), span, &source)])
    };
    let mut repeated = Vec::new();
    let root = reader::read(&source, &mut repeated).map_err(wrong)?;
    let Content::Map(entries) = &root.content else {
        return Err(wrong((root.span, YamlMistake::NoSettings { found: root.content.kind() })));
    };
    for key in repeated {
        reading.warn(key.span, || format!("{} is given again below, and that one counts", key.value));
    }
    let mut draft = YamlDraft::default();
    apply(SETTINGS, INERT, &mut draft, entries, &mut reading);
    let mut config = draft.finish(entries, file_name, &mut reading);
    if !reading.errors.is_empty() {
        return Err(ConfigErrors::new(reading.errors));
    }
    config.notes.splice(0..0, reading.into_notes());
    Ok(config)
}

impl YamlDraft {
    /// Checks several settings together and sets defaults.
    fn finish(self, entries: &[Entry], file: &str, reading: &mut ConfigReader<'_>) -> Config {
        let mut missing = Vec::new();
        let commit_log_sync = self.commit_log_sync(entries, &mut missing, reading);
        let partitioner = self.partitioner.unwrap_or_else(|| {
            missing.push("partitioner (RandomPartitioner)");
            Arc::new(RandomPartitioner)
        });
        let initial_token = self.initial_token.and_then(|token| first_token(&token, &partitioner, reading));
        let mut data_directories = self.data_directories;
        if data_directories.is_empty() {
            missing.push("data_file_directories (data/data)");
            data_directories.push("data/data".into());
        }
        let mut unused_directories: Vec<PathBuf> = data_directories.iter().skip(1).cloned().collect();
        let commit_log_directory = match self.commit_log_directory {
            None => "data/commitlog".into(),
            Some(given) => {
                let directory = PathBuf::from(given.value.trim());
                if data_directories.contains(&directory) {
                    reading.error(given.span, YamlMistake::LogAmongData.into());
                }
                unused_directories.push(directory.clone());
                directory
            }
        };
        let mut notes = Vec::new();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            notes.push(Note::of(format!("{file}: not given, so defaults are used: {missing}")));
        }
        let mut catalog = Catalog::default();
        for keyspace in self.keyspaces {
            catalog.keyspaces.insert(keyspace.name.clone(), keyspace);
        }
        Config {
            cluster_name: self.cluster_name.unwrap_or_else(|| "Test Cluster".to_owned()),
            catalog,
            partitioner,
            initial_token,
            authenticator: self.authenticator,
            authority: self.authority,
            commit_log_sync,
            commit_log_directory,
            data_directories,
            unused_directories,
            listen_address: self.listen_address.unwrap_or_else(|| "127.0.0.1".to_owned()),
            thrift_address: self.rpc_address,
            thrift_port: self.rpc_port.unwrap_or(9160),
            thrift_framed: true,
            expected_generation: Some(ApiGeneration::AfterSetKeyspace),
            native_transport: self.native_transport.unwrap_or(true),
            native_address: None,
            native_port: self.native_port.unwrap_or(9042),
            client_encryption: None,
            needs_tls: self.needs_tls,
            cluster: None,
            timeouts: self.timeouts,
            gc_grace_s: 864_000,
            seeds: Vec::new(),
            release_hint: None,
            notes,
            // Clients can read the text of a storage-conf.xml. This file may have passwords of keystores.
            text: String::new(),
        }
    }

    /// Returns the mode: from `commitlog_sync`, or else from which of its two settings is given.
    fn commit_log_sync(
        &self,
        entries: &[Entry],
        missing: &mut Vec<&'static str>,
        reading: &mut ConfigReader<'_>,
    ) -> CommitLogSync {
        let given = |key: &str| entry(entries, key).filter(|entry| entry.value.text().is_some());
        let period = given("commitlog_sync_period_in_ms");
        let window = given("commitlog_sync_batch_window_in_ms");
        let has_mode = given("commitlog_sync").is_some();
        let mode = self.sync_mode.unwrap_or(match (period, window) {
            (None, Some(_)) => SyncChoice::Batch,
            _ => SyncChoice::Periodic,
        });
        if !has_mode {
            missing.push(if mode == SyncChoice::Batch {
                "commitlog_sync (batch)"
            } else {
                "commitlog_sync (periodic)"
            });
        }
        // With a misspelt mode it is unknown which of the two settings is wrong.
        let is_certain = self.sync_mode.is_some() || !has_mode;
        let (superfluous, mistake) = match mode {
            SyncChoice::Periodic => (window, YamlMistake::WindowWithPeriodic),
            SyncChoice::Batch => (period, YamlMistake::PeriodWithBatch),
        };
        if let Some(entry) = superfluous.filter(|_| is_certain) {
            reading.error(entry.key.span, mistake.into());
        }
        match mode {
            SyncChoice::Periodic => {
                CommitLogSync::Periodic { period_ms: self.sync_period_ms.unwrap_or(10_000) }
            }
            SyncChoice::Batch => CommitLogSync::Batch { window_ms: self.sync_window_ms.unwrap_or(1.0) },
        }
    }
}

/// Returns the first of the tokens; `None`, with a mistake, if it is not a token of the partitioner.
fn first_token(given: &Text, partitioner: &PartitionerRef, reading: &mut ConfigReader<'_>) -> Option<String> {
    let first = given.value.split(',').next().unwrap_or_default().trim().to_owned();
    match partitioner.parse_token(&first) {
        Ok(token) => Some(partitioner.token_text(&token)),
        Err(error) => {
            let mistake = YamlMistake::BadToken { given: first, reason: error.reason };
            reading.error(given.span, mistake.into());
            None
        }
    }
}
