//! A store on which threads write, flush, compact, truncate and change the schema, and what is true of each of its states.
//!
//! Every writer applies numbered batches, one after another. Batch `n` writes a row to each of two column families,
//! stores `n` as the writer's newest number in both, and deletes the rows of batch `n - KEPT`. The value of a row lists
//! the numbers that all writers had reached when its batch began. So the following is true of every state of the store:
//!
//! - Both column families have the same newest number of a writer, and exactly the rows of its last batches.
//! - A writer's newest number is at least the one that was acknowledged before.
//! - No row lists a larger number of another writer than that writer's newest number.
#![allow(dead_code, reason = "every test binary uses its own part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Scope};
use std::time::Duration;

use crate::store_support;
use crate::store_support::SchemaCalls as _;
use base::compat::features::ConsistencyLevel;
use base::model::{Cell, Change, DeletionTime, Mutation, RowColumns};
use base::schema::{Catalog, CfDef};
use embedded::EmbeddedStore;
use store::Store;
use store_support as support;
use store_support::{bytes, catalog, cf_of, change, close, family, open, text, wait};

pub const WRITERS: usize = 3;
/// The number of a writer's rows that are not deleted.
pub const KEPT: u64 = 40;
/// The number of rows that are written to the third column family before it is truncated.
const ROUND: u64 = 20;
/// The two column families of the writers, and the one that is truncated.
const LEFT: &str = "Left";
const RIGHT: &str = "Right";
const ERASED: &str = "Erased";

/// The newest number of each writer.
pub type Numbers = [u64; WRITERS];

pub fn schema(extra: Option<&str>) -> Catalog {
    let families = [LEFT, RIGHT, ERASED].into_iter().chain(extra);
    catalog(families.map(|name| family(name, "UTF8Type", None)))
}

/// A store under test, and the number of the last acknowledged batch of each writer.
pub struct Busy {
    pub store: EmbeddedStore,
    acknowledged: [AtomicU64; WRITERS],
    is_ending: AtomicBool,
}

impl Busy {
    pub fn new(store: EmbeddedStore) -> Busy {
        Busy { store, acknowledged: Default::default(), is_ending: AtomicBool::new(false) }
    }

    /// Starts the threads. They end when the returned value is dropped, also by a panic.
    pub fn load<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> Ending<'scope> {
        for writer in 0..WRITERS {
            scope.spawn(move || self.repeat(Duration::from_millis(1), |number| self.write(writer, number)));
        }
        scope.spawn(|| self.repeat(Duration::from_millis(70), |_| self.store.flush().unwrap()));
        scope.spawn(|| self.repeat(Duration::from_millis(300), |_| self.store.compact().unwrap()));
        scope.spawn(|| self.repeat(Duration::from_millis(200), |round| self.erase(round)));
        scope.spawn(|| self.repeat(Duration::from_millis(500), |number| self.change_schema(number)));
        Ending(&self.is_ending)
    }

    pub fn numbers(&self) -> Numbers {
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

/// Checks that the directory has a state of the store after these numbers were acknowledged. Returns the numbers in it.
pub fn check(directory: &Path, acknowledged: Numbers) -> Numbers {
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
    newest
}

/// Stops the threads when it is dropped.
pub struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
