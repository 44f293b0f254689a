//! Crashes in every call that the store makes of its disk.
//!
//! A random script of writes, flushes, truncates and other steps runs on a faulty disk, first without a crash to count
//! the calls, and then with a crash in each call. After each crash the directory must open. It must contain every
//! acknowledged step, and the interrupted step either completely or not at all.
//!
//! `CRASH_SEED=n` repeats one script with all its crashes. `CRASH_SECONDS=n` sets the duration of each test,
//! `CRASH_POINTS=n` the number of its crash points instead, such as 1000000.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod crashes;
mod errors;
use crate::faulty_disk;
mod model;
mod run;
mod schema;
mod script;
mod slow;

use crashes::{CrashPoint, calls_of};
use embedded::SyncMode;
use faulty_disk::{Chance, Crash, Tally};
use run::PERIODIC;
use script::{Edit, Step};

/// The duration of each test, in seconds.
const SECONDS: u64 = 8;
const STEPS_MAX: usize = 40;
/// The maximal number of crash points of a script that is not repeated by its seed.
const POINTS_OF_SCRIPT: usize = 60;

#[test]
fn synced_writes_survive_kills_and_power_failures() {
    crash_everywhere("CommitLogSync batch", SyncMode::Batch);
}

#[test]
fn periodically_synced_writes_survive_kills() {
    crash_everywhere("CommitLogSync periodic", PERIODIC);
}

/// A process is killed during a flush, and the next process depends on changes that the first has not synced.
#[test]
fn a_write_after_a_kill_survives_a_power_failure() {
    let put = |row, length| vec![Edit::Put { place: (0, row, None, 1), length }];
    let script = [
        Step::Write(put(1, 10)),
        Step::WriteAtZero(put(2, 5000)),
        Step::Truncate(2),
        Step::WriteAtZero(put(3, 5000)),
        Step::Flush,
    ];
    let calls = calls_of(&script, SyncMode::Batch, 1).unwrap();
    let mut tally = Tally::new("killed, then without power", 0);
    for call in 1..=calls {
        for seed in 0..20 {
            let point = CrashPoint { sync: SyncMode::Batch, crash: Crash::Kill, call, seed };
            tally.points += 1;
            point
                .run_and_lose_power(&script)
                .unwrap_or_else(|why| panic!("{point:?} of {calls} calls: {why}"));
        }
    }
}

fn crash_everywhere(what: &'static str, sync: SyncMode) {
    let repeated = std::env::var_os("CRASH_SEED").is_some();
    let mut seed = Chance::seed_from("CRASH_SEED");
    let mut seeds = Chance::new(seed);
    println!("{what}: the first script has CRASH_SEED={seed}");
    let mut tally = Tally::new(what, SECONDS);
    while tally.has_time() {
        let mut chance = Chance::new(seed);
        let steps = 1 + chance.below(STEPS_MAX);
        let script = script::random(&mut chance, steps);
        let calls = calls_of(&script, sync, chance.next())
            .unwrap_or_else(|why| panic!("CRASH_SEED={seed}: {why}\n{}", script::text(&script)));
        let points = if repeated { calls as usize } else { POINTS_OF_SCRIPT.min(calls as usize) };
        for number in 0..points {
            if !repeated && !tally.has_time() {
                break;
            }
            let call = if points == calls as usize { number as u64 + 1 } else { 1 + chance.next() % calls };
            for crash in Crash::ALL {
                let point = CrashPoint { sync, crash, call, seed: chance.next() };
                tally.points += 1;
                match point.run(&script) {
                    Ok(crashes) => tally.crashes += crashes,
                    Err(why) => panic!(
                        "CRASH_SEED={seed}: {point:?} of {calls} calls: {why}\n{}",
                        script::text(&script)
                    ),
                }
            }
        }
        if repeated {
            return;
        }
        seed = seeds.next();
    }
}
