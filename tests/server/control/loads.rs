//! Loads of scripts and rows, and dumps.

use std::fs;

use double::control::ControlClient;
use double::testing::Server as InProcess;
use serde_json::{Value as Json, json};

use super::{Double, KEYSPACE, done, refused};
use crate::support;
use support::calls::{ONE, everything, get_slice_args, insert_args, parent, path, value_of, values};
use support::client::Style;
use support::native::NativeClient;
use support::server::{Server, storage_conf};

fn with_kind(double: &Double, kind: &str) -> ControlClient {
    double.client().with_header("Content-Type", kind)
}

#[test]
fn a_script_of_cql_is_loaded() {
    let double = Double::start();
    let mut control = with_kind(&double, "text/x-cql; charset=utf-8");
    let script =
        format!("{KEYSPACE};\nUSE ks;\nCREATE TABLE t (k int PRIMARY KEY);\nINSERT INTO t (k) VALUES (1)");
    let loaded = done(&mut control, "POST", "/load", &script);
    assert_eq!((loaded["statements"].as_u64(), loaded["rows"].as_u64()), (Some(4), Some(0)));
    assert_eq!(double.native().rows("SELECT k FROM ks.t").ints(), [1]);
    let (status, error) =
        refused(&mut control, "POST", "/load", "INSERT INTO ks.t (k) VALUES (2);\n\nINSERT INTO ks.u");
    assert_eq!((status, error.starts_with("the statement at line 3: ")), (400, true), "{error}");
    assert_eq!(double.native().rows("SELECT k FROM ks.t").rows.len(), 2, "the first statement was run");
    let (status, error) = refused(&mut double.client(), "POST", "/load", "USE ks");
    assert_eq!(status, 400);
    assert!(
        error.starts_with("the content type is missing: set the header Content-Type to text/x-cql"),
        "{error}"
    );
    double.server.stop();
}

/// All kinds of changes, with names of several types.
const ROWS: &str = r#"{"column_families": [
    {"keyspace": "Keyspace1", "name": "Standard1", "rows": [
        {"key": "ada", "cells": [
            {"name": "email", "value": "ada@example.com", "timestamp": 5},
            {"name": {"hex": "00ff"}, "value": {"hex": ""}, "timestamp": 6},
            {"name": "short", "value": "v", "timestamp": 7, "ttl_s": 60, "expires_at_s": 2000000000},
            {"name": "gone", "deleted_at_s": 1900000000, "timestamp": 8}]},
        {"key": {"hex": "80"}, "deletion": {"timestamp": 9, "deleted_at_s": 1900000000}}]},
    {"keyspace": "Keyspace1", "name": "StandardLong1", "rows": [
        {"key": "k", "cells": [{"name": {"typed": "42"}, "value": "answer"}]}]},
    {"keyspace": "Keyspace1", "name": "Super1", "rows": [
        {"key": "k", "deleted_super_columns": [{"name": "old", "deletion": {"timestamp": 3, "deleted_at_s": 1900000000}}],
         "cells": [{"super_column": "s", "name": "c", "value": "v", "timestamp": 1}]}]}]}"#;

