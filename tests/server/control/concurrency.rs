//! Resets, restores, faults and moves of the clock while 16 connections of both protocols read and write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use double::control::ControlClient;

use super::{Double, KEYSPACE, done};
use crate::support;
use support::calls::{
    ONE, batch_mutate_args, column, everything, multiget_slice_args, parent, rows, values, write,
};
use support::client::{Client, Reply};
use support::native::{Answer, NativeClient, opcode};
use support::native_body::Bound;
use support::value::{Value, fields, text};

/// How long the connections run, unless `RESET_SECONDS` is set.
const SECONDS: u64 = 4;
/// Connections of each protocol.
const CONNECTIONS: usize = 8;
/// Rows of the table that a scan reads. All have the number of their snapshot.
const MARKERS: usize = 300;
/// Error codes of the native protocol that a request may get: the schema that it needs is gone.
const INVALID: i32 = 0x2200;
const UNPREPARED: i32 = 0x2500;
/// Error codes of faults: unavailable, write and read timeout.
const FAULTS: [i32; 3] = [0x1000, 0x1100, 0x1200];

/// What the connections have seen.
#[derive(Default)]
struct Seen {
    ends: AtomicBool,
    pairs: AtomicUsize,
    gone: AtomicUsize,
    /// Requests that have failed by a fault.
    failed: AtomicUsize,
    /// Scans with rows of the first and the second snapshot.
    marked: [AtomicUsize; 2],
}

impl Seen {
    /// Counts what the two rows of a pair have, which one batch has written.
    fn pair(&self, found: &[String]) {
        match found {
            [] => &self.gone,
            [one, other] if one == other => &self.pairs,
            torn => panic!("a pair is torn: {torn:?}"),
        }
        .fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a scan of the markers.
    fn scan(&self, found: &[i32]) {
        match found.first() {
            None => &self.gone,
            Some(first) => {
                assert!(found.iter().all(|number| number == first), "a scan has seen two databases");
                assert_eq!(found.len(), MARKERS, "a scan has seen a part of a database");
                &self.marked[usize::try_from(*first).unwrap() - 1]
            }
        }
        .fetch_add(1, Ordering::Relaxed);
    }
}

impl Seen {
    /// Returns whether a request of the native protocol has succeeded. It fails if the schema is gone, or by a fault.
    fn has_answer(&self, answer: &Answer) -> bool {
        if answer.opcode != opcode::ERROR {
            return true;
        }
        let (code, why, _) = answer.error();
        if FAULTS.contains(&code) {
            self.failed.fetch_add(1, Ordering::Relaxed);
        } else {
            assert!([INVALID, UNPREPARED].contains(&code), "{code:x}: {why}");
        }
        false
    }

