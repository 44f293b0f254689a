//! Connections of the native protocol: versions, the handshake, logins, compression, events and shutdown.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::io::{Read, Write};
use std::net::SocketAddr;

use crate::support;
use support::client::Style;
use support::native::opcode::*;
use support::native::{Answer, NativeClient, Packing, VERSIONS};
use support::native_body::{Asked, Body, Parts, int, text};
use support::server::{Server, storage_conf};
use support::value::{Value, fields};
use tempfile::TempDir;

const PROTOCOL: i32 = 0x0a;
const BAD_CREDENTIALS: i32 = 0x100;
const UNAUTHORIZED: i32 = 0x2100;
const KEYSPACE: &str =
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

fn start() -> (Server, SocketAddr, TempDir) {
    let (mut server, directory) = Server::ephemeral(&[]);
    let address = server.native_address();
    (server, address, directory)
}

/// Sends bytes, and returns all that the server sends until it closes the connection.
fn answered(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut client = NativeClient::connect(address, 4);
    client.stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    client.stream.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn other_versions_are_refused_with_the_highest_version() {
    let (server, address, _directory) = start();
    for version in [66u8, 65, 6, 0] {
        let text = format!("Invalid or unsupported protocol version ({version}); highest supported is 5 ");
        let body = Body::new().i32(PROTOCOL).string(&text).0;
        let expected = NativeClient::frame(0x85, 0, 0, ERROR, &body);
        let options = NativeClient::frame(version.max(3), 0, 1, OPTIONS, &[]);
        assert_eq!(answered(address, &[&[version], &options[1..]].concat()), expected, "{version}");
    }
    server.stop();
}

#[test]
fn versions_newer_than_the_reported_release_are_refused() {
    for (claim, highest) in [("1.2.19", 1), ("2.0.17", 2), ("2.1.22", 3), ("2.2.19", 4), ("3.11.17", 4)] {
        let (mut server, _directory) = Server::ephemeral(&["--claim", claim]);
        let address = server.native_address();
        let mut client = NativeClient::connect(address, highest);
        let answer = client.call(OPTIONS, Body::new());
        let supported = Parts(&answer.body).multimap();
        assert_eq!(supported["PROTOCOL_VERSIONS"].last(), Some(&format!("{highest}/v{highest}")), "{claim}");
        let newer = NativeClient::frame(highest + 1, 0, 1, OPTIONS, &[]);
        let answer = answered(address, &newer);
        assert_eq!(answer[0], 0x80 | highest, "{claim}");
        let newer = highest + 1;
        let text = if highest < 4 {
            format!("Invalid or unsupported protocol version: {newer}")
        } else {
            format!("Invalid or unsupported protocol version ({newer}); highest supported is {highest} ")
        };
        assert!(String::from_utf8_lossy(&answer).contains(&text), "{claim}");
        server.stop();
    }
}

#[test]
fn options_is_answered_before_and_after_startup() {
    let (server, address, _directory) = start();
    for version in VERSIONS {
        let mut client = NativeClient::connect(address, version);
        for is_started in [false, true] {
            if is_started {
                assert_eq!(client.start(Packing::None).opcode, READY);
            }
            let answer = client.call(OPTIONS, Body::new());
            assert_eq!(answer.opcode, SUPPORTED);
            let mut parts = Parts(&answer.body);
            let supported = parts.multimap();
            parts.end();
            let compressions: &[&str] = if version < 5 { &["lz4", "snappy"] } else { &["lz4"] };
            assert_eq!(supported["COMPRESSION"], compressions);
            assert_eq!(supported["PROTOCOL_VERSIONS"], ["1/v1", "2/v2", "3/v3", "4/v4", "5/v5"]);
            assert!(!supported["CQL_VERSION"].is_empty());
        }
    }
    server.stop();
}

#[test]
fn the_first_request_must_be_a_valid_startup() {
    let (server, address, _directory) = start();
    for version in VERSIONS {
        let mut client = NativeClient::connect(address, version);
        for (code, name) in
            [(QUERY, "QUERY"), (REGISTER, "REGISTER"), (EXECUTE, "EXECUTE"), (PREPARE, "PREPARE")]
        {
            let why = client.call(code, Body::new()).refused(PROTOCOL);
            assert_eq!(why, format!("Unexpected message {name}, expecting STARTUP or OPTIONS"));
        }
        let start = |client: &mut NativeClient, options: &[(&str, &str)]| {
            client.call(STARTUP, Body::new().string_map(options))
        };
        let why = start(&mut client, &[]).refused(PROTOCOL);
        assert_eq!(why, "Missing value CQL_VERSION in STARTUP message");
        let why = start(&mut client, &[("CQL_VERSION", "2.0.0")]).refused(PROTOCOL);
        assert!(why.contains("CQL version 2.0.0 is not supported"), "{why}");
        let why = start(&mut client, &[("CQL_VERSION", "3.0.0"), ("COMPRESSION", "ZSTD")]).refused(PROTOCOL);
        assert_eq!(why, "Unknown compression algorithm: zstd");
        if version == 5 {
            let snappy = [("CQL_VERSION", "3.0.0"), ("COMPRESSION", "snappy")];
            let why = start(&mut client, &snappy).refused(PROTOCOL);
            assert_eq!(why, "Snappy compression is not supported in protocol V5");
        }
        // Keys are case-insensitive, and unknown keys are ignored.
        let options = [("cql_version", "4.0.0"), ("DRIVER_NAME", "d"), ("THROW_ON_OVERLOAD", "1"), ("", "")];
        assert_eq!(start(&mut client, &options).opcode, READY);
        client.has_segments = version == 5;
        let why = start(&mut client, &[("CQL_VERSION", "3.0.0")]).refused(PROTOCOL);
        assert_eq!(why, "Unexpected message STARTUP, the connection is already initialized");
        assert_eq!(client.rows("SELECT key FROM system.local").rows.len(), 1);
    }
    server.stop();
}

#[test]
fn register_refuses_unknown_events() {
    let (server, address, _directory) = start();
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        let why = client.call(REGISTER, Body::new().strings(&["SCHEMA_CHANGE", "NEWS"])).refused(PROTOCOL);
        assert_eq!(why, "Invalid value 'NEWS' for Type");
        client.register(&["TOPOLOGY_CHANGE", "status_change", "SCHEMA_CHANGE", "SCHEMA_CHANGE"]);
        client.register(&[]);
    }
    server.stop();
}

