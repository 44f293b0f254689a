//! The export of spans: a collector of OpenTelemetry gets one for each request.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support;
use support::calls::{ONE, get_args, path};
use support::client::Style;
use support::server::{Server, storage_conf};

/// Receives requests until the server ends, and sends the body of each.
fn collect(stream: TcpStream, bodies: &mpsc::Sender<(String, Vec<u8>)>) -> Option<()> {
    let mut reader = std::io::BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            std::io::BufRead::read_line(&mut reader, &mut head).ok().filter(|read| *read > 0)?;
        }
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length?];
        reader.read_exact(&mut body).ok()?;
        reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()?;
        bodies.send((head, body)).ok()?;
    }
}

#[test]
fn a_collector_gets_a_span_for_each_request() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, bodies) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender = sender.clone();
            thread::spawn(move || collect(stream, &sender));
        }
    });
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path(), &storage_conf(""), &["--otlp", &url]);
    let mut client = server.client(Style::UNFRAMED);
    client.call("get", &get_args("Keyspace1", b"k", path("Standard1", None, Some(b"c")), ONE));
    drop(client);
    // The spans that wait are sent when the server ends.
    server.stop();
    let (head, body) = bodies.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(head.starts_with("POST /v1/traces "), "{head}");
    let text = String::from_utf8_lossy(&body);
    for part in ["thriftstore", "request", "get", "Keyspace1"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
