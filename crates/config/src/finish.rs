//! Checks settings that depend on each other, and completes a configuration with defaults, which it notes.

use super::apply::ConfigBlock;
use super::draft::{Draft, SyncChoice};
use super::error::ConfigErrors;
use super::lists::DATA_DIRECTORY;
use super::load::STORAGE;
use super::mistake::Mistake;
use super::note::Note;
use super::reading::ConfigReader;
use super::setting::{NameKind, find};
use super::settings::{CommitLogSync, Config};
use super::yaml::YamlMistake;
use base::compat::features::ApiGeneration;

// Settings by their names in storage-conf.xml.
const PARTITIONER: &str = "Partitioner";
const TOKEN: &str = "InitialToken";
const SYNC: &str = "CommitLogSync";
const PERIOD: &str = "CommitLogSyncPeriodInMS";
const WINDOW: &str = "CommitLogSyncBatchWindowInMS";
const LOG_DIRECTORY: &str = "CommitLogDirectory";
const DATA_DIRECTORIES: &str = "DataFileDirectories";

/// Completes the configuration of a file.
pub(crate) struct Finisher<'f, 'r> {
    /// The top level of the file.
    block: ConfigBlock<'f>,
    reading: ConfigReader<'r>,
    /// The settings that are not given, with their defaults.
    missing: Vec<String>,
}

impl<'f, 'r> Finisher<'f, 'r> {
    pub(crate) fn new(block: ConfigBlock<'f>, reading: ConfigReader<'r>) -> Finisher<'f, 'r> {
        Finisher { block, reading, missing: Vec::new() }
    }

    /// Checks several settings together and sets defaults. Old servers did not start without a partitioner, directories
    /// and a sync mode; this server uses defaults, and notes that.
    ///
    /// # Errors
    ///
    /// All mistakes in the file.
    pub(crate) fn finish(mut self, mut draft: Draft) -> Result<Config, ConfigErrors> {
        draft.config.commit_log_sync = self.commit_log_sync(&draft);
        if self.block.given(STORAGE, PARTITIONER).is_none() {
            self.note_default(PARTITIONER);
        }
        self.set_token(&mut draft);
        self.set_directories(&mut draft);
        let mut config = draft.config;
        if let Some(factor) = draft.replication.factor {
            config.catalog.replication_factor = factor;
        }
        for keyspace in draft.keyspaces {
            let keyspace = keyspace.finish(&draft.replication, draft.gc_grace_s);
            config.catalog.keyspaces.insert(keyspace.name.clone(), keyspace);
        }
        config.gc_grace_s = draft.gc_grace_s.unwrap_or(config.gc_grace_s);
        config.client_encryption = draft.encryption.flatten();
        if draft.cluster.is_some() {
            // The other defaults are about local data.
            self.missing.retain(|name| name.starts_with(PARTITIONER));
        }
        config.cluster = draft.cluster.flatten();
        if self.is_xml() {
            self.note_address(&config);
            // The file is of 0.4 to 0.6: if its clients are framed, a framed connection does not mean a later release.
            config.expected_generation = config.thrift_framed.then_some(ApiGeneration::WithKeyspace);
        } else {
            config.thrift_framed = true;
            config.expected_generation = Some(ApiGeneration::AfterSetKeyspace);
        }
        if !self.reading.errors.is_empty() {
            return Err(ConfigErrors::new(self.reading.errors));
        }
        config.release_hint = self.reading.release_hint();
        config.notes = self.into_notes(&config);
        Ok(config)
    }

    /// Returns the mode: from `CommitLogSync`, or else from which of its two settings is given.
    fn commit_log_sync(&mut self, draft: &Draft) -> CommitLogSync {
        let period = self.block.given(STORAGE, PERIOD);
        let window = self.block.given(STORAGE, WINDOW);
        let has_mode = self.block.given(STORAGE, SYNC).is_some();
        let mode = draft.sync_mode.unwrap_or(match (&period, &window) {
            (None, Some(_)) => SyncChoice::Batch,
            _ => SyncChoice::Periodic,
        });
        if !has_mode {
            let word = if mode == SyncChoice::Batch { "batch" } else { "periodic" };
            self.missing.push(format!("{} ({word})", self.name(SYNC)));
        }
        let is_xml = self.is_xml();
        let (given, superfluous, mistake) = match mode {
            SyncChoice::Periodic if is_xml => (period, window, Mistake::WindowWithPeriodic),
            SyncChoice::Periodic => (period, window, YamlMistake::WindowWithPeriodic.into()),
            SyncChoice::Batch if is_xml => (window, period, Mistake::PeriodWithBatch),
            SyncChoice::Batch => (window, period, YamlMistake::PeriodWithBatch.into()),
        };
        // With a misspelt mode it is unknown which of the two settings is wrong.
        if let Some(superfluous) = superfluous
            && (draft.sync_mode.is_some() || !has_mode)
        {
            self.reading.error(superfluous.name, mistake);
        }
        if is_xml && given.is_none() {
            self.note_default(if mode == SyncChoice::Batch { WINDOW } else { PERIOD });
        }
        match mode {
            SyncChoice::Periodic => {
                CommitLogSync::Periodic { period_ms: draft.sync_period_ms.unwrap_or(10_000) }
            }
            SyncChoice::Batch => CommitLogSync::Batch { window_ms: draft.sync_window_ms.unwrap_or(1.0) },
        }
    }

