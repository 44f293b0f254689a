//! Backups of a store while threads write, flush, compact, truncate and change the schema. Each backup must be a state
//! that the store has had.
//!
//! Every writer applies numbered batches, one after another. Batch `n` writes a row to each of two column families,
//! stores `n` as the writer's newest number in both, and deletes the rows of batch `n - KEPT`. The value of a row lists
//! the numbers that all writers had reached when its batch began. So the following is true of every state of the store,
//! and is checked for each backup:
//!
//! - Both column families have the same newest number of a writer, and exactly the rows of its last batches.
//! - A writer's newest number is at least the one that was acknowledged when the backup began.
//! - No row lists a larger number of another writer than that writer's newest number.
//!
//! `BACKUP_SECONDS` sets the duration; the default is 5.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::store_support::SchemaCalls as _;
use crate::{backup_support, store_support};
use backup_support::backed_up;
use base::compat::features::ConsistencyLevel;
use base::model::{Cell, Change, DeletionTime, Mutation, RowColumns};
use base::schema::{Catalog, CfDef};
use embedded::EmbeddedStore;
use store::Store;
use store_support as support;
use store_support::{bytes, catalog, cf_of, change, close, family, open, text, wait};

const WRITERS: usize = 3;
/// The number of a writer's rows that are not deleted.
const KEPT: u64 = 40;
/// The number of rows that are written to the third column family before it is truncated.
const ROUND: u64 = 20;
/// The two column families of the writers, and the one that is truncated.
const LEFT: &str = "Left";
const RIGHT: &str = "Right";
const ERASED: &str = "Erased";

/// The newest number of each writer.
type Numbers = [u64; WRITERS];

fn schema(extra: Option<&str>) -> Catalog {
    let families = [LEFT, RIGHT, ERASED].into_iter().chain(extra);
    catalog(families.map(|name| family(name, "UTF8Type", None)))
}

/// A store under test, and the number of the last acknowledged batch of each writer.
struct Busy {
    store: EmbeddedStore,
    acknowledged: [AtomicU64; WRITERS],
    is_ending: AtomicBool,
}

impl Busy {
    fn numbers(&self) -> Numbers {
        std::array::from_fn(|writer| self.acknowledged[writer].load(Ordering::SeqCst))
    }

    /// Calls a function repeatedly until the test ends.
    fn repeat(&self, pause: Duration, mut run: impl FnMut(u64)) {
        for number in 1.. {
            if self.is_ending.load(Ordering::SeqCst) {
                return;
            }
            run(number);
            thread::sleep(pause);
        }
    }

    fn write(&self, writer: usize, number: u64) {
        let numbers = self.numbers().map(|number| number.to_string()).join(" ");
        let timestamp = i64::try_from(number).unwrap();
        let catalog = schema(None);
        let mut batch = Vec::new();
        for name in [LEFT, RIGHT] {
            let cf = &cf_of(&catalog, name);
            batch.push(cell(cf, &format!("{name}-{writer}-{number}"), &numbers, timestamp));
            batch.push(cell(cf, &format!("{name}-{writer}-newest"), &number.to_string(), timestamp));
            if let Some(old) = number.checked_sub(KEPT).filter(|old| *old > 0) {
                let deletion = DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: 1 };
                let deleted = vec![Change::DeleteRow { deletion }];
                batch.push(change(cf, &format!("{name}-{writer}-{old}"), deleted));
            }
        }
        wait(self.store.apply(batch, support::behaviour(), ConsistencyLevel::One)).unwrap();
        self.acknowledged[writer].store(number, Ordering::SeqCst);
    }

    /// Writes a round of rows, and truncates their column family.
    fn erase(&self, round: u64) {
        let cf = cf_of(&schema(None), ERASED);
        for number in 0..ROUND {
            support::apply(&self.store, cell(&cf, &format!("{round}-{number}"), "v", 1)).unwrap();
        }
        wait(self.store.truncate(cf)).unwrap();
    }

    /// Creates a column family and a metadata record, and drops both.
    fn change_schema(&self, number: u64) {
        let name = format!("Extra{}", number % 4);
        let with_extra = schema(Some(&name));
        let cf = cf_of(&with_extra, &name);
        wait(self.store.alter(Arc::new(with_extra))).unwrap();
        wait(self.store.put_records(vec![(format!("keyspace/{name}"), Some(bytes("{}")))])).unwrap();
        support::apply(&self.store, cell(&cf, "row", "v", 1)).unwrap();
        wait(self.store.drop_family(cf)).unwrap();
        wait(self.store.put_records(vec![(format!("keyspace/{name}"), None)])).unwrap();
        wait(self.store.alter(Arc::new(schema(None)))).unwrap();
    }
}

