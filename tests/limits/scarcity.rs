//! Clients that exhaust what all connections share: places, memory of messages and replies, time. A well-behaved client
//! is served beside them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::skip::skip;
use crate::support;
use db::{Authenticator, PasswordMode, SimpleAuthenticator};
use net::{ConnectionLimits, Encryption, PaceLimits};
use support::calls::*;
use support::certificates::Authority;
use support::client::{Client, PATIENCE, Style, raw};
use support::native::opcode::{OPTIONS, QUERY, SUPPORTED};
use support::native::{NativeClient, Packing, segment};
use support::native_body::{Asked, Body, Bound};
use support::server::{Server, logged, wait_for_log};
use support::serving::Serving;
use support::value::{Value, fields, map, text};
use tokio_rustls::rustls::version::TLS13;
use wire::thrift::{MessageKind, TType};

const KS: &str = "Keyspace1";
const MIB: usize = 1024 * 1024;
const OVERLOADED: i32 = 0x1001;
const INVALID: i32 = 0x2200;
/// Length of a value that makes a message of 10 MB.
const LARGE: usize = 10 * 1000 * 1000;

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// Limits with memory for a few large messages. The server closes a connection only if another one needs its memory.
fn little_memory() -> ConnectionLimits {
    ConnectionLimits {
        messages_bytes_max: 64 * MIB,
        memory_wait: PATIENCE,
        pace: PaceLimits { grace: PATIENCE, bytes_per_s: 1 },
        scarce_pace: PaceLimits { grace: milliseconds(500), bytes_per_s: 1024 },
        ..ConnectionLimits::default()
    }
}

fn cell(name: &[u8]) -> Value {
    path("Standard1", None, Some(name))
}

fn insert(client: &mut Client, name: &[u8], value: &[u8]) {
    client.call("insert", &insert_args(KS, b"scarce", cell(name), (value, 1), ONE)).void();
}

fn get_message(style: Style, name: &[u8]) -> Vec<u8> {
    style.message("get", &get_args(KS, b"scarce", cell(name), ONE), MessageKind::Call, 1).to_vec()
}

/// Reads until the server ends the connection. Returns the number of bytes; panics if the server does not end it.
fn read_to_end(stream: &mut TcpStream) -> usize {
    let mut count = 0;
    let mut part = vec![0; 256 * 1024];
    loop {
        match stream.read(&mut part) {
            Ok(0) => return count,
            Ok(more) => count += more,
            Err(error) => {
                let is_reset = error.kind() == ErrorKind::ConnectionReset;
                assert!(is_reset, "the server does not end the connection: {error}");
                return count;
            }
        }
    }
}

#[test]
fn clients_that_never_read_do_not_stop_others() {
    let serving = Serving::limited(little_memory());
    let large = vec![b'x'; LARGE];
    let mut client = serving.client(Style::FRAMED);
    insert(&mut client, b"large", &large);
    let mut deaf = Vec::new();
    for style in [Style::FRAMED, Style::UNFRAMED] {
        for _ in 0..6 {
            let mut stream = raw(serving.thrift);
            stream.write_all(&get_message(style, b"large").repeat(3)).unwrap();
            deaf.push(stream);
        }
    }
    for _ in 0..3 {
        check_alive(&mut client);
        insert(&mut client, b"large", &large);
        assert!(value_of(&mut client, b"scarce", b"large") == Some(large.clone()));
        check_alive(&mut serving.client(Style::UNFRAMED));
    }
    drop(deaf);
    serving.stop();
}

