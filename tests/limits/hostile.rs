//! Invalid input over Thrift, as from port scanners, broken clients and bad networks. After each input a normal call
//! still works, and at the end the server's memory is still small.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::skip::skip;
use crate::support;
use support::Chance;
use support::calls::*;
use support::client::{Client, PATIENCE, Style, raw};
use support::server::{Server, logged, storage_conf};
use support::value::{Value, fields, text};
use tempfile::TempDir;
use wire::thrift::MessageKind;

const KS: &str = "Keyspace1";
const MIB: u64 = 1024 * 1024;

/// The most physical memory that the server may use without a large request in progress, in bytes.
const RESIDENT_MAX: u64 = 600 * MIB;

fn start() -> (Server, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    (Server::start(directory.path(), &storage_conf(""), &["--cache-mb", "16"]), directory)
}

/// Sends bytes, shuts down the sending side, and waits until the server closes the connection. Returns the answer. The
/// server may close before it has read everything.
fn converse(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = raw(address);
    let mut answer = Vec::new();
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut answer);
    answer
}

fn check(server: &Server) {
    for style in [Style::UNFRAMED, Style::FRAMED] {
        check_alive(&mut server.client(style));
    }
}

fn check_memory(server: &Server, limit: u64) {
    let Some(bytes) = server.resident_bytes() else {
        skip!("there is no /proc to read the memory from");
    };
    assert!(bytes < limit, "the server uses {} MiB, the limit is {} MiB", bytes / MIB, limit / MIB);
}

/// A strict header for `get_slice`, without its arguments.
const HEADER: &[u8] = b"\x80\x01\0\x01\0\0\0\x09get_slice\0\0\0\x01";

fn framed(body: &[u8]) -> Vec<u8> {
    [&u32::try_from(body.len()).unwrap().to_be_bytes(), body].concat()
}

#[test]
fn hostile_sizes_are_refused() {
    let (server, _directory) = start();
    let hostile: [&[u8]; 12] = [
        // Strings, lists, sets and maps of 2^31-1 and of -1.
        b"\x0b\0\x01\x7f\xff\xff\xff",
        b"\x0b\0\x01\xff\xff\xff\xff",
        b"\x0f\0\x01\x0c\x7f\xff\xff\xff",
        b"\x0f\0\x01\x02\x7f\xff\xff\xff",
        b"\x0f\0\x01\x0c\xff\xff\xff\xff",
        b"\x0e\0\x01\x0b\x7f\xff\xff\xff",
        b"\x0d\0\x01\x0b\x0b\x7f\xff\xff\xff",
        b"\x0d\0\x01\x0c\x0c\xff\xff\xff\xff",
        // Elements and a field with an invalid type; nested lists with many elements.
        b"\x0f\0\x01\0\x7f\xff\xff\xff",
        b"\x0f\0\x01\x63\0\0\0\x05aaaaa",
        b"\x07\0\x01",
        b"\x0f\0\x01\x0f\x7f\xff\xff\xff\x02\x7f\xff\xff\xff",
    ];
    for args in hostile {
        let message = [HEADER, args, &[0; 64]].concat();
        converse(server.address, &message);
        // The frame's end is known, so the connection stays open.
        let mut client = server.client(Style::FRAMED);
        client.send(&framed(&message));
        let (name, _, reply) = client.reply();
        assert_eq!(name, "get_slice");
        reply.application(7);
        check_alive(&mut client);
    }
    for head in [&b"\x7f\xff\xff\xff\x80\x01"[..], b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x10\0\0\x01\x80\x01"]
    {
        assert_eq!(converse(server.address, &[head, &[0; 32]].concat()), b"", "{head:?} is answered");
    }
    check(&server);
    check_memory(&server, RESIDENT_MAX);
}

#[test]
fn deep_nesting_is_refused() {
    let (server, _directory) = start();
    for (open, close) in [(&b"\x0c\0\x01"[..], &b"\0"[..]), (b"\x0f\0\x01\x0f\0\0\0\x01", b"")] {
        let depth = 100_000;
        let message = [HEADER, &open.repeat(depth), &close.repeat(depth), b"\0"].concat();
        converse(server.address, &message);
        let mut client = server.client(Style::FRAMED);
        client.send(&framed(&message));
        client.reply().2.application(7);
        check_alive(&mut client);
    }
    // 100,000 nested lists, each with one element.
    let lists = [HEADER, b"\x0f\0\x01", &b"\x0f\0\0\0\x01".repeat(100_000), &[0; 16]].concat();
    converse(server.address, &lists);
    converse(server.address, &framed(&lists));
    check(&server);
}

#[test]
fn unfinished_messages_do_not_stop_other_clients() {
    let (server, _directory) = start();
    let column = path("Standard1", None, Some(b"half"));
    let args = insert_args(KS, b"half", column, (b"v", 1), ONE);
    let mut silent = Vec::new();
    for style in Style::ALL {
        let whole = style.message("insert", &args, MessageKind::Call, 1);
        for length in 0..whole.len() {
            assert_eq!(converse(server.address, &whole[..length]), b"", "half a call is not answered");
            if length % 8 == 0 {
                let mut stream = raw(server.address);
                stream.write_all(&whole[..length]).unwrap();
                silent.push((stream, whole[length..].to_vec()));
            }
        }
    }
    let mut client = server.client(Style::UNFRAMED);
    assert_eq!(value_of(&mut client, b"half", b"half"), None, "half a call does nothing");
    check(&server);
    // The clients with unfinished messages can continue them.
    for (mut stream, rest) in silent {
        stream.write_all(&rest).unwrap();
        let mut reply = [0; 1];
        stream.read_exact(&mut reply).unwrap();
    }
    assert_eq!(value_of(&mut client, b"half", b"half"), Some(b"v".to_vec()));
}

#[test]
fn a_connection_with_another_protocol_is_closed() {
    let (server, _directory) = start();
    let foreign: [&[u8]; 8] = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /thrift HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
        b"\x82\x21\x01\x03get\0",
        b"\0\0\0\x09\x82\x21\x01\x03get\0\0",
        b"\x04\0\0\0\x05\0\0\0\0",
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ];
    for bytes in foreign {
        let mut stream = raw(server.address);
        stream.write_all(bytes).unwrap();
        // The server does not wait for the client to close.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert_eq!(answer, b"", "{bytes:?} is answered");
    }
    check(&server);
}

