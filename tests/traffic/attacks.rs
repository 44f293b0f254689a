//! The recorder under attack: traffic goes on whatever clients, servers and the disk do, and losses are counted.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::recorder::{Recorder, calls_of, events_of};
use crate::support;
use double::testing::Server;
use support::Chance;
use support::client::{Client, PATIENCE, Style, raw};
use support::value::{Value, fields, text};
use traffic::{EventKind, LossReason};
use wire::thrift::MessageKind;

fn no_arguments() -> Value {
    fields([])
}

fn describe(address: SocketAddr) {
    Client::connect(address, Style::FRAMED).call("describe_version", &no_arguments()).value();
}

#[test]
fn half_messages_and_clients_that_vanish_harm_nobody() {
    let server = Server::start().unwrap();
    let mut recorder = Recorder::start(server.thrift_address(), &[]);
    let whole = Style::FRAMED.message("describe_version", &no_arguments(), MessageKind::Call, 7);
    for end in 0..whole.len() {
        let mut stream = raw(recorder.address);
        stream.write_all(&whole[..end]).unwrap();
        if end % 2 == 0 {
            // Closing with unread bytes resets the connection.
            let _ = stream.write_all(&whole);
            socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
        }
    }
    let mut chance = Chance::new(11);
    for _ in 0..50 {
        let noise: Vec<u8> = (0..chance.below(300)).map(|_| chance.next() as u8).collect();
        let _ = raw(recorder.address).write_all(&noise);
    }
    describe(recorder.address);
    let outcome = recorder.stop();
    assert!(outcome.is_success && outcome.output.contains("not recorded: "), "{}", outcome.output);
    let calls = calls_of(&events_of(&recorder.file));
    assert!(calls.iter().any(|(_, reply)| reply.is_some()));
}

#[test]
fn bytes_of_unknown_protocols_pass_unchanged() {
    let echo = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = echo.local_addr().unwrap();
    thread::spawn(move || {
        for stream in echo.incoming().map_while(Result::ok) {
            thread::spawn(move || std::io::copy(&mut &stream, &mut &stream));
        }
    });
    let mut recorder = Recorder::start(upstream, &[]);
    let mut chance = Chance::new(3);
    // Text that begins like HTTP, noise, and a Thrift message that the server does not answer as one.
    for start in [&b"GET / HTTP/1.1\r\n"[..], b"\x16\x03\x01", b"\x82", b"\0\0\0\x20\x80\x01\0\x01", b""] {
        let mut sent = start.to_vec();
        sent.extend((0..500_000).map(|_| chance.next() as u8));
        let stream = raw(recorder.address);
        let writer = stream.try_clone().unwrap();
        let copy = sent.clone();
        let writing = thread::spawn(move || {
            (&writer).write_all(&copy).unwrap();
            writer.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let mut received = Vec::new();
        (&stream).read_to_end(&mut received).unwrap();
        writing.join().unwrap();
        assert!(received == sent, "{} bytes of {}", received.len(), sent.len());
    }
    let outcome = recorder.stop();
    assert!(outcome.is_success && outcome.output.contains("unreadable: "), "{}", outcome.output);
}

#[test]
fn a_server_that_returns_is_used_again() {
    let server = Server::start().unwrap();
    let address = server.thrift_address();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = proxy.local_addr().unwrap();
    let mut recorder = Recorder::start(upstream, &[]);
    // The upstream answers one connection, dies with another open, and returns.
    let relay = move |listener: &TcpListener| {
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(address).unwrap();
        let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut from, &mut to));
        let mut back = server.try_clone().unwrap();
        let mut out = client.try_clone().unwrap();
        thread::spawn(move || std::io::copy(&mut back, &mut out));
        (client, server)
    };
    let first = thread::spawn(move || {
        let open = relay(&proxy);
        (proxy, open)
    });
    let mut client = Client::connect(recorder.address, Style::FRAMED);
    client.call("describe_version", &no_arguments()).value();
    let (proxy, (at_client, at_server)) = first.join().unwrap();
    for stream in [&at_client, &at_server] {
        stream.shutdown(std::net::Shutdown::Both).unwrap();
    }
    drop(proxy);
    assert!(client.try_call("describe_version", &no_arguments()).is_err());
    let mut refused = Client::connect(recorder.address, Style::FRAMED);
    assert!(refused.try_call("describe_version", &no_arguments()).is_err());
    let proxy = TcpListener::bind(upstream).unwrap();
    let again = thread::spawn(move || relay(&proxy));
    describe(recorder.address);
    again.join().unwrap();
    let outcome = recorder.stop();
    assert!(outcome.errors.contains("cannot connect to 127.0.0.1:"), "{}", outcome.errors);
    let calls = calls_of(&events_of(&recorder.file));
    assert_eq!(calls.iter().filter(|(_, reply)| reply.is_some()).count(), 2);
}

