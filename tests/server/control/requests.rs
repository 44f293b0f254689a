//! The list of requests: who asked, and what was asked.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};

use double::limits::EXPECTATIONS_MAX;
use wire::thrift::TType;

use super::{Double, KEYSPACE, refused};
use crate::support;
use support::calls::{
    ONE, QUORUM, batch_mutate_args, column, delete, everything, get_args, get_slice_args, insert_args,
    key_range, multiget_slice_args, names, parent, path, range_slices_args, rows, slice, write, write_super,
};
use support::client::{Reply, Style};
use support::native::opcode::BATCH;
use support::native_body::{Asked, Body, Bound, int, text as cql_text};
use support::value::{Value, fields, map, structs, text, texts};

/// Returns the arguments of an `insert` of 0.7 and later.
fn new_insert(key: &[u8]) -> Value {
    let column = fields([(1, text("c")), (2, text("v")), (3, Value::I64(1))]);
    fields([(1, text(key)), (2, parent("Standard1", None)), (3, column), (4, Value::I32(ONE))])
}

/// Returns the arguments of an `insert` of 0.4 to 0.6.
fn old_insert(key: &[u8]) -> Value {
    insert_args("Keyspace1", key, path("Standard1", None, Some(b"c")), (b"v", 1), ONE)
}

impl Double {
    /// Returns the last requests that meet a condition.
    fn found(&self, find: Json) -> Vec<Json> {
        let found = self.send("POST", "/requests/find", &find.to_string());
        found["requests"].as_array().unwrap().clone()
    }
}

#[test]
fn conditions_ask_for_generation_and_connection() {
    let double = Double::start();
    let (mut old, mut new) = (double.server.client(Style::UNFRAMED), double.thrift());
    let mut native = double.native();
    new.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
    old.call("insert", &old_insert(b"old")).void();
    new.call("insert", &new_insert(b"new")).void();
    native.run(KEYSPACE);

    let of = |generation: &str| double.found(json!({"when": {"generation": generation}}));
    let (with_keyspace, after) = (of("with_keyspace"), of("after_set_keyspace"));
    assert_eq!(with_keyspace.len(), 1, "{with_keyspace:?}");
    assert_eq!(with_keyspace[0]["rows"][0]["key"], "old");
    assert_eq!(after.len(), 2, "{after:?}");
    assert_eq!(after[0]["client"], new.stream.local_addr().unwrap().to_string());
    let (number, other) = (&after[0]["connection"], &with_keyspace[0]["connection"]);
    assert_eq!(after[1]["connection"], *number);
    assert_ne!(number, other);
    let cql = &double.found(json!({"when": {"protocol": "native"}}))[0];
    assert_eq!(cql["client"], native.stream.local_addr().unwrap().to_string());
    assert!(cql["connection"].is_u64() && cql.get("generation").is_none(), "{cql}");

    // Only calls of 0.4 to 0.6 fail.
    let error = |when: Json| json!({"when": when, "error": "timed_out"}).to_string();
    double.send("PUT", "/faults/a", &error(json!({"generation": "with_keyspace"})));
    new.call("insert", &new_insert(b"k")).void();
    assert_ne!(old.call("insert", &old_insert(b"k")), Reply::Result([].into()));
    // Only one of two connections of the same kind fails.
    let mut second = double.thrift();
    second.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
    double.send("PUT", "/faults/a", &error(json!({"connection": number, "method": "insert"})));
    second.call("insert", &new_insert(b"k")).void();
    assert_ne!(new.call("insert", &new_insert(b"k")), Reply::Result([].into()));
    // A request of the native protocol without rows meets the condition, too.
    double.send("PUT", "/faults/a", &error(json!({"connection": cql["connection"]})));
    native.query("USE ks").error();
    double.native().run("USE ks");
    double.server.stop();
}

/// Returns the last request.
fn last(double: &Double) -> Json {
    double.found(json!({"last": 1})).remove(0)
}

