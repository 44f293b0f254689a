//! The queue of a shadow: acknowledged writes reach the candidate, whatever is killed meanwhile.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::shadow::Shadow;
use crate::support;
use double::testing::Server as Primary;
use support::calls::*;
use support::client::{Client, PATIENCE, Reply, Style};
use support::native::NativeClient;
use support::native_body::{Asked, int};
use support::server::Server;
use support::value::{Value, fields, text};
use tempfile::TempDir;
use traffic::record::now_us;

pub const SCHEMA: &str = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
     CREATE TABLE k.\"Standard1\" (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE;
     CREATE TABLE k.\"Counts\" (key blob, column1 blob, value counter, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE";

const CONF: &str = "<Storage><ClusterName>Test Cluster</ClusterName>\
     <Partitioner>org.apache.cassandra.dht.RandomPartitioner</Partitioner></Storage>";

pub fn primary() -> Primary {
    let server = Primary::start().unwrap();
    server.cql(SCHEMA).unwrap();
    server
}

/// The process of the candidate, and its directory. Dropping it kills the process.
pub fn candidate(directory: &Path, address: Option<SocketAddr>) -> Server {
    let place = address.map_or_else(|| "127.0.0.1:0".to_owned(), |address| address.to_string());
    Server::start(directory, CONF, &["--thrift", &place, "--cql", "off"])
}

/// Runs a command of the program, which must succeed. Returns what it has printed.
pub fn run(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_thriftstore")).args(words).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{words:?}: {text}");
    text
}

fn copy(from: SocketAddr, to: SocketAddr, more: &[&str]) -> String {
    let (from, to) = (format!("thrift:{from}"), format!("thrift:{to}"));
    run(&[&["copy", "--from", &from, "--to", &to][..], more].concat())
}

pub fn connect(address: SocketAddr) -> Client {
    let mut client = Client::connect(address, Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text("k"))])).void();
    client
}

fn unsent(shadow: &Shadow) -> serde_json::Value {
    let status: serde_json::Value = serde_json::from_str(&shadow.get("/status.json").1).unwrap();
    status["queue"].clone()
}

fn wait_until_sent(shadow: &Shadow) -> serde_json::Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let queue = unsent(shadow);
        if queue["unsent"] == 0 {
            return queue;
        }
        assert!(Instant::now() < end, "{queue:#}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn insert_arguments(key: &str, column: &str, value: &str, at: i64) -> Value {
    let column = fields([(1, text(column)), (2, text(value)), (3, Value::I64(at))]);
    fields([(1, text(key)), (2, parent("Standard1", None)), (3, column), (4, Value::I32(ONE))])
}

fn get_arguments(family: &str, key: &str, column: &str) -> Value {
    let path = path(family, None, Some(column.as_bytes()));
    fields([(1, text(key)), (2, path), (3, Value::I32(ONE))])
}

/// Returns the value of a column of `Standard1`.
pub fn get(client: &mut Client, key: &str, column: &str) -> Option<Vec<u8>> {
    match client.call("get", &get_arguments("Standard1", key, column)) {
        Reply::Result(fields) if fields.contains_key(&2) => None,
        reply => Some(reply.value().field(1).field(2).bytes().to_vec()),
    }
}

/// Returns the total of a counter.
pub fn count(client: &mut Client, key: &str) -> i64 {
    match client.call("get", &get_arguments("Counts", key, "n")) {
        Reply::Result(fields) if fields.contains_key(&2) => 0,
        reply => reply.value().field(3).field(2).int(),
    }
}

