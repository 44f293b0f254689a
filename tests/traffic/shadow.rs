//! The shadow: clients see the primary only, and the report has what the candidate answered.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

use crate::support;
use db::Authenticator;
use double::testing::Server;
use support::calls::*;
use support::client::{Client, Style};
use support::native::{NativeClient, Packing, opcode};
use support::native_body::{Asked, Body, int};
use support::value::{Value, fields, text};

const SCHEMA: &str = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
     CREATE TABLE k.\"Standard1\" (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE";

fn server() -> Server {
    let server = Server::start().unwrap();
    server.cql(SCHEMA).unwrap();
    server
}

/// A running shadow. Dropping it kills the process.
pub struct Shadow {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    page: SocketAddr,
    pub address: SocketAddr,
}

impl Drop for Shadow {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shadow {
    pub fn start(primary: SocketAddr, candidate: SocketAddr, more: &[&str]) -> Shadow {
        Shadow::start_at("127.0.0.1:0", primary, candidate, more)
    }

    /// Starts a shadow whose clients connect to this address.
    pub fn start_at(listen: &str, primary: SocketAddr, candidate: SocketAddr, more: &[&str]) -> Shadow {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        command.args(["shadow", "--listen", listen, "--http", "127.0.0.1:0", "--http-host", "shadow"]);
        command.args(["--primary", &primary.to_string(), "--candidate", &candidate.to_string()]);
        command.args(more).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = || {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            line
        };
        let page = line();
        let page = page.trim().strip_prefix("the report so far is at http://").unwrap().trim_end_matches('/');
        let page = page.parse().unwrap();
        let address = line();
        let address = address.strip_prefix("listening for clients on ").unwrap().split(',').next().unwrap();
        let address = address.parse().unwrap();
        Shadow { child, output, page, address }
    }

    /// Returns the status line and the body of a reply of the HTTP port.
    pub fn get(&self, path: &str) -> (String, String) {
        self.get_as("shadow", path)
    }

    /// The same for a client that reaches the port under this name.
    fn get_as(&self, host: &str, path: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.page).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), body.to_owned())
    }

    /// Waits until the report has so many calls, and a reproduction of each difference, and returns it.
    ///
    /// A call is counted just before its reproduction is made.
    fn report_of(&self, calls: u64) -> Json {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let report: Json = serde_json::from_str(&self.get("/report.json").1).unwrap();
            let causes = report["causes"].as_array().unwrap();
            let is_reproduced = causes.iter().all(|cause| cause["reproduction"].is_object());
            if report["calls"]["total"].as_u64() >= Some(calls) && is_reproduced {
                return report;
            }
            assert!(Instant::now() < end, "{report:#}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the shadow, and returns whether it succeeded, and what it printed.
    pub fn stop(mut self) -> (bool, String) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).unwrap();
        let mut printed = String::new();
        self.output.read_to_string(&mut printed).unwrap();
        (self.child.wait().unwrap().success(), printed)
    }
}

fn insert(client: &mut Client, value: &str) {
    let column = fields([(1, text("c")), (2, text(value)), (3, Value::I64(1))]);
    let insert =
        fields([(1, text("row")), (2, parent("Standard1", None)), (3, column), (4, Value::I32(ONE))]);
    client.call("insert", &insert).void();
}

fn get_count(client: &mut Client) -> Value {
    let range = fields([(1, text("")), (2, text("")), (3, Value::Bool(false)), (4, Value::I32(100))]);
    let predicate = fields([(2, range)]);
    let arguments =
        fields([(1, text("row")), (2, parent("Standard1", None)), (3, predicate), (4, Value::I32(ONE))]);
    client.call("get_count", &arguments).value().clone()
}

fn connect(shadow: &Shadow) -> Client {
    let mut client = Client::connect(shadow.address, Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text("k"))])).void();
    client
}

