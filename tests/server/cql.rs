//! CQL over Thrift: compression, prepared statements, versions and keyspaces. What statements do is tested in
//! `tests/cql`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::Write;

use crate::support;
use support::calls::{column, everything, parent};
use support::client::{Client, Reply, Style};
use support::native::NativeClient;
use support::native::opcode::PREPARE;
use support::native_body::{Asked, Body, Bound};
use support::server::Server;
use support::value::{Value, fields, structs, text, texts};

const ONE: Value = Value::I32(1);
const GZIP: Value = Value::I32(1);
const NONE: Value = Value::I32(2);
/// The error code of an invalid request in the native protocol.
const INVALID: i32 = 0x2200;

fn cql(client: &mut Client, statement: &str) -> Reply {
    client.call("execute_cql3_query", &fields([(1, text(statement)), (2, NONE), (3, ONE)]))
}

fn done(client: &mut Client, statement: &str) {
    let reply = cql(client, statement);
    assert!(matches!(&reply, Reply::Result(fields) if fields.contains_key(&0)), "{statement}: {reply:?}");
}

fn prepare(client: &mut Client, statement: &str) -> i64 {
    let reply = client.call("prepare_cql3_query", &fields([(1, text(statement)), (2, NONE)]));
    reply.value().field(1).int()
}

/// Prepares a statement, and returns the types and names of its bind markers.
fn markers_of(client: &mut Client, statement: &str) -> (Vec<String>, Vec<String>) {
    let reply = client.call("prepare_cql3_query", &fields([(1, text(statement)), (2, NONE)]));
    let of = |field: i16| {
        let texts = reply.value().field(field).items().iter();
        texts.map(|text| String::from_utf8(text.bytes().to_vec()).unwrap()).collect()
    };
    (of(3), of(4))
}

fn execute(client: &mut Client, id: i64, values: &[&[u8]]) -> Reply {
    let id = Value::I32(id.try_into().unwrap());
    client.call("execute_prepared_cql3_query", &fields([(1, id), (2, texts(values)), (3, ONE)]))
}

/// The first column of each row of a result.
fn first_column(reply: &Reply) -> Vec<Vec<u8>> {
    let row = |row: &Value| row.field(2).items()[0].field(2).bytes().to_vec();
    reply.value().field(2).items().iter().map(row).collect()
}