#[test]
fn writes_wait_for_a_candidate_that_is_away() {
    let (primary, directories) = (primary(), tempfile::tempdir().unwrap());
    let queue = directories.path().join("queue");
    fs::create_dir(directories.path().join("new")).unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let more = ["--queue", queue.to_str().unwrap(), "--candidate-consistency", "QUORUM"];
    let shadow = Shadow::start(primary.thrift_address(), address, &more);
    let mut client = connect(shadow.address);
    for number in 0..50 {
        client.call("insert", &insert_arguments(&format!("k{number}"), "c", "v", 7)).void();
    }
    let status = unsent(&shadow);
    assert_eq!((&status["unsent"], &status["sent"]), (&50.into(), &0.into()), "{status:#}");
    let (is_success, printed) = shadow.stop();
    assert!(!is_success && printed.contains("50 writes missing from the candidate"), "{printed}");
    assert!(printed.contains("not sent: 50") && printed.contains("cannot connect"), "{printed}");
    // Another process goes on, and the candidate comes up.
    let shadow = Shadow::start(primary.thrift_address(), address, &more);
    let server = candidate(&directories.path().join("new"), Some(address));
    // Its keyspace is not defined yet: the writes wait for it.
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(unsent(&shadow)["unsent"], 50);
    copy(primary.thrift_address(), address, &[]);
    wait_until_sent(&shadow);
    let mut direct = connect(address);
    assert!((0..50).all(|number| get(&mut direct, &format!("k{number}"), "c").as_deref() == Some(b"v")));
    let mut client = connect(shadow.address);
    client.call("insert", &insert_arguments("last", "c", "v", 7)).void();
    // A write that the primary refuses is not queued; one that only the candidate refuses is listed by its table.
    let wrong = fields([
        (1, text("k")),
        (2, parent("Nowhere", None)),
        (3, column(b"c", b"v", 1)),
        (4, Value::I32(ONE)),
    ]);
    client.call("insert", &wrong).thrown(1);
    primary.cql("CREATE TABLE k.\"Extra\" (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE").unwrap();
    let extra = fields([
        (1, text("k")),
        (2, parent("Extra", None)),
        (3, column(b"c", b"v", 1)),
        (4, Value::I32(ONE)),
    ]);
    client.call("insert", &extra).void();
    let status = wait_until_sent(&shadow);
    assert_eq!(get(&mut direct, "last", "c").as_deref(), Some(&b"v"[..]));
    let again = status["again"].as_array().unwrap();
    assert_eq!(
        (again.len(), &again[0]["table"], &again[0]["reason"]),
        (1, &"k.Extra".into(), &"refused".into())
    );
    let report: serde_json::Value = serde_json::from_str(&shadow.get("/report.json").1).unwrap();
    assert_eq!((&report["verdict"], &report["calls"]["missing_writes"]), (&"incomplete".into(), &1.into()));
    let (is_success, printed) = shadow.stop();
    assert!(!is_success && printed.contains("compare or copy again: k.Extra (1 writes)"), "{printed}");
    server.stop();
}

/// The writes that were acknowledged, as a model: the newest value or deletion of each cell.
#[derive(Default)]
pub struct Acknowledged {
    pub cells: BTreeMap<(String, String), Option<String>>,
    pub added: BTreeMap<String, i64>,
    /// Additions that were tried, also those without an answer.
    pub tried: BTreeMap<String, i64>,
}

/// The signals of a test to its writers, and the number of their calls.
#[derive(Default)]
pub struct Flags {
    pub stop: AtomicBool,
    /// Counters are left alone.
    pub rests: AtomicBool,
    pub done: AtomicU64,
}

/// Starts three writers.
pub fn writers(proxy: SocketAddr, flags: &Arc<Flags>) -> Vec<JoinHandle<Acknowledged>> {
    let start = |number| {
        let flags = flags.clone();
        std::thread::spawn(move || write_on(number, proxy, &flags))
    };
    (0..3).map(start).collect()
}

/// Ends the writers, and returns what was acknowledged.
pub fn ended(writers: Vec<JoinHandle<Acknowledged>>, flags: &Flags) -> Vec<Acknowledged> {
    flags.stop.store(true, Ordering::Relaxed);
    writers.into_iter().map(|writer| writer.join().unwrap()).collect()
}

/// Checks that a server has all cells that were acknowledged, and no other value. Returns how many they are.
pub fn check_cells(server: &mut Client, models: &[Acknowledged]) -> usize {
    let all: Vec<_> = models.iter().flat_map(|model| &model.cells).collect();
    for ((key, column), expected) in &all {
        let found = get(server, key, column);
        assert_eq!(found.as_deref(), expected.as_ref().map(String::as_bytes), "{key} {column}");
    }
    all.len()
}

