//! Replays: what a server answers otherwise than the recording has it is found, grouped and shrunk.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value as Json;

use traffic::replay::{
    CandidateServer, FreshServer, Replay, ReplayOptions, partitioner_of, selected, shrink,
};
use traffic::report::{Report, ReportSubject, RunKind};
use traffic::{EventKind, Recording, ThriftMessage};

use crate::falsifier::Falsifier;
use crate::recorder::Recorder;
use crate::support;
use double::testing::{Server, Snapshot};
use support::calls::*;
use support::client::{Client, Style};
use support::native::NativeClient;
use support::native_body::Asked;
use support::value::{Value, fields, text};

const SCHEMA: &str = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
     CREATE TABLE k.\"Standard1\" (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE";

/// What a replay printed, and how it ended.
struct Replayed {
    printed: String,
    errors: String,
    is_success: bool,
}

/// Replays a recording.
fn replay(file: &Path, options: &[&str]) -> Replayed {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    let output = command.arg("replay").arg(file).args(options).output().expect("the program starts");
    Replayed {
        printed: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
        is_success: output.status.success(),
    }
}

/// Replays a recording, and returns the report.
fn report(file: &Path, options: &[&str]) -> Json {
    let replayed = replay(file, &[options, &["--report", "json"]].concat());
    let parsed = serde_json::from_str(&replayed.printed);
    parsed.unwrap_or_else(|error| panic!("{error}: {}{}", replayed.printed, replayed.errors))
}

fn recording(name: &str) -> PathBuf {
    support::repository(&format!("tests/recordings/{name}.jsonl"))
}

fn config(name: &str) -> String {
    support::repository(&format!("tests/recordings/{name}")).display().to_string()
}

fn server() -> Server {
    let server = Server::start().unwrap();
    server.cql(SCHEMA).unwrap();
    server
}

fn column(value: &str, timestamp: i64) -> Value {
    fields([(1, text("c")), (2, text(value)), (3, Value::I64(timestamp))])
}

fn insert(client: &mut Client, row: &str, value: &str) {
    let parent = parent("Standard1", None);
    let insert = fields([(1, text(row)), (2, parent), (3, column(value, 1)), (4, Value::I32(ONE))]);
    client.call("insert", &insert).void();
}

fn get(client: &mut Client, row: &str) {
    let path = fields([(3, text("Standard1")), (5, text("c"))]);
    client.call("get", &fields([(1, text(row)), (2, path), (3, Value::I32(ONE))])).value();
}

/// Records a session: row `old` exists before, row `own` is written. Returns the recorder, which has ended.
fn recorded() -> (Server, Recorder) {
    let server = server();
    let connect = |address| {
        let mut client = Client::connect(address, Style::FRAMED);
        client.call("set_keyspace", &fields([(1, text("k"))])).void();
        client
    };
    insert(&mut connect(server.thrift_address()), "old", "before");
    let mut recorder = Recorder::start(server.thrift_address(), &[]);
    let mut client = connect(recorder.address);
    insert(&mut client, "own", "value");
    get(&mut client, "own");
    get(&mut client, "old");
    drop(client);
    recorder.stop();
    (server, recorder)
}

#[test]
fn recordings_of_old_servers_are_answered_by_the_server_in_memory() {
    let all = [
        ("0.4-mixed", "0.4", "storage-conf.xml"),
        ("0.6-ranges-order-preserving", "0.6", "storage-conf-order-preserving.xml"),
        ("0.7-super", "0.7", "storage-conf.xml"),
        ("1.2-cql2", "1.2", "storage-conf-murmur3.xml"),
        ("2.1-cql-features", "2.1", "storage-conf-murmur3.xml"),
    ];
    for (name, release, conf) in all {
        let options = ["--compat", release, "--config", &config(conf), "--fail-on", "text"];
        let replayed = replay(&recording(name), &options);
        assert!(replayed.is_success, "{name}: {}{}", replayed.printed, replayed.errors);
        assert!(replayed.printed.starts_with("No differences in "), "{name}: {}", replayed.printed);
    }
}

