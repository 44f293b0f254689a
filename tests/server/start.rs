//! The start of the server: refused options and directories, and what the log says.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use crate::support;
use support::calls::{ONE, check_alive};
use support::client::{Client, PATIENCE, Style};
use support::server::{Server, logged, storage_conf};
use support::value::{Value, fields, map, structs, text};
use wire::thrift::TType;

const SIMPLE: &str = "<Authenticator>SimpleAuthenticator</Authenticator>";

/// Checks that the server does not start, and that the error contains all of these texts.
fn check_refused(directory: &Path, more: &[&str], expected: &[&str]) {
    let (status, printed) = Server::fail(directory, more);
    assert!(!status.success(), "the server started: {printed}");
    for part in expected {
        assert!(printed.contains(part), "{more:?}: {part:?} is missing in:\n{printed}");
    }
    assert!(!printed.contains("panicked") && !printed.contains("listening"), "{printed}");
}

#[test]
fn contradicting_and_ineffective_options_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::write(directory.join("storage-conf.xml"), storage_conf("")).unwrap();
    let cases: [(&[&str], &str); 18] = [
        (&["--ephemeral", "--data-dir", "d"], "--ephemeral stores data in memory, and --data-dir"),
        (&["--ephemeral", "--cache-mb", "9"], "--cache-mb has no effect"),
        (&["--ephemeral", "--any-data-dir"], "--any-data-dir has no effect"),
        (&["--cluster", "127.0.0.1:1", "--cache-mb", "9"], "--cache-mb has no effect"),
        (
            &["--cluster", "127.0.0.1:1", "--data-dir", "d"],
            "--cluster stores data on a cluster, and --data-dir",
        ),
        (&["--cluster-dc", "east", "--ephemeral"], "--cluster-dc is for a cluster, and there is none"),
        (&["--compat", "0.4", "--compat", "0.5"], "--compat: 0.4 and 0.5 are both for calls with a keyspace"),
        (&["--compat", "2.1", "--compat", "0.7"], "--compat: 2.1 and 0.7 are both for calls after"),
        (&["--compat", "0.6", "--compat", "0.6"], "--compat: 0.6 and 0.6 are both"),
        (&["--cql", "off", "--claim", "3.11.0"], "--claim has no effect"),
        (&["--passwd", "p"], "--passwd has no effect: the configuration has AllowAllAuthenticator"),
        (&["--access", "a"], "--access has no effect"),
        (&["--passwd-mode", "MD5"], "--passwd-mode has no effect"),
        (&["--login-failures", "3"], "--login-failures has no effect"),
        (&["--tls", "off", "--tls-client-ca", "ca"], "--tls off disables TLS"),
        (&["--tls", "optional"], "TLS needs a certificate"),
        (&["--status-token-file", "t"], "--status"),
        (&["--status", "0.0.0.0:0"], "--status 0.0.0.0:0 can be reached from other machines"),
    ];
    for (more, why) in cases {
        check_refused(directory, more, &[why]);
    }
    assert!(
        !directory.join("data").exists() && !directory.join("d").exists(),
        "the options are checked before anything is created"
    );
}

#[test]
fn password_and_access_files_are_checked() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::write(directory.join("storage-conf.xml"), storage_conf(SIMPLE)).unwrap();
    fs::write(directory.join("passwd"), "anna=a\n").unwrap();
    fs::write(directory.join("access"), "Keyspace1=anna\n").unwrap();
    fs::write(directory.join("wrong"), "# users\nanna\n").unwrap();
    fs::write(directory.join("brackets"), "Keyspace1.<wr>=anna\n").unwrap();
    let with =
        |passwd: &'static str, access: &'static str| ["--ephemeral", "--passwd", passwd, "--access", access];
    check_refused(directory, &with("absent", "access"), &["cannot read --passwd absent: "]);
    check_refused(directory, &with("passwd", "absent"), &["cannot read --access absent: "]);
    check_refused(
        directory,
        &with("wrong", "access"),
        &["--passwd wrong, line 2: ", "a line is user=password"],
    );
    check_refused(directory, &with("passwd", "brackets"), &["--access brackets, line 1: Keyspace1.<wr>"]);
    check_refused(
        directory,
        &[&with("passwd", "access")[..], &["--passwd-mode", "MD5"]].concat(),
        &["32 hex"],
    );
    Server::start_again(directory, &with("passwd", "access")).stop();
}

