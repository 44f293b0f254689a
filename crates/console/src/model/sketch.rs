//! A sketch, and the database that it is run in.

use std::sync::Arc;

use serde::Deserialize;

use super::shown_query::beginning;

use crate::limits::{SKETCH_FAMILIES_MAX, SKETCH_TEXT_BYTES_MAX};
use base::marshal::Types;
use base::schema::Catalog;
use base::util::Clock;
use config::{Config, ConfigError};
use cql::{QueryOptions, QueryState};
use db::{Database, DatabaseParts};
use double::control::cassandra_cli;
use embedded::EmbeddedStore;

/// The keyspace of scripts that create none.
const KEYSPACE: &str = "sketch";
const CREATE_KEYSPACE: &str =
    "CREATE KEYSPACE sketch WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

/// The name of a definition in the messages of its parser.
const FILE: &str = "storage-conf.xml";

/// The configurations of databases whose definition is a script. They have the partitioners of the releases to which
/// the languages belong.
const OF_CASSANDRA_CLI: &str = "<Storage><Partitioner>RandomPartitioner</Partitioner></Storage>";
const OF_CQL: &str = "<Storage><Partitioner>Murmur3Partitioner</Partitioner></Storage>";

/// The language of a definition or of sample data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum SketchLanguage {
    /// A storage-conf.xml, or only its keyspaces. It cannot hold data.
    #[serde(rename = "storage-conf")]
    StorageConf,
    #[serde(rename = "cassandra-cli")]
    CassandraCli,
    #[default]
    #[serde(rename = "cql")]
    Cql,
}

/// The texts that a visitor has typed in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sketch {
    pub language: SketchLanguage,
    pub definition: String,
    pub data_language: SketchLanguage,
    pub data: String,
}

/// A part of a sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    Definition,
    Data,
}

/// A mistake in a sketch, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SketchError {
    pub area: Area,
    /// Counted from 1; `None` if it is not about one place.
    pub line: Option<usize>,
    /// Counted from 1; `None` if only the line is known.
    pub column: Option<usize>,
    pub message: String,
    /// Advice how to fix it; empty if the message says it.
    pub help: String,
}

impl SketchError {
    pub(crate) fn new(area: Area, message: impl Into<String>) -> SketchError {
        let message = beginning(&message.into());
        SketchError { area, line: None, column: None, message, help: String::new() }
    }

    fn of_config(error: &ConfigError) -> SketchError {
        let place = error.location();
        SketchError {
            line: place.as_ref().map(|place| place.line),
            column: place.map(|place| place.column),
            help: error.mistake.help().map(|help| beginning(&help.to_string())).unwrap_or_default(),
            ..SketchError::new(Area::Definition, error.to_string())
        }
    }

    fn of_cql(area: Area, error: cql::ScriptError) -> SketchError {
        let line = error.place.map_or(error.line, |place| place.line);
        let column = error.place.map(|place| place.column + 1);
        SketchError { line: Some(line), column, ..SketchError::new(area, error.message) }
    }

    fn of_cassandra_cli(area: Area, error: cassandra_cli::CliScriptError) -> SketchError {
        let (line, column) = (Some(error.place.line), Some(error.place.column));
        SketchError { line, column, ..SketchError::new(area, error.why) }
    }
}

impl Sketch {
    pub(crate) fn is_blank(&self) -> bool {
        self.definition.trim().is_empty() && self.data.trim().is_empty()
    }

    /// Returns the texts that are too long.
    pub(crate) fn check_lengths(&self) -> Vec<SketchError> {
        let texts = [(Area::Definition, &self.definition), (Area::Data, &self.data)];
        let mut errors = Vec::new();
        for (area, text) in texts.into_iter().filter(|(_, text)| text.len() > SKETCH_TEXT_BYTES_MAX) {
            let why = format!(
                "the text has {} bytes, and at most {SKETCH_TEXT_BYTES_MAX} are allowed: a sketch needs a few rows",
                text.len()
            );
            errors.push(SketchError::new(area, why));
        }
        errors
    }

    fn config(&self, types: &Types) -> Result<Config, Vec<SketchError>> {
        let text = match self.language {
            SketchLanguage::StorageConf => &self.definition,
            SketchLanguage::CassandraCli => OF_CASSANDRA_CLI,
            SketchLanguage::Cql => OF_CQL,
        };
        let config = config::parse(text, FILE, types);
        config.map_err(|errors| errors.errors.iter().take(20).map(SketchError::of_config).collect())
    }
}

