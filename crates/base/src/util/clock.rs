//! The server's clock. It is passed as an argument, so that tests can set it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The current time: of the system, or set by a test.
#[derive(Debug)]
pub struct Clock {
    source: ClockSource,
    /// The last value that `next_micros` returned.
    last_micros: AtomicI64,
}

#[derive(Debug)]
enum ClockSource {
    System,
    /// Milliseconds since 1970. They only change by `advance_ms`.
    Manual(AtomicI64),
    Adjustable(Adjustment),
}

/// The adjustment of the system's clock. Readers only load the two numbers.
#[derive(Debug)]
struct Adjustment {
    /// The time at which the clock stands still, in microseconds since 1970; `RUNNING` if it runs.
    frozen_micros: AtomicI64,
    /// The difference from the system's clock while the clock runs, in microseconds.
    offset_micros: AtomicI64,
    /// Locked during each change. It is the standard library's because threads of the tree library, which may panic,
    /// have the clock.
    changing: Mutex<()>,
}

/// The value of `frozen_micros` while the clock runs.
const RUNNING: i64 = i64::MIN;

/// The state of an adjustable clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockState {
    /// Milliseconds since 1970.
    pub now_ms: i64,
    /// Whether the clock stands still.
    pub is_frozen: bool,
    /// The difference from the system's clock in milliseconds.
    pub offset_ms: i64,
}

/// A change of an adjustable clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockChange {
    /// Stops the clock at the current time.
    Freeze,
    /// Lets the clock run on from its current time.
    Unfreeze,
    /// Sets the time, in milliseconds since 1970. A frozen clock stays frozen.
    Set(i64),
    /// Moves the time by milliseconds, which may be negative. A frozen clock stays frozen.
    Advance(i64),
    /// Lets the clock follow the system's again.
    Follow,
}

impl Clock {
    /// Returns the system's clock.
    pub fn system() -> Clock {
        Clock { source: ClockSource::System, last_micros: AtomicI64::new(0) }
    }

    /// Returns a clock that only [`Clock::advance_ms`] moves.
    pub fn manual(unix_ms: i64) -> Clock {
        Clock { source: ClockSource::Manual(AtomicI64::new(unix_ms)), last_micros: AtomicI64::new(0) }
    }

    /// Returns a clock that follows the system's until [`Clock::change`] changes it.
    pub fn adjustable() -> Clock {
        let adjustment = Adjustment {
            frozen_micros: AtomicI64::new(RUNNING),
            offset_micros: AtomicI64::new(0),
            changing: Mutex::default(),
        };
        Clock { source: ClockSource::Adjustable(adjustment), last_micros: AtomicI64::new(0) }
    }

    fn now_micros(&self) -> i64 {
        match &self.source {
            ClockSource::System => system_micros(),
            ClockSource::Manual(ms) => ms.load(Ordering::Relaxed).saturating_mul(1000),
            ClockSource::Adjustable(adjustment) => adjustment.now_micros(),
        }
    }

    /// Returns microseconds since 1970, larger than all values returned before: the timestamps of the server's own
    /// writes. After an adjustable clock was moved back, they start again from its time.
    pub fn next_micros(&self) -> i64 {
        let now = self.now_micros();
        let mut next = now;
        let _ = self.last_micros.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
            next = now.max(last.saturating_add(1));
            Some(next)
        });
        next
    }

    /// Returns milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now_micros().div_euclid(1000)
    }

    /// Returns seconds since 1970, the unit of local deletion times. Saturates at the end of i32 in 2038.
    pub fn now_s(&self) -> i32 {
        i32::try_from(self.now_ms().div_euclid(1000)).unwrap_or(i32::MAX)
    }

    /// Advances a manual clock. Has no effect on other clocks.
    pub fn advance_ms(&self, by: i64) {
        if let ClockSource::Manual(ms) = &self.source {
            ms.fetch_add(by, Ordering::Relaxed);
        }
    }

    /// Changes an adjustable clock and returns its state after that; `None` if the clock is not adjustable.
    pub fn change(&self, change: ClockChange) -> Option<ClockState> {
        let ClockSource::Adjustable(adjustment) = &self.source else { return None };
        let _changing = adjustment.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = adjustment.now_micros();
        adjustment.apply(change);
        if adjustment.now_micros() < before {
            self.last_micros.store(0, Ordering::Relaxed);
        }
        Some(adjustment.state())
    }

    /// Returns the state of an adjustable clock; `None` if the clock is not adjustable.
    pub fn state(&self) -> Option<ClockState> {
        let ClockSource::Adjustable(adjustment) = &self.source else { return None };
        let _changing = adjustment.changing.lock().unwrap_or_else(PoisonError::into_inner);
        Some(adjustment.state())
    }
}

impl Adjustment {
    fn now_micros(&self) -> i64 {
        match self.frozen_micros.load(Ordering::Acquire) {
            RUNNING => system_micros().saturating_add(self.offset_micros.load(Ordering::Acquire)),
            frozen => frozen,
        }
    }