/// Connections are opened and closed in waves. The server serves beside the last ones, which stay open.
#[test]
fn ten_thousand_connections_do_not_stop_the_server() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const CONNECTIONS: usize = 10_000;
    const WAVE: usize = 2_000;
    let limit = getrlimit(Resource::Nofile);
    let wanted = u64::try_from(WAVE + 500).unwrap();
    if limit.current.is_some_and(|current| current < wanted) {
        let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            skip!("{WAVE} files cannot be open at one time: {error}");
        }
    }
    let (server, _directory) = start();
    for _ in 0..CONNECTIONS / WAVE {
        let mut open: Vec<TcpStream> = (0..WAVE).map(|_| raw(server.address)).collect();
        for (number, stream) in open.iter_mut().enumerate() {
            // Some connections send nothing, some a part of a message, some a whole one.
            let _ = match number % 4 {
                0 => Ok(()),
                1 => stream.write_all(b"\x80"),
                2 => stream.write_all(&HEADER[..20]),
                _ => stream.write_all(&framed(&[HEADER, b"\0"].concat())),
            };
        }
        check(&server);
        drop(open);
        check_memory(&server, RESIDENT_MAX);
    }
    check(&server);
}

#[test]
fn clients_that_never_read_hold_little_memory() {
    let (server, _directory) = start();
    let column = || path("Standard1", None, Some(b"large"));
    let value = vec![b'x'; 1024 * 1024];
    let mut client = server.client(Style::FRAMED);
    client.call("insert", &insert_args(KS, b"large", column(), (&value, 1), ONE)).void();
    let get = get_args(KS, b"large", column(), ONE);
    let call = Style::FRAMED.message("get", &get, MessageKind::Call, 1);
    let deaf: Vec<TcpStream> = (0..30)
        .map(|_| {
            let mut stream = raw(server.address);
            stream.set_nonblocking(true).unwrap();
            // Each client requests a hundred replies of 1 MiB.
            let _ = stream.write(&call.repeat(100));
            stream
        })
        .collect();
    for _ in 0..20 {
        check(&server);
    }
    check_memory(&server, RESIDENT_MAX);
    drop(deaf);
    check(&server);
}

