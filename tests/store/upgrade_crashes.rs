//! The upgrade of data directories of earlier formats, with a crash in each of its calls of the disk.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::faulty_disk;
use crate::store_support;
use faulty_disk::{Chance, Crash, Fault, FaultyDisk, Tally, work_directory};
use store_support as support;

use thriftstore::config::Config;
use thriftstore::db::{Database, DatabaseParts};
use thriftstore::marshal::Types;
use thriftstore::schema::Catalog;
use thriftstore::storage::disk::Disk;
use thriftstore::storage::{EmbeddedOptions, EmbeddedStore, RowPiece, Store, StoreError, SyncMode};

/// The time for each fixture, in seconds.
const SECONDS: u64 = 3;

/// The rows of every column family with tombstones, and the metadata records.
#[derive(Debug, PartialEq)]
struct Contents {
    families: Vec<(String, Vec<RowPiece>)>,
    records: Vec<String>,
}

impl Contents {
    fn of_store(store: &EmbeddedStore, catalog: &Catalog) -> Contents {
        let families = catalog.stored_families();
        let records = support::wait(store.records()).unwrap();
        Contents {
            families: families.map(|cf| (cf.name.clone(), support::dumped(store, cf, usize::MAX))).collect(),
            records: records.into_iter().map(|record| format!("{record:?}")).collect(),
        }
    }
}

impl Contents {
    /// Lists rows and records that are unexpected or missing.
    fn differences(&self, expected: &Contents) -> String {
        let mut lines = Vec::new();
        for ((name, found), (_, expected)) in self.families.iter().zip(&expected.families) {
            for (what, rows, others) in [("too much", found, expected), ("missing", expected, found)] {
                let odd = rows.iter().filter(|row| !others.contains(row));
                lines.extend(odd.map(|row| format!("{what} in {name}: {:.300}", format!("{row:?}"))));
            }
        }
        if self.records != expected.records {
            lines.push(format!("records: {:?}, expected {:?}", self.records, expected.records));
        }
        lines.join("\n")
    }
}

/// A directory of an earlier format, and its schema from the configuration and from clients.
struct Fixture {
    name: &'static str,
    directory: tempfile::TempDir,
    catalog: Catalog,
}

impl Fixture {
    fn new(name: &'static str) -> Fixture {
        let directory = unpacked(name);
        let place = work_directory();
        let data = place.path().join("data");
        copy(directory.path(), &data);
        let config = configuration();
        let store = EmbeddedStore::open(
            support::options(&data),
            config.partitioner.clone(),
            &config.catalog,
            support::manual_clock(),
        );
        let parts = DatabaseParts::new(
            Arc::new(config.catalog),
            Arc::new(store.unwrap()),
            config.partitioner,
            support::manual_clock(),
        );
        let database = Arc::new(Database::new(parts));
        support::wait(database.stored_schema().load()).unwrap();
        Fixture { name, directory, catalog: Catalog::clone(&database.catalog()) }
    }
}

fn configuration() -> Config {
    thriftstore::config::parse(thriftstore::config::DEFAULT, "sample", &Types::builtin()).unwrap()
}

fn open(disk: Arc<dyn Disk>, data: &Path, catalog: &Catalog) -> Result<EmbeddedStore, StoreError> {
    let options =
        EmbeddedOptions { sync: SyncMode::Periodic(Duration::from_secs(3600)), ..support::options(data) };
    EmbeddedStore::open_on(disk, options, configuration().partitioner, catalog, support::manual_clock())
}

fn contents(disk: &FaultyDisk, catalog: &Catalog) -> Result<Contents, String> {
    let store = open(Arc::new(disk.clone()), &disk.data(), catalog);
    Ok(Contents::of_store(&store.map_err(|error| format!("the store does not open: {error}"))?, catalog))
}

/// Unpacks a fixture into a temporary directory.
fn unpacked(name: &str) -> tempfile::TempDir {
    let directory = work_directory();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let tar = Command::new("tar").arg("-xzf").arg(fixture).arg("-C").arg(directory.path()).status();
    assert!(tar.expect("tar runs").success());
    directory
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, target) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).unwrap();
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(path, target).unwrap();
        }
    }
}

/// Returns a new disk with a copy of the fixture.
fn disk_with(fixture: &Fixture, directory: &Path, seed: u64) -> FaultyDisk {
    let disk = FaultyDisk::new(directory, seed);
    copy(fixture.directory.path(), &disk.data());
    disk
}

fn crash_in_upgrade(fixture: &Fixture) {
    let name = fixture.name;
    let mut seed = Chance::seed_from("CRASH_SEED");
    println!("{name}: CRASH_SEED={seed}");
    let mut tally = Tally::new(name, SECONDS);
    let directory = work_directory();
    let disk = disk_with(fixture, directory.path(), seed);
    let expected = contents(&disk, &fixture.catalog).unwrap();
    let calls = disk.calls();
    assert!(expected.families.iter().any(|(_, rows)| !rows.is_empty()));
    // Crashes in each call at least once, even if that exceeds the time.
    while tally.points == 0 || tally.has_time() {
        let mut chance = Chance::new(seed);
        for call in 1..=calls {
            for crash in Crash::ALL {
                tally.points += 1;
                tally.crashes +=
                    crash_at(fixture, (call, crash), &mut chance, &expected).unwrap_or_else(|why| {
                        panic!("CRASH_SEED={seed}: {crash:?} in call {call} of {calls}: {why}")
                    });
            }
        }
        seed = chance.next();
    }
}

/// Crashes in one call of the upgrade, and usually in a call of the next attempt too. Returns the number of crashes.
fn crash_at(
    fixture: &Fixture,
    (call, crash): (u64, Crash),
    chance: &mut Chance,
    expected: &Contents,
) -> Result<usize, String> {
    let directory = work_directory();
    let disk = disk_with(fixture, directory.path(), chance.next());
    let mut crashes = 0;
    for (call, crash) in [(call, crash), (1 + chance.next() % (2 * call), *chance.pick(&Crash::ALL))] {
        disk.plan(Some(Fault::CrashAt(call)));
        let opened = open(Arc::new(disk.clone()), &disk.data(), &fixture.catalog);
        match opened {
            Err(error) if !disk.has_crashed() => return Err(format!("the store does not open: {error}")),
            opened => drop(opened),
        }
        if disk.has_crashed() {
            disk.crash(crash);
            crashes += 1;
        }
    }
    disk.plan(None);
    let found = contents(&disk, &fixture.catalog)?;
    if found == *expected { Ok(crashes) } else { Err(found.differences(expected)) }
}

#[test]
fn an_interrupted_upgrade_is_completed_by_the_next_start() {
    // All fixtures are unpacked first: while `tar` is started, the child process briefly holds the locks of open
    // directories too.
    let fixtures = ["format-1.tar.gz", "format-2.tar.gz", "reversed-3.tar.gz"].map(Fixture::new);
    fixtures.iter().for_each(crash_in_upgrade);
}
