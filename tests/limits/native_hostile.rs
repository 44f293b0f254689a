//! Invalid input over the native protocol, as from port scanners, broken clients and bad networks. After each input the
//! server still answers, and its memory is small.

use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::time::Duration;

use crate::skip::skip;
use crate::support;
use support::Chance;
use support::native::opcode::*;
use support::native::{Answer, NativeClient, Packing, VERSIONS, segment};
use support::native_body::{Asked, Body, Bound, int, text};
use support::server::{Server, storage_conf};
use tempfile::TempDir;

const PROTOCOL: i32 = 0x0a;
const INVALID: i32 = 0x2200;
const MIB: usize = 1024 * 1024;
const KEYSPACE: &str =
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";
/// The length of the longest allowed body of a frame.
const FRAME_MAX: usize = 256 * MIB;
/// The most physical memory that the server may use without a large request in progress, in bytes.
const RESIDENT_MAX: u64 = 600 * MIB as u64;

/// Starts a server with the table `ks.t`, and returns a connection of version 4.
fn start() -> (Server, SocketAddr, NativeClient, TempDir) {
    let (mut server, directory) = Server::ephemeral(&[]);
    let address = server.native_address();
    let mut client = NativeClient::ready(address, 4);
    client.run(KEYSPACE);
    client.run("CREATE TABLE ks.t (k int PRIMARY KEY, v blob, l list<int>)");
    (server, address, client, directory)
}

fn check(client: &mut NativeClient) {
    assert_eq!(client.rows("SELECT key FROM system.local").rows.len(), 1);
}

fn end(server: Server, address: SocketAddr) {
    for version in VERSIONS {
        check(&mut NativeClient::ready(address, version));
    }
    check_memory(&server);
    server.stop();
}

fn check_memory(server: &Server) {
    let Some(bytes) = server.resident_bytes() else {
        skip!("there is no /proc to read the memory from");
    };
    assert!(bytes < RESIDENT_MAX, "{} MiB", bytes / MIB as u64);
}

/// Returns a body of each kind of message, of which no byte may be missing.
fn bodies(client: &mut NativeClient) -> Vec<(u8, Vec<u8>)> {
    let version = client.version;
    let insert = client.prepare("INSERT INTO ks.t (k, v) VALUES (?, ?)");
    let asked = Asked::values([int(1), text("value")]);
    let mut more = asked.clone();
    if version >= 2 {
        more.page_size = Some(10);
        more.serial = Some(8);
    }
    if version >= 3 {
        more.timestamp = Some(1);
    }
    if version >= 5 {
        more.keyspace = Some("ks");
        more.now = Some(1);
    }
    let prepare = Body::new().long_string("SELECT * FROM ks.t");
    let statement = match version {
        1 => "INSERT INTO ks.t (k) VALUES (1)",
        _ => "INSERT INTO ks.t (k, v) VALUES (?, ?)",
    };
    let mut bodies = vec![
        (QUERY, client.query_body(statement, &more).0),
        (EXECUTE, client.execute_body(&insert, &more).0),
        (PREPARE, if version < 5 { prepare.0 } else { prepare.i32(1).string("ks").0 }),
        (REGISTER, Body::new().strings(&["SCHEMA_CHANGE", "STATUS_CHANGE"]).0),
    ];
    if version >= 2 {
        let batch = Body::new().u8(0).u16(2).u8(0).long_string("INSERT INTO ks.t (k) VALUES (1)").u16(0);
        let batch = batch.u8(1).short_bytes(&insert.id).values(&asked.values).u16(1);
        let flags = if version < 5 { 0x30 } else { 0x1b0 };
        bodies.push((BATCH, if version == 2 { batch.0 } else { batch.flags(version, flags).rest(&more).0 }));
    }
    if version >= 3 {
        let named = Asked { names: vec!["k", "v"], ..more };
        bodies.push((QUERY, client.query_body("INSERT INTO ks.t (k, v) VALUES (?, ?)", &named).0));
    }
    bodies
}

