//! Snapshots of the store in memory. The store scripts also run on it (`tests/store/scripts`).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::store_support;
use crate::store_support::SchemaCalls as _;
use base::compat::features::ConsistencyLevel;
use base::model::{Cell, CfMutation, Change, DeletionTime, Mutation, RangeTombstone, RowColumns, SliceRange};
use base::schema::{Catalog, CfDef};
use base::util::meter::{RequestLimits, RequestMeter, metered};
use bytes::Bytes;
use embedded::EmbeddedStore;
use store::{Store, StoreError, StoreSnapshot, StoredSliceCommand};
use store_support as support;
use store_support::{bytes, catalog, cf_of, family, manual_clock, partitioner, wait};

fn families(names: &[&str]) -> Catalog {
    catalog(names.iter().map(|name| family(name, "UTF8Type", None)))
}

fn store(catalog: &Catalog) -> EmbeddedStore {
    EmbeddedStore::in_memory(partitioner("RandomPartitioner"), catalog, manual_clock()).unwrap()
}

fn put(store: &EmbeddedStore, cf: &Arc<CfDef>, key: &str, (name, value): (&str, &str), timestamp: i64) {
    support::apply(store, support::put(cf, key, name, value, timestamp)).unwrap();
}

/// Returns all rows of a column family as text.
fn shown(store: &EmbeddedStore, cf: &Arc<CfDef>) -> String {
    let mut text = String::new();
    let mut rows = support::scan_all(store, cf).unwrap();
    rows.sort_by(|one, other| one.key.cmp(&other.key));
    for row in rows {
        let RowColumns::Cells(cells) = row.columns else { panic!("a Standard row") };
        for cell in cells {
            let [key, name, value] = [&row.key, &cell.name, &cell.value].map(|bytes| support::text(bytes));
            write!(text, "{key}/{name}={value} ").unwrap();
        }
    }
    text.trim_end().to_owned()
}

fn record(store: &EmbeddedStore, name: &str, value: Option<&str>) {
    wait(store.put_records(vec![(name.to_owned(), value.map(bytes))])).unwrap();
}

fn records(store: &EmbeddedStore) -> Vec<(String, Bytes)> {
    wait(store.records()).unwrap()
}

fn alter(store: &EmbeddedStore, catalog: &Catalog) {
    wait(store.alter(Arc::new(catalog.clone()))).unwrap();
}

#[test]
fn range_tombstones_of_a_stored_slice_are_charged_and_limited() {
    let catalog = families(&["A"]);
    let (store, cf) = (store(&catalog), cf_of(&catalog, "A"));
    let of = |at: usize| RangeTombstone {
        super_column: None,
        start: bytes(format!("{at:01000}")),
        finish: bytes(format!("{at:01000}")),
        deletion: support::deletion(1, 1),
    };
    let changes = (0..2000).map(|at| Change::DeleteRange(of(at))).collect();
    support::apply(&store, support::change(&cf, "k", changes)).unwrap();
    let limits = RequestLimits::default();
    let meter = Arc::new(RequestMeter::new(&limits, Arc::default()));
    let command = StoredSliceCommand {
        cf,
        key: bytes("k"),
        super_column: None,
        range: SliceRange::all(),
        cells_per_super: 1,
        max_bytes: usize::MAX,
        max_ranges: 3,
    };
    let slice = wait(metered(meter.clone(), store.stored_slice(command).unwrap())).unwrap();
    assert_eq!((slice.ranges, slice.range_count), (vec![of(0), of(1), of(2)], 2000));
    assert!(limits.memory.held() >= 2 * 2000 * 2000, "{} bytes are charged", limits.memory.held());
    drop(meter);
    assert_eq!(limits.memory.held(), 0);
}