/// A sketch that is being shown: its database.
pub(crate) struct OpenSketch {
    pub database: Arc<Database>,
}

impl OpenSketch {
    /// Creates the database with the keyspaces of a storage-conf.xml, or without keyspaces.
    pub(crate) fn new(sketch: &Sketch, types: &Types) -> Result<OpenSketch, Vec<SketchError>> {
        let config = sketch.config(types)?;
        let clock = Arc::new(Clock::system());
        let store = EmbeddedStore::in_memory(config.partitioner.clone(), &config.catalog, clock.clone());
        let store = store.map_err(|error| {
            vec![SketchError::new(Area::Definition, format!("the sketch has no store: {error}"))]
        })?;
        let parts = DatabaseParts {
            types: types.clone(),
            ..DatabaseParts::new(Arc::new(config.catalog), Arc::new(store), config.partitioner, clock)
        };
        Ok(OpenSketch { database: Arc::new(Database::new(parts)) })
    }

    /// Runs the scripts of a sketch up to the first mistake.
    pub(crate) async fn run(&self, sketch: &Sketch) -> Result<(), SketchError> {
        let keyspace = match sketch.language {
            SketchLanguage::StorageConf => None,
            language => self.define(language, &sketch.definition).await?,
        };
        let catalog = self.catalog();
        let families = catalog.column_families().count();
        if families > SKETCH_FAMILIES_MAX {
            let why = format!(
                "there are {families} column families, and a sketch has at most {SKETCH_FAMILIES_MAX}: divide it"
            );
            return Err(SketchError::new(Area::Definition, why));
        }
        let only = catalog.keyspaces.keys().next().filter(|_| catalog.keyspaces.len() == 1).cloned();
        drop(catalog);
        let keyspace = keyspace.or(only);
        self.run_script(Area::Data, sketch.data_language, keyspace.as_deref(), &sketch.data).await?;
        self.database.indexes().until_built().await;
        Ok(())
    }

    /// Runs the script of a definition. Returns the keyspace after its last statement.
    async fn define(&self, language: SketchLanguage, script: &str) -> Result<Option<String>, SketchError> {
        let words: Vec<&str> = script.split_whitespace().collect();
        let is = |word: &str, other: &str| word.eq_ignore_ascii_case(other);
        if words.windows(2).any(|two| matches!(two, [a, b] if is(a, "create") && is(b, "keyspace"))) {
            return self.run_script(Area::Definition, language, None, script).await;
        }
        let created = cql::query(&self.state(), CREATE_KEYSPACE, &QueryOptions::default()).await;
        created.map_err(|error| SketchError::new(Area::Definition, error.to_string()))?;
        self.run_script(Area::Definition, language, Some(KEYSPACE), script).await
    }

    async fn run_script(
        &self,
        area: Area,
        language: SketchLanguage,
        keyspace: Option<&str>,
        script: &str,
    ) -> Result<Option<String>, SketchError> {
        match language {
            SketchLanguage::Cql => {
                let state = QueryState { keyspace, ..self.state() };
                let outcome = cql::run_script(&state, script).await;
                Ok(outcome.map_err(|error| SketchError::of_cql(area, error))?.keyspace)
            }
            SketchLanguage::CassandraCli => {
                let outcome = cassandra_cli::run_script(&self.database, keyspace, script).await;
                Ok(outcome.map_err(|error| SketchError::of_cassandra_cli(area, error))?.keyspace)
            }
            SketchLanguage::StorageConf if script.trim().is_empty() => Ok(None),
            SketchLanguage::StorageConf => Err(SketchError::new(
                area,
                "storage-conf.xml defines column families and holds no data: use CQL or cassandra-cli",
            )),
        }
    }

    /// Returns the session of statements, with all rights on the sketch.
    pub(crate) fn state(&self) -> QueryState<'_> {
        QueryState::of_newest(&self.database)
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.database.catalog())
    }

    /// Ends the threads of the database.
    pub(crate) async fn close(self) {
        self.database.indexes().stop_builders().await;
        if let Err(error) = self.database.store().close().await {
            tracing::warn!("the database of a sketch did not close cleanly: {error}");
        }
    }
}