/// Starts a server with a user and rights.
fn guarded() -> (Server, SocketAddr, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("passwd"), "jane=j\n").unwrap();
    fs::write(directory.path().join("access"), "Keyspace1.<rw>=jane\n").unwrap();
    let conf = "<Authenticator>org.apache.cassandra.auth.SimpleAuthenticator</Authenticator>";
    let more = ["--ephemeral", "--passwd", "passwd", "--access", "access"];
    let mut server = Server::start(directory.path(), &storage_conf(conf), &more);
    let address = server.native_address();
    (server, address, directory)
}

fn log_in(client: &mut NativeClient, user: &str, password: &str) -> Answer {
    if client.version == 1 {
        return client
            .call(CREDENTIALS, Body::new().string_map(&[("username", user), ("password", password)]));
    }
    let token = [b"\0", user.as_bytes(), b"\0", password.as_bytes()].concat();
    client.call(AUTH_RESPONSE, Body::new().bytes(&token))
}

#[test]
fn a_server_with_users_requires_a_login() {
    let (server, address, _directory) = guarded();
    for (version, packing) in [
        (1, Packing::None),
        (2, Packing::Lz4),
        (3, Packing::Snappy),
        (4, Packing::None),
        (5, Packing::None),
        (5, Packing::Lz4),
    ] {
        let mut client = NativeClient::connect(address, version);
        let answer = client.start(packing);
        assert_eq!(answer.opcode, AUTHENTICATE, "{}", answer.why());
        assert_eq!(answer.body, Body::new().string("org.apache.cassandra.auth.PasswordAuthenticator").0);
        let expected = if version == 1 { "CREDENTIALS" } else { "SASL_RESPONSE" };
        let why = client.query("SELECT key FROM system.local").refused(PROTOCOL);
        assert_eq!(why, format!("Unexpected message QUERY, expecting {expected}"));
        log_in(&mut client, "jane", "wrong").refused(BAD_CREDENTIALS);
        log_in(&mut client, "", "j").refused(BAD_CREDENTIALS);
        log_in(&mut client, "jane", "").refused(BAD_CREDENTIALS);
        if version == 1 {
            let why = client.call(AUTH_RESPONSE, Body::new().bytes(b"")).refused(PROTOCOL);
            assert_eq!(why, "SASL Authentication is not supported in version 1 of the protocol");
            client.call(CREDENTIALS, Body::new().u16(0)).refused(BAD_CREDENTIALS);
        } else {
            let why = client.call(CREDENTIALS, Body::new().u16(0)).refused(PROTOCOL);
            assert!(
                why.starts_with(
                    "Legacy credentials authentication is not supported in protocol versions > 1."
                )
            );
            for token in [Body::new().i32(-1), Body::new().bytes(b""), Body::new().bytes(b"\0\0\0\0")] {
                client.call(AUTH_RESPONSE, token).refused(BAD_CREDENTIALS);
            }
        }
        let answer = log_in(&mut client, "jane", "j");
        let expected = if version == 1 { (READY, vec![]) } else { (AUTH_SUCCESS, vec![0xff; 4]) };
        assert_eq!((answer.opcode, answer.body), expected);
        assert_eq!(client.rows("SELECT key FROM system.local").rows.len(), 1);
        log_in(&mut client, "jane", "j").refused(PROTOCOL);
    }
    server.stop();
}