#[test]
fn a_dump_loads_again_to_the_same_rows() {
    let double = Double::start();
    let mut control = with_kind(&double, "application/json");
    assert_eq!(done(&mut control, "POST", "/load", ROWS)["rows"], 4);
    let mut thrift = double.thrift();
    let slice =
        |family: &str, key: &[u8]| get_slice_args("Keyspace1", key, parent(family, None), everything(), ONE);
    assert_eq!(
        values(thrift.call("get_slice", &slice("Standard1", b"ada")).value()),
        ["", "ada@example.com", "v"]
    );
    assert_eq!(values(thrift.call("get_slice", &slice("StandardLong1", b"k")).value()), ["answer"]);
    let mut native = double.native();
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int, c text, s int static, l list<int>, v text, PRIMARY KEY (k, c))");
    native.run("CREATE INDEX ON ks.t (v)");
    native.run("CREATE TABLE ks.n (k int PRIMARY KEY, n counter)");
    for k in 0..50 {
        native.run(&format!(
            "INSERT INTO ks.t (k, c, s, l, v) VALUES ({k}, 'ä\u{1}', 7, [1, 2], 'v{}') USING TTL 100000",
            k % 5
        ));
    }
    native.run("DELETE FROM ks.t WHERE k = 3");
    native.run("DELETE FROM ks.t WHERE k = 4 AND c = 'ä\u{1}'");
    native.run("DELETE l FROM ks.t WHERE k = 5 AND c = 'ä\u{1}'");
    native.run("UPDATE ks.n SET n = n + 5 WHERE k = 1");
    let select = [
        "SELECT * FROM ks.t",
        "SELECT ttl(v), writetime(v) FROM ks.t",
        "SELECT k, c FROM ks.t WHERE v = 'v2'",
        "SELECT * FROM ks.n",
    ];
    done(&mut control, "POST", "/clock", r#"{"freeze": true}"#);
    let before = select.map(|statement| native.rows(statement));
    assert_eq!(before[2].rows.len(), 10);
    let dump = done(&mut control, "GET", "/dump", "");
    assert!(dump["column_families"].as_array().unwrap().len() >= 5, "{dump}");

    done(&mut control, "POST", "/reset", r#"{"what": "data"}"#);
    assert_eq!(done(&mut control, "GET", "/dump", "")["column_families"], json!([]));
    done(&mut control, "POST", "/load", &dump.to_string());

    assert_eq!(done(&mut control, "GET", "/dump", ""), dump);
    assert_eq!(select.map(|statement| native.rows(statement)), before);
    assert_eq!(
        values(thrift.call("get_slice", &slice("Standard1", b"ada")).value()),
        ["", "ada@example.com", "v"]
    );
    double.server.stop();
}

#[test]
fn wrong_rows_are_refused_and_nothing_is_loaded() {
    let double = Double::start();
    let mut control = with_kind(&double, "application/json");
    let good = json!({"key": "good", "cells": [{"name": "c", "value": "v"}]});
    let family = |name: &str, row: Json| {
        json!({"column_families": [{"keyspace": "Keyspace1", "name": name, "rows": [good, row]}]}).to_string()
    };
    let cell = |cell: Json| json!({"key": "k", "cells": [cell]});
    for (body, words) in [
        (family("Nothing", json!({"key": "k"})), "there is no column family Keyspace1.Nothing"),
        (family("Standard1", json!({"key": ""})), "a key or name has 0 bytes"),
        (family("Standard1", json!({"key": 7})), "a key, name or value is \"text\", {\"hex\": \"00ff\"}"),
        (family("Standard1", json!({"key": {"hex": "0"}})), "\"0\": "),
        (family("Standard1", json!({"keys": "k"})), "unknown field `keys`"),
        (
            family("Standard1", cell(json!({"name": "c"}))),
            "has a value, with or without ttl_s, or deleted_at_s",
        ),
        (family("Standard1", cell(json!({"name": "c", "counter": 1}))), "has a value"),
        (family("Standard1", cell(json!({"name": "c", "value": "v", "ttl_s": 0}))), "ttl_s must be positive"),
        (
            family("Standard1", cell(json!({"name": "c", "value": "v", "super_column": "s"}))),
            "has no super columns",
        ),
        (
            family("Standard2", cell(json!({"name": {"hex": "ff"}, "value": "v"}))),
            "Keyspace1.Standard2: \"ff\": ",
        ),
    ] {
        let (status, error) = refused(&mut control, "POST", "/load", &body);
        assert_eq!((status, error.contains(words)), (400, true), "{words}: {error}");
    }
    let (_, error) = refused(
        &mut control,
        "POST",
        "/load",
        &family("Super1", cell(json!({"super_column": "s", "name": "c", "value": "v"}))),
    );
    assert!(error.contains("is a Super column family: give each cell its super_column"), "{error}");
    assert_eq!(done(&mut control, "GET", "/dump", "")["column_families"], json!([]));
    double.server.stop();
}

#[test]
fn files_are_loaded_at_the_start_and_belong_to_the_start_up_state() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    write(
        "schema.cql",
        &format!("{KEYSPACE}; CREATE TABLE ks.t (k int PRIMARY KEY); INSERT INTO ks.t (k) VALUES (1);"),
    );
    write("rows.json", ROWS);
    write("wrong.cql", "USE nothing");
    let options = ["--ephemeral", "--control", "127.0.0.1:0", "--load", "schema.cql", "--load", "rows.json"];
    let mut server = Server::start(directory.path(), &storage_conf(""), &options);
    let (native, control) = server.native_and_control_address();
    let mut native = NativeClient::ready(native, 4);
    let mut thrift = server.client(Style::FRAMED);
    let slice = get_slice_args("Keyspace1", b"ada", parent("Standard1", None), everything(), ONE);
    let mut check = |native: &mut NativeClient| {
        assert_eq!(native.rows("SELECT k FROM ks.t").ints(), [1]);
        assert_eq!(values(thrift.call("get_slice", &slice).value()).len(), 3);
    };
    check(&mut native);
    native.run("DROP KEYSPACE ks");
    let mut client = ControlClient::connect(&control.to_string(), None).unwrap();
    done(&mut client, "POST", "/reset", r#"{"what": "everything"}"#);
    check(&mut native);
    server.stop();
    fs::create_dir(directory.path().join("empty")).unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["--ephemeral", "--load", "empty"], "/empty: "),
        (&["--ephemeral", "--load", "wrong.cql"], "--load wrong.cql: the statement at line 1: "),
        (&["--ephemeral", "--load", "nothing.cql"], "cannot read nothing.cql: "),
        (
            &["--ephemeral", "--load", "storage-conf.xml"],
            "must end with .cql (a script of CQL), .cli or .txt (a script of cassandra-cli), or .json (rows)",
        ),
        (&["--load", "rows.json"], "--load rows.json loads data for tests, and only into a server in memory"),
    ];
    for (more, words) in cases {
        let (status, output) = Server::fail(directory.path(), more);
        assert!(!status.success() && output.contains(words), "{more:?}: {output}");
    }
}

