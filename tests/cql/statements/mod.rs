//! Compares CQL with a model of tables: random statements on random tables return what the model returns, and are
//! stored in the cells that the table's layout defines.
//!
//! Unit tests in `crates/cql/src/select` compare conditions, slices and pages of SELECT.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "random numbers are small")]

mod change;
mod dice;
mod model;
use crate::store_support;
mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use base::compat::Behaviour;
use base::compat::features::{ConsistencyLevel, Language, ReportedVersion};
use base::model::{Cell, Predicate, RowColumns, SliceRange};
use base::schema::Catalog;
use base::util::{Clock, Release};
use bytes::Bytes;
use cql::{CqlError, Outcome, QueryOptions, QueryState};
use db::{Database, DatabaseParts};
use embedded::EmbeddedStore;
use proptest::prelude::*;
use store::Store;

use change::{Expected, Writer};
use dice::Dice;
use model::{Model, Row, Values};
use table::{Column, Kind, Layout, Table};

/// Where the clock starts: elements are put before a list's in a mirror of 2010, and must not meet it.
const START_MS: i64 = 1_400_000_000_000;

fn state(database: &Arc<Database>) -> QueryState<'_> {
    let behaviour = Behaviour::of(Release::V2_1);
    let reported = ReportedVersion::of_release(behaviour);
    QueryState {
        database,
        behaviour,
        reported,
        language: Language::Newest,
        keyspace: Some("k"),
        user: None,
        sees_new_indexes: false,
    }
}

/// A database with the table, its model, and the statements so far.
struct Case {
    directory: tempfile::TempDir,
    is_on_disk: bool,
    clock: Arc<Clock>,
    database: Option<Arc<Database>>,
    model: Model,
    /// The indexed column.
    index: Option<Column>,
    /// The statements so far, which a failure prints.
    statements: Vec<String>,
}

