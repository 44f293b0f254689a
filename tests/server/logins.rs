//! Logins: which calls a client can make before its login, and the limit on failed logins.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;

use crate::support;
use server::thrift::methods::{METHODS, Method};
use socket2::{Domain, Socket, Type};
use support::calls::{ONE, parent};
use support::client::{Client, PATIENCE, Reply, Style};
use support::native::NativeClient;
use support::native::opcode::{AUTH_RESPONSE, AUTH_SUCCESS, OPTIONS, QUERY, REGISTER, SUPPORTED};
use support::native_body::Body;
use support::server::{Server, storage_conf, wait_for_log};
use support::value::{Fields, Value, fields, map, text};
use wire::thrift::TType;

const SIMPLE: &str =
    "<Authenticator>SimpleAuthenticator</Authenticator><Authority>AllowAllAuthority</Authority>";
const PASSWORD: &str = "<Authenticator>PasswordAuthenticator</Authenticator>";

fn guarded(directory: &Path, more: &[&str]) -> Server {
    fs::write(directory.join("passwd"), "anna=a\nbert=b\n").unwrap();
    let options = [&["--ephemeral", "--passwd", "passwd"], more].concat();
    Server::start(directory, &storage_conf(SIMPLE), &options)
}

fn credentials(user: &str, password: &str) -> Value {
    fields([(1, map(TType::String, vec![("username", text(user)), ("password", text(password))]))])
}

fn login(client: &mut Client, user: &str, password: &str) -> Reply {
    client.call("login", &fields([(1, credentials(user, password))]))
}

fn old_login(client: &mut Client, user: &str, password: &str) -> Reply {
    client.call("login", &fields([(1, text("Keyspace1")), (2, credentials(user, password))]))
}

fn one(name: &str) -> Value {
    fields([(1, text(name))])
}

/// Returns arguments for a method, in which every text is the same name.
fn args_of(method: &Method, name: &str) -> Value {
    let value = |ttype| match ttype {
        TType::String => text(name),
        TType::I32 => Value::I32(1),
        TType::I64 => Value::I64(1),
        TType::Bool => Value::Bool(true),
        TType::Struct => fields([]),
        TType::List => Value::List(TType::String, vec![]),
        TType::Map => Value::Map(TType::String, TType::Map, vec![]),
        other => panic!("{}: add a value for a {other:?} here", method.name),
    };
    Value::Struct(method.args.iter().map(|arg| (arg.id, value(arg.ttype))).collect())
}

/// Returns all fields of a reply as text.
fn shown(reply: &Reply) -> String {
    fn of_value(value: &Value) -> String {
        match value {
            Value::Binary(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::Struct(fields) => of_fields(fields),
            Value::List(_, items) | Value::Set(_, items) => items.iter().map(of_value).collect(),
            other => format!("{other:?}"),
        }
    }
    fn of_fields(fields: &Fields) -> String {
        fields.iter().map(|(id, value)| format!("{id}={} ", of_value(value))).collect()
    }
    match reply {
        Reply::Result(fields) => of_fields(fields),
        Reply::Exception { kind, text } => format!("exception {kind}: {text}"),
    }
}

/// Methods that clients can call before the login, with any arguments.
const ANSWERED: [&str; 6] = [
    "set_keyspace",
    "describe_version",
    "describe_cluster_name",
    "describe_ring",
    "describe_local_ring",
    "login",
];

/// Calls every method of every API generation, so a new method is tested too.
#[test]
fn no_reply_before_the_login_depends_on_whether_a_keyspace_exists() {
    let directory = tempfile::tempdir().unwrap();
    let simple = guarded(directory.path(), &["--login-failures", "0"]);
    let other = tempfile::tempdir().unwrap();
    let password =
        Server::start(other.path(), &storage_conf(PASSWORD), &["--ephemeral", "--login-failures", "0"])
            .expecting("the user cassandra still has its default password");
    for server in [&simple, &password] {
        for (style, method) in
            METHODS.iter().flat_map(|method| [(Style::FRAMED, method), (Style::UNFRAMED, method)])
        {
            let answer = |name: &str| {
                let reply = server.client(style).call(method.name, &args_of(method, name));
                shown(&reply).replace(name, "NAME")
            };
            let present = answer("Keyspace1");
            assert_eq!(present, answer("Absent_01"), "{}", method.name);
            let is_refused = present.contains("You have not logged in")
                || present.contains("Login is required before any other API calls");
            if method.name == "set_cql_version" {
                assert!(present.contains("Invalid version value"), "{present}");
            } else {
                assert_eq!(!is_refused, ANSWERED.contains(&method.name), "{}: {present}", method.name);
            }
        }
    }
}

#[test]
fn only_properties_that_clients_need_for_the_login_are_readable_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), &[]);
    let mut client = server.client(Style::UNFRAMED);
    for property in ["cluster name", "version", "token map"] {
        assert_ne!(client.call("get_string_property", &one(property)).value().str(), "?");
        let first = fields([(-1, text(property))]);
        client.call("getStringProperty", &first).value();
    }
    let refused = "Login is required before any other API calls";
    assert_eq!(client.call("get_string_property", &one("config file")).application(6), refused);
    assert_eq!(client.call("get_string_list_property", &one("keyspaces")).application(6), refused);
    assert_eq!(client.call("describe_keyspace", &one("Keyspace1")).application(6), refused);
    old_login(&mut client, "anna", "a").void();
    assert!(client.call("get_string_property", &one("config file")).value().str().contains("Keyspace1"));
    client.call("get_string_list_property", &one("keyspaces")).value();
    client.call("describe_keyspace", &one("Keyspace1")).value();
}

