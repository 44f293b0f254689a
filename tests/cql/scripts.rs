//! Runs the scripts in `tests/cql/` on every backend. A script has statements, `---` and their answers.
//!
//! A script is a list of blocks with a blank line between them. All statements of a block run, and their answers follow
//! `---`; a block without answers has `ok` there. `REWRITE=1` writes the answers of the store on disk into the scripts.
//!
//! ```text
//!   SELECT ...;                         a statement ends with a line that ends with `;`
//! with V, V: SELECT ... ?;            prepares the statement and runs it with these values of its markers, in hex, as
//! 'text', `null` or `unset`; a value may be preceded by its marker's name: `name=V`
//! markers SELECT ... ?;               prints the positions of the partition key's markers, and names and types of all
//!   explain SELECT ...;                 prints the row keys and cells that the statement reads and writes
//! cells TABLE KEY                     prints a stored row, as rows and as cells; the key in its type's text form or as
//!   0x...
//!   release 1.2                         uses the rules and messages of this release from here on
//!   language 1.2                        accepts only the language of this release from here on; by default all of it
//!   roles                               requires logins from here on; the user is `cassandra` until `as`
//!   as USER PASSWORD                    logs in
//!   claim 4.0.11                           reports this version from here on
//!   clock SECONDS                       moves the clock on, which otherwise stands still
//!   settle                              waits until the indexes on existing data are built
//!   restart                             closes and opens the store on disk; a store in memory is kept
//! ```
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::sync::Arc;

use crate::store_support;
use base::compat::Behaviour;
use base::compat::features::{Language, ReportedVersion};
use base::model::BoundValue;
use base::schema::{Catalog, show};
use base::util::{Clock, Release};
use bytes::Bytes;
use cql::{ChangedTarget, CqlError, Outcome, QueryOptions, QueryState, ResultSet};
use cql_syntax::TableName;
use db::{Authenticator, Database, DatabaseParts, Hasher, RoleKeeper, User};
use embedded::EmbeddedStore;
use store::Store;
use store_support as support;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Backend {
    Embedded,
    Memory,
}

/// The first time of the clock. It is well after 2010, because names of elements that are prepended to a list are
/// mirrored at that year.
const START_MS: i64 = 1_400_000_000_000;

/// A run of a script on a backend.
struct Run {
    backend: Backend,
    directory: tempfile::TempDir,
    clock: Arc<Clock>,
    language: Language,
    behaviour: &'static Behaviour,
    reported: ReportedVersion,
    keyspace: Option<String>,
    has_roles: bool,
    user: Option<User>,
    database: Option<Arc<Database>>,
    runtime: tokio::runtime::Runtime,
}

impl Run {
    fn new(backend: Backend) -> Run {
        let mut run = Run {
            backend,
            directory: tempfile::tempdir().unwrap(),
            clock: Arc::new(Clock::manual(START_MS)),
            behaviour: Behaviour::of(Release::V2_1),
            language: Language::Newest,
            reported: ReportedVersion::of_release(Behaviour::of(Release::V2_1)).clone(),
            keyspace: None,
            has_roles: false,
            user: None,
            database: None,
            // The store moves long work to other threads, which requires a runtime with several threads.
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap(),
        };
        run.open();
        run
    }

    fn open(&mut self) {
        let partitioner = support::partitioner("Murmur3Partitioner");
        let catalog = Arc::new(Catalog::default());
        let store: Arc<dyn Store> = match self.backend {
            Backend::Memory => {
                Arc::new(EmbeddedStore::in_memory(partitioner.clone(), &catalog, self.clock.clone()).unwrap())
            }
            Backend::Embedded => {
                let options = support::options(self.directory.path());
                Arc::new(
                    EmbeddedStore::open(options, partitioner.clone(), &catalog, self.clock.clone()).unwrap(),
                )
            }
        };
        let authenticator = match self.has_roles {
            true => Authenticator::Password { are_permissions_enforced: true },
            false => Authenticator::AllowAll,
        };
        // The lowest cost, because the tests create many hashes.
        let keeper = RoleKeeper::new(Hasher::with_cost(4));
        let database = Database::new(DatabaseParts {
            authenticator,
            ..DatabaseParts::new(catalog, store, partitioner, self.clock.clone())
        });
        let database = Arc::new(database.with_roles(keeper));
        self.runtime.block_on(database.stored_schema().load()).unwrap();
        self.database = Some(database);
    }

    fn restart(&mut self) {
        if self.backend == Backend::Embedded {
            let database = self.database.take().unwrap();
            self.runtime.block_on(database.store().close()).unwrap();
            self.runtime.block_on(support::wait_until_unused(database));
            self.open();
        }
    }