const LONG: [u8; 8] = 42i64.to_be_bytes();

#[test]
fn calls_are_listed_with_their_arguments() {
    let double = Double::start();
    let mut thrift = double.thrift();
    let long = |name: &[u8]| path("StandardLong1", None, Some(name));
    thrift.call("insert", &insert_args("Keyspace1", b"k", long(&LONG), (b"\xff\x00", 7), QUORUM)).void();
    let insert = last(&double);
    assert_eq!(
        insert["arguments"],
        json!({"keyspace": "Keyspace1", "key": "k", "value": "ff00", "timestamp": 7, "consistency_level": "QUORUM",
            "column_path": {"column_family": "StandardLong1", "column": "42"}})
    );
    assert!(insert.get("result").is_none(), "{insert}");

    let predicate = slice(&LONG, b"", true, 5);
    thrift
        .call("get_slice", &get_slice_args("Keyspace1", b"k", parent("StandardLong1", None), predicate, ONE));
    let slice = last(&double);
    assert_eq!(
        slice["arguments"]["predicate"],
        json!({"slice_range": {"start": "42", "finish": "", "reversed": true, "count": 5}})
    );
    assert_eq!(slice["result"], json!({"columns": 1}));

    let of_super = write_super(b"friends", vec![column(b"anna", b"1", 1), column(b"ben", b"2", 1)]);
    let of_row = vec![("Super1", vec![of_super]), ("StandardLong1", vec![delete(&[LONG], 9)])];
    thrift.call("batch_mutate", &batch_mutate_args("Keyspace1", rows(vec![("jonas", of_row)]), ONE)).void();
    let columns = json!([{"name": "anna", "value": "1", "timestamp": 1}, {"name": "ben", "value": "2", "timestamp": 1}]);
    assert_eq!(
        last(&double)["arguments"]["mutation_map"],
        json!({"jonas": {
            "Super1": [{"column_or_supercolumn": {"super_column": {"name": "friends", "columns": columns}}}],
            "StandardLong1": [{"deletion": {"timestamp": 9, "predicate": {"column_names": ["42"]}}}],
        }})
    );

    let all = (parent("Super1", Some(b"friends")), everything());
    thrift.call("multiget_slice", &multiget_slice_args("Keyspace1", &["jonas", "none"], all.0, all.1));
    let multiget = last(&double);
    assert_eq!(
        multiget["arguments"]["column_parent"],
        json!({"column_family": "Super1", "super_column": "friends"})
    );
    assert_eq!(multiget["result"], json!({"rows": 2, "columns": 2}));
    let all = (parent("StandardLong1", None), everything(), key_range("", "", 10));
    thrift.call("get_range_slices", &range_slices_args("Keyspace1", all.0, all.1, all.2, ONE));
    let range = last(&double);
    assert_eq!(range["arguments"]["range"], json!({"start_key": "", "end_key": "", "count": 10}));
    assert_eq!(range["result"]["columns"], 1);

    thrift.call("get", &get_args("Keyspace1", b"nobody", long(&LONG), ONE));
    let get = last(&double);
    assert!(get["error"].is_string() && get.get("result").is_none(), "{get}");
    double.server.stop();
}

