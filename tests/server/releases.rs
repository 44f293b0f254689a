//! Answers of calls that differ between the releases of 0.7 and later.

use crate::support;
use support::calls::{ONE, slice};
use support::client::{Client, Style};
use support::recording::fields_of;
use support::server::{Server, storage_conf};
use support::value::{Fields, Value, fields, map, structs, text};
use wire::thrift::TType;

const LOCAL_QUORUM: i32 = 3;

/// Starts a server with the behaviour of a release, and a client that uses the keyspace `Keyspace1`.
fn start(release: &str) -> (Server, tempfile::TempDir, Client) {
    let (server, directory) = Server::ephemeral(&["--compat", release]);
    let mut client = server.client(Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
    (server, directory, client)
}

fn parent(family: &str) -> Value {
    fields([(3, text(family))])
}

fn insert(client: &mut Client, name: &str) {
    let column = fields([(1, text(name)), (2, text("v")), (3, Value::I64(1))]);
    let insert = fields([(1, text("k")), (2, parent("Standard1")), (3, column), (4, Value::I32(ONE))]);
    client.call("insert", &insert).void();
}

#[test]
fn unknown_keyspaces_are_named_in_the_words_of_the_release() {
    for (release, set, ring) in [
        ("1.1", "Keyspace nope does not exist", "There is no ring for the keyspace: nope"),
        ("1.2", "Keyspace 'nope' does not exist", "There is no ring for the keyspace: nope"),
        ("2.0", "Keyspace 'nope' does not exist", "No such keyspace: nope"),
    ] {
        let (_server, _directory, mut client) = start(release);
        let nope = fields([(1, text("nope"))]);
        assert_eq!(client.call("set_keyspace", &nope).why(), set, "{release}");
        assert_eq!(client.call("describe_ring", &nope).why(), ring, "{release}");
    }
    let (_server, _directory, mut client) = start("1.1");
    let use_nope = fields([(1, text("USE nope")), (2, Value::I32(2))]);
    assert_eq!(client.call("execute_cql_query", &use_nope).why(), "Keyspace 'nope' does not exist");
}

#[test]
fn the_token_map_of_1_1_wraps_tokens_that_are_bytes() {
    for (partitioner, release, shown) in [
        ("ByteOrderedPartitioner", "1.1", "Token(bytes[0abc])"),
        ("ByteOrderedPartitioner", "1.2", "0abc"),
        ("OrderPreservingPartitioner", "1.1", "abc"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let more = format!("<Partitioner>{partitioner}</Partitioner><InitialToken>abc</InitialToken>");
        let config = storage_conf(&more);
        let server = Server::start(directory.path(), &config, &["--ephemeral", "--compat", release]);
        let mut client = server.client(Style::FRAMED);
        let tokens = client.call("describe_token_map", &fields([])).value().clone();
        let Value::Map(_, _, pairs) = tokens else { panic!("{tokens:?}") };
        assert_eq!(pairs, [(text(shown), text("127.0.0.1"))], "{partitioner} {release}");
    }
}

#[test]
fn a_negative_count_is_refused_up_to_1_0() {
    for (release, negative) in [("0.8", None), ("1.0", None), ("1.1", Some(-1)), ("2.1", Some(0))] {
        let (_server, _directory, mut client) = start(release);
        for name in ["a", "b", "c"] {
            insert(&mut client, name);
        }
        let mut count = |predicate: Value| {
            let args = [(1, text("k")), (2, parent("Standard1")), (3, predicate), (4, Value::I32(ONE))];
            client.call("get_count", &fields(args))
        };
        assert_eq!(count(slice(b"", b"", false, 2)).value(), &Value::I32(2), "{release}");
        assert_eq!(count(slice(b"", b"", false, 0)).value(), &Value::I32(0), "{release}");
        let reply = count(slice(b"", b"", false, -1));
        match negative {
            Some(number) => assert_eq!(reply.value(), &Value::I32(number), "{release}"),
            None => assert_eq!(reply.why(), "get_slice requires non-negative count", "{release}"),
        }
        let without_range = count(fields([]));
        if release == "0.8" {
            without_range.why();
        } else {
            assert_eq!(without_range.value(), &Value::I32(3), "{release}");
        }
    }
}

#[test]
fn counters_check_levels_of_data_centres_up_to_1_1() {
    for (release, is_refused) in [("1.0", true), ("1.1", true), ("1.2", false)] {
        let (_server, _directory, mut client) = start(release);
        let options = map(TType::String, vec![("replication_factor", text("1"))]);
        let counters = fields([(1, text("Made")), (2, text("C")), (15, text("CounterColumnType"))]);
        let keyspace = fields([
            (1, text("Made")),
            (2, text("SimpleStrategy")),
            (3, options),
            (4, Value::I32(1)),
            (5, structs(vec![counters])),
        ]);
        client.call("system_add_keyspace", &fields([(1, keyspace)])).value();
        client.call("set_keyspace", &fields([(1, text("Made"))])).void();
        let delta = fields([(1, text("c")), (2, Value::I64(1))]);
        let path = fields([(3, text("C")), (5, text("c"))]);
        let level = Value::I32(LOCAL_QUORUM);
        let added =
            client.call("add", &fields([(1, text("k")), (2, parent("C")), (3, delta), (4, level.clone())]));
        let removed = client.call("remove_counter", &fields([(1, text("k")), (2, path), (3, level)]));
        if is_refused {
            let why = "consistency level LOCAL_QUORUM not compatible with replication strategy \
                       (org.apache.cassandra.locator.SimpleStrategy)";
            assert_eq!((added.why(), removed.why()), (why, why), "{release}");
        } else {
            added.void();
            removed.void();
        }
    }
}

#[test]
fn a_batch_of_0_7_checks_the_time_to_live_first() {
    for (release, why) in [("0.7", "ttl must be positive"), ("0.8", "unconfigured columnfamily Nope")] {
        let (_server, _directory, mut client) = start(release);
        let column = fields([(1, text("")), (2, text("v")), (3, Value::I64(1)), (4, Value::I32(-1))]);
        let insert = fields([(1, fields([(1, column)]))]);
        let families = map(TType::List, vec![("Nope", structs(vec![insert]))]);
        let batch = fields([(1, map(TType::Map, vec![("k", families)])), (2, Value::I32(ONE))]);
        assert_eq!(client.call("batch_mutate", &batch).why(), why, "{release}");
    }
}

/// The replies of running servers to describe_keyspace("system"): release, KsDef without column families, CfDefs by name.
const SYSTEM_KEYSPACES: &str = include_str!("../data/system-keyspaces.json");

/// The field of the row cache's provider, which depends on the libraries of the server's machine.
const ROW_CACHE_PROVIDER: i16 = 27;

/// Returns fields whose lists of structs and maps of options are in one order.
fn in_order(mut fields: Fields) -> Fields {
    fields.remove(&ROW_CACHE_PROVIDER);
    for value in fields.values_mut() {
        match value {
            Value::List(_, items) => items.sort_by_key(|item| item.field(1).bytes().to_vec()),
            Value::Map(_, _, pairs) => pairs.sort_by_key(|(key, _)| key.bytes().to_vec()),
            _ => {}
        }
    }
    fields
}

#[test]
fn the_system_keyspace_is_described_as_by_the_release() {
    let recorded: serde_json::Value = serde_json::from_str(SYSTEM_KEYSPACES).unwrap();
    for (version, recorded) in recorded.as_object().unwrap() {
        let line = version.rsplit_once('.').unwrap().0;
        let (server, _directory) = Server::ephemeral(&["--compat", line]);
        let mut client = server.client(Style::FRAMED);
        client.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
        let described = client.call("describe_keyspace", &fields([(1, text("system"))])).value().clone();
        let listed = client.call("describe_keyspaces", &fields([])).value().clone();
        assert!(listed.items().contains(&described), "{line}");
        let Value::Struct(mut described) = described else { panic!("{described:?}") };
        let Some(Value::List(_, families)) = described.remove(&5) else { panic!("no CfDefs") };
        // Field 4 is written for all releases.
        described.remove(&4);
        let mut expected = fields_of(&recorded["keyspace"]);
        expected.remove(&4);
        assert_eq!(in_order(described), in_order(expected), "{line}");
        let expected = recorded["column_families"].as_array().unwrap();
        let name = |fields: &Fields| fields[&2].str().to_owned();
        let found: Vec<Fields> = families
            .into_iter()
            .map(|family| match family {
                Value::Struct(fields) => in_order(fields),
                other => panic!("{other:?}"),
            })
            .collect();
        let expected: Vec<Fields> = expected.iter().map(|family| in_order(fields_of(family))).collect();
        let names = |families: &[Fields]| families.iter().map(name).collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected), "{line}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{line}: {}", name(found));
        }
    }
}

