//! Redacted recordings: nothing of what was secret is left in them, and they can be replayed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::recorder::{Recorder, events_of};
use crate::support;
use double::testing::Server;
use support::calls::*;
use support::client::{Client, Style};
use support::native::NativeClient;
use support::value::{Value, fields, text};
use traffic::EventKind;

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/storage-conf.xml");

/// Runs a command. Returns its output with its errors, and whether it succeeded.
fn run(arguments: &[&str]) -> (String, bool) {
    let output = Command::new(env!("CARGO_BIN_EXE_thriftstore")).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (text, output.status.success())
}

fn succeed(arguments: &[&str]) -> String {
    let (text, is_success) = run(arguments);
    assert!(is_success, "{arguments:?}: {text}");
    text
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns all bytes of the messages of a recording, one after the other.
fn messages(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for event in events_of(file) {
        if let EventKind::Request { message, .. } | EventKind::Reply { message, .. } = event.kind {
            bytes.extend_from_slice(&message);
        }
    }
    bytes
}

fn contains(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

/// Inserts and reads one column of each secret: key, name and value.
fn talk(client: &mut Client) {
    client.call("set_keyspace", &fields([(1, text("k"))])).void();
    let column = fields([(1, text("secretname")), (2, text("secretvalue")), (3, Value::I64(1))]);
    let into = parent("Standard1", None);
    client.call("insert", &fields([(1, text("secretkey")), (2, into), (3, column), (4, Value::I32(ONE))]));
    let of = fields([(3, text("Standard1")), (5, text("secretname"))]);
    client.call("get", &fields([(1, text("secretkey")), (2, of), (3, Value::I32(ONE))]));
}

fn server() -> Server {
    let server = Server::start().unwrap();
    let schema = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
        CREATE TABLE k.\"Standard1\" (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE;
        CREATE TABLE k.t (k text PRIMARY KEY, v text, n int)";
    server.cql(schema).unwrap();
    server
}

/// Records a conversation with the options of a recorder.
fn recorded(server: &Server, options: &[&str]) -> Recorder {
    let mut recorder = Recorder::start(server.thrift_address(), options);
    let mut client = Client::connect(recorder.address, Style::FRAMED);
    talk(&mut client);
    drop(client);
    recorder.stop();
    recorder
}

#[test]
fn each_role_is_redacted_for_itself() {
    let server = server();
    for (roles, hidden) in [
        ("values", &["secretvalue"][..]),
        ("keys", &["secretkey"]),
        ("names", &["secretname"]),
        ("values,keys,names", &["secretvalue", "secretkey", "secretname"]),
    ] {
        let recorder = recorded(&server, &["--redact", roles]);
        let bytes = messages(&recorder.file);
        for secret in ["secretvalue", "secretkey", "secretname"] {
            assert_eq!(contains(&bytes, secret), !hidden.contains(&secret), "{roles}: {secret}");
        }
        assert!(contains(&bytes, "Standard1"));
    }
}

#[test]
fn a_secret_file_makes_recordings_comparable() {
    let (server, dir) = (server(), TempDir::new().unwrap());
    let key = dir.path().join("key");
    fs::write(&key, "of both").unwrap();
    let options = ["--redact", "keys", "--redact-key", path(&key)];
    let (one, other) = (recorded(&server, &options), recorded(&server, &options));
    assert_eq!(messages(&one.file), messages(&other.file));
    assert_ne!(messages(&recorded(&server, &["--redact", "keys"]).file), messages(&one.file));
    let recording = recorded(&server, &[]);
    let to = dir.path().join("later.rec");
    succeed(&[
        "traffic",
        "redact",
        path(&recording.file),
        "--redact",
        "keys",
        "--redact-key",
        path(&key),
        "--to",
        path(&to),
    ]);
    assert_eq!(messages(&to), messages(&one.file), "redacted at once and later");
}

#[test]
fn statements_and_results_of_the_native_protocol_are_redacted() {
    let server = server();
    let mut recorder = Recorder::start(server.native_address(), &["--redact", "values"]);
    let mut client = NativeClient::ready(recorder.address, 4);
    client.query("INSERT INTO k.t (k, v, n) VALUES ('secretkey', 'secretvalue', 1234567)");
    client.query("SELECT * FROM k.t WHERE k = 'secretkey'");
    client.query("SELECT * FROM system.local");
    client.query("SELECT * FROM k.t WHERE nothing = 'secretkey'");
    drop(client);
    recorder.stop();
    let bytes = messages(&recorder.file);
    for secret in ["secretkey", "secretvalue", "1234567"] {
        assert!(!contains(&bytes, secret), "{secret}");
    }
    assert!(!bytes.windows(4).any(|window| window == 1_234_567_i32.to_be_bytes()));
    assert!(contains(&bytes, "INSERT INTO k.t (k, v, n) VALUES ('") && contains(&bytes, "system.local"));
}

/// Redacts a recording of a real server, replays it, and returns the counts of the report.
fn replayed(file: &str, roles: &[&str], compat: &str) -> Json {
    let dir = TempDir::new().unwrap();
    let (redacted, report) = (dir.path().join("redacted.rec"), dir.path().join("report.json"));
    let file = format!("{}/tests/recordings/{file}", env!("CARGO_MANIFEST_DIR"));
    succeed(&[&["traffic", "redact", &file, "--to", path(&redacted)], roles].concat());
    let options = ["--report", "json", "--report-to", path(&report)];
    let of_server = ["replay", path(&redacted), "--config", CONFIG, "--compat", compat];
    succeed(&[&of_server[..], &options].concat());
    let report: Json = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    report["calls"].clone()
}

#[test]
fn a_redacted_recording_of_a_real_server_is_replayed_without_a_difference() {
    for roles in ["values", "keys", "values,keys"] {
        let calls = replayed("0.7-super.jsonl", &["--redact", roles], "0.7");
        assert_eq!(
            (&calls["differences"], &calls["without_answer"]),
            (&0.into(), &0.into()),
            "{roles}: {calls}"
        );
        assert!(calls["compared"].as_u64() > Some(900), "{calls}");
    }
}

#[test]
fn slices_of_redacted_names_are_equal_if_their_order_is_kept() {
    let data = |options: &[&str]| replayed("0.7-ranges.jsonl", options, "0.7")["data"].as_u64().unwrap();
    let (any, kept) = (data(&["--redact", "names"]), data(&["--redact", "names", "--keep-order"]));
    assert!(any > 0 && kept == 0, "{any} differences without order, {kept} with it");
}

#[test]
fn errors_tell_what_is_possible() {
    let (server, dir) = (server(), TempDir::new().unwrap());
    let recording = recorded(&server, &[]);
    let (to, empty) = (dir.path().join("to.rec"), dir.path().join("empty"));
    fs::write(&empty, "").unwrap();
    let command = |options: &[&str]| {
        run(&[&["traffic", "redact", path(&recording.file), "--to", path(&to)], options].concat())
    };
    for (options, expected) in [
        (&[][..], "give --redact values, keys or names"),
        (&["--redact", "rows"], "\"rows\" cannot be redacted: use values, keys or names"),
        (&["--redact", "keys", "--redact-key", path(&empty)], "has no secret"),
        (&["--redact", "keys", "--redact-key", "/nowhere"], "cannot read /nowhere"),
    ] {
        let (text, is_success) = command(options);
        assert!(!is_success && text.contains(expected), "{options:?}: {text}");
    }
    assert!(!to.exists());
}
