//! The server from start to end: logins, what survives a restart, and what prevents a start.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::Path;
use std::{fs, thread};

use crate::support;
use md5::{Digest, Md5};
use support::calls::*;
use support::client::{Client, Reply, Style};
use support::server::{Server, storage_conf};
use support::value::{Value, fields, map, text};
use wire::thrift::TType;

const KS: &str = "Keyspace1";

fn login_args(keyspace: &str, credentials: &[(&str, &str)]) -> Value {
    let credentials = credentials.iter().map(|(name, value)| (*name, text(value))).collect();
    fields([(1, text(keyspace)), (2, fields([(1, map(TType::String, credentials))]))])
}

fn login(client: &mut Client, keyspace: &str, user: &str, password: &str) -> Reply {
    client.call("login", &login_args(keyspace, &[("username", user), ("password", password)]))
}

/// Starts a server with users and with rights to Keyspace1 and BloggyAppy.
fn guarded(directory: &Path, passwords: &str, mode: &str) -> Server {
    fs::write(directory.join("passwd"), passwords).unwrap();
    fs::write(directory.join("access"), "Keyspace1=anna,bert\nBloggyAppy=bert\n").unwrap();
    let config = storage_conf("<Authenticator>org.apache.cassandra.auth.SimpleAuthenticator</Authenticator>");
    let more = ["--ephemeral", "--passwd", "passwd", "--access", "access", "--passwd-mode", mode];
    Server::start(directory, &config, &more)
}

#[test]
fn calls_before_the_login_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), "anna=secret\nbert=other\n", "PLAIN");
    let mut client = server.client(Style::UNFRAMED);
    let column = || path("Standard1", None, Some(b"c"));
    let insert = insert_args(KS, b"k", column(), (b"v", 1), ONE);
    let refusal = "Login is required before any other API calls";
    assert_eq!(client.call("insert", &insert).why(), refusal);
    assert_eq!(client.call("get", &get_args(KS, b"k", column(), ONE)).why(), refusal);
    assert_eq!(client.call("describe_version", &fields([])).value().str(), "2.2.0");
    client.call("get_string_property", &fields([(1, text("cluster name"))])).value();

    let wrong = login(&mut client, KS, "anna", "guess");
    assert_eq!(wrong.thrown(1), "Given password in password mode PLAIN could not be validated for user anna");
    let unknown = login(&mut client, KS, "carl", "secret");
    assert_eq!(
        unknown.thrown(1),
        "Given password in password mode PLAIN could not be validated for user carl"
    );
    let missing = "Authentication request was missing the required key";
    let nameless = client.call("login", &login_args(KS, &[("password", "secret")]));
    assert_eq!(nameless.thrown(1), format!("{missing} 'username'"));
    let silent = client.call("login", &login_args(KS, &[("username", "anna")]));
    assert_eq!(silent.thrown(1), format!("{missing} 'password'"));
    for keyspace in ["BloggyAppy", "FiveTimes"] {
        let elsewhere = login(&mut client, keyspace, "anna", "secret");
        let expected = format!("User anna could not be authorized to use keyspace {keyspace}");
        assert_eq!(elsewhere.thrown(2), expected);
    }
    assert_eq!(client.call("insert", &insert).why(), refusal, "no failed login opens anything");

    login(&mut client, KS, "anna", "secret").void();
    client.call("insert", &insert).void();
    login(&mut client, KS, "anna", "guess").thrown(1);
    client.call("insert", &insert).void();
    let mut other = server.client(Style::FRAMED);
    assert_eq!(other.call("insert", &insert).why(), refusal, "a login belongs to its connection");
}

#[test]
fn passwords_may_be_stored_as_md5() {
    let directory = tempfile::tempdir().unwrap();
    let hash: String = Md5::digest(b"secret").iter().map(|byte| format!("{byte:02X}")).collect();
    let server = guarded(directory.path(), &format!("anna={hash}\n"), "MD5");
    let mut client = server.client(Style::UNFRAMED);
    login(&mut client, KS, "anna", "secret").void();
    let wrong = login(&mut client, KS, "anna", &hash);
    assert!(wrong.thrown(1).contains("password mode MD5"));
    // As in the old servers, the file is read at each login.
    fs::write(directory.path().join("passwd"), "anna=nonsense\n").unwrap();
    login(&mut client, KS, "anna", "secret").thrown(1);
}

