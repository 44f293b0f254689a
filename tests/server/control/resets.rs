//! Resets of the data, and of everything.

use std::time::{Duration, Instant};

use super::{Double, KEYSPACE, done, refused};
use crate::support;
use double::testing::Server;
use support::calls::{ONE, get_args, insert_args, path, value_of};
use support::client::Reply;
use support::native::opcode::EVENT;
use support::native_body::{Asked, Parts, int};
use support::value::fields;

const RESET_DATA: &str = r#"{"what": "data"}"#;
const RESET_EVERYTHING: &str = r#"{"what": "everything"}"#;

/// The error code of a statement that is not prepared.
const UNPREPARED: i32 = 0x2500;

#[test]
fn a_reset_of_the_data_keeps_schema_and_prepared_statements() {
    let double = Double::start();
    let (mut native, mut thrift, mut control) = (double.native(), double.thrift(), double.client());
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    native.run("CREATE INDEX ON ks.t (v)");
    let insert = native.prepare("INSERT INTO ks.t (k, v) VALUES (?, 7)");
    for k in 0..10 {
        native.execute(&insert, &Asked::values([int(k)])).void();
    }
    let written = insert_args("Keyspace1", b"k", path("Standard1", None, Some(b"c")), (b"v", 1), ONE);
    thrift.call("insert", &written).void();
    assert_eq!(native.rows("SELECT k FROM ks.t WHERE v = 7").rows.len(), 10);
    assert_eq!(value_of(&mut thrift, b"k", b"c").as_deref(), Some(&b"v"[..]));

    assert_eq!(done(&mut control, "POST", "/reset", RESET_DATA)["reset"], "data");

    assert_eq!(native.rows("SELECT k FROM ks.t").rows.len(), 0);
    assert_eq!(native.rows("SELECT k FROM ks.t WHERE v = 7").rows.len(), 0);
    let get = get_args("Keyspace1", b"k", path("Standard1", None, Some(b"c")), ONE);
    assert_eq!(thrift.call("get", &get), Reply::Result([(2, fields([]))].into()), "not found");
    // An older timestamp than that of the removed column: nothing shadows it.
    let older = insert_args("Keyspace1", b"k", path("Standard1", None, Some(b"c")), (b"w", 0), ONE);
    thrift.call("insert", &older).void();
    assert_eq!(value_of(&mut thrift, b"k", b"c").as_deref(), Some(&b"w"[..]));
    native.execute(&insert, &Asked::values([int(3)])).void();
    assert_eq!(native.rows("SELECT k FROM ks.t WHERE v = 7").ints(), [3]);
    double.server.stop();
}

#[test]
fn a_reset_of_everything_returns_to_the_start() {
    let double = Double::start();
    let (mut native, mut thrift, mut control) = (double.native(), double.thrift(), double.client());
    let version = |client: &mut support::native::NativeClient| {
        client.rows("SELECT schema_version FROM system.local").rows[0][0].clone()
    };
    let at_the_start = version(&mut native);
    let mut listener = double.native();
    listener.register(&["SCHEMA_CHANGE"]);
    for _ in 0..2 {
        native.run(KEYSPACE);
        native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
        let select = native.prepare("SELECT k FROM ks.t");
        native.run("INSERT INTO ks.t (k, v) VALUES (1, 1)");
        let written = insert_args("Keyspace1", b"k", path("Standard1", None, Some(b"c")), (b"v", 1), ONE);
        thrift.call("insert", &written).void();
        assert_ne!(version(&mut native), at_the_start);

        assert_eq!(done(&mut control, "POST", "/reset", RESET_EVERYTHING)["reset"], "everything");

        assert_eq!(version(&mut native), at_the_start);
        assert!(native.query("SELECT k FROM ks.t").why().contains("ks"), "the keyspace is gone");
        native.execute(&select, &Asked::values([])).error().0.eq(&UNPREPARED).then_some(()).unwrap();
        let get = get_args("Keyspace1", b"k", path("Standard1", None, Some(b"c")), ONE);
        assert_eq!(thrift.call("get", &get), Reply::Result([(2, fields([]))].into()), "not found");
        let events: Vec<Vec<String>> = (0..3).map(|_| event(&mut listener)).collect();
        let expected = [
            ["SCHEMA_CHANGE", "CREATED", "KEYSPACE", "ks"].as_slice(),
            &["SCHEMA_CHANGE", "CREATED", "TABLE", "ks", "t"],
            &["SCHEMA_CHANGE", "DROPPED", "KEYSPACE", "ks"],
        ];
        assert_eq!(events, expected);
    }
    // A table of the same name with other types has nothing of the earlier one.
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k text PRIMARY KEY, v text)");
    assert_eq!(native.rows("SELECT k FROM ks.t").rows.len(), 0);
    native.run("DROP TABLE ks.t");
    double.server.stop();
}

