//! The tools for recordings: what they print, and that what they write can be replayed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::recorder::{Recorder, calls_of, events_of};
use crate::support;
use double::testing::Server;
use support::calls::*;
use support::client::{Client, Style};
use support::native::NativeClient;
use support::value::{Value, fields, text};
use traffic::{fields_from_json, fields_to_json};

const SCHEMA: &str = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
     CREATE TABLE k.\"Standard1\" (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE;
     CREATE TABLE k.\"Standard2\" (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE";

fn server() -> Server {
    let server = Server::start().unwrap();
    server.cql(SCHEMA).unwrap();
    server
}

/// Runs a command. Returns its output and errors, and whether it succeeded.
fn run(arguments: &[&str]) -> (String, String, bool) {
    let output = Command::new(env!("CARGO_BIN_EXE_thriftstore")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.success())
}

fn traffic(arguments: &[&str]) -> String {
    let (output, errors, is_success) = run(&[&["traffic"], arguments].concat());
    assert!(is_success, "{arguments:?}: {output}{errors}");
    output
}

fn insert(client: &mut Client, family: &str, row: &str, timestamp: i64) {
    let column = fields([(1, text("c")), (2, text("v")), (3, Value::I64(timestamp))]);
    let insert = fields([(1, text(row)), (2, parent(family, None)), (3, column), (4, Value::I32(ONE))]);
    client.call("insert", &insert);
}

fn get(client: &mut Client, family: &str, row: &str) {
    let path = fields([(3, text(family)), (5, text("c"))]);
    client.call("get", &fields([(1, text(row)), (2, path), (3, Value::I32(ONE))]));
}

/// Records a Thrift session. Returns the recorder, which has ended.
fn recorded(server: &Server, row: &str) -> Recorder {
    let mut recorder = Recorder::start(server.thrift_address(), &[]);
    let mut client = Client::connect(recorder.address, Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text("k"))])).void();
    insert(&mut client, "Standard1", row, 1);
    insert(&mut client, "Standard2", row, 1);
    get(&mut client, "Standard1", row);
    get(&mut client, "Standard1", "not there");
    drop(client);
    recorder.stop();
    recorder
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns a directory and a path in it.
fn place(name: &str) -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let file = path(&directory.path().join(name)).to_owned();
    (directory, file)
}

#[test]
fn calls_are_printed_one_per_line() {
    let server = server();
    let recorder = recorded(&server, "row\u{202e}\n");
    let shown = traffic(&["show", path(&recorder.file)]);
    // The times differ from run to run.
    let calls = |shown: &str| -> Vec<String> {
        let call = |line: &str| {
            let line = line.split("  ").skip(3).collect::<Vec<_>>().join("  ");
            line.rsplit_once("  (").map_or(line.clone(), |(call, _)| call.to_owned())
        };
        shown.lines().map(call).collect()
    };
    let all = calls(&shown);
    assert_eq!(all[0], "set_keyspace  {1: \"k\"}  -> nothing");
    assert_eq!(
        all[1],
        r#"insert  k.Standard1  {1: 0x726f77e280ae0a, 2: {3: "Standard1"}, 3: {1: "c", 2: "v", 3: 1}, 4: 1}  -> nothing"#
    );
    assert!(all[4].ends_with("-> NotFoundException"), "{shown}");
    assert_eq!(all.len(), 5);
    let of = |options: &[&str]| calls(&traffic(&[&["show", path(&recorder.file)], options].concat())).len();
    assert_eq!(of(&["--method", "GET"]), 2);
    assert_eq!(of(&["--family", "Standard1"]), 3);
    assert_eq!(of(&["--family", "k.Standard2"]), 1);
    assert_eq!(of(&["--family", "other.Standard2"]), 0);
    assert_eq!(of(&["--failed"]), 1);
    assert_eq!(of(&["--limit", "2"]), 2);
    assert_eq!((of(&["--client", "127.0.0.1"]), of(&["--client", "10."])), (5, 0));
    assert_eq!((of(&["--until", "2001-01-01"]), of(&["--from", "2001-01-01"])), (0, 5));
}

#[test]
fn calls_are_counted() {
    let server = server();
    let recorder = recorded(&server, "row");
    let counted: Json = serde_json::from_str(&traffic(&["stats", "--json", path(&recorder.file)])).unwrap();
    assert_eq!(
        (&counted["calls"], &counted["failed"], &counted["unanswered"]),
        (&5.into(), &1.into(), &0.into())
    );
    let methods = counted["methods"].as_array().unwrap();
    let of = |name: &str| methods.iter().find(|method| method["name"] == name).unwrap();
    assert_eq!((&of("get")["calls"], &of("get")["failed"]), (&2.into(), &1.into()));
    assert_eq!(of("insert")["latency"]["calls"], 2);
    assert_eq!(counted["families"][0]["name"], "k.Standard1");
    assert_eq!(counted["clients"][0]["name"], "127.0.0.1");
    let printed = traffic(&["stats", path(&recorder.file)]);
    assert!(printed.starts_with("5 calls, 1 exceptions, 0 without an answer\nfrom 20"), "{printed}");
    assert!(printed.contains("k.Standard1"), "{printed}");
}