#[test]
fn equal_servers_have_no_differences() {
    let (primary, candidate) = (server(), server());
    let shadow = Shadow::start(primary.thrift_address(), candidate.thrift_address(), &["--fail-on", "text"]);
    let mut client = connect(&shadow);
    for value in 0..20 {
        insert(&mut client, &value.to_string());
        assert_eq!(get_count(&mut client), Value::I32(1));
    }
    let report = shadow.report_of(41);
    assert_eq!(report["verdict"], "same", "{report:#}");
    assert_eq!((&report["calls"]["equal"], &report["calls"]["writes"]), (&41.into(), &20.into()));
    assert_eq!(report["latency"]["candidate"]["calls"], 41);
    // The candidate has the writes.
    let mut direct = Client::connect(candidate.thrift_address(), Style::FRAMED);
    direct.call("set_keyspace", &fields([(1, text("k"))])).void();
    assert_eq!(get_count(&mut direct), Value::I32(1));
    assert!(shadow.get("/").1.contains("No differences in 41 calls"));
    assert!(shadow.get("/status.json").1.contains("\"compared\":41"));
    assert!(shadow.get("/nowhere").0.contains("404"));
    assert!(shadow.get_as("localhost", "/").0.contains("200"));
    assert!(shadow.get_as("evil.example", "/").0.contains("421"));
    let (is_success, printed) = shadow.stop();
    assert!(is_success && printed.contains("No differences in 41 calls"), "{printed}");
}

#[test]
fn other_data_is_a_difference_with_a_reproduction() {
    let (primary, candidate) = (server(), server());
    primary.cql("INSERT INTO k.\"Standard1\" (key, column1, value) VALUES (0x726f77, 0x78, 0x79)").unwrap();
    let shadow = Shadow::start(primary.thrift_address(), candidate.thrift_address(), &["--fail-on", "data"]);
    let mut client = connect(&shadow);
    assert_eq!(get_count(&mut client), Value::I32(1));
    let report = shadow.report_of(2);
    assert_eq!((&report["verdict"], &report["calls"]["data"]), (&"differs".into(), &1.into()));
    let cause = &report["causes"][0];
    assert_eq!(cause["methods"][0]["name"], "get_count");
    assert_eq!(cause["families"][0]["name"], "k.Standard1");
    let code = cause["reproduction"]["code"].as_array().unwrap();
    let python = code.iter().find(|code| code["language"].as_str().unwrap().starts_with("Python")).unwrap();
    let python = python["text"].as_str().unwrap();
    assert!(python.contains("client.set_keyspace(\"k\")\nprint(client.get_count(b\"row\","), "{python}");
    assert!(!shadow.stop().0, "--fail-on data");
}

#[test]
fn a_candidate_that_is_down_or_silent_does_not_reach_clients() {
    let primary = server();
    // The listener accepts connections by its queue, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let down = closed.local_addr().unwrap();
    drop(closed);
    for candidate in [silent.local_addr().unwrap(), down] {
        let shadow = Shadow::start(primary.thrift_address(), candidate, &["--timeout-ms", "100"]);
        let started = Instant::now();
        let mut client = connect(&shadow);
        for _ in 0..5 {
            insert(&mut client, "v");
        }
        let took = started.elapsed();
        let report = shadow.report_of(6);
        assert_eq!(report["calls"]["without_answer"], 6, "{report:#}");
        assert_eq!(report["causes"][0]["is_without_answer"], true);
        assert_eq!(report["calls"]["missing_writes"], 5, "{report:#}");
        // Six time-outs of the candidate are 600 ms.
        assert!(took < Duration::from_millis(500), "{took:?}");
    }
}

#[test]
fn a_candidate_that_hangs_is_never_the_same() {
    let primary = server();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let shadow = Shadow::start(primary.thrift_address(), silent.local_addr().unwrap(), &[]);
    let mut client = connect(&shadow);
    for _ in 0..20 {
        insert(&mut client, "v");
    }
    drop(client);
    let (is_success, printed) = shadow.stop();
    assert!(!is_success && printed.contains(" missing from the candidate"), "{printed}");
    assert!(printed.contains("the shadow ended before they were sent"), "{printed}");
}

