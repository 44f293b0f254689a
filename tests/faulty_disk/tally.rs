//! Counts the crash points that a test has tried, and limits their number or its time.

use std::cell::Cell;
use std::time::{Duration, Instant};

const PRINT_EVERY: Duration = Duration::from_secs(60);

/// The limit and the counts of a test. They are printed at the end, also if the test fails, and every minute.
pub struct Tally {
    what: &'static str,
    began: Instant,
    time: Duration,
    /// The number of points to try, however long that takes. `None` if the time is limited.
    wanted: Option<usize>,
    printed: Cell<Duration>,
    pub points: usize,
    pub crashes: usize,
}

impl Tally {
    pub fn new(what: &'static str, default_seconds: u64) -> Tally {
        let number_of = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
        let time = Duration::from_secs(number_of("CRASH_SECONDS").unwrap_or(default_seconds));
        let wanted = number_of("CRASH_POINTS").and_then(|points| usize::try_from(points).ok());
        let (began, printed) = (Instant::now(), Cell::default());
        Tally { what, began, time, wanted, printed, points: 0, crashes: 0 }
    }

    /// Returns whether the test should try another point.
    pub fn has_time(&self) -> bool {
        let elapsed = self.began.elapsed();
        if elapsed - self.printed.get() >= PRINT_EVERY {
            self.printed.set(elapsed);
            self.print();
        }
        self.wanted.map_or(elapsed < self.time, |wanted| self.points < wanted)
    }

    fn print(&self) {
        let seconds = self.began.elapsed().as_secs_f64();
        println!(
            "{}: {} points, {} crashes in {seconds:.1} s, {:.0} points per second",
            self.what,
            self.points,
            self.crashes,
            self.points as f64 / seconds
        );
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.print();
    }
}