impl Case {
    async fn new(table: Table, is_on_disk: bool) -> Case {
        let clock = Arc::new(Clock::manual(START_MS));
        let create = table.statement();
        let mut case = Case {
            directory: tempfile::tempdir().unwrap(),
            is_on_disk,
            database: None,
            model: Model::new(table, clock.now_s()),
            index: None,
            clock,
            statements: Vec::new(),
        };
        case.open().await;
        case.done(
            "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        )
        .await;
        case.done(&create).await;
        case
    }

    /// Creates an index on a random column if the table may have one.
    async fn make_index(&mut self, dice: &mut Dice<'_>) {
        let columns = self.model.table.indexable();
        if columns.is_empty() || dice.below(3) > 0 {
            return;
        }
        let column = dice.pick(&columns).clone();
        let target = if column.kind == Kind::Frozen { "full(f)" } else { column.name };
        self.done(&format!("CREATE INDEX ON t ({target})")).await;
        self.index = Some(column);
    }

    async fn open(&mut self) {
        let partitioner = store_support::partitioner("Murmur3Partitioner");
        let catalog = Arc::new(Catalog::default());
        let store: Arc<dyn Store> = if self.is_on_disk {
            let options = store_support::options(self.directory.path());
            Arc::new(EmbeddedStore::open(options, partitioner.clone(), &catalog, self.clock.clone()).unwrap())
        } else {
            Arc::new(EmbeddedStore::in_memory(partitioner.clone(), &catalog, self.clock.clone()).unwrap())
        };
        let database =
            Arc::new(Database::new(DatabaseParts::new(catalog, store, partitioner, self.clock.clone())));
        database.stored_schema().load().await.unwrap();
        self.database = Some(database);
    }

    fn database(&self) -> &Arc<Database> {
        self.database.as_ref().unwrap()
    }

    async fn run(&mut self, text: &str) -> Result<Outcome, CqlError> {
        self.statements.push(text.to_owned());
        let state = state(self.database());
        cql::query(&state, text, &QueryOptions::default()).await
    }

    async fn done(&mut self, text: &str) -> Outcome {
        match self.run(text).await {
            Ok(outcome) => outcome,
            Err(error) => panic!("{error}\n{}", self.statements.join(";\n")),
        }
    }

    /// Runs one random step: statements, a change of the clock, or a restart.
    async fn step(&mut self, dice: &mut Dice<'_>) {
        match dice.below(12) {
            0 => {
                self.clock.advance_ms(1000 * (1 + dice.below(12) as i64));
                self.model.now_s = self.clock.now_s();
                self.statements.push(format!("-- second {}", self.model.now_s));
            }
            1 => self.restart().await,
            2 => self.drop_column(dice).await,
            3 => self.batch(dice).await,
            4 => {
                let timestamp = self.database().next_micros();
                let mut writer = Writer::new(&mut self.model, dice, (timestamp, false), false);
                let (text, expected) = writer.conditional();
                self.expect(&text, expected).await;
            }
            number => {
                let has_timestamp = number == 5;
                let timestamp =
                    if has_timestamp { 1 + dice.below(5) as i64 } else { self.database().next_micros() };
                let mut writer =
                    Writer::new(&mut self.model, dice, (timestamp, has_timestamp), !has_timestamp);
                let (text, expected) = writer.change();
                self.expect(&text, expected).await;
            }
        }
    }

    async fn expect(&mut self, text: &str, expected: Expected) {
        let outcome = self.run(text).await;
        let found = match &outcome {
            Ok(Outcome::Rows(rows)) => Expected::Applied(rows.rows[0][0].as_deref() == Some(&[1])),
            Ok(_) => Expected::Done,
            Err(_) => Expected::Refused,
        };
        assert_eq!(found, expected, "{outcome:?}\n{}", self.statements.join(";\n"));
    }

    async fn batch(&mut self, dice: &mut Dice<'_>) {
        let has_timestamp = dice.below(3) == 0;
        let timestamp = if has_timestamp { 1 + dice.below(5) as i64 } else { self.database().next_micros() };
        let mut texts = Vec::new();
        for _ in 0..2 + dice.below(3) {
            let mut writer = Writer::new(&mut self.model, dice, (timestamp, false), false);
            texts.push(writer.change().0);
        }
        let using = if has_timestamp { format!(" USING TIMESTAMP {timestamp}") } else { String::new() };
        let text = format!("BEGIN UNLOGGED BATCH{using} {}; APPLY BATCH", texts.join("; "));
        self.expect(&text, Expected::Done).await;
    }

    /// Drops a column and adds it again without its values.
    async fn drop_column(&mut self, dice: &mut Dice<'_>) {
        if self.model.table.layout != Layout::Sparse || self.model.table.others.is_empty() {
            return;
        }
        let column = dice.pick(&self.model.table.others).clone();
        let definition = self.model.table.definition_of(&column);
        // Its index is dropped with it.
        self.index = self.index.take().filter(|indexed| indexed.name != column.name);
        self.model.drop_column(column.name, self.database().next_micros());
        self.done(&format!("ALTER TABLE t DROP {}", column.name)).await;
        self.done(&format!("ALTER TABLE t ADD {definition}")).await;
    }

    async fn restart(&mut self) {
        if self.is_on_disk {
            self.statements.push("-- restart".to_owned());
            let database = self.database.take().unwrap();
            database.store().close().await.unwrap();
            store_support::wait_until_unused(database).await;
            self.open().await;
        }
    }

    async fn compare(&mut self) {
        let keys: Vec<Values> = self.model.keys().cloned().collect();
        let expected = keys.iter().map(|key| (key.clone(), self.model.rows(key)));
        let expected: BTreeMap<Values, Vec<Row>> = expected.filter(|(_, rows)| !rows.is_empty()).collect();
        let Outcome::Rows(found) = self.done("SELECT * FROM t").await else { panic!("no rows") };
        self.statements.pop();
        let width = self.model.table.partition_key.len();
        let mut partitions: BTreeMap<Values, Vec<Row>> = BTreeMap::new();
        let mut last = None;
        for row in found.rows {
            let row: Row = row.into_iter().map(|value| value.map(|value| value.to_vec())).collect();
            let key: Values = row[..width].iter().flatten().cloned().collect();
            assert!(
                last.as_ref() == Some(&key) || !partitions.contains_key(&key),
                "rows of {key:?} are not adjacent"
            );
            partitions.entry(key.clone()).or_default().push(row);
            last = Some(key);
        }
        assert_eq!(partitions, expected, "\n{}", self.statements.join(";\n"));
        for key in &keys {
            self.compare_cells(key).await;
        }
        self.compare_index(&keys).await;
    }

    /// Compares the rows that the index finds for every value with those of the model.
    async fn compare_index(&mut self, keys: &[Values]) {
        let Some(column) = self.index.clone() else { return };
        for (literal, value) in column.kind.values() {
            let operator = if column.kind.is_collection() { "CONTAINS" } else { "=" };
            let text = format!("SELECT * FROM t WHERE {} {operator} {literal}", column.name);
            let Outcome::Rows(found) = self.done(&text).await else { panic!("no rows") };
            self.statements.pop();
            let found = found.rows.into_iter();
            let mut found: Vec<Row> = found
                .map(|row| row.into_iter().map(|value| value.map(|value| value.to_vec())).collect())
                .collect();
            found.sort();
            let rows = keys.iter().flat_map(|key| self.model.rows_with(key, &column, &value));
            let mut expected: Vec<Row> = rows.collect();
            expected.sort();
            assert_eq!(found, expected, "{text}\n{}", self.statements.join(";\n"));
        }
    }

    /// Compares the cells of a partition with those that the layout defines.
    async fn compare_cells(&self, key: &Values) {
        let table = &self.model.table;
        let cf = self.database().catalog().column_family("k", "t").unwrap().clone();
        let behaviour = Behaviour::of(Release::V2_1);
        let request = self.database().request(b"k", ConsistencyLevel::One, behaviour);
        let row_key = Bytes::from(table.row_key(key));
        let all = Predicate::Range(SliceRange::all());
        let RowColumns::Cells(cells) = request.reads().read_cells(&cf, row_key, None, all).await.unwrap()
        else {
            panic!("super columns")
        };
        let live = cells.into_iter().filter(Cell::is_live);
        let mut live: Vec<(Vec<u8>, Vec<u8>)> =
            live.map(|cell| (cell.name.to_vec(), cell.value.to_vec())).collect();
        for ((row, name), values) in self.model.seen_lists(key) {
            let prefix = table.cell_name(row.as_deref(), name, None);
            // The prefix is followed by a time UUID in names of list elements, which row markers do not have.
            let is_element =
                |(name, _): &(Vec<u8>, Vec<u8>)| name.len() == prefix.len() + 19 && name.starts_with(&prefix);
            let elements: Vec<Vec<u8>> =
                live.iter().filter(|cell| is_element(cell)).map(|(_, value)| value.clone()).collect();
            assert_eq!(elements, values, "{name}\n{}", self.statements.join(";\n"));
            live.retain(|cell| !is_element(cell));
        }
        let expected = self.model.seen_cells(key);
        let name =
            |(row, name, element): &model::Address| table.cell_name(row.as_deref(), name, element.as_deref());
        let expected: BTreeMap<Vec<u8>, Vec<u8>> =
            expected.iter().map(|(address, value)| (name(address), value.clone())).collect();
        let live: BTreeMap<Vec<u8>, Vec<u8>> = live.into_iter().collect();
        assert_eq!(live, expected, "cells of {key:?}\n{}", self.statements.join(";\n"));
    }
}

async fn run(of_table: Vec<u16>, is_on_disk: bool, steps: Vec<Vec<u16>>) {
    let table = Table::of(&mut Dice::new(&of_table));
    let mut case = Case::new(table, is_on_disk).await;
    case.make_index(&mut Dice::new(&of_table[18..])).await;
    for step in &steps {
        case.step(&mut Dice::new(step)).await;
        case.compare().await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 2048, ..ProptestConfig::default() })]

    #[test]
    fn random_statements_return_what_the_model_returns(
        table in prop::collection::vec(any::<u16>(), 24),
        is_on_disk in prop::bool::weighted(0.2),
        steps in prop::collection::vec(prop::collection::vec(any::<u16>(), 40), 1..30),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(run(table, is_on_disk, steps));
    }
}