#[test]
fn a_body_that_ends_too_early_is_refused() {
    let (server, address, _first, _directory) = start();
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        for (code, body) in bodies(&mut client) {
            for length in 0..body.len() {
                client.send(3, code, &body[..length]);
                let answer = client.receive();
                let why =
                    format!("version {version}, opcode {code}, {length} of {}: {}", body.len(), answer.why());
                assert_eq!((answer.stream, answer.opcode), (3, ERROR), "{why}");
                assert_eq!(answer.error().0, PROTOCOL, "{why}");
            }
            client.send(3, code, &body);
            let answer = client.receive();
            assert_ne!(answer.opcode, ERROR, "version {version}, opcode {code}: {}", answer.why());
            // Additional bytes are ignored.
            client.send(3, code, &[&body[..], &[0; 9]].concat());
            assert_ne!(client.receive().opcode, ERROR);
        }
    }
    for (version, startup) in
        VERSIONS.map(|version| (version, Body::new().string_map(&[("CQL_VERSION", "3.0.0")]).0))
    {
        let mut client = NativeClient::connect(address, version);
        for length in 0..startup.len() {
            client.call(STARTUP, Body(startup[..length].to_vec())).refused(PROTOCOL);
        }
        assert_eq!(client.start(Packing::None).opcode, READY);
    }
    end(server, address);
}

#[test]
fn unknown_opcodes_are_refused() {
    let (server, address, _first, _directory) = start();
    let known = [STARTUP, CREDENTIALS, OPTIONS, QUERY, PREPARE, EXECUTE, REGISTER, BATCH, AUTH_RESPONSE];
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        for code in (0..=255).filter(|code| !known.contains(code)) {
            assert_eq!(client.call(code, Body::new()).refused(PROTOCOL), format!("Unknown opcode {code}"));
        }
        check(&mut client);
    }
    end(server, address);
}

#[test]
fn frames_of_servers_and_of_other_versions_end_the_connection() {
    let (server, address, _first, _directory) = start();
    for version in VERSIONS {
        let query = |client: &NativeClient, version: u8, stream: i16| {
            let body = client.query_body("SELECT key FROM system.local", &Asked::values([])).0;
            NativeClient::frame(version, 0, stream, QUERY, &body)
        };
        let other = if version == 4 { 3 } else { 4 };
        for (bad, expected) in [
            (
                version | 0x80,
                "the client sent a frame of a server: the highest bit of the version is set".to_owned(),
            ),
            (
                other,
                format!(
                    "Invalid message version. Got {other}/v{other} but previous messages on this connection had version {version}/v{version}"
                ),
            ),
            (9, "Invalid or unsupported protocol version (9); highest supported is 5 ".to_owned()),
        ] {
            let mut client = NativeClient::ready(address, version);
            // The request before it is answered.
            let mut second = query(&client, if bad & 0x7f > 5 { 3 } else { bad & 0x7f }, 6);
            second[0] = bad;
            let frames = [query(&client, version, 5), second].concat();
            client.send_frames(&frames);
            let answers: Vec<Answer> = std::iter::from_fn(|| client.next()).collect();
            assert_eq!(answers.len(), 2);
            assert_eq!((answers[0].stream, answers[0].opcode), (5, RESULT));
            assert_eq!(answers[1].refused(PROTOCOL), expected);
        }
    }
    end(server, address);
}

#[test]
fn text_that_is_not_utf_8_is_refused() {
    let (server, address, _first, _directory) = start();
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        let long = Body::new().bytes(b"SELECT '\xff'").u16(1).raw(&[0; 4]);
        client.call(QUERY, long.clone()).refused(PROTOCOL);
        client.call(PREPARE, long).refused(PROTOCOL);
        client.call(REGISTER, Body::new().u16(1).short_bytes(b"\xc3")).refused(PROTOCOL);
        if version >= 3 {
            let body = Body::new().long_string("SELECT * FROM ks.t WHERE k = :a").u16(1).flags(version, 0x41);
            client.call(QUERY, body.u16(1).short_bytes(b"\xff").bytes(&[0; 4])).refused(PROTOCOL);
        }
        check(&mut client);
        let mut fresh = NativeClient::connect(address, version);
        fresh.call(STARTUP, Body::new().u16(1).short_bytes(b"\xff").string("x")).refused(PROTOCOL);
        assert_eq!(fresh.start(Packing::None).opcode, READY);
    }
    end(server, address);
}

