//! Archives: each restored state is one that the store had, under faults of the object storage, too.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod busy;
#[path = "../support/busy_store.rs"]
mod busy_store;
mod damage;
mod faulty_storage;
mod fixture;
mod lines;
mod moments;
mod program;
#[path = "../reference_model/mod.rs"]
mod reference_model;
#[path = "../support/store/mod.rs"]
mod store_support;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use archive::object_store::ObjectStore;
use archive::{
    ArchiveError, ArchiveLocation, ArchiveOptions, ArchiveVerified, Archiver, FullSchedule, RestoreOptions,
    RestoreSummary,
};
use embedded::EmbeddedStore;

/// The time for the upload of the last writes.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the options of an archive with small parts and frequent full backups.
fn options(location: &ArchiveLocation, directory: &Path) -> ArchiveOptions {
    ArchiveOptions {
        location: location.clone(),
        directory: directory.to_owned(),
        keep: None,
        backlog_bytes: 1 << 30,
        bytes_per_s: None,
        part_every: Duration::from_millis(100),
        full_backups: FullSchedule {
            latest: Duration::from_millis(700),
            log_bytes: 0,
            earliest: Duration::from_millis(700),
        },
    }
}

fn start(store: &EmbeddedStore, options: ArchiveOptions) -> Archiver {
    Archiver::start(store.archive_source().unwrap(), options).unwrap()
}

/// Waits until a store has this many full backups in its archive.
fn wait_for_full_backups(store: &EmbeddedStore, count: u64) {
    let began = std::time::Instant::now();
    while archive_status(store).full_backups < count {
        assert!(began.elapsed() < STOP_TIMEOUT, "{:?}", archive_status(store));
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn archive_status(store: &EmbeddedStore) -> store::ArchiveStatus {
    store::Store::status(store).archive.unwrap()
}

fn location(storage: &Arc<dyn ObjectStore>) -> ArchiveLocation {
    ArchiveLocation::new(storage.clone(), "archive")
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn restore(from: &ArchiveLocation, at_us: Option<i64>, to: &Path) -> Result<RestoreSummary, ArchiveError> {
    let options = RestoreOptions { from: from.clone(), line: None, at_us, to: Some(to.to_owned()) };
    wait(archive::restore(&options, &mut |_| {}))
}

fn verify(from: &ArchiveLocation) -> ArchiveVerified {
    wait(archive::verify(from, &mut |_| {})).unwrap()
}

/// Returns the address of a new archive: in the object storage of `ARCHIVE_URL`, or else in a directory.
fn address(directory: &Path, name: &str) -> String {
    match std::env::var("ARCHIVE_URL") {
        Ok(url) => format!("{}/{name}-{}", url.trim_end_matches('/'), now_us()),
        Err(_) => format!("file://{}/{name}", directory.display()),
    }
}

fn now_us() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap()
}