#[test]
fn on_a_full_disk_traffic_goes_on_and_recording_says_that_it_stopped() {
    let server = Server::start().unwrap();
    server
        .cql("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
        .unwrap();
    // 100 KiB.
    let mut recorder = Recorder::start_on_small_disk(server.thrift_address(), 200);
    let mut client = Client::connect(recorder.address, Style::FRAMED);
    let mut chance = Chance::new(5);
    for _ in 0..60 {
        let noise: Vec<u8> = (0..10_000).map(|_| chance.next() as u8).collect();
        // The server refuses the call, which is an answer.
        client.call("set_keyspace", &fields([(1, text(&noise))]));
    }
    let start = Instant::now();
    while std::fs::metadata(&recorder.file).unwrap().len() == 0 {
        assert!(start.elapsed() < PATIENCE);
    }
    drop(client);
    describe(recorder.address);
    let outcome = recorder.stop();
    assert!(!outcome.is_success, "{}", outcome.output);
    let said = outcome.errors.matches("recording has stopped, and traffic goes on").count();
    assert_eq!(said, 1, "{}", outcome.errors);
    assert!(outcome.errors.contains("recording stopped before the end"), "{}", outcome.errors);
    // What was written before is whole.
    let read: Result<Vec<_>, _> = traffic::file::RecordingReader::open(&recorder.file).unwrap().collect();
    assert!(read.is_ok());
}

/// How many connections are opened and closed. The issue is memory that connections leave behind.
fn connections() -> usize {
    std::env::var("RECORD_CONNECTIONS").map_or(3_000, |text| text.parse().expect("RECORD_CONNECTIONS"))
}

#[test]
fn connections_that_end_leave_no_memory_behind() {
    let server = Server::start().unwrap();
    let mut recorder = Recorder::start(server.thrift_address(), &[]);
    let open = |count: usize| {
        for number in 0..count {
            match number % 3 {
                0 => drop(raw(recorder.address)),
                1 => describe(recorder.address),
                _ => raw(recorder.address).write_all(b"\0\0\0\x20\x80\x01").unwrap(),
            }
        }
    };
    open(connections() / 2);
    let before = recorder.peak_bytes();
    open(connections() / 2);
    let after = recorder.peak_bytes();
    assert!(after < before + 16 * 1024 * 1024, "{before} bytes, then {after}");
    let outcome = recorder.stop();
    assert!(outcome.is_success, "{}", outcome.errors);
    let events = events_of(&recorder.file);
    let count = |is: fn(&EventKind) -> bool| events.iter().filter(|event| is(&event.kind)).count();
    let opened = count(|kind| matches!(kind, EventKind::Opened { .. }));
    assert_eq!(opened, count(|kind| matches!(kind, EventKind::Closed { .. })));
    let lost = count(|kind| matches!(kind, EventKind::Lost(loss) if loss.why == LossReason::Unreadable));
    assert!(opened >= connections() / 3 && lost >= connections() / 4, "{opened} opened, {lost} lost");
}
