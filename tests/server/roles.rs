//! Users and permissions that are stored in the server (PasswordAuthenticator, CassandraAuthorizer), over Thrift.

use std::fs;
use std::path::Path;

use crate::support;
use support::calls::*;
use support::client::{Client, Reply, Style};
use support::server::{Server, storage_conf};
use support::value::{Value, fields, map, text};
use wire::thrift::TType;

const PASSWORD: &str = "<Authenticator>org.apache.cassandra.auth.PasswordAuthenticator</Authenticator>";
const ROLES: &str = "<Authorizer>CassandraAuthorizer</Authorizer>";

fn guarded(directory: &Path, more: &str) -> Server {
    Server::start(directory, &storage_conf(&format!("{PASSWORD}{more}")), &[])
        .expecting("the user cassandra still has its default password")
}

fn credentials(user: &str, password: &str) -> Value {
    fields([(1, map(TType::String, vec![("username", text(user)), ("password", text(password))]))])
}

fn login(client: &mut Client, user: &str, password: &str) -> Reply {
    client.call("login", &fields([(1, credentials(user, password))]))
}

fn old_login(client: &mut Client, keyspace: &str, user: &str, password: &str) -> Reply {
    client.call("login", &fields([(1, text(keyspace)), (2, credentials(user, password))]))
}

fn client_of(server: &Server, user: &str, password: &str) -> Client {
    let mut client = server.client(Style::FRAMED);
    login(&mut client, user, password).void();
    client.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
    client
}

fn cql(client: &mut Client, statement: &str) -> Reply {
    client
        .call("execute_cql3_query", &fields([(1, text(statement)), (2, Value::I32(2)), (3, Value::I32(ONE))]))
}

fn insert() -> Value {
    fields([(1, text("k")), (2, parent("Standard1", None)), (3, column(b"c", b"v", 1)), (4, Value::I32(ONE))])
}

fn get_slice() -> Value {
    fields([(1, text("k")), (2, parent("Standard1", None)), (3, everything()), (4, Value::I32(ONE))])
}

fn cf_def(name: &str) -> Value {
    fields([(1, fields([(1, text("Keyspace1")), (2, text(name))]))])
}

fn no(permission: &str, on: &str) -> String {
    format!("User anna has no {permission} permission on {on} or any of its parents")
}

#[test]
fn a_grant_takes_effect_at_once_for_thrift_and_cql() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), ROLES);
    let mut stranger = server.client(Style::FRAMED);
    stranger.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
    assert_eq!(stranger.call("get_slice", &get_slice()).why(), "You have not logged in");
    let wrong = login(&mut stranger, "cassandra", "guess");
    assert_eq!(wrong.thrown(1), "Username and/or password are incorrect");
    assert_eq!(login(&mut stranger, "nobody", "guess"), wrong);

    let mut root = client_of(&server, "cassandra", "cassandra");
    cql(&mut root, "CREATE USER anna WITH PASSWORD 'a'").value();
    let mut anna = client_of(&server, "anna", "a");
    let table = "<table Keyspace1.Standard1>";
    let cases = [
        ("SELECT", "get_slice", get_slice(), "SELECT * FROM \"Standard1\"", table),
        (
            "MODIFY",
            "insert",
            insert(),
            "INSERT INTO \"Standard1\" (key, column1, value) VALUES (0x6b, 0x64, 0x76)",
            table,
        ),
        (
            "CREATE",
            "system_add_column_family",
            cf_def("Made"),
            "CREATE TABLE made (a int PRIMARY KEY)",
            "<keyspace Keyspace1>",
        ),
    ];
    for (permission, method, args, statement, on) in &cases[..2] {
        assert_eq!(anna.call(method, args).why(), no(permission, on));
        assert_eq!(cql(&mut anna, statement).why(), no(permission, on));
        cql(&mut root, &format!("GRANT {permission} ON \"Standard1\" TO anna")).value();
        let answered = anna.call(method, args);
        assert!(matches!(&answered, Reply::Result(fields) if !fields.contains_key(&1)), "{answered:?}");
        cql(&mut anna, statement).value();
        cql(&mut root, &format!("REVOKE {permission} ON \"Standard1\" FROM anna")).value();
        assert_eq!(anna.call(method, args).why(), no(permission, on));
    }
    let (permission, method, args, statement, on) = &cases[2];
    assert_eq!(anna.call(method, args).why(), no(permission, on));
    assert_eq!(cql(&mut anna, statement).why(), no(permission, on));
    let drop = fields([(1, text("Standard1"))]);
    assert_eq!(anna.call("system_drop_column_family", &drop).why(), no("DROP", table));
    assert_eq!(anna.call("system_update_column_family", &cf_def("Standard1")).why(), no("ALTER", table));
    assert_eq!(anna.call("truncate", &drop).why(), no("MODIFY", table));
    cql(&mut root, "DROP USER anna").value();
    assert_eq!(anna.call("get_slice", &get_slice()).why(), no("SELECT", table));
    server.stop();
}