#[test]
fn restore_resets_rows() {
    let catalog = families(&["A"]);
    let (store, cf) = (store(&catalog), cf_of(&catalog, "A"));
    let empty = store.snapshot().unwrap();
    put(&store, &cf, "ann", ("a", "1"), 1);
    put(&store, &cf, "bob", ("a", "1"), 1);
    let first = store.snapshot().unwrap();
    put(&store, &cf, "ann", ("a", "2"), 2);
    put(&store, &cf, "ann", ("b", "2"), 2);
    support::apply(
        &store,
        support::change(&cf, "bob", vec![Change::DeleteRow { deletion: support::deletion(2, 1) }]),
    )
    .unwrap();
    put(&store, &cf, "cat", ("a", "2"), 2);
    let second = store.snapshot().unwrap();
    put(&store, &cf, "cat", ("a", "3"), 3);

    assert_eq!(shown(&store, &cf), "ann/a=2 ann/b=2 cat/a=3");
    for _ in 0..2 {
        store.restore(&first).unwrap();
        assert_eq!(shown(&store, &cf), "ann/a=1 bob/a=1");
        // New writes are compared with the restored cells, and not with the later ones.
        put(&store, &cf, "ann", ("a", "older"), 0);
        put(&store, &cf, "bob", ("a", "same time"), 1);
        put(&store, &cf, "dan", ("a", "0"), 0);
        assert_eq!(shown(&store, &cf), "ann/a=1 bob/a=same time dan/a=0");
        store.restore(&second).unwrap();
        assert_eq!(shown(&store, &cf), "ann/a=2 ann/b=2 cat/a=2");
        store.restore(&empty).unwrap();
        assert_eq!(shown(&store, &cf), "");
    }
    store.restore(&second.clone()).unwrap();
    drop((empty, first, second));
    assert_eq!(shown(&store, &cf), "ann/a=2 ann/b=2 cat/a=2");
}

#[test]
fn restore_resets_truncated_dropped_and_new_column_families() {
    let before = families(&["Truncated", "Dropped", "Remade"]);
    let after = families(&["Truncated", "Remade", "New"]);
    let store = store(&before);
    let [truncated, dropped, remade] = ["Truncated", "Dropped", "Remade"].map(|name| cf_of(&before, name));
    let new = cf_of(&after, "New");
    for cf in [&truncated, &dropped, &remade] {
        put(&store, cf, "k", ("a", "before"), 5);
    }
    let snapshot = store.snapshot().unwrap();
    // After each restore, truncates use the same generation numbers again; these generations must be empty.
    for round in 0..3 {
        wait(store.truncate(truncated.clone())).unwrap();
        assert_eq!(shown(&store, &truncated), "");
        put(&store, &truncated, "k", ("a", "after"), 1);
        wait(store.drop_family(dropped.clone())).unwrap();
        wait(store.drop_family(remade.clone())).unwrap();
        alter(&store, &after);
        assert!(matches!(support::scan_all(&store, &dropped), Err(StoreError::Mismatch(_))));
        assert_eq!((shown(&store, &remade), shown(&store, &new)), (String::new(), String::new()));
        put(&store, &remade, "k", ("a", "remade"), 1);
        put(&store, &new, "k", ("a", "new"), 1);
        let later = store.snapshot().unwrap();

        store.restore(&snapshot).unwrap();
        for cf in [&truncated, &dropped, &remade] {
            assert_eq!(shown(&store, cf), "k/a=before", "{}, round {round}", cf.name);
        }
        assert!(matches!(support::scan_all(&store, &new), Err(StoreError::Mismatch(_))));
        assert_eq!(store.status().undefined, Vec::<String>::new());

        store.restore(&later).unwrap();
        assert_eq!(shown(&store, &truncated), "k/a=after");
        assert_eq!(
            (shown(&store, &remade), shown(&store, &new)),
            ("k/a=remade".to_owned(), "k/a=new".to_owned())
        );
        assert!(matches!(support::scan_all(&store, &dropped), Err(StoreError::Mismatch(_))));
        store.restore(&snapshot).unwrap();
    }
}

#[test]
fn restore_resets_metadata_records() {
    let store = store(&Catalog::default());
    record(&store, "keyspace/Ks", Some("one"));
    record(&store, "removed later", Some(""));
    let snapshot = store.snapshot().unwrap();
    let stored = records(&store);
    record(&store, "keyspace/Ks", Some("two"));
    record(&store, "removed later", None);
    record(&store, "added later", Some("x"));
    assert_ne!(records(&store), stored);
    store.restore(&snapshot).unwrap();
    assert_eq!(records(&store), stored);
    assert_eq!(stored.len(), 2);
}

