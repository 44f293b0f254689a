//! Helpers for tests of statements: a database in memory, statements as text, and cells in hex.

use std::sync::Arc;

use bytes::Bytes;

use super::{BatchPlan, ModifyPlan};
use crate::define::define;
use crate::values::Markers;
use crate::{Outcome, QueryOptions, QueryState, Result};
use base::compat::Behaviour;
use base::compat::features::{ConsistencyLevel, Language, ReportedVersion};
use base::marshal::CollectionForm;
use base::model::{Cell, CellKind, Predicate, RowColumns, SliceRange};
use base::partitioner::{PartitionerRef, RandomPartitioner};
use base::schema::Catalog;
use base::util::{Clock, Release, hex};
use cql_syntax::{Statement, parse_as};
use db::{Database, DatabaseParts};
use embedded::EmbeddedStore;
use store::Store;

/// A database with the keyspace `k`, and a session in it.
pub(super) struct Bench {
    pub database: Arc<Database>,
    pub clock: Arc<Clock>,
    pub behaviour: &'static Behaviour,
}

pub(super) fn options(values: &[Option<&[u8]>]) -> QueryOptions {
    QueryOptions {
        consistency: ConsistencyLevel::One,
        serial_consistency: ConsistencyLevel::Serial,
        has_conditions: true,
        values: values.iter().map(|value| value.map(Bytes::copy_from_slice).into()).collect(),
        names: Vec::new(),
        collection_form: CollectionForm::Short,
        timestamp: None,
        page_size: None,
        paging_state: None,
    }
}

pub(super) fn unhex(text: &str) -> Bytes {
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    base::util::unhex(digits.as_bytes()).unwrap().into()
}

impl Bench {
    pub async fn new(tables: &[&str]) -> Bench {
        let memory = |partitioner, clock| -> Arc<dyn Store> {
            Arc::new(EmbeddedStore::in_memory(partitioner, &Catalog::default(), clock).unwrap())
        };
        Bench::with_store(tables, memory).await
    }

    pub async fn with_store(
        tables: &[&str],
        store: impl FnOnce(PartitionerRef, Arc<Clock>) -> Arc<dyn Store>,
    ) -> Bench {
        let clock = Arc::new(Clock::manual(1_700_000_000_000));
        let partitioner: PartitionerRef = Arc::new(RandomPartitioner);
        let database = Arc::new(Database::new(DatabaseParts::new(
            Arc::new(Catalog::default()),
            store(partitioner.clone(), clock.clone()),
            partitioner,
            clock.clone(),
        )));
        let bench = Bench { database, clock, behaviour: Behaviour::of(Release::V2_1) };
        bench
            .done("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
            .await;
        for table in tables {
            bench.done(table).await;
        }
        bench
    }

    /// Returns the same database with the behaviour of another release.
    pub fn at(&self, release: Release) -> Bench {
        let behaviour = Behaviour::of(release);
        Bench { database: self.database.clone(), clock: self.clock.clone(), behaviour }
    }

    pub async fn run_with(&self, text: &str, options: &QueryOptions) -> Result<Outcome> {
        let parsed = parse_as(text, self.behaviour.release, Language::Newest)?;
        let state = QueryState {
            database: &self.database,
            behaviour: self.behaviour,
            reported: ReportedVersion::of_release(self.behaviour),
            language: Language::Newest,
            keyspace: Some("k"),
            user: None,
            sees_new_indexes: false,
        };
        let mut markers = Markers::new(parsed.markers.len());
        match &parsed.statement {
            Statement::Modify(modify) => {
                ModifyPlan::new(&state, modify, &mut markers)?.execute(&state, options).await
            }
            Statement::Batch(batch) => {
                BatchPlan::new(&state, &mut batch.clone(), &mut markers)?.execute(&state, options).await
            }
            statement => define(&state, statement).await,
        }
    }

    pub async fn run(&self, text: &str) -> Result<Outcome> {
        self.run_with(text, &options(&[])).await
    }

    /// Runs a statement that must succeed.
    pub async fn done(&self, text: &str) {
        if let Err(error) = self.run(text).await {
            panic!("{text}: {error}");
        }
    }

    /// Returns the error of a statement, or the columns and values of its rows if it returns any.
    pub async fn outcome_text(&self, text: &str) -> String {
        match self.run(text).await {
            Err(error) => error.to_string(),
            Ok(Outcome::Rows(result)) => {
                let names: Vec<&str> = result.columns.iter().map(|column| &*column.name).collect();
                let value = |value: &Option<Bytes>| value.as_deref().map_or("null".to_owned(), hex);
                let rows = result.rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>().join(" "));
                format!("{}: {}", names.join(" "), rows.collect::<Vec<_>>().join("; "))
            }
            Ok(_) => "done".to_owned(),
        }
    }

    pub async fn cells(&self, table: &str, key: &str, super_column: Option<&str>) -> Vec<Cell> {
        let cf = self.database.catalog().column_family("k", table).unwrap().clone();
        let predicate = Predicate::Range(SliceRange::all());
        let super_column = super_column.map(unhex);
        let request = self.database.request(b"k", ConsistencyLevel::One, self.behaviour);
        let read = request.reads().read_cells(&cf, unhex(key), super_column, predicate).await.unwrap();
        let RowColumns::Cells(cells) = read else { panic!("super columns") };
        cells
    }

    /// Returns the cells of a row: name, value, and attributes such as a TTL.
    pub async fn shown(&self, table: &str, key: &str) -> Vec<String> {
        let shown = |cell: Cell| {
            let ttl = match cell.kind {
                CellKind::Expiring { ttl_s, .. } => format!(" ttl {ttl_s}"),
                CellKind::Counter => " counter".to_owned(),
                _ => String::new(),
            };
            format!("{}={}{ttl}", hex(&cell.name), hex(&cell.value))
        };
        self.cells(table, key, None).await.into_iter().map(shown).collect()
    }

    /// Compares the cells of a row with lines of `name = value` in hex. Blanks and bars are ignored.
    pub async fn check(&self, table: &str, key: &str, expected: &[&str]) {
        let plain = |line: &&str| line.chars().filter(|c| !matches!(c, ' ' | '|')).collect::<String>();
        let mut shown = self.shown(table, key).await;
        shown.iter_mut().for_each(|line| line.retain(|c| c != ' '));
        assert_eq!(shown, expected.iter().map(plain).collect::<Vec<_>>(), "{table} {key}");
    }
}
