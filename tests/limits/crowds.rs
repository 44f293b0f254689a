//! Crowds of clients that exhaust what all connections share, against the program with its default limits and little
//! memory. A well-behaved client is served beside them, and the server's memory stays bounded. `scarcity.rs` does the
//! same with small limits. The size of the crowds comes from the environment:
//!
//! - `CROWD_DEAF=404`: clients that request replies of 100 KB to 10 MB and never read;
//! - `CROWD_FRAME_MB=250`: the length of the five frames that are sent to each port before a login, without their last
//!   byte;
//! - `CROWD_SILENT=10050`: half-open TLS handshakes on each port, and as many clients that send nothing to a port
//!   where TLS is optional;
//! - `CROWD_DRIPPING=5000`: connections that send one byte per second;
//! - `CROWD_IDLE=9900`: connections that have sent a request of 60 KB and are idle;
//! - `CROWD_SECONDS=75`: for how long the well-behaved client runs at least;
//! - `CROWD_MEMORY_MB=512`: how much the server may allocate. The default is 512, and 4096 for clients that do not
//!   read. With 512 the replies of 404 such clients wait for each other, and large messages of other clients are
//!   refused until these clients have gone.
//!
//! The process may need a higher limit of open files than usual (`ulimit -n 20000`). At most `OPEN_MAX` clients of a
//! crowd are open at the same time. The oldest ones are closed first; the server has already closed them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::skip::skip;
use crate::support;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::calls::*;
use support::certificates::Authority;
use support::client::{Client, PATIENCE, Style, raw};
use support::native::NativeClient;
use support::native::opcode::{OPTIONS, QUERY, SUPPORTED};
use support::native_body::{Asked, Bound};
use support::server::{MemoryLimit, Server, storage_conf};
use support::value::{Value, fields, map, text};
use tokio_rustls::rustls::version::TLS13;
use wire::thrift::{MessageKind, TType};

const KS: &str = "Keyspace1";
const MIB: u64 = 1024 * 1024;
/// Memory of the server: that of a small container, and for tests with large replies.
const LITTLE_MB: usize = 512;
const MORE_MB: usize = 4096;
const INVALID: i32 = 0x2200;
/// Length of the value in a large message.
const LARGE: usize = 10 * 1000 * 1000;
/// Lengths of the values that are requested and not read.
const UNREAD: [usize; 5] = [100_000, 300_000, 1_000_000, 3_000_000, LARGE];
/// The most connections of a crowd that are open at the same time.
const OPEN_MAX: usize = 14_000;
/// The most memory that ten thousand idle connections may take.
const IDLE_BYTES_MAX: u64 = 300 * MIB;
const INSERT: &str = "INSERT INTO \"Keyspace1\".\"Standard1\" (key, column1, value) VALUES (0x63, ?, ?)";
const SELECT: &str = "SELECT value FROM \"Keyspace1\".\"Standard1\" WHERE key = 0x63 AND column1 = ?";

/// Returns a number from the environment.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Starts a server with little memory, and raises this process's limit of open files.
fn start(directory: &Path, more: &[&str]) -> (Server, SocketAddr) {
    start_as(directory, (LITTLE_MB, &storage_conf("")), more)
}

/// Starts a server with a given memory and configuration.
fn start_as(directory: &Path, (memory_mb, config): (usize, &str), more: &[&str]) -> (Server, SocketAddr) {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    let memory = MemoryLimit::DataKib(setting("CROWD_MEMORY_MB", memory_mb) as u64 * 1024);
    let more = [&["--cql", "127.0.0.1:0"], more].concat();
    let mut server = Server::start_within(directory, memory, config, &more);
    let native = server.native_address();
    (server, native)
}

fn cell(name: &[u8]) -> Value {
    path("Standard1", None, Some(name))
}

fn insert(client: &mut Client<impl Read + Write>, name: &[u8], value: &[u8]) {
    client.call("insert", &insert_args(KS, b"c", cell(name), (value, 1), ONE)).void();
}

fn get_message(style: Style, name: &[u8]) -> Vec<u8> {
    style.message("get", &get_args(KS, b"c", cell(name), ONE), MessageKind::Call, 1).to_vec()
}

fn by_name(name: &[u8]) -> Asked {
    Asked::values([Bound::Value(name.to_vec())])
}

/// A well-behaved client, and how well it is served.
struct WellBehaved {
    begin: Instant,
    rounds: usize,
    /// The longest time of a call, and the call.
    slowest: (Duration, &'static str),
}

impl WellBehaved {
    fn new() -> WellBehaved {
        WellBehaved { begin: Instant::now(), rounds: 0, slowest: (Duration::ZERO, "") }
    }

