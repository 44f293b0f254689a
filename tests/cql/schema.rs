//! CQL tables on the embedded store: definitions survive a restart, and adding a collection does not change the names
//! that are already stored.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::Path;
use std::sync::Arc;

use crate::store_support;
use base::compat::Behaviour;
use base::compat::features::{ConsistencyLevel, Language, ReportedVersion};
use base::model::{Cell, CfMutation, Change, Mutation, Predicate, RowColumns, SliceRange};
use base::schema::{Catalog, CfDef, TableDef, keyspace_to_json};
use base::util::{Clock, Release};
use bytes::Bytes;
use cql::QueryState;
use cql::define::define;
use cql_syntax::{
    Alter, ColumnDefinition, CreateIndex, CreateTable, IndexTarget, PrimaryKey, Properties, PropertyValue,
    Statement, TableName, TypeName,
};
use db::{Database, DatabaseParts};
use embedded::EmbeddedStore;
use store_support as stores;

const ONE: ConsistencyLevel = ConsistencyLevel::One;

fn level() -> &'static Behaviour {
    Behaviour::of(Release::V2_1)
}

async fn open(directory: &Path) -> Arc<Database> {
    let (catalog, clock) = (Arc::new(Catalog::default()), Arc::new(Clock::system()));
    let random = stores::partitioner("RandomPartitioner");
    let store =
        EmbeddedStore::open(stores::options(directory), random.clone(), &catalog, clock.clone()).unwrap();
    let database = Arc::new(Database::new(DatabaseParts::new(catalog, Arc::new(store), random, clock)));
    database.stored_schema().load().await.unwrap();
    database
}

async fn run(database: &Arc<Database>, statement: Statement) {
    let reported = ReportedVersion::of_release(level());
    let state = QueryState {
        database,
        behaviour: level(),
        reported,
        language: Language::Newest,
        keyspace: Some("k"),
        user: None,
        sees_new_indexes: false,
    };
    define(&state, &statement).await.unwrap();
}

fn named(name: &str) -> TypeName {
    TypeName::Named { keyspace: None, name: name.to_owned() }
}

fn in_k(name: &str) -> TableName {
    TableName { keyspace: None, name: name.to_owned() }
}

fn keyspace() -> Statement {
    let options = [("class", "SimpleStrategy"), ("replication_factor", "1")];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let properties = Properties(vec![("replication".to_owned(), PropertyValue::Map(options.to_vec()))]);
    Statement::CreateKeyspace { name: "k".to_owned(), if_not_exists: false, properties }
}

fn table(name: &str, is_compact: bool) -> Statement {
    let column = |(name, cql_type): (&str, &str)| ColumnDefinition {
        name: name.to_owned(),
        cql_type: named(cql_type),
        is_static: false,
        is_primary_key: false,
    };
    Statement::CreateTable(CreateTable {
        table: in_k(name),
        if_not_exists: false,
        columns: [("id", "int"), ("at", "int"), ("v", "text")].map(column).to_vec(),
        primary_keys: vec![PrimaryKey {
            partition_key: vec!["id".to_owned()],
            clustering: vec!["at".to_owned()],
        }],
        is_compact,
        clustering_order: vec![("at".to_owned(), true)],
        properties: Properties::default(),
    })
}

fn add_set() -> Statement {
    let cql_type = TypeName::Set(Box::new(named("int")));
    let alter = Alter::Add { column: "s".to_owned(), cql_type, is_static: false };
    Statement::AlterTable { table: in_k("wide"), alter }
}

fn index(column: &str) -> Statement {
    Statement::CreateIndex(CreateIndex {
        name: None,
        if_not_exists: false,
        table: in_k("wide"),
        column: column.to_owned(),
        target: IndexTarget::Values,
        is_custom: false,
        class: None,
        properties: Properties::default(),
    })
}

fn family(database: &Database, name: &str) -> Arc<CfDef> {
    database.catalog().column_family("k", name).unwrap().clone()
}

