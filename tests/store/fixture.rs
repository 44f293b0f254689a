//! Data directories of released versions can still be read.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use thriftstore::compat::Behaviour;
use thriftstore::compat::features::ConsistencyLevel;
use thriftstore::config::Config;
use thriftstore::db::{Database, DatabaseParts};
use thriftstore::marshal::{AbstractType, Types};
use thriftstore::model::{
    Cell, CfMutation, Change, Mutation, Predicate, ReadCommand, RowColumns, SliceRange,
};
use thriftstore::schema::Catalog;
use thriftstore::storage::{EmbeddedOptions, EmbeddedStore, Store, SyncMode};
use thriftstore::util::{Clock, Release};

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
    thriftstore::config::parse(thriftstore::config::DEFAULT, "sample", &Types::builtin()).unwrap()
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
    store: &(EmbeddedStore, Catalog),
    family: (&str, &str),
    key: &[u8],
    super_column: Option<&[u8]>,
) -> RowColumns {
    read_as(store, family, key, (super_column, Predicate::Range(SliceRange::all())))
}

/// Reads the columns that a predicate selects, of a row or of a super column.
fn read_as(
    (store, catalog): &(EmbeddedStore, Catalog),
    (keyspace, family): (&str, &str),
    key: &[u8],
    (super_column, predicate): (Option<&[u8]>, Predicate),
) -> RowColumns {
    let command = ReadCommand {
        cf: catalog.column_family(keyspace, family).unwrap().clone(),
        super_column: super_column.map(Bytes::copy_from_slice),
        predicate,
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

#[test]
fn format_1_is_read_and_upgraded_to_format_4() {
    let directory = unpacked("format-1.tar.gz");
    check(&open(directory.path()));
    let mark = std::fs::read_to_string(directory.path().join("THRIFTSTORE")).unwrap();
    assert_eq!(mark, "thriftstore data, format 4\n");
    assert!(!directory.path().join("engine").exists());
    // New writes are stored in format 4, and both kinds are read.
    let store = open(directory.path());
    let cf = store.1.column_family("Keyspace1", "Standard1").unwrap().clone();
    let cell = Cell::live(Bytes::from_static(b"added"), Bytes::from_static(b"v"), 1);
    let families = vec![CfMutation { cf, changes: vec![Change::Cell { super_column: None, cell }] }];
    let mutation = Mutation { key: Bytes::from_static(b"new row"), families };
    let behaviour = Behaviour::of(Release::V0_6);
    wait(store.0.apply(vec![mutation], behaviour, ConsistencyLevel::One)).unwrap();
    wait(store.0.close()).unwrap();
    drop(store);
    let store = open(directory.path());
    check(&store);
    assert_eq!(names(&read(&store, ("Keyspace1", "Standard1"), b"new row", None)), [b"added"]);
}

/// Each fixture has data in tables and in the log.
#[test]
fn formats_2_to_4_are_read() {
    for fixture in ["format-2.tar.gz", "format-3.tar.gz", "format-4.tar.gz"] {
        let directory = unpacked(fixture);
        let store = open(directory.path());
        check(&store);
        let standard = |key: &[u8]| read(&store, ("Keyspace1", "Standard1"), key, None);
        assert_eq!(names(&standard(b"later")), [b"logged"]);
        if fixture == "format-4.tar.gz" {
            assert_eq!(names(&standard(b"1.0")), [b"in format 4"]);
        }
    }
}

/// 120 tables were created and two of them flushed. The file of changes adds a table and a column, truncates a flushed
/// table, and drops a table and a keyspace.
#[test]
fn a_manifest_of_format_2_is_read_with_its_file_of_changes() {
    let directory = unpacked("manifest-2.tar.gz");
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

/// In each column family, names have empty components under a `ReversedType`. Each column family has a row in tables
/// and one in the log; `single` also has a row with cells in both.
#[test]
fn empty_reversed_components_of_format_3_sort_last() {
    let directory = unpacked("reversed-3.tar.gz");
    let catalog = with_clients_schema(directory.path());
    let mark = std::fs::read_to_string(directory.path().join("THRIFTSTORE")).unwrap();
    assert_eq!(mark, "thriftstore data, format 4\n");
    // The second time, the directory is already upgraded.
    for _ in 0..2 {
        let store = (open_with(directory.path(), &catalog), catalog.clone());
        let int = |key: i32| key.to_be_bytes().to_vec();
        let text = |key: &str| key.as_bytes().to_vec();
        for (family, key, names) in [
            ("single", text("1"), 6),
            ("single", text("2"), 6),
            ("single", text("both"), 4),
            ("two", int(1), 8),
            ("two", int(2), 8),
            ("compact", int(1), 3),
            ("compact", int(2), 3),
            ("indexed", text("a"), 4),
            ("indexed", text("b"), 2),
            ("dynamic", text("1"), 4),
            ("dynamic", text("2"), 4),
            ("super", text("1"), 3),
            ("super", text("2"), 3),
            ("superdynamic", text("1"), 4),
            ("superdynamic", text("2"), 4),
        ] {
            assert_eq!(check_order(&store, family, &key), names, "{family} {key:?}");
        }
        let single = read(&store, ("r", "single"), b"1", None);
        let begins = |name: &[u8]| name[..3].to_vec();
        let first: Vec<Vec<u8>> = names(&single).into_iter().map(begins).collect();
        assert_eq!(first, [b"\0\x01y", b"\0\x01y", b"\0\x01x", b"\0\x01x", b"\0\0\0", b"\0\0\0"]);
        wait(store.0.close()).unwrap();
    }
}

/// Checks that the names of a row and of its super columns are in the comparator's order, and that each name is found
/// alone. Returns the number of names at the upper level.
fn check_order(store: &(EmbeddedStore, Catalog), family: &str, key: &[u8]) -> usize {
    let cf = store.1.column_family("r", family).unwrap();
    let check = |columns: &RowColumns, comparator: &dyn AbstractType, of: Option<&[u8]>| {
        let names = names(columns);
        assert!(names.is_sorted_by(|a, b| comparator.compare(a, b).is_lt()), "{family} {names:?}");
        for name in &names {
            let range =
                SliceRange { start: name.to_vec().into(), finish: name.to_vec().into(), ..SliceRange::all() };
            for predicate in
                [Predicate::Names([Bytes::copy_from_slice(name)].into()), Predicate::Range(range)]
            {
                let found = read_as(store, ("r", family), key, (of, predicate));
                assert_eq!(self::names(&found), [*name], "{family} {key:?}");
            }
        }
    };
    let columns = read(store, ("r", family), key, None);
    check(&columns, &*cf.comparator, None);
    if let (RowColumns::Supers(supers), Some(subcomparator)) = (&columns, cf.subcomparator()) {
        for column in supers {
            let cells = read(store, ("r", family), key, Some(&column.name));
            assert_eq!(cells.len(), column.cells.len());
            check(&cells, &**subcomparator, Some(&column.name));
        }
    }
    columns.len()
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
