//! Gateways whose cluster is down or not as configured, and wrong combinations of cluster options. A cluster with TLS
//! is tested in tests/cluster/secure.rs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::{fs, thread};

use crate::support;
use rustix::process::{Pid, Signal, kill_process};
use support::server::{Server, logged, storage_conf, wait_for_log};
use tempfile::TempDir;

/// The error for an option that names a missing TLS file. A program without TLS support does not read the file.
const NO_SUCH_FILE: &str = if cfg!(feature = "cluster-tls") {
    "cannot read none.pem"
} else {
    "`cargo build --release --features cluster-tls`"
};

fn prepared() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("storage-conf.xml"), storage_conf("")).unwrap();
    directory
}

/// Listens on a port and sends each client the same bytes, whatever it sends.
fn node_that_sends(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // The client may have closed the connection.
            let _ = stream.read(&mut [0; 1024]).and_then(|_| stream.write_all(answer));
        }
    });
    address
}

#[test]
fn the_server_waits_for_a_cluster_that_is_down() {
    let directory = prepared();
    // The listener is dropped, so the port refuses connections.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut server = Server::spawn_only(directory.path(), &["--cluster", &address]);
    wait_for_log(directory.path(), "cannot reach the cluster");
    assert!(server.try_wait().unwrap().is_none(), "the server has ended");
    kill_process(Pid::from_raw(server.id().try_into().unwrap()).unwrap(), Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
    let log = logged(directory.path());
    assert!(log.contains("Connection refused") && log.contains("next try in 3s"), "{log}");
    assert!(!log.contains("listening for"), "{log}");
}

#[test]
fn a_cluster_that_closes_connections_leads_to_a_hint_at_tls() {
    let directory = prepared();
    let address = node_that_sends(b"");
    let mut server = Server::spawn_only(directory.path(), &["--cluster", &address]);
    wait_for_log(directory.path(), "cannot reach the cluster");
    let log = logged(directory.path());
    assert!(log.contains("--cluster-ca"), "{log}");
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
#[cfg(feature = "cluster-tls")]
fn a_cluster_without_tls_is_reported_at_once() {
    let directory = prepared();
    let address = node_that_sends(b"HTTP/1.0 400 Bad Request\r\n\r\n");
    let (status, log) = Server::fail(directory.path(), &["--cluster", &address, "--cluster-ca", "any"]);
    assert!(!status.success());
    assert!(log.contains("cannot serve from the cluster at") && log.contains("does not speak TLS"), "{log}");
    assert!(log.contains("certificates of the cluster's nodes are not checked"), "{log}");
}

#[test]
fn contradicting_cluster_options_are_refused() {
    let directory = prepared();
    for (more, why) in [
        (&["--cluster", "a", "--ephemeral"][..], "--ephemeral on this machine"),
        (&["--cluster", "a", "--data-dir", "d"], "--data-dir on this machine"),
        (&["--cluster", "a", "--cql", "127.0.0.1:0"], "does not serve the native protocol"),
        (&["--cluster", "a,b:x"], "\"x\" is not a port"),
        (&["--cluster-dc", "east"], "--cluster-dc is for a cluster"),
        (&["--cluster", "a", "--cluster-user", "b", "--cluster-password-file", "none"], "cannot read"),
        (&["--cluster", "a", "--cluster-ca", "none.pem"], NO_SUCH_FILE),
        (&["--cluster", "a", "--cluster-replication", "3"], "is not a name and a number"),
    ] {
        let (status, log) = Server::fail(directory.path(), more);
        assert!(!status.success());
        assert!(log.contains(why), "{more:?}: {log}");
    }
}