/// Returns a mutation that writes a row with one column.
fn cell(cf: &Arc<CfDef>, key: &str, value: &str, timestamp: i64) -> Mutation {
    let cell = Cell::live(bytes("column"), bytes(value), timestamp);
    change(cf, key, vec![Change::Cell { super_column: None, cell }])
}

/// Returns the live rows of a column family with the value of their only column.
fn rows(store: &EmbeddedStore, name: &str) -> BTreeMap<String, String> {
    let cf = cf_of(&schema(None), name);
    let rows = support::scan_all(store, &cf).unwrap().into_iter();
    let value = |columns| match columns {
        RowColumns::Cells(cells) => cells.first().map(|cell| text(&cell.value)),
        RowColumns::Supers(_) => panic!("super columns"),
    };
    rows.filter_map(|row| value(row.columns).map(|value| (text(&row.key), value))).collect()
}

/// Checks that the directory has a state of the store after these numbers were acknowledged.
fn check(directory: &Path, acknowledged: Numbers) {
    let store = open(directory, &schema(None)).unwrap();
    let mut newest = Numbers::default();
    for name in [LEFT, RIGHT] {
        let mut found = rows(&store, name);
        let numbers: Numbers = std::array::from_fn(|writer| {
            found.remove(&format!("{name}-{writer}-newest")).map_or(0, |number| number.parse().unwrap())
        });
        if name == RIGHT {
            assert_eq!(numbers, newest, "a batch is in one column family only");
        }
        newest = numbers;
        for (writer, newest) in newest.iter().enumerate() {
            assert!(
                *newest >= acknowledged[writer],
                "{newest} of writer {writer}, {acknowledged:?} acknowledged"
            );
            for number in newest.saturating_sub(KEPT) + 1..=*newest {
                let row = found.remove(&format!("{name}-{writer}-{number}"));
                let row = row.unwrap_or_else(|| panic!("{name}: batch {number} of {writer} is missing"));
                let seen: Vec<u64> = row.split(' ').map(|number| number.parse().unwrap()).collect();
                assert!(
                    seen.iter().zip(&numbers).all(|(seen, newest)| seen <= newest),
                    "{seen:?} {numbers:?}"
                );
            }
        }
        assert_eq!(found, BTreeMap::new(), "{name}: rows that were deleted, or are newer than {newest:?}");
    }
    let erased: Vec<String> = rows(&store, ERASED).into_keys().collect();
    if let Some(first) = erased.first() {
        let round = first.split('-').next().unwrap();
        for number in 0..erased.len() {
            assert!(erased.contains(&format!("{round}-{number}")), "{erased:?}");
        }
    }
    close(store);
}

#[test]
fn a_backup_of_a_busy_store_is_a_past_state() {
    let seconds = std::env::var("BACKUP_SECONDS").map_or(5, |text| text.parse().unwrap());
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("data");
    let busy = Busy {
        store: open(&source, &schema(None)).unwrap(),
        acknowledged: Default::default(),
        is_ending: AtomicBool::new(false),
    };
    let started = Instant::now();
    let (mut backups, mut attempts) = (0, 0);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let busy = &busy;
            scope.spawn(move || busy.repeat(Duration::from_millis(1), |number| busy.write(writer, number)));
        }
        scope.spawn(|| busy.repeat(Duration::from_millis(70), |_| busy.store.flush().unwrap()));
        scope.spawn(|| busy.repeat(Duration::from_millis(300), |_| busy.store.compact().unwrap()));
        scope.spawn(|| busy.repeat(Duration::from_millis(200), |round| busy.erase(round)));
        scope.spawn(|| busy.repeat(Duration::from_millis(500), |number| busy.change_schema(number)));
        // Stops the threads also if this one panics.
        let ending = Ending(&busy.is_ending);
        while started.elapsed() < Duration::from_secs(seconds) {
            let acknowledged = busy.numbers();
            let target = place.path().join(format!("backup{backups}"));
            let summary = backed_up(&source, &target);
            check(&target, acknowledged);
            std::fs::remove_dir_all(&target).unwrap();
            backups += 1;
            attempts += summary.attempts;
        }
        drop(ending);
    });
    let last = busy.numbers();
    println!("{backups} backups in {attempts} attempts, {last:?} batches");
    assert!(backups >= 3 && last.iter().all(|number| *number > KEPT));
    close(busy.store);
    check(&source, last);
}

/// Stops the threads when it is dropped.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
