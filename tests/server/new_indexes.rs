//! Queries by an index that is not complete: the builder still adds the entries of older rows.

#![allow(clippy::panic, reason = "a test may fail")]

use std::time::Duration;

use crate::support;
use support::client::{Client, Reply, Style};
use support::native::NativeClient;
use support::server::{Server, storage_conf};
use support::value::{Value, fields, text};

const ONE: Value = Value::I32(1);
const NONE: Value = Value::I32(2);
/// So many rows that no index on them is complete when a query follows its statement.
const ROWS: usize = 3000;
const PER_BATCH: usize = 300;
/// The rows of each value.
const OF_A_VALUE: usize = 10;
const ROUNDS: usize = 20;
/// After this time the index is being built.
const AFTER_RECORDED_RACE: Duration = Duration::from_millis(101);
const KEYSPACE: &str =
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

/// Writes the rows of a table; the value of row N is N modulo 300.
fn fill(client: &mut NativeClient, table: &str) {
    for first in (0..ROWS).step_by(PER_BATCH) {
        let mut batch = String::from("BEGIN UNLOGGED BATCH ");
        for key in first..first + PER_BATCH {
            let value = key % (ROWS / OF_A_VALUE);
            batch += &format!("INSERT INTO {table} (k, v, w) VALUES ({key}, {value}, {value}) ");
        }
        client.run(&(batch + "APPLY BATCH"));
    }
}

/// Returns the number of rows of the result of a statement.
fn found(client: &mut Client, method: &str, statement: &str) -> usize {
    let reply = match method {
        "execute_cql_query" => client.call(method, &fields([(1, text(statement)), (2, NONE)])),
        _ => client.call(method, &fields([(1, text(statement)), (2, NONE), (3, ONE)])),
    };
    let Reply::Result(result) = &reply else { panic!("{statement}: {reply:?}") };
    assert!(result.contains_key(&0), "{statement}: {reply:?}");
    if statement.starts_with("SELECT") { reply.value().field(2).items().len() } else { 0 }
}

#[test]
fn a_query_right_after_create_index_finds_all_rows() {
    let (mut server, _directory) = Server::ephemeral(&[]);
    let address = server.native_address();
    let mut client = NativeClient::ready(address, 4);
    client.run(KEYSPACE);
    client.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int, w int)");
    fill(&mut client, "ks.t");
    let mut old = server.client(Style::FRAMED);
    for round in 0..ROUNDS {
        let (value, select) = (round * 7, "SELECT k FROM ks.t WHERE");
        client.run("CREATE INDEX by_v ON ks.t (v)");
        assert_eq!(client.rows(&format!("{select} v = {value}")).rows.len(), OF_A_VALUE, "round {round}");
        found(&mut old, "execute_cql3_query", "CREATE INDEX by_w ON ks.t (w)");
        assert_eq!(client.rows(&format!("{select} w = {value}")).rows.len(), OF_A_VALUE, "round {round}");
        // As is recorded of the old servers, a client of Thrift first finds nothing.
        std::thread::sleep(AFTER_RECORDED_RACE);
        let of_w = found(&mut old, "execute_cql3_query", &format!("{select} w = {value}"));
        assert_eq!(of_w, OF_A_VALUE, "round {round}");
        // The index is dropped and created again while the builder of the first one may still run.
        client.run("DROP INDEX ks.by_v");
        client.run("DROP INDEX ks.by_w");
    }
    server.stop();
}

#[test]
fn a_query_of_cql_2_right_after_create_index_finds_all_rows() {
    let (mut server, _directory) = Server::ephemeral(&[]);
    let mut client = NativeClient::ready(server.native_address(), 4);
    client.run(KEYSPACE);
    client.run("CREATE TABLE ks.t (k int, v int, w int, PRIMARY KEY (k)) WITH COMPACT STORAGE");
    fill(&mut client, "ks.t");
    let mut old = server.client(Style::FRAMED);
    old.call("set_keyspace", &fields([(1, text("ks"))])).void();
    for round in 0..ROUNDS {
        found(&mut old, "execute_cql_query", "CREATE INDEX by_v ON t (v)");
        std::thread::sleep(AFTER_RECORDED_RACE);
        let select = format!("SELECT * FROM t WHERE v = {}", round * 7);
        assert_eq!(found(&mut old, "execute_cql_query", &select), OF_A_VALUE, "round {round}");
        found(&mut old, "execute_cql_query", "DROP INDEX by_v");
    }
    server.stop();
}

#[test]
fn a_query_finds_all_rows_after_a_kill_during_the_build() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path(), &storage_conf(""), &[]);
    let mut client = NativeClient::ready(server.native_address(), 4);
    client.run(KEYSPACE);
    client.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int, w int)");
    fill(&mut client, "ks.t");
    for round in 0..3 {
        client.run("CREATE INDEX by_v ON ks.t (v)");
        server.kill();
        server = Server::start_again(directory.path(), &[]);
        client = NativeClient::ready(server.native_address(), 4);
        let found = client.rows("SELECT k FROM ks.t WHERE v = 7").rows.len();
        assert_eq!(found, OF_A_VALUE, "round {round}");
        client.run("DROP INDEX ks.by_v");
    }
    server.stop();
}

/// An index of a cassandra.yaml of 0.7 has the rows that were written before it was defined.
#[test]
fn an_index_of_the_configuration_is_built_at_each_start_that_brings_it() {
    let directory = tempfile::tempdir().unwrap();
    let yaml = |index: &str| {
        format!(
            "partitioner: org.apache.cassandra.dht.RandomPartitioner\ncommitlog_sync: periodic\n\
             commitlog_sync_period_in_ms: 10000\nkeyspaces:\n- name: K\n  \
             replica_placement_strategy: org.apache.cassandra.locator.SimpleStrategy\n  replication_factor: 1\n  \
             column_families:\n  - name: users\n    compare_with: UTF8Type\n    default_validation_class: UTF8Type\n    \
             column_metadata:\n    - name: state\n      validator_class: UTF8Type\n{index}"
        )
    };
    let with_index = yaml("      index_type: KEYS\n      index_name: by_state\n");
    let config = directory.path().join("cassandra.yaml");
    for (round, config_text) in [yaml(""), with_index.clone(), yaml(""), with_index].iter().enumerate() {
        std::fs::write(&config, config_text).unwrap();
        let mut server =
            Server::start_again(directory.path(), &["--config", "cassandra.yaml", "--data-dir", "data"]);
        let mut client = NativeClient::ready(server.native_address(), 4);
        client.run(&format!("INSERT INTO \"K\".users (key, state) VALUES (0x0{round}, 'UT')"));
        if config_text.contains("index_type") {
            let found = client.rows("SELECT key FROM \"K\".users WHERE state = 'UT'").rows.len();
            assert_eq!(found, round + 1);
        }
        if round == 2 {
            // The entries of the index that the configuration does not define any more.
            server = server.expecting("there is data of column families");
        }
        server.stop();
    }
}