/// Without an authenticator, all properties and definitions can be read, as from the old servers.
#[test]
fn without_an_authenticator_everything_is_readable() {
    let (server, _directory) = Server::ephemeral(&[]);
    let mut client = server.client(Style::UNFRAMED);
    assert!(client.call("get_string_property", &one("config file")).value().str().contains("Keyspace1"));
    client.call("get_string_list_property", &one("keyspaces")).value();
    let mut client = server.client(Style::FRAMED);
    assert_eq!(client.call("set_keyspace", &one("Absent")).why(), "Keyspace 'Absent' does not exist");
    client.call("describe_ring", &one("Absent")).why();
    client.call("describe_keyspaces", &fields([])).value();
}

/// pycassa, phpcassa and Hector set the keyspace before they log in. The server reports a keyspace that does not exist
/// after the login.
#[test]
fn a_keyspace_that_is_set_before_the_login_is_used_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), &[]);
    let insert = fields([
        (1, text("k")),
        (2, parent("Standard1", None)),
        (3, support::calls::column(b"c", b"v", 1)),
        (4, Value::I32(ONE)),
    ]);
    let mut client = server.client(Style::FRAMED);
    client.call("describe_version", &fields([])).value();
    client.call("set_keyspace", &one("Keyspace1")).void();
    login(&mut client, "anna", "a").void();
    client.call("insert", &insert).void();
    assert_eq!(client.call("set_keyspace", &one("Absent")).why(), "Keyspace 'Absent' does not exist");
    client.call("insert", &insert).void();

    let mut client = server.client(Style::FRAMED);
    client.call("set_keyspace", &one("Absent")).void();
    login(&mut client, "anna", "a").void();
    assert!(client.call("insert", &insert).why().contains("Absent"));
    client.call("set_keyspace", &one("Keyspace1")).void();
    client.call("insert", &insert).void();
}

#[test]
fn the_native_protocol_answers_no_statement_before_the_login() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = guarded(directory.path(), &[]);
    let address = server.native_address();
    let mut client = NativeClient::connect(address, 4);
    assert_eq!(client.call(OPTIONS, Body::new()).opcode, SUPPORTED);
    client.start(support::native::Packing::None);
    let answers = ["Keyspace1", "Absent_01"].map(|name| {
        let statement = format!("USE \"{name}\"");
        client.call(QUERY, Body::new().long_string(&statement).u16(1).u8(0)).why()
    });
    assert_eq!(answers[0], answers[1]);
    assert!(answers[0].contains("Unexpected message QUERY, expecting SASL_RESPONSE"), "{}", answers[0]);
    assert!(
        client.call(REGISTER, Body::new().strings(&["SCHEMA_CHANGE"])).why().contains("Unexpected message")
    );
}

/// Connects from another loopback address.
fn client_from(address: Ipv4Addr, server: &Server) -> Client {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((address, 0)).into()).unwrap();
    socket.connect(&server.address.into()).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    Client::over(stream, Style::FRAMED)
}

#[test]
fn failed_logins_block_one_user_at_one_address() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = guarded(directory.path(), &["--login-failures", "4"]).expecting("are refused for 15s");
    let native = server.native_address();
    let wrong = "Username and/or password are incorrect";
    // Failed logins count on every connection, and for every protocol.
    assert_eq!(login(&mut server.client(Style::FRAMED), "anna", "x").thrown(1), wrong);
    assert_eq!(login(&mut server.client(Style::FRAMED), "anna", "y").thrown(1), wrong);
    assert!(
        old_login(&mut server.client(Style::UNFRAMED), "anna", "z")
            .thrown(1)
            .contains("could not be validated")
    );
    let guess = |user: &str, password: &str| {
        let mut client = NativeClient::connect(native, 4);
        client.start(support::native::Packing::None);
        let token = [b"\0", user.as_bytes(), b"\0", password.as_bytes()].concat();
        client.call(AUTH_RESPONSE, Body::new().bytes(&token))
    };
    assert!(guess("anna", "x").why().contains(wrong));

    let refused = "Too many failed logins of this user from 127.0.0.1: the next one is accepted in ";
    let mut client = server.client(Style::FRAMED);
    assert!(
        login(&mut client, "anna", "a").thrown(1).starts_with(refused),
        "the right password is refused too"
    );
    assert!(old_login(&mut client, "anna", "a").thrown(1).starts_with(refused));
    assert!(guess("anna", "a").why().contains(refused));
    wait_for_log(directory.path(), "logins of \"anna\" from 127.0.0.1 are refused for 15s: 4 have failed");

    login(&mut client, "bert", "b").void();
    assert_eq!(guess("bert", "b").opcode, AUTH_SUCCESS);
    login(&mut client_from(Ipv4Addr::new(127, 0, 0, 2), &server), "anna", "a").void();
}

#[test]
fn logins_with_the_right_password_reset_the_limit_and_zero_disables_it() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), &["--login-failures", "2"]);
    for _ in 0..5 {
        let mut client = server.client(Style::FRAMED);
        login(&mut client, "anna", "x").thrown(1);
        login(&mut client, "anna", "a").void();
        login(&mut client, "anna", "a").void();
        login(&mut client, "anna", "a").void();
    }
    drop(server);
    let server = guarded(directory.path(), &["--login-failures", "0"]);
    let mut client = server.client(Style::FRAMED);
    for _ in 0..30 {
        login(&mut client, "anna", "x").thrown(1);
    }
    login(&mut client, "anna", "a").void();
}