/// Returns the timestamps of all values of a server, by their keys.
fn write_times(server: &Server) -> Vec<Vec<Option<Vec<u8>>>> {
    let mut rows =
        NativeClient::ready(server.native_address(), 4).rows("SELECT p, writetime(v) FROM k.t").rows;
    rows.sort();
    rows
}

#[test]
fn writes_without_a_timestamp_get_the_same_on_both_sides() {
    let (primary, candidate) = (server(), server());
    for server in [&primary, &candidate] {
        server.cql("CREATE TABLE k.t (p int PRIMARY KEY, v text); CREATE TABLE k.n (p int PRIMARY KEY, n counter)").unwrap();
    }
    candidate.clock().advance(Duration::from_secs(4));
    let more = ["--candidate-cql", &candidate.native_address().to_string(), "--fail-on", "text"];
    let shadow = Shadow::start(primary.native_address(), candidate.thrift_address(), &more);
    let mut calls = 0;
    for version in 1..=5 {
        let mut client = NativeClient::ready(shadow.address, version);
        client.run("USE k");
        for row in [0, 10, 20] {
            client.run(&format!("INSERT INTO t (p, v) VALUES ({}, 'v')", row + i32::from(version)));
        }
        client.run(&format!("DELETE FROM t WHERE p = {version}"));
        client.run("UPDATE n SET n = n + 1 WHERE p = 1");
        calls += 7;
        if version > 2 {
            client.run("UPDATE t SET v = 'x' WHERE p = 0 IF v = 'y'");
            let prepared =
                client.prepare(&format!("INSERT INTO t (p, v) VALUES ({}, 'v')", 30 + i32::from(version)));
            client.execute(&prepared, &Asked::values([])).void();
            calls += 3;
        }
    }
    let report = shadow.report_of(calls);
    assert_eq!(report["verdict"], "same", "{report:#}");
    assert_eq!((write_times(&primary).len(), write_times(&primary)), (13, write_times(&candidate)));
    assert!(shadow.stop().0);
}

#[test]
fn statements_of_thrift_get_one_timestamp_too() {
    let (primary, candidate) = (server(), server());
    for server in [&primary, &candidate] {
        server.cql("CREATE TABLE k.t (p int PRIMARY KEY, v text)").unwrap();
    }
    candidate.clock().advance(Duration::from_secs(4));
    let shadow = Shadow::start(primary.thrift_address(), candidate.thrift_address(), &[]);
    let mut client = connect(&shadow);
    for text_of in ["INSERT INTO t (p, v) VALUES (1, 'v')", "UPDATE t SET v = 'w' WHERE p = 2"] {
        let query = fields([(1, text(text_of)), (2, Value::I32(2)), (3, Value::I32(ONE))]);
        client.call("execute_cql3_query", &query).value();
    }
    // A Thrift client removes the columns of CQL by its own clock.
    let statement = "INSERT INTO \"Standard1\" (key, column1, value) VALUES (0x726f77, 0x63, 0x79)";
    let query = fields([(1, text(statement)), (2, Value::I32(2)), (3, Value::I32(ONE))]);
    client.call("execute_cql3_query", &query).value();
    let path = fields([(3, text("Standard1"))]);
    let now = Value::I64(traffic::record::now_us());
    client.call("remove", &fields([(1, text("row")), (2, path), (3, now), (4, Value::I32(ONE))])).void();
    assert_eq!(get_count(&mut client), Value::I32(0));
    let report = shadow.report_of(6);
    assert_eq!(report["verdict"], "same", "{report:#}");
    assert_eq!((write_times(&primary).len(), write_times(&primary)), (2, write_times(&candidate)));
}