/// Reads and writes run at the same time. A read removes stale entries of the index, but never one that a write has
/// just added.
#[test]
fn removing_stale_entries_of_an_index_keeps_new_ones() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut case = Case::new(Table::of(&mut Dice::new(&[])), true).await;
        case.done("CREATE TABLE u (k int, c int, v int, PRIMARY KEY (k, c))").await;
        case.done("CREATE INDEX ON u (v)").await;
        let database = case.database().clone();
        let worker = |seed: u64| {
            let database = database.clone();
            async move {
                let mut numbers = seed;
                let mut below = |end: u64| {
                    numbers = numbers
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    (numbers >> 33) % end
                };
                for _ in 0..400 {
                    let (k, c, v) = (below(3), below(2), below(3));
                    let text = match below(6) {
                        0..3 => format!("SELECT * FROM u WHERE v = {v}"),
                        3 => format!("DELETE FROM u WHERE k = {k} AND c = {c}"),
                        _ => format!("UPDATE u SET v = {v} WHERE k = {k} AND c = {c}"),
                    };
                    query(&database, &text).await;
                }
            }
        };
        let workers: Vec<_> = (0..6).map(|seed| tokio::spawn(worker(seed))).collect();
        for worker in workers {
            worker.await.unwrap();
        }
        let all = query(&database, "SELECT * FROM u").await;
        assert!(!all.is_empty());
        for v in 0..3i32 {
            let mut found = query(&database, &format!("SELECT * FROM u WHERE v = {v}")).await;
            let is_meant = |row: &&Row| row[2].as_deref() == Some(&v.to_be_bytes());
            let mut expected: Vec<Row> = all.iter().filter(is_meant).cloned().collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected);
        }
    });
}

