//! A script is run again and again, and crashes in another call of the disk each time.

use thriftstore::storage::SyncMode;

use super::run::{Losses, Run};
use super::script::{self, Edit, Step};
use crate::faulty_disk::{Chance, Crash, Fault, FaultyDisk, work_directory};

/// Calls in which a recovery crashes, at most: it has fewer.
const RECOVERY_CALLS_MAX: u64 = 60;
/// Steps after a recovery.
const STEPS_AFTER: usize = 6;

/// A crash in a script: everything random follows from it.
#[derive(Debug, Clone, Copy)]
pub struct CrashPoint {
    pub sync: SyncMode,
    pub crash: Crash,
    /// The call of the disk.
    pub call: u64,
    pub seed: u64,
}

/// How many calls of the disk a script makes.
pub fn calls_of(script: &[Step], sync: SyncMode, seed: u64) -> Result<u64, String> {
    let directory = work_directory();
    let disk = FaultyDisk::new(directory.path(), seed);
    let mut run = Run::new(disk.clone(), sync);
    run.run(script).map_err(|error| format!("it fails without a crash: {error}"))?;
    run.check_open(Losses::NONE)?;
    let calls = disk.calls();
    run.close_and_check()?;
    Ok(calls)
}

impl CrashPoint {
    /// Runs the script with this crash, and checks what is there afterwards. Returns how many crashes there were.
    pub fn run(self, script: &[Step]) -> Result<usize, String> {
        let mut chance = Chance::new(self.seed);
        let directory = work_directory();
        let disk = FaultyDisk::new(directory.path(), chance.next());
        disk.plan(Some(Fault::CrashAt(self.call)));
        let mut run = Run::new(disk.clone(), self.sync);
        if let Err(error) = run.run(script)
            && !disk.has_crashed()
        {
            return Err(format!("it fails without a crash: {error}"));
        }
        let mut crashes = Crashes { disk, count: 0, last: self.crash, has_lost_power: false };
        crashes.crash(&mut run, self.crash);
        match chance.below(4) {
            0 => {}
            1 => crashes.crash_in_recovery(&mut run, 1 + chance.next() % 12, &mut chance)?,
            2 => {
                // In each call of the recovery, one after another.
                for call in 1..RECOVERY_CALLS_MAX {
                    let before = crashes.count;
                    crashes.crash_in_recovery(&mut run, call, &mut chance)?;
                    if crashes.count == before {
                        break;
                    }
                }
            }
            _ => crashes.crash_after_recovery(&mut run, &mut chance)?,
        }
        run.check(crashes.losses())?;
        Ok(crashes.count)
    }

    /// Runs the script until it is killed here, opens the store again, and loses power after another write, which is
    /// synced.
    pub fn run_and_lose_power(self, script: &[Step]) -> Result<(), String> {
        let mut chance = Chance::new(self.seed);
        let directory = work_directory();
        let disk = FaultyDisk::new(directory.path(), chance.next());
        disk.plan(Some(Fault::CrashAt(self.call)));
        let mut run = Run::new(disk.clone(), self.sync);
        let _ = run.run(script);
        let mut crashes = Crashes { disk, count: 0, last: self.crash, has_lost_power: false };
        crashes.crash(&mut run, self.crash);
        let failed = |error| format!("it fails after it was opened again: {error}");
        run.recover().map_err(failed)?;
        let last = Step::Write(vec![Edit::Put { place: (0, 0, None, 0), length: 10 }]);
        run.step(&last).map_err(failed)?;
        crashes.crash(&mut run, Crash::PowerFailure);
        run.check(crashes.losses())
    }
}

/// The crashes of one store so far.
struct Crashes {
    disk: FaultyDisk,
    count: usize,
    last: Crash,
    has_lost_power: bool,
}

impl Crashes {
    fn crash(&mut self, run: &mut Run, crash: Crash) {
        if !self.disk.has_crashed() {
            // Nothing that is done while the store is dropped reaches the disk.
            self.disk.plan(Some(Fault::CrashAt(self.disk.calls() + 1)));
        }
        run.drop_store();
        self.disk.crash(crash);
        self.count += 1;
        self.last = crash;
        self.has_lost_power |= crash == Crash::PowerFailure;
    }

    fn losses(&self) -> Losses {
        Losses { unsynced: self.has_lost_power, are_final: self.last == Crash::PowerFailure }
    }

    /// Crashes while the store is opened, unless it makes fewer calls.
    fn crash_in_recovery(&mut self, run: &mut Run, call: u64, chance: &mut Chance) -> Result<(), String> {
        self.disk.plan(Some(Fault::CrashAt(call)));
        let recovered = run.recover();
        if !self.disk.has_crashed() {
            recovered.map_err(|error| format!("it does not open after crash {}: {error}", self.count))?;
            self.disk.plan(None);
            run.check_open(self.losses())?;
            run.drop_store();
            return Ok(());
        }
        self.crash(run, *chance.pick(&Crash::ALL));
        Ok(())
    }

    /// Crashes some steps after the store has been opened again.
    fn crash_after_recovery(&mut self, run: &mut Run, chance: &mut Chance) -> Result<(), String> {
        let failed = |error| format!("it fails after it was opened again: {error}");
        run.recover().map_err(failed)?;
        run.check_open(self.losses())?;
        let steps = chance.below(STEPS_AFTER);
        for step in script::random(chance, steps) {
            run.step(&step).map_err(failed)?;
        }
        self.crash(run, *chance.pick(&Crash::ALL));
        Ok(())
    }
}
