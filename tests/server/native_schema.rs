//! The system tables that sessions of each version of the native protocol read.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::support;
use support::native::NativeClient;
use support::native::opcode::OPTIONS;
use support::native_body::{Asked, Body, Parts, Rows};
use support::server::Server;

const INVALID: i32 = 0x2200;
const STATEMENTS: [&str; 3] = [
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE ks.t (k int, c int, v text, l list<int>, PRIMARY KEY (k, c))",
    "CREATE INDEX by_v ON ks.t (v)",
];

/// The names of a result's columns.
fn names(rows: &Rows) -> Vec<&str> {
    rows.metadata.columns.iter().map(|column| &*column.name).collect()
}

/// A result's values as text.
fn texts(rows: &Rows) -> Vec<Vec<String>> {
    let text = |value: &Option<Vec<u8>>| {
        value.as_ref().map_or("null".to_owned(), |value| String::from_utf8(value.clone()).unwrap())
    };
    rows.rows.iter().map(|row| row.iter().map(text).collect()).collect()
}

#[test]
fn the_reported_version_is_one_that_has_the_protocol() {
    let (mut server, _directory) = Server::ephemeral(&[]);
    let address = server.native_address();
    for (version, release, cql) in
        [(1, "1.2.19", "3.0.5"), (2, "2.0.17", "3.1.7"), (3, "4.0.11", "3.4.5"), (5, "4.0.11", "3.4.5")]
    {
        let mut client = NativeClient::ready(address, version);
        let local = client.rows("SELECT release_version, cql_version FROM system.local");
        assert_eq!(texts(&local), [[release, cql]], "{version}");
        let supported = Parts(&client.call(OPTIONS, Body::new()).body).multimap();
        assert_eq!(supported["CQL_VERSION"][0], cql);
        assert_eq!(supported["PROTOCOL_VERSIONS"].len(), 5);
    }
    server.stop();
}

#[test]
fn a_reported_version_with_old_protocols_is_that_of_every_session() {
    let (mut server, _directory) = Server::ephemeral(&["--claim", "2.1.22"]);
    let address = server.native_address();
    for version in 1..=3 {
        let mut client = NativeClient::ready(address, version);
        let local = client.rows("SELECT release_version FROM system.local");
        assert_eq!(texts(&local), [["2.1.22"]]);
    }
    server.stop();
}

#[test]
fn old_sessions_read_the_schema_in_the_tables_of_their_time() {
    let (mut server, _directory) = Server::ephemeral(&[]);
    let address = server.native_address();
    let mut client = NativeClient::ready(address, 4);
    STATEMENTS.into_iter().for_each(|statement| client.run(statement));
    let columns = "FROM system.schema_columns WHERE keyspace_name = 'ks' AND columnfamily_name = 't'";

    let mut first = NativeClient::ready(address, 1);
    let listed = first.rows(&format!("SELECT column_name, index_name {columns}"));
    assert_eq!(texts(&listed), [["l", "null"], ["v", "by_v"]]);
    let why = first.query(&format!("SELECT type {columns}")).refused(INVALID);
    assert_eq!(why, "Undefined name type in selection clause");
    let table = first.rows(
        "SELECT key_aliases, column_aliases, comparator FROM system.schema_columnfamilies \
                            WHERE keyspace_name = 'ks' AND columnfamily_name = 't'",
    );
    let class = "org.apache.cassandra.db.marshal";
    let comparator = format!(
        "{class}.CompositeType({class}.Int32Type,{class}.UTF8Type,{class}.ColumnToCollectionType(6c:{class}.ListType(\
         {class}.Int32Type)))"
    );
    assert_eq!(texts(&table), [["[\"k\"]", "[\"c\"]", &comparator]]);

    let mut second = NativeClient::ready(address, 2);
    let listed = second.rows(&format!("SELECT column_name, type {columns}"));
    let expected = [["c", "clustering_key"], ["k", "partition_key"], ["l", "regular"], ["v", "regular"]];
    assert_eq!(texts(&listed), expected);
    let keyspaces = texts(&second.rows("SELECT keyspace_name FROM system.schema_keyspaces")).concat();
    assert!(keyspaces.contains(&"ks".to_owned()) && keyspaces.contains(&"system".to_owned()));
    assert!(!keyspaces.contains(&"system_schema".to_owned()));
    // Collections have lengths of two bytes.
    let tokens = second.rows("SELECT tokens FROM system.local").rows.remove(0).remove(0).unwrap();
    let mut parts = Parts(&tokens);
    assert_eq!(parts.u16(), 1);
    parts.string().parse::<i128>().unwrap();
    parts.end();
    server.stop();
}

#[test]
fn prepared_statements_have_the_system_tables_of_the_session() {
    let (mut server, _directory) = Server::ephemeral(&[]);
    let address = server.native_address();
    let mut clients = [1, 2, 4].map(|version| NativeClient::ready(address, version));
    let prepared = clients.each_mut().map(|client| client.prepare("SELECT * FROM system.local"));
    assert!(prepared.iter().all(|statement| statement.id == prepared[0].id));
    for _ in 0..2 {
        for (client, prepared) in clients.iter_mut().zip(&prepared) {
            let rows = client.execute(prepared, &Asked::values([])).rows();
            let has = |name: &str| names(&rows).contains(&name);
            let expected = (client.version == 4, client.version > 1, client.version < 4);
            assert_eq!((has("rpc_port"), has("rpc_address"), has("thrift_version")), expected);
            if client.version > 1 {
                assert_eq!(prepared.result.as_ref().unwrap().columns, rows.metadata.columns);
            }
        }
    }
    server.stop();
}