#[test]
fn wrong_lengths_and_counts_are_refused() {
    let (server, address, _first, _directory) = start();
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        for length in [-1, -2, i32::MIN, i32::MAX] {
            client.call(QUERY, Body::new().i32(length).raw(b"SELECT")).refused(PROTOCOL);
            client.call(PREPARE, Body::new().i32(length)).refused(PROTOCOL);
        }
        let insert = client.prepare("INSERT INTO ks.t (k, v) VALUES (?, ?)");
        let select = "SELECT * FROM ks.t WHERE k = ?";
        let values = |client: &NativeClient, values: Body| match client.version {
            1 => None,
            version => Some(Body::new().long_string(select).u16(1).flags(version, 1).raw(&values.0)),
        };
        for wrong in [
            Body::new().u16(65_535),
            Body::new().u16(1).i32(i32::MAX),
            Body::new().u16(1).i32(100).raw(&[0; 99]),
            Body::new().u16(2).bytes(&[0; 4]),
        ] {
            if let Some(body) = values(&client, wrong) {
                client.call(QUERY, body).refused(PROTOCOL);
            }
        }
        // Before version 4, which introduced unset values, every negative length means null.
        let body = Body::new().short_bytes(&insert.id);
        let two = |body: Body| body.u16(2).bytes(&[0; 4]).i32(-3);
        let answer = match version {
            1 => client.call(EXECUTE, two(body).u16(1)),
            2..=4 => client.call(EXECUTE, two(body.u16(1).u8(1))),
            _ => client.call(EXECUTE, two(body.short_bytes(b"").u16(1).i32(1))),
        };
        if version < 4 {
            answer.void();
        } else {
            assert_eq!(answer.refused(PROTOCOL), "Invalid ByteBuf length -3");
        }
        if version > 1 {
            client.call(BATCH, Body::new().u8(0).u16(65_535)).refused(PROTOCOL);
            let nested = Body::new().u8(0).u16(65_535).u8(1).short_bytes(&insert.id).u16(65_535);
            client.call(BATCH, nested).refused(PROTOCOL);
        }
        // A collection inside a value.
        let lists = client.prepare("INSERT INTO ks.t (k, l) VALUES (?, ?)");
        for list in [
            &[0x7f, 0xff, 0xff, 0xff][..],
            &[0xff; 4],
            &[0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff],
            &[0xff, 0xff],
            &[0],
        ] {
            let asked = Asked::values([int(1), Bound::Value(list.to_vec())]);
            client.execute(&lists, &asked).refused(INVALID);
        }
        let payload = Body::new().u16(65_535).string("a").i32(i32::MAX);
        client.send_flagged(4, 1, QUERY, &payload.0);
        client.receive().refused(PROTOCOL);
        check(&mut client);
    }
    end(server, address);
}

#[test]
fn a_frame_that_is_too_long_is_refused_and_the_connection_goes_on() {
    let (server, address, _first, _directory) = start();
    let mut client = NativeClient::ready(address, 4);
    let mut frame = NativeClient::frame(4, 0, 9, QUERY, &[]);
    frame[5..].copy_from_slice(&u32::try_from(FRAME_MAX + 1).unwrap().to_be_bytes());
    client.stream.write_all(&frame).unwrap();
    let answer = client.receive();
    let length = FRAME_MAX + 1;
    let expected = format!("Request is too big: length {length} exceeds maximum allowed length {FRAME_MAX}.");
    assert_eq!((answer.stream, answer.refused(INVALID)), (9, expected));
    let mebibyte = vec![0x04; MIB];
    for _ in 0..256 {
        client.stream.write_all(&mebibyte).unwrap();
    }
    client.stream.write_all(&[4]).unwrap();
    check(&mut client);
    // Headers with the length of long bodies, which are not sent.
    frame[5..].copy_from_slice(&u32::try_from(FRAME_MAX).unwrap().to_be_bytes());
    frame.extend_from_slice(&[0; 100]);
    let waiting: Vec<NativeClient> = VERSIONS[2..4]
        .iter()
        .cycle()
        .take(200)
        .map(|version| {
            let mut client = NativeClient::connect(address, *version);
            frame[0] = *version;
            client.stream.write_all(&frame).unwrap();
            client
        })
        .collect();
    check(&mut client);
    check_memory(&server);
    drop(waiting);
    end(server, address);
}

