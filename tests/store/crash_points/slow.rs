//! Writers on a slow disk.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base::util::Clock;
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode};

use super::run::PERIODIC;
use crate::faulty_disk::{FaultyDisk, work_directory};
use crate::store_support as support;

const WRITERS: usize = 16;
const WRITES: usize = 5;

/// Writes from several threads on a disk on which each sync takes 20 ms. Returns the number of calls of the disk.
fn calls_of_writers(sync: SyncMode) -> u64 {
    let directory = work_directory();
    let disk = FaultyDisk::new(directory.path(), 1);
    let catalog = support::catalog([support::family("Users", "BytesType", None)]);
    let options = EmbeddedOptions { sync, ..support::options(&disk.data()) };
    let (random, clock) = (support::partitioner("RandomPartitioner"), Arc::new(Clock::system()));
    let store = EmbeddedStore::open_on(Arc::new(disk.clone()), options, random, &catalog, clock).unwrap();
    let users = support::cf_of(&catalog, "Users");
    support::apply(&store, support::put(&users, "first", "name", "value", 1)).unwrap();
    disk.set_sync_takes(Duration::from_millis(20));
    let before = disk.calls();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (store, users) = (&store, &users);
            scope.spawn(move || {
                for number in 0..WRITES {
                    let put = support::put(users, &format!("{writer}/{number}"), "name", "value", 1);
                    support::apply(store, put).unwrap();
                }
            });
        }
    });
    disk.calls() - before
}

#[test]
fn concurrent_writers_share_syncs() {
    let writes = (WRITERS * WRITES) as u64;
    let calls = calls_of_writers(SyncMode::Batch);
    assert!((writes + 1..writes + writes / 2).contains(&calls), "{calls} calls for {writes} writes");
}

#[test]
fn writers_do_not_wait_for_periodic_syncs() {
    assert_eq!(calls_of_writers(PERIODIC), (WRITERS * WRITES) as u64);
}