/// Waits for an event, and returns its texts.
fn event(listener: &mut support::native::NativeClient) -> Vec<String> {
    let answer = listener.receive();
    assert_eq!(answer.opcode, EVENT, "{}", answer.why());
    let mut parts = Parts(&answer.body);
    let mut texts = Vec::new();
    while !parts.0.is_empty() {
        texts.push(parts.string());
    }
    texts
}

#[test]
fn a_reset_of_everything_returns_to_the_first_users_and_forgets_failed_logins() {
    const PASSWORD: &str =
        "<Authenticator>PasswordAuthenticator</Authenticator><Authorizer>CassandraAuthorizer</Authorizer>";
    let double = Double::with(PASSWORD, &["--login-failures", "1"]);
    let login = |user: &str, password: &str| {
        let mut client = support::native::NativeClient::connect(double.native, 4);
        client.start(support::native::Packing::None);
        let token = [b"\0", user.as_bytes(), b"\0", password.as_bytes()].concat();
        let body = support::native_body::Body::new().bytes(&token);
        let answer = client.call(support::native::opcode::AUTH_RESPONSE, body);
        (answer.opcode == support::native::opcode::AUTH_SUCCESS).then_some(client)
    };
    let mut admin = login("cassandra", "cassandra").unwrap();
    admin.run("CREATE USER anna WITH PASSWORD 'a' NOSUPERUSER");
    admin.run("GRANT ALL ON ALL KEYSPACES TO anna");
    let mut anna = login("anna", "a").unwrap();
    anna.run(KEYSPACE);
    assert!(login("cassandra", "wrong").is_none());
    assert!(login("cassandra", "cassandra").is_none(), "the user must wait");

    double.send("POST", "/reset", RESET_EVERYTHING);

    assert!(login("anna", "a").is_none());
    assert!(anna.query(KEYSPACE).why().contains("anna"), "her connection has lost its rights");
    login("cassandra", "cassandra").unwrap().run(KEYSPACE);
    double.server.stop();
}

#[test]
fn a_request_that_does_not_end_stops_a_reset_with_an_error() {
    let server = Server::start().unwrap();
    server.cql("CREATE TABLE \"Keyspace1\".t (k int PRIMARY KEY)").unwrap_err();
    server.cql(KEYSPACE).unwrap();
    server.cql("CREATE TABLE ks.t (k int PRIMARY KEY)").unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let request = runtime.block_on(server.control().database().admit());
    let began = Instant::now();
    let error = server.reset().unwrap_err().to_string();
    assert!(error.contains("requests were still running after 5 seconds"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(30));
    server.cql("DROP TABLE ks.t").unwrap();
    drop(request);
    server.reset().unwrap();
    server.cql(KEYSPACE).unwrap();
}

#[test]
fn ten_thousand_resets_leave_no_memory_behind() {
    let double = Double::start();
    let (mut native, mut control) = (double.native(), double.client());
    let mut rounds = |count: usize| {
        for round in 0..count {
            if round % 20 == 0 {
                native.run(KEYSPACE);
                native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v text)");
                native.run(&format!("INSERT INTO ks.t (k, v) VALUES (1, '{}')", "x".repeat(10_000)));
            }
            done(&mut control, "POST", "/reset", RESET_EVERYTHING);
        }
        double.server.resident_bytes()
    };
    let (Some(before), Some(after)) = (rounds(1_000), rounds(10_000)) else { return };
    assert!(after < before + 16 * 1024 * 1024, "{before} bytes became {after}");
    double.server.stop();
}

#[test]
fn wrong_resets_are_refused() {
    let double = Double::start();
    let mut control = double.client();
    for (body, words) in [
        ("", "EOF"),
        ("{}", "missing field `what`"),
        (r#"{"what": "nothing"}"#, "expected one of `data`, `everything`, `faults`"),
        (r#"{"what": "data", "when": "now"}"#, "unknown field `when`, expected `what`"),
        (r#"{"what": "data"} {"what": "data"}"#, "trailing characters"),
    ] {
        let (status, error) = refused(&mut control, "POST", "/reset", body);
        assert_eq!(status, 400, "{error}");
        assert!(error.starts_with("the body is not the JSON that this request needs: "), "{error}");
        assert!(error.contains(words), "{error}");
    }
    double.server.stop();
}
