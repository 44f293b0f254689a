//! `thriftstore backup` while a server runs, and servers that serve the backups.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::copy_support::copy;
use crate::skip::may_mount;
use crate::support;
use embedded::BackupOptions;
use support::calls::*;
use support::client::{Client, Style};
use support::server::{Server, storage_conf};
use support::value::{fields, text};

const KS: &str = "Keyspace1";
const WRITERS: usize = 2;
/// A memtable has half of this memory, so memtables are flushed often.
const SMALL_MEMORY: &[&str] = &["--cache-mb", "2"];

/// Runs `thriftstore backup`. Returns whether it succeeded, its standard output and its standard error.
fn backup(directory: &Path, words: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    let output = command.arg("backup").args(words).current_dir(directory).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// Makes a backup of the server's data, and checks what the program prints.
fn backed_up(directory: &Path, target: &str) {
    let (succeeded, summary, lines) = backup(directory, &["--config", "storage-conf.xml", target]);
    assert!(succeeded, "{lines}");
    assert!(
        summary.starts_with(&format!("backed up data to {target}: 9 column families, "))
            && summary.contains(" of log, "),
        "{summary}"
    );
    assert!(
        lines.contains("of tables to verify them\n") && lines.ends_with("syncing the copy to the disk\n"),
        "{lines}"
    );
}

/// Writes one row after another until the connection ends. The counter has the number of the last acknowledged row.
fn write(address: SocketAddr, writer: usize) -> (JoinHandle<()>, Arc<AtomicU64>) {
    let acknowledged = Arc::new(AtomicU64::new(0));
    let last = acknowledged.clone();
    let thread = thread::spawn(move || {
        let mut client = Client::connect(address, Style::UNFRAMED);
        for number in 1.. {
            let key = format!("{writer}-{number}");
            let column = path("Standard1", None, Some(b"c"));
            let value = [number as u8; 300];
            let args = insert_args(KS, key.as_bytes(), column, (&value, number), ONE);
            match client.try_call("insert", &args) {
                Ok(reply) => reply.void(),
                Err(_) => return,
            }
            last.store(number as u64, Ordering::SeqCst);
        }
    });
    (thread, acknowledged)
}

/// Checks that a server on the directory returns the first rows of each writer, up to these numbers.
fn check(place: &Path, directory: &str, acknowledged: &[u64]) {
    let server = Server::start_again(place, &["--data-dir", directory]);
    let mut client = server.client(Style::UNFRAMED);
    for (writer, last) in acknowledged.iter().enumerate() {
        for number in 1..=*last {
            let key = format!("{writer}-{number}");
            let args = get_args(KS, key.as_bytes(), path("Standard1", None, Some(b"c")), ONE);
            client.call("get", &args).value();
        }
    }
    server.stop();
}

#[test]
fn a_backup_of_a_running_server_has_all_acknowledged_writes() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path();
    let server = Server::start(directory, &storage_conf(""), SMALL_MEMORY);
    let writers: Vec<_> = (0..WRITERS).map(|writer| write(server.address, writer)).collect();
    let numbers = || writers.iter().map(|(_, last)| last.load(Ordering::SeqCst)).collect::<Vec<_>>();
    let mut backups = Vec::new();
    for number in 0..4 {
        thread::sleep(Duration::from_millis(300));
        let acknowledged = numbers();
        backed_up(directory, &format!("backup{number}"));
        backups.push(acknowledged);
    }
    // A backup that runs while the server is killed is complete too.
    let acknowledged = numbers();
    let of_killed = thread::spawn({
        let directory = directory.to_owned();
        move || backed_up(&directory, "killed")
    });
    server.kill();
    of_killed.join().unwrap();
    while !writers.iter().all(|(thread, _)| thread.is_finished()) {
        thread::sleep(Duration::from_millis(5));
    }
    backed_up(directory, "stopped");
    check(directory, "killed", &acknowledged);
    check(directory, "stopped", &numbers());
    for (number, acknowledged) in backups.iter().enumerate() {
        check(directory, &format!("backup{number}"), acknowledged);
    }
    assert!(backups.last().unwrap().iter().all(|number| *number > 100), "{backups:?}");
}