/// Each call of 0.6 needs SELECT and MODIFY on its keyspace.
#[test]
fn a_login_of_0_6_needs_permissions_on_the_keyspace() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), ROLES);
    let mut root = client_of(&server, "cassandra", "cassandra");
    cql(&mut root, "CREATE USER anna WITH PASSWORD 'a'").value();
    let mut old = server.client(Style::UNFRAMED);
    let insert =
        |keyspace: &str| insert_args(keyspace, b"k", path("Standard1", None, Some(b"c")), (b"v", 1), ONE);
    let refused = |keyspace: &str| format!("User anna could not be authorized to use keyspace {keyspace}");
    old_login(&mut old, "Keyspace1", "anna", "wrong").thrown(1);
    assert_eq!(old_login(&mut old, "Keyspace1", "anna", "a").thrown(2), refused("Keyspace1"));
    assert_eq!(
        old.call("insert", &insert("Keyspace1")).why(),
        "Login is required before any other API calls"
    );
    for permission in ["SELECT", "MODIFY"] {
        cql(&mut root, &format!("GRANT {permission} ON KEYSPACE \"Keyspace1\" TO anna")).value();
    }
    old_login(&mut old, "Keyspace1", "anna", "a").void();
    old.call("insert", &insert("Keyspace1")).void();
    assert_eq!(old.call("insert", &insert("FiveTimes")).why(), refused("FiveTimes"));
    cql(&mut root, "REVOKE MODIFY ON KEYSPACE \"Keyspace1\" FROM anna").value();
    assert_eq!(old.call("insert", &insert("Keyspace1")).why(), refused("Keyspace1"));
}

#[test]
fn users_and_grants_survive_restarts_and_kills() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), ROLES);
    let mut root = client_of(&server, "cassandra", "cassandra");
    cql(&mut root, "CREATE USER anna WITH PASSWORD 'a'").value();
    cql(&mut root, "GRANT SELECT ON KEYSPACE \"Keyspace1\" TO anna").value();
    cql(&mut root, "ALTER USER cassandra WITH PASSWORD 'secret'").value();
    server.kill();
    for round in 0..2 {
        let server = Server::start_again(directory.path(), &[]);
        let mut client = server.client(Style::FRAMED);
        login(&mut client, "cassandra", "cassandra").thrown(1);
        login(&mut client, "cassandra", "secret").void();
        let mut anna = client_of(&server, "anna", "a");
        anna.call("get_slice", &get_slice()).value();
        assert_eq!(anna.call("insert", &insert()).why(), no("MODIFY", "<table Keyspace1.Standard1>"));
        if round == 0 { server.stop() } else { server.kill() }
    }
}

#[test]
fn without_an_authorizer_a_login_is_enough_and_grants_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let server = guarded(directory.path(), "");
    let mut root = client_of(&server, "cassandra", "cassandra");
    cql(&mut root, "CREATE USER anna WITH PASSWORD 'a'").value();
    let mut anna = client_of(&server, "anna", "a");
    anna.call("insert", &insert()).void();
    for (statement, operation) in [
        ("GRANT SELECT ON ALL KEYSPACES TO anna", "GRANT"),
        ("REVOKE SELECT ON ALL KEYSPACES FROM anna", "REVOKE"),
        ("LIST ALL PERMISSIONS", "LIST PERMISSIONS"),
    ] {
        let why = format!("{operation} operation is not supported by AllowAllAuthorizer");
        assert_eq!(cql(&mut root, statement).why(), why);
    }
    let why = "Only superusers are allowed to perform CREATE USER queries";
    assert_eq!(cql(&mut anna, "CREATE USER berta WITH PASSWORD 'b'").why(), why);
    cql(&mut root, "DROP USER anna").value();
    assert!(anna.call("insert", &insert()).why().contains("anna has no MODIFY"));
    drop(server);

    let fail = |config: &str, part: &str| {
        fs::write(directory.path().join("storage-conf.xml"), storage_conf(config)).unwrap();
        let (status, output) = Server::fail(directory.path(), &["--ephemeral"]);
        assert!(!status.success() && output.contains(part), "{output}");
    };
    fail(ROLES, "needs PasswordAuthenticator");
    fail(&format!("{PASSWORD}<Authority>SimpleAuthority</Authority>"), "needs SimpleAuthenticator");
    fail(
        &format!("{PASSWORD}<Authorizer>CassandraAutorizer</Authorizer>"),
        "did you mean CassandraAuthorizer?",
    );
    fail("<Authenticator>PaswordAuthenticator</Authenticator>", "did you mean PasswordAuthenticator?");
}
