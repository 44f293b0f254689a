//! Requests that need more memory than the server has. Each is refused with a message, and small requests are answered
//! all the time. Requests that take too long are refused too.
//!
//! `COUNT_COLUMNS=10000000` sets the number of columns in the row that get_count counts.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::skip::skip;
use crate::support;
use support::calls::*;
use support::client::{Client, PATIENCE, Reply, Style};
use support::native::NativeClient;
use support::native::opcode::{ERROR, QUERY};
use support::native_body::{Asked, Bound};
use support::server::{MemoryLimit, Server, storage_conf};
use support::value::{Value, fields, map, structs, text, texts};
use wire::thrift::TType;

const KS: &str = "Keyspace1";
const MIB: usize = 1024 * 1024;

/// Memory of the server in KiB, less than its data has.
const MEMORY_KIB: u64 = 512 * 1024;
/// Memory of all requests in MiB. A single request may hold a quarter of it.
const REQUEST_MIB: &str = "64";
const LARGE_ROWS: usize = 640;
const WIDE_COLUMNS: usize = 200_000;
/// Number of columns of one batch.
const BATCH: usize = 10_000;
const HOSTILE: usize = 4;

/// Starts a server with 640 MiB of values, and a row of many small columns.
fn start() -> (Server, SocketAddr, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let more = ["--cache-mb", "16", "--request-memory-mb", REQUEST_MIB, "--cql", "127.0.0.1:0"];
    let mut server =
        Server::start_within(directory.path(), MemoryLimit::DataKib(MEMORY_KIB), &storage_conf(""), &more);
    let native = server.native_address();
    let mut client = server.client(Style::FRAMED);
    // Random bytes cannot be compressed in tables.
    let mut chance = support::Chance::new(7);
    let value = chance.bytes(MIB);
    for at in 0..LARGE_ROWS {
        let path = path("Standard1", None, Some(b"value"));
        client
            .call("insert", &insert_args(KS, format!("large{at}").as_bytes(), path, (&value, 1), ONE))
            .void();
    }
    for batch in 0..WIDE_COLUMNS / BATCH {
        let name = |at: usize| format!("{:08}", batch * BATCH + at);
        let column = |at: usize| write(column(name(at).as_bytes(), b"v", 1));
        let of_row = vec![("Standard2", (0..BATCH).map(column).collect())];
        client.call("batch_mutate", &batch_mutate_args(KS, rows(vec![("wide", of_row)]), ONE)).void();
    }
    (server, native, directory)
}

/// Returns whether a call was refused for lack of memory. Panics on any other error.
fn is_refused(reply: &Reply) -> bool {
    match reply {
        Reply::Exception { .. } => panic!("{reply:?}"),
        Reply::Result(found) if found.contains_key(&0) => false,
        Reply::Result(found) => {
            // InvalidRequestException has a message, UnavailableException has none.
            let why = found.get(&1).map(|exception| exception.field(1).str());
            assert!(
                why.is_none_or(|why| why.contains("bytes of memory") && why.contains("ask for")),
                "{reply:?}"
            );
            true
        }
    }
}

/// Sends requests of many kinds that need more memory than the server has. Returns how many were refused.
fn ask_for_too_much(address: SocketAddr) -> usize {
    let mut client = Client::connect(address, Style::FRAMED);
    let all = || slice(b"", b"", false, i32::MAX);
    let standard = |family| parent(family, None);
    let mut refused = 0;
    for _ in 0..2 {
        let rows = range_slices_args(KS, standard("Standard1"), all(), key_range("", "", i32::MAX), ONE);
        let large: Vec<String> = (0..LARGE_ROWS).map(|at| format!("large{at}")).collect();
        let large: Vec<&str> = large.iter().map(String::as_str).collect();
        let absent: Vec<String> = (0..300_000).map(|at| format!("absent{at}")).collect();
        let absent: Vec<&str> = absent.iter().map(String::as_str).collect();
        let too_large = [
            ("get_range_slices", rows),
            ("multiget_slice", multiget_slice_args(KS, &large, standard("Standard1"), all())),
            ("multiget_slice", multiget_slice_args(KS, &absent, standard("Standard1"), all())),
            ("get_slice", get_slice_args(KS, b"wide", standard("Standard2"), all(), ONE)),
        ];
        for (method, args) in too_large {
            refused += usize::from(is_refused(&client.call(method, &args)));
        }
        let count =
            fields([(1, text(KS)), (2, text("wide")), (3, standard("Standard2")), (4, Value::I32(ONE))]);
        let counted = client.call("get_count", &count);
        assert_eq!(counted.value().int(), i64::try_from(WIDE_COLUMNS).unwrap());
        // The connection still works.
        check_alive(&mut client);
    }
    refused
}

