//! CQL over Thrift on a ring: the cluster runs the statements, and their results become Thrift structs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::sync::Arc;

use crate::{cluster_support, support};
use base::partitioner::Murmur3Partitioner;
use base::schema::{Catalog, CfDef};
use base::util::Clock;
use cluster_support::{SchemaCalls, catalog, options, own_name, runtime, store};
use db::{Database, DatabaseParts};
use server::thrift::{Compat, Service};
use support::client::{Client, Reply};
use support::in_process::{self, InProcess};
use support::value::{Value, fields, text, texts};

const ONE: i32 = 1;
const QUORUM: i32 = 2;
const ALL: i32 = 5;
const SERIAL: i32 = 9;
const NONE: Value = Value::I32(2);

/// A gateway on the ring, and the keyspaces that a test creates.
struct Gateway {
    runtime: tokio::runtime::Runtime,
    service: Service,
    keyspaces: Vec<String>,
}

impl Gateway {
    fn new(schema: &Arc<Catalog>) -> Gateway {
        let runtime = runtime();
        let store = runtime.block_on(store(&options()));
        runtime.block_on(store.alter(schema.clone())).unwrap();
        let parts = DatabaseParts::new(
            schema.clone(),
            Arc::new(store),
            Arc::new(Murmur3Partitioner),
            Arc::new(Clock::system()),
        );
        let service = Service::new(Arc::new(Database::new(parts)), Compat::default());
        Gateway { runtime, service, keyspaces: Vec::new() }
    }

    fn client(&self) -> Client<InProcess> {
        in_process::client(&self.service, &self.runtime)
    }

    /// Creates a keyspace with CQL and a replication factor.
    fn keyspace(&mut self, what: &str, copies: usize) -> String {
        let name = own_name(&format!("cqlpass_{what}"));
        let replication = format!("{{'class': 'SimpleStrategy', 'replication_factor': {copies}}}");
        done(&mut self.client(), &format!("CREATE KEYSPACE {name} WITH replication = {replication}"));
        self.keyspaces.push(name.clone());
        name
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let mut client = self.client();
        for name in &self.keyspaces {
            cql(&mut client, &format!("DROP KEYSPACE {name}"), ONE);
        }
    }
}

fn cql(client: &mut Client<InProcess>, statement: &str, level: i32) -> Reply {
    let args = fields([(1, text(statement)), (2, NONE), (3, Value::I32(level))]);
    client.call("execute_cql3_query", &args)
}

fn done(client: &mut Client<InProcess>, statement: &str) {
    let reply = cql(client, statement, QUORUM);
    assert_eq!(reply, void(), "{statement}");
}

fn void() -> Reply {
    Reply::Result([(0, fields([(1, Value::I32(2))]))].into_iter().collect())
}

/// Returns the rows of a result as values of columns; `None` is null.
fn rows(reply: &Reply) -> Vec<Vec<Option<Vec<u8>>>> {
    let value = |column: &Value| match column {
        Value::Struct(fields) => fields.get(&2).map(|value| value.bytes().to_vec()),
        other => panic!("no column: {other:?}"),
    };
    let row = |row: &Value| row.field(2).items().iter().map(value).collect();
    reply.value().field(2).items().iter().map(row).collect()
}

/// Returns the types of a result's columns, without the package.
fn value_types(reply: &Reply) -> Vec<(String, String)> {
    let Value::Map(_, _, pairs) = reply.value().field(4).field(2) else { panic!("no types: {reply:?}") };
    let short = |class: &Value| class.str().replace("org.apache.cassandra.db.marshal.", "");
    pairs.iter().map(|(name, class)| (name.str().to_owned(), short(class))).collect()
}

fn prepare(client: &mut Client<InProcess>, statement: &str) -> i64 {
    let reply = client.call("prepare_cql3_query", &fields([(1, text(statement)), (2, NONE)]));
    reply.value().field(1).int()
}