#[test]
fn an_invalid_compressed_body_is_refused() {
    let (server, address, _first, _directory) = start();
    for (version, packing) in
        [(1, Packing::Lz4), (2, Packing::Snappy), (3, Packing::Lz4), (4, Packing::Snappy), (4, Packing::Lz4)]
    {
        let mut client = NativeClient::packed(address, version, packing);
        let too_long = match packing {
            Packing::Snappy => vec![0x81, 0x80, 0x80, 0x80, 0x01, 0],
            _ => vec![0x10, 0, 0, 1, 0],
        };
        let bomb = vec![0; 4 * MIB];
        for (body, code) in [
            (vec![], PROTOCOL),
            (vec![0xff; 3], PROTOCOL),
            (vec![0x0f, 0xff, 0xff, 0xff, 1, 2, 3], PROTOCOL),
            (vec![0, 0, 0, 9, 0x10, b'a'], PROTOCOL),
            (packing.pack(b"SELECT")[..5].to_vec(), PROTOCOL),
            (packing.pack(&bomb), PROTOCOL),
            (too_long, INVALID),
        ] {
            let frame = NativeClient::frame(version, 1, 5, QUERY, &body);
            client.stream.write_all(&frame).unwrap();
            let answer = client.receive();
            assert_eq!(answer.stream, 5);
            // The first four zeros are the length of an empty statement.
            let code = if body == packing.pack(&bomb) { 0x2000 } else { code };
            assert_eq!(answer.error().0, code, "{version} {packing:?} {}: {}", body.len(), answer.why());
        }
        check(&mut client);
    }
    // No compression was chosen in STARTUP.
    let mut client = NativeClient::ready(address, 4);
    let body = Packing::Lz4.pack(&client.query_body("SELECT key FROM system.local", &Asked::values([])).0);
    client.send_flagged(1, 2, QUERY, &body);
    client.receive().refused(PROTOCOL);
    check(&mut client);
    end(server, address);
}

#[test]
fn damaged_segments_end_the_connection() {
    let (server, address, _first, _directory) = start();
    for packing in [Packing::None, Packing::Lz4] {
        let is_lz4 = packing == Packing::Lz4;
        let options = NativeClient::frame(5, 0, 1, OPTIONS, &[]);
        let whole = segment(is_lz4, &options, true);
        for at in 0..whole.len() {
            let mut client = NativeClient::packed(address, 5, packing);
            client.stream.write_all(&whole).unwrap();
            assert_eq!(client.receive().opcode, SUPPORTED);
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            client.stream.write_all(&damaged).unwrap();
            let answer = client.receive();
            assert!(answer.refused(PROTOCOL).contains("checksum"), "{at}: {}", answer.why());
            client.ended();
        }
        // A frame without a segment.
        let mut client = NativeClient::packed(address, 5, packing);
        client.stream.write_all(&options).unwrap();
        client.receive().refused(PROTOCOL);
        client.ended();
        // Empty segments, and a frame in many segments.
        let mut client = NativeClient::packed(address, 5, packing);
        client.stream.write_all(&segment(is_lz4, b"", true)).unwrap();
        for byte in &options {
            client.stream.write_all(&segment(is_lz4, &[*byte], false)).unwrap();
        }
        assert_eq!(client.receive().opcode, SUPPORTED);
    }
    end(server, address);
}

#[test]
fn requests_of_a_client_that_does_not_read_wait_unread() {
    let (server, address, mut first, _directory) = start();
    let value = Bound::Value(vec![7; MIB]);
    first.query_with("INSERT INTO ks.t (k, v) VALUES (1, ?)", &Asked::values([value])).void();
    for version in [4, 5] {
        let mut client = NativeClient::ready(address, version);
        let body = client.query_body("SELECT v FROM ks.t WHERE k = 1", &Asked::values([])).0;
        client.stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
        let frame = NativeClient::frame(version, 0, 1, QUERY, &body);
        let frame = if version == 5 { segment(false, &frame, true) } else { frame };
        // Only whole frames, so that the answers can be read afterwards.
        let mut sent = 0;
        while sent < 3000 {
            match client.stream.write(&frame) {
                Ok(length) if length == frame.len() => sent += 1,
                Ok(_) => break,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
                Err(error) => panic!("{error}"),
            }
        }
        // Three thousand answers would take three gigabytes.
        check_memory(&server);
        check(&mut first);
        for _ in 0..sent.min(50) {
            assert_eq!(client.receive().rows().rows.len(), 1);
        }
        check_memory(&server);
    }
    end(server, address);
}

#[test]
fn a_client_that_does_not_read_does_not_stop_other_clients() {
    // With a commit log on disk, a write has to wait.
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path(), &storage_conf(""), &[]);
    let address = server.native_address();
    let mut client = NativeClient::ready(address, 4);
    client.run(KEYSPACE);
    client.run("CREATE TABLE ks.t (k int PRIMARY KEY, v blob, l list<int>)");
    let insert = client.prepare("INSERT INTO ks.t (k, v) VALUES (?, ?)");
    client.execute(&insert, &Asked::values([int(1), Bound::Value(vec![7; 8 * MIB])])).void();
    let mut deaf = NativeClient::ready(address, 4);
    let body = |client: &NativeClient, text: &str| client.query_body(text, &Asked::values([])).0;
    let (select, write) = (
        body(&deaf, "SELECT v FROM ks.t WHERE k = 1"),
        body(&deaf, "UPDATE ks.t SET l = [1] WHERE k = 1 IF EXISTS"),
    );
    for stream in 0..40 {
        deaf.send(stream, QUERY, if stream % 2 == 0 { &write } else { &select });
    }
    client.stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    for number in 0..20 {
        client.rows(&format!("UPDATE ks.t SET l = [{number}] WHERE k = 1 IF EXISTS"));
        client.run(&format!("CREATE TABLE ks.more{number} (k int PRIMARY KEY)"));
    }
    drop(deaf);
    end(server, address);
}

