//! The clock of a server with a control port.

use std::time::{Duration, UNIX_EPOCH};

use super::{Double, KEYSPACE, done, refused};
use crate::support;
use double::testing::Server;
use support::calls::{ONE, everything, get_slice_args, parent, values};
use support::native::NativeClient;
use support::value::{Value, fields, text};

/// 2012-01-01T00:00:00Z in milliseconds since 1970.
const YEAR_2012: i64 = 1_325_376_000_000;

fn long(native: &mut NativeClient, statement: &str) -> i64 {
    let rows = native.rows(statement);
    i64::from_be_bytes(rows.rows[0][0].clone().unwrap().try_into().unwrap())
}

#[test]
fn expiry_functions_and_timestamps_follow_the_clock() {
    let double = Double::start();
    let (mut native, mut thrift, mut control) = (double.native(), double.thrift(), double.client());
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    done(&mut control, "POST", "/clock", r#"{"freeze": true}"#);
    let set = done(&mut control, "POST", "/clock", r#"{"set": "2012-01-01T00:00:00Z"}"#);
    assert_eq!(
        (set["now"].as_str(), set["now_ms"].as_i64()),
        (Some("2012-01-01T00:00:00.000Z"), Some(YEAR_2012))
    );
    assert_eq!(set["frozen"], true);

    native.run("INSERT INTO ks.t (k, v) VALUES (1, 1) USING TTL 3600");
    native.run("INSERT INTO ks.t (k, v) VALUES (2, 2)");
    let written = long(&mut native, "SELECT writetime(v) FROM ks.t WHERE k = 1") / 1000;
    assert_eq!(written, YEAR_2012);
    assert_eq!(long(&mut native, "SELECT toUnixTimestamp(now()) FROM system.local"), YEAR_2012);
    assert_eq!(native.rows("SELECT ttl(v) FROM ks.t WHERE k = 1").ints(), [3600]);
    let args = fields([
        (1, text("k")),
        (2, parent("Standard1", None)),
        (3, fields([(1, text("c")), (2, text("v")), (3, Value::I64(1)), (4, Value::I32(3600))])),
        (4, Value::I32(ONE)),
    ]);
    thrift.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
    thrift.call("insert", &args).void();
    let slice = get_slice_args("Keyspace1", b"k", parent("Standard1", None), everything(), ONE);
    let mut old = double.thrift();
    assert_eq!(values(old.call("get_slice", &slice).value()), ["v"]);

    let later = done(&mut control, "POST", "/clock", r#"{"advance_ms": 3599000}"#);
    assert_eq!(later["now_ms"].as_i64(), Some(YEAR_2012 + 3_599_000));
    assert_eq!(native.rows("SELECT ttl(v) FROM ks.t WHERE k = 1").ints(), [1]);
    done(&mut control, "POST", "/clock", r#"{"advance_ms": 1000}"#);
    assert_eq!(native.rows("SELECT k FROM ks.t").ints(), [2]);
    assert!(values(old.call("get_slice", &slice).value()).is_empty());
    native.run("DELETE FROM ks.t WHERE k = 2");

    // Moved back, the clock gives earlier timestamps again, so later data hides new writes.
    done(&mut control, "POST", "/clock", r#"{"advance_ms": -3600000}"#);
    native.run("INSERT INTO ks.t (k, v) VALUES (2, 3)");
    assert_eq!(native.rows("SELECT k FROM ks.t").ints(), [1]);
    let follows = done(&mut control, "POST", "/clock", r#"{"follow": true}"#);
    assert_eq!((&follows["frozen"], follows["offset_ms"].as_i64()), (&false.into(), Some(0)));
    assert!(follows["now_ms"].as_i64().unwrap() > YEAR_2012 + 10 * 365 * 86_400_000);
    assert_eq!(done(&mut control, "GET", "/clock", "")["frozen"], false);
    native.run("INSERT INTO ks.t (k, v) VALUES (2, 4)");
    assert_eq!(native.rows("SELECT v FROM ks.t WHERE k = 2").ints(), [4]);
    double.server.stop();
}

#[test]
fn a_clock_request_has_one_change() {
    let double = Double::start();
    let mut control = double.client();
    for body in ["{}", r#"{"freeze": true, "advance_ms": 1}"#, r#"{"follow": false}"#] {
        let (status, error) = refused(&mut control, "POST", "/clock", body);
        assert_eq!(
            (status, error.starts_with("give exactly one of \"freeze\": true")),
            (400, true),
            "{error}"
        );
    }
    let (status, error) = refused(&mut control, "POST", "/clock", r#"{"set": "tomorrow"}"#);
    assert_eq!(status, 400);
    assert_eq!(error, "\"tomorrow\" is no time: use the form 2012-01-01T00:00:00Z");
    let (_, error) = refused(&mut control, "POST", "/clock", r#"{"advance": 1}"#);
    assert!(
        error.contains("unknown field `advance`, expected one of `freeze`, `set`, `advance_ms`, `follow`"),
        "{error}"
    );
    double.server.stop();
}

#[test]
fn the_clock_of_a_server_in_the_process_moves() {
    let server = Server::start().unwrap();
    let mut native = NativeClient::ready(server.native_address(), 4);
    native.run(KEYSPACE);
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    let clock = server.clock();
    clock.freeze();
    clock.set(UNIX_EPOCH + Duration::from_millis(YEAR_2012.unsigned_abs()));
    native.run("INSERT INTO ks.t (k, v) VALUES (1, 1) USING TTL 60");
    clock.advance(Duration::from_secs(59));
    assert_eq!(native.rows("SELECT k FROM ks.t").rows.len(), 1);
    clock.advance(Duration::from_secs(1));
    assert_eq!(native.rows("SELECT k FROM ks.t").rows.len(), 0);
    clock.go_back(Duration::from_secs(30));
    assert_eq!(clock.now_ms(), YEAR_2012 + 30_000);
    clock.unfreeze();
    assert!((YEAR_2012..YEAR_2012 + 3_600_000).contains(&clock.now_ms()));
    clock.follow();
    assert!(clock.now_ms() > YEAR_2012 + 10 * 365 * 86_400_000);
}