    /// Logs in. Later statements run as this user.
    fn log_in(&mut self, name: &str, password: &str) -> String {
        let credentials = [("username", name), ("password", password)]
            .map(|(key, value)| (key.into(), Bytes::copy_from_slice(value.as_bytes())));
        let database = self.database.as_ref().unwrap();
        match self.runtime.block_on(database.logins().authenticate(&credentials, self.behaviour.release)) {
            Ok(user) => self.user = user,
            Err(error) => return format!("login: {error}\n"),
        }
        String::new()
    }

    /// Runs one statement or command.
    fn run(&mut self, text: &str) -> String {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word {
            "restart" => self.restart(),
            "roles" => {
                self.has_roles = true;
                match self.backend {
                    Backend::Embedded => self.restart(),
                    Backend::Memory => self.open(),
                }
                return self.log_in("cassandra", "cassandra");
            }
            "as" => {
                let (name, password) = rest.split_once(' ').unwrap();
                return self.log_in(name, password);
            }
            "settle" => self.runtime.block_on(self.database.as_ref().unwrap().indexes().until_built()),
            "clock" => self.clock.advance_ms(rest.parse::<i64>().unwrap() * 1000),
            "release" => {
                self.behaviour = Behaviour::of(rest.parse().unwrap());
                self.reported = ReportedVersion::of_release(self.behaviour).clone();
            }
            "language" => self.language = Language::Of(rest.parse().unwrap()),
            "claim" => self.reported = ReportedVersion::new(rest).unwrap(),
            _ => {
                let (keyspace, answered) = match self.call(word, rest, text) {
                    Ok((keyspace, answered)) => (keyspace, answered),
                    Err(error) => (None, format!("{}: {error}\n", kind_of(&error))),
                };
                self.keyspace = keyspace.or(self.keyspace.take());
                return answered;
            }
        }
        String::new()
    }

    /// Runs a statement. Returns the keyspace that it selects, if any, and its answer.
    fn call(&self, word: &str, rest: &str, text: &str) -> Result<(Option<String>, String), CqlError> {
        let database = self.database.as_ref().unwrap();
        let (behaviour, language, keyspace) = (self.behaviour, self.language, self.keyspace.as_deref());
        let (reported, user) = (&self.reported, self.user.as_ref());
        let state =
            QueryState { database, behaviour, language, reported, keyspace, user, sees_new_indexes: false };
        self.runtime.block_on(async {
            match word {
                "cells" => Ok((None, cells(&state, rest).await?)),
                "explain" => Ok((None, cql::explain(&state, rest, &QueryOptions::default()).await?)),
                "markers" => {
                    let prepared = cql::prepare(&state, rest)?;
                    let shown = |marker: &cql::ColumnSpec| format!("{} {}", marker.name, marker.cql_type);
                    let markers: Vec<String> = prepared.markers.iter().map(shown).collect();
                    Ok((None, format!("{:?} of {}\n", prepared.pk_indices(), markers.join(", "))))
                }
                "with" => {
                    let (values, text) = unquoted_split(rest, ": ").unwrap();
                    let prepared = cql::prepare(&state, text)?;
                    let outcome = cql::execute_prepared(&state, &prepared, &with(values)).await?;
                    Ok(formatted(database, outcome))
                }
                _ => Ok(formatted(database, cql::query(&state, text, &QueryOptions::default()).await?)),
            }
        })
    }
}

fn kind_of(error: &CqlError) -> &'static str {
    match error {
        CqlError::Syntax { .. } => "syntax",
        CqlError::Configuration(_) => "configuration",
        CqlError::AlreadyExists { .. } => "exists",
        CqlError::Unauthorized(_) => "unauthorized",
        CqlError::PagingState => "paging",
        CqlError::Unprepared(_) => "unprepared",
        CqlError::Failed(_) => "failed",
    }
}

/// Splits a text at the first separator that is not in single quotes.
fn unquoted_split<'t>(text: &'t str, separator: &str) -> Option<(&'t str, &'t str)> {
    let is_outside = |at: &usize| text[..*at].matches('\'').count().is_multiple_of(2);
    let at = text.match_indices(separator).map(|(at, _)| at).find(is_outside)?;
    Some((&text[..at], &text[at + separator.len()..]))
}

/// Parses the values of markers, by position or by name.
fn with(words: &str) -> QueryOptions {
    let mut options = QueryOptions::default();
    let mut rest = Some(words);
    while let Some(words) = rest {
        let (word, after) =
            unquoted_split(words, ", ").map_or((words, None), |(word, after)| (word, Some(after)));
        rest = after;
        let is_name = |name: &str| !name.starts_with('\'');
        let (name, word) = word.split_once('=').filter(|(name, _)| is_name(name)).unwrap_or(("", word));
        options.names.extend((!name.is_empty()).then(|| name.to_owned()));
        options.values.push(bound(word));
    }
    options
}

