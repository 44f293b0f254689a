//! Displays the progress of a replay: on a terminal a line that changes, else a line now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};

use base::util::output::report_line;
use base::util::time_left;

/// Time between two lines without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Calls between two looks at the clock.
const CALLS_PER_LOOK: u64 = 64;

/// The progress of one replay.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    shown: Instant,
    calls: u64,
    differences: u64,
    /// Calls of the recording, if they are known.
    total: Option<u64>,
}

impl Progress {
    /// Starts. `total` is the number of calls, if it is known.
    pub fn new(total: Option<u64>) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        Progress { bar, started: now, shown: now, calls: 0, differences: 0, total }
    }

    /// Adds a compared call.
    pub fn add(&mut self, differs: bool) {
        self.calls += 1;
        self.differences += u64::from(differs);
        if !self.calls.is_multiple_of(CALLS_PER_LOOK) {
            return;
        }
        if let Some(bar) = &self.bar {
            bar.set_message(self.line());
            bar.tick();
        } else if self.shown.elapsed() >= LINE_EVERY {
            self.shown = Instant::now();
            report_line!("{}", self.line());
        }
    }

    /// Removes the line from the terminal.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&self) -> String {
        let elapsed = self.started.elapsed();
        let rate = self.calls as f64 / elapsed.as_secs_f64().max(0.001);
        let left = self.total.and_then(|total| {
            let left = time_left(elapsed, self.calls, total.saturating_sub(self.calls))?;
            Some(format!(", {} left", HumanDuration(left)))
        });
        format!(
            "replaying: {} calls, {} differences, {rate:.0} calls/s, {} elapsed{}",
            HumanCount(self.calls),
            HumanCount(self.differences),
            HumanDuration(elapsed),
            left.unwrap_or_default()
        )
    }
}
