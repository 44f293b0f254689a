//! Behaviour of the embedded store beyond the `Store` trait: it stores the schema, locks and checks its directory,
//! syncs, flushes and sweeps.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::sync::Arc;
use std::time::Duration;

use crate::store_support;
use crate::store_support::SchemaCalls as _;
use base::compat::features::ConsistencyLevel;
use base::model::{Cell, CellKind, Change, Mutation, RowColumns, SliceRange};
use base::schema::{Catalog, CfDef};
use base::util::Clock;
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode};
use store::{Store, StoreError};
use store_support as support;
use store_support::{apply, catalog, cf_of, close, family, names, open, put, put_super, read};

/// Returns the error of opening a directory, which must fail.
fn refusal(opened: Result<EmbeddedStore, StoreError>) -> String {
    match opened {
        Ok(_) => panic!("the store was opened"),
        Err(error) => error.to_string(),
    }
}

/// Returns a mutation that deletes the cell of [`put`].
fn delete(cf: &Arc<CfDef>, key: &str, name: &str, timestamp: i64) -> Mutation {
    let cell = Cell::tombstone(support::bytes(name), timestamp, 1);
    support::change(cf, key, vec![Change::Cell { super_column: None, cell }])
}

#[test]
fn another_comparator_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let first = catalog([family("A", "UTF8Type", None)]);
    let store = open(directory.path(), &first).unwrap();
    apply(&store, put(&cf_of(&first, "A"), "row", "a", "1", 1)).unwrap();
    close(store);
    let text = refusal(open(directory.path(), &catalog([family("A", "LongType", None)])));
    assert!(text.contains("column family K.A holds data written with CompareWith"), "{text}");
    assert!(text.contains("marshal.UTF8Type") && text.contains("marshal.LongType"), "{text}");

    let text = refusal(open(directory.path(), &catalog([family("A", "UTF8Type", Some("UTF8Type"))])));
    assert!(text.contains("K.A holds data of ColumnType Standard, but is now defined as Super"), "{text}");

    let supers = catalog([family("S", "UTF8Type", Some("UTF8Type"))]);
    let store = open(directory.path(), &supers).unwrap();
    apply(&store, put_super(&cf_of(&supers, "S"), "row", ("s", "c"), 1)).unwrap();
    close(store);
    let text = refusal(open(directory.path(), &catalog([family("S", "UTF8Type", Some("BytesType"))])));
    assert!(text.contains("K.S holds data written with CompareSubcolumnsWith"), "{text}");
}

#[test]
fn a_column_family_without_entries_may_change_its_types() {
    let directory = tempfile::tempdir().unwrap();
    let types = [
        ("UTF8Type", None),
        ("LongType", None),
        ("UTF8Type", Some("LongType")),
        ("UTF8Type", Some("BytesType")),
        ("BytesType", None),
    ];
    for (comparator, sub) in types {
        close(open(directory.path(), &catalog([family("A", comparator, sub)])).unwrap());
    }
    let last = catalog([family("A", "BytesType", None)]);
    let a = cf_of(&last, "A");
    let store = open(directory.path(), &last).unwrap();
    apply(&store, put(&a, "row", "a", "1", 1)).unwrap();
    close(store);
    let store = open(directory.path(), &last).unwrap();
    assert_eq!(names(&store, "row", &a), ["a"]);
    close(store);
    // A tombstone is an entry, in the log and in tables.
    let (one, other) = (catalog([family("D", "UTF8Type", None)]), catalog([family("D", "LongType", None)]));
    let d = cf_of(&one, "D");
    let store = open(directory.path(), &one).unwrap();
    apply(&store, put(&d, "row", "a", "1", 1)).unwrap();
    apply(&store, delete(&d, "row", "a", 2)).unwrap();
    close(store);
    let why = refusal(open(directory.path(), &other));
    assert!(
        why.contains("K.D holds data written with") && why.contains("truncate the column family"),
        "{why}"
    );
    let store = open(directory.path(), &one).unwrap();
    store.compact().unwrap();
    apply(&store, put(&d, "long", &"n".repeat(60_000), "1", 1)).unwrap();
    store.compact().unwrap();
    close(store);
    assert!(refusal(open(directory.path(), &other)).contains("K.D holds data written with"));
    // After a truncate there is none.
    let store = open(directory.path(), &one).unwrap();
    support::wait(store.truncate(d.clone())).unwrap();
    close(store);
    let store = open(directory.path(), &other).unwrap();
    let d = cf_of(&other, "D");
    assert!(names(&store, "row", &d).is_empty() && names(&store, "long", &d).is_empty());
    close(store);
    assert!(open(directory.path(), &one).is_ok(), "it is still empty");
}