#[test]
fn the_last_releases_with_thrift_answer_as_themselves() {
    // Release, cql_version, a table of its schema, a table of other releases' schemas, and whether a time to live may be 0.
    for (release, cql, own, other, takes_zero) in [
        ("2.1", "3.2.1", "system.schema_keyspaces", "system.schema_none", false),
        ("2.2", "3.3.1", "system.schema_keyspaces", "system_schema.keyspaces", false),
        ("3.0", "3.4.0", "system_schema.keyspaces", "system.schema_keyspaces", false),
        ("3.11", "3.4.4", "system_schema.keyspaces", "system.schema_keyspaces", true),
    ] {
        let (_server, _directory, mut client) = start(release);
        let mut select = |statement: &str| {
            let args = [(1, text(statement)), (2, Value::I32(2)), (3, Value::I32(ONE))];
            client.call("execute_cql3_query", &fields(args))
        };
        let local = select("SELECT cql_version FROM system.local").value().clone();
        let row = &local.field(2).items()[0];
        assert_eq!(row.field(2).items()[0].field(2), &text(cql), "{release}");
        select(&format!("SELECT * FROM {own}")).value();
        let table = other.split_once('.').unwrap().1;
        let word = if release == "2.1" { "columnfamily" } else { "table" };
        assert_eq!(select(&format!("SELECT * FROM {other}")).why(), format!("unconfigured {word} {table}"));
        let old = fields([(1, text("SELECT * FROM Standard1")), (2, Value::I32(2))]);
        match client.call("execute_cql_query", &old) {
            reply if release == "2.1" => drop(reply.value()),
            reply => assert!(reply.why().starts_with("CQL2 has been removed"), "{release}"),
        }
        let column = fields([(1, text("a")), (2, text("v")), (3, Value::I64(1)), (4, Value::I32(0))]);
        let insert = fields([(1, text("k")), (2, parent("Standard1")), (3, column), (4, Value::I32(ONE))]);
        match client.call("insert", &insert) {
            reply if takes_zero => reply.void(),
            reply => assert_eq!(reply.why(), "ttl must be positive", "{release}"),
        }
    }
}

