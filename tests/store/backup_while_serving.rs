//! Backups of a store while threads write, flush, compact, truncate and change the schema. Each backup must be a state
//! that the store has had, with the writes that were acknowledged before the backup began.
//!
//! `BACKUP_SECONDS` sets the duration; the default is 5.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::thread;
use std::time::{Duration, Instant};

use crate::backup_support::backed_up;
use crate::busy_store::{Busy, KEPT, check, schema};
use crate::store_support::{close, open};

#[test]
fn a_backup_of_a_busy_store_is_a_past_state() {
    let seconds = std::env::var("BACKUP_SECONDS").map_or(5, |text| text.parse().unwrap());
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("data");
    let busy = Busy::new(open(&source, &schema(None)).unwrap());
    let started = Instant::now();
    let (mut backups, mut attempts) = (0, 0);
    thread::scope(|scope| {
        let ending = busy.load(scope);
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