/// Parses the value of a marker: `null`, `unset`, `'text'` or hex.
fn bound(word: &str) -> BoundValue {
    let text = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\''));
    match (word, text) {
        ("null", _) => BoundValue::Null,
        ("unset", _) => BoundValue::Unset,
        (_, Some(text)) => BoundValue::Value(Bytes::copy_from_slice(text.as_bytes())),
        (hex, None) => BoundValue::Value(unhex(hex)),
    }
}

fn unhex(text: &str) -> Bytes {
    let text = text.strip_prefix("0x").unwrap_or(text);
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap_or_else(|_| panic!("{text} is not hex"));
    (0..text.len()).step_by(2).map(byte).collect()
}

async fn cells(state: &QueryState<'_>, words: &str) -> Result<String, CqlError> {
    let (name, key) = words.split_once(' ').unwrap();
    let name = TableName { keyspace: None, name: name.to_owned() };
    let key = match key.strip_prefix("0x") {
        Some(hex) => unhex(hex),
        None => {
            let table = state.table(&name)?;
            match &table.cf.key_validator {
                Some(class) => class.parse_text(key).unwrap().into(),
                None => Bytes::copy_from_slice(key.as_bytes()),
            }
        }
    };
    cql::stored_row(state, &name, &key).await
}

/// Returns the keyspace that a statement selects, if any, and its outcome as text.
fn formatted(database: &Database, outcome: Outcome) -> (Option<String>, String) {
    match outcome {
        Outcome::Void => (None, String::new()),
        Outcome::Warned(warning) => (None, format!("warning: {warning}\n")),
        Outcome::Rows(rows) => (None, table(database, &rows)),
        Outcome::Keyspace(keyspace) => (Some(keyspace), String::new()),
        Outcome::Schema(change) => {
            let target = match change.target {
                None => String::new(),
                Some(ChangedTarget::Table(table)) => format!(", table {table}"),
                Some(ChangedTarget::Type(name)) => format!(", type {name}"),
            };
            let word = format!("{:?}", change.change).to_lowercase();
            (None, format!("{word}: keyspace {}{target}\n", change.keyspace))
        }
    }
}

/// Formats rows as a table with the names of the columns.
fn table(database: &Database, rows: &ResultSet) -> String {
    let mut lines = vec![rows.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>()];
    for row in &rows.rows {
        assert_eq!(
            row.len(),
            rows.columns.len(),
            "a row does not have as many values as the result has columns"
        );
        let cells = rows.columns.iter().zip(row).map(|(column, value)| match value {
            None => "null".to_owned(),
            Some(value) => show::literal(database.types(), &column.cql_type, value),
        });
        lines.push(cells.collect());
    }
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.columns.len()).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join(" | ").trim_end());
        text.push('\n');
    }
    if rows.rows.is_empty() {
        text.push_str("(no rows)\n");
    }
    text
}

/// Returns the statements and commands of a block.
fn statements(input: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut lines = Vec::new();
    for line in input.lines().filter(|line| !line.starts_with('#')) {
        lines.push(line);
        let first = lines[0].split_whitespace().next().unwrap_or_default();
        let is_command =
            ["cells", "release", "language", "claim", "clock", "restart", "settle", "roles", "as"]
                .contains(&first);
        let is_whole = first != "BEGIN" || line.ends_with("APPLY BATCH;");
        if is_command || (is_whole && line.ends_with(';')) {
            statements.push(lines.join("\n"));
            lines.clear();
        }
    }
    assert!(lines.is_empty(), "a statement does not end with a semicolon: {lines:?}");
    statements
}

/// Returns the script with the answers of a backend.
fn answer(script: &str, backend: Backend) -> String {
    let mut run = Run::new(backend);
    let mut blocks = Vec::new();
    for block in script.trim_end().split("\n\n") {
        let input = block.split("\n---\n").next().unwrap();
        let statements = statements(input);
        if statements.is_empty() {
            blocks.push(input.to_owned());
            continue;
        }
        // A blank line would end the block.
        let output: String =
            statements.iter().map(|statement| run.run(statement).replace("\n\n", "\n.\n")).collect();
        let output = if output.is_empty() { "ok" } else { output.trim_end() };
        blocks.push(format!("{input}\n---\n{output}"));
    }
    blocks.join("\n\n") + "\n"
}

#[test]
fn every_script_runs_on_the_embedded_store() {
    support::check_scripts("cql", |script| answer(script, Backend::Embedded));
}

#[test]
fn every_script_runs_on_the_store_in_memory() {
    for (path, script) in support::scripts("cql") {
        if !support::is_rewriting() {
            assert_eq!(answer(&script, Backend::Memory), script, "{}", path.display());
        }
    }
}