#[test]
fn requests_larger_than_memory_are_refused_and_small_ones_answered() {
    let (server, native, _directory) = start();
    let (is_over, address) = (AtomicBool::new(false), server.address);
    thread::scope(|scope| {
        let small = scope.spawn(|| {
            let mut client = Client::connect(address, Style::UNFRAMED);
            while !is_over.load(Ordering::Relaxed) {
                check_alive(&mut client);
            }
        });
        let hostile: Vec<_> = (0..HOSTILE).map(|_| scope.spawn(move || ask_for_too_much(address))).collect();
        for one in hostile {
            // Only the request for missing keys may succeed, if the other clients hold no memory at that time.
            assert!(one.join().unwrap() >= 6);
        }
        is_over.store(true, Ordering::Relaxed);
        small.join().unwrap();
    });

    let mut client = NativeClient::ready(native, 4);
    let why = client.query(r#"SELECT * FROM "Keyspace1"."Standard1""#).refused(0x2200);
    assert!(why.contains("ask for"), "{why}");
    let counted = client.rows(r#"SELECT COUNT(*) FROM "Keyspace1"."Standard2""#);
    assert_eq!(counted.rows[0][0].as_deref(), Some(&(WIDE_COLUMNS as u64).to_be_bytes()[..]));
    let mut client = server.client(Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text(KS))])).void();
    let many = fields([
        (1, texts(&["wide", "absent"])),
        (2, parent("Standard2", None)),
        (3, slice(b"", b"", false, i32::MAX)),
        (4, Value::I32(ONE)),
    ]);
    let counted = client.call("multiget_count", &many);
    assert_eq!(counted.value().at("wide").int(), i64::try_from(WIDE_COLUMNS).unwrap());
    assert_eq!(counted.value().at("absent").int(), 0);
    check_alive(&mut client);
    server.stop();
}

#[test]
fn a_batch_that_needs_too_much_memory_is_refused_before_it_is_written() {
    let more = ["--request-memory-mb", "16"];
    let (server, _directory) = Server::ephemeral(&more);
    let mut client = server.client(Style::FRAMED);
    let of_row = |count: usize| {
        let column = |at: usize| write(column(format!("{at:08}").as_bytes(), b"", 1));
        rows(vec![("row", vec![("Standard1", (0..count).map(column).collect())])])
    };
    let refused = client.call("batch_mutate", &batch_mutate_args(KS, of_row(100_000), ONE));
    assert!(is_refused(&refused), "{refused:?}");
    assert_eq!(value_of(&mut client, b"row", b"00000000"), None);
    client.call("batch_mutate", &batch_mutate_args(KS, of_row(1_000), ONE)).void();
    assert!(value_of(&mut client, b"row", b"00000000").is_some());
}