#[test]
fn reversed_slices_have_defined_columns_in_ascending_order_from_3_0_on() {
    for (release, expected) in [("2.2", ["z", "m", "c", "b"]), ("3.11", ["b", "m", "z", "c"])] {
        let (_server, _directory, mut client) = start(release);
        let defined = ["b", "m"].map(|name| fields([(1, text(name)), (2, text("BytesType"))]));
        let family = fields([
            (1, text("Made")),
            (2, text("Some")),
            (5, text("UTF8Type")),
            (13, structs(defined.to_vec())),
        ]);
        let options = map(TType::String, vec![("replication_factor", text("1"))]);
        let keyspace = fields([
            (1, text("Made")),
            (2, text("SimpleStrategy")),
            (3, options),
            (5, structs(vec![family])),
        ]);
        client.call("system_add_keyspace", &fields([(1, keyspace)])).value();
        client.call("set_keyspace", &fields([(1, text("Made"))])).void();
        for name in ["z", "b", "c", "m"] {
            let column = fields([(1, text(name)), (2, text("v")), (3, Value::I64(1))]);
            let insert = fields([(1, text("k")), (2, parent("Some")), (3, column), (4, Value::I32(ONE))]);
            client.call("insert", &insert).void();
        }
        for count in [4, 3] {
            let args = [
                (1, text("k")),
                (2, parent("Some")),
                (3, slice(b"", b"", true, count)),
                (4, Value::I32(ONE)),
            ];
            let found = client.call("get_slice", &fields(args)).value().clone();
            let names: Vec<&str> = found.items().iter().map(|item| item.field(1).field(1).str()).collect();
            assert_eq!(names, expected[..usize::try_from(count).unwrap()], "{release}");
        }
    }
}
