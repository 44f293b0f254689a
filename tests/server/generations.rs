//! The API generation of clients whose first call does not show it: what `--compat`, `ThriftFramedTransport` and the
//! transport decide.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use crate::support;
use support::client::{Reply, Style};
use support::server::{Server, storage_conf};
use support::value::{Value, fields, text};
use wire::thrift::TType;

/// Returns the API version that a new client gets as the reply to its first call.
fn first_version(server: &Server, style: Style) -> String {
    let reply = server.client(style).call("describe_version", &fields([]));
    reply.value().str().to_owned()
}

fn start(config: &str, more: &[&str]) -> (Server, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let more: Vec<&str> = ["--ephemeral"].iter().chain(more).copied().collect();
    (Server::start(directory.path(), config, &more), directory)
}

/// The API versions of 0.6, 0.7 and 2.1.
const OF_0_6: &str = "2.2.0";
const OF_0_7: &str = "19.4.0";
const OF_2_1: &str = "19.39.0";

#[test]
fn the_transport_shows_the_generation_of_a_first_call() {
    let (server, _directory) = Server::ephemeral(&[]);
    assert_eq!(first_version(&server, Style::UNFRAMED), OF_0_6);
    assert_eq!(first_version(&server, Style::FRAMED), OF_2_1);
}

#[test]
fn a_release_of_one_generation_shows_the_generation_of_a_first_call() {
    let (server, _directory) = Server::ephemeral(&["--compat", "0.6"]);
    assert_eq!(first_version(&server, Style::UNFRAMED), OF_0_6);
    assert_eq!(first_version(&server, Style::FRAMED), OF_0_6);
    let (server, _directory) = Server::ephemeral(&["--compat", "0.7"]);
    assert_eq!(first_version(&server, Style::UNFRAMED), OF_0_7);
    assert_eq!(first_version(&server, Style::FRAMED), OF_0_7);
}

#[test]
fn with_releases_of_both_generations_the_transport_shows_the_generation() {
    let (server, _directory) = Server::ephemeral(&["--compat", "0.6", "--compat", "0.7"]);
    assert_eq!(first_version(&server, Style::UNFRAMED), OF_0_6);
    assert_eq!(first_version(&server, Style::FRAMED), OF_0_7);
}

#[test]
fn framed_clients_of_a_framed_configuration_are_of_its_generation() {
    let config = storage_conf("<ThriftFramedTransport>true</ThriftFramedTransport>");
    let (server, _directory) = start(&config, &[]);
    assert_eq!(first_version(&server, Style::FRAMED), OF_0_6);
    assert_eq!(first_version(&server, Style::UNFRAMED), OF_0_6);
    let (server, _directory) = start(&config, &["--compat", "2.1"]);
    assert_eq!(first_version(&server, Style::FRAMED), OF_2_1, "--compat has priority");
}

#[test]
fn a_call_that_shows_its_generation_has_priority() {
    let (server, _directory) = Server::ephemeral(&["--compat", "0.6"]);
    let mut client = server.client(Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
    assert_eq!(client.call("describe_version", &fields([])).value().str(), OF_2_1);
}

/// Returns the ids of the fields in the first CfDef of a first call of describe_keyspace.
fn first_cf_fields(server: &Server, style: Style) -> Vec<i16> {
    let reply = server.client(style).call("describe_keyspace", &fields([(1, text("Keyspace1"))]));
    let Reply::Result(fields) = reply else { panic!("{reply:?}") };
    let Some(Value::Struct(keyspace)) = fields.get(&0) else { panic!("no KsDef is last: {fields:?}") };
    let Value::List(TType::Struct, families) = &keyspace[&5] else { panic!("{keyspace:?}") };
    let Value::Struct(family) = &families[0] else { panic!("{families:?}") };
    family.keys().copied().collect()
}

#[test]
fn unframed_clients_of_a_later_release_get_its_definitions() {
    let (server, _directory) = Server::ephemeral(&["--compat", "1.2"]);
    let unframed = first_cf_fields(&server, Style::UNFRAMED);
    assert_eq!(unframed, first_cf_fields(&server, Style::FRAMED));
    assert!(unframed.contains(&26) && unframed.contains(&34), "{unframed:?}");
}
