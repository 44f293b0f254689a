//! Sandboxes: further databases in the process of a server.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use double::limits::SANDBOXES_MAX;
use double::testing::Server as InProcess;
use serde_json::Value as Json;

use super::{Double, KEYSPACE, done, refused};
use crate::support::calls::{ONE, insert_args, path, value_of};
use crate::support::client::{Client, Style};
use crate::support::native::{NativeClient, opcode};
use crate::support::native_body::Asked;
use crate::support::value::fields;

/// Opens a sandbox, and returns the addresses of Thrift and of the native protocol.
fn open(double: &Double, name: &str, body: &str) -> (SocketAddr, SocketAddr) {
    let reply = double.send("PUT", &format!("/sandboxes/{name}"), body);
    assert_eq!(reply["name"], name);
    let address = |field: &str| reply[field].as_str().unwrap().parse().unwrap();
    (address("thrift"), address("native"))
}

/// Starts a server with a table that has the row 1, which is in its snapshot `one`.
fn with_table() -> Double {
    let double = Double::start();
    let mut native = double.native();
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY)");
    native.run("INSERT INTO ks.t (k) VALUES (1)");
    double.send("PUT", "/snapshots/one", "");
    double
}

#[test]
fn a_sandbox_has_its_own_rows_and_schema() {
    let double = with_table();
    let (_, one) = open(&double, "one", r#"{"from": "one"}"#);
    let (_, two) = open(&double, "two", r#"{"from": "one"}"#);
    let (mut main, mut one, mut two) =
        (double.native(), NativeClient::ready(one, 4), NativeClient::ready(two, 4));
    one.run("INSERT INTO ks.t (k) VALUES (2)");
    two.run("DELETE FROM ks.t WHERE k = 1");
    assert_eq!(main.rows("SELECT k FROM ks.t").ints(), [1]);
    assert_eq!(one.rows("SELECT k FROM ks.t WHERE k IN (1, 2)").ints(), [1, 2]);
    assert!(two.rows("SELECT k FROM ks.t").rows.is_empty());

    // A truncate or a drop in one of them leaves the others, and so does a table of the same name.
    one.run("TRUNCATE ks.t");
    assert_eq!(main.rows("SELECT k FROM ks.t").ints(), [1]);
    main.run("TRUNCATE ks.t");
    main.run("INSERT INTO ks.t (k) VALUES (7)");
    assert!(one.rows("SELECT k FROM ks.t").rows.is_empty());
    two.run("DROP TABLE ks.t");
    two.run("CREATE TABLE ks.t (k text PRIMARY KEY)");
    two.run("INSERT INTO ks.t (k) VALUES ('text')");
    one.run("INSERT INTO ks.t (k) VALUES (3)");
    assert_eq!(main.rows("SELECT k FROM ks.t").ints(), [7]);
    assert_eq!(one.rows("SELECT k FROM ks.t").ints(), [3]);
    assert_eq!(two.rows("SELECT k FROM ks.t").rows.len(), 1);
}

#[test]
fn a_sandbox_begins_with_the_state_at_the_start_and_returns_to_its_own() {
    let double = with_table();
    let (thrift, fresh) = open(&double, "fresh", "");
    let written = insert_args("Keyspace1", b"k", path("Standard1", None, Some(b"c")), (b"v", 1), ONE);
    let mut client = Client::connect(thrift, Style::FRAMED);
    client.call("insert", &written).void();
    assert_eq!(value_of(&mut client, b"k", b"c").as_deref(), Some(&b"v"[..]));
    assert_eq!(value_of(&mut double.thrift(), b"k", b"c"), None);
    assert!(NativeClient::ready(fresh, 4).query("SELECT k FROM ks.t").why().contains("ks"));
    let (_, full) = open(&double, "full", r#"{"from": "one"}"#);
    let mut full = NativeClient::ready(full, 4);
    full.run("INSERT INTO ks.t (k) VALUES (2)");
    double.send("POST", "/sandboxes/full/reset", r#"{"what": "everything"}"#);
    assert_eq!(full.rows("SELECT k FROM ks.t").ints(), [1]);
}

#[test]
fn each_part_of_the_api_works_in_a_sandbox() {
    let double = with_table();
    let (_, native) = open(&double, "a", r#"{"from": "one"}"#);
    let mut native = NativeClient::ready(native, 4);
    let mut main = double.native();

    double.send("POST", "/sandboxes/a/clock", r#"{"set": "2012-01-01T00:00:00Z"}"#);
    assert_ne!(
        double.send("GET", "/clock", "")["offset_ms"],
        double.send("GET", "/sandboxes/a/clock", "")["offset_ms"]
    );
    assert_eq!(double.send("GET", "/clock", "")["offset_ms"], 0);

    double.send(
        "PUT",
        "/sandboxes/a/faults/f",
        r#"{"when": {"statement": "SELECT"}, "error": "overloaded"}"#,
    );
    native.query("SELECT k FROM ks.t").error();
    assert_eq!(main.rows("SELECT k FROM ks.t").ints(), [1]);
    assert_eq!(double.send("GET", "/faults", "")["faults"], Json::Array(Vec::new()));
    double.send("POST", "/sandboxes/a/reset", r#"{"what": "faults"}"#);

    double.send("PUT", "/sandboxes/a/snapshots/s", "");
    assert_eq!(double.send("GET", "/snapshots", "")["snapshots"].as_array().unwrap().len(), 1);
    native.run("INSERT INTO ks.t (k) VALUES (5)");
    assert_eq!(double.send("GET", "/sandboxes/a/requests", "")["requests"].as_array().unwrap().len(), 1);
    double.send("POST", "/sandboxes/a/snapshots/s/restore", "");
    assert_eq!(native.rows("SELECT k FROM ks.t").ints(), [1]);
    assert_eq!(double.send("GET", "/sandboxes/a/dump", ""), double.send("GET", "/dump", ""));

    double.send("POST", "/connections", r#"{"refuse": true}"#);
    assert_eq!(native.rows("SELECT k FROM ks.t").ints(), [1]);
}

#[test]
fn sandboxes_have_the_behaviour_of_different_releases() {
    let double = Double::start();
    let description = |sandbox: &str, body: &str| {
        let (thrift, native) = open(&double, sandbox, body);
        let mut client = Client::connect(thrift, Style::FRAMED);
        let thrift = client.call("describe_version", &fields([])).value().clone();
        let native = NativeClient::ready(native, 3).rows("SELECT release_version FROM system.local").rows;
        (format!("{thrift:?}"), String::from_utf8(native[0][0].clone().unwrap()).unwrap())
    };
    let (thrift_1_2, native) = description("a", r#"{"compat": ["0.6", "1.2"], "claim": "2.1.22"}"#);
    assert_eq!(native, "2.1.22");
    let (thrift_2_1, native) = description("b", r#"{"claim": "3.11.19"}"#);
    assert_eq!(native, "3.11.19");
    assert_ne!(thrift_1_2, thrift_2_1);

    let mut client = double.client();
    let mut error = |body: &str| refused(&mut client, "PUT", "/sandboxes/c", body).1;
    assert!(
        error(r#"{"compat": ["0.4", "0.6"]}"#)
            .contains("compat: 0.4 and 0.6 are both for calls with a keyspace")
    );
    assert!(error(r#"{"compat": ["4.0"]}"#).starts_with("compat: "));
    assert!(error(r#"{"claim": "new"}"#).starts_with("claim: "));
}

#[test]
fn requests_to_sandboxes_that_do_not_work_say_why() {
    let double = Double::start();
    let mut client = double.client();
    let mut refused = |method: &str, path: &str, body: &str| refused(&mut client, method, path, body);
    let lists = "there is no sandbox \"a\": GET /sandboxes lists them, PUT /sandboxes/NAME opens one";
    assert_eq!(refused("POST", "/sandboxes/a/reset", r#"{"what": "data"}"#), (404, lists.to_owned()));
    assert_eq!(refused("DELETE", "/sandboxes/a", ""), (404, lists.to_owned()));
    assert_eq!(refused("PUT", "/sandboxes/a", r#"{"from": "nothing"}"#).0, 404);
    assert_eq!(double.send("GET", "/sandboxes", "")["sandboxes"], Json::Array(Vec::new()));
    open(&double, "a", "{}");
    let (status, error) = refused("PUT", "/sandboxes/a", "");
    assert_eq!(status, 409);
    assert_eq!(error, "there is already a sandbox a: use another name, or DELETE /sandboxes/a first");
    assert_eq!(refused("PUT", "/sandboxes/a%20b", "").0, 400);
    let (status, error) = refused("PUT", "/sandboxes/a/sandboxes/b", "");
    assert_eq!(status, 400);
    assert!(error.contains("a sandbox has no sandboxes"), "{error}");
    assert_eq!(refused("PUT", "/sandboxes/a/", "").0, 404);
    assert_eq!(refused("GET", "/sandboxes/a/reset", "").0, 405);
}

#[test]
fn a_deleted_sandbox_closes_its_connections() {
    let double = with_table();
    let (thrift, native) = open(&double, "a", r#"{"from": "one"}"#);
    let mut client = NativeClient::ready(native, 4);
    double.send("PUT", "/sandboxes/a/faults/slow", r#"{"when": {}, "delay_ms": 60000}"#);
    let waiting = thread::spawn(move || {
        let body = client.query_body("SELECT k FROM ks.t", &Asked::values([]));
        client.send(1, opcode::QUERY, &body.0);
        // The delay ends, and then the connection.
        while client.next().is_some() {}
    });
    let requests = || double.send("GET", "/sandboxes/a/faults", "")["faults"][0]["met"].clone();
    while requests() != 1 {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(double.send("DELETE", "/sandboxes/a", "")["deleted"], "a");
    waiting.join().unwrap();
    assert!(std::net::TcpStream::connect(thrift).is_err());
    assert_eq!(double.native().rows("SELECT k FROM ks.t").ints(), [1]);
    // The name is free again.
    open(&double, "a", "");
}

#[test]
fn many_sandboxes_open_and_close_at_the_same_time() {
    let double = with_table();
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let mut control = double.client();
            thread::spawn(move || {
                for round in 0..10 {
                    let name = format!("{thread}-{round}");
                    let path = format!("/sandboxes/{name}");
                    let reply = done(&mut control, "PUT", &path, r#"{"from": "one"}"#);
                    let address = reply["native"].as_str().unwrap().parse().unwrap();
                    let mut client = NativeClient::ready(address, 4);
                    let row = thread * 100 + round + 2;
                    client.run(&format!("INSERT INTO ks.t (k) VALUES ({row})"));
                    let mut rows = client.rows("SELECT k FROM ks.t").ints();
                    rows.sort_unstable();
                    assert_eq!(rows, [1, row]);
                    done(&mut control, "DELETE", &path, "");
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(double.send("GET", "/sandboxes", "")["sandboxes"], Json::Array(Vec::new()));
}

#[test]
fn the_number_of_sandboxes_is_limited() {
    let double = Double::start();
    let mut control = double.client();
    for number in 0..SANDBOXES_MAX {
        done(&mut control, "PUT", &format!("/sandboxes/s{number}"), "");
    }
    let (status, error) = refused(&mut control, "PUT", "/sandboxes/more", "");
    assert_eq!(status, 409);
    assert_eq!(error, "there are 256 sandboxes, the limit: delete one with DELETE /sandboxes/NAME");
    done(&mut control, "DELETE", "/sandboxes/s7", "");
    done(&mut control, "PUT", "/sandboxes/more", "");
}

#[test]
fn a_server_in_the_process_has_sandboxes() {
    let server = InProcess::start().unwrap();
    server.cql(&format!("{KEYSPACE}; CREATE TABLE ks.t (k int PRIMARY KEY)")).unwrap();
    let with_table = server.snapshot().unwrap();
    let (one, two) = (server.sandbox_from(&with_table).unwrap(), server.sandbox().unwrap());
    assert!(two.sandbox_from(&with_table).is_err());
    drop(server);
    one.cql("INSERT INTO ks.t (k) VALUES (1)").unwrap();
    assert!(two.cql("INSERT INTO ks.t (k) VALUES (1)").is_err());
    assert_eq!(NativeClient::ready(one.native_address(), 4).rows("SELECT k FROM ks.t").ints(), [1]);
    one.reset().unwrap();
    assert!(NativeClient::ready(one.native_address(), 4).rows("SELECT k FROM ks.t").rows.is_empty());
}