#[test]
fn a_difference_is_found_and_shrunk_to_a_few_calls() {
    let directory = tempfile::tempdir().unwrap();
    let shrunk = directory.path().join("shrunk calls");
    let conf = config("storage-conf-murmur3.xml");
    // Up to 1.1 ties of timestamps and deletions have other winners.
    let server = ["--compat", "1.1", "--config", &conf];
    let options =
        ["--fail-on", "data", "--shrink", shrunk.to_str().unwrap(), "--report", "json", "--report-to"];
    let file = directory.path().join("report.json");
    let replayed =
        replay(&recording("2.1-standard"), &[&server[..], &options, &[file.to_str().unwrap()]].concat());
    assert!(!replayed.is_success, "{}", replayed.errors);
    let report: Json = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!((&report["verdict"], &report["run"]), (&"differs".into(), &"replay".into()));
    let causes = report["causes"].as_array().unwrap();
    let of_data: Vec<&Json> = causes.iter().filter(|cause| cause["kind"] == "data").collect();
    assert!(!of_data.is_empty(), "{report:#}");
    for cause in of_data {
        let reproduction = &cause["reproduction"];
        assert_eq!(reproduction["is_shortest"], true, "{cause:#}");
        let command = reproduction["command"].as_str().expect("a command");
        let calls = reproduction["calls"].as_array().unwrap().len();
        // The writes of the rows that it reads, and those that make the schema.
        assert!((2..12).contains(&calls), "{cause:#}");
        // The command shows the difference again.
        let again = Command::new("sh")
            .arg("-c")
            .arg(format!(
                "{} --report json",
                command.replacen("thriftstore", env!("CARGO_BIN_EXE_thriftstore"), 1)
            ))
            .output()
            .unwrap();
        let again: Json = serde_json::from_slice(&again.stdout).unwrap();
        assert_eq!(again["calls"]["data"], 1, "{command}: {again:#}");
        assert_eq!(again["causes"][0]["title"], cause["title"], "{command}");
    }
}

/// Returns to the state of the beginning for each attempt to shrink.
struct Restored<'s> {
    server: &'s Mutex<Server>,
    start: Snapshot,
    candidate: CandidateServer,
}

impl FreshServer for Restored<'_> {
    async fn fresh(&mut self) -> Result<CandidateServer, String> {
        self.server.lock().restore(&self.start).map_err(|error| error.to_string())?;
        Ok(self.candidate.clone())
    }
}

#[test]
fn a_lost_write_stays_among_the_fewest_calls() {
    let recorded = server();
    let mut recorder = Recorder::start(recorded.thrift_address(), &[]);
    let mut client = Client::connect(recorder.address, Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text("k"))])).void();
    for row in ["a", "b", "c", "d"] {
        insert(&mut client, row, "before");
        get(&mut client, row);
    }
    let path = fields([(3, text("Standard1"))]);
    let remove = [(1, text("c")), (2, path.clone()), (3, Value::I64(5)), (4, Value::I32(ONE))];
    client.call("remove", &fields(remove)).void();
    get(&mut client, "d");
    let path = fields([(3, text("Standard1")), (5, text("c"))]);
    client.call("get", &fields([(1, text("c")), (2, path), (3, Value::I32(ONE))]));
    drop(client);
    let events = recorder.events();
    let calls_of = |wanted: &str| -> Vec<u64> {
        let calls = events.iter().filter_map(|event| match &event.kind {
            EventKind::Request { call, message } => {
                (ThriftMessage::read(message).unwrap().name == wanted).then_some(*call)
            }
            _ => None,
        });
        calls.collect()
    };
    let (removed, last) = (calls_of("remove")[0], *calls_of("get").last().unwrap());

    let correct = server();
    let falsifier = Falsifier::losing(correct.thrift_address(), b"remove");
    let candidate = |address: SocketAddr| CandidateServer { thrift: address.to_string(), native: None };
    let (start, address) = (correct.snapshot().unwrap(), correct.thrift_address());
    let correct = Mutex::new(correct);
    let mut servers = Restored { server: &correct, start, candidate: candidate(falsifier.address) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let shrunk = runtime.block_on(shrink(&events, last, &mut servers, Duration::from_secs(60))).unwrap();
    assert!(shrunk.calls.contains(&removed) && shrunk.is_shortest, "{shrunk:?}");
    assert_eq!(shrunk.calls.len(), 4, "set_keyspace, insert, remove and get: {shrunk:?}");

    // A correct server gives the recorded answers to these calls.
    correct.lock().restore(&servers.start).unwrap();
    let mut report = Report::new(ReportSubject {
        run: RunKind::Replay,
        recorded: String::new(),
        candidate: String::new(),
    });
    let wanted = shrunk.calls.iter().copied().collect();
    runtime.block_on(async {
        let (options, candidate) = (ReplayOptions::default(), candidate(address));
        let mut replay = Replay::new(&candidate, &options, &mut report);
        for event in selected(&events, &wanted) {
            replay.take(event.clone()).await;
        }
        replay.finish().await;
    });
    assert_eq!(report.totals().equal, 4);
}

#[test]
fn the_server_in_memory_has_the_recorded_partitioner() {
    let ordered = "<Storage><Partitioner>org.apache.cassandra.dht.OrderPreservingPartitioner</Partitioner>\
         <Keyspaces/></Storage>";
    let server = Server::builder().config_text(ordered).start().unwrap();
    for is_native in [false, true] {
        let address = if is_native { server.native_address() } else { server.thrift_address() };
        let mut recorder = Recorder::start(address, &[]);
        match is_native {
            true => {
                drop(NativeClient::ready(recorder.address, 4).rows("SELECT partitioner FROM system.local"))
            }
            false => {
                let mut client = Client::connect(recorder.address, Style::FRAMED);
                client.call("describe_partitioner", &fields([])).value();
            }
        }
        recorder.stop();
        let partitioner = partitioner_of(Recording::open(&recorder.file).unwrap());
        assert!(partitioner.unwrap().ends_with(".OrderPreservingPartitioner"));
        let found = report(&recorder.file, &[]);
        assert_eq!(found["verdict"], "same", "{found:#}");
    }
}

