//! The subcommand `thriftstore doctor`, on configurations, directories and running servers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::{fs, thread};

use crate::support;
use support::calls::check_alive;
use support::certificates::Authority;
use support::client::Style;
use support::server::{Server, storage_conf};

/// Runs the doctor. Returns whether it found no problem, and its report.
fn look(directory: &Path, words: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    let output = command.arg("doctor").args(words).current_dir(directory).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!text.contains('\u{1b}'), "colours are for terminals: {text}");
    (output.status.success(), text)
}

fn check(directory: &Path, words: &[&str], is_well: bool, expected: &[&str]) {
    let (succeeded, text) = look(directory, words);
    assert_eq!(succeeded, is_well, "{words:?}: {text}");
    for part in expected {
        assert!(text.contains(part), "{words:?}: {part:?} is missing in:\n{text}");
    }
}

#[test]
fn each_port_of_a_server_is_recognized() {
    let (mut server, directory) = Server::ephemeral(&["--cql", "127.0.0.1:0"]);
    let (thrift, native) = (server.address.to_string(), server.native_address().to_string());
    let keyspaces = "3 keyspaces: BloggyAppy, FiveTimes, Keyspace1";
    check(
        directory.path(),
        &[&thrift],
        true,
        &["speaks Thrift, framed", "the API has version", "Test Cluster", keyspaces],
    );
    check(directory.path(), &[&native], true, &["speaks the native protocol"]);
    check_alive(&mut server.client(Style::UNFRAMED));
    server.stop();
    check(
        directory.path(),
        &[&thrift],
        false,
        &["cannot connect to", "-> check that the server runs", "1 problem"],
    );
}

#[test]
fn the_status_port_is_recognized() {
    let (mut server, directory) = Server::ephemeral(&["--status", "127.0.0.1:0"]);
    let status = server.status_address().to_string();
    check(directory.path(), &[&status], true, &["speaks HTTP, and /health is well", "no problems"]);
    server.stop();
}

#[test]
fn a_server_with_tls_is_recognized() {
    let directory = tempfile::tempdir().unwrap();
    Authority::new().sign().write(directory.path());
    let options = ["--ephemeral", "--tls-certificate", "server.pem", "--tls-key", "server.key"];
    let server = Server::start(directory.path(), &storage_conf(""), &options);
    check(directory.path(), &[&server.address.to_string()], true, &["it requires TLS"]);
    server.kill();
}

#[test]
fn a_server_that_requires_a_login_is_recognized() {
    let directory = tempfile::tempdir().unwrap();
    let login = "<Authenticator>org.apache.cassandra.auth.PasswordAuthenticator</Authenticator>";
    let server = Server::start(directory.path(), &storage_conf(login), &["--ephemeral"]);
    let server = server.expecting("default password");
    check(
        directory.path(),
        &[&server.address.to_string()],
        true,
        &["it requires a login", "no problems found"],
    );
    server.stop();
}

#[test]
fn a_port_of_something_else_is_a_problem() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in other.incoming() {
            // The doctor may have gone already.
            let _ = stream.and_then(|mut stream| stream.write_all(b"220 mail.example.com ESMTP\r\n"));
        }
    });
    let directory = tempfile::tempdir().unwrap();
    check(
        directory.path(),
        &[&address],
        false,
        &["answers neither Thrift, nor the native protocol, nor HTTP"],
    );
}

#[test]
fn a_data_directory_is_examined_while_its_server_runs_and_afterwards() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let server = Server::start(directory, &storage_conf(""), &[]);
    check_alive(&mut server.client(Style::UNFRAMED));
    check(
        directory,
        &["data"],
        true,
        &["has format 4", "a server is using /", "/data, so its commit log was not read"],
    );
    let verified = "every byte was read: undamaged tables 0, 0.0 MB read, segments of the commit log 1";
    check(directory, &["data", "--verify"], true, &["a server is using /", verified]);
    server.stop();
    check(directory, &["data", "--verify"], true, &[verified, "no problems"]);
    let with_configuration = ["data", "--config", "storage-conf.xml"];
    check(
        directory,
        &with_configuration,
        true,
        &["has format 4", "storage-conf.xml: 3 keyspaces", "no problems"],
    );
    let changed = storage_conf("")
        .replace(r#""Standard2" CompareWith="UTF8Type""#, r#""Standard2" CompareWith="LongType""#);
    fs::write(directory.join("changed.xml"), &changed).unwrap();
    let with_changed = ["data", "--config", "changed.xml"];
    // Keyspace1.Standard2 has no entries.
    check(directory, &with_changed, true, &["no problems"]);
    let changed = changed.replace(
        r#"<ColumnFamily Name="Standard1" CompareWith="BytesType"/>"#,
        r#"<ColumnFamily Name="Standard1" CompareWith="LongType"/>"#,
    );
    fs::write(directory.join("changed.xml"), changed).unwrap();
    check(directory, &with_changed, false, &["Keyspace1.Standard1 holds data written with"]);
    let segment = fs::read_dir(directory.join("data/log")).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(segment).unwrap();
    check(directory, &["data"], false, &["problem  corrupt data", "-> put back a backup"]);
    fs::remove_file(directory.join("data/MANIFEST")).unwrap();
    let (_, text) = look(directory, &["data"]);
    let missing =
        format!("problem  corrupt data: {} is missing\n", directory.join("data/MANIFEST").display());
    assert!(text.contains(&missing), "{text}");
    assert!(!text.contains("new data directory"), "{text}");
}