#[test]
fn without_an_authenticator_every_login_succeeds() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path(), &storage_conf(""), &["--ephemeral"]);
    let mut client = server.client(Style::UNFRAMED);
    check_alive(&mut client);
    login(&mut client, KS, "anybody", "anything").void();
    check_alive(&mut client);
}

/// Inserts numbered columns until the connection ends. Returns how many were acknowledged.
fn insert_until_the_end(mut client: Client, key: String) -> usize {
    for number in 0.. {
        let name = number.to_string();
        let path = path("Standard1", None, Some(name.as_bytes()));
        let args = insert_args(KS, key.as_bytes(), path, (name.as_bytes(), 1), ONE);
        match client.try_call("insert", &args) {
            Ok(reply) => reply.void(),
            Err(_) => return number,
        }
    }
    0
}

#[test]
fn writes_acknowledged_before_sigterm_survive_it() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path(), &storage_conf(""), &[]);
    let idle = server.client(Style::UNFRAMED);
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let client = server.client(if writer % 2 == 0 { Style::FRAMED } else { Style::UNFRAMED });
            thread::spawn(move || insert_until_the_end(client, format!("row{writer}")))
        })
        .collect();
    // When this connection has made its calls, the others have begun theirs.
    let mut client = server.client(Style::UNFRAMED);
    for _ in 0..50 {
        check_alive(&mut client);
    }
    server.stop();
    drop(idle);
    let counts: Vec<usize> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
    assert!(counts.iter().sum::<usize>() > 0, "nothing was written");

    let server = Server::start_again(directory.path(), &[]);
    let mut client = server.client(Style::UNFRAMED);
    for (writer, acknowledged) in counts.into_iter().enumerate() {
        let args = get_args(KS, format!("row{writer}").as_bytes(), parent("Standard1", None), ONE);
        let found = client.call("get_count", &args).value().int();
        let acknowledged = i64::try_from(acknowledged).unwrap();
        // The server may have executed the last call of a connection without answering it.
        assert!((acknowledged..=acknowledged + 1).contains(&found), "{found} of {acknowledged}");
    }
    server.stop();
}

#[test]
fn a_restart_does_not_change_the_token() {
    let directory = tempfile::tempdir().unwrap();
    let token_of = |server: &Server| {
        let mut client = server.client(Style::UNFRAMED);
        let ring = client.call("describe_ring", &fields([(1, text(KS))]));
        ring.value().items()[0].field(1).str().to_owned()
    };
    let server = Server::start(directory.path(), &storage_conf(""), &[]);
    let token = token_of(&server);
    server.stop();
    let server = Server::start_again(directory.path(), &[]);
    assert_eq!(token_of(&server), token);
    server.kill();
    let server = Server::start_again(directory.path(), &[]);
    assert_eq!(token_of(&server), token);
}

/// Checks that the server does not start, and that the error contains all of these texts.
fn check_failure(directory: &Path, more: &[&str], expected: &[&str]) {
    let (status, printed) = Server::fail(directory, more);
    assert!(!status.success(), "the server started: {printed}");
    for part in expected {
        assert!(printed.contains(part), "{part:?} is missing in:\n{printed}");
    }
    assert!(!printed.contains("panicked"), "{printed}");
    assert!(!printed.contains("listening"), "{printed}");
}