fn with_table() -> (Server, tempfile::TempDir, Client) {
    let (server, directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::FRAMED);
    done(
        &mut client,
        "CREATE KEYSPACE c2 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    done(&mut client, "USE c2");
    done(&mut client, "CREATE TABLE t3 (k int, c int, v text, PRIMARY KEY (k, c))");
    (server, directory, client)
}

#[test]
fn statements_may_be_compressed() {
    let (server, _directory, mut client) = with_table();
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(b"INSERT INTO t3 (k, c, v) VALUES (1, 2, 'packed')").unwrap();
    let packed = packer.finish().unwrap();
    let query = |query: &[u8]| fields([(1, text(query)), (2, GZIP), (3, ONE)]);
    assert_eq!(client.call("execute_cql3_query", &query(&packed)).value().field(1).int(), 2);
    assert_eq!(first_column(&cql(&mut client, "SELECT v FROM t3")), [b"packed"]);
    let reply = client.call("execute_cql3_query", &query(b"SELECT v FROM t3"));
    assert_eq!(reply.why(), "Error deflating query string.");
    server.stop();
}

#[test]
fn prepared_statements_are_shared_by_all_connections() {
    let (server, _directory, mut client) = with_table();
    let insert = prepare(&mut client, "INSERT INTO t3 (k, c, v) VALUES (?, ?, ?)");
    let select = prepare(&mut client, "SELECT * FROM t3 WHERE k=? AND c=?");
    // The id that Cassandra gives this statement.
    assert_eq!(select, 705_600_922);

    let mut other = server.client(Style::FRAMED);
    let (one, two) = (1i32.to_be_bytes(), 2i32.to_be_bytes());
    execute(&mut other, insert, &[&one, &two, b"x"]).value();
    let found = execute(&mut other, select, &[&one, &two]);
    assert_eq!(first_column(&found), [one]);

    let wrong = execute(&mut other, select, &[&one]);
    assert_eq!(wrong.why(), "there were 2 markers(?) in CQL but 1 bound variables");
    let wrong = execute(&mut other, select, &[b"not an int", &two]);
    assert_eq!(wrong.why(), "Expected 4 or 0 byte int (10)");
    let unknown = execute(&mut other, 12345, &[]);
    assert!(
        unknown.why().starts_with("Prepared query with ID 12345 not found (either the query"),
        "{unknown:?}"
    );
    server.stop();
}

#[test]
fn prepared_statements_use_the_current_schema() {
    let (server, _directory, mut client) = with_table();
    let select = prepare(&mut client, "SELECT * FROM t3");
    done(&mut client, "INSERT INTO t3 (k, c, v) VALUES (1, 2, 'x')");
    done(&mut client, "ALTER TABLE t3 ADD w int");
    let columns = |reply: &Reply| reply.value().field(2).items()[0].field(2).items().len();
    assert_eq!(columns(&execute(&mut client, select, &[])), 4);
    done(&mut client, "DROP TABLE t3");
    let gone = execute(&mut client, select, &[]);
    assert!(gone.why().starts_with("Prepared query with ID"), "{gone:?}");
    server.stop();
}

#[test]
fn set_cql_version_restricts_a_session_to_one_version() {
    let (server, _directory, mut client) = with_table();
    let set =
        |client: &mut Client, version: &str| client.call("set_cql_version", &fields([(1, text(version))]));
    set(&mut client, "3.0.0").void();
    let old = client.call("execute_cql_query", &fields([(1, text("SELECT * FROM t3")), (2, NONE)]));
    assert_eq!(
        old.why(),
        "Cannot execute/prepare CQL2 statement since the CQL has been set to CQL3(This might mean your client hasn't \
         been upgraded correctly to use the new CQL3 methods introduced in Cassandra 1.2+)."
    );
    set(&mut client, "2.0.0").void();
    let new = cql(&mut client, "SELECT * FROM t3");
    assert!(
        new.why().starts_with("Cannot execute/prepare CQL3 statement since the CQL has been set to CQL2(")
    );
    assert_eq!(
        set(&mut client, "9.0.0").why(),
        "Provided version 9.0.0 is not supported by this server (supported: 2.0.0, 3.2.1)"
    );
    server.stop();
}

#[test]
fn use_and_set_keyspace_set_the_same_keyspace() {
    let (server, _directory, mut client) = with_table();
    let mut other = server.client(Style::FRAMED);
    assert!(cql(&mut other, "SELECT * FROM t3").why().starts_with("No keyspace has been specified."));
    other.call("set_keyspace", &fields([(1, text("c2"))])).void();
    done(&mut other, "SELECT * FROM t3");
    done(&mut client, "USE \"Keyspace1\"");
    let parent = fields([(3, text("Standard1"))]);
    let range = fields([(1, text("")), (2, text("")), (3, Value::Bool(false)), (4, Value::I32(10))]);
    let slice = [(1, text("k")), (2, parent), (3, fields([(2, range)])), (4, ONE)];
    client.call("get_slice", &fields(slice)).value();
    assert_eq!(cql(&mut client, "USE nosuch").why(), "Keyspace 'nosuch' does not exist");
    server.stop();
}

#[test]
fn bind_markers_need_a_prepared_statement() {
    let (server, _directory, mut client) = with_table();
    let reply = cql(&mut client, "SELECT * FROM t3 WHERE k = ?");
    assert_eq!(reply.why(), "Invalid amount of bind variables");
    server.stop();
}

/// `describe_keyspace` returns a key alias if the partition key has one column, and none if it has several.
#[test]
fn a_key_of_several_columns_has_no_alias() {
    let (server, _directory, mut client) = with_table();
    done(&mut client, "CREATE TABLE one (id int PRIMARY KEY, v int) WITH COMPACT STORAGE");
    done(&mut client, "CREATE TABLE two (a int, b int, v int, PRIMARY KEY ((a, b))) WITH COMPACT STORAGE");
    let reply = client.call("describe_keyspace", &fields([(1, text("c2"))]));
    let alias = |family: &Value| match family {
        Value::Struct(fields) => fields.get(&28).map(|alias| alias.bytes().to_vec()),
        _ => None,
    };
    let families = reply.value().field(5).items();
    let names: Vec<&[u8]> = families.iter().map(|family| family.field(2).bytes()).collect();
    assert_eq!(names, [b"one", b"two"]);
    assert_eq!(families.iter().map(alias).collect::<Vec<_>>(), [Some(b"id".to_vec()), None]);
    server.stop();
}

#[test]
fn bind_markers_are_described_as_in_the_release() {
    let int = "org.apache.cassandra.db.marshal.Int32Type";
    let named_by = |compat: &str, statement: &str| {
        let (server, _directory) = Server::ephemeral(&["--compat", compat]);
        let mut client = server.client(Style::FRAMED);
        done(
            &mut client,
            "CREATE KEYSPACE c2 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        );
        done(
            &mut client,
            "CREATE TABLE c2.o (k int, c int, PRIMARY KEY (k, c)) WITH CLUSTERING ORDER BY (c DESC)",
        );
        markers_of(&mut client, statement)
    };
    let reversed = format!("org.apache.cassandra.db.marshal.ReversedType({int})");
    let (types, names) = named_by("2.1", "SELECT * FROM c2.o WHERE k = :k AND c = ? LIMIT ?");
    assert_eq!(types, [int, &reversed, int]);
    let of_column = format!(
        "ColumnDefinition{{name=c, type={reversed}, kind=CLUSTERING_COLUMN, componentIndex=0, indexName=null, \
         indexType=null}}"
    );
    let other = |name: &str| format!("ColumnSpecification{{name={name}, type={int}}}");
    assert_eq!(names, [other("k"), of_column, other("[limit]")]);
    let (types, names) = named_by("1.2", "SELECT * FROM c2.o WHERE k = ? AND c = ?");
    assert_eq!(types, [int, &reversed]);
    assert_eq!(names, ["k", "c"]);
}

/// All connections share prepared CQL 3 statements; those of CQL 2 belong to one connection, and their limit is
/// smaller.
#[test]
fn the_length_of_prepared_statements_is_limited() {
    let (mut server, _directory, mut client) = with_table();
    let statement = "SELECT v FROM c2.t3";
    let select = |bytes: usize| format!("{statement}{}", " ".repeat(bytes - statement.len()));
    let too_large = |bytes: usize, limit: usize| {
        format!("Prepared statement of size {bytes} bytes is larger than allowed maximum of {limit} bytes.")
    };
    let longest = 1024 * 1024;
    prepare(&mut client, &select(longest));
    let args = |bytes: usize| fields([(1, text(select(bytes))), (2, NONE)]);
    let refused = client.call("prepare_cql3_query", &args(longest + 1));
    assert_eq!(refused.why(), too_large(longest + 1, longest));
    client.call("prepare_cql_query", &args(64 * 1024)).value();
    let refused = client.call("prepare_cql_query", &args(64 * 1024 + 1));
    assert_eq!(refused.why(), too_large(64 * 1024 + 1, 64 * 1024));
    done(&mut client, "SELECT v FROM t3");

    let mut native = NativeClient::ready(server.native_address(), 4);
    native.prepare(&select(longest));
    let refused = native.call(PREPARE, Body::new().long_string(&select(longest + 1)));
    assert_eq!(refused.refused(INVALID), too_large(longest + 1, longest));
    server.stop();
}

#[test]
fn the_length_of_indexed_values_is_limited() {
    let (mut server, _directory, mut client) = with_table();
    done(&mut client, "CREATE TABLE flat (k blob PRIMARY KEY, v blob) WITH COMPACT STORAGE");
    done(&mut client, "CREATE INDEX by_v ON flat (v)");
    let insert = |client: &mut Client, bytes: usize| {
        let value = vec![b'v'; bytes];
        client.call(
            "insert",
            &fields([(1, text("k")), (2, parent("flat", None)), (3, column(b"v", &value, 1)), (4, ONE)]),
        )
    };
    insert(&mut client, 65_535).void();
    let refused = insert(&mut client, 65_536);
    assert_eq!(
        refused.why(),
        "Can't index column value of size 65536 for index flat.by_v in CF flat of KS c2"
    );
    let found = |client: &mut Client, bytes: usize| {
        let condition = fields([(1, text("v")), (2, Value::I32(0)), (3, text(vec![b'v'; bytes]))]);
        let clause = fields([(1, structs(vec![condition])), (2, text("")), (3, Value::I32(10))]);
        client.call(
            "get_indexed_slices",
            &fields([(1, parent("flat", None)), (2, clause), (3, everything()), (4, ONE)]),
        )
    };
    assert_eq!(found(&mut client, 65_535).value().items().len(), 1);
    assert_eq!(found(&mut client, 65_536).why(), "Index expression values may not be larger than 64K");

    let mut native = NativeClient::ready(server.native_address(), 4);
    let asked = Asked::values([Bound::Value(vec![b'v'; 65_536])]);
    let refused = native.query_with("INSERT INTO c2.flat (k, v) VALUES (0x01, ?)", &asked).refused(INVALID);
    assert_eq!(refused, "Can't index column value of size 65536 for index flat.by_v on c2.flat");
    server.stop();
}