#[test]
fn the_configuration_of_serve_is_examined_with_its_ports_and_directories() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let conf = storage_conf("").replace("<ThriftPort>9160", &format!("<ThriftPort>{port}"));
    fs::write(directory.join("storage-conf.xml"), &conf).unwrap();
    let in_use = format!("127.0.0.1:{port}, for Thrift clients, is in use");
    check(directory, &[], true, &[&in_use, "data does not exist; the first start creates it", "open files"]);
    assert!(!directory.join("data").exists(), "the doctor changes nothing");
    fs::write(directory.join("storage-conf.xml"), conf.replace("UTF8Type", "UTF8")).unwrap();
    check(directory, &["storage-conf.xml"], false, &["did you mean UTF8Type?", "1 problem"]);
    check(directory, &["nothing"], false, &["neither a file nor a directory that exists, nor an address"]);
}

#[test]
fn the_directory_of_a_dead_cluster_is_recognized() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("old/data/Keyspace1")).unwrap();
    fs::write(directory.path().join("old/data/Keyspace1/Standard1-1-Data.db"), "").unwrap();
    check(
        directory.path(),
        &["old"],
        true,
        &["advice", "files of a Cassandra", "thriftstore import --from /", "/old --dry-run"],
    );
}

/// Starts a port that answers each framed call of Thrift with bytes made of the call's name, and other messages not at all.
fn start_hostile(reply: fn(&[u8]) -> Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let Ok(mut stream) = stream else { return };
                let mut request = [0; 4096];
                while let Ok(length @ 12..) = stream.read(&mut request) {
                    // A frame's length, the version of the protocol, and the name with its length.
                    let name_length = usize::from(request[11]);
                    let Some(name) = request[..length].get(12..12 + name_length) else { return };
                    if request[4..6] != [0x80, 0x01] || stream.write_all(&reply(name)).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Returns the beginning of a reply, after the length of its frame: its head, and a field of type string.
fn head_of_text(name: &[u8]) -> Vec<u8> {
    [&[0x80, 0x01, 0, 2, 0, 0, 0, u8::try_from(name.len()).unwrap()], name, &[0, 0, 0, 1, 11, 0, 0]].concat()
}

fn text_for_terminals(name: &[u8]) -> Vec<u8> {
    let text = "\u{1b}[31m1.0\r\u{202e}\n".repeat(100);
    let length = u32::try_from(text.len()).unwrap().to_be_bytes();
    let reply = [&head_of_text(name)[..], &length, text.as_bytes(), &[0]].concat();
    [&u32::try_from(reply.len()).unwrap().to_be_bytes()[..], &reply].concat()
}

fn long_frame(name: &[u8]) -> Vec<u8> {
    [&i32::MAX.to_be_bytes()[..], &head_of_text(name)].concat()
}

fn long_text(name: &[u8]) -> Vec<u8> {
    let reply = [&head_of_text(name)[..], &i32::MAX.to_be_bytes(), b"1.0"].concat();
    [&u32::try_from(reply.len()).unwrap().to_be_bytes()[..], &reply].concat()
}

#[test]
fn a_hostile_server_neither_controls_the_terminal_nor_takes_memory() {
    let directory = tempfile::tempdir().unwrap();
    let (_, text) = look(directory.path(), &[&start_hostile(text_for_terminals)]);
    assert!(text.contains(r"the API has version \u{1b}[31m1.0\r\u{202e}\n"), "{text}");
    assert!(text.contains("bytes)") && text.len() < 5_000, "the text is not cut: {text}");
    let (_, text) = look(directory.path(), &[&start_hostile(long_frame)]);
    assert!(text.contains("advice   frame of 2147483647 bytes, the limit is "), "{text}");
    let (_, text) = look(directory.path(), &[&start_hostile(long_text)]);
    assert!(text.contains("advice   describe_version: "), "{text}");
}