fn execute(client: &mut Client<InProcess>, id: i64, values: &[&[u8]]) -> Reply {
    let id = Value::I32(id.try_into().unwrap());
    let args = fields([(1, id), (2, texts(values)), (3, Value::I32(QUORUM))]);
    client.call("execute_prepared_cql3_query", &args)
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn results_of_statements_are_thrift_structs() {
    let mut gateway = Gateway::new(&Arc::default());
    let keyspace = gateway.keyspace("shapes", 3);
    let mut client = gateway.client();
    done(&mut client, &format!("USE {keyspace}"));
    done(&mut client, "CREATE TYPE address (street text, zip int)");
    done(
        &mut client,
        "CREATE TABLE t (k int, c text, l list<text>, m map<text, int>, f frozen<list<text>>, \
         a frozen<address>, u timeuuid, d timestamp, s text static, PRIMARY KEY (k, c)) \
         WITH CLUSTERING ORDER BY (c DESC)",
    );
    done(&mut client, "CREATE INDEX by_d ON t (d)");
    done(
        &mut client,
        "INSERT INTO t (k, c, l, m, f, a, d) VALUES (1, 'x', ['a', 'b'], {'k': 7}, ['ab'], \
         {street: 's', zip: 9}, 5)",
    );
    let reply = cql(&mut client, "SELECT k, c, l, m, f, a, u, d FROM t WHERE k = 1", QUORUM);
    let expected: [Option<&[u8]>; 8] = [
        Some(b"\0\0\0\x01"),
        Some(b"x"),
        Some(b"\0\x02\0\x01a\0\x01b"),
        Some(b"\0\x01\0\x01k\0\x04\0\0\0\x07"),
        Some(b"\0\0\0\x01\0\0\0\x02ab"),
        Some(b"\0\0\0\x01s\0\0\0\x04\0\0\0\x09"),
        None,
        Some(b"\0\0\0\0\0\0\0\x05"),
    ];
    assert_eq!(rows(&reply), [expected.map(|value| value.map(<[u8]>::to_vec)).to_vec()]);
    let user_type = format!("UserType({keyspace},61646472657373,737472656574:UTF8Type,7a6970:Int32Type)");
    let expected = [
        ("a", user_type.as_str()),
        ("c", "UTF8Type"),
        ("d", "TimestampType"),
        ("f", "FrozenType(ListType(UTF8Type))"),
        ("k", "Int32Type"),
        ("l", "ListType(UTF8Type)"),
        ("m", "MapType(UTF8Type,Int32Type)"),
        ("u", "TimeUUIDType"),
    ];
    let expected: Vec<_> = expected.map(|(name, class)| (name.to_owned(), class.to_owned())).to_vec();
    assert_eq!(value_types(&reply), expected);

    let insert = prepare(&mut client, "INSERT INTO t (k, c, l, f) VALUES (?, ?, ?, ?)");
    let values: [&[u8]; 4] = [b"\0\0\0\x02", b"y", b"\0\x01\0\x01z", b"\0\x01\0\x01z"];
    assert_eq!(execute(&mut client, insert, &values), void());
    let select = prepare(&mut client, "SELECT l, f FROM t WHERE k = ?");
    let reply = execute(&mut client, select, &[b"\0\0\0\x02"]);
    let expected: [&[u8]; 2] = [b"\0\x01\0\x01z", b"\0\0\0\x01\0\0\0\x01z"];
    assert_eq!(rows(&reply), [expected.map(|value| Some(value.to_vec())).to_vec()]);

    let reply = cql(&mut client, "SELECT k FROM t WHERE k IN (2, 1) ORDER BY c DESC", QUORUM);
    assert_eq!(rows(&reply).len(), 2);
    let reply = cql(&mut client, "SELECT count(*) FROM t WHERE d = 5", QUORUM);
    assert_eq!(rows(&reply), [[Some(1i64.to_be_bytes().to_vec())]]);
    let update = "UPDATE t SET s = 'new' WHERE k = 1 IF s = 'old'";
    let reply = cql(&mut client, update, QUORUM);
    assert_eq!(value_types(&reply)[0], ("[applied]".to_owned(), "BooleanType".to_owned()));
    assert_eq!(rows(&reply), [[Some(vec![0]), None]]);
    assert_eq!(rows(&cql(&mut client, "SELECT s FROM t WHERE k = 1", SERIAL)), [[None]]);
    done(&mut client, "ALTER TABLE t ADD v int");
    // A write that has not reached the third replica yet may reach it after the truncate, so it is written at ALL.
    let batch = "BEGIN BATCH UPDATE t SET v = 1 WHERE k = 1 AND c = 'x'; APPLY BATCH";
    assert_eq!(cql(&mut client, batch, ALL), void());
    done(&mut client, "TRUNCATE t");
    assert!(rows(&cql(&mut client, "SELECT * FROM t", ALL)).is_empty());
    done(&mut client, "DROP TABLE t");
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn results_of_many_pages_are_complete() {
    let mut gateway = Gateway::new(&Arc::default());
    let keyspace = gateway.keyspace("pages", 1);
    let mut client = gateway.client();
    done(&mut client, &format!("USE {keyspace}"));
    done(&mut client, "CREATE TABLE t (k int, c int, PRIMARY KEY (k, c))");
    for k in 0..5 {
        let row = |c: i32| format!("INSERT INTO t (k, c) VALUES ({k}, {c});");
        let batch: String = (0..500).map(row).collect();
        done(&mut client, &format!("BEGIN UNLOGGED BATCH {batch} APPLY BATCH"));
    }
    assert_eq!(rows(&cql(&mut client, "SELECT c FROM t", QUORUM)).len(), 2500);
    let select = prepare(&mut client, "SELECT c FROM t WHERE c < ? ALLOW FILTERING");
    assert_eq!(rows(&execute(&mut client, select, &[&400i32.to_be_bytes()])).len(), 2000);
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn each_client_has_its_own_keyspace() {
    let mut gateway = Gateway::new(&Arc::default());
    let clients: Vec<_> = ["a", "b"]
        .map(|what| {
            let keyspace = gateway.keyspace(what, 1);
            let mut client = gateway.client();
            done(&mut client, &format!("USE {keyspace}"));
            done(&mut client, "CREATE TABLE t (k text PRIMARY KEY)");
            (client, keyspace)
        })
        .into_iter()
        .collect();
    std::thread::scope(|scope| {
        for (mut client, keyspace) in clients {
            scope.spawn(move || {
                let insert = prepare(&mut client, "INSERT INTO t (k) VALUES (?)");
                for _ in 0..20 {
                    assert_eq!(execute(&mut client, insert, &[keyspace.as_bytes()]), void());
                    let reply = cql(&mut client, "SELECT k FROM t", QUORUM);
                    assert_eq!(rows(&reply), [[Some(keyspace.clone().into_bytes())]]);
                }
            });
        }
    });
    let mut other = gateway.client();
    let nowhere = own_name("cqlpass_nowhere");
    let why = cql(&mut other, &format!("USE {nowhere}"), ONE).why().to_owned();
    assert_eq!(why, format!("Keyspace '{nowhere}' does not exist"));
    assert!(cql(&mut other, "SELECT k FROM t", ONE).why().contains("No keyspace has been specified"));
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn errors_of_the_cluster_become_thrift_exceptions() {
    let mut gateway = Gateway::new(&Arc::default());
    // The replication factor is larger than the number of nodes, so ALL always fails.
    let keyspace = gateway.keyspace("copies", 5);
    let mut client = gateway.client();
    done(&mut client, &format!("USE {keyspace}"));
    done(&mut client, "CREATE TABLE t (k int PRIMARY KEY, v int)");
    for (statement, why) in [
        ("SELECT nothing FROM t", "Undefined column name nothing"),
        ("SELECT * FROM nowhere", "table nowhere does not exist"),
        ("CREATE TABLE t (k int PRIMARY KEY)", "already existing"),
        ("SELECT * FRO t", "line 1:9"),
        ("INSERT INTO t (k, v) VALUES (1, 'x')", "Invalid STRING constant"),
        ("UPDATE t SET v = ? WHERE k = ?", "bind variables"),
    ] {
        let reply = cql(&mut client, statement, ONE);
        assert_ne!(reply, void(), "{statement}");
        assert!(reply.why().contains(why), "{statement}: {reply:?}");
    }
    assert_eq!(cql(&mut client, "INSERT INTO t (k, v) VALUES (1, 1)", ALL).thrown(2), "");
    assert_eq!(cql(&mut client, "SELECT * FROM t", ALL).thrown(2), "");
    let prepared = client.call("prepare_cql3_query", &fields([(1, text("SELECT x FROM t")), (2, NONE)]));
    assert!(prepared.why().contains("Undefined column name x"), "{prepared:?}");
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn cql_reads_what_thrift_clients_write() {
    let keyspace = own_name("cqlpass_served");
    let gateway = Gateway::new(&catalog(&keyspace, [CfDef::new(&keyspace, "Served")]));
    let mut client = gateway.client();
    client.call("set_keyspace", &fields([(1, text(&keyspace))])).void();
    let column = fields([(1, text("name")), (2, text("value")), (3, Value::I64(5))]);
    let parent = fields([(3, text("Served"))]);
    let args = fields([(1, text("key")), (2, parent), (3, column), (4, Value::I32(QUORUM))]);
    client.call("insert", &args).void();
    let reply = cql(&mut client, "SELECT key, column1, value, writetime(value) FROM \"Served\"", QUORUM);
    let expected: [&[u8]; 4] = [b"key", b"name", b"value", &5i64.to_be_bytes()];
    assert_eq!(rows(&reply), [expected.map(|value| Some(value.to_vec())).to_vec()]);
    assert!(cql(&mut client, "DROP TABLE \"Served\"", ONE).why().contains("system_drop_column_family"));
    let dropped = client.call("system_drop_keyspace", &fields([(1, text(&keyspace))]));
    assert!(matches!(dropped.value(), Value::Binary(_)), "{dropped:?}");
}
