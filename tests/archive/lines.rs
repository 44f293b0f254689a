//! Lines and runs of an archive: restarts, gaps, restored and copied data directories, and retention.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use archive::object_store::ObjectStore;
use archive::object_store::memory::InMemory;
use archive::{ArchiveLocation, ArchiveOptions, LineSummary};
use base::schema::Catalog;
use embedded::EmbeddedStore;
use tempfile::TempDir;

use crate::faulty_storage::{Faults, FaultyStorage};
use crate::store_support::{apply, catalog, cf_of, close, family, names, open, put, read, read_all};
use crate::{archive_status, location, now_us, options, restore, start, verify, wait, wait_for_full_backups};

fn schema() -> Catalog {
    catalog([family("A", "UTF8Type", None)])
}

fn write(store: &EmbeddedStore, name: &str) {
    apply(store, put(&cf_of(&schema(), "A"), "row", name, "v", 1)).unwrap();
}

/// Opens a store, archives it, writes a column, and waits for a full backup with it. Closes the store.
fn run(directory: &Path, name: &str, options: ArchiveOptions) {
    let store = open(directory, &schema()).unwrap();
    let archiver = start(&store, options);
    write(&store, name);
    store.flush().unwrap();
    wait_for_full_backups(&store, 1);
    close_with(store, &archiver);
}

fn close_with(store: EmbeddedStore, archiver: &archive::Archiver) {
    let cf = cf_of(&schema(), "A");
    read(&store, "row", read_all(&cf)).unwrap();
    crate::store_support::wait(store::Store::close(&store)).unwrap();
    assert!(archiver.stop(crate::STOP_TIMEOUT));
}

/// Returns the names of the columns in a restored directory, which is removed.
fn restored_names(from: &ArchiveLocation, at_us: Option<i64>, to: &Path) -> Vec<String> {
    restore(from, at_us, to).unwrap();
    let found = names_in(to);
    std::fs::remove_dir_all(to).unwrap();
    found
}

fn names_in(directory: &Path) -> Vec<String> {
    let store = open(directory, &schema()).unwrap();
    let found = names(&store, "row", &cf_of(&schema(), "A"));
    close(store);
    found
}

fn wait_until(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < crate::STOP_TIMEOUT);
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn lines(from: &ArchiveLocation) -> Vec<LineSummary> {
    wait(archive::list(from)).unwrap()
}

struct Place {
    directory: TempDir,
    storage: Arc<FaultyStorage>,
    location: ArchiveLocation,
}

