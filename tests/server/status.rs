//! The status port: what it returns, and when the server is reported as unhealthy.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support;
use base::marshal::Types;
use base::util::Clock;
use console::StatusPage;
use db::{Database, DatabaseParts};
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode};
use net::{Admission, Listener, Shutdown};
use store::{Store, StoreStatus};
use support::client::PATIENCE;
use support::server::{Server, storage_conf};
use web::HostNames;

/// Sends a request and reads until the server closes the connection.
fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn get(address: SocketAddr, path: &str) -> String {
    exchange(address, format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())
}

#[test]
fn the_status_page_describes_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path(), &storage_conf(""), &["--status", "127.0.0.1:0"]);
    let address = server.status_address();
    let page = get(address, "/");
    let (head, text) = page.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", text.len())), "{head}");
    let value = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default()
    };
    assert_eq!(value("health"), "ok");
    assert_eq!(value("version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(value("data"), format!("in {}", directory.path().join("data").display()));
    assert!(value("schema").parse::<uuid::Uuid>().is_ok(), "{text}");
    assert!(value("bytes on the disk").parse::<u64>().unwrap() > 0, "{text}");
    assert!(value("seconds up").parse::<u64>().is_ok(), "{text}");
    assert!(!text.contains("node"), "there is no cluster: {text}");
    assert!(get(address, "/health").ends_with("\r\n\r\nok\n"));
    server.stop();
}

#[test]
fn requests_that_are_not_supported_get_an_http_error() {
    let directory = tempfile::tempdir().unwrap();
    let more = ["--ephemeral", "--status", "127.0.0.1:0"];
    let mut server = Server::start(directory.path(), &storage_conf(""), &more);
    let address = server.status_address();
    let long = [b"GET / HTTP/1.0\r\n".as_slice(), &vec![b'a'; 8 * 1024]].concat();
    for (request, expected) in [
        (b"GET /nothing HTTP/1.0\r\n\r\n".as_slice(), "HTTP/1.0 404 "),
        (b"POST / HTTP/1.0\r\n\r\n", "HTTP/1.0 405 "),
        (b"hello\n\n", "HTTP/1.1 400 "),
        (b"\x80\x01\x00\x01\x00\x00\x00\x03get\r\n\r\n", "HTTP/1.1 400 "),
        (b"GET /health HTTP/1.0\n\n", "HTTP/1.0 200 "),
    ] {
        let answer = exchange(address, request);
        assert!(answer.starts_with(expected), "{answer}");
    }
    let head = exchange(address, b"HEAD /health HTTP/1.0\r\n\r\n");
    assert!(head.starts_with("HTTP/1.0 200 ") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(exchange(address, &long[..8 * 1024]).starts_with("HTTP/1.1 431 "), "headers have a size limit");
    let mut half_closed = TcpStream::connect(address).unwrap();
    half_closed.write_all(b"GET /health HTTP/1.0\r\n\r\n").unwrap();
    half_closed.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    half_closed.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 200 "), "{answer}");
    // More silent clients than allowed connections: the oldest is closed for the next client.
    let silent: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(address).unwrap()).collect();
    assert!(get(address, "/health").starts_with("HTTP/1.1 200 "));
    drop(silent);
    server.stop();
}

#[test]
fn a_store_that_refuses_writes_is_unhealthy() {
    let directory = tempfile::tempdir().unwrap();
    let config = config::parse(config::DEFAULT, "a.xml", &Types::builtin()).unwrap();
    let options = EmbeddedOptions {
        directory: directory.path().to_owned(),
        sync: SyncMode::Periodic(PATIENCE),
        cache_bytes: 1024 * 1024,
    };
    let clock = Arc::new(Clock::system());
    let opened =
        EmbeddedStore::open(options, config.partitioner.clone(), &config.catalog, clock.clone()).unwrap();
    let is_full = Arc::new(AtomicBool::new(false));
    let store: Arc<dyn Store> = Arc::new(MayBeFull { inner: opened, is_full: is_full.clone() });
    let parts = DatabaseParts::new(Arc::new(config.catalog), store.clone(), config.partitioner, clock);
    let database = Arc::new(Database::new(parts));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let shutdown = Shutdown::new();
    let admission = Admission::for_status(shutdown.signal().unwrap());
    let address = runtime.block_on(async {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address;
        listener.start(
            StatusPage::new(database, "here").port(None, HostNames::new("--status-host", None)),
            admission,
        );
        address
    });
    assert!(get(address, "/health").starts_with("HTTP/1.1 200 OK\r\n"));
    is_full.store(true, Ordering::Relaxed);
    let health = get(address, "/health");
    assert!(health.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{health}");
    assert!(health.contains("\r\n\r\nwrites are refused: the disk is full\n"), "{health}");
    let page = get(address, "/");
    assert!(page.starts_with("HTTP/1.1 200 ") && page.contains("health: writes are refused"), "{page}");
    is_full.store(false, Ordering::Relaxed);
    assert!(get(address, "/health").starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(runtime.block_on(shutdown.end(PATIENCE)), "the port did not close");
    runtime.block_on(store.close()).unwrap();
}

/// The embedded store, which reports a full disk while the test sets a flag.
struct MayBeFull {
    inner: EmbeddedStore,
    is_full: Arc<AtomicBool>,
}

impl Store for MayBeFull {
    support::forward::forward_to!(inner);

    fn status(&self) -> StoreStatus {
        let full = self.is_full.load(Ordering::Relaxed).then(|| "the disk is full".to_owned());
        StoreStatus { read_only: full, ..self.inner.status() }
    }
}
