//! Delays writes gradually when flushes or compactions do not keep up.
//!
//! Without delays, writers would run at full speed until memory is full, and then all wait for a second or more. A
//! small delay of each write, which grows with the backlog, makes the rate of writes settle at the rate of flushes and
//! compactions.
//!
//! ```text
//!   delay of a write
//!        ^                                  x
//!        |                               x
//!        |                          x
//!        |                  x
//!        +------x---x----------------------->  unmerged runs of tables, or memory in use
//!              RUNS_FREE                RUNS_FULL
//! ```

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Unmerged runs of tables up to which writes are not delayed.
const RUNS_FREE: usize = 10;
/// Unmerged runs at which each write has the longest delay.
const RUNS_FULL: usize = 24;
/// The longest delay of a write.
const LONGEST: Duration = Duration::from_millis(10);
/// The shortest sleep. Shorter delays are added up to this.
const SHORTEST: Duration = Duration::from_millis(1);

/// Computes the delays of writes.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    /// Delay of each write because of unmerged runs, in microseconds.
    of_runs_us: AtomicU64,
    /// Sum of delays that no writer has slept yet, in microseconds.
    owed_us: AtomicU64,
}

impl Throttle {
    /// Sets the highest number of unmerged runs that a tree has.
    pub(crate) fn set_runs(&self, runs: usize) {
        let span = (RUNS_FULL - RUNS_FREE) as f64;
        let part = (runs.saturating_sub(RUNS_FREE) as f64 / span).min(1.0);
        self.of_runs_us.store(delay_us(part), Ordering::Relaxed);
    }

    /// Returns how long a write must sleep now, if at all. `fill` is how full the active memtable is, from 0 (flush is
    /// due) to 1 (writers must wait).
    pub(crate) fn delay(&self, fill: f64) -> Option<Duration> {
        let delay = self.of_runs_us.load(Ordering::Relaxed).max(delay_us(fill));
        debug_assert!(delay <= delay_us(1.0), "a write would wait longer than the longest delay");
        if delay == 0 {
            return None;
        }
        let owed = Duration::from_micros(self.owed_us.fetch_add(delay, Ordering::Relaxed) + delay);
        if owed < SHORTEST {
            return None;
        }
        self.owed_us.store(0, Ordering::Relaxed);
        Some(owed.min(LONGEST))
    }
}

/// Returns a delay in microseconds, which grows with the third power of `part`.
fn delay_us(part: f64) -> u64 {
    (part.clamp(0.0, 1.0).powi(3) * LONGEST.as_micros() as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_grows_with_the_backlog() {
        let throttle = Throttle::default();
        assert_eq!(throttle.delay(0.0), None);
        throttle.set_runs(RUNS_FREE);
        assert_eq!(throttle.delay(0.0), None);
        let slept = |runs, fill| -> Duration {
            throttle.set_runs(runs);
            (0..1000).filter_map(|_| throttle.delay(fill)).sum()
        };
        let (little, more) = (slept(RUNS_FREE + 3, 0.0), slept(RUNS_FREE + 8, 0.0));
        assert!(little > Duration::ZERO && more > little * 5, "{little:?} {more:?}");
        assert_eq!(slept(RUNS_FULL + 9, 0.0), LONGEST * 1000);
        assert_eq!(slept(0, 1.0), LONGEST * 1000);
        assert!(slept(0, 0.2) < Duration::from_millis(120));
    }
}
