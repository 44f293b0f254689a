//! Runs a script in which one call of the disk fails, or that call and all later ones.

use std::io::ErrorKind;

use embedded::SyncMode;
use store::StoreError;

use super::crashes::calls_of;
use super::run::{Losses, PERIODIC, Run};
use super::script::{self, Step};
use crate::faulty_disk::{Chance, Fault, FaultyDisk, Tally, work_directory};

const SECONDS: u64 = 6;
const STEPS_MAX: usize = 30;
const POINTS_OF_SCRIPT: usize = 60;
const KINDS: [ErrorKind; 2] = [ErrorKind::Other, ErrorKind::StorageFull];

#[test]
fn a_failing_disk_loses_no_acknowledged_write() {
    let repeated = std::env::var_os("CRASH_SEED").is_some();
    let mut seed = Chance::seed_from("CRASH_SEED");
    let mut seeds = Chance::new(seed);
    println!("errors: the first script has CRASH_SEED={seed}");
    let mut tally = Tally::new("errors", SECONDS);
    while tally.has_time() {
        let mut chance = Chance::new(seed);
        let sync = *chance.pick(&[SyncMode::Batch, PERIODIC]);
        let steps = 1 + chance.below(STEPS_MAX);
        let script = script::random(&mut chance, steps);
        let calls = calls_of(&script, sync, chance.next())
            .unwrap_or_else(|why| panic!("CRASH_SEED={seed}: {why}\n{}", script::text(&script)));
        let points = if repeated { calls } else { calls.min(POINTS_OF_SCRIPT as u64) };
        for number in 0..points {
            if !repeated && !tally.has_time() {
                break;
            }
            let call = if points == calls { number + 1 } else { 1 + chance.next() % calls };
            for kind in KINDS {
                let fault = Fault::FailAt { call, kind, is_lasting: chance.below(4) == 0 };
                tally.points += 1;
                fail_at(fault, &script, sync, chance.next()).unwrap_or_else(|why| {
                    panic!("CRASH_SEED={seed}: {fault:?} of {calls} calls: {why}\n{}", script::text(&script))
                });
            }
        }
        if repeated {
            return;
        }
        seed = seeds.next();
    }
}

fn fail_at(fault: Fault, script: &[Step], sync: SyncMode, seed: u64) -> Result<(), String> {
    let directory = work_directory();
    let disk = FaultyDisk::new(directory.path(), seed);
    disk.plan(Some(fault));
    let mut run = Run::new(disk.clone(), sync);
    if open_in_spite_of(fault, &disk, &mut run)? {
        go_on_in_spite_of_errors(fault, script, &disk, &mut run)?;
    }
    disk.plan(None);
    run.close_and_check()
}

/// Opens the store, in two attempts if the first fails. Returns `false` if the disk still fails.
fn open_in_spite_of(fault: Fault, disk: &FaultyDisk, run: &mut Run) -> Result<bool, String> {
    for _ in 0..2 {
        match run.open() {
            Ok(()) => return Ok(true),
            Err(StoreError::Io(_) | StoreError::ReadOnly(_)) => {}
            Err(error) => return Err(format!("opening fails, but not because of the disk: {error}")),
        }
    }
    match fault {
        Fault::FailAt { is_lasting: true, .. } => Ok(false),
        _ => Err(format!("the store does not open after one error, at call {}", disk.calls())),
    }
}

/// Runs all steps. Each must succeed or fail with an error that the fault explains. After a failure that makes the
/// store read-only, all later changes must be refused.
fn go_on_in_spite_of_errors(
    fault: Fault,
    script: &[Step],
    disk: &FaultyDisk,
    run: &mut Run,
) -> Result<(), String> {
    // If a drop was refused, the column family is not redefined with other types.
    let mut kept = None;
    for step in script {
        if matches!(step, Step::LeaveOut(family) | Step::MakeAgain(family) if kept == Some(*family)) {
            continue;
        }
        let was_final = run.is_final();
        let outcome = run.step(step);
        if let Step::Drop { family, .. } = step {
            kept = outcome.is_err().then_some(*family);
        }
        let Err(error) = outcome else {
            if was_final && step.changes_contents() && run.is_final() {
                return Err(format!("{step:?} succeeds after a failure that is final"));
            }
            continue;
        };
        let fits = match &error {
            StoreError::ReadOnly(_) => true,
            StoreError::Io(_) => !was_final || !step.changes_contents(),
            // An earlier change of the schema was refused.
            StoreError::Mismatch(text) => text.contains("is not in the store"),
            _ => false,
        };
        if !fits {
            return Err(format!("{step:?} fails with {error:?}"));
        }
        if matches!(step, Step::Reopen) {
            run.drop_store();
            if !open_in_spite_of(fault, disk, run)? {
                return Ok(());
            }
        }
        if !run.is_final() {
            // Reads return the accepted writes, and so must a reopened store.
            run.check_open(Losses { unsynced: false, are_final: true })?;
        }
    }
    Ok(())
}