#[test]
fn stored_users_have_the_permissions_granted_to_them() {
    let directory = tempfile::tempdir().unwrap();
    let elements =
        "<Authenticator>PasswordAuthenticator</Authenticator><Authorizer>CassandraAuthorizer</Authorizer>";
    let mut server = Server::start(directory.path(), &storage_conf(elements), &[])
        .expecting("the user cassandra still has its default password");
    let address = server.native_address();
    let client_of = |version: u8, user: &str, password: &str| {
        let mut client = NativeClient::connect(address, version);
        assert_eq!(client.start(Packing::None).opcode, AUTHENTICATE);
        let answer = log_in(&mut client, user, password);
        assert!(matches!(answer.opcode, READY | AUTH_SUCCESS), "{}", answer.why());
        client
    };
    let mut admin = client_of(5, "cassandra", "cassandra");
    admin.run(KEYSPACE);
    admin.run("CREATE TABLE ks.t (k int PRIMARY KEY, v text)");
    admin.query("CREATE USER anna WITH PASSWORD 'first'").void();
    let select = "SELECT * FROM ks.t";
    let refusal = "User anna has no SELECT permission on <table ks.t> or any of its parents";
    for version in VERSIONS {
        let mut anna = client_of(version, "anna", "first");
        assert_eq!(anna.query(select).refused(UNAUTHORIZED), refusal);
        let prepared = anna.prepare(select);
        assert_eq!(anna.execute(&prepared, &Asked::values([])).refused(UNAUTHORIZED), refusal);
        admin.query("GRANT SELECT ON ks.t TO anna").void();
        assert!(anna.rows(select).rows.is_empty());
        anna.query("INSERT INTO ks.t (k) VALUES (1)").refused(UNAUTHORIZED);
        anna.query("CREATE USER eve WITH PASSWORD 'x'").refused(UNAUTHORIZED);
        admin.query("REVOKE SELECT ON ks.t FROM anna").void();
        assert_eq!(anna.query(select).refused(UNAUTHORIZED), refusal);
    }
    admin.query("ALTER USER anna WITH PASSWORD 'second'").void();
    let mut client = NativeClient::connect(address, 4);
    client.start(Packing::None);
    log_in(&mut client, "anna", "first").refused(BAD_CREDENTIALS);
    assert_eq!(log_in(&mut client, "anna", "second").opcode, AUTH_SUCCESS);
    server.stop();
}

