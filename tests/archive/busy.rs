//! A busy store is archived. Each restored moment must be a state of the store at that time, also if requests to the object
//! storage fail, are slow, are repeated or lose their replies, and if lists are late.
//!
//! `ARCHIVE_SECONDS` sets the duration, `ARCHIVE_MOMENTS` the number of moments, `ARCHIVE_SEED` repeats the choices.
//! `ARCHIVE_URL` is an address in an object storage that is empty.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use archive::ArchiveLocation;
use archive::object_store::ObjectStore;
use archive::object_store::memory::InMemory;

use crate::busy_store::{Busy, KEPT, Numbers, check, schema};
use crate::faulty_storage::{Faults, FaultyStorage};
use crate::store_support::{close, open};
use crate::support::Chance;
use crate::{address, location, now_us, options, restore, start, verify, wait_for_full_backups};

/// Moments are noted every 50 milliseconds. On a busy machine it takes longer.
const SLACK_US: i64 = 1_000_000;

/// The numbers that were acknowledged at a time, in microseconds since 1970.
struct Sample {
    at_us: i64,
    numbers: Numbers,
}

fn from_environment(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn each_moment_of_a_busy_store_is_a_past_state() {
    let directory = tempfile::tempdir().unwrap();
    let location = ArchiveLocation::open(&address(directory.path(), "busy"), true).unwrap();
    check_moments(&location, &location);
}

#[test]
fn faults_of_the_object_storage_make_no_wrong_state() {
    let inner: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let faults = Faults { errors: 5, lost_replies: 5, repeats: 5, slow: 20, late_ms: 300 };
    let faulty: Arc<dyn ObjectStore> = Arc::new(FaultyStorage::new(inner.clone(), faults));
    check_moments(&location(&faulty), &location(&inner));
}

/// Archives a busy store to one location, and restores from another one, which has the same objects.
fn check_moments(to: &ArchiveLocation, from: &ArchiveLocation) {
    let seed = Chance::seed_from("ARCHIVE_SEED");
    println!("ARCHIVE_SEED={seed}");
    let mut chance = Chance::new(seed);
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("data");
    let busy = Busy::new(open(&source, &schema(None)).unwrap());
    let archiver = start(&busy.store, options(to, &source));
    let mut samples = Vec::new();
    let seconds = Duration::from_secs(from_environment("ARCHIVE_SECONDS", 5));
    let mut first_us = 0;
    thread::scope(|scope| {
        let ending = busy.load(scope);
        wait_for_full_backups(&busy.store, 1);
        first_us = now_us();
        let began = Instant::now();
        while began.elapsed() < seconds {
            samples.push(Sample { at_us: now_us(), numbers: busy.numbers() });
            thread::sleep(Duration::from_millis(5));
        }
        drop(ending);
    });
    let last = busy.numbers();
    assert!(last.iter().all(|number| *number > KEPT), "{last:?}");
    assert!(archiver.stop(crate::STOP_TIMEOUT), "not all was uploaded");
    let runs = crate::wait(archive::list(from)).unwrap().remove(0).runs;
    assert!(runs.len() == 1, "{runs:?}");
    close(busy.store);
    let newest = place.path().join("newest");
    restore(from, None, &newest).unwrap();
    assert_eq!(check(&newest, last), last);
    for number in 0..from_environment("ARCHIVE_MOMENTS", 8) {
        let whole_us = usize::try_from(samples.last().unwrap().at_us - first_us).unwrap();
        let at_us = first_us + i64::try_from(chance.below(whole_us)).unwrap();
        let target = place.path().join(format!("moment{number}"));
        let restored = restore(from, Some(at_us), &target).unwrap();
        assert!((at_us - SLACK_US..=at_us).contains(&restored.at_us), "{} for {at_us}", restored.at_us);
        let known = samples.iter().rev().find(|sample| sample.at_us < at_us - SLACK_US);
        let found = check(&target, known.map_or(Numbers::default(), |sample| sample.numbers));
        // A batch that had not begun is not there: one number is under way.
        if let Some(later) = samples.iter().find(|sample| sample.at_us > at_us) {
            let is_known = found.iter().zip(later.numbers).all(|(found, later)| *found <= later + 1);
            assert!(is_known, "{found:?} at {at_us}, and later {:?}", later.numbers);
        }
        std::fs::remove_dir_all(&target).unwrap();
    }
    let verified = verify(from);
    assert_eq!((&verified.damages, verified.moments.len()), (&Vec::new(), 1), "{verified:?}");
}
