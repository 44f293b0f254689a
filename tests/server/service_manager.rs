//! Reports to the service manager that started the server (`Type=notify` of systemd).

#![cfg(target_os = "linux")]

use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;

use crate::support;
use support::client::PATIENCE;
use support::server::{Server, storage_conf};

#[test]
fn the_service_manager_is_told_when_all_ports_listen_and_when_the_server_stops() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    let received = || {
        let mut bytes = [0; 200];
        let length = manager.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).trim_end().to_owned()
    };
    let environment = ("NOTIFY_SOCKET", path.to_str().unwrap());
    let more = ["--cql", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
    let mut server = Server::start_in_environment(directory.path(), environment, &storage_conf(""), &more);
    assert_eq!(received(), "READY=1");
    for address in [server.address, server.admin_address()] {
        TcpStream::connect(address).unwrap();
    }
    server.terminate();
    assert_eq!(received(), "STOPPING=1");
    assert!(server.wait().success());
}

#[test]
fn a_service_manager_that_has_gone_is_a_warning() {
    let directory = tempfile::tempdir().unwrap();
    let gone = directory.path().join("gone");
    let environment = ("NOTIFY_SOCKET", gone.to_str().unwrap());
    let server = Server::start_in_environment(directory.path(), environment, &storage_conf(""), &[]);
    server.expecting("cannot report the state of the server to the service manager").stop();
}
