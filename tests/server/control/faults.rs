//! Faults: delays, errors, spoiled replies, refused connections and restarts, seen by clients of both protocols.

use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::{Double, KEYSPACE, done, refused};
use crate::support;
use support::calls::{ONE, QUORUM, get_args, insert_args, path, value_of};
use support::client::{Reply, Style};
use support::native::NativeClient;
use support::native::opcode::{PREPARE, QUERY};
use support::native_body::{Asked, Body};
use support::value::Value;

/// Exceptions of Thrift methods, by their fields in `insert` of 0.7 and later.
const INSERT_INVALID: i16 = 1;
const INSERT_UNAVAILABLE: i16 = 2;
const INSERT_TIMED_OUT: i16 = 3;

const UNAVAILABLE: i32 = 0x1000;
const WRITE_TIMEOUT: i32 = 0x1100;
const READ_TIMEOUT: i32 = 0x1200;
const TRUNCATE_ERROR: i32 = 0x1003;
const INVALID: i32 = 0x2200;
const UNPREPARED: i32 = 0x2500;

fn column(name: &[u8]) -> Value {
    path("Standard1", None, Some(name))
}

fn insert(key: &[u8], value: &[u8]) -> Value {
    insert_args("Keyspace1", key, column(b"c"), (value, 1), ONE)
}

impl Double {
    fn fault(&self, name: &str, rule: Json) -> Json {
        self.send("PUT", &format!("/faults/{name}"), &rule.to_string())
    }

    /// Returns how many requests a rule has had an effect on.
    fn hits(&self, name: &str) -> u64 {
        let all = self.send("GET", "/faults", "");
        let rules = all["faults"].as_array().unwrap();
        rules.iter().find(|rule| rule["name"] == name).unwrap()["hits"].as_u64().unwrap()
    }
}

/// Returns the field of the exception in a reply.
fn exception(reply: &Reply) -> i16 {
    let Reply::Result(fields) = reply else { panic!("{reply:?}") };
    *fields.keys().next().unwrap()
}

#[test]
fn an_error_is_thrown_in_the_form_of_the_method() {
    let double = Double::start();
    let mut thrift = double.thrift();
    for (error, field) in [
        ("timed_out", INSERT_TIMED_OUT),
        ("unavailable", INSERT_UNAVAILABLE),
        ("invalid_request", INSERT_INVALID),
    ] {
        double.fault(
            "a",
            json!({"when": {"method": "insert"}, "error": error, "text": "on purpose", "times": 1}),
        );
        assert_eq!(exception(&thrift.call("insert", &insert(b"k", b"v"))), field, "{error}");
        assert_eq!(value_of(&mut thrift, b"k", b"c"), None, "the insert was not carried out");
        assert_eq!(double.hits("a"), 1);
    }
    thrift.call("insert", &insert(b"k", b"v")).void();
    double.fault("a", json!({"when": {"method": "get"}, "error": "not_found", "times": 1}));
    assert_eq!(value_of(&mut thrift, b"k", b"c"), None);
    assert_eq!(value_of(&mut thrift, b"k", b"c").as_deref(), Some(&b"v"[..]));
    double.server.stop();
}

#[test]
fn a_write_can_be_applied_and_time_out() {
    let double = Double::start();
    let mut thrift = double.thrift();
    let when = json!({"column_family": "Standard1", "key": "lost", "operation": "write"});
    double.fault("a", json!({"when": when, "error": "timed_out", "applied": true}));
    thrift.call("insert", &insert(b"other", b"v")).void();
    assert_eq!(exception(&thrift.call("insert", &insert(b"lost", b"v"))), INSERT_TIMED_OUT);
    assert_eq!(value_of(&mut thrift, b"lost", b"c").as_deref(), Some(&b"v"[..]));
    double.server.stop();
}