#[test]
fn a_long_request_before_the_login_is_refused() {
    let (server, address, ..) = start();
    for packing in [Packing::None, Packing::Lz4, Packing::Snappy] {
        let mut client = NativeClient::packed(address, 4, packing);
        let body = Body::new().strings(&["SCHEMA_CHANGE"; 6000]).0;
        client.send(1, REGISTER, &body);
        let why = client.receive().refused(INVALID);
        assert!(why.contains("exceeds maximum allowed length 65536"), "{why}");
        check(&mut client);
    }
    end(server, address);
}

#[test]
fn a_stored_value_does_not_hold_the_memory_of_its_frame() {
    const FRAMES: i32 = 300;
    for more in [&["--ephemeral"][..], &["--cache-mb", "16"]] {
        let directory = tempfile::tempdir().unwrap();
        let mut server = Server::start(directory.path(), &storage_conf(""), more);
        let address = server.native_address();
        let mut client = NativeClient::ready(address, 4);
        client.run(KEYSPACE);
        client.run("CREATE TABLE ks.t (k int PRIMARY KEY, v blob)");
        let insert = client.prepare("INSERT INTO ks.t (k, v) VALUES (?, ?)");
        let payload = Body::new().u16(1).string("large").bytes(&vec![1; MIB]);
        let before = server.resident_bytes();
        for number in 0..FRAMES {
            let body = client.execute_body(&insert, &Asked::values([int(number), text("small")]));
            client.send_flagged(4, 1, EXECUTE, &payload.clone().raw(&body.0).0);
            client.receive().void();
        }
        if let (Some(before), Some(after)) = (before, server.resident_bytes()) {
            let grown = after.saturating_sub(before) / MIB as u64;
            assert!(grown < FRAMES as u64 / 2, "{grown} MiB more, {more:?}");
        }
        end(server, address);
    }
}

#[test]
fn many_connections_are_served() {
    let (server, address, _first, _directory) = start();
    let mut clients: Vec<NativeClient> =
        VERSIONS.iter().cycle().take(500).map(|version| NativeClient::ready(address, *version)).collect();
    // Each client sends half a frame, then the other half.
    for client in &mut clients {
        let query = client.query_body("SELECT key FROM system.local", &Asked::values([])).0;
        let frame = NativeClient::frame(client.version, 0, 1, QUERY, &query);
        let bytes = if client.version == 5 { segment(false, &frame, true) } else { frame };
        let (half, rest) = bytes.split_at(bytes.len() / 2);
        client.stream.write_all(half).unwrap();
        client.packing = Packing::None;
        client.stream.set_nodelay(true).unwrap();
        client.stream.write_all(rest).unwrap();
    }
    for client in &mut clients {
        assert_eq!(client.receive().rows().rows.len(), 1);
    }
    for client in clients {
        assert_eq!(client.finish(), []);
    }
    end(server, address);
}

#[test]
fn random_bytes_are_answered_or_end_the_connection() {
    let (server, address, _first, _directory) = start();
    let seed = Chance::seed_from("HOSTILE_SEED");
    println!("HOSTILE_SEED={seed}");
    let mut chance = Chance::new(seed);
    for _ in 0..400 {
        let version = *chance.pick(&VERSIONS);
        let mut client = NativeClient::connect(address, version);
        let length = chance.below(200);
        let mut bytes = chance.bytes(length);
        if chance.below(2) == 0 {
            client.start(Packing::None);
            let body = std::mem::take(&mut bytes);
            let code =
                *chance.pick(&[QUERY, EXECUTE, PREPARE, BATCH, REGISTER, OPTIONS, STARTUP, AUTH_RESPONSE]);
            let flags = *chance.pick(&[0, 0, 0, 2, 4, 8, 0x10, 0xfe]);
            bytes = NativeClient::frame(version, flags, 1, code, &body);
            if version == 5 {
                bytes = segment(false, &bytes, true);
            }
        }
        // The server may have closed already.
        let _ = client.stream.write_all(&bytes);
        for answer in client.finish() {
            assert!(answer.opcode <= 0x10);
        }
    }
    end(server, address);
}
