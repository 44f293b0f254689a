//! Compares indexes with full scans: after random writes, deletions, writes with older timestamps, expired cells and
//! restarts, a query by index returns the same rows as a scan of all rows, in the same order.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::Path;
use std::sync::Arc;

use crate::{store_support, support};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::model::{Row, RowColumns};
use base::schema::{Catalog, IndexKind};
use base::util::{Clock, Release};
use bytes::Bytes;
use db::{
    CfRequest, ColumnParent, ColumnPath, ColumnRequest, Database, DatabaseParts, IndexClause,
    IndexExpression, IndexOperator, KeyRange, KsRequest, NewColumn, RequestedRange, SlicePredicate,
};
use embedded::EmbeddedStore;
use store_support as stores;
use support::Chance;

const KS: &[u8] = b"Indexed";
const CF: &str = "People";
const ROWS: usize = 12;
const VALUES: [&str; 4] = ["", "CA", "UT", "TX"];
const ONE: ConsistencyLevel = ConsistencyLevel::One;

fn level() -> &'static Behaviour {
    Behaviour::of(Release::V2_1)
}

async fn open(directory: &Path, clock: &Arc<Clock>) -> Arc<Database> {
    let catalog = Arc::new(Catalog::default());
    let random = stores::partitioner("RandomPartitioner");
    let store =
        EmbeddedStore::open(stores::options(directory), random.clone(), &catalog, clock.clone()).unwrap();
    let database =
        Arc::new(Database::new(DatabaseParts::new(catalog, Arc::new(store), random, clock.clone())));
    database.stored_schema().load().await.unwrap();
    database
}

fn family(is_indexed: bool) -> CfRequest {
    let column = |name: &'static str, class: &str| ColumnRequest {
        name: Bytes::from(name),
        validation_class: class.to_owned(),
        index_kind: is_indexed.then_some(IndexKind::Keys),
        index_name: None,
        index_options: None,
    };
    CfRequest {
        keyspace: "Indexed".to_owned(),
        name: CF.to_owned(),
        comparator_type: Some("UTF8Type".to_owned()),
        columns: vec![column("state", "UTF8Type"), column("birth", "LongType")],
        ..CfRequest::default()
    }
}

async fn make_schema(database: &Arc<Database>, is_indexed: bool) {
    let keyspace = KsRequest {
        name: "Indexed".to_owned(),
        strategy_class: "SimpleStrategy".to_owned(),
        replication_factor: Some(1),
        column_families: vec![family(is_indexed)],
        ..KsRequest::default()
    };
    database.schema_changes(level()).add_keyspace(keyspace).await.unwrap();
}

fn parent() -> ColumnParent {
    ColumnParent { column_family: Bytes::from(CF), super_column: None }
}

fn everything() -> SlicePredicate {
    let range = RequestedRange { start: Bytes::new(), finish: Bytes::new(), reversed: false, count: 100 };
    SlicePredicate { column_names: None, slice_range: Some(range) }
}

/// Applies one random write.
async fn write(database: &Database, chance: &mut Chance) {
    let key = Bytes::from(format!("row{}", chance.below(ROWS)));
    let timestamp = chance.below(40) as i64;
    let is_birth = chance.below(3) == 0;
    let (name, value) = if is_birth {
        ("birth", Bytes::copy_from_slice(&(chance.below(3) as i64).to_be_bytes()))
    } else {
        ("state", Bytes::from(*chance.pick(&VALUES)))
    };
    match chance.below(10) {
        0 => {
            let path = ColumnPath { column_family: Bytes::from(CF), super_column: None, column: None };
            database.request(KS, ONE, level()).writes().remove(key, path, timestamp).await.unwrap();
        }
        1 | 2 => {
            let column = Some(Bytes::from(name));
            let path = ColumnPath { column_family: Bytes::from(CF), super_column: None, column };
            database.request(KS, ONE, level()).writes().remove(key, path, timestamp).await.unwrap();
        }
        kind => {
            let ttl_s = (kind < 5).then(|| 1 + chance.below(20) as i32);
            let column =
                NewColumn { name: Bytes::from(name), value: Some(value), timestamp: Some(timestamp), ttl_s };
            database.request(KS, ONE, level()).writes().insert_column(key, parent(), column).await.unwrap();
        }
    }
}

fn has(row: &Row, name: &str, value: &[u8]) -> bool {
    let RowColumns::Cells(cells) = &row.columns else { return false };
    cells.iter().any(|cell| cell.name == name.as_bytes() && cell.value == value)
}