#[test]
fn clients_of_the_native_protocol_that_never_read_do_not_stop_others() {
    let serving = Serving::limited(little_memory());
    let mut client = NativeClient::ready(serving.native, 4);
    client.run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("CREATE TABLE ks.t (k int PRIMARY KEY, v blob)");
    let value = || Asked::values([Bound::Value(vec![7; LARGE])]);
    client.query_with("INSERT INTO ks.t (k, v) VALUES (1, ?)", &value()).void();
    let deaf: Vec<NativeClient> = (0..9)
        .map(|number| {
            let mut deaf = NativeClient::ready(serving.native, [3, 4, 5][number % 3]);
            let body = deaf.query_body("SELECT v FROM ks.t", &Asked::values([])).0;
            for stream in 0..3 {
                deaf.send(stream, QUERY, &body);
            }
            deaf
        })
        .collect();
    for _ in 0..3 {
        assert_eq!(client.rows("SELECT k FROM ks.t").rows.len(), 1);
        client.query_with("INSERT INTO ks.t (k, v) VALUES (1, ?)", &value()).void();
        assert_eq!(client.rows("SELECT v FROM ks.t").rows.len(), 1);
    }
    drop(deaf);
    serving.stop();
}

#[test]
fn unfinished_messages_do_not_stop_others() {
    let serving = Serving::limited(little_memory());
    let large = vec![b'x'; LARGE];
    let args = insert_args(KS, b"unfinished", cell(b"c"), (&large, 1), ONE);
    let mut unfinished = Vec::new();
    for number in 0..12 {
        let style = Style::ALL[number % 4];
        let message = style.message("insert", &args, MessageKind::Call, 1);
        let mut stream = raw(serving.thrift);
        // For the later ones there may be no memory left.
        stream.set_write_timeout(Some(milliseconds(200))).unwrap();
        let _ = stream.write_all(&message[..message.len() - 1]);
        unfinished.push(stream);
    }
    let mut client = serving.client(Style::FRAMED);
    for _ in 0..3 {
        insert(&mut client, b"large", &large);
        assert!(value_of(&mut client, b"scarce", b"large") == Some(large.clone()));
    }
    drop(unfinished);
    serving.stop();
}

#[test]
fn a_request_without_memory_is_refused_and_the_connection_stays_open() {
    // No other request holds memory: the whole budget is too small.
    let limits = ConnectionLimits { messages_bytes_max: 4 * MIB, ..little_memory() };
    let serving = Serving::limited(limits);
    let part = vec![b'x'; MIB];
    let mut client = serving.client(Style::FRAMED);
    for number in 0..8 {
        insert(&mut client, &[number], &part);
    }
    for style in [Style::FRAMED, Style::UNFRAMED] {
        let mut client = serving.client(style);
        let slice = get_slice_args(KS, b"scarce", parent("Standard1", None), everything(), ONE);
        client.call("get_slice", &slice).thrown(2);
        check_alive(&mut client);
    }
    let large = insert_args(KS, b"scarce", cell(b"large"), (&vec![b'x'; LARGE], 1), ONE);
    let refused = client.call("insert", &large);
    assert!(refused.application(7).contains("4194304 bytes of memory"), "{refused:?}");
    check_alive(&mut client);
    for version in [4, 5] {
        let mut client = NativeClient::ready(serving.native, version);
        let why = client.query("SELECT value FROM \"Keyspace1\".\"Standard1\"").refused(OVERLOADED);
        assert!(why.contains("4194304 bytes of memory"), "{why}");
        let insert = "INSERT INTO \"Keyspace1\".\"Standard1\" (key, column1, value) VALUES (0x01, 0x02, ?)";
        let asked = Asked::values([Bound::Value(vec![7; LARGE])]);
        let why = client.query_with(insert, &asked).refused(OVERLOADED);
        assert!(why.contains("4194304 bytes of memory"), "{why}");
        assert_eq!(client.rows("SELECT key FROM system.local").rows.len(), 1);
    }
    serving.stop();
}

/// Sends a message without its last byte, which takes all but some KiB of the memory of all messages.
fn take_memory(serving: &Serving, bytes_max: usize) -> TcpStream {
    let args = insert_args(KS, b"unfinished", cell(b"c"), (&vec![b'x'; bytes_max - 16 * 1024], 1), ONE);
    let message = Style::FRAMED.message("insert", &args, MessageKind::Call, 1);
    let mut stream = raw(serving.thrift);
    stream.write_all(&message[..message.len() - 1]).unwrap();
    // By then the server has read it.
    thread::sleep(milliseconds(300));
    stream
}

