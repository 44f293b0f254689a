//! The log of requests: one line for each request of both protocols, if the log filter enables it.

use std::path::Path;

use crate::support;
use support::calls::{ONE, get_args, path};
use support::client::Style;
use support::native::NativeClient;
use support::server::{Server, logged, storage_conf};
use support::value::fields;

/// Returns the log lines for requests of this method.
fn lines_of(directory: &Path, method: &str) -> Vec<String> {
    let of_method = |line: &&str| line.contains(&format!("method={method} "));
    logged(directory).lines().filter(of_method).map(str::to_owned).collect()
}

#[test]
fn each_request_of_both_protocols_is_logged_as_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let filter = "info,requests=debug";
    let mut server = Server::start_logging(directory, filter, &storage_conf(""), &["--ephemeral"]);
    let mut client = server.client(Style::UNFRAMED);
    client.call("describe_cluster_name", &fields([])).value();
    client.call("get", &get_args("Nix", b"key", path("Standard1", None, Some(b"name")), ONE));
    let mut native = NativeClient::ready(server.native_address(), 4);
    native.query("SELECT * FROM system.local");
    native.query("SELECT nonsense");
    native.query("CREATE ROLE r WITH PASSWORD = 'hunter2' AND LOGIN = true AN SUPERUSER = true");
    native.query("ALTER USER r WITH PASSWORD 'hunter2' SUPERUSR");
    server.stop();

    let [cluster_name] = &lines_of(directory, "describe_cluster_name")[..] else { panic!("not one line") };
    for part in ["protocol=\"thrift\"", "client=127.0.0.1", "micros=", "reply_bytes="] {
        assert!(cluster_name.contains(part), "{part} is missing in {cluster_name}");
    }
    assert!(!cluster_name.contains("error="), "{cluster_name}");
    let [select, nonsense, far, near] = &lines_of(directory, "QUERY")[..] else { panic!("not four lines") };
    assert!(!logged(directory).contains("hunter2"), "{}", logged(directory));
    assert!(far.ends_with("error=line 1:57 missing EOF at '?'"), "{far}");
    assert!(near.ends_with("error=line 1:37 extraneous input '?' expecting EOF"), "{near}");
    assert!(select.contains("protocol=\"native\"") && !select.contains("error="), "{select}");
    assert!(nonsense.contains("error=line 0:-1 mismatched input"), "{nonsense}");
    let [get] = &lines_of(directory, "get")[..] else { panic!("not one line") };
    assert!(get.contains("keyspace=Nix consistency=ONE"), "{get}");
    assert!(get.contains("error=Keyspace Nix does not exist in this schema."), "{get}");
}

#[test]
fn requests_are_not_logged_by_default() {
    let (server, directory) = Server::ephemeral(&[]);
    server.client(Style::UNFRAMED).call("describe_cluster_name", &fields([])).value();
    server.stop();
    assert!(lines_of(directory.path(), "describe_cluster_name").is_empty());
}