    /// Changes the clock. The caller holds `changing`. A reader sees the time before or the time after the change: at
    /// most one of the two numbers that it uses changes.
    fn apply(&self, change: ClockChange) {
        let is_frozen = self.frozen_micros.load(Ordering::Acquire) != RUNNING;
        match change {
            ClockChange::Freeze => self.frozen_micros.store(self.now_micros(), Ordering::Release),
            ClockChange::Unfreeze if is_frozen => {
                self.offset_micros
                    .store(self.now_micros().saturating_sub(system_micros()), Ordering::Release);
                self.frozen_micros.store(RUNNING, Ordering::Release);
            }
            ClockChange::Unfreeze => {}
            ClockChange::Set(ms) => self.set(is_frozen, ms.saturating_mul(1000)),
            ClockChange::Advance(ms) => {
                self.set(is_frozen, self.now_micros().saturating_add(ms.saturating_mul(1000)));
            }
            ClockChange::Follow => {
                self.offset_micros.store(0, Ordering::Release);
                self.frozen_micros.store(RUNNING, Ordering::Release);
            }
        }
    }

    fn set(&self, is_frozen: bool, micros: i64) {
        // `RUNNING` is not a time.
        let micros = micros.max(RUNNING + 1);
        if is_frozen {
            self.frozen_micros.store(micros, Ordering::Release);
        } else {
            self.offset_micros.store(micros.saturating_sub(system_micros()), Ordering::Release);
        }
    }

    fn state(&self) -> ClockState {
        let now = self.now_micros();
        let is_frozen = self.frozen_micros.load(Ordering::Acquire) != RUNNING;
        let offset_micros = match is_frozen {
            true => now.saturating_sub(system_micros()),
            false => self.offset_micros.load(Ordering::Acquire),
        };
        ClockState { now_ms: now.div_euclid(1000), is_frozen, offset_ms: offset_micros.div_euclid(1000) }
    }
}

/// Returns the system's time in milliseconds since 1970, for logs. The clock of a database may stand still, for tests.
pub fn system_ms() -> i64 {
    system_micros().div_euclid(1000)
}

/// Returns a duration in microseconds, as logs, metrics and traces have it.
pub fn whole_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn system_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    #[test]
    fn an_adjustable_clock_stands_moves_and_follows_the_system_again() {
        let clock = Clock::adjustable();
        let change = |change| clock.change(change).unwrap();
        assert!((clock.now_ms() - system_ms()).abs() < HOUR_MS);

        assert!(change(ClockChange::Freeze).is_frozen);
        let frozen_ms = clock.now_ms();
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert_eq!(clock.now_ms(), frozen_ms);
        assert_eq!(change(ClockChange::Advance(HOUR_MS)).now_ms, frozen_ms + HOUR_MS);
        let set = change(ClockChange::Set(1_325_376_000_000));
        assert_eq!((set.now_ms, set.is_frozen), (1_325_376_000_000, true));
        assert_eq!(clock.now_s(), 1_325_376_000);

        let runs = change(ClockChange::Unfreeze);
        assert!(!runs.is_frozen && (1_325_376_000_000..1_325_376_100_000).contains(&runs.now_ms));
        assert!(change(ClockChange::Set(5 * HOUR_MS)).now_ms < 6 * HOUR_MS);
        assert!((5 * HOUR_MS..6 * HOUR_MS).contains(&clock.now_ms()));
        let follows = change(ClockChange::Follow);
        assert_eq!((follows.is_frozen, follows.offset_ms), (false, 0));
        assert!((clock.now_ms() - system_ms()).abs() < HOUR_MS);
        assert_eq!(Clock::system().change(ClockChange::Freeze), None);
    }

    #[test]
    fn timestamps_grow_while_the_clock_stands_and_start_again_when_it_moves_back() {
        let clock = Clock::adjustable();
        clock.change(ClockChange::Freeze);
        clock.change(ClockChange::Set(1_000_000));
        assert_eq!([clock.next_micros(), clock.next_micros()], [1_000_000_000, 1_000_000_001]);
        clock.change(ClockChange::Set(500_000));
        assert_eq!(clock.next_micros(), 500_000_000);
        clock.change(ClockChange::Advance(1));
        assert_eq!(clock.next_micros(), 500_001_000);
    }

    #[test]
    fn extreme_times_do_not_overflow() {
        let clock = Clock::adjustable();
        for extreme in
            [ClockChange::Set(i64::MIN), ClockChange::Advance(i64::MIN), ClockChange::Set(i64::MAX)]
        {
            clock.change(extreme);
            clock.change(ClockChange::Advance(i64::MAX));
            clock.next_micros();
            clock.change(ClockChange::Freeze);
            clock.change(extreme);
            clock.now_s();
            clock.change(ClockChange::Unfreeze);
        }
    }
}