/// The row has 270 MB, and a request may hold 1 GB.
#[test]
fn a_reply_larger_than_256_mib_is_refused() {
    let (mut server, _directory) =
        Server::ephemeral(&["--request-memory-mb", "4096", "--cql", "127.0.0.1:0"]);
    let native = server.native_address();
    let mut client = server.client(Style::FRAMED);
    let value = vec![b'v'; 90 * 1000 * 1000];
    for name in [b"a", b"b", b"c"] {
        let column = path("Standard1", None, Some(name));
        client.call("insert", &insert_args(KS, b"row", column, (&value, 1), ONE)).void();
    }
    drop(value);
    let slice =
        |count| get_slice_args(KS, b"row", parent("Standard1", None), slice(b"", b"", false, count), ONE);
    for style in [Style::FRAMED, Style::UNFRAMED] {
        let mut client = server.client(style);
        let refused = client.call("get_slice", &slice(3));
        assert!(refused.why().contains("the reply has more than 268435456 bytes"), "{:?}", refused.why());
        check_alive(&mut client);
    }
    assert_eq!(columns(client.call("get_slice", &slice(1)).value()).len(), 1);
    let mut native = NativeClient::ready(native, 4);
    // The same value three times.
    let three =
        r#"SELECT value, value, value FROM "Keyspace1"."Standard1" WHERE key = 0x726f77 AND column1 = 0x61"#;
    let why = native.query(three).refused(0x2200);
    assert!(why.contains("the result has more than 268435456 bytes"), "{why}");
    assert_eq!(
        native.rows(r#"SELECT column1 FROM "Keyspace1"."Standard1" WHERE key = 0x726f77"#).rows.len(),
        3
    );
    server.stop();
}

#[test]
fn reads_and_writes_that_take_too_long_time_out() {
    let more = ["--read-timeout-ms", "1", "--write-timeout-ms", "1", "--cql", "127.0.0.1:0"];
    let (mut server, _directory) = Server::ephemeral(&more);
    let native = server.native_address();
    let mut client = server.client(Style::FRAMED);
    let keys: Vec<String> = (0..50_000).map(|at| format!("key{at}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let all = slice(b"", b"", false, 100);
    client.call("multiget_slice", &multiget_slice_args(KS, &keys, parent("Standard1", None), all)).thrown(3);
    let written = |key: &&str| {
        let columns = vec![write(column(b"a", b"1", 1))];
        (text(key), map(TType::List, vec![("Standard1", structs(columns))]))
    };
    let rows = Value::Map(TType::String, TType::Map, keys.iter().map(written).collect());
    client.call("batch_mutate", &batch_mutate_args(KS, rows, ONE)).thrown(3);
    // The time limit does not apply to range scans, and the connection still works.
    let range = range_slices_args(KS, parent("Standard1", None), everything(), key_range("", "", 10), ONE);
    client.call("get_range_slices", &range).value();

    let mut native = NativeClient::ready(native, 4);
    let keys: Vec<String> = (0..50_000).map(|at| format!("0x{at:08x}")).collect();
    let table = r#""Keyspace1"."Standard1""#;
    let refused = native.query(&format!("SELECT * FROM {table} WHERE key IN ({})", keys.join(",")));
    assert_eq!(refused.error().0, 0x1200, "{}", refused.why());
    let insert =
        |key: &String| format!("INSERT INTO {table} (key, column1, value) VALUES ({key}, 0x01, 0x02);");
    let batch: String = keys.iter().take(20_000).map(insert).collect();
    let refused = native.query(&format!("BEGIN UNLOGGED BATCH {batch} APPLY BATCH"));
    assert_eq!(refused.error().0, 0x1100, "{}", refused.why());
    assert_eq!(native.rows("SELECT key FROM system.local").rows.len(), 1);
    server.stop();
}

#[test]
fn requests_that_take_too_long_time_out() {
    let (server, _directory) = Server::ephemeral(&["--range-timeout-ms", "1"]);
    let mut client = server.client(Style::FRAMED);
    for batch in 0..20 {
        let row = |at: usize| {
            let columns = vec![write(column(b"a", b"1", 1))];
            (text(format!("{batch}-{at}")), map(TType::List, vec![("Standard1", structs(columns))]))
        };
        let rows = Value::Map(TType::String, TType::Map, (0..1_000).map(row).collect());
        client.call("batch_mutate", &batch_mutate_args(KS, rows, ONE)).void();
    }
    let all = || slice(b"", b"", false, 100);
    let range =
        |count| range_slices_args(KS, parent("Standard1", None), all(), key_range("", "", count), ONE);
    let reply = client.call("get_range_slices", &range(i32::MAX));
    let Reply::Result(found) = &reply else { panic!("{reply:?}") };
    assert!(found.contains_key(&3), "no TimedOutException: {:?}", found.keys());
    // The time limit does not apply to reads by key, and the connection still works.
    let keys: Vec<String> = (0..1_000).map(|at| format!("3-{at}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let read =
        client.call("multiget_slice", &multiget_slice_args(KS, &keys, parent("Standard1", None), all()));
    assert_eq!(read.value().pairs().len(), 1_000);
}

/// A number from the environment.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn a_count_of_a_long_row_takes_little_memory() {
    let count = setting("COUNT_COLUMNS", 300_000).next_multiple_of(BATCH);
    let directory = tempfile::tempdir().unwrap();
    let more = ["--cache-mb", "16", "--cql", "127.0.0.1:0"];
    let server = Server::start(directory.path(), &storage_conf(""), &more);
    let mut client = server.client(Style::FRAMED);
    for batch in 0..count / BATCH {
        let name = |at: usize| format!("{:08}", batch * BATCH + at);
        let column = |at: usize| write(column(name(at).as_bytes(), b"v", 1));
        let of_row = vec![("Standard2", (0..BATCH).map(column).collect())];
        client.call("batch_mutate", &batch_mutate_args(KS, rows(vec![("wide", of_row)]), ONE)).void();
    }
    server.stop();

    let mut server = Server::start_again(directory.path(), &more);
    let mut native = NativeClient::ready(server.native_address(), 4);
    let mut client = server.client(Style::FRAMED);
    check_alive(&mut client);
    let Some(idle) = server.peak_bytes() else {
        skip!("there is no /proc to read the memory of the server from");
    };
    let parent = parent("Standard2", None);
    let args = fields([(1, text(KS)), (2, text("wide")), (3, parent), (4, Value::I32(ONE))]);
    let begin = Instant::now();
    assert_eq!(client.call("get_count", &args).value().int(), i64::try_from(count).unwrap());
    let by_thrift = (begin.elapsed(), server.peak_bytes().unwrap() - idle);
    let counted = native.rows(r#"SELECT COUNT(*) FROM "Keyspace1"."Standard2" WHERE key = 0x77696465"#);
    assert_eq!(counted.rows[0][0].as_deref(), Some(&(count as u64).to_be_bytes()[..]));
    let above = server.peak_bytes().unwrap() - idle;
    println!(
        "{count} columns are counted in {:?} with {} KiB above idle, by both protocols with {} KiB",
        by_thrift.0,
        by_thrift.1 / 1024,
        above / 1024
    );
    assert!(above < 64 * MIB as u64, "{above} bytes above idle");
    server.stop();
}

/// Of 16 MB, half is available for the rows of a result, and half for the reply.
#[test]
fn rows_of_a_result_are_not_also_charged_as_cells() {
    let (mut server, _directory) = Server::ephemeral(&["--request-memory-mb", "64", "--cql", "127.0.0.1:0"]);
    let mut native = NativeClient::ready(server.native_address(), 4);
    native.run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    native.run("CREATE TABLE ks.t (p int, c int, v text, PRIMARY KEY (p, c))");
    native.run("CREATE TABLE ks.one (p int PRIMARY KEY, v text)");
    let (small, large) = ("x".repeat(10_000), "x".repeat(7_000_000));
    for row in 0..700 {
        native.run(&format!("INSERT INTO ks.t (p, c, v) VALUES ({}, {row}, '{small}')", row / 350));
    }
    let values = Asked::values([Bound::Value(large.into_bytes())]);
    native.query_with("INSERT INTO ks.one (p, v) VALUES (1, ?)", &values).void();
    for (select, count) in [
        ("SELECT v FROM ks.t", 700),
        ("SELECT v FROM ks.t WHERE p IN (0, 1)", 700),
        ("SELECT v FROM ks.t WHERE p = 0 ORDER BY c DESC", 350),
        ("SELECT v FROM ks.one", 1),
        ("SELECT v FROM ks.one WHERE p = 1", 1),
    ] {
        assert_eq!(native.rows(select).rows.len(), count, "{select}");
    }
    let why = native.query("SELECT v, v FROM ks.t").refused(0x2200);
    assert!(why.contains("ask for"), "{why}");
    server.stop();
}

/// Each value of IN makes a name or a key with the long value before it: all of them have 4 GB.
#[test]
fn statements_whose_names_or_keys_need_too_much_memory_are_refused() {
    let (mut server, _directory) = Server::ephemeral(&["--request-memory-mb", "64", "--cql", "127.0.0.1:0"]);
    let mut native = NativeClient::ready(server.native_address(), 4);
    native.run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    native.run("CREATE TABLE ks.t (p int, c text, d int, v int, PRIMARY KEY (p, c, d))");
    native.run("CREATE TABLE ks.keys (p text, q int, v int, PRIMARY KEY ((p, q)))");
    let long = "x".repeat(60_000);
    let values = |count: usize| (0..count).map(|value| value.to_string()).collect::<Vec<_>>().join(", ");
    let (many, few) = (values(65_535), values(20));
    for (select, column) in [
        (format!("SELECT v FROM ks.t WHERE p = 1 AND c = '{long}'"), "d"),
        (format!("SELECT v FROM ks.keys WHERE p = '{long}'"), "q"),
    ] {
        let why = native.query(&format!("{select} AND {column} IN ({many})")).refused(0x2200);
        assert!(why.contains("ask for"), "{why}");
        assert!(native.rows(&format!("{select} AND {column} IN ({few})")).rows.is_empty());
    }
    let delete = format!("DELETE FROM ks.keys WHERE p = '{long}' AND q IN");
    let why = native.query(&format!("{delete} ({many})")).refused(0x2200);
    assert!(why.contains("ask for"), "{why}");
    native.run(&format!("{delete} ({few})"));
    assert!(server.peak_bytes().is_none_or(|bytes| bytes < 256 * MIB as u64), "{:?}", server.peak_bytes());
    server.stop();
}

#[test]
fn truncates_that_take_too_long_time_out() {
    for (compat, field) in [("2.1", 3), ("1.0", 2)] {
        let directory = tempfile::tempdir().unwrap();
        let more = ["--truncate-timeout-ms", "1", "--compat", compat, "--cql", "127.0.0.1:0"];
        let mut server = Server::start(directory.path(), &storage_conf(""), &more);
        let mut native = NativeClient::ready(server.native_address(), 4);
        let mut client = server.client(Style::FRAMED);
        client.call("set_keyspace", &fields([(1, text(KS))])).void();
        let (begin, mut late) = (Instant::now(), [0, 0]);
        while late.contains(&0) {
            assert!(begin.elapsed() < PATIENCE, "{late:?} have timed out");
            // Each truncate waits for the truncates before it.
            let body = native.query_body(r#"TRUNCATE "Keyspace1"."Standard2""#, &Asked::values([])).0;
            (0..64).for_each(|stream| native.send(stream, QUERY, &body));
            let truncated = client.call("truncate", &fields([(1, text("Standard2"))]));
            if truncated != Reply::Result(Default::default()) {
                truncated.thrown(field);
                late[0] += 1;
            }
            for _ in 0..64 {
                let answer = native.receive();
                if answer.opcode == ERROR {
                    assert_eq!(answer.error().0, 0x1003, "{}", answer.why());
                    late[1] += 1;
                }
            }
        }
        // The call uses another column family: some truncates are still running.
        check_alive(&mut client);
        server.stop();
    }
}

/// A truncate that has begun continues after its request has timed out. Otherwise an index could be empty while its
/// rows still exist.
#[test]
fn a_truncate_that_times_out_is_still_completed() {
    let directory = tempfile::tempdir().unwrap();
    let more = ["--truncate-timeout-ms", "1", "--cql", "127.0.0.1:0"];
    let mut server = Server::start(directory.path(), &storage_conf(""), &more);
    let mut native = NativeClient::ready(server.native_address(), 4);
    native.run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    native.run("CREATE TABLE ks.t (k int PRIMARY KEY, v int)");
    native.run("CREATE INDEX ON ks.t (v)");
    for _ in 0..20 {
        native.run("INSERT INTO ks.t (k, v) VALUES (1, 2)");
        native.query("TRUNCATE ks.t");
        let begin = Instant::now();
        while !native.rows("SELECT * FROM ks.t").rows.is_empty() {
            let is_late = begin.elapsed() > Duration::from_secs(2);
            if is_late && native.rows("SELECT * FROM ks.t WHERE v = 2").rows.len() == 1 {
                // The truncate timed out before it began, because the one before was still running.
                native.query("TRUNCATE ks.t");
            }
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "the row exists, and the index does not have it"
            );
            thread::sleep(Duration::from_millis(5));
        }
    }
    server.stop();
}
