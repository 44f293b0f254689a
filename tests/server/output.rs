//! Commands whose output cannot be written.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs::File;
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