#[test]
fn a_store_without_entries_may_change_its_partitioner() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "UTF8Type", None)]);
    let a = cf_of(&catalog, "A");
    let opened = |partitioner: &str| {
        let options = support::options(directory.path());
        EmbeddedStore::open(options, support::partitioner(partitioner), &catalog, support::manual_clock())
    };
    let store = open(directory.path(), &catalog).unwrap();
    assert_eq!(store.token_or_new("1").unwrap(), "1");
    close(store);
    let store = opened("OrderPreservingPartitioner").unwrap();
    assert_eq!(
        store.token_or_new("a").unwrap(),
        "a",
        "a token of the earlier partitioner is none of this one"
    );
    apply(&store, put(&a, "row", "a", "1", 1)).unwrap();
    support::wait(store.truncate(a.clone())).unwrap();
    close(store);
    let store = opened("ByteOrderedPartitioner").unwrap();
    apply(&store, put(&a, "row", "a", "1", 1)).unwrap();
    apply(&store, delete(&a, "row", "a", 2)).unwrap();
    close(store);
    assert!(refusal(opened("OrderPreservingPartitioner")).contains("was written with Partitioner"));
}

#[test]
fn another_partitioner_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "UTF8Type", None)]);
    let store = open(directory.path(), &catalog).unwrap();
    apply(&store, put(&cf_of(&catalog, "A"), "row", "a", "1", 1)).unwrap();
    close(store);
    let other = support::partitioner("OrderPreservingPartitioner");
    let options = support::options(directory.path());
    let text = refusal(EmbeddedStore::open(options, other, &catalog, support::manual_clock()));
    assert!(
        text.contains("was written with Partitioner org.apache.cassandra.dht.RandomPartitioner"),
        "{text}"
    );
    assert!(text.contains("OrderPreservingPartitioner is configured"), "{text}");
    // The refused attempt has changed nothing.
    close(open(directory.path(), &catalog).unwrap());
}

#[test]
fn a_column_family_that_is_defined_again_has_its_rows() {
    let directory = tempfile::tempdir().unwrap();
    let (one, two) = (family("One", "UTF8Type", None), family("Two", "UTF8Type", Some("UTF8Type")));
    let both = catalog([one.clone(), two.clone()]);
    let only_two = catalog([two]);

    let store = open(directory.path(), &catalog([one])).unwrap();
    apply(&store, put(&cf_of(&both, "One"), "row", "a", "1", 1)).unwrap();
    let unknown = apply(&store, put_super(&cf_of(&both, "Two"), "row", ("s", "c"), 1)).unwrap_err();
    assert!(unknown.to_string().contains("column family K.Two is not in the store"), "{unknown}");
    close(store);

    let store = open(directory.path(), &only_two).unwrap();
    assert_eq!(store.status().undefined, ["K.One"]);
    apply(&store, put_super(&cf_of(&both, "Two"), "row", ("s", "c"), 1)).unwrap();
    // The column family is defined again while the store is open.
    support::wait(store.alter(Arc::new(both.clone()))).unwrap();
    assert!(store.status().undefined.is_empty());
    assert_eq!(names(&store, "row", &cf_of(&both, "One")), ["a"]);
    assert_eq!(names(&store, "row", &cf_of(&both, "Two")), ["s"]);
    close(store);

    let store = open(directory.path(), &both).unwrap();
    assert_eq!(names(&store, "row", &cf_of(&both, "One")), ["a"]);
}

/// Returns the removed files of a directory that this process still has open: their space is not free.
#[cfg(target_os = "linux")]
fn open_removed_files(directory: &std::path::Path) -> Vec<String> {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap();
    let files = descriptors.filter_map(|descriptor| std::fs::read_link(descriptor.unwrap().path()).ok());
    let files = files.map(|file| file.display().to_string());
    files
        .filter(|file| file.starts_with(directory.to_str().unwrap()) && file.ends_with(" (deleted)"))
        .collect()
}