#[test]
fn logins_of_the_primary_are_no_differences() {
    let authenticator = Authenticator::Password { are_permissions_enforced: false };
    let primary = Server::builder().authenticator(authenticator).start().unwrap();
    let candidate = Server::start().unwrap();
    let more = ["--candidate-cql", &candidate.native_address().to_string(), "--fail-on", "text"];
    let shadow = Shadow::start(primary.native_address(), candidate.thrift_address(), &more);
    for version in [1, 3, 5] {
        let mut client = NativeClient::connect(shadow.address, version);
        assert_eq!(client.start(Packing::None).opcode, opcode::AUTHENTICATE);
        match version {
            1 => {
                let login = [("username", "cassandra"), ("password", "cassandra")];
                client.call(opcode::CREDENTIALS, Body::new().string_map(&login));
            }
            _ => {
                let login = client.call(opcode::AUTH_RESPONSE, Body::new().bytes(b"\0cassandra\0cassandra"));
                assert_eq!(login.opcode, opcode::AUTH_SUCCESS);
            }
        }
        client.rows("SELECT cql_version FROM system.local");
    }
    let report = shadow.report_of(9);
    assert_eq!(
        (&report["verdict"], &report["calls"]["differences"]),
        (&"same".into(), &0.into()),
        "{report:#}"
    );
    assert_eq!(report["calls"]["not_compared"], 3, "{report:#}");
    assert!(shadow.stop().0);
}

#[test]
fn many_clients_on_the_same_rows_make_no_differences() {
    let (primary, candidate) = (server(), server());
    for server in [&primary, &candidate] {
        server.cql("CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))").unwrap();
    }
    let more = ["--candidate-cql", &candidate.native_address().to_string(), "--fail-on", "text"];
    let shadow = Shadow::start(primary.native_address(), candidate.thrift_address(), &more);
    let address = shadow.address;
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            std::thread::spawn(move || {
                let mut client = NativeClient::ready(address, 4);
                client.run("USE k");
                let read = client.prepare("SELECT v FROM t WHERE p = ? AND c = 1");
                for round in 0..ROUNDS {
                    let (p, c) = (round % 2, round % 3);
                    client.run(&format!("UPDATE t SET v = '{number}-{round}' WHERE p = {p} AND c = {c}"));
                    client.rows(&format!("SELECT * FROM t WHERE p = {p}"));
                    client.execute(&read, &Asked::values([int(p)])).rows();
                    client.rows("SELECT * FROM t");
                    client.run(&format!("DELETE FROM t WHERE p = {p} AND c = {c}"));
                }
            })
        })
        .collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
    let report = shadow.report_of(CLIENTS * (3 + ROUNDS as u64 * 5));
    assert_eq!(report["verdict"], "same", "{report:#}");
    let rules = report["rules"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["name"] == "concurrent-write"), "{rules:#?}");
    assert!(shadow.stop().0);
}

/// Clients of the same rows, and what each of them does: five calls.
const CLIENTS: u64 = 16;
const ROUNDS: i32 = 25;

#[test]
fn calls_that_are_not_sent_are_counted() {
    let (primary, candidate) = (server(), server());
    let shadow = Shadow::start(primary.thrift_address(), candidate.thrift_address(), &["--only", "writes"]);
    let mut client = connect(&shadow);
    insert(&mut client, "v");
    get_count(&mut client);
    let report = shadow.report_of(3);
    assert_eq!((&report["calls"]["equal"], &report["calls"]["not_compared"]), (&2.into(), &1.into()));
    assert_eq!(report["not_compared"][0]["name"], "not sent to the candidate: only writes are");
}

#[test]
fn prepared_statements_of_the_native_protocol_are_compared() {
    let (primary, candidate) = (server(), server());
    let more = ["--candidate-cql", &candidate.native_address().to_string()];
    let shadow = Shadow::start(primary.native_address(), candidate.thrift_address(), &more);
    let mut client = NativeClient::ready(shadow.address, 4);
    let prepared = client.prepare("SELECT * FROM k.\"Standard1\" WHERE key = 0x00");
    client.execute(&prepared, &Asked::values([])).rows();
    drop(client);
    let report = shadow.report_of(3);
    assert_eq!(report["calls"]["differences"], 0, "{report:#}");
    let methods = report["methods"].as_array().unwrap();
    assert!(methods.iter().any(|method| method["name"] == "SELECT"), "{methods:#?}");
}