#[test]
fn restore_resets_gc_grace() {
    let of_grace = |gc_grace_s| catalog([CfDef { gc_grace_s, ..family("A", "UTF8Type", None) }]);
    let clock = manual_clock();
    let long = of_grace(i32::MAX);
    let store = EmbeddedStore::in_memory(partitioner("RandomPartitioner"), &long, clock.clone()).unwrap();
    let cf = cf_of(&long, "A");
    let deletion = support::deletion(5, support::START_S);
    support::apply(&store, support::change(&cf, "k", vec![Change::DeleteRow { deletion }])).unwrap();
    let snapshot = store.snapshot().unwrap();
    alter(&store, &of_grace(1));
    store.restore(&snapshot).unwrap();
    clock.advance_ms(100_000_000);
    while store.sweep().unwrap() > 0 {}
    // The tombstone is still there.
    put(&store, &cf, "k", ("a", "late"), 4);
    assert_eq!(shown(&store, &cf), "");
}

#[test]
fn a_store_on_disk_has_no_snapshots() {
    let directory = tempfile::tempdir().unwrap();
    let on_disk = support::open(directory.path(), &Catalog::default()).unwrap();
    let in_memory = store(&Catalog::default());
    assert!(matches!(on_disk.snapshot().map(drop), Err(StoreError::Invalid(_))));
    assert!(matches!(on_disk.restore(&in_memory.snapshot().unwrap()), Err(StoreError::Invalid(_))));
}

/// Returns a batch of three rows: one in the first column family, one in the second, and one in both.
fn batch(cfs: &[Arc<CfDef>; 2], writer: usize, value: u64) -> Vec<Mutation> {
    let change = |cf: &Arc<CfDef>, name: &str| {
        let mutation = support::put(cf, "", name, &format!("{value:09}"), i64::try_from(value).unwrap());
        mutation.families.into_iter().next().unwrap()
    };
    let both: Vec<CfMutation> = cfs.iter().map(|cf| change(cf, "both")).collect();
    let row = |which: &str, families| Mutation { key: bytes(format!("{which}{writer}")), families };
    vec![row("one", vec![change(&cfs[0], "n")]), row("other", vec![change(&cfs[1], "n")]), row("third", both)]
}

/// Returns the value of the only column of a row.
fn value_of(store: &EmbeddedStore, cf: &Arc<CfDef>, key: &str) -> Option<String> {
    let RowColumns::Cells(cells) = support::read(store, key, support::read_all(cf)).unwrap() else {
        panic!()
    };
    cells.first().map(|cell| support::text(&cell.value))
}

/// Returns the four values that a writer's batches set.
fn values(store: &EmbeddedStore, cfs: &[Arc<CfDef>; 2], writer: usize) -> [Option<String>; 4] {
    let [one, other, third] = ["one", "other", "third"].map(|which| format!("{which}{writer}"));
    [(0, one), (1, other), (0, third.clone()), (1, third)].map(|(at, key)| value_of(store, &cfs[at], &key))
}

