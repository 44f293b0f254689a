//! Code that the tests of `thriftstore copy` share: column families with all kinds of data, and running the program.
#![allow(dead_code, reason = "every test binary uses its own part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "../dump.rs"]
mod dump;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use base::compat::Behaviour;
use base::compat::features::{ConsistencyLevel, Language, ReportedVersion};
use base::marshal::Types;
use base::model::{Cell, Change, DeletionTime, Mutation, RangeTombstone};
use base::schema::CfDef;
use base::util::{Clock, Release};
use bytes::Bytes;
use config::Config;
use cql::{Outcome, QueryOptions, QueryState};
use db::Database;
use store::RowPiece;
use transfer::endpoint;
use transfer::endpoint::{Endpoint, Location, OpenOptions};

/// The timestamp of most cells, in microseconds; it is some years ago.
pub const T: i64 = 1_500_000_000_000_000;

/// Returns a configuration with a keyspace that has several types of column families.
pub fn conf(partitioner: &str) -> String {
    format!(
        r#"<Storage>
  <ClusterName>Test Cluster</ClusterName>
  <Partitioner>org.apache.cassandra.dht.{partitioner}</Partitioner>
  <Keyspaces><Keyspace Name="K">
    <ColumnFamily Name="Cells" CompareWith="BytesType"/>
    <ColumnFamily Name="Times" CompareWith="TimeUUIDType"/>
    <ColumnFamily Name="Supers" ColumnType="Super" CompareWith="UTF8Type" CompareSubcolumnsWith="LongType"/>
    <ReplicaPlacementStrategy>org.apache.cassandra.locator.RackUnawareStrategy</ReplicaPlacementStrategy>
    <ReplicationFactor>1</ReplicationFactor>
    <EndPointSnitch>org.apache.cassandra.locator.EndPointSnitch</EndPointSnitch>
  </Keyspace></Keyspaces>
</Storage>
"#
    )
}

/// Returns a configuration without keyspaces.
pub fn bare_conf(partitioner: &str) -> String {
    format!(
        "<Storage><ClusterName>Test Cluster</ClusterName>\
         <Partitioner>org.apache.cassandra.dht.{partitioner}</Partitioner></Storage>"
    )
}

