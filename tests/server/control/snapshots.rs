//! Snapshots of the whole database.

use std::time::{Duration, Instant};

use super::{Double, KEYSPACE, done, refused};
use crate::support;
use double::testing::Server;
use support::client::PATIENCE;
use support::native::NativeClient;
use support::native_body::{Asked, int};

/// Returns the keys that an index finds, once it is complete.
fn found(native: &mut NativeClient, expected: usize) -> Vec<i32> {
    let began = Instant::now();
    loop {
        let answer = native.query("SELECT k FROM ks.t WHERE v = 7");
        if answer.opcode == support::native::opcode::RESULT {
            let keys = answer.rows().ints();
            if keys.len() == expected {
                return keys;
            }
        }
        assert!(began.elapsed() < PATIENCE, "the index is not complete");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_snapshot_has_rows_schema_and_indexes() {
    let double = Double::start();
    let (mut native, mut control) = (double.native(), double.client());
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    let insert = native.prepare("INSERT INTO ks.t (k, v) VALUES (?, 7)");
    for k in 0..3_000 {
        native.execute(&insert, &Asked::values([int(k)])).void();
    }
    let plain = done(&mut control, "PUT", "/snapshots/plain", "");
    assert_eq!(plain["name"], "plain");
    assert!(plain["bytes"].as_u64().unwrap() > 30_000, "{plain}");
    // The index is not complete in this snapshot.
    native.run("CREATE INDEX by_v ON ks.t (v)");
    done(&mut control, "PUT", "/snapshots/indexed", "");
    assert_eq!(found(&mut native, 3_000).len(), 3_000);

    done(&mut control, "POST", "/snapshots/plain/restore", "");
    assert!(
        native.query("SELECT k FROM ks.t WHERE v = 7").why().contains("data filtering"),
        "there is no index"
    );
    assert_eq!(native.rows("SELECT count(*) FROM ks.t").rows[0][0], Some(3_000i64.to_be_bytes().to_vec()));
    native.run("DROP TABLE ks.t");
    native.run("CREATE TABLE ks.u (k text PRIMARY KEY)");
    native.run("INSERT INTO ks.u (k) VALUES ('a')");
    done(&mut control, "PUT", "/snapshots/other", "");

    for _ in 0..3 {
        done(&mut control, "POST", "/snapshots/indexed/restore", "");
        assert_eq!(found(&mut native, 3_000).len(), 3_000);
        native.execute(&insert, &Asked::values([int(5_000)])).void();
        assert_eq!(found(&mut native, 3_001).len(), 3_001);
        native.query("SELECT k FROM ks.u").error();
        done(&mut control, "POST", "/snapshots/other/restore", "");
        native.query("SELECT k FROM ks.t").error();
        assert_eq!(native.rows("SELECT k FROM ks.u").rows.len(), 1);
    }
    double.server.stop();
}

#[test]
fn snapshots_have_names_and_are_listed_replaced_and_deleted() {
    let double = Double::start();
    let (mut native, mut control) = (double.native(), double.client());
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY)");
    let names = |control: &mut double::control::ControlClient| {
        let list = done(control, "GET", "/snapshots", "");
        let names =
            list["snapshots"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<String>>()
    };
    done(&mut control, "PUT", "/snapshots/b", "");
    done(&mut control, "PUT", "/snapshots/a.1_x-Y", "");
    assert_eq!(names(&mut control), ["a.1_x-Y", "b"]);
    native.run("INSERT INTO ks.t (k) VALUES (1)");
    done(&mut control, "PUT", "/snapshots/b", "");
    double.send("POST", "/reset", r#"{"what": "everything"}"#);
    done(&mut control, "POST", "/snapshots/b/restore", "");
    assert_eq!(native.rows("SELECT k FROM ks.t").ints(), [1], "the snapshot was replaced");
    assert_eq!(done(&mut control, "DELETE", "/snapshots/b", "")["deleted"], "b");
    assert_eq!(names(&mut control), ["a.1_x-Y"]);
    for (method, path) in [("DELETE", "/snapshots/b"), ("POST", "/snapshots/b/restore")] {
        let (status, error) = refused(&mut control, method, path, "");
        assert_eq!((status, error.starts_with("there is no snapshot \"b\": ")), (404, true), "{error}");
    }
    for name in ["a%20b", &"x".repeat(101), "ä"] {
        let (status, error) = refused(&mut control, "PUT", &format!("/snapshots/{name}"), "");
        assert_eq!(status, 400, "{error}");
    }
    for at in 0..99 {
        done(&mut control, "PUT", &format!("/snapshots/s{at}"), "");
    }
    let (status, error) = refused(&mut control, "PUT", "/snapshots/more", "");
    assert_eq!((status, error.contains("there are 100 snapshots, the limit")), (409, true), "{error}");
    done(&mut control, "PUT", "/snapshots/s0", "");
    double.server.stop();
}

#[test]
fn the_memory_of_snapshots_is_limited() {
    use double::control::{Control, ErrorKind, SnapshotLimits};

    let server = Server::start().unwrap();
    let database = server.control().database().clone();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let limits = SnapshotLimits { snapshots_max: 10, bytes_max: 3 * 1024 * 1024 };
    let control = runtime.block_on(Control::new(database, limits)).unwrap();
    server.cql(KEYSPACE).unwrap();
    server.cql("CREATE TABLE ks.t (k int PRIMARY KEY, v text)").unwrap();
    let write = |k: i32| {
        let value = "x".repeat(1024 * 1024);
        server.cql(&format!("INSERT INTO ks.t (k, v) VALUES ({k}, '{value}')")).unwrap();
    };
    write(1);
    runtime.block_on(control.take_snapshot("one")).unwrap();
    runtime.block_on(control.take_snapshot("same")).unwrap();
    write(2);
    runtime.block_on(control.take_snapshot("two")).unwrap();
    write(3);
    let error = runtime.block_on(control.take_snapshot("three")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Limit);
    assert!(
        error.why.contains("all snapshots would hold 3 MB, the limit is 3 MB: delete others"),
        "{}",
        error.why
    );
    assert_eq!(runtime.block_on(control.snapshots()).len(), 3);
}

#[test]
fn a_server_in_the_process_of_its_test_restores_snapshots() {
    let server = Server::start().unwrap();
    let mut native = NativeClient::ready(server.native_address(), 4);
    server.cql(KEYSPACE).unwrap();
    server.cql("USE ks; CREATE TABLE t (k int PRIMARY KEY); INSERT INTO t (k) VALUES (1);").unwrap();
    let error = server.cql("USE ks;\nINSERT INTO t (k) VALUES ('a')").unwrap_err().to_string();
    assert!(error.starts_with("the statement at line 2: "), "{error}");
    let one = server.snapshot().unwrap();
    native.run("INSERT INTO ks.t (k) VALUES (2)");
    let two = server.snapshot().unwrap();
    server.reset_data().unwrap();
    assert_eq!(native.rows("SELECT k FROM ks.t").rows.len(), 0);
    server.restore(&one).unwrap();
    assert_eq!(native.rows("SELECT k FROM ks.t").ints(), [1]);
    server.restore(&two).unwrap();
    assert_eq!(native.rows("SELECT k FROM ks.t").rows.len(), 2);
    drop((one, two));
    server.reset().unwrap();
    native.query("SELECT k FROM ks.t").error();
    let address = server.thrift_address();
    drop(server);
    assert!(std::net::TcpStream::connect(address).is_err(), "the server has stopped");
}

#[tokio::test]
async fn an_asynchronous_test_starts_uses_and_drops_a_server() {
    let server = Server::start().unwrap();
    server.cql(KEYSPACE).unwrap();
    let snapshot = server.snapshot().unwrap();
    server.reset().unwrap();
    server.restore(&snapshot).unwrap();
    server.cql("CREATE TABLE ks.t (k int PRIMARY KEY)").unwrap();
}
