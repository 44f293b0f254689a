//! What the recorder records: every transport of Thrift, every version of the native protocol, and no passwords.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::fs;
use std::net::SocketAddr;
use std::time::Instant;

use crate::recorder::{Recorder, calls_of, events_of};
use crate::support;
use double::testing::Server;
use support::calls::*;
use support::certificates::Authority;
use support::client::{Client, PATIENCE, Reply, Style};
use support::native::opcode::*;
use support::native::{NativeClient, Packing, VERSIONS};
use support::native_body::{Asked, Body};
use support::value::{Value, fields, map, text};
use tokio_rustls::rustls::version::TLS13;
use traffic::file::{Ending, PartReader, RecordingReader, part_path};
use traffic::{EventKind, Protocol};
use wire::thrift::{MessageKind, TType};

const SCHEMA: &str = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
     CREATE TABLE k.\"Standard1\" (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE";

fn server() -> Server {
    let server = Server::start().unwrap();
    server.cql(SCHEMA).unwrap();
    server
}

fn no_arguments() -> Value {
    fields([])
}

#[test]
fn calls_of_every_transport_are_recorded_unchanged() {
    let server = server();
    for style in Style::ALL {
        let mut recorder = Recorder::start(server.thrift_address(), &[]);
        let mut client = Client::connect(recorder.address, style);
        let keyspace = fields([(1, text("k"))]);
        client.call("set_keyspace", &keyspace).void();
        let version = client.call("describe_version", &no_arguments()).value().clone();
        let unknown = client.call("no_such_method", &no_arguments());
        drop(client);
        let events = recorder.events();
        let is_framed = style.transport == Style::FRAMED.transport;
        assert!(
            matches!(&events[0].kind, EventKind::Opened { protocol: Protocol::Thrift { is_framed: found }, upstream, .. }
            if *found == is_framed && *upstream == server.thrift_address().to_string())
        );
        assert!(matches!(events.last().unwrap().kind, EventKind::Closed { .. }));
        let calls = calls_of(&events);
        let sent = style.message("set_keyspace", &keyspace, MessageKind::Call, 1);
        let frame = if is_framed { 4 } else { 0 };
        assert_eq!(calls[0].0[..calls[0].0.len()], sent[frame..][..calls[0].0.len()]);
        let replies: Vec<_> = calls.iter().map(|(_, reply)| reply.clone().expect("a reply").into()).collect();
        assert_eq!(replies.len(), 3);
        let (name, _, reply) = Reply::read(&replies[1]).unwrap();
        assert_eq!((&name[..], reply.value()), ("describe_version", &version));
        assert_eq!(Reply::read(&replies[2]).unwrap().2, unknown);
    }
}

#[test]
fn pipelined_calls_and_large_messages_are_paired() {
    let server = server();
    let mut recorder = Recorder::start(server.thrift_address(), &[]);
    let mut client = Client::connect(recorder.address, Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text("k"))])).void();
    let large = vec![b'v'; 3 << 20];
    for size in [1, large.len(), 70_000] {
        let column = fields([(1, text("c")), (2, text(&large[..size])), (3, Value::I64(1))]);
        let insert =
            fields([(1, text("row")), (2, parent("Standard1", None)), (3, column), (4, Value::I32(ONE))]);
        client.begin("insert", &insert).unwrap();
    }
    for _ in 0..3 {
        client.reply().2.void();
    }
    drop(client);
    let calls = calls_of(&recorder.events());
    assert_eq!(calls.len(), 4);
    assert!(calls[2].0.len() > large.len() && calls.iter().all(|(_, reply)| reply.is_some()));
}

/// Returns the texts of QUERY and PREPARE in native frames.
fn has_text(frame: &[u8], wanted: &str) -> bool {
    frame.windows(wanted.len()).any(|window| window == wanted.as_bytes())
}