    fn time<T>(&mut self, name: &'static str, call: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let value = call();
        self.slowest = self.slowest.max((begin.elapsed(), name));
        value
    }

    /// Counts a round. Returns whether the client has run for long enough.
    fn is_done(&mut self) -> bool {
        self.rounds += 1;
        self.rounds > 2 && self.begin.elapsed() >= Duration::from_secs(setting("CROWD_SECONDS", 1) as u64)
    }

    /// Sends small and large messages of both protocols over existing and new connections until the time is over.
    fn ask(&mut self, address: SocketAddr, native: SocketAddr) {
        let large = vec![b'x'; LARGE];
        let mut client = self.time("connect", || Client::connect(address, Style::FRAMED));
        let mut cql = self.time("connect, native", || NativeClient::ready(native, 4));
        while !self.is_done() {
            self.time("small", || check_alive(&mut client));
            self.time("insert", || insert(&mut client, b"large", &large));
            self.time("get", || assert!(value_in(&mut client, b"large") == large));
            self.time("connect", || check_alive(&mut Client::connect(address, Style::UNFRAMED)));
            self.time("small, native", || {
                assert_eq!(cql.rows("SELECT key FROM system.local").rows.len(), 1);
            });
            let values = || Asked::values([b"large".to_vec(), large.clone()].map(Bound::Value));
            self.time("insert, native", || cql.query_with(INSERT, &values()).void());
            let found = self.time("select, native", || cql.query_with(SELECT, &by_name(b"large")).rows());
            assert!(found.rows[0][0].as_deref() == Some(&large));
            cql = self.time("connect, native", || NativeClient::ready(native, 4));
        }
    }

    /// Prints the slowest call and the server's memory. Panics if the call took too long.
    fn report(&self, crowd: &str, server: &Server) {
        let ((slowest, name), peak) = (self.slowest, server.peak_bytes().unwrap_or_default() / MIB);
        println!("{crowd}: {} rounds, slowest {slowest:?} ({name}), peak {peak} MiB", self.rounds - 1);
        assert!(slowest < PATIENCE, "{name} took {slowest:?}");
    }
}

fn value_in(client: &mut Client<impl Read + Write>, name: &[u8]) -> Vec<u8> {
    let found = client.call("get", &get_args(KS, b"c", cell(name), ONE));
    found.value().field(1).field(2).bytes().to_vec()
}

#[test]
fn a_crowd_that_never_reads_does_not_stop_others() {
    let count = setting("CROWD_DEAF", 40);
    let directory = tempfile::tempdir().unwrap();
    let (server, native) = start_as(directory.path(), (MORE_MB, &storage_conf("")), &[]);
    let mut client = server.client(Style::FRAMED);
    for length in UNREAD {
        insert(&mut client, format!("unread{length}").as_bytes(), &vec![b'x'; length]);
    }
    let mut deaf = Vec::new();
    for number in 0..count {
        let name = format!("unread{}", UNREAD[number / 2 % UNREAD.len()]).into_bytes();
        if number % 2 == 0 {
            let mut stream = raw(server.address);
            let style = [Style::FRAMED, Style::UNFRAMED][number / 2 % 2];
            stream.write_all(&get_message(style, &name).repeat(3)).unwrap();
            deaf.push(stream);
        } else {
            let mut client = NativeClient::ready(native, [3, 4, 5][number / 2 % 3]);
            let body = client.query_body(SELECT, &by_name(&name)).0;
            (0..3).for_each(|stream| client.send(stream, QUERY, &body));
            deaf.push(client.stream);
        }
    }
    let mut served = WellBehaved::new();
    served.ask(server.address, native);
    served.report(&format!("{count} clients that never read"), &server);
    drop(deaf);
    server.stop();
}

#[test]
fn long_frames_before_a_login_take_no_memory() {
    let length = setting("CROWD_FRAME_MB", 20) * 1000 * 1000;
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("passwd"), "jonas=secret\n").unwrap();
    let logins = "<Authenticator>org.apache.cassandra.auth.SimpleAuthenticator</Authenticator>
        <Authority>org.apache.cassandra.auth.AllowAllAuthority</Authority>";
    let (server, native) =
        start_as(directory.path(), (LITTLE_MB, &storage_conf(logins)), &["--passwd", "passwd"]);
    let idle = server.peak_bytes();
    let begins = |number: usize| -> (SocketAddr, Vec<u8>) {
        let announced = u32::try_from(length).unwrap().to_be_bytes();
        if number.is_multiple_of(2) {
            let mut message = get_message(Style::FRAMED, b"c");
            message[..4].copy_from_slice(&announced);
            return (server.address, message);
        }
        let mut frame = NativeClient::frame(4, 0, 1, QUERY, b"");
        frame[5..9].copy_from_slice(&announced);
        (native, frame)
    };
    let is_over = AtomicBool::new(false);
    let mut served = WellBehaved::new();
    thread::scope(|scope| {
        for number in 0..10 {
            let ((address, begin), is_over) = (begins(number), &is_over);
            scope.spawn(move || {
                let mut stream = raw(address);
                stream.write_all(&begin).unwrap();
                let mut left = length - 1;
                let part = vec![b'x'; 1_000_000];
                while left > 0 {
                    stream.write_all(&part[..left.min(part.len())]).unwrap();
                    left -= left.min(part.len());
                }
                while !is_over.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(10));
                }
            });
        }
        let mut client = server.client(Style::FRAMED);
        let credentials = map(TType::String, vec![("username", text("jonas")), ("password", text("secret"))]);
        client.call("login", &fields([(1, text(KS)), (2, fields([(1, credentials)]))])).void();
        let large = vec![b'x'; LARGE];
        while !served.is_done() {
            served.time("small", || check_alive(&mut client));
            served.time("insert", || insert(&mut client, b"large", &large));
            served.time("get", || assert!(value_in(&mut client, b"large") == large));
            let mut cql = NativeClient::connect(native, 4);
            served.time("connect, native", || {
                assert_eq!(cql.call(OPTIONS, support::native_body::Body::new()).opcode, SUPPORTED)
            });
        }
        is_over.store(true, Ordering::Relaxed);
    });
    served.report(&format!("ten frames of {length} bytes before a login"), &server);
    let mut refused = NativeClient::connect(native, 4);
    refused.send(3, QUERY, &vec![0; 100_000]);
    assert!(refused.receive().refused(INVALID).contains("exceeds maximum allowed length 65536"));
    if let (Some(idle), Some(peak)) = (idle, server.peak_bytes()) {
        println!("{} MiB before, {} MiB at most", idle / MIB, peak / MIB);
    }
    server.stop();
}