#[test]
fn errors_of_the_native_protocol_have_their_fields() {
    let double = Double::start();
    let mut native = double.native();
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    double.fault(
        "w",
        json!({"when": {"keyspace": "ks", "column_family": "t", "key": "7"}, "error": "timed_out"}),
    );
    native.run("INSERT INTO ks.t (k, v) VALUES (6, 0)");
    assert_eq!(native.query("INSERT INTO ks.t (k, v) VALUES (7, 0)").error().0, WRITE_TIMEOUT);
    assert_eq!(native.query("SELECT v FROM ks.t WHERE k = 7").error().0, READ_TIMEOUT);
    double.send("DELETE", "/faults/w", "");
    assert_eq!(native.rows("SELECT k FROM ks.t").rows.len(), 1, "the second row was not written");
    double.fault("s", json!({"when": {"statement": "select"}, "error": "unavailable"}));
    native.run("INSERT INTO ks.t (k, v) VALUES (8, 0)");
    assert_eq!(native.query("SELECT v FROM ks.t").error().0, UNAVAILABLE);
    double
        .fault("p", json!({"when": {"method": "PREPARE"}, "error": "invalid_request", "text": "on purpose"}));
    assert!(
        native
            .call(PREPARE, Body::new().long_string("SELECT v FROM ks.t"))
            .refused(INVALID)
            .contains("on purpose")
    );
    double.server.stop();
}

#[test]
fn conditions_select_requests() {
    let double = Double::start();
    let mut thrift = double.thrift();
    let at = |level| insert_args("Keyspace1", b"k", column(b"c"), (b"v", 1), level);
    double
        .fault("a", json!({"when": {"consistency": "QUORUM", "protocol": "thrift"}, "error": "unavailable"}));
    thrift.call("insert", &at(ONE)).void();
    assert_eq!(exception(&thrift.call("insert", &at(QUORUM))), INSERT_UNAVAILABLE);
    double.fault("a", json!({"when": {"protocol": "native"}, "error": "unavailable"}));
    thrift.call("insert", &at(QUORUM)).void();
    // The third and fourth of six.
    double.fault("a", json!({"when": {"method": "insert"}, "error": "timed_out", "skip": 2, "times": 2}));
    let failed: Vec<bool> =
        (0..6).map(|_| thrift.call("insert", &at(ONE)) != Reply::Result([].into())).collect();
    assert_eq!(failed, [false, false, true, true, false, false]);
    let rule = &double.send("GET", "/faults", "")["faults"][0];
    assert_eq!((&rule["met"], &rule["hits"]), (&json!(6), &json!(2)));
    double.server.stop();
}

#[test]
fn a_delay_makes_one_request_wait_and_not_others() {
    let double = Double::start();
    let (mut slow, mut quick) = (double.thrift(), double.thrift());
    double.fault("a", json!({"when": {"key": "slow"}, "delay_ms": 3_000}));
    let began = Instant::now();
    slow.begin("insert", &insert(b"slow", b"v")).unwrap();
    quick.call("insert", &insert(b"quick", b"v")).void();
    assert!(began.elapsed() < Duration::from_millis(2_500), "{:?}", began.elapsed());
    let (name, _, reply) = slow.reply();
    assert!(began.elapsed() >= Duration::from_secs(3));
    assert_eq!(name, "insert");
    reply.void();
    double.server.stop();
}

