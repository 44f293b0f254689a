//! The recorder before several servers, one for each keyspace.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::fs;
use std::net::SocketAddr;

use crate::recorder::{Recorder, calls_of, events_of};
use crate::support;
use double::testing::Server;
use support::calls::*;
use support::client::{Client, Reply, Style};
use support::native::NativeClient;
use support::value::{Value, fields, map, text};
use wire::thrift::TType;

/// A server with one keyspace, which has the column family Standard1.
fn server_of(keyspace: &str) -> Server {
    let server = Server::start().unwrap();
    let schema = format!(
        "CREATE KEYSPACE \"{keyspace}\" WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}};
         CREATE TABLE \"{keyspace}\".\"Standard1\" (key blob, column1 blob, value blob, PRIMARY KEY (key, column1))
         WITH COMPACT STORAGE"
    );
    server.cql(&schema).unwrap();
    server
}

fn start_recorder(usual: SocketAddr, blog: SocketAddr) -> Recorder {
    Recorder::start(usual, &["--upstream-of", &format!("Blog={blog}")])
}

fn one(name: &str) -> Value {
    fields([(1, text(name))])
}

fn insert(client: &mut Client, key: &str, value: &str) {
    let column = column(b"c", value.as_bytes(), 1);
    let args = fields([(1, text(key)), (2, parent("Standard1", None)), (3, column), (4, Value::I32(ONE))]);
    client.call("insert", &args).void();
}

/// Reads the column that [`insert`] writes, from the keyspace of the connection.
fn read(client: &mut Client, key: &str) -> Option<Vec<u8>> {
    let args = fields([(1, text(key)), (2, path("Standard1", None, Some(b"c"))), (3, Value::I32(ONE))]);
    match client.call("get", &args) {
        Reply::Result(fields) if fields.contains_key(&2) => None,
        reply => Some(reply.value().field(1).field(2).bytes().to_vec()),
    }
}

fn using(address: SocketAddr, keyspace: &str) -> Client {
    let mut client = Client::connect(address, Style::FRAMED);
    client.call("set_keyspace", &one(keyspace)).void();
    client
}

#[test]
fn each_keyspace_is_on_its_server() {
    let (shop, blog) = (server_of("Shop"), server_of("Blog"));
    for style in Style::ALL {
        let mut recorder = start_recorder(shop.thrift_address(), blog.thrift_address());
        let mut client = Client::connect(recorder.address, style);
        client.call("describe_version", &fields([])).value();
        for (keyspace, key) in [("Blog", "post"), ("Shop", "cart"), ("Blog", "note")] {
            client.call("set_keyspace", &one(keyspace)).void();
            insert(&mut client, key, keyspace);
            assert_eq!(read(&mut client, key).as_deref(), Some(keyspace.as_bytes()));
        }
        assert!(client.call("set_keyspace", &one("Nowhere")).thrown(1).contains("Nowhere"));
        // A refused keyspace changes nothing.
        assert!(read(&mut client, "note").is_some());
        drop(client);
        let calls = calls_of(&recorder.events());
        assert_eq!(calls.len(), 12);
        assert!(calls.iter().all(|(_, reply)| reply.is_some()));
    }
    let mut of_shop = using(shop.thrift_address(), "Shop");
    let mut of_blog = using(blog.thrift_address(), "Blog");
    assert_eq!((read(&mut of_shop, "cart").is_some(), read(&mut of_shop, "post")), (true, None));
    assert_eq!((read(&mut of_blog, "note").is_some(), read(&mut of_blog, "cart")), (true, None));
}