#[test]
fn a_server_that_has_lost_a_row_differs() {
    let (server, recorder) = recorded();
    let against = ["--against", &server.thrift_address().to_string()];
    assert_eq!(report(&recorder.file, &against)["calls"]["differences"], 0);
    server.cql("TRUNCATE k.\"Standard1\"").unwrap();
    let found = report(&recorder.file, &against);
    assert_eq!((&found["calls"]["equal"], &found["calls"]["exception"]), (&3.into(), &1.into()), "{found:#}");
    // The row that the recording has not written is not asked for.
    let own = report(&recorder.file, &[&against[..], &["--only-own-reads"]].concat());
    assert_eq!((&own["calls"]["equal"], &own["calls"]["not_compared"]), (&3.into(), &1.into()), "{own:#}");
}

#[test]
fn the_server_in_memory_begins_with_loaded_data() {
    let (server, recorder) = recorded();
    let before = report(&recorder.file, &[]);
    assert_eq!(before["calls"]["differences"], 4, "without a keyspace each call differs: {before:#}");
    let load = ["--load", &format!("thrift:{}", server.thrift_address())];
    assert_eq!(report(&recorder.file, &load)["calls"]["differences"], 0);
    let twice = report(&recorder.file, &[&load[..], &["--times", "3", "--speed", "100"]].concat());
    assert_eq!((&twice["calls"]["total"], &twice["calls"]["differences"]), (&12.into(), &0.into()));
}

#[test]
fn prepared_statements_of_the_native_protocol_are_replayed() {
    let server = server();
    let mut recorder = Recorder::start(server.native_address(), &[]);
    let mut client = NativeClient::ready(recorder.address, 4);
    let insert =
        client.prepare("INSERT INTO k.\"Standard1\" (key, column1, value) VALUES (0x00, 0x01, 0x02)");
    client.execute(&insert, &Asked::values([])).void();
    let select = client.prepare("SELECT * FROM k.\"Standard1\" WHERE key = 0x00");
    client.execute(&select, &Asked::values([])).rows();
    drop(client);
    recorder.stop();
    let script = recorder.file.with_extension("cql");
    fs::write(&script, SCHEMA).unwrap();
    let found = report(&recorder.file, &["--load", script.to_str().unwrap()]);
    assert_eq!(found["calls"]["differences"], 0, "{found:#}");
    assert!(found["calls"]["equal"].as_u64() >= Some(4), "{found:#}");
    let without = report(&recorder.file, &["--against", &server.thrift_address().to_string()]);
    assert_eq!(without["calls"]["compared"], 0, "{without:#}");
}

#[test]
fn a_server_that_is_not_there_answers_nothing() {
    let (_server, recorder) = recorded();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let found = report(&recorder.file, &["--against", &closed, "--timeout-ms", "500"]);
    assert_eq!(found["calls"]["without_answer"], 4, "{found:#}");
}

#[test]
fn a_command_makes_another_server_fresh() {
    let (server, recorder) = recorded();
    server.cql("TRUNCATE k.\"Standard1\"").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let (shrunk, runs) = (directory.path().join("shrunk"), directory.path().join("runs"));
    let against = ["--against", &server.thrift_address().to_string(), "--shrink", shrunk.to_str().unwrap()];
    let refused = replay(&recorder.file, &against);
    assert!(!refused.is_success && refused.errors.contains("add --fresh COMMAND"), "{}", refused.errors);
    let failing = replay(&recorder.file, &[&against[..], &["--fresh", "exit 3"]].concat());
    assert!(failing.errors.contains("--fresh \"exit 3\" has failed: exit status: 3"), "{}", failing.errors);
    let count = format!("echo run >> {}", runs.display());
    let found = report(&recorder.file, &[&against[..], &["--fresh", &count]].concat());
    let reproduction = &found["causes"][0]["reproduction"];
    assert_eq!(reproduction["calls"].as_array().unwrap().len(), 2, "{found:#}");
    assert!(fs::read_to_string(&runs).unwrap().lines().count() >= 4);
    let command = reproduction["command"].as_str().unwrap();
    assert!(command.contains("--against") && command.contains("--fresh 'echo run"), "{command}");
}

#[test]
fn files_that_are_no_recordings_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let errors = |content: Option<&[u8]>| {
        if let Some(content) = content {
            fs::write(&file, content).unwrap();
        }
        let replayed = replay(&file, &[]);
        assert!(!replayed.is_success);
        replayed.errors
    };
    assert!(errors(None).contains("cannot read"), "{}", errors(None));
    assert!(errors(Some(b"")).contains("is not a recording"));
    assert!(errors(Some(b"no recording at all")).contains("is not a recording"));
    assert!(errors(Some(b"{\"framed\": true}\n{\"m\": \"get\"}\n")).contains("line 2 of"));
}