#[test]
fn calls_after_set_keyspace_are_listed_with_the_text_of_types() {
    let double = Double::start();
    let mut thrift = double.thrift();
    let int = fields([(1, text("age")), (2, text("Int32Type")), (3, Value::I32(0))]);
    let family = fields([
        (1, text("ks")),
        (2, text("people")),
        (5, text("UTF8Type")),
        (13, structs(vec![int])),
        (15, text("LongType")),
        (26, text("UUIDType")),
        (32, map(TType::String, vec![])),
    ]);
    let keyspace = fields([
        (1, text("ks")),
        (2, text("SimpleStrategy")),
        (3, map(TType::String, vec![("replication_factor", text("1"))])),
        (5, structs(vec![family])),
    ]);
    thrift.call("system_add_keyspace", &fields([(1, keyspace)])).value();
    let definition = &last(&double)["arguments"]["ks_def"];
    assert_eq!(definition["strategy_options"], json!({"replication_factor": "1"}));
    let family = &definition["cf_defs"][0];
    assert_eq!(
        family["column_metadata"],
        json!([{"name": "age", "validation_class": "Int32Type", "index_type": "KEYS"}])
    );
    assert_eq!(family["compression_options"], json!({}));

    thrift.call("set_keyspace", &fields([(1, text("ks"))])).void();
    let key = [1; 16];
    let age = column(b"age", &7i32.to_be_bytes(), 1);
    let of_row =
        map(TType::List, vec![("people", structs(vec![write(age), write(column(b"height", &LONG, 1))]))]);
    let mutations = Value::Map(TType::String, TType::Map, vec![(text(key), of_row)]);
    thrift.call("batch_mutate", &fields([(1, mutations), (2, Value::I32(ONE))])).void();
    let uuid = "01010101-0101-0101-0101-010101010101";
    let value = |name: &str, value: &str| json!({"column_or_supercolumn": {"column": {"name": name, "value": value, "timestamp": 1}}});
    assert_eq!(
        last(&double)["arguments"],
        json!({"mutation_map": {uuid: {"people": [value("age", "7"), value("height", "42")]}}, "consistency_level": "ONE"})
    );

    let expression = fields([(1, text("age")), (2, Value::I32(0)), (3, text(7i32.to_be_bytes()))]);
    let clause = fields([(1, structs(vec![expression])), (2, text("")), (3, Value::I32(10))]);
    let args = fields([(1, parent("people", None)), (2, clause), (3, names(&["age"])), (4, Value::I32(ONE))]);
    thrift.call("get_indexed_slices", &args).value();
    let found = last(&double);
    assert_eq!(
        found["arguments"]["index_clause"],
        json!({"expressions": [{"column_name": "age", "op": "EQ", "value": "7"}], "start_key": "", "count": 10})
    );
    assert_eq!(found["result"], json!({"rows": 1, "columns": 1}));
    let counted =
        fields([(1, text(key)), (2, parent("people", None)), (3, everything()), (4, Value::I32(ONE))]);
    thrift.call("get_count", &counted).value();
    assert_eq!(
        (&last(&double)["arguments"]["key"], &last(&double)["result"]["columns"]),
        (&json!(uuid), &json!(2))
    );
    let expected = structs(vec![]);
    let cas = fields([
        (1, text(key)),
        (2, text("people")),
        (3, expected),
        (4, structs(vec![column(b"height", &LONG, 2)])),
        (5, Value::I32(9)),
        (6, Value::I32(ONE)),
    ]);
    thrift.call("cas", &cas).value();
    let cas = last(&double);
    assert_eq!(cas["result"], json!({"applied": false}));
    assert_eq!(cas["arguments"]["serial_consistency_level"], "SERIAL");
    assert_eq!(cas["arguments"]["updates"], json!([{"name": "height", "value": "42", "timestamp": 2}]));
    let login = map(TType::String, vec![("username", text("anna")), ("password", text("secret"))]);
    thrift.call("login", &fields([(1, fields([(1, login)]))])).void();
    assert!(!last(&double).to_string().contains("secret"));
    double.server.stop();
}