#[test]
fn a_reset_of_everything_ends_delays() {
    let double = Double::start();
    let mut slow = double.thrift();
    double.fault("a", json!({"when": {"key": "slow"}, "delay_ms": 600_000}));
    slow.begin("insert", &insert(b"slow", b"v")).unwrap();
    while double.hits("a") == 0 {}
    // It would be refused if it had to wait for the request.
    double.send("POST", "/reset", r#"{"what": "everything"}"#);
    slow.reply().2.void();
    assert_eq!(double.send("GET", "/requests", "")["requests"], json!([]), "it was asked before the reset");
    assert_eq!(value_of(&mut slow, b"slow", b"c"), None);
    double.server.stop();
}

#[test]
fn a_conditional_insert_can_be_applied_and_time_out() {
    let double = Double::start();
    let mut native = double.native();
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    double.fault(
        "a",
        json!({"when": {"statement": "INSERT", "key": "1"}, "error": "timed_out", "applied": true}),
    );
    assert_eq!(native.query("INSERT INTO ks.t (k, v) VALUES (1, 1) IF NOT EXISTS").error().0, WRITE_TIMEOUT);
    assert_eq!(native.rows("SELECT v FROM ks.t").ints(), [1]);
    double.server.stop();
}

#[test]
fn a_truncate_meets_rules_and_entries_of_indexes_do_not() {
    let double = Double::start();
    let mut native = double.native();
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    native.run("CREATE INDEX ON ks.t (v)");
    double.fault("a", json!({"when": {"key": "1"}, "error": "timed_out"}));
    native.run("INSERT INTO ks.t (k, v) VALUES (7, 1)");
    assert_eq!(double.hits("a"), 0);
    double.fault(
        "b",
        json!({"when": {"operation": "truncate", "column_family": "t"}, "error": "timed_out", "times": 1}),
    );
    assert_eq!(native.query("TRUNCATE ks.t").error().0, TRUNCATE_ERROR);
    assert_eq!(native.rows("SELECT k FROM ks.t").ints(), [7]);
    native.run("TRUNCATE ks.t");
    assert_eq!(native.rows("SELECT k FROM ks.t").rows.len(), 0);
    let last = double.send("POST", "/requests/find", r#"{"when": {"operation": "truncate"}}"#);
    assert_eq!(last["requests"].as_array().unwrap().len(), 2);
    double.server.stop();
}

#[test]
fn a_reply_that_is_cut_is_the_last() {
    let double = Double::start();
    let mut native = double.native();
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    double.fault("half", json!({"when": {"key": "1", "operation": "write"}, "reply": "half"}));
    double.fault("twice", json!({"when": {"key": "2", "operation": "write"}, "reply": "twice"}));
    let mut frames = Vec::new();
    for k in [1, 2, 3] {
        let text = format!("INSERT INTO ks.t (k, v) VALUES ({k}, 0)");
        let body = native.query_body(&text, &Asked::values([])).0;
        frames.extend(NativeClient::frame(4, 0, k, QUERY, &body));
    }
    native.send_frames(&frames);
    let mut received = Vec::new();
    let _ = native.stream.read_to_end(&mut received);
    assert!(received.len() < 13, "{received:?}");
    double.server.stop();
}

#[test]
fn a_restart_waits_for_running_requests() {
    let double = Double::start();
    let (mut thrift, mut native) = (double.thrift(), double.native());
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    double.fault("a", json!({"when": {"operation": "write"}, "delay_ms": 500}));
    thrift.begin("insert", &insert(b"k", b"v")).unwrap();
    let body = native.query_body("INSERT INTO ks.t (k, v) VALUES (1, 0)", &Asked::values([])).0;
    native.send(1, QUERY, &body);
    while double.hits("a") < 2 {}
    double.send("POST", "/restart", "");
    thrift.reply().2.void();
    native.receive().void();
    assert!(thrift.is_closed());
    native.ended();
    double.server.stop();
}

#[test]
fn a_reply_is_lost_and_the_connection_stays_open() {
    let double = Double::start();
    let mut thrift = double.thrift();
    double.fault("a", json!({"when": {"key": "k"}, "reply": "none", "times": 1}));
    thrift.begin("insert", &insert(b"k", b"v")).unwrap();
    thrift.stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let silence = thrift.stream.read(&mut [0]).unwrap_err();
    assert!(matches!(silence.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{silence}");
    thrift.stream.set_read_timeout(Some(support::client::PATIENCE)).unwrap();
    assert_eq!(value_of(&mut thrift, b"k", b"c").as_deref(), Some(&b"v"[..]), "it was carried out");
    double.server.stop();
}

#[test]
fn a_reply_is_spoiled_after_the_write() {
    let double = Double::start();
    for (fault, bytes) in [("closed", 0..1), ("half", 5..15), ("closed_after", 15..40)] {
        let mut thrift = double.thrift();
        double.fault("a", json!({"when": {"key": fault, "operation": "write"}, "reply": fault}));
        thrift.begin("insert", &insert(fault.as_bytes(), b"v")).unwrap();
        let mut received = Vec::new();
        let _ = thrift.stream.read_to_end(&mut received);
        assert!(bytes.contains(&received.len()), "{fault}: {received:?}");
        assert_eq!(value_of(&mut double.thrift(), fault.as_bytes(), b"c").as_deref(), Some(&b"v"[..]));
    }
    double.fault("a", json!({"when": {"key": "rubbish", "operation": "write"}, "reply": "rubbish"}));
    let mut thrift = double.thrift();
    assert!(thrift.try_call("insert", &insert(b"rubbish", b"v")).is_err());
    double.fault("a", json!({"when": {"key": "twice", "operation": "write"}, "reply": "twice"}));
    let mut thrift = double.thrift();
    let seqid = thrift.begin("insert", &insert(b"twice", b"v")).unwrap();
    for _ in 0..2 {
        assert_eq!(thrift.reply().1, seqid);
    }
    double.fault("a", json!({"when": {"key": "trickle", "operation": "write"}, "reply": "trickle"}));
    let began = Instant::now();
    double.thrift().call("insert", &insert(b"trickle", b"v")).void();
    assert!(began.elapsed() > Duration::from_millis(200), "{:?}", began.elapsed());
    double.server.stop();
}

#[test]
fn replies_of_the_native_protocol_are_spoiled() {
    let double = Double::start();
    let mut native = double.native();
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    for version in [3, 5] {
        for fault in ["closed", "half", "closed_after", "rubbish"] {
            double
                .fault("a", json!({"when": {"key": "1", "operation": "write"}, "reply": fault, "times": 1}));
            let mut client = NativeClient::ready(double.native, version);
            let body = client.query_body("INSERT INTO ks.t (k, v) VALUES (1, 1)", &Asked::values([])).0;
            client.send(1, QUERY, &body);
            let mut received = vec![0; 9];
            client.stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            match fault {
                "closed" => {
                    assert_eq!(client.stream.read(&mut received).unwrap_or(0), 0, "v{version} {fault}")
                }
                "half" => {
                    let mut rest = Vec::new();
                    let _ = client.stream.read_to_end(&mut rest);
                    assert!(!rest.is_empty() && rest.len() < 40, "v{version} {fault}: {rest:?}");
                }
                _ => client.stream.read_exact(&mut received).unwrap(),
            }
            assert_eq!(double.hits("a"), 1, "v{version} {fault}");
        }
        double
            .fault("a", json!({"when": {"key": "2", "operation": "write"}, "reply": "trickle", "times": 1}));
        let mut client = NativeClient::ready(double.native, version);
        let began = Instant::now();
        client.run("INSERT INTO ks.t (k, v) VALUES (2, 2)");
        assert!(began.elapsed() > Duration::from_millis(80), "{:?}", began.elapsed());
    }
    assert_eq!(native.rows("SELECT k FROM ks.t").rows.len(), 2);
    double.server.stop();
}

#[test]
fn a_restart_closes_connections_and_forgets_statements() {
    let double = Double::start();
    let (mut thrift, mut native) = (double.thrift(), double.native());
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    let statement = native.prepare("SELECT v FROM ks.t");
    thrift.call("insert", &insert(b"k", b"v")).void();

    assert_eq!(double.send("POST", "/restart", "")["restarted"], true);
    assert!(thrift.is_closed());
    assert_eq!(native.stream.read(&mut [0]).unwrap_or(0), 0);

    let mut again = double.native();
    assert_eq!(again.execute(&statement, &Asked::values([])).error().0, UNPREPARED);
    assert_eq!(again.rows("SELECT v FROM ks.t").rows.len(), 0);
    assert_eq!(value_of(&mut double.thrift(), b"k", b"c").as_deref(), Some(&b"v"[..]));
    double.server.stop();
}

#[test]
fn new_connections_are_closed_while_they_are_refused() {
    let double = Double::start();
    let mut first = double.thrift();
    value_of(&mut first, b"k", b"c");
    double.send("POST", "/connections", r#"{"refuse": true}"#);
    for mut client in [double.thrift(), double.server.client(Style::UNFRAMED)] {
        assert!(client.try_call("get", &get_args("Keyspace1", b"k", column(b"c"), ONE)).is_err());
    }
    value_of(&mut first, b"k", b"c");
    double.send("POST", "/reset", r#"{"what": "faults"}"#);
    value_of(&mut double.thrift(), b"k", b"c");
    double.server.stop();
}

#[test]
fn the_journal_tells_what_was_asked() {
    let double = Double::start();
    let (mut thrift, mut native) = (double.thrift(), double.native());
    double.send("POST", "/reset", r#"{"what": "faults"}"#);
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    native.run("INSERT INTO ks.t (k, v) VALUES (7, 1)");
    thrift.call("insert", &insert(b"jonas", b"v")).void();
    double.fault("late", json!({"when": {"method": "get"}, "error": "timed_out", "text": "on purpose"}));
    thrift.call("get", &get_args("Keyspace1", b"jonas", column(b"c"), QUORUM));
    let all = double.send("GET", "/requests", "");
    let all = all["requests"].as_array().unwrap();
    let about_rows: Vec<&Json> =
        all.iter().filter(|entry| entry["rows"] != json!([]) || entry["method"] == "get").collect();
    assert_eq!(about_rows.len(), 3, "{all:?}");
    let cql = about_rows[0];
    assert_eq!(
        (&cql["protocol"], &cql["method"], &cql["statement"]),
        (&json!("native"), &json!("QUERY"), &json!("INSERT"))
    );
    assert_eq!(cql["rows"], json!([{"operation": "write", "column_family": "t", "key": "7"}]));
    let insert = about_rows[1];
    assert_eq!(
        (&insert["method"], &insert["keyspace"], &insert["consistency"]),
        (&json!("insert"), &json!("Keyspace1"), &json!("ONE"))
    );
    assert_eq!(insert["rows"][0]["key"], "jonas");
    let get = about_rows[2];
    assert!(get["error"].as_str().unwrap().contains("on purpose"));
    assert_eq!(get["faults"], json!(["late"]));

    let find = json!({"when": {"column_family": "Standard1", "key": "jonas"}, "last": 5});
    assert_eq!(
        double.send("POST", "/requests/find", &find.to_string())["requests"].as_array().unwrap().len(),
        1
    );
    let verify = |requests: Json| {
        let body = json!({"requests": requests, "in_order": true});
        double.send("POST", "/requests/verify", &body.to_string())
    };
    let in_order =
        json!([{"when": {"statement": "INSERT"}, "times": 1}, {"when": {"method": "insert"}, "times": 1}]);
    assert_eq!(verify(in_order)["verified"], true);
    let wrong = verify(json!([{"when": {"method": "insert"}}, {"when": {"statement": "INSERT"}}]));
    assert_eq!(wrong["differences"], json!(["expectation 2: no request after those before it"]));
    double.server.stop();
}

#[test]
fn wrong_rules_are_refused_with_what_is_allowed() {
    let double = Double::start();
    let mut control = double.client();
    for (rule, why) in [
        ("{}", "no effect"),
        (r#"{"delay": 3}"#, "unknown field `delay`"),
        (r#"{"error": "late"}"#, "unknown variant `late`"),
        (r#"{"when": {"methods": "get"}, "delay_ms": 1}"#, "unknown field `methods`"),
        (r#"{"when": {"method": "inserts"}, "delay_ms": 1}"#, "did you mean insert?"),
        (r#"{"when": {"consistency": "qorum"}, "delay_ms": 1}"#, "did you mean QUORUM?"),
    ] {
        let (status, error) = refused(&mut control, "PUT", "/faults/a", rule);
        assert!(status == 400 && error.contains(why), "{rule}: {error}");
    }
    let misspelt = r#"{"when": {"method": "get_slices"}}"#;
    for (path, body) in [
        ("/requests/find", misspelt.to_owned()),
        ("/requests/stream", misspelt.to_owned()),
        ("/requests/verify", format!(r#"{{"requests": [{misspelt}]}}"#)),
    ] {
        let (status, error) = refused(&mut control, "POST", path, &body);
        assert!(status == 400 && error.contains("did you mean get_slice?"), "{path}: {error}");
    }
    assert_eq!(refused(&mut control, "DELETE", "/faults/a", "").0, 404);
    assert_eq!(done(&mut control, "GET", "/faults", "")["faults"], json!([]));
    double.server.stop();
}