#[test]
fn selected_calls_are_a_recording() {
    let server = server();
    let recorder = recorded(&server, "row");
    let (_directory, to) = place("selected.rec");
    let printed = traffic(&["filter", path(&recorder.file), "--to", &to, "--family", "Standard2"]);
    assert_eq!(printed, format!("{to}: 2 calls\n"));
    // The call that selects the keyspace is kept.
    let (report, errors, _) =
        run(&["replay", &to, "--against", &server.thrift_address().to_string(), "--report", "json"]);
    let report: Json = serde_json::from_str(&report).unwrap_or_else(|error| panic!("{error}: {errors}"));
    assert_eq!(
        (&report["calls"]["equal"], &report["calls"]["differences"]),
        (&2.into(), &0.into()),
        "{report:#}"
    );
    let (_, errors, is_success) = run(&["traffic", "filter", path(&recorder.file), "--to", &to]);
    assert!(!is_success && errors.contains("exists already"), "{errors}");
}

#[test]
fn recordings_are_merged_by_time() {
    let server = server();
    let (first, second) = (recorded(&server, "a"), recorded(&server, "b"));
    let (_directory, to) = place("merged.rec");
    traffic(&["merge", path(&second.file), path(&first.file), "--to", &to]);
    let events = events_of(Path::new(&to));
    assert!(events.is_sorted_by_key(|event| event.at_us));
    let calls = calls_of(&events);
    assert_eq!(calls.len(), 10);
    assert!(calls.iter().all(|(_, reply)| reply.is_some()));
    let expected = [calls_of(&events_of(&first.file)), calls_of(&events_of(&second.file))].concat();
    assert_eq!(calls, expected);
}

#[test]
fn lines_of_json_become_a_recording_and_lines_again() {
    let source = support::repository("tests/recordings/0.6-super.jsonl");
    let (directory, recording) = place("super.rec");
    traffic(&["from-json", path(&source), "--to", &recording]);
    let again = path(&directory.path().join("again.jsonl")).to_owned();
    traffic(&["to-json", &recording, "--to", &again]);
    let calls = |file: &str| -> Vec<Json> {
        let text = fs::read_to_string(file).unwrap();
        let call = |line: &str| {
            let call: Json = serde_json::from_str(line).unwrap();
            // The same bytes may be written as text or in hex.
            let fields = |json: &Json| fields_to_json(&fields_from_json(json).unwrap());
            serde_json::json!([call["m"], fields(&call["a"]), call["r"][0], fields(&call["r"][1])])
        };
        text.lines().skip(1).filter(|line| !line.contains(r#""r": ["any"#)).map(call).collect()
    };
    let (before, after) = (calls(path(&source)), calls(&again));
    assert!(before.len() > 1_000);
    for call in before {
        assert!(after.contains(&call), "{call}");
    }
}

#[test]
fn the_native_protocol_is_printed_and_left_out_of_json() {
    let server = server();
    let mut recorder = Recorder::start(server.native_address(), &[]);
    let mut client = NativeClient::ready(recorder.address, 4);
    client.query("SELECT * FROM k.\"Standard1\"").rows();
    drop(client);
    recorder.stop();
    let shown = traffic(&["show", path(&recorder.file), "--method", "select"]);
    assert!(shown.contains("SELECT  k.Standard1  SELECT * FROM k.\"Standard1\"  -> "), "{shown}");
    let (output, errors, is_success) = run(&["traffic", "to-json", path(&recorder.file)]);
    assert!(is_success && output.is_empty(), "{output}");
    assert!(errors.starts_with("0 calls written; left out: "), "{errors}");
}

#[test]
fn damage_is_reported_and_the_rest_is_used() {
    let server = server();
    let recorder = recorded(&server, "row");
    let mut bytes = fs::read(&recorder.file).unwrap();
    let at = bytes.windows(4).position(|mark| mark == b"TBLK").unwrap();
    bytes[at + 60] ^= 1;
    fs::write(&recorder.file, bytes).unwrap();
    let (_, errors, is_success) = run(&["traffic", "stats", path(&recorder.file)]);
    assert!(!is_success && errors.contains("is damaged at byte"), "{errors}");
}