#[test]
fn statements_are_listed_with_their_values() {
    let double = Double::start();
    let (mut native, mut thrift) = (double.native(), double.thrift());
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v text, b blob)");
    let insert = "INSERT INTO ks.t (k, v, b) VALUES (?, ?, 0xff)";
    let prepared = native.prepare(insert);
    native.execute(&prepared, &Asked::values([int(7), cql_text("tea")])).void();
    assert_eq!(last(&double)["arguments"], json!({"query": insert, "values": ["7", "tea"]}));
    native.execute(&prepared, &Asked::values([int(8), Bound::Null])).void();
    assert_eq!(last(&double)["arguments"]["values"], json!(["8", null]));
    native.rows("SELECT * FROM ks.t");
    assert_eq!(
        (&last(&double)["arguments"], &last(&double)["result"]),
        (&json!({"query": "SELECT * FROM ks.t"}), &json!({"rows": 2}))
    );
    native.query("SELECT nothing").error();
    assert_eq!(last(&double)["arguments"], json!({"query": "SELECT nothing"}));
    let batch = Body::new()
        .u8(0)
        .u16(2)
        .u8(0)
        .long_string("INSERT INTO ks.t (k, v) VALUES (?, 'x')")
        .values(&[int(9)]);
    let batch = batch.u8(0).long_string("DELETE FROM ks.t WHERE k = 7").values(&[]).u16(1).u8(0);
    native.call(BATCH, batch).void();
    assert_eq!(
        last(&double)["arguments"],
        json!({"queries": [
            {"query": "INSERT INTO ks.t (k, v) VALUES (?, 'x')", "values": ["9"]},
            {"query": "DELETE FROM ks.t WHERE k = 7"},
        ]})
    );
    let query = "SELECT v FROM ks.t WHERE k = 8";
    thrift
        .call("execute_cql3_query", &fields([(1, text(query)), (2, Value::I32(2)), (3, Value::I32(ONE))]))
        .value();
    let over_thrift = last(&double);
    assert_eq!(
        over_thrift["arguments"],
        json!({"query": query, "compression": "NONE", "consistency": "ONE"})
    );
    assert_eq!(over_thrift["result"], json!({"rows": 1}));
    let prepare = fields([(1, text("SELECT v FROM ks.t WHERE k = ?")), (2, Value::I32(2))]);
    let id = thrift.call("prepare_cql3_query", &prepare).value().field(1).int();
    let id = Value::I32(i32::try_from(id).unwrap());
    let execute = fields([(1, id), (2, texts(&[8i32.to_be_bytes()])), (3, Value::I32(ONE))]);
    thrift.call("execute_prepared_cql3_query", &execute).value();
    assert_eq!(last(&double)["arguments"]["values"], json!(["8"]));
    assert_eq!(last(&double)["arguments"]["query"], "SELECT v FROM ks.t WHERE k = ?");
    double.server.stop();
}

#[test]
fn long_arguments_are_cut_and_found() {
    let double = Double::start();
    let mut thrift = double.thrift();
    let args =
        insert_args("Keyspace1", b"k", path("Standard1", None, Some(b"c")), (&[b'v'; 100_000], 1), ONE);
    thrift.call("insert", &args).void();
    let value = last(&double)["arguments"]["value"].as_str().unwrap().to_owned();
    assert!(
        value.starts_with("vvvv") && value.ends_with("… (100000 bytes)") && value.len() < 1_100,
        "{value}"
    );
    let columns = (0..1_000).map(|at| write(column(format!("c{at}").as_bytes(), b"v", 1))).collect();
    let mutations = rows(vec![("k", vec![("Standard1", columns)])]);
    thrift.call("batch_mutate", &batch_mutate_args("Keyspace1", mutations, ONE)).void();
    let batch = last(&double);
    let columns = batch["arguments"]["mutation_map"]["k"]["Standard1"].as_array().unwrap();
    assert!(columns.len() < 70 && columns.last().unwrap() == "… (1000 in all)", "{columns:?}");
    assert_eq!(batch["arguments"]["consistency_level"], "ONE");

    let with = |column: &str| json!({"arguments": {"column_path": {"column": column}}});
    assert_eq!((double.found(with("c")).len(), double.found(with("d")).len()), (1, 0));
    let expected = json!({"requests": [{"arguments": {"column_path": {"column": "c"}}, "times": 1}]});
    assert_eq!(double.send("POST", "/requests/verify", &expected.to_string())["verified"], true);
    double.server.stop();
}