#[test]
fn a_server_in_the_process_of_its_test_loads_rows() {
    let server = InProcess::builder().config_text(storage_conf("")).start().unwrap();
    server.json(ROWS).unwrap();
    let mut thrift = support::client::Client::connect(server.thrift_address(), Style::UNFRAMED);
    let slice = get_slice_args("Keyspace1", b"ada", parent("Standard1", None), everything(), ONE);
    assert_eq!(values(thrift.call("get_slice", &slice).value()).len(), 3);
    assert!(server.json("{}").unwrap_err().to_string().contains("missing field `column_families`"));
}

#[test]
fn a_data_directory_and_a_server_are_loaded_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    // QUORUM, with which a server is read, is not available where there are five replicas.
    let all = storage_conf("");
    let (first, rest) = all.split_once("<Keyspace Name=\"FiveTimes\"").unwrap();
    let (_, last) = rest.split_once("</Keyspace>").unwrap();
    let mut source = Server::start(directory.path(), &format!("{first}{last}"), &["--cql", "127.0.0.1:0"]);
    let written = insert_args("Keyspace1", b"ada", path("Standard1", None, Some(b"c")), (b"v", 1), ONE);
    source.client(Style::FRAMED).call("insert", &written).void();
    let mut native = NativeClient::ready(source.native_address(), 4);
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    native.run("INSERT INTO ks.t (k, v) VALUES (1, 7)");

    let loaded = |from: &str| {
        let double = Double::with("", &["--load", from]);
        assert_eq!(value_of(&mut double.thrift(), b"ada", b"c").as_deref(), Some(&b"v"[..]));
        double.send("POST", "/reset", r#"{"what": "everything"}"#);
        assert_eq!(value_of(&mut double.thrift(), b"ada", b"c").as_deref(), Some(&b"v"[..]));
        double
    };
    // A server reports the column families of Thrift clients only.
    loaded(&format!("thrift:{}", source.address)).server.stop();
    // A running server can use the directory, which is not changed.
    let data = directory.path().join("data");
    let double = loaded(&format!("data:{}", data.display()));
    source.stop();
    assert_eq!(double.native().rows("SELECT v FROM ks.t WHERE k = 1").ints(), [7]);
    double.server.stop();

    let (_, output) = Server::fail(directory.path(), &["--ephemeral", "--load", "data:nothing"]);
    assert!(output.contains("/nothing: the directory does not exist"), "{output}");
    let (_, output) = Server::fail(directory.path(), &["--load", "data:nothing"]);
    assert!(output.contains("nothing loads data for tests"), "{output}");
}

#[test]
fn a_backup_is_loaded_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path(), &storage_conf(""), &[]);
    let mut native = NativeClient::ready(server.native_address(), 4);
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v text, s set<int>)");
    native.run("CREATE INDEX ON ks.t (v)");
    native.run("INSERT INTO ks.t (k, v, s) VALUES (1, 'tea', {1, 2})");
    native.run("INSERT INTO ks.t (k, v) VALUES (2, 'milk')");
    native.run("DELETE FROM ks.t WHERE k = 2");
    let of_config = path("Standard1", None, Some(b"c"));
    let insert = insert_args("Keyspace1", b"k", of_config, (b"v", 1), ONE);
    server.client(Style::FRAMED).call("insert", &insert).void();
    let backup = directory.path().join("backup").display().to_string();
    let made = std::process::Command::new(env!("CARGO_BIN_EXE_thriftstore"))
        .args(["backup", &backup, "--config", "storage-conf.xml"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    server.stop();

    for _ in 0..2 {
        let double = Double::with("", &["--load", &backup]);
        let mut native = double.native();
        assert_eq!(native.rows("SELECT k FROM ks.t WHERE v = 'tea'").ints(), [1]);
        assert_eq!(value_of(&mut double.thrift(), b"k", b"c").as_deref(), Some(&b"v"[..]));
        native.run("TRUNCATE ks.t");
        double.send("POST", "/reset", r#"{"what": "everything"}"#);
        assert_eq!(native.rows("SELECT k FROM ks.t").ints(), [1]);
        double.server.stop();
    }
}

#[test]
fn huge_statements_of_cassandra_cli_are_refused() {
    let double = Double::start();
    let mut control = with_kind(&double, "text/x-cassandra-cli");
    for levels in [9, 20_000] {
        let maps = "{a:".repeat(levels);
        let script = format!("create keyspace n;\nuse n;\ncreate column family x with comparator = {maps}");
        let (status, error) = refused(&mut control, "POST", "/load", &script);
        assert_eq!(status, 400);
        assert!(error.contains("line 3, column") && error.contains("more than 8 maps"), "{error}");
    }
    let (status, error) = refused(&mut control, "POST", "/load", &format!("list {}", "[".repeat(1 << 20)));
    assert_eq!(status, 400);
    assert!(error.contains("a statement has at most 100000 words and signs"), "{error}");
}