#[test]
fn a_truncated_column_family_is_empty_and_uses_no_space() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "UTF8Type", None), family("B", "UTF8Type", None)]);
    let (a, b) = (cf_of(&catalog, "A"), cf_of(&catalog, "B"));
    let mut store = open(directory.path(), &catalog).unwrap();
    apply(&store, put(&b, "row", "kept", "1", 1)).unwrap();
    for round in 0..3 {
        for number in 0..200 {
            apply(&store, put(&a, &format!("row{number}"), "a", &"x".repeat(1000), 5)).unwrap();
        }
        store.compact().unwrap();
        assert!(support::scan_all(&store, &a).unwrap().len() >= 200, "round {round}");
        support::wait(store.truncate(a.clone())).unwrap();
        assert!(support::scan_all(&store, &a).unwrap().is_empty(), "round {round}");
        #[cfg(target_os = "linux")]
        assert_eq!(open_removed_files(directory.path()), [""; 0], "round {round}");
        // Older timestamps than before the truncate are accepted.
        apply(&store, put(&a, "row", "older", "1", 1)).unwrap();
        assert_eq!(names(&store, "row", &a), ["older"]);
        close(store);
        store = open(directory.path(), &catalog).unwrap();
        assert_eq!(names(&store, "row", &a), ["older"]);
        assert_eq!(names(&store, "row", &b), ["kept"]);
    }
    let tables = std::fs::read_dir(directory.path().join("tables")).unwrap().count();
    // At most the directory of A: B was never flushed.
    assert!(tables <= 1, "{tables} directories of tables are left");
}

#[test]
fn no_write_is_lost_during_a_truncate() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "UTF8Type", None)]);
    let a = cf_of(&catalog, "A");
    let store = open(directory.path(), &catalog).unwrap();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let (store, a) = (&store, &a);
                scope.spawn(move || {
                    for number in 0..200 {
                        let row = format!("{writer} {number}");
                        apply(store, put(a, &row, "a", "1", 1)).unwrap();
                    }
                })
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            support::wait(store.truncate(a.clone())).unwrap();
        }
    });
    apply(&store, put(&a, "last", "a", "1", 1)).unwrap();
    assert_eq!(names(&store, "last", &a), ["a"]);
}

#[test]
fn other_formats_are_refused_and_unknown_files_are_ignored() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "UTF8Type", None)]);
    let path = directory.path();
    std::fs::write(path.join("letter.txt"), "dear").unwrap();
    close(open(path, &catalog).unwrap());
    assert_eq!(std::fs::read_to_string(path.join("letter.txt")).unwrap(), "dear");

    let format = std::fs::read(path.join("THRIFTSTORE")).unwrap();
    std::fs::write(path.join("THRIFTSTORE"), "thriftstore data, format 5\n").unwrap();
    let text = refusal(open(path, &catalog));
    assert!(text.contains("\"thriftstore data, format 5\", but this version reads"), "{text}");

    std::fs::write(path.join("THRIFTSTORE"), b"\xff").unwrap();
    assert!(matches!(open(path, &catalog), Err(StoreError::Mismatch(_))));

    std::fs::remove_file(path.join("THRIFTSTORE")).unwrap();
    let text = refusal(open(path, &catalog));
    assert!(text.contains("THRIFTSTORE is missing"), "{text}");

    std::fs::write(path.join("THRIFTSTORE"), format).unwrap();
    close(open(path, &catalog).unwrap());
}

#[test]
fn a_directory_is_opened_by_one_store_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "UTF8Type", None)]);
    let a = cf_of(&catalog, "A");
    let store = open(directory.path(), &catalog).unwrap();
    let text = refusal(open(directory.path(), &catalog));
    assert!(text.contains("in use by another process"), "{text}");
    apply(&store, put(&a, "row", "a", "1", 1)).unwrap();
    close(store);
    let store = open(directory.path(), &catalog).unwrap();
    assert_eq!(names(&store, "row", &a), ["a"]);
}

#[test]
fn a_closed_store_refuses_writes() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "UTF8Type", None)]);
    let a = cf_of(&catalog, "A");
    let store = open(directory.path(), &catalog).unwrap();
    support::wait(store.close()).unwrap();
    let refused = apply(&store, put(&a, "row", "a", "1", 1)).unwrap_err();
    assert_eq!(refused.to_string(), "writes are refused: the store is closed");
    // A second close has no effect.
    support::wait(store.close()).unwrap();
}