#[test]
fn a_failed_start_reports_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let config = directory.join("storage-conf.xml");
    let server = Server::start(directory, &storage_conf(""), &[]);
    let mut client = server.client(Style::UNFRAMED);
    check_alive(&mut client);
    let busy = server.address.to_string();
    check_failure(directory, &["--thrift", &busy, "--ephemeral"], &["cannot listen on", &busy]);
    // The running server has locked the directory.
    check_failure(directory, &[], &["data"]);
    server.stop();

    fs::write(directory.join("file"), "").unwrap();
    check_failure(directory, &["--data-dir", "file"], &["cannot open the data directory", "file"]);
    check_failure(directory, &["--config", "absent.xml"], &["absent.xml"]);
    check_failure(directory, &["--config", "."], &[]);
    check_failure(directory, &["--compat", "0.9"], &["0.9", "0.4"]);
    check_failure(directory, &["--compat", "0.3"], &["0.3 always get the behaviour of 0.3"]);
    check_failure(directory, &["--thrift", "no port", "--ephemeral"], &["no port"]);
    let form = "--admin: cannot listen on 9170: an address is HOST:PORT";
    check_failure(directory, &["--ephemeral", "--admin", "9170"], &[form]);
    // Nothing is created for an address that cannot be right.
    for option in ["--thrift", "--cql", "--admin"] {
        check_failure(directory, &["--data-dir", "new", option, "abc"], &["HOST:PORT"]);
    }
    assert!(!directory.join("new").exists());

    let changed = storage_conf("").replacen(
        r#"Name="Standard1" CompareWith="BytesType""#,
        r#"Name="Standard1" CompareWith="LongType""#,
        1,
    );
    fs::write(&config, changed).unwrap();
    check_failure(directory, &[], &["Standard1", "BytesType", "LongType"]);
    let partitioner = "<Partitioner>org.apache.cassandra.dht.OrderPreservingPartitioner</Partitioner>";
    fs::write(&config, storage_conf(partitioner)).unwrap();
    check_failure(directory, &[], &["RandomPartitioner", "OrderPreservingPartitioner"]);
    fs::write(&config, "<Storage><Keyspaces>").unwrap();
    check_failure(directory, &[], &["storage-conf.xml"]);
    fs::write(
        &config,
        storage_conf("<Authenticator>org.apache.cassandra.auth.SimpleAuthenticator</Authenticator>"),
    )
    .unwrap();
    check_failure(directory, &[], &["--passwd"]);

    fs::write(&config, storage_conf("")).unwrap();
    let server = Server::start_again(directory, &[]);
    assert_eq!(value_of(&mut server.client(Style::UNFRAMED), b"alive", b"alive"), Some(b"yes".to_vec()));
    server.stop();
}

/// A closed terminal must not stop the server, and the log must have no colour codes.
#[test]
fn a_server_without_a_reader_of_its_output_serves() {
    let directory = tempfile::tempdir().unwrap();
    // The port is free again when the server starts. Another process could take it before, but that is unlikely.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server =
        Server::start_with_closed_output(directory.path(), port, &["--cache-mb", "18446744073709551615"])
            .expecting("cannot print this line");
    check_alive(&mut server.client(Style::UNFRAMED));
    server.stop();
    let log = fs::read_to_string(directory.path().join("server.log")).unwrap();
    assert!(log.contains("stopping") && !log.contains('\x1b'), "{log:?}");
}

#[test]
fn data_of_undefined_column_families_is_not_removed() {
    let directory = tempfile::tempdir().unwrap();
    let whole = storage_conf("");
    let server = Server::start(directory.path(), &whole, &[]);
    check_alive(&mut server.client(Style::UNFRAMED));
    server.stop();
    let without = whole.replacen(r#"<ColumnFamily Name="Standard1" CompareWith="BytesType"/>"#, "", 1);
    let server = Server::start(directory.path(), &without, &[])
        .expecting("that neither the configuration nor a client has defined");
    let args = get_args(KS, b"alive", path("Standard1", None, Some(b"alive")), ONE);
    let mut client = server.client(Style::UNFRAMED);
    assert_eq!(client.call("get", &args).why(), "unconfigured columnfamily Standard1");
    drop(client);
    server.stop();
    let server = Server::start(directory.path(), &whole, &[]);
    assert_eq!(value_of(&mut server.client(Style::UNFRAMED), b"alive", b"alive"), Some(b"yes".to_vec()));
    server.stop();
}
