//! `/verify`: a running server reads every byte of its data directory.

use std::fs;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use super::{Browser, TOKEN};
use crate::support;
use support::calls::check_alive;
use support::client::{PATIENCE, Style};
use support::server::{Server, storage_conf};

/// Starts a verification, and returns its result.
fn verify(operator: &mut Browser) -> String {
    let started = operator.post("/verify", &[]);
    assert!(started.status == 200 && started.body.starts_with("verification started"), "{started:?}");
    let began = Instant::now();
    loop {
        let text = operator.get("/verify").body;
        if !text.starts_with("verification started") && !text.starts_with("verified ") {
            return text;
        }
        assert!(began.elapsed() < PATIENCE, "{text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_running_server_verifies_its_data_directory() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("token"), TOKEN).unwrap();
    let options = ["--admin", "127.0.0.1:0", "--admin-token-file", "token"];
    // After each sync the log records how much of it is on the disk.
    let sync =
        "<CommitLogSync>batch</CommitLogSync><CommitLogSyncBatchWindowInMS>0</CommitLogSyncBatchWindowInMS>";
    let mut server = Server::start(directory.path(), &storage_conf(sync), &options);
    let address = server.admin_address();
    let headers = format!("Authorization: Bearer {TOKEN}\r\n");
    let mut operator = Browser { address, cookie: None, headers };
    check_alive(&mut server.client(Style::UNFRAMED));
    assert_eq!(operator.get("/verify").body, "");
    assert_eq!(verify(&mut operator), "undamaged tables 0, 0.0 MB read, segments of the commit log 1\n");

    let log = directory.path().join("data/log/1.log");
    let file = fs::OpenOptions::new().write(true).open(&log).unwrap();
    // In the payload of the first record.
    file.write_all_at(&[0xFF; 4], 70).unwrap();
    let result = verify(&mut operator);
    let damage = format!("corrupt data: the commit log {} cannot be read at byte ", log.display());
    assert!(result.contains(&damage), "{result}");
    let server = server.expecting("the verification of the data directory found: corrupt data");
    server.kill();
}
