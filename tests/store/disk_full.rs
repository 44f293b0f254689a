//! A full disk: writes are refused with an error that says so, reads continue, and writes continue when there is free
//! space again. No acknowledged write is lost.
//!
//! The commit log is on a simulated disk that the test fills. Tables are written by a library directly to the file
//! system. For them the test mounts a small file system in memory, which only root can do; for other users that test is
//! skipped.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::skip::may_mount;
use crate::{faulty_disk, store_support};
use base::model::{Cell, Change, Mutation};
use base::schema::{Catalog, CfDef};
use base::util::Clock;
use bytes::Bytes;
use embedded::disk::{Disk, FreeSpace, RealDisk};
use embedded::{EmbeddedOptions, EmbeddedStore};
use faulty_disk::{FaultyDisk, work_directory};
use store::{Store, StoreError};
use store_support as support;
use store_support::{apply, catalog, cf_of, close, family, names};

/// The time within which a store must accept writes after space is freed.
const ACCEPTED_WITHIN: Duration = Duration::from_secs(20);

/// A mounted file system of limited size.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(mib: u32) -> Option<SmallDisk> {
        let directory = tempfile::tempdir().unwrap();
        let size = format!("size={mib}m");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "thriftstore-test"])
            .arg(directory.path())
            .output();
        match mount {
            Ok(output) if output.status.success() => Some(SmallDisk(directory)),
            failed => {
                assert!(!may_mount(), "mount: {failed:?}");
                println!("skipped: this process may not mount a small file system");
                None
            }
        }
    }

    fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    /// Fills the file system with another file of this many bytes.
    fn fill(&self, bytes: usize) -> std::io::Result<()> {
        std::fs::write(self.0.path().join("filler"), vec![1; bytes])
    }

    fn free(&self) {
        std::fs::remove_file(self.0.path().join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

fn open(directory: &Path, catalog: &Catalog) -> EmbeddedStore {
    open_on(Arc::new(RealDisk), directory, catalog, Clock::system())
}

fn open_on(disk: Arc<dyn Disk>, directory: &Path, catalog: &Catalog, clock: Clock) -> EmbeddedStore {
    let random = support::partitioner("RandomPartitioner");
    // As large as in a server, so that the disk is full before memtables are flushed.
    let options = EmbeddedOptions { cache_bytes: 256 << 20, ..support::options(directory) };
    EmbeddedStore::open_on(disk, options, random, catalog, Arc::new(clock)).unwrap()
}

/// Returns a write of 4 KiB that cannot be compressed.
fn block(cf: &Arc<CfDef>, number: u64) -> Mutation {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let words = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()
    });
    let value: Vec<u8> = words.take(512).flatten().collect();
    let cell = Cell::live(Bytes::from(format!("{number:08}")), value.into(), 1);
    support::change(cf, &format!("row{}", number % 8), vec![Change::Cell { super_column: None, cell }])
}

/// Writes blocks until one is refused. Returns the number of the refused block, and the error.
fn write_until_refused(store: &dyn Store, cf: &Arc<CfDef>, from: u64) -> (u64, StoreError) {
    for number in from..from + 1_000_000 {
        if let Err(error) = apply(store, block(cf, number)) {
            return (number, error);
        }
    }
    panic!("the disk did not become full")
}

/// Checks that the store has the blocks up to this number, and at most one more.
fn check_blocks(store: &dyn Store, cf: &Arc<CfDef>, written: u64) {
    let found: usize = (0..8).map(|row| names(store, &format!("row{row}"), cf).len()).sum();
    // The refused block may have reached the log.
    assert!((written..=written + 1).contains(&(found as u64)), "{found} blocks of {written}");
}

