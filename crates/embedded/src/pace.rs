//! The progress of long work: how much of it is done, and how long the rest takes at the same rate.

use std::time::{Duration, Instant};

use base::util::time_left;

/// Time between two lines of progress.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Receives lines about the progress of long work.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(&str);

/// Bytes that are being copied or verified.
pub(crate) struct PacedProgress<'p> {
    progress: Progress<'p>,
    /// The operation on them: `copied`.
    verb: &'static str,
    whole: u64,
    done: u64,
    /// The highest rate, if the disk is needed for other work.
    bytes_per_s: Option<u64>,
    began: Instant,
    shown: Instant,
}

impl<'p> PacedProgress<'p> {
    /// Begins with `whole` bytes.
    pub(crate) fn new(progress: Progress<'p>, verb: &'static str, whole: u64) -> PacedProgress<'p> {
        let began = Instant::now();
        PacedProgress { progress, verb, whole, done: 0, bytes_per_s: None, began, shown: began }
    }

    /// Limits the rate: from now on, `add` waits as long as needed.
    #[must_use]
    pub(crate) fn limited(self, bytes_per_s: Option<u64>) -> PacedProgress<'p> {
        PacedProgress { bytes_per_s, ..self }
    }

    /// Adds bytes that are done, and prints a line every few seconds.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.done += bytes;
        if let Some(rate) = self.bytes_per_s {
            let due = Duration::from_secs_f64(self.done as f64 / rate.max(1) as f64);
            std::thread::sleep(due.saturating_sub(self.began.elapsed()));
        }
        if self.shown.elapsed() >= LINE_EVERY {
            let line = self.line(self.began.elapsed());
            (self.progress)(&line);
            self.shown = Instant::now();
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        // A table that a compaction has written meanwhile was not counted.
        let whole = self.whole.max(self.done);
        let left = time_left(elapsed, self.done, whole - self.done).unwrap_or_default();
        format!(
            "{} {} of {}, {} s elapsed, {} s left",
            self.verb,
            megabytes(self.done),
            megabytes(whole),
            elapsed.as_secs(),
            left.as_secs()
        )
    }
}

/// Formats a number of bytes.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_time_left() {
        let mut ignore = |_: &str| {};
        let mut pace = PacedProgress::new(&mut ignore, "verified", 100_000_000);
        pace.add(25_000_000);
        let line = pace.line(Duration::from_secs(10));
        assert_eq!(line, "verified 25.0 MB of 100.0 MB, 10 s elapsed, 30 s left");
        pace.add(100_000_000);
        let line = pace.line(Duration::from_secs(20));
        assert_eq!(line, "verified 125.0 MB of 125.0 MB, 20 s elapsed, 0 s left");
    }

    #[test]
    fn a_limited_rate_is_kept() {
        let (mut ignore, began) = (|_: &str| {}, Instant::now());
        let mut pace = PacedProgress::new(&mut ignore, "verified", 50_000).limited(Some(1_000_000));
        (0..5).for_each(|_| pace.add(10_000));
        assert!(began.elapsed() >= Duration::from_millis(50), "{:?}", began.elapsed());
    }
}