/// The newest connections of a crowd, which are kept open.
struct Crowd {
    open: VecDeque<TcpStream>,
    open_max: usize,
    opened: usize,
}

impl Crowd {
    fn new() -> Crowd {
        // Some files are reserved for the well-behaved client.
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let open_max = usize::try_from(files).unwrap_or(usize::MAX).saturating_sub(500).min(OPEN_MAX);
        Crowd { open: VecDeque::new(), open_max, opened: 0 }
    }

    fn connect(&mut self, address: SocketAddr, first: &[u8]) {
        if self.open.len() >= self.open_max {
            self.open.pop_front();
        }
        let mut stream = raw(address);
        stream.write_all(first).unwrap();
        self.open.push_back(stream);
        self.opened += 1;
    }
}

/// Starts a server with TLS. Also returns the authority that clients trust.
fn encrypted(directory: &Path, mode: &str) -> (Server, SocketAddr, Authority) {
    let authority = Authority::new();
    authority.sign().write(directory);
    let more = ["--tls-certificate", "server.pem", "--tls-key", "server.key", "--tls", mode];
    let (server, native) = start(directory, &more);
    (server, native, authority)
}

/// Sends requests of both protocols over TLS.
fn ask_over_tls(served: &mut WellBehaved, authority: &Authority, address: SocketAddr, native: SocketAddr) {
    let large = vec![b'x'; LARGE];
    let mut first = Client::over(authority.connect(address, &TLS13, None), Style::FRAMED);
    while !served.is_done() {
        served.time("small", || check_alive(&mut first));
        served.time("insert", || insert(&mut first, b"large", &large));
        served.time("get", || assert!(value_in(&mut first, b"large") == large));
        served.time("handshake", || {
            check_alive(&mut Client::over(authority.connect(address, &TLS13, None), Style::FRAMED));
        });
        served.time("handshake, native", || {
            let mut stream = authority.connect(native, &TLS13, None);
            stream.write_all(&NativeClient::frame(4, 0, 1, OPTIONS, b"")).unwrap();
            let mut header = [0; 9];
            stream.read_exact(&mut header).unwrap();
            assert_eq!(header[4], SUPPORTED);
        });
    }
}

#[test]
fn a_crowd_of_half_open_handshakes_does_not_stop_others() {
    let count = setting("CROWD_SILENT", 200);
    let directory = tempfile::tempdir().unwrap();
    let (server, native, authority) = encrypted(directory.path(), "required");
    let (mut crowd, mut served) = (Crowd::new(), WellBehaved::new());
    for number in 0..2 * count {
        crowd.connect([server.address, native][number % 2], &b"\x16\x03\x01\x02\x00"[..number % 6]);
    }
    ask_over_tls(&mut served, &authority, server.address, native);
    served.report(&format!("{} half-open handshakes", crowd.opened), &server);
    drop(crowd);
    server.stop();
}

