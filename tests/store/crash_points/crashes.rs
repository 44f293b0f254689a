//! Runs a script with a crash in one call of the disk, and checks the data directory afterwards.

use embedded::SyncMode;

use super::run::{Losses, Run};
use super::script::{self, Edit, Step};
use crate::faulty_disk::{Chance, Crash, Fault, FaultyDisk, work_directory};

/// An upper limit on the calls of a recovery in which it crashes. A recovery makes fewer calls.
const RECOVERY_CALLS_MAX: u64 = 60;
/// The maximal number of steps after a recovery.
const STEPS_AFTER: usize = 6;

/// A crash in a script. All random choices follow from it.
#[derive(Debug, Clone, Copy)]
pub struct CrashPoint {
    pub sync: SyncMode,
    pub crash: Crash,
    /// The number of the call of the disk.
    pub call: u64,
    pub seed: u64,
}

/// Returns how many calls of the disk a script makes.
pub fn calls_of(script: &[Step], sync: SyncMode, seed: u64) -> Result<u64, String> {
    let directory = work_directory();
    let disk = FaultyDisk::new(directory.path(), seed);
    let mut run = Run::new(disk.clone(), sync);
    run.run(script).map_err(|error| format!("the store fails without a crash: {error}"))?;
    run.check_open(Losses::NONE)?;
    let calls = disk.calls();
    run.close_and_check()?;
    Ok(calls)
}

impl CrashPoint {
    /// Runs the script with this crash, and checks the data directory afterwards. Returns the number of crashes.
    pub fn run(self, script: &[Step]) -> Result<usize, String> {
        let mut chance = Chance::new(self.seed);
        let directory = work_directory();
        let disk = FaultyDisk::new(directory.path(), chance.next());
        disk.plan(Some(Fault::CrashAt(self.call)));
        let mut run = Run::new(disk.clone(), self.sync);
        if let Err(error) = run.run(script)
            && !disk.has_crashed()
        {
            return Err(format!("the store fails without a crash: {error}"));
        }
        let mut crashes = Crashes { disk, count: 0, last: self.crash, has_lost_power: false };
        crashes.crash(&mut run, self.crash);
        match chance.below(4) {
            0 => {}
            1 => crashes.crash_in_recovery(&mut run, 1 + chance.next() % 12, &mut chance)?,
            2 => {
                // Crashes in each call of the recovery, one after another.
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

    /// Runs the script until the process is killed at this point, opens the store again, makes a synced write, loses
    /// power, and checks the data directory.
    pub fn run_and_lose_power(self, script: &[Step]) -> Result<(), String> {
        let mut chance = Chance::new(self.seed);
        let directory = work_directory();
        let disk = FaultyDisk::new(directory.path(), chance.next());
        disk.plan(Some(Fault::CrashAt(self.call)));
        let mut run = Run::new(disk.clone(), self.sync);
        let _ = run.run(script);
        let mut crashes = Crashes { disk, count: 0, last: self.crash, has_lost_power: false };
        crashes.crash(&mut run, self.crash);
        let failed = |error| format!("the store fails after it was opened again: {error}");
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
            // Changes that the store makes while it is dropped must not reach the disk.
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

    /// Crashes in a call while the store is opened, if opening makes that many calls.
    fn crash_in_recovery(&mut self, run: &mut Run, call: u64, chance: &mut Chance) -> Result<(), String> {
        self.disk.plan(Some(Fault::CrashAt(call)));
        let recovered = run.recover();
        if !self.disk.has_crashed() {
            recovered
                .map_err(|error| format!("the store does not open after crash {}: {error}", self.count))?;
            self.disk.plan(None);
            run.check_open(self.losses())?;
            run.drop_store();
            return Ok(());
        }
        self.crash(run, *chance.pick(&Crash::ALL));
        Ok(())
    }

    /// Opens the store again, runs some steps, and crashes.
    fn crash_after_recovery(&mut self, run: &mut Run, chance: &mut Chance) -> Result<(), String> {
        let failed = |error| format!("the store fails after it was opened again: {error}");
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