#[test]
fn writes_stop_before_the_disk_is_full_and_continue_when_space_is_freed() {
    let directory = work_directory();
    let disk = FaultyDisk::new(directory.path(), 1);
    let catalog = catalog([family("A", "BytesType", None)]);
    let a = cf_of(&catalog, "A");
    let open = || open_on(Arc::new(disk.clone()), &disk.data(), &catalog, Clock::system());
    let whole = 48 << 20;
    disk.set_free_space(FreeSpace { free: 16 << 20, whole });
    let store = open();
    let (written, refused) = write_until_refused(&store, &a, 0);
    assert!(matches!(refused, StoreError::ReadOnly(_)), "{refused}");
    assert!(refused.to_string().contains("is nearly full; free some space and write again"), "{refused}");
    assert_eq!(
        store.status().read_only,
        Some(refused.to_string()).map(|text| text.replace("writes are refused: ", ""))
    );
    // An eighth of the disk stays free, and as much as memtables need when they are flushed.
    assert!((1000..10 << 20 >> 12).contains(&written), "{written} blocks");
    check_blocks(&store, &a, written);

    disk.set_free_space(FreeSpace { free: 32 << 20, whole });
    assert_eq!(store.status().read_only, None);
    apply(&store, block(&a, written)).unwrap();
    let (written, _) = write_until_refused(&store, &a, written + 1);
    assert!(written > 4000, "{written} blocks only");
    check_blocks(&store, &a, written);
    close(store);

    check_blocks(&open(), &a, written);
}

/// The disk is large enough to write tables and merge some, and too small for every merge. The engine fails at a merge,
/// refuses writes, and is opened again when there is free space.
#[test]
fn a_disk_that_fills_during_a_merge_loses_nothing() {
    let Some(disk) = SmallDisk::mount(512) else { return };
    let catalog = catalog([family("A", "BytesType", None)]);
    let a = cf_of(&catalog, "A");
    disk.fill(200 << 20).unwrap();
    let store = open(&disk.data(), &catalog);
    let (written, refused) = write_until_refused(&store, &a, 0);
    assert!(matches!(refused, StoreError::ReadOnly(_)), "{refused}");
    println!("{written} blocks were written, then: {refused}");
    // Merges continue for a while, and may fail.
    std::thread::sleep(Duration::from_secs(1));
    check_blocks(&store, &a, written);
    disk.free();
    let (is_done, began) = (AtomicBool::new(false), Instant::now());
    let written = std::thread::scope(|scope| {
        // Reads during the reopening may wait, but must not fail.
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) && began.elapsed() < ACCEPTED_WITHIN {
                    names(&store, "row0", &a);
                }
            });
        }
        let written = accept_again(&store, &a, written);
        is_done.store(true, Ordering::Relaxed);
        written
    });
    check_blocks(&store, &a, written);
    let _ = support::wait(store.close());
    drop(store);
    check_blocks(&open(&disk.data(), &catalog), &a, written);
}

/// Writes 100 blocks, and retries until the store accepts them. Returns the number of blocks in the store.
fn accept_again(store: &dyn Store, cf: &Arc<CfDef>, written: u64) -> u64 {
    let deadline = Instant::now() + ACCEPTED_WITHIN;
    for number in written..written + 100 {
        while let Err(error) = apply(store, block(cf, number)) {
            println!("still refused: {error}");
            assert!(Instant::now() < deadline, "{error}");
            std::thread::sleep(Duration::from_millis(500));
        }
    }
    written + 100
}

/// Another program fills the disk at once, so that the log cannot be written.
#[test]
fn a_disk_that_is_suddenly_full_loses_nothing() {
    let directory = work_directory();
    let disk = FaultyDisk::new(directory.path(), 1);
    let catalog = catalog([family("A", "BytesType", None)]);
    let a = cf_of(&catalog, "A");
    let open = |clock| open_on(Arc::new(disk.clone()), &disk.data(), &catalog, clock);
    // With a clock that does not advance, the store does not check the free space, so it meets the error itself.
    let store = open(Clock::manual(0));
    for number in 0..300 {
        apply(&store, block(&a, number)).unwrap();
    }
    store.compact().unwrap();
    disk.set_full(true);
    let (written, refused) = write_until_refused(&store, &a, 300);
    assert!(refused.to_string().contains("No space left on device"), "{refused}");
    assert_eq!(written, 300);
    let refused = apply(&store, block(&a, written)).unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly(_)), "{refused}");
    let refused = store.flush().unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly(_)), "{refused}");
    check_blocks(&store, &a, written);
    disk.set_full(false);
    let written = accept_again(&store, &a, written);
    close(store);
    let store = open(Clock::system());
    check_blocks(&store, &a, written);
    apply(&store, block(&a, written)).unwrap();
    check_blocks(&store, &a, written + 1);
}