#[test]
fn bodies_and_segments_are_compressed_in_both_directions() {
    let (server, address, _directory) = start();
    let mut first = NativeClient::ready(address, 4);
    first.run(KEYSPACE);
    first.run("CREATE TABLE ks.t (k int PRIMARY KEY, v text)");
    let long = "a long value, ".repeat(20_000);
    let cases = VERSIONS
        .into_iter()
        .flat_map(|version| [Packing::Lz4, Packing::Snappy, Packing::None].map(|packing| (version, packing)));
    for (version, packing) in cases.filter(|case| *case != (5, Packing::Snappy)) {
        let mut client = NativeClient::packed(address, version, packing);
        let insert = client.prepare("INSERT INTO ks.t (k, v) VALUES (?, ?)");
        client.execute(&insert, &Asked::values([int(version.into()), text(&long)])).void();
        let rows = client.rows(&format!("SELECT v FROM ks.t WHERE k = {version}"));
        assert_eq!(rows.rows, [[Some(long.clone().into_bytes())]]);
        // An empty body, compressed.
        assert_eq!(client.call(OPTIONS, Body::new()).opcode, SUPPORTED);
        if version < 5 {
            // Either side may send a frame uncompressed.
            let frame = NativeClient::frame(version, 0, 9, OPTIONS, &[]);
            client.stream.write_all(&frame).unwrap();
            assert_eq!(client.receive().opcode, SUPPORTED);
        }
    }
    server.stop();
}

/// Returns the encoding of a schema change, which is the same in a result and in an event.
fn change(version: u8, kind: &str, target: &str, name: &str) -> Vec<u8> {
    let body = Body::new();
    match (version, target) {
        (1 | 2, "TYPE") => body.string("UPDATED").string("ks").string(""),
        (1 | 2, _) => body.string(kind).string("ks").string(name),
        (_, "KEYSPACE") => body.string(kind).string(target).string("ks"),
        _ => body.string(kind).string(target).string("ks").string(name),
    }
    .0
}

#[test]
fn schema_changes_have_the_encoding_of_the_version() {
    let (server, address, _directory) = start();
    let statements = [
        (KEYSPACE, "CREATED", "KEYSPACE", ""),
        ("ALTER KEYSPACE ks WITH durable_writes = false", "UPDATED", "KEYSPACE", ""),
        ("CREATE TABLE ks.t (k int PRIMARY KEY, v text)", "CREATED", "TABLE", "t"),
        ("ALTER TABLE ks.t ADD w int", "UPDATED", "TABLE", "t"),
        ("CREATE INDEX ON ks.t (v)", "UPDATED", "TABLE", "t"),
        ("CREATE TYPE ks.pair (a int, b int)", "CREATED", "TYPE", "pair"),
        ("ALTER TYPE ks.pair ADD c int", "UPDATED", "TYPE", "pair"),
        ("DROP TYPE ks.pair", "DROPPED", "TYPE", "pair"),
        ("DROP TABLE ks.t", "DROPPED", "TABLE", "t"),
        ("DROP KEYSPACE ks", "DROPPED", "KEYSPACE", ""),
    ];
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        let mut listener = NativeClient::ready(address, version);
        listener.register(&["SCHEMA_CHANGE"]);
        let mut other = NativeClient::ready(address, version);
        other.register(&["STATUS_CHANGE"]);
        for (statement, kind, target, name) in statements {
            let answer = client.query(statement);
            let change = change(version, kind, target, name);
            assert_eq!(answer.parts().0, Body::new().i32(5).raw(&change).0, "{version}: {statement}");
            let event = listener.receive();
            assert_eq!((event.opcode, event.stream), (EVENT, -1));
            assert_eq!(
                event.body,
                Body::new().string("SCHEMA_CHANGE").raw(&change).0,
                "{version}: {statement}"
            );
        }
        // The keyspace is already dropped, so there is no event.
        client.query("DROP KEYSPACE IF EXISTS ks").void();
        assert_eq!(other.call(OPTIONS, Body::new()).opcode, SUPPORTED);
        assert_eq!(listener.call(OPTIONS, Body::new()).opcode, SUPPORTED);
    }
    server.stop();
}

