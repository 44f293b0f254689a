//! The log of requests with their arguments (`--log-requests`): which requests, what a line has, redaction, files,
//! switching.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value as Json;

use crate::support;
use support::calls::{ONE, get_args, insert_args, path};
use support::client::{Client, PATIENCE, Style};
use support::native::NativeClient;
use support::server::{Server, logged, storage_conf};

fn start(directory: &Path, more: &[&str]) -> Server {
    let more = [&["--ephemeral"], more].concat();
    Server::start(directory, &storage_conf(""), &more)
}

fn insert(client: &mut Client, key: &[u8]) {
    let place = path("Standard1", None, Some(b"name"));
    client.call("insert", &insert_args("Keyspace1", key, place, (b"secret value", 1), ONE)).void();
}

/// Sends a call that fails.
fn fail(client: &mut Client) {
    client.call("get", &get_args("Nix", b"key", path("Standard1", None, Some(b"name")), ONE));
}

/// Waits until a file has some lines, and returns them.
fn lines(file: &Path, count: usize) -> Vec<Json> {
    let start = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        let is_complete = text.is_empty() || text.ends_with('\n');
        if text.lines().count() >= count && is_complete || start.elapsed() > PATIENCE {
            assert_eq!(text.lines().count(), count, "{text}");
            return text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_line_has_the_decoded_arguments() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("requests");
    let mut server =
        start(directory.path(), &["--log-requests", "all", "--log-requests-file", file.to_str().unwrap()]);
    let mut client = server.client(Style::UNFRAMED);
    insert(&mut client, b"anna");
    fail(&mut client);
    let mut native = NativeClient::ready(server.native_address(), 4);
    native.query("SELECT cluster_name FROM system.local WHERE key = 'local'");
    let lines = lines(&file, 3);
    let insert = &lines[0];
    assert_eq!((&insert["protocol"], &insert["method"]), (&"thrift".into(), &"insert".into()));
    assert_eq!((&insert["number"], &insert["consistency"]), (&1.into(), &"ONE".into()));
    assert_eq!(insert["keyspace"], "Keyspace1");
    assert_eq!(insert["arguments"]["key"], "anna");
    assert_eq!(insert["arguments"]["column_path"]["column_family"], "Standard1");
    assert_eq!(insert["arguments"]["value"], "secret value");
    assert!(insert["client"].as_str().unwrap().starts_with("127.0.0.1"), "{insert}");
    assert!(insert["at"].as_str().unwrap().ends_with('Z') && insert["micros"].is_u64(), "{insert}");
    assert!(lines[1]["error"].as_str().unwrap().contains("Nix"), "{}", lines[1]);
    assert_eq!((&lines[2]["protocol"], &lines[2]["statement"]), (&"native".into(), &"SELECT".into()));
    assert_eq!(lines[2]["arguments"]["query"], "SELECT cluster_name FROM system.local WHERE key = 'local'");
    server.stop();
}

#[test]
fn only_errors_are_logged_with_their_arguments() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("requests");
    let more = ["--log-requests", "errors", "--log-requests-file", file.to_str().unwrap()];
    let server = start(directory.path(), &more);
    let mut client = server.client(Style::UNFRAMED);
    insert(&mut client, b"anna");
    fail(&mut client);
    insert(&mut client, b"bert");
    let lines = lines(&file, 1);
    assert_eq!((&lines[0]["method"], &lines[0]["arguments"]["key"]), (&"get".into(), &"key".into()));
    server.stop();
}

#[test]
fn fast_requests_are_not_slow() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("requests");
    for (mode, count) in [("slow=1000s", 0), ("slow=0us", 1)] {
        let more = ["--log-requests", mode, "--log-requests-file", file.to_str().unwrap()];
        let server = start(directory.path(), &more);
        insert(&mut server.client(Style::UNFRAMED), b"anna");
        server.stop();
        assert_eq!(lines(&file, count).len(), count);
    }
    assert_eq!(lines(&file, 1)[0]["arguments"]["key"], "anna");
}

#[test]
fn redacted_lines_have_no_keys_names_and_values() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("requests");
    let file_name = file.to_str().unwrap();
    let more = ["--log-requests", "all", "--log-requests-file", file_name, "--log-requests-redact"];
    let mut server = start(directory.path(), &more);
    let mut client = server.client(Style::UNFRAMED);
    insert(&mut client, b"anna");
    insert(&mut client, b"anna");
    let mut native = NativeClient::ready(server.native_address(), 4);
    native.query("SELECT cluster_name FROM system.local WHERE key = 'anna'");
    native.query("SELECT secret FROM anna");
    let lines = lines(&file, 4);
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("secret value") && !text.contains("\"name\":\"name\""), "{text}");
    assert!(!lines[0].to_string().contains("anna") && !lines[2].to_string().contains("anna"), "{text}");
    assert_eq!(lines[0]["arguments"]["key"], lines[1]["arguments"]["key"]);
    assert_eq!(lines[0]["arguments"]["column_path"]["column_family"], "Standard1");
    assert_eq!(lines[2]["arguments"]["query"], "SELECT cluster_name FROM system.local WHERE key = ?");
    assert_eq!(lines[3]["error"], "(hidden)");
    server.stop();
}

#[test]
fn a_signal_switches_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let server = start(directory.path(), &[]);
    let mut client = server.client(Style::UNFRAMED);
    insert(&mut client, b"first");
    let switch = |to: &str| {
        let line = format!("SIGUSR1: requests are logged from now on: {to}");
        let before = logged(directory.path()).matches(&line).count();
        server.switch_request_log();
        let start = Instant::now();
        while logged(directory.path()).matches(&line).count() == before {
            assert!(start.elapsed() < PATIENCE, "the log was not switched");
            thread::sleep(Duration::from_millis(5));
        }
    };
    switch("all");
    insert(&mut client, b"second");
    switch("off");
    insert(&mut client, b"third");
    server.stop();
    let log = logged(directory.path());
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(" requests: {")).collect();
    assert!(lines.len() == 1 && lines[0].contains("\"key\":\"second\""), "{log}");
}

#[test]
fn wrong_modes_are_refused_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let (status, output) = Server::fail(directory.path(), &["--log-requests", "some"]);
    assert!(!status.success() && output.contains("use off, all, errors, slow=50ms"), "{output}");
}