/// Writes rows and counters that are older than the move, directly to the old server.
pub fn fill_old(client: &mut Client) {
    for number in 0..300 {
        let key = format!("old{number}");
        client.call("insert", &insert_arguments(&key, "c", "old", 5)).void();
        let counter = fields([(1, text("n")), (2, Value::I64(3))]);
        let add = fields([(1, text(&key)), (2, parent("Counts", None)), (3, counter), (4, Value::I32(ONE))]);
        client.call("add", &add).void();
    }
}

/// Deletes the first hundred of these rows.
pub fn delete_old(client: &mut Client) {
    for number in 0..100 {
        let (key, path) = (format!("old{number}"), fields([(3, text("Standard1"))]));
        let remove = fields([(1, text(key)), (2, path), (3, Value::I64(now_us())), (4, Value::I32(ONE))]);
        client.call("remove", &remove).void();
    }
}

/// Checks that they are deleted, and that the others are there.
pub fn check_old(server: &mut Client) {
    for number in 0..300 {
        let expected = (number >= 100).then(|| b"old".to_vec());
        assert_eq!(get(server, &format!("old{number}"), "c"), expected, "old{number}");
    }
}

/// Calls a method through the proxy, and connects again if it is lost. Returns whether it was acknowledged.
pub fn attempt(client: &mut Option<Client>, proxy: SocketAddr, method: &str, arguments: &Value) -> bool {
    let acknowledged = match client {
        Some(open) => {
            matches!(open.try_call(method, arguments), Ok(Reply::Result(found)) if found.is_empty())
        }
        None => false,
    };
    if !acknowledged {
        *client = None;
        std::thread::sleep(Duration::from_millis(10));
        if TcpStream::connect(proxy).is_ok() {
            let mut open = Client::connect(proxy, Style::FRAMED);
            let selected = open.try_call("set_keyspace", &fields([(1, text("k"))]));
            *client = selected.is_ok().then_some(open);
        }
    }
    acknowledged
}

