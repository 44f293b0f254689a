//! Backups during which the source changes before one operation of the disk, for each operation in turn. In each case
//! the backup must equal a state that the store has had.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use crate::store_support::SchemaCalls as _;
use crate::{backup_support, store_support};
use backup_support::options;
use base::model::Change;
use base::schema::Catalog;
use embedded::EmbeddedStore;
use embedded::disk::{Disk, DiskFile, FreeSpace, RealDisk};
use parking_lot::Mutex;
use store::RowPiece;
use store_support::{apply, catalog, cf_of, change, deletion, dumped, family, open, put, wait};

/// A change of the source.
type Step = fn(&EmbeddedStore);

/// The real disk, which runs a function before its n-th operation.
struct Interrupted {
    left: Mutex<usize>,
    happens: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Interrupted {
    fn disk(&self) -> &RealDisk {
        let is_time = {
            let mut left = self.left.lock();
            *left = left.saturating_sub(1);
            *left == 0
        };
        if is_time && let Some(happens) = self.happens.lock().take() {
            happens();
        }
        &RealDisk
    }
}

impl fmt::Debug for Interrupted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Interrupted")
    }
}

impl Disk for Interrupted {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.disk().create(path)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.disk().open(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.disk().read(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk().rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk().link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.disk().remove_file(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.disk().create_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.disk().remove_directory(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.disk().list(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.disk().exists(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.disk().sync_directory(path)
    }

    fn free_space(&self, path: &Path) -> io::Result<FreeSpace> {
        self.disk().free_space(path)
    }
}

fn schema(has_added: bool) -> Catalog {
    let added = has_added.then_some("Added");
    catalog(["Plain", "Other"].into_iter().chain(added).map(|name| family(name, "UTF8Type", None)))
}

/// Returns all rows of the column families `Plain` and `Other`.
fn rows(store: &EmbeddedStore) -> Vec<Vec<RowPiece>> {
    let catalog = schema(true);
    let dump = |name| dumped(store, &cf_of(&catalog, name), 1 << 20);
    vec![dump("Plain"), dump("Other")]
}

/// Returns all rows of all column families. `Added` has no rows if the store does not have it.
fn with_added(store: &EmbeddedStore, has_added: bool) -> Vec<Vec<RowPiece>> {
    let mut all = rows(store);
    all.push(if has_added { dumped(store, &cf_of(&schema(true), "Added"), 1 << 20) } else { Vec::new() });
    all
}

fn write(store: &EmbeddedStore, name: &str, row: &str, timestamp: i64) {
    apply(store, put(&cf_of(&schema(true), name), row, "column", &timestamp.to_string(), timestamp)).unwrap();
}

fn delete(store: &EmbeddedStore, name: &str, row: &str, timestamp: i64) {
    let deleted = vec![Change::DeleteRow { deletion: deletion(timestamp, 1) }];
    apply(store, change(&cf_of(&schema(true), name), row, deleted)).unwrap();
}

/// Returns a store with tables in several levels and rows in its log.
fn filled(directory: &Path) -> EmbeddedStore {
    let store = open(directory, &schema(false)).unwrap();
    for round in 1..=3 {
        for row in 0..20 {
            write(&store, "Plain", &format!("row{row}"), round);
            write(&store, "Other", &format!("row{}", row * round), round);
        }
        if round == 1 { store.compact().unwrap() } else { store.flush().unwrap() }
    }
    write(&store, "Plain", "row0", 4);
    store
}

/// Makes a backup; all steps run before one operation of the disk. Returns whether the backup has so many operations.
fn check(steps: &'static [(Step, bool)], operation: usize) -> bool {
    // In memory if possible, because the stores sync often.
    let place = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let (source, target) = (place.path().join("data"), place.path().join("backup"));
    let store = Arc::new(filled(&source));
    let states = Arc::new(Mutex::new(vec![with_added(&store, false)]));
    let happens = {
        let (store, states) = (store.clone(), states.clone());
        move || {
            for (step, has_added) in steps {
                step(&store);
                states.lock().push(with_added(&store, *has_added));
            }
        }
    };
    let interrupted =
        Arc::new(Interrupted { left: Mutex::new(operation), happens: Mutex::new(Some(Box::new(happens))) });
    let disk: Arc<dyn Disk> = interrupted.clone();
    let outcome = embedded::back_up_on(&disk, &options(&source, &target), &mut |_| {});
    outcome.unwrap_or_else(|error| panic!("operation {operation}: {error}"));
    let restored = open(&target, &schema(true)).unwrap();
    let found = with_added(&restored, true);
    let states = states.lock();
    let is_state = states.contains(&found);
    assert!(is_state, "operation {operation}: the backup equals none of {} states: {found:?}", states.len());
    interrupted.happens.lock().is_none()
}

fn check_all(steps: &'static [(Step, bool)]) {
    let operations = (1..).find(|operation| !check(steps, *operation)).unwrap();
    println!("{operations} operations");
    assert!(operations > 40);
}

#[test]
fn a_backup_during_writes_flushes_and_compactions_is_a_past_state() {
    check_all(&[
        (|store| write(store, "Plain", "row1", 5), false),
        (|store| store.flush().unwrap(), false),
        (|store| delete(store, "Other", "row2", 5), false),
        (|store| write(store, "Plain", "new", 6), false),
        (|store| store.compact().unwrap(), false),
        (|store| write(store, "Other", "row2", 7), false),
    ]);
}

#[test]
fn a_backup_during_a_compaction_is_a_past_state() {
    check_all(&[(|store| store.compact().unwrap(), false)]);
}

#[test]
fn a_backup_during_writes_is_a_past_state() {
    check_all(&[
        (|store| write(store, "Plain", "row1", 5), false),
        (|store| write(store, "Other", "row1", 5), false),
    ]);
}

#[test]
fn a_backup_during_a_truncate_is_a_past_state() {
    check_all(&[
        (|store| write(store, "Other", "before", 5), false),
        (|store| wait(store.truncate(cf_of(&schema(false), "Plain"))).unwrap(), false),
        (|store| write(store, "Plain", "after", 5), false),
        (|store| write(store, "Other", "after", 5), false),
    ]);
}

#[test]
fn a_backup_during_a_schema_change_is_a_past_state() {
    check_all(&[
        (|store| wait(store.alter(Arc::new(schema(true)))).unwrap(), true),
        (|store| write(store, "Added", "row", 5), true),
        (|store| store.flush().unwrap(), true),
        (|store| write(store, "Added", "other", 5), true),
        (|store| wait(store.drop_family(cf_of(&schema(true), "Added"))).unwrap(), false),
        (|store| write(store, "Plain", "after", 6), false),
    ]);
}