/// Many large replies at the same time: the server closes the connections of those that exceed its memory.
#[test]
fn large_unread_replies_take_bounded_memory() {
    let (server, _directory) = start();
    let column = || path("Standard1", None, Some(b"c"));
    let value = vec![b'x'; 32 * 1024 * 1024];
    let mut client = server.client(Style::FRAMED);
    client.call("insert", &insert_args(KS, b"large", column(), (&value, 1), ONE)).void();
    let call = Style::FRAMED.message("get", &get_args(KS, b"large", column(), ONE), MessageKind::Call, 1);
    let deaf: Vec<TcpStream> = (0..80)
        .map(|_| {
            let mut stream = raw(server.address);
            stream.write_all(&call).unwrap();
            stream
        })
        .collect();
    for _ in 0..100 {
        check(&server);
        check_memory(&server, 1500 * MIB);
    }
    drop(deaf);
    // The server detects one by one that the clients have gone.
    let start = Instant::now();
    while server.resident_bytes().is_some_and(|bytes| bytes >= RESIDENT_MAX) && start.elapsed() < PATIENCE {
        check(&server);
    }
    check_memory(&server, RESIDENT_MAX);
    assert!(value_of(&mut client, b"large", b"c") == Some(value), "the value has changed");
}

#[test]
fn a_client_may_write_byte_by_byte() {
    let (server, _directory) = start();
    for style in Style::ALL {
        let mut client = server.client(style);
        let args = insert_args(KS, b"slow", path("Standard1", None, Some(b"c")), (b"v", 1), ONE);
        for byte in style.message("insert", &args, MessageKind::Call, 9) {
            client.send(&[byte]);
        }
        let (_, seqid, reply) = client.reply();
        reply.void();
        assert_eq!(seqid, 9);
    }
}

#[test]
fn long_names_and_keys_are_refused_and_the_connection_goes_on() {
    let (server, _directory) = start();
    let long = vec![b'n'; 70_000];
    for style in Style::ALL {
        let mut client = server.client(style);
        let mut why = |method: &str, args: Value| client.call(method, &args).why().to_owned();
        let column = |name| path("Standard1", None, Some(name));
        assert_eq!(
            why("insert", insert_args(KS, b"k", column(&long), (b"v", 1), ONE)),
            "column name length must not be greater than 65535"
        );
        assert_eq!(
            why("insert", insert_args(KS, &long, column(b"c"), (b"v", 1), ONE)),
            "Encoded key length of 70000 is longer than maximum of 65535"
        );
        let in_super = path("Super1", Some(&long), Some(b"c"));
        assert_eq!(
            why("insert", insert_args(KS, b"k", in_super, (b"v", 1), ONE)),
            "supercolumn name length must not be greater than 65535"
        );
        let slice = slice(&long, b"", false, 10);
        why("get_slice", get_slice_args(KS, b"k", parent("Standard1", None), slice, ONE));
        let name = String::from_utf8(long.clone()).unwrap();
        assert!(why("get", get_args(&name, b"k", column(b"c"), ONE)).ends_with("in this schema."));
        check_alive(&mut client);
        let longest = &long[..65_535];
        let args = insert_args(KS, longest, column(longest), (b"v", 1), ONE);
        client.call("insert", &args).void();
        assert_eq!(value_of(&mut client, longest, longest), Some(b"v".to_vec()));
    }
    // The longest allowed name of a method, and one that is longer by a letter.
    let method = "m".repeat(256);
    let mut client = server.client(Style::UNFRAMED);
    client.call(&method, &fields([])).application(1);
    let mut client = server.client(Style::UNFRAMED);
    assert!(client.try_call(&format!("{method}m"), &fields([])).is_err());
    check(&server);
}

/// The longest TTL is 20 years; in 2.1 the column must expire by 2038.
#[test]
fn a_ttl_of_more_than_20_years_is_refused() {
    let longest = 20 * 365 * 24 * 60 * 60;
    for (compat, passes) in [("1.0", longest), ("2.1", 24 * 60 * 60)] {
        let (server, _directory) = Server::ephemeral(&["--compat", compat]);
        let mut client = server.client(Style::FRAMED);
        client.call("set_keyspace", &fields([(1, text(KS))])).void();
        let mut insert = |ttl_s: i32| {
            let mut column = column(b"c", b"v", 1);
            if let Value::Struct(fields) = &mut column {
                fields.insert(4, Value::I32(ttl_s));
            }
            let args =
                fields([(1, text("k")), (2, parent("Standard1", None)), (3, column), (4, Value::I32(ONE))]);
            client.call("insert", &args)
        };
        insert(passes).void();
        let refused = insert(longest + 1);
        assert_eq!(refused.why(), "ttl is too large. requested (630720001) maximum (630720000)");
        if compat == "2.1" {
            assert!(insert(longest).why().contains("exceeds maximum supported expiration date"));
        }
        check_alive(&mut server.client(Style::FRAMED));
    }
}