/// As docs/backup.md says: truncate, stop, copy.
#[test]
fn a_single_column_family_is_restored() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path();
    let server = Server::start(directory, &storage_conf(""), &[]);
    let column = || path("Standard1", None, Some(b"c"));
    let mut client = server.client(Style::UNFRAMED);
    client.call("insert", &insert_args(KS, b"row", column(), (b"before", 5), ONE)).void();
    backed_up(directory, "backup");
    let restore = || {
        let from_to = ["--from", "data:backup", "--to", "data:data", "--keyspace", KS];
        copy(
            directory,
            &[&from_to[..], &["--column-family", "Standard1", "--config", "storage-conf.xml"]].concat(),
        )
    };
    client.call("remove", &remove_args(KS, b"row", column(), 9, ONE)).void();
    server.stop();
    restore();
    // The tombstone is newer than what was copied.
    let get = || get_args(KS, b"row", column(), ONE);
    let server = Server::start_again(directory, &[]);
    server.client(Style::UNFRAMED).call("get", &get()).thrown(2);
    let mut modern = server.client(Style::FRAMED);
    modern.call("set_keyspace", &fields([(1, text(KS))])).void();
    modern.call("truncate", &fields([(1, text("Standard1"))])).void();
    server.stop();
    restore();
    let server = Server::start_again(directory, &[]);
    server.client(Style::UNFRAMED).call("get", &get()).value();
    server.stop();
}

#[test]
fn a_backup_that_cannot_be_made_reports_the_reason() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path();
    let (succeeded, summary, error) = backup(directory, &["--data-dir", "nowhere", "target"]);
    assert!(!succeeded && summary.is_empty());
    assert_eq!(
        error,
        "error: cannot back up nowhere: nowhere is not a data directory: nowhere/THRIFTSTORE is missing; specify the data directory \
         of a server\n"
    );
    let server = Server::start(directory, &storage_conf(""), &[]);
    let (succeeded, _, error) = backup(directory, &["--data-dir", "data", "data/target"]);
    assert!(!succeeded && error.contains("is inside of the data directory"), "{error}");
    let (succeeded, summary, error) = backup(directory, &["--data-dir", "data", "target", "--no-verify"]);
    assert!(succeeded && summary.contains(" 0 tables (0 B linked, 0 B copied), "), "{summary} {error}");
    assert!(!error.contains("to verify them"), "{error}");
    server.stop();
}

#[test]
fn a_backup_to_a_full_disk_removes_its_files() {
    let place = tempfile::tempdir().unwrap();
    let (source, small) = (place.path().join("data"), place.path().join("small"));
    fs::create_dir(&small).unwrap();
    let mount = ["-t", "tmpfs", "-o", "size=100k", "thriftstore-test"];
    let mounted = Command::new("mount").args(mount).arg(&small).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        assert!(!may_mount(), "the file system could not be mounted");
        return println!("skipped: this process may not mount a small file system");
    }
    let _unmount = Unmount(&small);
    let server = Server::start(place.path(), &storage_conf(""), &[]);
    let mut client = server.client(Style::UNFRAMED);
    let args = insert_args(KS, b"k", path("Standard1", None, Some(b"c")), (&[7; 200_000], 1), ONE);
    client.call("insert", &args).void();
    let back_up = |target| {
        let options = BackupOptions { source: source.clone(), target, reads_tables: true };
        embedded::back_up(&options, &mut |_| {}).unwrap_err().to_string()
    };
    let error = back_up(small.join("backup"));
    assert!(error.contains("backup.unfinished/log/1.log: No space left on device"), "{error}");
    assert!(error.ends_with("; free some space there, or choose a target on another disk"), "{error}");
    assert_eq!(fs::read_dir(&small).unwrap().count(), 0);
    let error = back_up(small.clone());
    assert!(error.contains("is the root of a file system, which a rename cannot replace"), "{error}");
    server.stop();
}

struct Unmount<'a>(&'a Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}