#[test]
fn all_writers_of_a_batch_sync_return() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "UTF8Type", None)]);
    let a = cf_of(&catalog, "A");
    let sync = SyncMode::Batch;
    let options = EmbeddedOptions { sync, ..support::options(directory.path()) };
    let random = support::partitioner("RandomPartitioner");
    let store = EmbeddedStore::open(options, random, &catalog, Arc::new(Clock::system())).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (store, a) = (&store, &a);
            scope.spawn(move || {
                for number in 0..25 {
                    let row = format!("{}", number % 5);
                    apply(store, put(a, &row, &format!("{writer} {number}"), "1", 1)).unwrap();
                }
            });
        }
    });
    let at_zero =
        store.apply(vec![put(&a, "zero", "a", "1", 1)], support::behaviour(), ConsistencyLevel::Zero);
    support::wait(at_zero).unwrap();
    assert_eq!(names(&store, "zero", &a), ["a"]);
    close(store);
    let store = open(directory.path(), &catalog).unwrap();
    let found: usize = (0..5).map(|row| names(&store, &row.to_string(), &a).len()).sum();
    assert_eq!(found, 200);
}

/// Dropping a store flushes nothing, so the directory is as after a killed process.
#[test]
fn writes_that_are_only_in_the_log_are_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "UTF8Type", None), family("B", "UTF8Type", None)]);
    let (a, b) = (cf_of(&catalog, "A"), cf_of(&catalog, "B"));
    let store = open(directory.path(), &catalog).unwrap();
    let removal = |name: &str| {
        let kind = CellKind::Deleted { local_deletion_time: 1 };
        let cell = Cell { kind, ..Cell::live(support::bytes(name), support::bytes(""), 2) };
        Change::Cell { super_column: None, cell }
    };
    apply(&store, put(&a, "row", "in a table", "1", 1)).unwrap();
    apply(&store, put(&a, "row", "removed", "1", 1)).unwrap();
    apply(&store, put(&b, "truncated", "a", "1", 1)).unwrap();
    store.compact().unwrap();
    apply(&store, put(&a, "row", "in the log", "1", 1)).unwrap();
    apply(&store, support::change(&a, "row", vec![removal("removed")])).unwrap();
    apply(&store, put(&b, "truncated", "b", "1", 1)).unwrap();
    support::wait(store.truncate(b.clone())).unwrap();
    apply(&store, put(&b, "kept", "c", "1", 1)).unwrap();
    let check = |store: EmbeddedStore| {
        assert_eq!(names(&store, "row", &a), ["in a table", "in the log"]);
        let rows = support::scan_all(&store, &b).unwrap();
        assert_eq!(rows.iter().map(|row| support::text(&row.key)).collect::<Vec<_>>(), ["kept"]);
        store
    };
    drop(check(store));
    drop(check(open(directory.path(), &catalog).unwrap()));
    let store = check(open(directory.path(), &catalog).unwrap());
    store.compact().unwrap();
    drop(check(store));
    check(open(directory.path(), &catalog).unwrap());
}

/// Much more is written than fits in memory. Memtables are flushed to tables, and nothing is lost.
#[test]
fn memtables_are_flushed_when_they_are_full() {
    const ROWS: u32 = 40;
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "UTF8Type", None)]);
    let a = cf_of(&catalog, "A");
    let value = "x".repeat(10_000);
    let check = |store: &EmbeddedStore| {
        for row in 0..ROWS {
            assert_eq!(names(store, &format!("row{row}"), &a).len(), 30);
        }
    };
    let store = open(directory.path(), &catalog).unwrap();
    for column in 0..30 {
        for row in 0..ROWS {
            apply(&store, put(&a, &format!("row{row}"), &format!("{column:02}"), &value, 1)).unwrap();
        }
    }
    check(&store);
    let logged = |directory: &std::path::Path| -> u64 {
        let files = std::fs::read_dir(directory.join("log")).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
    };
    // A memtable has half of the cache of 2 MiB, and another may be being flushed.
    assert!(logged(directory.path()) < 6 << 20, "the log has {} bytes", logged(directory.path()));
    drop(store);
    let store = open(directory.path(), &catalog).unwrap();
    check(&store);
    close(store);
    assert!(logged(directory.path()) < 1 << 20, "the log has {} bytes", logged(directory.path()));
    check(&open(directory.path(), &catalog).unwrap());
}