/// Writes, deletes, lets expire and counts until it is stopped. Each writer has rows of its own.
pub fn write_on(number: u64, proxy: SocketAddr, flags: &Flags) -> Acknowledged {
    let (mut client, mut model) = (None, Acknowledged::default());
    let mut round = 0_u64;
    while !flags.stop.load(Ordering::Relaxed) {
        round += 1;
        let (key, name) = (format!("w{number}-{}", round % 23), format!("c{}", round % 7));
        let at = now_us();
        let cell = (key.clone(), name.clone());
        let (is_written, expected) = match round % 5 {
            0 => {
                let path = path("Standard1", None, Some(name.as_bytes()));
                let remove = fields([(1, text(&key)), (2, path), (3, Value::I64(at)), (4, Value::I32(ONE))]);
                (attempt(&mut client, proxy, "remove", &remove), None)
            }
            1 if flags.rests.load(Ordering::Relaxed) => continue,
            1 => {
                *model.tried.entry(key.clone()).or_default() += 1;
                let counter = fields([(1, text("n")), (2, Value::I64(1))]);
                let add = fields([
                    (1, text(&key)),
                    (2, parent("Counts", None)),
                    (3, counter),
                    (4, Value::I32(ONE)),
                ]);
                if attempt(&mut client, proxy, "add", &add) {
                    *model.added.entry(key).or_default() += 1;
                }
                flags.done.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            2 => {
                // It has expired when the test looks.
                let column =
                    fields([(1, text(&name)), (2, text("short")), (3, Value::I64(at)), (4, Value::I32(1))]);
                let insert = fields([
                    (1, text(&key)),
                    (2, parent("Standard1", None)),
                    (3, column),
                    (4, Value::I32(ONE)),
                ]);
                (attempt(&mut client, proxy, "insert", &insert), None)
            }
            _ => {
                let value = format!("{round}");
                let insert = insert_arguments(&key, &name, &value, at);
                (attempt(&mut client, proxy, "insert", &insert), Some(value))
            }
        };
        if is_written {
            model.cells.insert(cell, expected);
        } else {
            // It may be applied or not.
            model.cells.remove(&cell);
        }
        flags.done.fetch_add(1, Ordering::Relaxed);
    }
    model
}

pub fn wait_for(done: &AtomicU64, more: u64) {
    let (from, end) = (done.load(Ordering::Relaxed), Instant::now() + PATIENCE);
    while done.load(Ordering::Relaxed) < from + more {
        assert!(Instant::now() < end, "the writers do not go on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The servers of a move, the oldest rows, and the queue.
struct Moving {
    primary: Primary,
    directories: TempDir,
    candidate: Option<Server>,
    address: SocketAddr,
}

impl Moving {
    fn begin() -> Moving {
        let (primary, directories) = (primary(), tempfile::tempdir().unwrap());
        fs::create_dir(directories.path().join("new")).unwrap();
        let server = candidate(&directories.path().join("new"), None);
        let address = server.address;
        fill_old(&mut connect(primary.thrift_address()));
        Moving { primary, directories, candidate: Some(server), address }
    }

    fn shadow(&self, listen: &str) -> Shadow {
        let queue = self.directories.path().join("queue");
        let more = ["--queue", queue.to_str().unwrap(), "--timeout-ms", "2000"];
        Shadow::start_at(listen, self.primary.thrift_address(), self.address, &more)
    }
}

#[test]
fn no_acknowledged_write_is_lost_when_candidate_and_proxy_are_killed() {
    let mut moving = Moving::begin();
    // The schema, before the first write.
    copy(moving.primary.thrift_address(), moving.address, &["--keyspace", "k", "--column-family", "Counts"]);
    run_schema(&moving);
    let shadow = moving.shadow("127.0.0.1:0");
    let proxy = shadow.address;
    let flags = Arc::new(Flags::default());
    let writers = writers(proxy, &flags);
    wait_for(&flags.done, 300);
    // Deletions of old rows while they are copied.
    let mut client = connect(proxy);
    delete_old(&mut client);
    let of = ["--keyspace", "k", "--column-family", "Standard1"];
    copy(moving.primary.thrift_address(), moving.address, &of);
    // The candidate is killed, and comes back.
    drop(moving.candidate.take());
    wait_for(&flags.done, 300);
    moving.candidate = Some(candidate(&moving.directories.path().join("new"), Some(moving.address)));
    wait_for(&flags.done, 300);
    // The proxy is killed, and comes back.
    drop(client);
    drop(shadow);
    let shadow = moving.shadow(&proxy.to_string());
    wait_for(&flags.done, 300);
    let models = ended(writers, &flags);
    let queue = wait_until_sent(&shadow);
    std::thread::sleep(Duration::from_millis(2_500));
    let mut direct = connect(moving.address);
    let cells = check_cells(&mut direct, &models);
    assert!(cells > 100, "{cells}");
    check_old(&mut direct);
    // Counters whose outcome is unknown are listed, and set right by another copy.
    let again: Vec<&str> =
        queue["again"].as_array().unwrap().iter().filter_map(|table| table["table"].as_str()).collect();
    assert!(again.iter().all(|table| *table == "k.Counts"), "{again:?}");
    copy(moving.primary.thrift_address(), moving.address, &["--keyspace", "k"]);
    // A write without an answer may be at the old server only.
    let repair = ["--keyspace", "k", "--verify-only", "--repair", "--repair-after", "0"];
    copy(moving.primary.thrift_address(), moving.address, &repair);
    let verify = ["--keyspace", "k", "--verify-only"];
    copy(moving.primary.thrift_address(), moving.address, &verify);
    for (key, added) in models.iter().flat_map(|model| &model.added) {
        let (found, tried) = (count(&mut direct, key), models.iter().find_map(|model| model.tried.get(key)));
        assert!(found >= *added && Some(&found) <= tried, "{key}: {found} of {added}, {tried:?}");
    }
    drop(shadow);
}

/// Creates the column families at the candidate, without rows.
fn run_schema(moving: &Moving) {
    let empty = primary();
    copy(empty.thrift_address(), moving.address, &[]);
}

#[test]
fn statements_are_queued_in_all_versions_of_the_native_protocol() {
    let (primary, candidate) = (primary(), primary());
    for server in [&primary, &candidate] {
        server.cql("CREATE TABLE k.t (p int PRIMARY KEY, v text); CREATE TABLE k.n (p int PRIMARY KEY, n counter)").unwrap();
    }
    let queue = tempfile::tempdir().unwrap();
    let native = candidate.native_address().to_string();
    let more = ["--queue", queue.path().to_str().unwrap(), "--candidate-cql", &native];
    let shadow = Shadow::start(primary.native_address(), candidate.thrift_address(), &more);
    for version in 1..=5 {
        let mut client = NativeClient::ready(shadow.address, version);
        client.run("USE k");
        client.run(&format!("INSERT INTO t (p, v) VALUES ({version}, 'text')"));
        client.run("UPDATE n SET n = n + 1 WHERE p = 1");
        if version > 2 {
            let key = 10 + i32::from(version);
            let prepared = client.prepare("INSERT INTO t (p, v) VALUES (?, 'prepared')");
            client.execute(&prepared, &Asked::values([int(key)])).void();
            let other = 20 + i32::from(version);
            client.run(&format!("INSERT INTO t (p, v) VALUES ({other}, 'condition') IF NOT EXISTS"));
        }
    }
    let status = wait_until_sent(&shadow);
    let again = status["again"].as_array().unwrap();
    assert_eq!(
        (again.len(), &again[0]["table"], &again[0]["writes"]),
        (1, &"k.t".into(), &3.into()),
        "{status:#}"
    );
    assert_eq!(again[0]["reason"], "conditional");
    let rows = |server: &Primary, text: &str| {
        let mut rows = NativeClient::ready(server.native_address(), 4).rows(text).rows;
        rows.sort();
        rows
    };
    let text = "SELECT p, v, writetime(v) FROM k.t WHERE p IN (1, 2, 3, 4, 5, 13, 14, 15)";
    assert_eq!((rows(&primary, text).len(), rows(&primary, text)), (8, rows(&candidate, text)));
    let text = "SELECT n FROM k.n WHERE p = 1";
    assert_eq!(rows(&candidate, text), [vec![Some(5_i64.to_be_bytes().to_vec())]]);
    assert_eq!(rows(&primary, text), rows(&candidate, text));
    let (is_success, printed) = shadow.stop();
    assert!(!is_success && printed.contains("3 writes missing from the candidate"), "{printed}");
}

#[test]
fn statements_that_thrift_has_prepared_are_queued_with_their_texts() {
    let (primary, candidate) = (primary(), primary());
    for server in [&primary, &candidate] {
        server.cql("CREATE TABLE k.t (p int PRIMARY KEY, v text)").unwrap();
    }
    let queue = tempfile::tempdir().unwrap();
    let more = ["--queue", queue.path().to_str().unwrap(), "--candidate-consistency", "QUORUM"];
    let shadow = Shadow::start(primary.thrift_address(), candidate.thrift_address(), &more);
    let mut client = connect(shadow.address);
    let statement = "INSERT INTO t (p, v) VALUES (?, 'prepared')";
    let prepared = client.call("prepare_cql3_query", &fields([(1, text(statement)), (2, Value::I32(2))]));
    let id = Value::I32(i32::try_from(prepared.value().field(1).int()).unwrap());
    for row in 0..3_i32 {
        let values = support::value::texts(&[row.to_be_bytes()]);
        client
            .call(
                "execute_prepared_cql3_query",
                &fields([(1, id.clone()), (2, values), (3, Value::I32(ONE))]),
            )
            .value();
    }
    let status = wait_until_sent(&shadow);
    assert_eq!((&status["sent"], &status["again"]), (&3.into(), &serde_json::json!([])), "{status:#}");
    let found = NativeClient::ready(candidate.native_address(), 4).rows("SELECT p, v FROM k.t").rows;
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(shadow.stop().0);
}