#[test]
fn native_frames_of_every_version_are_recorded_decompressed() {
    let server = server();
    for version in VERSIONS {
        for packing in [Packing::None, Packing::Lz4, Packing::Snappy] {
            if version == 5 && packing.name() == "snappy" {
                continue;
            }
            let mut recorder = Recorder::start(server.native_address(), &[]);
            let mut client = NativeClient::packed(recorder.address, version, packing);
            let statement = format!("SELECT * FROM system.local WHERE key = '{}'", "local ".repeat(40));
            client.query(&statement).rows();
            let prepared = client.prepare("SELECT * FROM k.\"Standard1\" WHERE key = 0x00");
            client.execute(&prepared, &Asked::values([])).rows();
            client.register(&["SCHEMA_CHANGE"]);
            server.cql(&format!("CREATE TABLE k.t{version}{} (k int PRIMARY KEY)", packing.name())).unwrap();
            assert_eq!(client.receive().opcode, EVENT);
            drop(client);
            let events = recorder.events();
            let calls = calls_of(&events);
            assert!(calls.len() >= 5, "version {version}: {}", calls.len());
            for (request, reply) in &calls {
                let reply = reply.as_ref().expect("a reply");
                assert_eq!((request[0], reply[0]), (version, 0x80 | version));
                assert_eq!((request[1] & 1, reply[1] & 1), (0, 0), "the flag of compression");
                for frame in [request, reply] {
                    let header = if version < 3 { 8 } else { 9 };
                    let length = u32::from_be_bytes(frame[header - 4..header].try_into().unwrap());
                    assert_eq!(frame.len(), header + length as usize);
                }
            }
            assert!(calls.iter().any(|(request, _)| has_text(request, &statement)), "version {version}");
            assert!(
                events.iter().any(|event| matches!(event.kind, EventKind::Pushed { .. })),
                "version {version}"
            );
        }
    }
}

/// Returns all bytes of a recording's messages.
fn all_bytes(recorder: &mut Recorder) -> Vec<u8> {
    let outcome = recorder.stop();
    let mut all = Vec::new();
    for event in events_of(&recorder.file) {
        match event.kind {
            EventKind::Request { message, .. } | EventKind::Reply { message, .. } => {
                all.extend_from_slice(&message)
            }
            _ => {}
        }
    }
    assert!(outcome.is_success);
    all.extend_from_slice(outcome.output.as_bytes());
    all.extend_from_slice(outcome.errors.as_bytes());
    all.extend(fs::read(&recorder.file).unwrap());
    all
}

#[test]
fn passwords_are_not_recorded() {
    const SECRET: &str = "xyzzy-secret";
    let server = server();
    let mut recorder = Recorder::start(server.thrift_address(), &[]);
    let mut client = Client::connect(recorder.address, Style::FRAMED);
    let pairs = [("username", "bob"), ("password", SECRET)];
    let credentials = map(TType::String, pairs.map(|(name, value)| (name, text(value))).to_vec());
    let request = fields([(1, credentials)]);
    let _ = client.try_call("login", &fields([(1, request)]));
    let statement = format!("CREATE USER bob WITH PASSWORD '{SECRET}'");
    let query = fields([(1, text(&statement)), (2, Value::I32(2)), (3, Value::I32(ONE))]);
    let _ = client.try_call("execute_cql3_query", &query);
    let wrong =
        fields([(1, text(format!("{statement} nonsense"))), (2, Value::I32(2)), (3, Value::I32(ONE))]);
    let _ = client.try_call("execute_cql3_query", &wrong);
    drop(client);
    let recorded = all_bytes(&mut recorder);
    assert!(has_text(&recorded, "CREATE USER bob WITH PASSWORD '************'"));
    assert!(has_text(&recorded, "username") && !has_text(&recorded, SECRET));

    let mut recorder = Recorder::start(server.native_address(), &[]);
    let mut client = NativeClient::ready(recorder.address, 4);
    let _ = client.query(&statement);
    client.call(AUTH_RESPONSE, Body::new().bytes(format!("\0bob\0{SECRET}").as_bytes()));
    drop(client);
    let mut old = NativeClient::ready(recorder.address, 1);
    let credentials = Body::new().u16(2).string("username").string("bob").string("password").string(SECRET);
    old.call(CREDENTIALS, credentials);
    drop(old);
    let recorded = all_bytes(&mut recorder);
    assert!(has_text(&recorded, "CREATE USER bob WITH PASSWORD '************'"));
    assert!(has_text(&recorded, "\0bob\0************") && has_text(&recorded, "password"));
    assert!(!has_text(&recorded, SECRET));
}

fn describe(address: SocketAddr) {
    let mut client = Client::connect(address, Style::FRAMED);
    client.call("describe_version", &no_arguments()).value();
}