    /// Returns the result of a Thrift call. It fails by a fault.
    fn result(&self, reply: Reply) -> Option<Value> {
        let Reply::Result(mut fields) = reply else { panic!("{reply:?}") };
        // A void result has no field.
        let field = *fields.keys().next()?;
        if field != 0 {
            self.failed.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        fields.remove(&0)
    }
}

fn run_native(mut client: NativeClient, own: usize, seen: &Seen) {
    let (first, second) = (2 * own, 2 * own + 1);
    for round in 0.. {
        if seen.ends.load(Ordering::Relaxed) {
            return;
        }
        let insert = |key: usize| format!("INSERT INTO ks.pairs (k, v) VALUES ({key}, {round})");
        let batch = format!("BEGIN BATCH {} {} APPLY BATCH", insert(first), insert(second));
        seen.has_answer(&client.query(&batch));
        let pair = client.query(&format!("SELECT v FROM ks.pairs WHERE k IN ({first}, {second})"));
        if seen.has_answer(&pair) {
            seen.pair(&pair.rows().ints().iter().map(i32::to_string).collect::<Vec<_>>());
        }
        let scan = client.query("SELECT v FROM ks.markers");
        if seen.has_answer(&scan) {
            seen.scan(&scan.rows().ints());
        }
    }
}

fn run_thrift(mut client: Client, mut cql: Client, own: usize, seen: &Seen) {
    let keys = [format!("{own}-first"), format!("{own}-second")];
    for round in 0i64.. {
        if seen.ends.load(Ordering::Relaxed) {
            return;
        }
        let change = || vec![("Standard1", vec![write(column(b"c", round.to_string().as_bytes(), round))])];
        let batch =
            batch_mutate_args("Keyspace1", rows(keys.iter().map(|key| (&**key, change())).collect()), ONE);
        seen.result(client.call("batch_mutate", &batch));
        let keys: Vec<&str> = keys.iter().map(|key| &**key).collect();
        let read = multiget_slice_args("Keyspace1", &keys, parent("Standard1", None), everything());
        if let Some(found) = seen.result(client.call("multiget_slice", &read)) {
            let found = found.pairs().iter().flat_map(|(_, columns)| values(columns));
            seen.pair(&found.collect::<Vec<String>>());
        }
        let scan = fields([(1, text("SELECT v FROM ks.markers")), (2, Value::I32(2)), (3, Value::I32(ONE))]);
        if let Reply::Result(result) = cql.call("execute_cql3_query", &scan)
            && let Some(result) = result.get(&0)
        {
            let number = |row: &Value| row.field(2).items()[0].field(2).bytes().try_into().unwrap();
            let numbers = result.field(2).items().iter().map(|row| i32::from_be_bytes(number(row)));
            seen.scan(&numbers.collect::<Vec<i32>>());
        }
    }
}

/// Takes two snapshots, which differ in schema and rows.
fn take_snapshots(double: &Double) {
    let mut native = double.native();
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.pairs (k int PRIMARY KEY, v int)");
    for number in [1, 2] {
        if number == 2 {
            native.run("DROP TABLE ks.markers");
        }
        let more = if number == 2 { "more text, " } else { "" };
        native.run(&format!("CREATE TABLE ks.markers (k int PRIMARY KEY, {more}v int)"));
        let insert = native.prepare("INSERT INTO ks.markers (k, v) VALUES (?, ?)");
        for k in 0..i32::try_from(MARKERS).unwrap() {
            let values: [Bound; 2] = [support::native_body::int(k), support::native_body::int(number)];
            native.execute(&insert, &support::native_body::Asked::values(values)).void();
        }
        double.send("PUT", &format!("/snapshots/number{number}"), "");
    }
}

/// Rules of faults of some requests: with delays, and with errors before and after a write.
fn set_faults(control: &mut ControlClient, seed: u64) {
    let rule = |when: &str, effect: &str| format!(r#"{{"when": {{{when}}}, "seed": {seed}, {effect}}}"#);
    let (write, read) = (r#""operation": "write""#, r#""operation": "read""#);
    for (name, rule) in [
        ("slow", rule(write, r#""delay_ms": [0, 5], "probability": 0.2"#)),
        ("lost", rule(write, r#""error": "timed_out", "applied": true, "probability": 0.1"#)),
        ("early", rule(write, r#""error": "unavailable", "probability": 0.1"#)),
        ("read", rule(read, r#""error": "timed_out", "delay_ms": 1, "probability": 0.1"#)),
    ] {
        done(control, "PUT", &format!("/faults/{name}"), &rule);
    }
}

#[test]
fn no_request_sees_two_databases() {
    let seen = change_under_load(|_, _| {});
    assert_eq!(seen.failed.load(Ordering::Relaxed), 0);
}

#[test]
fn no_request_sees_two_databases_while_others_fail() {
    let seen = change_under_load(|control, changes| match changes % 6 {
        5 => drop(done(control, "POST", "/reset", r#"{"what": "faults"}"#)),
        3 => drop(done(control, "GET", "/requests", "")),
        _ => set_faults(control, changes),
    });
    assert!(seen.failed.load(Ordering::Relaxed) > 0);
}

/// Changes the whole database while the connections run. Calls `also` before each change, with the number of those done.
fn change_under_load(also: impl Fn(&mut ControlClient, u64)) -> Arc<Seen> {
    let seconds = std::env::var("RESET_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(SECONDS);
    let double = Double::start();
    take_snapshots(&double);
    let seen = Arc::new(Seen::default());
    let mut running = Vec::new();
    for own in 0..CONNECTIONS {
        let (native, thrift, cql) = (double.native(), double.thrift(), double.thrift());
        let shared = seen.clone();
        running.push(thread::spawn(move || run_native(native, own, &shared)));
        let shared = seen.clone();
        running.push(thread::spawn(move || run_thrift(thrift, cql, own, &shared)));
    }
    let mut control = double.client();
    let began = Instant::now();
    let mut changes = 0;
    while began.elapsed() < Duration::from_secs(seconds) {
        let (method, path, body) = match changes % 8 {
            0 | 4 => ("POST", "/snapshots/number1/restore", ""),
            2 | 6 => ("POST", "/snapshots/number2/restore", ""),
            1 => ("POST", "/clock", r#"{"advance_ms": 3600000}"#),
            3 => ("POST", "/reset", r#"{"what": "data"}"#),
            5 => ("POST", "/clock", r#"{"follow": true}"#),
            _ => ("POST", "/reset", r#"{"what": "everything"}"#),
        };
        also(&mut control, changes);
        done(&mut control, method, path, body);
        changes += 1;
        // So that scans see each of the databases.
        thread::sleep(Duration::from_millis(changes % 7));
    }
    seen.ends.store(true, Ordering::Relaxed);
    for thread in running {
        thread.join().unwrap();
    }
    let marked = [0, 1].map(|at: usize| seen.marked[at].load(Ordering::Relaxed));
    let (pairs, gone) = (seen.pairs.load(Ordering::Relaxed), seen.gone.load(Ordering::Relaxed));
    println!("{changes} changes, {pairs} pairs, scans of {marked:?}, {gone} reads of nothing");
    assert!(changes > 20 && pairs > 0 && gone > 0 && marked.iter().all(|count| *count > 0));
    double.server.stop();
    seen
}