#[test]
fn a_query_by_index_removes_the_stale_entries_that_it_finds() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut case = Case::new(Table::of(&mut Dice::new(&[])), false).await;
        case.done("CREATE TABLE u (k int, c int, v int, PRIMARY KEY (k, c))").await;
        case.done("CREATE INDEX ON u (v)").await;
        // A query does not read an index that is not complete.
        case.database().indexes().until_built().await;
        case.done("INSERT INTO u (k, c, v) VALUES (1, 1, 5)").await;
        case.done("INSERT INTO u (k, c, v) VALUES (1, 2, 5)").await;
        case.done("INSERT INTO u (k, c, v) VALUES (2, 1, 5)").await;
        case.done("UPDATE u SET v = 6 WHERE k IN (1, 2) AND c = 1").await;
        assert_eq!(partitions_in_index(case.database(), 5).await, 2);
        case.done("SELECT * FROM u WHERE v = 5").await;
        assert_eq!(
            partitions_in_index(case.database(), 5).await,
            1,
            "another row of the partition has the value"
        );
        case.done("DELETE FROM u WHERE k = 1").await;
        case.done("SELECT * FROM u WHERE v = 5").await;
        assert_eq!(partitions_in_index(case.database(), 5).await, 0);
        assert_eq!(partitions_in_index(case.database(), 6).await, 2, "no query has found them");
    });
}

/// Returns the number of partitions in the index on `u.v`, stale entries included.
async fn partitions_in_index(database: &Arc<Database>, value: i32) -> usize {
    let cf = database.catalog().column_family("k", "u").unwrap().clone();
    let (column, value) = (Bytes::from_static(b"v"), value.to_be_bytes());
    let request = database.request(b"k", ConsistencyLevel::One, Behaviour::of(Release::V2_1));
    request.index_reads().indexed_keys(&cf, &column, &value, None, 10).await.unwrap().len()
}

async fn query(database: &Arc<Database>, text: &str) -> Vec<Row> {
    let Outcome::Rows(found) = cql::query(&state(database), text, &QueryOptions::default()).await.unwrap()
    else {
        return Vec::new();
    };
    let row =
        |row: Vec<Option<Bytes>>| row.into_iter().map(|value| value.map(|value| value.to_vec())).collect();
    found.rows.into_iter().map(row).collect()
}