#[test]
fn a_killed_recorder_leaves_a_readable_file() {
    let server = server();
    let mut recorder = Recorder::start(server.thrift_address(), &[]);
    let start = Instant::now();
    let count = || {
        let mut reader = RecordingReader::open(&recorder.file).unwrap();
        let calls =
            reader.by_ref().filter(|event| matches!(event.as_ref().unwrap().kind, EventKind::Request { .. }));
        let calls = calls.count();
        assert!(matches!(reader.ending(), Some(Ending::Open { .. })));
        calls
    };
    let mut sent = 0;
    while count() < 10 {
        describe(recorder.address);
        sent += 1;
        assert!(start.elapsed() < PATIENCE, "nothing is written");
    }
    let before = count();
    recorder.kill();
    let mut reader = PartReader::open(&recorder.file).unwrap();
    let calls =
        reader.by_ref().filter(|event| matches!(event.as_ref().unwrap().kind, EventKind::Request { .. }));
    let calls = calls.count();
    assert!((before..=sent).contains(&calls), "{calls} calls of {sent}");
}

#[test]
fn a_recording_is_divided_by_size() {
    let server = server();
    let mut recorder = Recorder::start(server.thrift_address(), &["--rotate-mb", "1"]);
    let mut client = Client::connect(recorder.address, Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text("k"))])).void();
    // Bytes that cannot be compressed.
    let mut chance = support::Chance::new(7);
    for _ in 0..30 {
        let value: Vec<u8> = (0..100_000).map(|_| chance.next() as u8).collect();
        let column = fields([(1, text("c")), (2, text(&value)), (3, Value::I64(1))]);
        let insert =
            fields([(1, text("row")), (2, parent("Standard1", None)), (3, column), (4, Value::I32(ONE))]);
        client.call("insert", &insert).void();
    }
    drop(client);
    let events = recorder.events();
    assert_eq!(calls_of(&events).len(), 31);
    assert!(part_path(&recorder.file, 3).exists());
    let opened = events.iter().filter(|event| matches!(event.kind, EventKind::Opened { .. })).count();
    assert_eq!(opened, 1, "later parts repeat it");
}

#[test]
fn both_sides_can_use_tls() {
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    authority.sign().write(directory.path());
    fs::write(path("ca.pem"), authority.pem()).unwrap();
    let mut upstream = support::server::Server::start(
        directory.path(),
        &support::server::storage_conf(""),
        &["--ephemeral", "--tls-certificate", "server.pem", "--tls-key", "server.key"],
    );
    let native = upstream.native_address();
    for (address, trusted) in [(upstream.address, "ca.pem"), (native, "server.pem")] {
        let (certificate, key, trusted) = (path("server.pem"), path("server.key"), path(trusted));
        let more = ["--tls-certificate", &certificate, "--tls-key", &key, "--upstream-tls-ca", &trusted];
        let mut recorder = Recorder::start(address, &more);
        let stream = authority.connect(recorder.address, &TLS13, None);
        if address == upstream.address {
            let mut client = Client::over(stream, Style::FRAMED);
            client.call("describe_version", &no_arguments()).value();
        } else {
            use std::io::{Read, Write};
            let mut stream = stream;
            stream.write_all(b"\x04\0\0\x01\x05\0\0\0\0").unwrap();
            let mut head = [0; 9];
            stream.read_exact(&mut head).unwrap();
            assert_eq!(head[4], SUPPORTED);
        }
        assert_eq!(calls_of(&recorder.events()).len(), 1);
    }
    // A server that is not trusted: the client's connection ends, and the recorder goes on.
    let other = Authority::new();
    fs::write(path("other.pem"), other.pem()).unwrap();
    let mut recorder = Recorder::start(upstream.address, &["--upstream-tls-ca", &path("other.pem")]);
    let mut client = Client::connect(recorder.address, Style::FRAMED);
    assert!(client.try_call("describe_version", &no_arguments()).is_err());
    let outcome = recorder.stop();
    assert!(
        outcome.is_success && outcome.errors.contains("cannot connect to 127.0.0.1:"),
        "{}",
        outcome.errors
    );
}

#[test]
fn wrong_options_are_explained() {
    let run = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        let output = command.arg("record").args(more).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.rec");
    let file = file.to_str().unwrap();
    let pair = ["--listen", "127.0.0.1:0", "--upstream", "old:9160", "--to", file];
    assert!(run(&[&pair[..], &["--upstream", "b:1"]].concat()).contains("one --upstream for each --listen"));
    assert!(run(&["--listen", "127.0.0.1:0", "--upstream", "old", "--to", file]).contains("not HOST:PORT"));
    fs::write(file, "x").unwrap();
    assert!(run(&pair).contains("exists already"));
}