impl Place {
    fn new() -> Place {
        let storage = Arc::new(FaultyStorage::new(Arc::new(InMemory::new()), Faults::default()));
        let location = location(&(storage.clone() as Arc<dyn ObjectStore>));
        Place { directory: tempfile::tempdir().unwrap(), storage, location }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn options(&self, name: &str) -> ArchiveOptions {
        options(&self.location, &self.path(name))
    }
}

#[test]
fn a_restart_continues_the_line_and_uploads_no_table_again() {
    let place = Place::new();
    for name in ["a", "b", "c"] {
        run(&place.path("data"), name, place.options("data"));
    }
    let found = lines(&place.location);
    assert_eq!((found.len(), found[0].runs.len()), (1, 3));
    assert!(found[0].runs.iter().all(|run| run.moments.is_some() && run.gap.is_none()), "{found:?}");
    assert_eq!(restored_names(&place.location, None, &place.path("restored")), ["a", "b", "c"]);
    let first = found[0].runs[1].moments.unwrap().1;
    assert_eq!(restored_names(&place.location, Some(first), &place.path("restored")), ["a", "b"]);
    assert_eq!(*place.storage.stored_again.lock().unwrap(), []);
}

#[test]
fn a_restored_and_a_copied_directory_begin_lines_of_their_own() {
    let place = Place::new();
    run(&place.path("data"), "a", place.options("data"));
    restore(&place.location, None, &place.path("restored")).unwrap();
    run(&place.path("restored"), "b", place.options("restored"));
    let found = lines(&place.location);
    assert_eq!(found.len(), 2);
    assert_eq!(found[1].restored_from, Some((found[0].name.clone(), 1)));
    // The newest state is of the server that was started last, also if the other one ran longer.
    assert_eq!(restored_names(&place.location, None, &place.path("again")), ["a", "b"]);
    // A copy of the first directory, and then the directory itself.
    std::process::Command::new("cp")
        .arg("-a")
        .arg(place.path("data"))
        .arg(place.path("copy"))
        .status()
        .unwrap();
    run(&place.path("copy"), "c", place.options("copy"));
    run(&place.path("data"), "d", place.options("data"));
    let runs: Vec<usize> = lines(&place.location).iter().map(|line| line.runs.len()).collect();
    assert_eq!(runs, [1, 2, 1]);
    assert_eq!(restored_names(&place.location, None, &place.path("again")), ["a", "d"]);
    assert_eq!(*place.storage.stored_again.lock().unwrap(), []);
}

#[test]
fn a_storage_that_is_away_too_long_makes_a_gap() {
    let place = Place::new();
    let source = place.path("data");
    let store = open(&source, &schema()).unwrap();
    let archiver = start(&store, ArchiveOptions { backlog_bytes: 50_000, ..place.options("data") });
    write(&store, "a");
    wait_for_full_backups(&store, 1);
    std::thread::sleep(Duration::from_millis(300));
    let before_us = now_us();
    place.storage.is_away.store(true, Ordering::SeqCst);
    write(&store, "b");
    wait_until(|| archive_status(&store).failures > 0);
    for number in 1..200 {
        write(&store, &format!("b{number}-{}", "x".repeat(1_000)));
    }
    // Until now the store needs the log itself.
    assert_eq!(archive_status(&store).gaps, 0);
    store.flush().unwrap();
    wait_until(|| archive_status(&store).gaps > 0);
    place.storage.is_away.store(false, Ordering::SeqCst);
    let backups = archive_status(&store).full_backups;
    wait_for_full_backups(&store, backups + 1);
    write(&store, "c");
    close_with(store, &archiver);
    let found = lines(&place.location);
    assert_eq!((found.len(), found[0].runs.len()), (1, 2));
    let why = found[0].runs[1].gap.clone().unwrap();
    assert!(why.contains("of the log were kept for uploads"), "{why}");
    let newest = restored_names(&place.location, None, &place.path("restored"));
    assert_eq!((newest.len(), newest[0].as_str(), newest[201].as_str()), (202, "a", "c"));
    assert_eq!(restored_names(&place.location, Some(before_us), &place.path("restored")), ["a"]);
    assert_eq!(verify(&place.location).damages, Vec::<String>::new());
}

#[test]
fn a_short_outage_makes_no_gap() {
    let place = Place::new();
    let store = open(&place.path("data"), &schema()).unwrap();
    let archiver = start(&store, place.options("data"));
    wait_for_full_backups(&store, 1);
    place.storage.is_away.store(true, Ordering::SeqCst);
    write(&store, "a");
    // The segment is kept although its records are in a table.
    store.flush().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let status = archive_status(&store);
    assert!(status.lag_ms >= 200 && status.lag_bytes > 0 && status.failures > 0, "{status:?}");
    place.storage.is_away.store(false, Ordering::SeqCst);
    write(&store, "b");
    close_with(store, &archiver);
    assert_eq!(lines(&place.location)[0].runs.len(), 1);
    assert_eq!(restored_names(&place.location, None, &place.path("restored")), ["a", "b"]);
}

#[test]
fn retention_removes_what_no_kept_moment_needs() {
    let place = Place::new();
    let keep = Some(Duration::from_millis(1));
    for name in ["a", "b", "c", "d"] {
        run(&place.path("data"), name, ArchiveOptions { keep, ..place.options("data") });
    }
    let found = lines(&place.location);
    let runs: Vec<u32> = found[0].runs.iter().map(|run| run.number).collect();
    // The last full backup before the newest one is needed for the moments between them.
    assert!(runs.last() == Some(&4) && runs.len() <= 2, "{runs:?}");
    assert_eq!(restored_names(&place.location, None, &place.path("restored")), ["a", "b", "c", "d"]);
    let verified = verify(&place.location);
    assert_eq!((verified.damages, verified.moments.len()), (Vec::new(), runs.len()));
}
