//! Writes of all kinds, truncates, drops and definitions are applied one after another. Each moment that is restored must
//! equal the reference model after as many of them as had ended by then.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::sync::Arc;
use std::time::Duration;

use archive::object_store::ObjectStore;
use archive::object_store::memory::InMemory;
use base::compat::features::ConsistencyLevel;
use base::model::{Cell, Change, Mutation};
use base::schema::{Catalog, CfDef};
use embedded::EmbeddedStore;
use store::{RowPiece, Store};

use crate::reference_model::ReferenceModel;
use crate::store_support::{
    SchemaCalls as _, apply, behaviour, bytes, catalog, cf_of, change, close, deletion, dumped, family,
    manual_clock, open, partitioner, put, put_super, wait,
};
use crate::support::Chance;
use crate::{location, now_us, options, restore, start, wait_for_full_backups};

const STEPS: usize = 1_500;
const MOMENTS: usize = 25;
/// Column families with cells, with super columns and with counters, and one that is dropped and defined again.
const FAMILIES: [&str; 4] = ["Cells", "Supers", "Counts", "Passing"];

#[derive(Debug, Clone)]
enum Step {
    Write(Mutation),
    Batch(Vec<Mutation>),
    Truncate(&'static str),
    /// Drops the passing column family, and defines it again.
    Redefine,
    Record(String, Option<String>),
    Flush,
    Compact,
}

/// A step, and when it began and had ended in microseconds since 1970.
struct Done {
    step: Step,
    began_us: i64,
    ended_us: i64,
}

fn schema() -> Catalog {
    let families = FAMILIES.map(|name| family(name, "UTF8Type", (name == "Supers").then_some("UTF8Type")));
    catalog(families)
}

fn without_passing() -> Catalog {
    schema().without(&cf_of(&schema(), "Passing"))
}

fn cf(name: &str) -> Arc<CfDef> {
    cf_of(&schema(), name)
}

fn write(chance: &mut Chance, timestamp: i64) -> Mutation {
    let key = format!("row{}", chance.below(12));
    let name = format!("name{}", chance.below(6));
    let value = format!("value{timestamp}");
    let is_deletion = chance.below(6) == 0;
    match *chance.pick(&FAMILIES) {
        "Counts" => {
            let delta = i64::try_from(chance.below(100)).unwrap() - 50;
            let cell = Cell::increment(bytes(name), delta, timestamp);
            change(&cf("Counts"), &key, vec![Change::Cell { super_column: None, cell }])
        }
        "Supers" if is_deletion => {
            let deleted =
                Change::DeleteSuper { name: bytes("holder1"), deletion: deletion(timestamp, 1_000_000_000) };
            change(&cf("Supers"), &key, vec![deleted])
        }
        "Supers" => put_super(&cf("Supers"), &key, (&format!("holder{}", chance.below(3)), &name), timestamp),
        family if is_deletion => {
            let deleted = Change::DeleteRow { deletion: deletion(timestamp, 1_000_000_000) };
            change(&cf(family), &key, vec![deleted])
        }
        family => put(&cf(family), &key, &name, &value, timestamp),
    }
}

fn step(chance: &mut Chance, number: usize) -> Step {
    let timestamp = i64::try_from(number).unwrap() + 1;
    match chance.below(100) {
        0 => Step::Truncate(["Cells", "Supers", "Counts"][chance.below(3)]),
        1 => Step::Redefine,
        2 => Step::Record(format!("role/{}", chance.below(3)), Some(format!("{number}"))),
        3 => Step::Record(format!("role/{}", chance.below(3)), None),
        4 | 5 => Step::Flush,
        6 => Step::Compact,
        7..20 => {
            let mut batch: Vec<Mutation> = (0..4).map(|_| write(chance, timestamp)).collect();
            batch.sort_by(|a, b| a.key.cmp(&b.key));
            batch.dedup_by(|a, b| a.key == b.key);
            Step::Batch(batch)
        }
        _ => Step::Write(write(chance, timestamp)),
    }
}

/// Takes a step on a store. Flushes are of the embedded store only.
fn take(step: &Step, store: &dyn Store, embedded: Option<&EmbeddedStore>) {
    match step {
        Step::Write(mutation) => apply(store, mutation.clone()).unwrap(),
        Step::Batch(batch) => wait(store.apply(batch.clone(), behaviour(), ConsistencyLevel::One)).unwrap(),
        Step::Truncate(name) => wait(store.truncate(cf(name))).unwrap(),
        Step::Redefine => {
            wait(store.drop_family(cf("Passing"))).unwrap();
            wait(store.alter(Arc::new(without_passing()))).unwrap();
            wait(store.alter(Arc::new(schema()))).unwrap();
        }
        Step::Record(name, value) => {
            wait(store.put_records(vec![(name.clone(), value.as_ref().map(bytes))])).unwrap();
        }
        Step::Flush => embedded.into_iter().for_each(|store| store.flush().unwrap()),
        Step::Compact => embedded.into_iter().for_each(|store| store.compact().unwrap()),
    }
}

/// All rows of all column families, and the metadata records.
type Content = (Vec<Vec<RowPiece>>, Vec<(String, bytes::Bytes)>);

fn content(store: &dyn Store) -> Content {
    let mut records = wait(store.records()).unwrap();
    records.sort();
    (FAMILIES.map(|name| dumped(store, &cf(name), 1 << 20)).to_vec(), records)
}

#[test]
fn any_moment_equals_the_reference_model() {
    let seed = Chance::seed_from("ARCHIVE_SEED");
    println!("ARCHIVE_SEED={seed}");
    let mut chance = Chance::new(seed);
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("data");
    let storage: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let location = location(&storage);
    let store = open(&source, &schema()).unwrap();
    let archiver = start(&store, options(&location, &source));
    wait_for_full_backups(&store, 1);
    let first_us = now_us();
    let mut done = Vec::new();
    for number in 0..STEPS {
        let step = step(&mut chance, number);
        let began_us = now_us();
        take(&step, &store, Some(&store));
        done.push(Done { step, began_us, ended_us: now_us() });
        std::thread::sleep(Duration::from_micros(chance.below(3_000) as u64));
    }
    assert!(archiver.stop(crate::STOP_TIMEOUT));
    close(store);
    let whole_us = usize::try_from(done.last().unwrap().ended_us - first_us).unwrap();
    let mut times: Vec<i64> =
        (0..MOMENTS).map(|_| first_us + i64::try_from(chance.below(whole_us)).unwrap()).collect();
    times.sort_unstable();
    let model = ReferenceModel::new(partitioner("RandomPartitioner"), manual_clock());
    let mut steps = done.iter().peekable();
    for (number, at_us) in times.into_iter().map(Some).chain([None]).enumerate() {
        let target = place.path().join(format!("moment{number}"));
        let restored = restore(&location, at_us, &target).unwrap();
        let at_us = at_us.map_or(i64::MAX, |_| restored.at_us);
        let opened = open(&target, &schema()).unwrap();
        let found = content(&opened);
        close(opened);
        // All steps that ended a while before are in it; one that ran at the time may be.
        while steps
            .peek()
            .is_some_and(|done| done.ended_us < at_us.saturating_sub(500_000) || at_us == i64::MAX)
        {
            take(&steps.next().unwrap().step, &model, None);
        }
        let mut tried = 0;
        while found != content(&model) {
            let next = steps.next_if(|done| done.began_us <= at_us);
            let next =
                next.unwrap_or_else(|| panic!("moment {at_us} equals no state: {tried} were compared"));
            take(&next.step, &model, None);
            tried += 1;
        }
    }
}
