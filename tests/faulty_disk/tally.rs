//! Counts the crash points that a test has tried, and limits its time.

use std::time::{Duration, Instant};

/// The time limit and the counts of a test. They are printed at the end, also if the test fails.
pub struct Tally {
    what: &'static str,
    began: Instant,
    time: Duration,
    pub points: usize,
    pub crashes: usize,
}

impl Tally {
    pub fn new(what: &'static str, default_seconds: u64) -> Tally {
        let seconds = std::env::var("CRASH_SECONDS").ok().and_then(|text| text.parse().ok());
        let time = Duration::from_secs(seconds.unwrap_or(default_seconds));
        Tally { what, began: Instant::now(), time, points: 0, crashes: 0 }
    }

    pub fn has_time(&self) -> bool {
        self.began.elapsed() < self.time
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
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