#[test]
fn calls_that_name_their_keyspace_and_statements_find_its_server() {
    let (shop, blog) = (server_of("Shop"), server_of("Blog"));
    let mut recorder = start_recorder(shop.thrift_address(), blog.thrift_address());
    // 0.6.
    let mut client = Client::connect(recorder.address, Style::UNFRAMED);
    for keyspace in ["Shop", "Blog"] {
        let column = path("Standard1", None, Some(b"c"));
        client.call("insert", &insert_args(keyspace, b"old", column, (keyspace.as_bytes(), 1), ONE)).void();
    }
    // CQL 3.
    let mut client = Client::connect(recorder.address, Style::FRAMED);
    for statement in [
        "USE \"Blog\"",
        "INSERT INTO \"Standard1\" (key, column1, value) VALUES (0x01, 0x63, 0x02)",
        "INSERT INTO \"Shop\".\"Standard1\" (key, column1, value) VALUES (0x03, 0x63, 0x04)",
    ] {
        let args = fields([(1, text(statement)), (2, Value::I32(2)), (3, Value::I32(ONE))]);
        client.call("execute_cql3_query", &args).value();
    }
    let mut of_blog = using(blog.thrift_address(), "Blog");
    assert_eq!(read(&mut of_blog, "old").unwrap(), b"Blog");
    assert_eq!(read(&mut of_blog, "\u{1}").unwrap(), b"\x02");
    let mut of_shop = using(shop.thrift_address(), "Shop");
    assert_eq!(read(&mut of_shop, "old").unwrap(), b"Shop");
    assert_eq!(read(&mut of_shop, "\u{3}").unwrap(), b"\x04");
    assert!(recorder.stop().is_success);
}

#[test]
fn a_further_server_gets_the_login_first() {
    let start = |name: &str, password: &str| {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("passwd"), format!("anna={password}\n")).unwrap();
        let guard =
            "<Authenticator>SimpleAuthenticator</Authenticator><Authority>AllowAllAuthority</Authority>";
        let conf = support::server::storage_conf(guard).replace("Keyspace1", name);
        let options = ["--ephemeral", "--passwd", "passwd"];
        (support::server::Server::start(directory.path(), &conf, &options), directory)
    };
    let ((shop, _kept), (blog, _kept_too), (other, _kept_as_well)) =
        (start("Shop", "a"), start("Blog", "a"), start("Other", "b"));
    let of_other = format!("Other={}", other.address);
    let of_blog = format!("Blog={}", blog.address);
    let mut recorder =
        Recorder::start(shop.address, &["--upstream-of", &of_blog, "--upstream-of", &of_other]);
    let mut client = Client::connect(recorder.address, Style::FRAMED);
    let credentials = map(TType::String, vec![("username", text("anna")), ("password", text("a"))]);
    client.call("login", &fields([(1, fields([(1, credentials)]))])).void();
    client.call("set_keyspace", &one("Blog")).void();
    client.call("set_keyspace", &one("Shop")).void();
    // The other server has another password.
    assert!(client.try_call("set_keyspace", &one("Other")).is_err());
    let outcome = recorder.stop();
    assert!(
        outcome.errors.contains("refused login, which another upstream had accepted"),
        "{}",
        outcome.errors
    );
    // The repeated logins are not recorded: no client has sent them.
    assert_eq!(calls_of(&events_of(&recorder.file)).len(), 3);
}

#[test]
fn other_protocols_reach_the_usual_server() {
    let (shop, blog) = (server_of("Shop"), server_of("Blog"));
    let mut recorder = start_recorder(shop.native_address(), blog.thrift_address());
    let mut client = NativeClient::ready(recorder.address, 4);
    assert!(client.rows("SELECT * FROM \"Shop\".\"Standard1\"").rows.is_empty());
    drop(client);
    assert!(recorder.stop().is_success);
    assert!(calls_of(&events_of(&recorder.file)).iter().all(|(_, reply)| reply.is_some()));
}

#[test]
fn a_lost_server_ends_the_connection() {
    let (shop, blog) = (server_of("Shop"), server_of("Blog"));
    let mut recorder = start_recorder(shop.thrift_address(), blog.thrift_address());
    let mut client = using(recorder.address, "Blog");
    drop(blog);
    assert!(client.try_call("describe_version", &fields([])).is_err());
    let mut client = using(recorder.address, "Shop");
    client.call("describe_version", &fields([])).value();
    assert!(client.try_call("set_keyspace", &one("Blog")).is_err());
    assert!(recorder.stop().is_success);
}

#[test]
fn the_option_is_checked() {
    let server = server_of("Shop");
    let address = server.thrift_address().to_string();
    for (options, expected) in [
        (&["--upstream-of", "Blog"][..], "KEYSPACE=HOST:PORT"),
        (&["--upstream-of", "Blog=nowhere"][..], "\"nowhere\" is not HOST:PORT"),
        (&["--upstream-of", "A=h:1", "--upstream-of", "A=h:2"][..], "twice for the keyspace A"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_thriftstore"))
            .args(["record", "--listen", "127.0.0.1:0", "--upstream", &address])
            .arg("--to")
            .arg(directory.path().join("x.rec"))
            .args(options)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(expected), "{errors}");
    }
}