#[test]
fn a_client_that_changes_the_schema_gets_the_result_and_the_event() {
    let (server, address, _directory) = start();
    let mut client = NativeClient::ready(address, 4);
    client.register(&["SCHEMA_CHANGE"]);
    client.send(3, QUERY, &client.query_body(KEYSPACE, &Asked::values([])).0);
    let mut streams = [client.receive().stream, client.receive().stream];
    streams.sort_unstable();
    assert_eq!(streams, [-1, 3]);
    server.stop();
}

#[test]
fn schema_changes_over_thrift_are_sent_as_events() {
    let (server, address, _directory) = start();
    let mut listener = NativeClient::ready(address, 4);
    listener.register(&["SCHEMA_CHANGE"]);
    let mut thrift = server.client(Style::FRAMED);
    let call = |client: &mut support::client::Client, statement: &str| {
        let args = fields([(1, support::value::text(statement)), (2, Value::I32(2)), (3, Value::I32(1))]);
        client.call("execute_cql3_query", &args).value();
    };
    call(&mut thrift, KEYSPACE);
    let event = listener.receive();
    assert_eq!(event.body, Body::new().string("SCHEMA_CHANGE").raw(&change(4, "CREATED", "KEYSPACE", "")).0);
    thrift.call("system_drop_keyspace", &fields([(1, support::value::text("ks"))])).value();
    let event = listener.receive();
    assert_eq!(event.body, Body::new().string("SCHEMA_CHANGE").raw(&change(4, "DROPPED", "KEYSPACE", "")).0);
    server.stop();
}

#[test]
fn shutdown_sends_an_event_and_answers_requests_that_were_read() {
    let (server, address, _directory) = start();
    let mut clients: Vec<NativeClient> = VERSIONS.map(|version| NativeClient::ready(address, version)).into();
    for client in &mut clients {
        client.register(&["STATUS_CHANGE"]);
    }
    let mut busy = NativeClient::ready(address, 4);
    let body = busy.query_body("SELECT key FROM system.local", &Asked::values([])).0;
    let frames: Vec<u8> =
        (0..500).flat_map(|stream| NativeClient::frame(4, 0, stream, QUERY, &body)).collect();
    busy.stream.write_all(&frames).unwrap();
    let first = busy.receive();
    assert_eq!(first.opcode, RESULT);
    // This connection has sent half a frame.
    let mut halved = NativeClient::ready(address, 4);
    halved.stream.write_all(&frames[..10]).unwrap();
    server.terminate();
    for mut client in clients {
        let event = client.receive();
        let down = Body::new().string("STATUS_CHANGE").string("DOWN").u8(4).raw(&[127, 0, 0, 1]);
        assert_eq!((event.stream, event.opcode), (-1, EVENT));
        assert_eq!(event.body, down.i32(address.port().into()).0);
        client.ended();
    }
    let answers: Vec<Answer> = std::iter::from_fn(|| busy.next()).collect();
    assert!(answers.iter().all(|answer| answer.opcode == RESULT));
    halved.ended();
    assert!(server.wait().success());
}
