//! Tests of SELECT with a database in memory.

mod access_path;
mod messages;
mod model;
mod pages;
mod reach;
mod rows;

use std::sync::Arc;

use crate::{CqlError, Outcome, QueryOptions, QueryState, ResultSet, query};
use base::compat::Behaviour;
use base::compat::features::{Language, ReportedVersion};
use base::marshal::CollectionForm;
use base::partitioner::Murmur3Partitioner;
use base::schema::Catalog;
use base::util::{Clock, Release, hex};
use bytes::Bytes;
use db::{Database, DatabaseParts};
use embedded::EmbeddedStore;

struct Session {
    database: Arc<Database>,
    release: Release,
    /// The later release that it reports as its own version.
    reported: Option<ReportedVersion>,
}

fn options() -> QueryOptions {
    QueryOptions { collection_form: CollectionForm::Long, ..QueryOptions::default() }
}

impl Session {
    async fn new() -> Session {
        let clock = Arc::new(Clock::system());
        let partitioner = Arc::new(Murmur3Partitioner);
        let database = Database::new(DatabaseParts::new(
            Arc::new(Catalog::default()),
            Arc::new(
                EmbeddedStore::in_memory(partitioner.clone(), &Catalog::default(), clock.clone()).unwrap(),
            ),
            partitioner,
            clock,
        ));
        let session = Session { database: Arc::new(database), release: Release::V2_1, reported: None };
        session
            .done("CREATE KEYSPACE s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
            .await;
        session
    }

    async fn run(&self, text: &str, options: &QueryOptions) -> Result<Outcome, CqlError> {
        let behaviour = Behaviour::of(self.release);
        let reported = self.reported.as_ref().unwrap_or_else(|| ReportedVersion::of_release(behaviour));
        let state = QueryState {
            database: &self.database,
            behaviour,
            reported,
            language: Language::Newest,
            keyspace: Some("s"),
            user: None,
            sees_new_indexes: false,
        };
        query(&state, text, options).await
    }

    async fn done(&self, text: &str) {
        if let Err(error) = self.run(text, &options()).await {
            panic!("{text}: {error}");
        }
    }

    async fn rows(&self, text: &str, options: &QueryOptions) -> ResultSet {
        match self.run(text, options).await {
            Ok(Outcome::Rows(rows)) => rows,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// Returns the rows in a short form: numbers, texts, other bytes in hex, `-` for null.
    async fn ask(&self, text: &str) -> String {
        match self.run(text, &options()).await {
            Ok(Outcome::Rows(found)) => {
                found.rows.iter().map(|row| shown(row)).collect::<Vec<_>>().join(", ")
            }
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        }
    }
}

fn shown(row: &[Option<Bytes>]) -> String {
    let value = |value: &Option<Bytes>| match value.as_deref() {
        None => "-".to_owned(),
        Some(bytes) => match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
            (Ok(int), _) => i32::from_be_bytes(int).to_string(),
            (_, Ok(long)) => i64::from_be_bytes(long).to_string(),
            _ if bytes.is_ascii() && bytes.iter().all(u8::is_ascii_alphanumeric) => {
                String::from_utf8_lossy(bytes).into_owned()
            }
            _ => hex(bytes),
        },
    };
    row.iter().map(value).collect::<Vec<_>>().join("|")
}

/// Creates the tables with which the messages of the reference server were recorded.
async fn with_tables() -> Session {
    let session = Session::new().await;
    for statement in [
        "CREATE TABLE t (k int, k2 int, a int, b int, c int, v int, w int, m map<text, int>, PRIMARY KEY ((k, k2), a, b, c))",
        "CREATE TABLE o (k int, a int, b int, c int, v int, PRIMARY KEY (k, a, b, c)) WITH CLUSTERING ORDER BY (a DESC, b ASC)",
        "CREATE TABLE st (k int, c int, s int static, v int, PRIMARY KEY (k, c))",
        "CREATE TABLE i (k int, c int, v int, w int, l set<int>, PRIMARY KEY (k, c))",
        "CREATE INDEX ON i (v)",
        "CREATE INDEX ON i (l)",
        "CREATE TABLE d (k int, c int, v int, PRIMARY KEY (k, c)) WITH COMPACT STORAGE",
        "CREATE TABLE d2 (k int, a int, b int, v int, PRIMARY KEY (k, a, b)) WITH COMPACT STORAGE",
        "CREATE TABLE sc (k int PRIMARY KEY, a int, b int) WITH COMPACT STORAGE",
    ] {
        session.done(statement).await;
    }
    session.database.indexes().until_built().await;
    session
}