/// Several writers of one cell: the largest timestamp wins in any order.
#[test]
fn concurrent_writers_of_one_cell_keep_the_largest_timestamp() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "UTF8Type", None)]);
    let a = cf_of(&catalog, "A");
    let store = open(directory.path(), &catalog).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4i64 {
            let (store, a) = (&store, &a);
            scope.spawn(move || {
                for number in 0..250 {
                    let timestamp = (number * 7919 + writer * 31) % 1000;
                    apply(store, put(a, "row", "a", &timestamp.to_string(), timestamp)).unwrap();
                }
            });
        }
    });
    let largest =
        (0..4).flat_map(|writer| (0..250).map(move |number| (number * 7919 + writer * 31) % 1000)).max();
    let RowColumns::Cells(cells) = read(&store, "row", support::read_all(&a)).unwrap() else {
        panic!("super columns")
    };
    assert_eq!(Some(cells[0].timestamp), largest);
}

#[test]
fn slices_at_both_ends_of_a_long_row_are_fast() {
    const COLUMNS: u32 = 100_000;
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog([family("A", "BytesType", None)]);
    let a = cf_of(&catalog, "A");
    let store = open(directory.path(), &catalog).unwrap();
    for from in (0..COLUMNS).step_by(5000) {
        let cells = (from..from + 5000).map(|number| {
            let name = support::bytes(number.to_be_bytes());
            Change::Cell { super_column: None, cell: Cell::live(name, support::bytes("v"), 1) }
        });
        apply(&store, support::change(&a, "row", cells.collect())).unwrap();
    }
    store.compact().unwrap();
    let ten = |reversed| {
        let range = SliceRange { reversed, count: 10, ..SliceRange::all() };
        match read(&store, "row", support::slice(&a, range)).unwrap() {
            RowColumns::Cells(cells) => {
                cells.iter().map(|cell| u32::from_be_bytes(cell.name[..].try_into().unwrap())).collect()
            }
            RowColumns::Supers(_) => Vec::new(),
        }
    };
    let started = std::time::Instant::now();
    assert_eq!(ten(false), (0..10).collect::<Vec<u32>>());
    assert_eq!(ten(true), (COLUMNS - 10..COLUMNS).rev().collect::<Vec<u32>>());
    // Reading the whole row would take a hundred times as long.
    assert!(started.elapsed() < Duration::from_millis(200), "{:?}", started.elapsed());
}

#[test]
fn the_sweeper_removes_shadowed_cells_and_then_the_tombstone() {
    let directory = tempfile::tempdir().unwrap();
    let mut short = family("A", "BytesType", None);
    short.gc_grace_s = 1000;
    let catalog = catalog([short]);
    let a = cf_of(&catalog, "A");
    let clock = support::manual_clock();
    let random = support::partitioner("RandomPartitioner");
    let options = support::options(directory.path());
    let store = EmbeddedStore::open(options, random, &catalog, clock.clone()).unwrap();
    let cells = (0..3500u32).map(|number| {
        // Every seventh cell is newer than the deletion.
        let timestamp = if number % 7 == 0 { 9 } else { 1 };
        let name = support::bytes(number.to_be_bytes());
        Change::Cell { super_column: None, cell: Cell::live(name, support::bytes("v"), timestamp) }
    });
    apply(&store, support::change(&a, "row", cells.collect())).unwrap();
    let deletion = support::deletion(5, support::START_S);
    apply(&store, support::change(&a, "row", vec![Change::DeleteRow { deletion }])).unwrap();
    assert_eq!(names(&store, "row", &a).len(), 500);
    clock.advance_ms(600_000);
    assert_eq!(store.sweep().unwrap(), 1);
    assert_eq!(names(&store, "row", &a).len(), 500);
    clock.advance_ms(400_000);
    assert_eq!(store.sweep().unwrap(), 1);
    assert_eq!(store.sweep().unwrap(), 0);
    let older = support::bytes(1u32.to_be_bytes());
    let cell = Cell::live(older, support::bytes("v"), 0);
    apply(&store, support::change(&a, "row", vec![Change::Cell { super_column: None, cell }])).unwrap();
    assert_eq!(names(&store, "row", &a).len(), 501);
}