async fn write(database: &Database, at: i32, column: &str, element: Option<i32>, value: &'static [u8]) {
    let cf = family(database, "wide");
    let clustering = [Bytes::copy_from_slice(&at.to_be_bytes())];
    let element = element.map(i32::to_be_bytes);
    let table = TableDef::of(&cf, Release::V2_1);
    let element = element.as_ref().map(|element| &element[..]);
    let name = table.sparse_name(false, &clustering, column.as_bytes(), element, 0);
    let cell = Cell::live(name, Bytes::from_static(value), 1);
    let families = vec![CfMutation { cf, changes: vec![Change::Cell { super_column: None, cell }].into() }];
    let mutations = vec![Mutation { key: Bytes::from_static(b"\0\0\0\x01"), families }];
    database.request(b"k", ONE, level()).writes().apply(mutations).await.unwrap();
}

/// Returns the names of a row's cells in the text form of the comparator.
async fn names(database: &Database, cf: &Arc<CfDef>, key: &'static [u8]) -> Vec<String> {
    let all = Predicate::Range(SliceRange::all());
    let request = database.request(b"k", ONE, level());
    let read = request.reads().read_cells(cf, Bytes::from_static(key), None, all).await.unwrap();
    let RowColumns::Cells(cells) = read else { return Vec::new() };
    cells.iter().map(|cell| cf.comparator.to_text(&cell.name)).collect()
}

#[tokio::test]
async fn definitions_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let written = {
        let database = open(directory.path()).await;
        for statement in [keyspace(), table("wide", false), table("dense", true), add_set(), index("s")] {
            run(&database, statement).await;
        }
        database.indexes().until_built().await;
        let catalog = database.catalog();
        database.store().close().await.unwrap();
        stores::wait_until_unused(database).await;
        keyspace_to_json(catalog.keyspace("k").unwrap())
    };
    let database = open(directory.path()).await;
    assert_eq!(keyspace_to_json(database.catalog().keyspace("k").unwrap()), written);
    let columns = |name: &str| {
        let table = TableDef::of(&family(&database, name), Release::V2_1);
        let text = |column: &base::schema::TableColumn| format!("{} {}", column.name, column.cql_type);
        table.columns().map(text).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(columns("wide"), "id int, at int, s set<int>, v text");
    assert_eq!(columns("dense"), "id int, at int, v text");
}

#[tokio::test]
async fn adding_a_collection_does_not_change_stored_names() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(directory.path()).await;
    run(&database, keyspace()).await;
    run(&database, table("wide", false)).await;
    write(&database, 1, "v", None, b"one").await;
    write(&database, 2, "v", None, b"two").await;
    run(&database, add_set()).await;
    write(&database, 2, "s", Some(7), b"").await;
    write(&database, 2, "s", Some(-7), b"").await;
    let expected = ["2:s:fffffff9", "2:s:00000007", "2:v", "1:v"];
    assert_eq!(names(&database, &family(&database, "wide"), b"\0\0\0\x01").await, expected);
    database.store().close().await.unwrap();
    stores::wait_until_unused(database).await;
    let database = open(directory.path()).await;
    assert_eq!(names(&database, &family(&database, "wide"), b"\0\0\0\x01").await, expected);
}

#[tokio::test]
async fn an_index_finds_partitions_written_before_and_after_its_creation() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(directory.path()).await;
    for statement in [keyspace(), table("wide", false), add_set()] {
        run(&database, statement).await;
    }
    write(&database, 1, "v", None, b"before").await;
    write(&database, 1, "s", Some(7), b"").await;
    run(&database, index("v")).await;
    run(&database, index("s")).await;
    database.indexes().until_built().await;
    write(&database, 2, "v", None, b"after").await;
    let cf = family(&database, "wide");
    let entries = async |column: &'static [u8], key: &'static [u8]| {
        names(&database, &cf.index_families[column], key).await.len()
    };
    assert_eq!(entries(b"v", b"vbefore").await, 1);
    assert_eq!(entries(b"v", b"vafter").await, 1);
    assert_eq!(entries(b"v", b"vnever").await, 0);
    assert_eq!(entries(b"s", b"v\x80\0\0\x07").await, 1);
}