#[test]
fn a_write_is_applied_once_even_without_memory_for_the_replies_before_it() {
    let limits = ConnectionLimits { messages_bytes_max: MIB, ..little_memory() };
    let serving = Serving::limited(limits);
    let mut native = NativeClient::ready(serving.native, 4);
    native.run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    native.run("CREATE TABLE ks.c (k int PRIMARY KEY, n counter)");
    let update = fields([
        (1, text("UPDATE ks.c SET n = n + 1 WHERE k = 1")),
        (2, Value::I32(2)),
        (3, Value::I32(ONE)),
    ]);
    let update = Style::FRAMED.message("execute_cql3_query", &update, MessageKind::Call, 1);
    let unfinished = take_memory(&serving, MIB);
    let mut made = 0;
    // In some of these rounds the buffer of the replies has to grow at one of the writes.
    for length in (17_000..21_000).step_by(500) {
        let mut client = serving.client(Style::FRAMED);
        insert(&mut client, b"first", &vec![b'x'; 20_000]);
        insert(&mut client, b"second", &vec![b'x'; length]);
        let mut client = serving.client(Style::FRAMED);
        let mut messages = get_message(Style::FRAMED, b"first");
        messages.extend(get_message(Style::FRAMED, b"second"));
        messages.extend(update.repeat(30));
        client.send(&messages);
        for _ in 0..32 {
            client.reply();
        }
        made += 30;
        let rows = native.rows("SELECT n FROM ks.c").rows;
        assert_eq!(rows[0][0].as_deref(), Some(&i64::to_be_bytes(made)[..]), "after {length}");
    }
    drop(unfinished);
    serving.stop();
}

#[test]
fn requests_larger_than_all_memory_do_not_use_the_processors_while_they_wait() {
    let scarce_pace = PaceLimits { grace: Duration::from_secs(2), bytes_per_s: 1024 };
    let limits = ConnectionLimits { messages_bytes_max: MIB, scarce_pace, ..little_memory() };
    let serving = Serving::limited(limits);
    let mut client = serving.client(Style::FRAMED);
    insert(&mut client, b"c", &vec![b'x'; 200_000]);
    let unfinished = take_memory(&serving, MIB);
    // The statement is short when compressed. The replies wait for memory until the unfinished message has stalled for
    // too long.
    let select = format!("SELECT value FROM \"Keyspace1\".\"Standard1\"{}", " ".repeat(2 * MIB));
    let asking: Vec<NativeClient> = (0..4)
        .map(|_| {
            let mut asking = NativeClient::packed(serving.native, 4, Packing::Lz4);
            let body = asking.query_body(&select, &Asked::values([])).0;
            asking.send(1, QUERY, &body);
            asking
        })
        .collect();
    thread::sleep(milliseconds(500));
    check_alive(&mut client);
    for mut asking in asking {
        assert!(!asking.receive().rows().rows.is_empty());
    }
    drop(unfinished);
    serving.stop();
}

/// Limits with a grace of two seconds, and then 500 bytes per second.
fn little_time() -> ConnectionLimits {
    let pace = PaceLimits { grace: Duration::from_secs(2), bytes_per_s: 500 };
    ConnectionLimits { pace, native_handshake: Duration::from_secs(2), ..ConnectionLimits::default() }
}