#[test]
fn a_crowd_of_silent_clients_of_an_optional_tls_port_does_not_stop_others() {
    let count = setting("CROWD_SILENT", 200);
    let directory = tempfile::tempdir().unwrap();
    let (server, native, authority) = encrypted(directory.path(), "optional");
    let (mut crowd, mut served) = (Crowd::new(), WellBehaved::new());
    for number in 0..2 * count {
        crowd.connect([server.address, native][number % 2], b"");
    }
    ask_over_tls(&mut served, &authority, server.address, native);
    (served.begin, served.rounds) = (Instant::now(), 0);
    served.ask(server.address, native);
    served.report(&format!("{} silent clients", crowd.opened), &server);
    drop(crowd);
    server.stop();
}

#[test]
fn a_crowd_that_sends_a_byte_a_second_does_not_stop_others() {
    let count = setting("CROWD_DRIPPING", 200);
    let directory = tempfile::tempdir().unwrap();
    let (server, native) = start(directory.path(), &[]);
    let (mut crowd, mut served) = (Crowd::new(), WellBehaved::new());
    (0..count).for_each(|number| crowd.connect([server.address, native][number % 2], b""));
    let messages = [get_message(Style::FRAMED, &[b'n'; 200]), NativeClient::frame(4, 0, 1, QUERY, &[0; 200])];
    let is_over = AtomicBool::new(false);
    let mut closed = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            for at in 0.. {
                let begin = Instant::now();
                closed = 0;
                for (number, stream) in crowd.open.iter_mut().enumerate() {
                    let message = &messages[number % 2];
                    let at = at % message.len();
                    // The server has closed some of them to free their places.
                    closed += usize::from(stream.write_all(&message[at..=at]).is_err());
                }
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                thread::sleep(Duration::from_secs(1).saturating_sub(begin.elapsed()));
            }
        });
        served.ask(server.address, native);
        is_over.store(true, Ordering::Relaxed);
    });
    println!("{closed} of {count} have been closed");
    served.report(&format!("{count} clients that send a byte a second"), &server);
    drop(crowd);
    server.stop();
}

#[test]
fn idle_connections_keep_little_memory() {
    let count = setting("CROWD_IDLE", 1000);
    let directory = tempfile::tempdir().unwrap();
    let (server, native) = start(directory.path(), &[]);
    // One request reads a missing row, the other an existing value, so that only the buffers of the connections hold
    // memory.
    let key = vec![b'k'; 60 * 1000];
    let asks_for_nothing = get_args(KS, &key, cell(b"none"), ONE);
    let mut client = server.client(Style::FRAMED);
    insert(&mut client, b"idle", &key);
    let of_key = Asked::values([Bound::Value(key.clone())]);
    let Some(before) = server.resident_bytes() else {
        skip!("there is no /proc to read the memory of the server from");
    };
    let (mut thrift, mut cql) = (Vec::new(), Vec::new());
    for number in 0..count {
        if number % 2 == 0 {
            let mut client = server.client([Style::FRAMED, Style::UNFRAMED][number / 2 % 2]);
            client.call("get", &asks_for_nothing).thrown(2);
            assert!(value_in(&mut client, b"idle") == key);
            thrift.push(client);
        } else {
            let mut client = NativeClient::ready(native, [3, 4, 5][number / 2 % 3]);
            let select = "SELECT value FROM \"Keyspace1\".\"Standard1\" WHERE key = ?";
            assert!(client.query_with(select, &of_key).rows().rows.is_empty());
            assert_eq!(client.query_with(SELECT, &by_name(b"idle")).rows().rows.len(), 1);
            cql.push(client);
        }
    }
    // The allocator returns freed memory to the system after a moment.
    thread::sleep(Duration::from_secs(1));
    let held = server.resident_bytes().unwrap().saturating_sub(before);
    println!("{count} idle connections: {} MiB, {} bytes each", held / MIB, held / count as u64);
    thrift.iter_mut().rev().take(3).for_each(check_alive);
    // The first few hundred connections may have larger buffers.
    assert!(held < IDLE_BYTES_MAX * count as u64 / 10_000 + 30 * MIB, "{held} bytes");
    let mut served = WellBehaved::new();
    served.ask(server.address, native);
    served.report(&format!("{count} idle connections"), &server);
    drop((thrift, cql));
    server.stop();
}