#[test]
fn a_value_of_100_mib_is_stored_and_one_over_the_limit_is_refused() {
    let (server, _directory) = start();
    let value = vec![b'v'; 100 * 1024 * 1024];
    let mut client = server.client(Style::FRAMED);
    let column = path("Standard1", None, Some(b"huge"));
    client.call("insert", &insert_args(KS, b"huge", column, (&value, 1), ONE)).void();
    assert!(value_of(&mut client, b"huge", b"huge") == Some(value), "the value has changed");
    drop(client);
    let before = server.resident_bytes();
    // A frame and a string that exceed the limit are refused as soon as their length is known.
    let too_much = 256 * 1024 * 1024 + 1u32;
    let mut frame = raw(server.address);
    frame.write_all(&[&too_much.to_be_bytes()[..], HEADER].concat()).unwrap();
    let mut string = raw(server.address);
    string.write_all(&[HEADER, b"\x0b\0\x01", &too_much.to_be_bytes(), b"x"].concat()).unwrap();
    for mut refused in [frame, string] {
        let mut answer = Vec::new();
        let _ = refused.read_to_end(&mut answer);
        assert_eq!(answer, b"");
    }
    if let (Some(before), Some(after)) = (before, server.resident_bytes()) {
        assert!(after < before + 64 * MIB, "{} MiB more than before", (after - before) / MIB);
    }
    check(&server);
}

#[test]
fn a_large_length_alone_takes_no_memory() {
    let (server, _directory) = start();
    let announced = 200 * 1024 * 1024u32;
    let promises: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = raw(server.address);
            stream.write_all(&[&announced.to_be_bytes()[..], HEADER, &[0; 1000]].concat()).unwrap();
            stream
        })
        .collect();
    check(&server);
    check_memory(&server, RESIDENT_MAX);
    drop(promises);
}

#[test]
fn random_bytes_do_not_stop_other_clients() {
    let seed = Chance::seed_from("HOSTILE_SEED");
    println!("HOSTILE_SEED={seed}");
    let mut chance = Chance::new(seed);
    let (server, _directory) = start();
    for number in 0..200 {
        let length = chance.below(4000);
        let noise = chance.bytes(length);
        let bytes = match number % 4 {
            0 => noise,
            1 => [HEADER, &noise].concat(),
            2 => framed(&[HEADER, &noise].concat()),
            _ => [&b"\0\0\0\x03get\x01\0\0\0\x01"[..], &noise].concat(),
        };
        converse(server.address, &bytes);
    }
    check(&server);
    check_memory(&server, RESIDENT_MAX);
}

/// Clients that only send must not keep the server from stopping, neither those that read no reply nor those that wait
/// for the memory of the others.
#[test]
fn the_server_stops_although_clients_never_read() {
    let (server, directory) = start();
    let column = || path("Standard1", None, Some(b"c"));
    let mut client: Client = server.client(Style::FRAMED);
    let value = vec![b'x'; 8 * 1024 * 1024];
    client.call("insert", &insert_args(KS, b"deaf", column(), (&value, 1), ONE)).void();
    let call = Style::FRAMED.message("get", &get_args(KS, b"deaf", column(), ONE), MessageKind::Call, 1);
    let deaf: Vec<_> = (0..40)
        .map(|_| {
            let mut deaf = raw(server.address);
            deaf.write_all(&call.repeat(10)).unwrap();
            deaf
        })
        .collect();
    // The server has begun a reply, which does not fit into the buffers of the connection.
    assert_eq!(deaf[0].peek(&mut [0]).unwrap(), 1);
    let start = Instant::now();
    server.stop();
    let took = start.elapsed();
    let log = logged(directory.path());
    assert!(log.contains(" connections to finish their requests"), "{log}");
    // Without the warning that some connections did not finish in time: the test would have to expect it.
    assert!(took < Duration::from_secs(20), "{took:?}");
    drop(deaf);
}
