//! Commands whose output cannot be written.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};

use crate::support::server::storage_conf;

/// Runs `doctor` on a configuration, with another standard output.
fn doctor(directory: &std::path::Path, stdout: Stdio) -> Output {
    let config = directory.join("storage-conf.xml");
    std::fs::write(&config, storage_conf("")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    command.arg("doctor").arg(&config).current_dir(directory).stdout(stdout).stderr(Stdio::piped());
    command.spawn().unwrap().wait_with_output().unwrap()
}

#[test]
fn a_full_disk_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = doctor(directory.path(), full.into());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("cannot write to standard output: No space left on device"), "{errors}");
    assert!(!output.status.success() && !errors.contains("panicked"), "{errors}");
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let directory = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = doctor(directory.path(), writer.into());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked") && !errors.contains("cannot write"), "{errors}");
    assert_ne!(output.status.code(), Some(101), "{errors}");
}

/// A log on a full disk, or behind a pipe that nobody reads, must not end the server.
#[test]
fn a_server_goes_on_if_its_log_cannot_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let (reader, broken) = std::io::pipe().unwrap();
    drop(reader);
    for stderr in [Stdio::from(full), broken.into()] {
        let mut server = Command::new(env!("CARGO_BIN_EXE_thriftstore"))
            .args(["serve", "--ephemeral", "--thrift", "127.0.0.1:0", "--cql", "off"])
            .current_dir(directory.path())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening for Thrift clients on ").unwrap().to_owned();
        // The message is not one of Thrift, which the log says.
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
        TcpStream::connect(&address).unwrap();
        assert!(server.try_wait().unwrap().is_none(), "the server has ended");
        server.kill().unwrap();
        server.wait().unwrap();
    }
}