/// Compares the rows that the index returns for every value with those that a scan finds.
async fn compare(database: &Database) {
    let range = KeyRange::of_keys(Bytes::new(), Bytes::new(), 1000);
    let rows = database
        .request(KS, ONE, level())
        .ranges()
        .get_range_slices(&parent(), &everything(), &range)
        .await
        .unwrap();
    let states = VALUES.iter().map(|state| ("state", Bytes::from(*state)));
    let births = (0..3i64).map(|birth| ("birth", Bytes::copy_from_slice(&birth.to_be_bytes())));
    for (name, value) in states.chain(births) {
        let expression = IndexExpression {
            column_name: Bytes::from(name),
            operator: IndexOperator::Eq,
            value: value.clone(),
        };
        let ask = async |start_key: Bytes, count: i32| {
            let clause = IndexClause { expressions: vec![expression.clone()], start_key, count };
            let asked = database
                .request(KS, ONE, level())
                .index_reads()
                .get_indexed_slices(&parent(), &clause, &everything())
                .await;
            asked.unwrap()
        };
        let expected: Vec<Row> = rows.iter().filter(|row| has(row, name, &value)).cloned().collect();
        let all = ask(Bytes::new(), 100).await;
        assert_eq!(all, expected, "{name} = {value:?}");
        // The same in pages of two rows. Each page begins with the last row of the page before.
        let mut paged = ask(Bytes::new(), 2).await;
        while let Some(last) = paged.last().map(|row| row.key.clone()) {
            let page = ask(last, 2).await;
            if page.len() < 2 {
                break;
            }
            paged.extend(page.into_iter().skip(1));
        }
        assert_eq!(paged, expected, "{name} = {value:?} in pages");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_returns_the_rows_that_a_scan_finds() {
    let seed = Chance::seed_from("INDEX_SEED");
    println!("INDEX_SEED={seed}");
    let mut chance = Chance::new(seed);
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(Clock::manual(stores::START_S * 1000));
    let mut database = open(directory.path(), &clock).await;
    make_schema(&database, true).await;
    for round in 0..40 {
        for _ in 0..25 {
            write(&database, &mut chance).await;
        }
        clock.advance_ms(1000 * chance.below(8) as i64);
        compare(&database).await;
        if round % 10 == 9 {
            database.store().close().await.unwrap();
            stores::wait_until_unused(database).await;
            database = open(directory.path(), &clock).await;
            compare(&database).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_on_existing_data_is_built_while_the_data_changes() {
    let seed = Chance::seed_from("INDEX_SEED");
    println!("INDEX_SEED={seed}");
    let mut chance = Chance::new(seed);
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(Clock::manual(stores::START_S * 1000));
    let database = open(directory.path(), &clock).await;
    make_schema(&database, false).await;
    for _ in 0..300 {
        write(&database, &mut chance).await;
    }
    database.schema_changes(level()).update_column_family(family(true)).await.unwrap();
    for _ in 0..20 {
        write(&database, &mut chance).await;
        compare(&database).await;
    }
    // An index that is dropped and created again has all entries and no others.
    database.schema_changes(level()).update_column_family(family(false)).await.unwrap();
    for _ in 0..50 {
        write(&database, &mut chance).await;
    }
    database.schema_changes(level()).update_column_family(family(true)).await.unwrap();
    database.indexes().until_built().await;
    compare(&database).await;
    stores::wait_until_unused(database).await;
    let database = open(directory.path(), &clock).await;
    compare(&database).await;
}

#[tokio::test]
async fn truncating_or_dropping_a_column_family_empties_its_index() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(Clock::manual(stores::START_S * 1000));
    let database = open(directory.path(), &clock).await;
    make_schema(&database, true).await;
    let insert = async || {
        let column = NewColumn {
            name: Bytes::from("state"),
            value: Some(Bytes::from("CA")),
            timestamp: Some(1),
            ttl_s: None,
        };
        let key = Bytes::from("row1");
        database.request(KS, ONE, level()).writes().insert_column(key, parent(), column).await.unwrap();
    };
    insert().await;
    compare(&database).await;
    database.schema_changes(level()).truncate(KS, CF.as_bytes()).await.unwrap();
    compare(&database).await;
    insert().await;
    compare(&database).await;
    database.schema_changes(level()).drop_keyspace("Indexed").await.unwrap();
    make_schema(&database, true).await;
    compare(&database).await;
}
