//! Data directories of released versions can still be read.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::marshal::Types;
use base::model::{Predicate, ReadCommand, RowColumns, SliceRange};
use base::schema::Catalog;
use base::util::{Clock, Release};
use bytes::Bytes;
use config::Config;
use db::{Database, DatabaseParts};
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode};
use store::Store;

/// Unpacks a fixture into a temporary directory, because opening a directory changes it.
fn unpacked(name: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let tar = Command::new("tar").arg("-xzf").arg(fixture).arg("-C").arg(directory.path()).status();
    assert!(tar.expect("tar runs").success());
    directory
}

fn open(directory: &Path) -> (EmbeddedStore, Catalog) {
    let catalog = configuration().catalog;
    (open_with(directory, &catalog), catalog)
}

fn configuration() -> Config {
    config::parse(config::DEFAULT, "sample", &Types::builtin()).unwrap()
}

fn open_with(directory: &Path, catalog: &Catalog) -> EmbeddedStore {
    let options = EmbeddedOptions {
        directory: directory.to_owned(),
        sync: SyncMode::Periodic(std::time::Duration::from_secs(10)),
        cache_bytes: 1 << 20,
    };
    let clock = Arc::new(Clock::system());
    EmbeddedStore::open(options, configuration().partitioner, catalog, clock).unwrap()
}

/// Reads all columns of a row or of a super column.
fn read(
    (store, catalog): &(EmbeddedStore, Catalog),
    (keyspace, family): (&str, &str),
    key: &[u8],
    super_column: Option<&[u8]>,
) -> RowColumns {
    let command = ReadCommand {
        cf: catalog.column_family(keyspace, family).unwrap().clone(),
        super_column: super_column.map(Bytes::copy_from_slice),
        predicate: Predicate::Range(SliceRange::all()),
        behaviour: Behaviour::of(Release::V2_1),
        with_tombstones: false,
        gc_before: i32::MIN,
        now_s: i32::MIN,
    };
    let read = store.read(Bytes::copy_from_slice(key), command, ConsistencyLevel::One);
    wait(read).unwrap()
}