#[test]
fn a_message_that_stops_coming_ends_the_connection_and_a_slow_one_does_not() {
    let serving = Serving::limited(little_time());
    for style in Style::ALL {
        let value = vec![b'v'; 8000];
        let args = insert_args(KS, b"slow", cell(b"c"), (&value, 1), ONE);
        let message = style.message("insert", &args, MessageKind::Call, 1);
        let mut stalled: Vec<TcpStream> = [1, 3, 6, 100, message.len() - 1]
            .map(|length| {
                let mut stream = raw(serving.thrift);
                stream.write_all(&message[..length]).unwrap();
                stream
            })
            .into();
        // A client that sends one byte at a time, for ever.
        let mut dripping = raw(serving.thrift);
        dripping.set_read_timeout(Some(milliseconds(20))).unwrap();
        let mut slow = serving.client(style);
        for part in message.chunks(100) {
            slow.send(part);
            let _ = dripping.write_all(&message[..1]);
            thread::sleep(milliseconds(50));
        }
        slow.reply().2.void();
        assert!(value_of(&mut slow, b"slow", b"c") == Some(value));
        stalled.push(dripping);
        for mut stream in stalled {
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            assert_eq!(read_to_end(&mut stream), 0);
        }
    }
    // A client without a message in progress may be silent.
    let mut silent = serving.client(Style::FRAMED);
    thread::sleep(milliseconds(2500));
    check_alive(&mut silent);
    thread::sleep(milliseconds(2500));
    check_alive(&mut silent);
    serving.stop();
}

#[test]
fn frames_of_the_native_protocol_have_a_time_limit() {
    let serving = Serving::limited(little_time());
    // A client that does not begin a frame, and clients that do not finish one.
    let silent = NativeClient::connect(serving.native, 4);
    let mut asking = NativeClient::connect(serving.native, 4);
    assert_eq!(asking.call(OPTIONS, Body::new()).opcode, SUPPORTED);
    for version in [4, 5] {
        let mut client = NativeClient::ready(serving.native, version);
        let body = client.query_body("SELECT key FROM system.local", &Asked::values([])).0;
        let frame = NativeClient::frame(version, 0, 1, QUERY, &body);
        let message = if version == 5 { segment(false, &frame, true) } else { frame };
        client.stream.write_all(&message[..message.len() - 1]).unwrap();
        assert_eq!(read_to_end(&mut client.stream), 0, "version {version}");
    }
    for mut client in [silent, asking] {
        assert_eq!(read_to_end(&mut client.stream), 0);
    }
    let mut ready = NativeClient::ready(serving.native, 4);
    thread::sleep(milliseconds(2500));
    assert_eq!(ready.rows("SELECT key FROM system.local").rows.len(), 1);
    serving.stop();
}

#[test]
fn a_reply_that_is_not_read_ends_the_connection() {
    let serving = Serving::limited(little_time());
    let mut client = serving.client(Style::FRAMED);
    insert(&mut client, b"large", &vec![b'x'; LARGE]);
    let mut deaf = raw(serving.thrift);
    deaf.write_all(&get_message(Style::FRAMED, b"large").repeat(5)).unwrap();
    let mut native = NativeClient::ready(serving.native, 4);
    let body = native.query_body("SELECT value FROM \"Keyspace1\".\"Standard1\"", &Asked::values([])).0;
    for stream in 0..5 {
        native.send(stream, QUERY, &body);
    }
    thread::sleep(Duration::from_secs(5));
    for stream in [&mut deaf, &mut native.stream] {
        let received = read_to_end(stream);
        assert!(received < 5 * LARGE, "{received} bytes");
    }
    serving.stop();
}

#[test]
fn a_long_message_before_the_login_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let passwd_file = directory.path().join("passwd");
    std::fs::write(&passwd_file, "jonas=secret\n").unwrap();
    let simple = SimpleAuthenticator { passwd_file, access_file: None, mode: PasswordMode::Plain };
    let serving = Serving::start(little_memory(), Authenticator::Simple(simple), None);
    let credentials = map(TType::String, vec![("username", text("jonas")), ("password", text("secret"))]);
    let login = fields([(1, text(KS)), (2, fields([(1, credentials)]))]);
    let large = insert_args(KS, b"scarce", cell(b"large"), (&vec![b'x'; LARGE], 1), ONE);
    // Frames of 250 MB, of which only a part is sent.
    let unfinished: Vec<TcpStream> = (0..5)
        .map(|_| {
            let mut stream = raw(serving.thrift);
            let mut message = Style::FRAMED.message("insert", &large, MessageKind::Call, 1);
            message[..4].copy_from_slice(&(250 * 1000 * 1000u32).to_be_bytes());
            stream.write_all(&message).unwrap();
            stream
        })
        .collect();
    for stream in &unfinished {
        let mut waiting = Client::over(stream.try_clone().unwrap(), Style::FRAMED);
        let (name, seqid, refused) = waiting.reply();
        assert_eq!((name.as_str(), seqid), ("insert", 1));
        assert!(refused.application(7).contains("the limit is 65536: log in first"), "{refused:?}");
    }
    let mut client = serving.client(Style::FRAMED);
    let refused = client.call("insert", &large);
    assert!(refused.application(7).contains("before the login"), "{refused:?}");
    client.call("login", &login).void();
    client.call("insert", &large).void();
    check_alive(&mut client);
    let mut unframed = serving.client(Style::UNFRAMED);
    assert!(unframed.try_call("insert", &large).is_err());
    drop(unfinished);
    serving.stop();
}