#[test]
fn the_first_stored_token_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), &catalog([])).unwrap();
    assert_eq!(store.token_or_new("1").unwrap(), "1");
    close(store);
    let store = open(directory.path(), &catalog([])).unwrap();
    assert_eq!(store.token_or_new("2").unwrap(), "1");
}

#[test]
fn a_dropped_column_family_can_be_created_with_other_types() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = support::catalog([support::family("F", "BytesType", None)]);
    let longs = support::catalog([support::family("F", "LongType", None)]);
    let none = support::catalog([]);
    let store = support::open(directory.path(), &bytes).unwrap();
    let old = support::cf_of(&bytes, "F");
    support::apply(&store, support::put(&old, "r", "name", "v", 1)).unwrap();
    support::wait(store.drop_family(old.clone())).unwrap();
    assert!(support::apply(&store, support::put(&old, "r", "name", "v", 2)).is_err());
    assert!(support::wait(store.alter(Arc::new(longs.clone()))).is_ok());
    let new = support::cf_of(&longs, "F");
    assert_eq!(support::names(&store, "r", &new), Vec::<String>::new());
    support::apply(&store, support::put(&new, "r", "8 bytes!", "v", 1)).unwrap();
    support::close(store);

    let store = support::open(directory.path(), &longs).unwrap();
    assert_eq!(support::names(&store, "r", &new), ["8 bytes!"]);
    support::wait(store.drop_family(new)).unwrap();
    support::close(store);
    let store = support::open(directory.path(), &none).unwrap();
    assert_eq!(store.status().undefined, Vec::<String>::new());
    support::close(store);
    let store = support::open(directory.path(), &bytes).unwrap();
    assert_eq!(support::names(&store, "r", &old), Vec::<String>::new());
}

#[test]
fn metadata_records_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let catalog = support::catalog([]);
    let store = support::open(directory.path(), &catalog).unwrap();
    let record = |name: &str, value: Option<&'static str>| (name.to_owned(), value.map(support::bytes));
    support::wait(store.put_records(vec![record("a", Some("1")), record("b", Some("2"))])).unwrap();
    support::wait(store.put_records(vec![record("a", None), record("b", Some("3"))])).unwrap();
    support::close(store);
    let store = support::open(directory.path(), &catalog).unwrap();
    assert_eq!(support::wait(store.records()).unwrap(), [("b".to_owned(), support::bytes("3"))]);
}

/// Client-defined column families are defined some time after the store was opened. The sweeper must not postpone their
/// deletions until the next day before that.
#[test]
fn deletions_are_swept_once_the_whole_schema_is_known() {
    let directory = tempfile::tempdir().unwrap();
    let mut short = family("A", "BytesType", None);
    short.gc_grace_s = 1000;
    let whole = catalog([short]);
    let a = cf_of(&whole, "A");
    let clock = support::manual_clock();
    let open = |catalog: &Catalog| {
        let random = support::partitioner("RandomPartitioner");
        EmbeddedStore::open(support::options(directory.path()), random, catalog, clock.clone()).unwrap()
    };
    let store = open(&whole);
    apply(&store, put(&a, "row", "c", "v", 1)).unwrap();
    let deletion = support::deletion(5, support::START_S);
    apply(&store, support::change(&a, "row", vec![Change::DeleteRow { deletion }])).unwrap();
    close(store);
    clock.advance_ms(600_000);
    let store = open(&catalog([]));
    // Enough time for a sweeper that wrongly does not wait for the schema.
    std::thread::sleep(Duration::from_millis(300));
    support::wait(store.alter(Arc::new(whole.clone()))).unwrap();
    while store.sweep().unwrap() > 0 {}
    clock.advance_ms(401_000);
    let is_gone = (0..500).any(|_| {
        store.sweep().unwrap();
        // This write is older than the deletion, so it is visible only when the tombstone is removed. Another thread of
        // the store may be removing it now.
        apply(&store, put(&a, "row", "older", "v", 2)).unwrap();
        std::thread::sleep(Duration::from_millis(10));
        names(&store, "row", &a) == ["older"]
    });
    assert!(is_gone, "the deletion was postponed");
}