pub fn config(text: &str) -> Config {
    config::parse(text, "storage-conf.xml", &Types::builtin()).unwrap()
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Opens a data directory as `thriftstore copy` does.
pub async fn open(directory: &Path, conf: &str) -> Endpoint {
    let (config, types) = (config(conf), Types::builtin());
    let clock = Arc::new(Clock::system());
    let options =
        OpenOptions { config: &config, types: &types, clock, cluster: None, keyspace: None, creates: true };
    endpoint::open(&Location::Data(directory.to_path_buf()), &options).await.unwrap()
}

pub async fn apply(side: &Endpoint, mutations: Vec<Mutation>) {
    let store = side.database.as_ref().unwrap().store();
    store.apply(mutations, Behaviour::of(Release::V2_1), ConsistencyLevel::One).await.unwrap();
}

pub async fn cql(side: &Endpoint, statement: &str) -> Outcome {
    let behaviour = Behaviour::of(Release::V2_1);
    let state = QueryState {
        database: side.database.as_ref().unwrap(),
        behaviour,
        language: Language::Newest,
        reported: ReportedVersion::of_release(behaviour),
        keyspace: Some("made"),
        user: None,
        sees_new_indexes: false,
    };
    cql::query(&state, statement, &QueryOptions::default())
        .await
        .unwrap_or_else(|error| panic!("{statement}: {error}"))
}

pub fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

pub fn live(name: &str, value: &str, timestamp: i64) -> Change {
    Change::Cell { super_column: None, cell: Cell::live(bytes(name), bytes(value), timestamp) }
}

fn tombstone(name: &str, timestamp: i64, now_s: i32) -> Change {
    Change::Cell { super_column: None, cell: Cell::tombstone(bytes(name), timestamp, now_s) }
}

fn expiring(name: &str, ttl_s: i32, written_s: i32) -> Change {
    Change::Cell { super_column: None, cell: Cell::expiring(bytes(name), bytes("v"), T, ttl_s, written_s) }
}

fn held(holder: &str, number: i64, value: &str, timestamp: i64) -> Change {
    let cell = Cell::live(Bytes::copy_from_slice(&number.to_be_bytes()), bytes(value), timestamp);
    Change::Cell { super_column: Some(bytes(holder)), cell }
}

/// Returns a column family of one side of a copy.
pub fn family(side: &Endpoint, keyspace: &str, name: &str) -> Arc<CfDef> {
    side.column_family(keyspace, name).unwrap_or_else(|| panic!("no {keyspace}.{name}"))
}

/// Writes cells, all kinds of tombstones, and expiring columns to the configured column families.
pub async fn fill(side: &Endpoint) {
    let now_s = Clock::system().now_s();
    let deleted_at = |marked_for_delete_at| DeletionTime { marked_for_delete_at, local_deletion_time: now_s };
    let cells = family(side, "K", "Cells");
    let range = |from: &str, to: &str| {
        let (start, finish) = (bytes(from), bytes(to));
        Change::DeleteRange(RangeTombstone { super_column: None, start, finish, deletion: deleted_at(T) })
    };
    let rows: Vec<(&str, Vec<Change>)> = vec![
        ("plain", vec![live("a", "1", T), live("b", "", T + 1), live("c", "3", -7)]),
        ("tombstones", vec![live("a", "1", T), tombstone("b", T, now_s), tombstone("c", T + 5, now_s)]),
        ("only a tombstone", vec![tombstone("a", T, now_s)]),
        (
            "expiring",
            vec![expiring("a", 100_000, now_s - 10), expiring("b", 10, now_s - 50), live("c", "", T)],
        ),
        (
            "deleted",
            vec![
                Change::DeleteRow { deletion: deleted_at(T) },
                live("new", "x", T + 1),
                live("old", "x", T - 1),
            ],
        ),
        ("gone", vec![Change::DeleteRow { deletion: deleted_at(T) }]),
        (
            "runs",
            vec![
                range("b", "d"),
                range("", "a"),
                live("b5", "hidden", T - 1),
                live("b6", "x", T + 1),
                live("e", "x", T),
            ],
        ),
    ];
    let rows = rows.into_iter().map(|(key, changes)| Mutation::of(bytes(key), cells.clone(), changes));
    apply(side, rows.collect()).await;
    for part in 0..6 {
        let value = "w".repeat(100);
        let columns = (0..500).map(|column| live(&format!("{:06}", part * 500 + column), &value, T + column));
        apply(side, vec![Mutation::of(bytes("wide"), cells.clone(), columns.collect())]).await;
    }
    let times = family(side, "K", "Times");
    let uuid = |number: u8| {
        let mut uuid = [number, 7, 0, 0, 0, 0, 0x11, 0xe0, number, 1, 2, 3, 4, 5, 6, 0x90];
        uuid[15] = number.wrapping_mul(37);
        Change::Cell { super_column: None, cell: Cell::live(Bytes::copy_from_slice(&uuid), bytes("t"), T) }
    };
    apply(side, vec![Mutation::of(bytes("times"), times, (0..200).map(uuid).collect())]).await;
    let supers = family(side, "K", "Supers");
    let changes = vec![
        held("first", -3, "x", T),
        held("first", 5, "y", T + 1),
        Change::DeleteSuper { name: bytes("second"), deletion: deleted_at(T) },
        held("second", 1, "hidden", T - 1),
        held("second", 2, "newer", T + 1),
        Change::DeleteSuper { name: bytes("third"), deletion: deleted_at(T) },
    ];
    let many =
        (0..40).flat_map(|holder| (0..20).map(move |number| held(&format!("s{holder:03}"), number, "v", T)));
    let rows = vec![
        Mutation::of(bytes("row"), supers.clone(), changes),
        Mutation::of(bytes("many"), supers.clone(), many.collect()),
    ];
    apply(side, rows).await;
}

/// Creates the client-defined keyspace `made` with an index, counters and a CQL table, and fills it.
pub async fn fill_made(side: &Endpoint) {
    for statement in [
        "CREATE KEYSPACE made WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE people (k text PRIMARY KEY, city text, age int) WITH COMPACT STORAGE",
        "CREATE INDEX ON people (city)",
        "CREATE TABLE counted (k text, n text, v counter, PRIMARY KEY (k, n)) WITH COMPACT STORAGE",
        "CREATE TABLE books (author text, year int, title text, tags set<text>, PRIMARY KEY (author, year))",
    ] {
        cql(side, statement).await;
    }
    for number in 0..50 {
        let city = if number % 5 == 0 { "Ulm" } else { "Bern" };
        cql(side, &format!("INSERT INTO people (k, city, age) VALUES ('p{number}', '{city}', {number})"))
            .await;
        cql(
            side,
            &format!("UPDATE counted SET v = v + {number} WHERE k = 'k{}' AND n = 'n{number}'", number % 3),
        )
        .await;
        cql(side, "UPDATE counted SET v = v - 2 WHERE k = 'k' AND n = 'often'").await;
        let insert = "INSERT INTO books (author, year, title, tags)";
        cql(side, &format!("{insert} VALUES ('a{}', {number}, 't', {{'x', 'y'}})", number % 7)).await;
    }
    cql(side, "DELETE FROM books WHERE author = 'a1' AND year = 1").await;
    cql(side, "DELETE tags FROM books WHERE author = 'a2' AND year = 2").await;
}

/// Returns all rows of a column family with their tombstones.
pub async fn dumped(side: &Endpoint, cf: &Arc<CfDef>) -> Vec<RowPiece> {
    dump::dumped(&**side.database.as_ref().unwrap().store(), cf, 1 << 20).await
}

/// Returns the keyspace and name of each column family.
pub fn families(database: &Database) -> Vec<(String, String)> {
    let catalog = database.catalog();
    catalog.column_families().map(|cf| (cf.keyspace.clone(), cf.name.clone())).collect()
}

/// Returns the command `thriftstore copy`, to be run in a directory.
pub fn command(directory: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    command.arg("copy").args(words).current_dir(directory).stdin(Stdio::null());
    command
}

/// Runs `thriftstore copy`. Returns whether it succeeded, and all that it printed.
pub fn run_copy(directory: &Path, words: &[&str]) -> (bool, String) {
    let output = command(directory, words).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// Runs `thriftstore copy`, checks that it succeeds, and returns all that it printed.
pub fn copy(directory: &Path, words: &[&str]) -> String {
    let (succeeded, text) = run_copy(directory, words);
    assert!(succeeded, "copy {words:?}: {text}");
    text
}

/// Starts `thriftstore copy` without waiting for its end.
pub fn started(directory: &Path, words: &[&str]) -> Child {
    let log = fs::File::create(directory.join("copy.log")).unwrap();
    command(directory, words).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}