    /// Sets the token as the partitioner writes it. It is not checked if the partitioner itself is wrong.
    fn set_token(&mut self, draft: &mut Draft) {
        let Some(given) = &draft.initial_token else { return };
        // With a cassandra.yaml of 1.2 or later a node can have several tokens.
        let first = given.value.split(',').next().unwrap_or_default();
        let token = if self.is_xml() { given.value.trim() } else { first.trim() };
        let partitioner = &draft.config.partitioner;
        match partitioner.parse_token(token) {
            Ok(parsed) => draft.config.initial_token = Some(partitioner.token_text(&parsed)),
            Err(error) => {
                let mut others = self.reading.errors.iter();
                if !others.any(|other| matches!(other.mistake, Mistake::UnknownPartitioner(_))) {
                    let (name, given_token) = (self.name(TOKEN), token.to_owned());
                    let mistake = Mistake::BadToken { name, given: given_token, reason: error.reason };
                    self.reading.error(given.span, mistake);
                }
            }
        }
    }

    fn set_directories(&mut self, draft: &mut Draft) {
        let is_xml = self.is_xml();
        let config = &mut draft.config;
        let has_data = !draft.data_directories.is_empty();
        if has_data {
            config.data_directories = std::mem::take(&mut draft.data_directories);
        }
        if let Some(log) = self.block.given(STORAGE, LOG_DIRECTORY) {
            let is_among_data = config.data_directories.contains(&config.commit_log_directory);
            // A storage-conf.xml may name the default directory, which it does not give.
            if is_among_data && (has_data || !is_xml) {
                let among = if is_xml { DATA_DIRECTORY } else { self.name(DATA_DIRECTORIES) };
                let mistake = Mistake::LogAmongData { log: self.name(LOG_DIRECTORY), among };
                self.reading.error(log.text.span, mistake);
            }
            if !is_xml {
                config.unused_directories.push(config.commit_log_directory.clone());
            }
        } else if is_xml {
            self.note_default(LOG_DIRECTORY);
        }
        if !has_data {
            self.note_default(DATA_DIRECTORIES);
        }
        if !is_xml {
            config.unused_directories.splice(0..0, config.data_directories.iter().skip(1).cloned());
        }
    }

    fn note_address(&mut self, config: &Config) {
        if config.listen_address == "0.0.0.0"
            && let Some(given) = self.block.given(STORAGE, "ListenAddress")
        {
            self.reading.note(given.text.span, || {
                "ListenAddress 0.0.0.0 is accepted here; 0.5 and later require a single interface".to_owned()
            });
        }
    }

    fn is_xml(&self) -> bool {
        matches!(self.block, ConfigBlock::Element(_))
    }

    /// Returns the name that the file has for a setting of storage-conf.xml.
    fn name(&self, xml_name: &'static str) -> &'static str {
        if self.is_xml() {
            return xml_name;
        }
        let key = find(STORAGE, NameKind::Element, xml_name).and_then(|(row, _)| row.yaml.ok());
        key.map_or(xml_name, |own| own.name)
    }

    /// Adds the default of a setting to those that are noted.
    fn note_default(&mut self, xml_name: &'static str) {
        let default = find(STORAGE, NameKind::Element, xml_name).map_or("", |(row, _)| row.default);
        self.missing.push(format!("{} ({default})", self.name(xml_name)));
    }

    fn into_notes(self, config: &Config) -> Vec<Note> {
        let (file, is_xml) = (self.reading.file().to_owned(), self.is_xml());
        let mut notes = self.reading.into_notes();
        if is_xml && config.catalog.keyspaces.is_empty() {
            notes.push(Note::of(format!("{file}: No keyspaces configured")));
        }
        if !self.missing.is_empty() {
            let missing = self.missing.join(", ");
            notes.push(Note::of(format!("{file}: not given, so defaults are used: {missing}")));
        }
        notes
    }
}
