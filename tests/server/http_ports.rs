//! The rules of all ports that speak HTTP: the names under which they are reached, and clients whose requests do not
//! arrive.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::support;
use support::client::PATIENCE;
use support::server::Server;

/// A server with one port that speaks HTTP.
struct Port {
    server: Server,
    address: SocketAddr,
    /// A path that every client may read.
    path: &'static str,
    /// The option with a name of the port.
    host_option: String,
    _directory: TempDir,
}

/// Starts a server for each port, which is also reached as store.example.
fn ports() -> Vec<Port> {
    let port = |option: &'static str, path: &'static str, address: fn(&mut Server) -> SocketAddr| {
        let host_option = format!("{option}-host");
        let (mut server, _directory) =
            Server::ephemeral(&[option, "127.0.0.1:0", &host_option, "Store.example"]);
        let address = address(&mut server);
        Port { server, address, path, host_option, _directory }
    };
    vec![
        port("--admin", "/health", Server::admin_address),
        port("--status", "/health", Server::status_address),
        port("--control", "/clock", |server| server.native_and_control_address().1),
    ]
}

impl Port {
    fn send(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    }

    /// Returns the reply to a client that reaches the port under this name.
    fn get(&self, host: &str) -> String {
        let request = format!("GET {} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", self.path);
        let mut reply = String::new();
        self.send(request.as_bytes()).read_to_string(&mut reply).unwrap();
        reply
    }
}

#[test]
fn a_request_must_name_this_server() {
    for port in ports() {
        for own in ["127.0.0.1:1", "localhost", "[::1]:9170", "10.0.0.1", "store.example:80"] {
            assert!(port.get(own).starts_with("HTTP/1.1 200 "), "{} {own}", port.path);
        }
        for foreign in
            ["evil.example", "localhost.evil.example:9170", "127.0.0.1.evil.example", "x.store.example"]
        {
            let reply = port.get(foreign);
            assert!(reply.starts_with("HTTP/1.1 421 "), "{} {foreign}: {reply}", port.path);
            assert!(reply.contains(&format!("{} NAME", port.host_option)), "{reply}");
        }
        port.server.stop();
    }
}

#[test]
fn requests_that_do_not_arrive_take_no_places_from_others() {
    for port in ports() {
        let no_head = "GET / HTTP/1.1\r\nHost: localhost\r\n".to_owned();
        let second = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n{no_head}", port.path);
        let no_body = "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\ncsrf".to_owned();
        for half in [no_head, second, no_body] {
            let half_open: Vec<TcpStream> = (0..400).map(|_| port.send(half.as_bytes())).collect();
            let begin = Instant::now();
            assert!(port.get("localhost").starts_with("HTTP/1.1 200 "), "{}", port.path);
            // It took 18 s on the admin port, and 50 s on the status port.
            assert!(
                begin.elapsed() < Duration::from_secs(5),
                "{} {half:?}: {:?}",
                port.path,
                begin.elapsed()
            );
            drop(half_open);
        }
        port.server.stop();
    }
}