#[test]
fn requests_are_followed() {
    let double = Double::start();
    let mut thrift = double.thrift();
    thrift.call("insert", &old_insert(b"before")).void();
    let mut control = double.client();
    let address = double.control.to_string();
    let command = Command::new(env!("CARGO_BIN_EXE_thriftstore"))
        .args(["control", &address, "requests", "--follow", "--when", r#"{"method": "insert"}"#])
        .stdout(Stdio::piped())
        .spawn();
    let mut command = command.unwrap();
    let mut printed = BufReader::new(command.stdout.take().unwrap());
    let mut line = String::new();
    // The command may not have connected yet.
    while line.is_empty() {
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                printed.read_line(&mut line).unwrap();
                sender.send(()).unwrap();
            });
            while receiver.recv_timeout(Duration::from_millis(50)).is_err() {
                support::calls::value_of(&mut thrift, b"k", b"c");
                thrift.call("insert", &old_insert(b"k")).void();
            }
        });
    }
    let first: Json = serde_json::from_str(&line).unwrap();
    assert_eq!((&first["method"], &first["arguments"]["key"]), (&json!("insert"), &json!("k")));
    command.kill().unwrap();
    command.wait().unwrap();

    // A stream with a condition on the arguments.
    let find = json!({"when": {"protocol": "thrift"}, "arguments": {"key": "wanted"}}).to_string();
    let mut seen = Vec::new();
    let ends = Arc::new(AtomicBool::new(false));
    let ended = ends.clone();
    let writes = thread::spawn(move || {
        for number in 0.. {
            if ended.load(Ordering::Relaxed) {
                return;
            }
            thrift.call("insert", &old_insert(if number % 2 == 0 { b"wanted" } else { b"other" })).void();
        }
    });
    let end = control.follow("POST", "/requests/stream", find.as_bytes(), |line| {
        seen.push(serde_json::from_str::<Json>(line).unwrap());
        seen.len() < 5
    });
    ends.store(true, Ordering::Relaxed);
    assert_eq!(end.unwrap(), None);
    assert!(seen.iter().all(|entry| entry["arguments"]["key"] == "wanted"), "{seen:?}");
    let number = |entry: &Json| entry["number"].as_u64().unwrap();
    assert!(seen.windows(2).all(|pair| number(&pair[0]) + 2 == number(&pair[1])), "{seen:?}");
    writes.join().unwrap();

    let refused = double.client().follow("POST", "/requests/stream", b"{\"wen\": 1}", |_| false);
    assert_eq!(refused.unwrap().unwrap().status, 400);
    // A client that follows does not stop the server from ending.
    let mut control = double.client();
    let follower = thread::spawn(move || control.follow("GET", "/requests/stream", b"", |_| true));
    double.thrift().call("insert", &old_insert(b"k")).void();
    double.server.stop();
    let _ = follower.join().unwrap();
}

#[test]
fn too_many_expectations_are_refused() {
    let double = Double::start();
    let expectations = vec![r#"{"when": {"method": "get"}}"#; EXPECTATIONS_MAX + 1].join(",");
    let (status, error) = refused(
        &mut double.client(),
        "POST",
        "/requests/verify",
        &format!(r#"{{"requests": [{expectations}]}}"#),
    );
    assert_eq!(status, 400);
    assert_eq!(error, "there are 1001 expectations, the limit is 1000: send several requests");
}

#[test]
fn long_errors_and_keyspaces_are_cut() {
    let double = Double::start();
    let long = "x".repeat(100_000);
    double.native().run(KEYSPACE);
    double.native().query(&format!("SELECT * FROM ks.{long}")).error();
    let get = get_args(&long, b"k", path("Standard1", None, Some(b"c")), ONE);
    double.thrift().call("get", &get).why();
    let requests = double.send("GET", "/requests", "");
    let requests = requests["requests"].as_array().unwrap();
    assert!(requests.iter().all(|request| request.to_string().len() < 10_000));
    let is_cut = |request: &&Json| request["error"].as_str().is_some_and(|error| error.contains("… ("));
    assert_eq!(requests.iter().filter(is_cut).count(), 2);
}