#[test]
fn a_snapshot_has_whole_batches() {
    const WRITERS: usize = 3;
    let catalog = families(&["A", "B"]);
    let store = &store(&catalog);
    let cfs = &["A", "B"].map(|name| cf_of(&catalog, name));
    let (is_over, written) = (&AtomicBool::new(false), &AtomicU64::new(0));
    let mut snapshots: Vec<StoreSnapshot> = vec![store.snapshot().unwrap()];
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let mut value = 0;
                while !is_over.load(Ordering::Relaxed) {
                    value += 1;
                    let mutations = batch(cfs, writer, value);
                    wait(store.apply(mutations, support::behaviour(), ConsistencyLevel::One)).unwrap();
                    written.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_micros(100));
                }
            });
        }
        // Another thread truncates and defines a column family.
        let other = families(&["A", "B", "C"]);
        scope.spawn(move || {
            let cf = cf_of(&other, "C");
            while !is_over.load(Ordering::Relaxed) {
                alter(store, &other);
                // A restore may have removed the column family.
                drop(wait(store.truncate(cf.clone())));
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let until = Instant::now() + Duration::from_secs(2);
        for round in 0.. {
            if Instant::now() > until {
                break;
            }
            match round % 3 {
                0 | 1 => snapshots.push(store.snapshot().unwrap()),
                _ => store.restore(&snapshots[round * 7 % snapshots.len()]).unwrap(),
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let mut seen = 0;
    for snapshot in &snapshots {
        store.restore(snapshot).unwrap();
        for writer in 0..WRITERS {
            let found = values(store, cfs, writer);
            assert!(found.iter().all(|value| *value == found[0]), "{found:?}");
            seen += usize::from(found[0].is_some());
        }
    }
    assert!(seen > WRITERS, "no snapshot has a batch");
    println!("{} snapshots, {} batches, {seen} seen", snapshots.len(), written.load(Ordering::Relaxed));
}

/// Locked by tests that use much memory, so that one of them can measure it.
static LARGE: Mutex<()> = Mutex::new(());

/// Runs a function and returns its duration in microseconds.
fn micros(run: impl FnOnce()) -> u128 {
    let began = Instant::now();
    run();
    began.elapsed().as_micros()
}

/// Formats the median and the maximum.
fn summary(mut times: Vec<u128>) -> String {
    times.sort_unstable();
    format!("median {} us, most {} us", times[times.len() / 2], times[times.len() - 1])
}

/// Writes about `bytes_max` bytes in rows of ten columns, to all column families in turn.
fn fill(store: &EmbeddedStore, cfs: &[Arc<CfDef>], bytes_max: usize) {
    let value = Bytes::from(vec![b'v'; 400]);
    let cells =
        |row: usize| (0..10).map(move |column| (format!("column{column}"), 1 + i64::try_from(row).unwrap()));
    for row in 0..bytes_max / 4_200 {
        let changes = cells(row).map(|(name, timestamp)| {
            let cell = Cell::live(bytes(name), value.clone(), timestamp);
            Change::Cell { super_column: None, cell }
        });
        let cf = &cfs[row % cfs.len()];
        support::apply(store, support::change(cf, &format!("row{row}"), changes.collect())).unwrap();
    }
}

#[test]
fn snapshots_of_a_hundred_column_families_and_100_mb() {
    let _alone = LARGE.lock();
    // A build without optimization writes less, because it is slow.
    let bytes_max = if cfg!(debug_assertions) { 10_000_000 } else { 100_000_000 };
    let names: Vec<String> = (0..100).map(|at| format!("Cf{at}")).collect();
    let catalog = families(&names.iter().map(|name| &name[..]).collect::<Vec<_>>());
    let store = store(&catalog);
    let cfs: Vec<Arc<CfDef>> = names.iter().map(|name| cf_of(&catalog, name)).collect();
    let empty = store.snapshot().unwrap();
    fill(&store, &cfs, bytes_max);
    let (mut takes, mut restores, mut resets) = (Vec::new(), Vec::new(), Vec::new());
    let mut full = None;
    takes.push(micros(|| full = Some(store.snapshot().unwrap())));
    let full = full.unwrap();
    let rows = support::scan_all(&store, &cfs[7]).unwrap().len();
    for round in 0..50 {
        resets.push(micros(|| store.restore(&empty).unwrap()));
        assert_eq!(support::scan_all(&store, &cfs[7]).unwrap().len(), 0);
        restores.push(micros(|| store.restore(&full).unwrap()));
        put(&store, &cfs[round], "another", ("a", "v"), 1);
        takes.push(micros(|| drop(store.snapshot().unwrap())));
    }
    store.restore(&full).unwrap();
    assert_eq!(support::scan_all(&store, &cfs[7]).unwrap().len(), rows);
    println!("{bytes_max} bytes in {} column families", cfs.len());
    println!("  snapshot: {}", summary(takes));
    println!("  restore:  {}", summary(restores));
    println!("  reset:    {}", summary(resets));
}

/// Takes 200 snapshots with some writes and deletions before each, and checks them.
fn many_snapshots(keeps: bool) {
    const KEYS: usize = 100;
    let catalog = families(&["A"]);
    let (store, cf) = (store(&catalog), cf_of(&catalog, "A"));
    for at in 0..KEYS {
        put(&store, &cf, &format!("key{at}"), ("a", "0"), 0);
    }
    let mut snapshots = Vec::new();
    for round in 1..=200 {
        for at in 0..5 {
            let key = format!("key{}", (round * 5 + at) % KEYS);
            put(&store, &cf, &key, ("a", &round.to_string()), i64::try_from(round).unwrap());
        }
        let other = format!("other{}", round % 7);
        let (timestamp, deleted) = (i64::try_from(round).unwrap(), support::deletion(0, 1));
        put(&store, &cf, &other, ("a", "short-lived"), timestamp);
        let deletion = DeletionTime { marked_for_delete_at: timestamp, ..deleted };
        support::apply(&store, support::change(&cf, &other, vec![Change::DeleteRow { deletion }])).unwrap();
        let expected = shown(&store, &cf);
        let snapshot = store.snapshot().unwrap();
        assert_eq!(shown(&store, &cf), expected, "after snapshot {round}");
        if keeps {
            snapshots.push((snapshot, expected));
        } else {
            drop(snapshot);
        }
        if [1, 10, 50, 100, 200].contains(&round) {
            let (read, scan) = time_reads(&store, &cf, KEYS);
            println!("  {round:3} snapshots: read {read:.2} us, scan of {KEYS} rows {scan:.0} us");
        }
    }
    for (at, (snapshot, expected)) in snapshots.iter().enumerate().rev().step_by(3) {
        store.restore(snapshot).unwrap();
        assert_eq!(shown(&store, &cf), *expected, "snapshot {at}");
    }
    // When all snapshots are dropped, their layers are merged before the next snapshot.
    let expected = shown(&store, &cf);
    drop(snapshots);
    put(&store, &cf, "key0", ("b", "last"), 1_000);
    drop(store.snapshot().unwrap());
    put(&store, &cf, "key0", ("b", "very last"), 1_001);
    let last = store.snapshot().unwrap();
    assert_eq!(shown(&store, &cf).replace(" key0/b=very last", ""), expected);
    let (read, scan) = time_reads(&store, &cf, KEYS);
    println!("  all dropped:   read {read:.2} us, scan of {KEYS} rows {scan:.0} us");
    drop(last);
}

/// Returns the microseconds of a read of one row, and of a scan of all rows with deleted ones.
fn time_reads(store: &EmbeddedStore, cf: &Arc<CfDef>, keys: usize) -> (f64, f64) {
    let reads = micros(|| {
        for at in 0..1_000 {
            assert!(value_of(store, cf, &format!("key{}", at % keys)).is_some());
        }
    });
    let scan = micros(|| assert!(support::scan_all(store, cf).unwrap().len() >= keys));
    (reads as f64 / 1_000.0, scan as f64)
}

#[test]
fn two_hundred_snapshots_restore_their_rows() {
    println!("all snapshots kept:");
    many_snapshots(true);
}

#[test]
fn two_hundred_dropped_snapshots_leave_the_rows_unchanged() {
    println!("each snapshot dropped at once:");
    many_snapshots(false);
}

/// Returns the resident memory of the process in bytes.
#[cfg(target_os = "linux")]
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[test]
#[cfg(target_os = "linux")]
fn a_dropped_store_frees_its_memory() {
    const BYTES: usize = 20_000_000;
    let _alone = LARGE.lock();
    let catalog = families(&["A", "B"]);
    let cfs = ["A", "B"].map(|name| cf_of(&catalog, name));
    let round = || {
        let clock = manual_clock();
        let store =
            EmbeddedStore::in_memory(partitioner("RandomPartitioner"), &catalog, clock.clone()).unwrap();
        let empty = store.snapshot().unwrap();
        fill(&store, &cfs, BYTES);
        let full = store.snapshot().unwrap();
        fill(&store, &cfs[..1], BYTES / 10);
        store.restore(&full).unwrap();
        drop(store);
        // The engine is dropped, although snapshots still exist.
        assert_eq!(Arc::strong_count(&clock), 1);
        drop((empty, full));
    };
    round();
    round();
    let before = resident_bytes();
    for _ in 0..8 {
        round();
    }
    let grown = resident_bytes().saturating_sub(before);
    println!("8 stores of {BYTES} bytes, one after another, leave {grown} bytes more than before");
    assert!(grown < 3 * BYTES, "{grown} bytes more than before");
}