#[test]
fn directories_with_foreign_data_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::write(directory.join("storage-conf.xml"), storage_conf("")).unwrap();
    check_refused(directory, &["--data-dir", "ours/data"], &["ours does not exist", "mkdir -p ours"]);
    fs::create_dir(directory.join("ours")).unwrap();
    Server::start_again(directory, &["--data-dir", "ours/data"]).stop();
    let new = format!("new data directory {}", directory.join("ours/data").display());
    assert_eq!(logged(directory).matches(&new).count(), 1, "{}", logged(directory));
    Server::start_again(directory, &["--data-dir", "ours/data"]).stop();
    assert!(!logged(directory).contains("new data directory"));
    check_refused(directory, &["--data-dir", "/"], &["/ is the root of the file system", "--any-data-dir"]);
    check_refused(directory, &["--data-dir", "."], &["is in it: choose a new or an empty directory"]);
    check_refused(directory, &["--data-dir", "ours"], &["ours/data in it is one", "--any-data-dir"]);
    fs::create_dir_all(directory.join("old/data/Keyspace1")).unwrap();
    fs::write(directory.join("old/data/Keyspace1/Standard1-1-Data.db"), "").unwrap();
    let looks = "looks like the data directory of a Cassandra";
    check_refused(directory, &["--data-dir", "old"], &[looks, "Standard1-1-Data.db", "--any-data-dir"]);
    assert!(!directory.join("old/THRIFTSTORE").exists());
    let server = Server::start_again(directory, &["--data-dir", "old", "--any-data-dir"]);
    check_alive(&mut server.client(Style::UNFRAMED));
    server.stop();
    // The directory now has the server's own file and is accepted without the option.
    Server::start_again(directory, &["--data-dir", "old"]).stop();
}

fn make_keyspace(client: &mut Client) {
    let family = fields([(1, text("Made")), (2, text("Families"))]);
    let keyspace = fields([
        (1, text("Made")),
        (2, text("SimpleStrategy")),
        (3, map(TType::String, vec![("replication_factor", text("1"))])),
        (4, Value::I32(1)),
        (5, structs(vec![family])),
    ]);
    client.call("system_add_keyspace", &fields([(1, keyspace)])).value();
    client.call("set_keyspace", &fields([(1, text("Made"))])).void();
    let column = support::calls::column(b"c", b"v", 1);
    let parent = support::calls::parent("Families", None);
    let insert = fields([(1, text("k")), (2, parent), (3, column), (4, Value::I32(ONE))]);
    client.call("insert", &insert).void();
}

/// Column families that clients have created are known from the stored schema and cause no warning. One that is missing
/// from the configuration does.
#[test]
fn a_restart_only_warns_of_undefined_column_families() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let server = Server::start(directory, &storage_conf(""), &[]);
    make_keyspace(&mut server.client(Style::FRAMED));
    check_alive(&mut server.client(Style::UNFRAMED));
    server.stop();

    let mut server = Server::start_again(directory, &["--status", "127.0.0.1:0"]);
    // The address of the status port is the last line that the server prints.
    server.status_address();
    let log = logged(directory);
    assert!(!log.contains(" WARN "), "{log}");
    assert!(log.contains("4 keyspaces: BloggyAppy, FiveTimes, Keyspace1, Made\n"), "{log}");
    assert!(log.contains(&format!("thriftstore {} (", env!("CARGO_PKG_VERSION"))), "{log}");
    assert!(log.contains(&format!("data is stored in {}\n", directory.join("data").display())), "{log}");
    assert!(log.contains(&format!("listening for Thrift clients on {}\n", server.address)), "{log}");
    for protocol in ["CQL", "HTTP"] {
        assert_eq!(log.matches(&format!("listening for {protocol} clients on ")).count(), 1, "{log}");
    }
    server.stop();

    let less =
        storage_conf("").replacen(r#"<ColumnFamily Name="Standard1" CompareWith="BytesType"/>"#, "", 1);
    let server = Server::start(directory, &less, &[]).expecting("has defined: Keyspace1.Standard1");
    let log = logged(directory);
    assert!(log.contains("has defined: Keyspace1.Standard1\n"), "{log}");
    server.stop();
}

/// Sends an HTTP request with additional header lines, and returns the status line of the answer.
fn status_line(address: SocketAddr, path: &str, more: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_status_port_requires_its_token() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let token = "0123456789abcdef-0123456789";
    fs::write(directory.join("token"), format!("{token}\n")).unwrap();
    fs::write(directory.join("short"), "secret\n").unwrap();
    fs::write(directory.join("storage-conf.xml"), storage_conf("")).unwrap();
    check_refused(
        directory,
        &["--ephemeral", "--status", "127.0.0.1:0", "--status-token-file", "short"],
        &["short: the token of the status port must have at least 16 letters"],
    );
    let more = ["--ephemeral", "--status", "0.0.0.0:0", "--status-token-file", "token"];
    let mut server = Server::start_again(directory, &more);
    let address = SocketAddr::from(([127, 0, 0, 1], server.status_address().port()));
    for (more, expected) in [
        (String::new(), "401 Unauthorized"),
        ("Authorization: Bearer 0123456789abcdef-012345678x\r\n".to_owned(), "401 Unauthorized"),
        ("Authorization: Bearer 0123456789abcdef\r\n".to_owned(), "401 Unauthorized"),
        (format!("Authorization: Basic {token}\r\n"), "401 Unauthorized"),
        (format!("X-Authorization: Bearer {token}\r\n"), "401 Unauthorized"),
        (format!("Authorization: Bearer {token}\r\n"), "200 OK"),
        (format!("authorization:  bearer {token} \r\n"), "200 OK"),
    ] {
        for path in ["/", "/health"] {
            assert_eq!(status_line(address, path, &more), format!("HTTP/1.1 {expected}"), "{path} {more}");
        }
    }
    assert_eq!(status_line(address, "/nothing", ""), "HTTP/1.1 401 Unauthorized");
    server.stop();
}