#[test]
fn a_long_frame_before_the_native_login_is_refused() {
    let serving = Serving::limited(little_memory());
    let mut client = NativeClient::connect(serving.native, 4);
    let body = client.query_body(&"x".repeat(LARGE), &Asked::values([])).0;
    client.send(3, QUERY, &body);
    let why = client.receive().refused(INVALID);
    assert!(why.contains("exceeds maximum allowed length 65536"), "{why}");
    client.start(Packing::None);
    assert_eq!(client.rows("SELECT key FROM system.local").rows.len(), 1);
    serving.stop();
}

/// Waits until the server has accepted all connections of a flood, by what it closes: all but `unproven_max` of them. A
/// client that connects amid a flood on the other port may itself be the oldest connection when that port's are accepted.
fn wait_until_accepted(flood: &mut [TcpStream]) {
    let start = Instant::now();
    let mut open = flood.len();
    while open > few_places().unproven_max {
        assert!(start.elapsed() < PATIENCE, "{open} connections are still open");
        thread::sleep(milliseconds(5));
        open = flood.iter_mut().map(is_open).filter(|open| *open).count();
    }
}

/// Returns whether the server has not closed a connection on which it sends nothing.
fn is_open(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = stream.read(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

/// Limits with twenty places, ten of them for connections that have not yet completed a request.
fn few_places() -> ConnectionLimits {
    ConnectionLimits { connections_max: 20, unproven_max: 10, ..ConnectionLimits::default() }
}

/// Returns TLS without a time limit of handshakes, and the authority that clients trust.
fn encryption(optional: bool) -> (Encryption, Authority, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let options = authority.server_in(directory.path(), optional);
    (Encryption::open(options).unwrap().with_patience(PATIENCE), authority, directory)
}

#[test]
fn half_open_handshakes_do_not_stop_others() {
    let (encryption, authority, _directory) = encryption(false);
    let serving = Serving::start(few_places(), Authenticator::AllowAll, Some(encryption));
    let mut first = Client::over(authority.connect(serving.thrift, &TLS13, None), Style::FRAMED);
    check_alive(&mut first);
    let mut half_open: Vec<TcpStream> = (0..60)
        .map(|number| {
            let mut stream = raw([serving.thrift, serving.native][number % 2]);
            stream.write_all(&b"\x16\x03\x01\x02\x00"[..number % 6]).unwrap();
            stream
        })
        .collect();
    wait_until_accepted(&mut half_open);
    for _ in 0..3 {
        check_alive(&mut Client::over(authority.connect(serving.thrift, &TLS13, None), Style::FRAMED));
    }
    check_alive(&mut first);
    drop(half_open);
    drop(first);
    serving.stop();
}

#[test]
fn silent_clients_of_an_optional_tls_port_do_not_stop_others() {
    let (encryption, authority, _directory) = encryption(true);
    let serving = Serving::start(few_places(), Authenticator::AllowAll, Some(encryption));
    let mut silent: Vec<TcpStream> =
        (0..60).map(|number| raw([serving.thrift, serving.native][number % 2])).collect();
    wait_until_accepted(&mut silent);
    check_alive(&mut serving.client(Style::UNFRAMED));
    check_alive(&mut Client::over(authority.connect(serving.thrift, &TLS13, None), Style::FRAMED));
    drop(silent);
    serving.stop();
}

#[test]
fn connections_that_send_a_byte_now_and_then_do_not_stop_others() {
    let serving = Serving::limited(few_places());
    let mut first = serving.client(Style::FRAMED);
    check_alive(&mut first);
    // All places are taken once. Connections that have completed a request keep theirs.
    let mut proven = Vec::new();
    for _ in 0..14 {
        let mut client = serving.client(Style::FRAMED);
        check_alive(&mut client);
        proven.push(client);
    }
    let message = get_message(Style::FRAMED, b"c");
    let mut dripping: Vec<TcpStream> = Vec::new();
    for round in 0..5 {
        dripping.extend((0..20).map(|_| raw(serving.thrift)));
        for stream in &mut dripping {
            // The server has closed some of them to free their places.
            let _ = stream.write_all(&message[round..=round]);
        }
        check_alive(&mut serving.client(Style::UNFRAMED));
        check_alive(&mut first);
    }
    proven.iter_mut().for_each(check_alive);
    drop(dripping);
    serving.stop();
}

#[test]
fn an_idle_client_is_closed_if_there_is_an_idle_timeout() {
    let (server, _directory) = Server::ephemeral(&["--idle-timeout", "1"]);
    let mut client = server.client(Style::FRAMED);
    check_alive(&mut client);
    assert!(client.is_closed());
    let mut silent = server.client(Style::FRAMED);
    assert!(silent.is_closed());
    server.stop();

    let limits = ConnectionLimits { idle: Some(milliseconds(500)), ..ConnectionLimits::default() };
    let serving = Serving::limited(limits);
    let mut waiting = NativeClient::ready(serving.native, 4);
    waiting.register(&["SCHEMA_CHANGE"]);
    let mut idle = NativeClient::ready(serving.native, 4);
    assert_eq!(read_to_end(&mut idle.stream), 0);
    thread::sleep(milliseconds(1000));
    assert_eq!(
        waiting.rows("SELECT key FROM system.local").rows.len(),
        1,
        "a client that waits for events is closed"
    );
    drop(waiting);
    serving.stop();
}

#[test]
fn connections_use_tcp_keepalive() {
    let serving = Serving::limited(ConnectionLimits::default());
    let mut client = serving.client(Style::FRAMED);
    check_alive(&mut client);
    let (server, peer) = (serving.thrift.port(), client.stream.local_addr().unwrap().port());
    let is_ours = |address: &str, port| address.ends_with(&format!(":{port:04X}"));
    let start = Instant::now();
    loop {
        let Ok(table) = std::fs::read_to_string("/proc/net/tcp") else {
            skip!("there is no /proc to read the timers from");
        };
        let row = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let row =
            row.filter(|row| row.len() > 5).find(|row| is_ours(row[1], server) && is_ours(row[2], peer));
        // 02 is the keepalive timer. It starts when the client has acknowledged the last reply.
        let timer = row.unwrap()[5];
        if timer.starts_with("02:") {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "the connection's timer is {timer}");
        thread::sleep(milliseconds(10));
    }
    drop(client);
    serving.stop();
}

#[test]
fn the_log_counts_connections_that_end_for_the_same_reason() {
    let directory = tempfile::tempdir().unwrap();
    Authority::new().sign().write(directory.path());
    let more = ["--ephemeral", "--tls-certificate", "server.pem", "--tls-key", "server.key"];
    let server = Server::start(directory.path(), &support::server::storage_conf(""), &more);
    for _ in 0..50 {
        let mut stream = raw(server.address);
        stream.write_all(b"\x80\x01\0\x01\0\0\0\x03get").unwrap();
        assert_eq!(read_to_end(&mut stream), 0);
    }
    wait_for_log(directory.path(), "does not use TLS");
    let count = logged(directory.path()).matches("does not use TLS").count();
    assert_eq!(count, 1, "{}", logged(directory.path()));
    server.stop();
}