fn wait<T>(future: impl std::future::Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn names(columns: &RowColumns) -> Vec<&[u8]> {
    match columns {
        RowColumns::Cells(cells) => cells.iter().map(|cell| &cell.name[..]).collect(),
        RowColumns::Supers(supers) => supers.iter().map(|super_column| &super_column.name[..]).collect(),
    }
}

/// The fixture has data in tables and in the log. The first start records the tables.
#[test]
fn format_4_is_read() {
    let directory = unpacked("format-4.tar.gz");
    let store = open(directory.path());
    check(&store);
    let manifest = std::fs::read_to_string(directory.path().join("MANIFEST")).unwrap();
    assert!(manifest.starts_with("thriftstore manifest, format 3, "), "{manifest}");
    assert!(manifest.contains("\"list_sum\": ") && !manifest.contains("\"identity\": null"), "{manifest}");
    let standard = |key: &[u8]| read(&store, ("Keyspace1", "Standard1"), key, None);
    assert_eq!(names(&standard(b"later")), [b"logged"]);
    assert_eq!(names(&standard(b"1.0")), [b"in format 4"]);
}

/// A log of format 1 that continues in a segment of format 2: a write, a sync, and another write.
#[test]
fn a_log_of_format_2_is_read() {
    let directory = unpacked("log-2.tar.gz");
    let store = open(directory.path());
    check(&store);
    let standard = |key: &[u8]| read(&store, ("Keyspace1", "Standard1"), key, None);
    assert_eq!(names(&standard(b"1.0")), [b"in format 4"]);
    assert_eq!(names(&standard(b"log 2")), [&b"after the sync"[..], b"before the sync"]);
    assert!(!directory.path().join("log/4.log").exists());
}

/// 120 tables were created and two of them flushed. The directory has format 3, and release 1.0.0 upgraded one like it,
/// without names whose order has changed, by replacing `THRIFTSTORE`. The file of changes adds a table and a column, truncates a flushed
/// table, and drops a table and a keyspace.
#[test]
fn a_manifest_of_format_2_is_read_with_its_file_of_changes() {
    let directory = unpacked("manifest-2.tar.gz");
    std::fs::write(directory.path().join("THRIFTSTORE"), "thriftstore data, format 4\n").unwrap();
    let text = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    assert!(text("MANIFEST").starts_with("thriftstore manifest, format 2, "));
    assert_eq!(text("MANIFEST.2").lines().count(), 7);
    let catalog = with_clients_schema(directory.path());
    assert!(catalog.keyspace("gone").is_none());
    let mut tables: Vec<String> = (0..120).map(|number| format!("t{number:03}")).collect();
    tables.insert(0, "added".to_owned());
    tables.retain(|name| name != "t002");
    assert!(catalog.keyspace("many").unwrap().column_families.keys().eq(tables.iter()));
    let altered = catalog.column_family("many", "t003").unwrap().table.as_ref().unwrap();
    assert!(altered.column("added").is_some());

    let store = (open_with(directory.path(), &catalog), catalog);
    check(&store);
    let cells = |table, key: &str| read(&store, ("many", table), key.as_bytes(), None).len();
    assert_eq!((cells("t000", "flushed0"), cells("t000", "flushed19")), (2, 2));
    assert_eq!((cells("t001", "flushed0"), cells("t001", "logged")), (0, 2));
    assert_eq!(cells("added", "logged"), 2);
}

/// The directory of format 2 after further changes: a table with an index was created, and tables were altered,
/// truncated and dropped.
#[test]
fn a_manifest_of_format_3_is_read_with_its_file_of_changes() {
    let directory = unpacked("manifest-3.tar.gz");
    let text = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    assert!(text("MANIFEST").starts_with("thriftstore manifest, format 3, "));
    let names =
        std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string());
    let changes = names.map(Result::unwrap).find(|name| name.starts_with("MANIFEST.")).unwrap();
    assert_eq!(text(&changes).lines().map(|line| (line.len() + 1) % 512).sum::<usize>(), 0);
    assert!(text(&changes).lines().count() >= 5);
    let catalog = with_clients_schema(directory.path());
    let families = &catalog.keyspace("many").unwrap().column_families;
    assert!(!families.contains_key("t005") && families.len() == 120);
    assert_eq!(families["third"].index_families.len(), 1);
    assert!(families["t004"].table.as_ref().unwrap().column("added").is_some());

    let store = (open_with(directory.path(), &catalog), catalog);
    check(&store);
    let cells = |table, key: &str| read(&store, ("many", table), key.as_bytes(), None).len();
    assert_eq!((cells("t000", "flushed0"), cells("t001", "logged")), (0, 2));
    assert_eq!((cells("added", "logged"), cells("third", "logged")), (2, 2));
}

/// Opens a data directory, loads the client-defined schema, and returns the whole schema.
fn with_clients_schema(directory: &Path) -> Catalog {
    let (store, catalog) = open(directory);
    let clock = Arc::new(Clock::system());
    let parts = DatabaseParts::new(Arc::new(catalog), Arc::new(store), configuration().partitioner, clock);
    let database = Arc::new(Database::new(parts));
    wait(database.stored_schema().load()).unwrap();
    wait(database.indexes().until_built());
    let catalog = Catalog::clone(&database.catalog());
    wait(database.store().close()).unwrap();
    drop(database);
    catalog
}

/// Checks the data that every fixture has.
fn check(store: &(EmbeddedStore, Catalog)) {
    assert_eq!(read(store, ("BloggyAppy", "TaggedPosts"), b"__notag__", None).len(), 12);
    let entry = read(store, ("BloggyAppy", "BlogEntries"), b"i-got-a-new-guitar", None);
    let fields: [&[u8]; 6] = [b"author", b"body", b"pubDate", b"slug", b"tags", b"title"];
    assert_eq!(names(&entry), fields);

    let standard = ("Keyspace1", "Standard1");
    assert_eq!(names(&read(store, standard, b"row", None)), [b"kept"]);
    assert!(read(store, standard, b"deleted", None).is_empty());
    assert_eq!(names(&read(store, ("Keyspace1", "Super1"), b"row", None)), [b"super"]);
    let (long_key, long_name) = (vec![b'l'; 65_535], vec![b'n'; 65_535]);
    let long = read(store, ("Keyspace1", "Super1"), &long_key, Some(&long_name));
    assert_eq!(names(&long), [&long_name[..]]);
}
