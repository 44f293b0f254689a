//! A gateway of a cluster that requires TLS and a password.

// ring: --nodes 1 --password-auth --tls

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::support;
use support::calls::*;
use support::certificates::Authority;
use support::client::Style;
use support::server::{Server, storage_conf};

const KS: &str = "Keyspace1";

fn of_ring(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("no {name}: run tests/cluster/run"))
}

/// Writes a configuration with the ring as its cluster. `more` are further elements of `<Cluster>`.
fn configure(directory: &Path, more: &str) {
    let points: String = of_ring("THRIFTSTORE_RING")
        .split(',')
        .map(|node| format!("<ContactPoint>{node}</ContactPoint>"))
        .collect();
    let cluster = format!(
        "<Cluster><ContactPoints>{points}</ContactPoints><Replication>SimpleStrategy:1</Replication>{more}</Cluster>"
    );
    fs::write(directory.join("storage-conf.xml"), storage_conf(&cluster)).unwrap();
    fs::write(directory.join("password"), "cassandra\n").unwrap();
    fs::write(directory.join("wrong"), "guess\n").unwrap();
}

/// Returns elements with the right certificate authority and password.
fn right() -> String {
    format!(
        "<CertificateAuthorities>{}</CertificateAuthorities><User>cassandra</User><PasswordFile>password</PasswordFile>",
        of_ring("THRIFTSTORE_RING_CERTIFICATE")
    )
}

fn get(address: SocketAddr, path: &str) -> String {
    let mut port = TcpStream::connect(address).unwrap();
    port.write_all(format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes()).unwrap();
    let mut page = String::new();
    port.read_to_string(&mut page).unwrap();
    page
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn the_doctor_says_that_the_cluster_is_fit() {
    let directory = tempfile::tempdir().unwrap();
    let look = |more: &str| {
        configure(directory.path(), more);
        let mut doctor = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
        let output =
            doctor.args(["doctor", "storage-conf.xml"]).current_dir(directory.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let report = look(&right());
    for said in ["releases of the cluster's nodes: 5.0.", " (1)", "agree about the schema", "\"thriftstore\""]
    {
        assert!(report.contains(said), "{said}: {report}");
    }
    let report = look(&right().replace(">password<", ">wrong<"));
    assert!(report.contains("a gateway cannot use the cluster") && !report.contains("guess"), "{report}");
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_gateway_with_the_password_and_the_authority_serves() {
    let directory = tempfile::tempdir().unwrap();
    configure(directory.path(), &right());
    // The configuration specifies the ring, so no data directory is needed.
    let cluster = of_ring("THRIFTSTORE_RING");
    let more = ["--cluster", cluster.as_str(), "--admin", "127.0.0.1:0"];
    let mut server = Server::start_again(directory.path(), &more);
    check_alive(&mut server.client(Style::UNFRAMED));
    let admin = server.admin_address();
    let page = get(admin, "/status");
    assert!(page.contains("health: ok\n") && page.contains("data: on the cluster at "), "{page}");
    assert!(page.contains(" datacenter1 rack1 up\n"), "{page}");
    assert!(page.contains("requests waiting: 0\n"), "{page}");
    let page = get(admin, "/cluster");
    assert!(page.contains("<td>datacenter1, rack1</td>\n<td>connected</td>"), "{page}");
    let metrics = get(admin, "/metrics");
    let answers =
        metrics.lines().find_map(|line| line.strip_prefix("thriftstore_cluster_node_answers_total{"));
    let answers: f64 = answers.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap();
    assert!(answers > 10.0 && metrics.contains("cluster_attempts_total{consistency=\"ONE\"}"), "{metrics}");
    server.stop();

    // Another gateway reads the value too.
    let other = Server::start_again(directory.path(), &more);
    let found = value_of(&mut other.client(Style::FRAMED), b"alive", b"alive");
    assert_eq!(found.as_deref(), Some(b"yes".as_slice()), "in {KS}");
    other.stop();
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_gateway_without_the_password_or_the_authority_fails_at_once() {
    let directory = tempfile::tempdir().unwrap();
    configure(directory.path(), &right());
    let other = directory.path().join("other.pem");
    fs::write(&other, Authority::new().pem()).unwrap();
    let cluster = of_ring("THRIFTSTORE_RING");
    let refused = |more: &[&str]| {
        let all = [&["--cluster", cluster.as_str()], more].concat();
        let (status, log) = Server::fail(directory.path(), &all);
        assert!(!status.success());
        assert!(log.contains("cannot serve from the cluster at "), "{log}");
        log
    };
    let wrong = refused(&["--cluster-password-file", "wrong"]);
    assert!(wrong.contains("refuses the user and password"), "{wrong}");
    let unknown = refused(&["--cluster-ca", other.to_str().unwrap()]);
    assert!(unknown.contains("certificate is refused"), "{unknown}");
    let elsewhere = refused(&["--cluster-dc", "nowhere"]);
    assert!(elsewhere.contains("no data centre \"nowhere\"; it has datacenter1"), "{elsewhere}");

    let authorities = of_ring("THRIFTSTORE_RING_CERTIFICATE");
    configure(directory.path(), &format!("<CertificateAuthorities>{authorities}</CertificateAuthorities>"));
    let nobody = refused(&[]);
    assert!(nobody.contains("requires a user and a password"), "{nobody}");
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_partitioner_other_than_the_cluster_s_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    configure(
        directory.path(),
        &format!("{}</Cluster><Partitioner>OrderPreservingPartitioner</Partitioner><Cluster>", right()),
    );
    let cluster = of_ring("THRIFTSTORE_RING");
    let (status, log) = Server::fail(directory.path(), &["--cluster", &cluster]);
    assert!(!status.success());
    assert!(log.contains("specifies OrderPreservingPartitioner") && log.contains("wrong rows"), "{log}");
}
