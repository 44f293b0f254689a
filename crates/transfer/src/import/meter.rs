//! Displays the progress of an import: a bar on a terminal, else a line now and then.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use parking_lot::Mutex;

use base::util::output::report_line;
use base::util::time_left;

/// Time between two lines without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Time between two changes of the bar.
const TICK_EVERY: Duration = Duration::from_millis(200);

/// Counts the data that was read of SSTables. The threads that read add to it.
#[derive(Debug, Default)]
pub struct ReadCounts {
    /// Bytes of Data files.
    bytes: AtomicU64,
    rows: AtomicU64,
    /// The part that is read now.
    title: Mutex<String>,
}

impl ReadCounts {
    /// Adds bytes of a Data file.
    pub fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds a row of an SSTable.
    pub fn add_row(&self) {
        self.rows.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the title of the part that is read from now on.
    pub fn set_title(&self, title: String) {
        *self.title.lock() = title;
    }
}

/// Displays counts until it is dropped.
pub struct Meter {
    task: tokio::task::JoinHandle<()>,
    view: Arc<View>,
}

struct View {
    counts: Arc<ReadCounts>,
    bar: Option<ProgressBar>,
    /// Bytes of all Data files, and of those that an earlier run has imported.
    total: u64,
    before: u64,
    began: Instant,
}

impl Meter {
    /// Starts to display counts of `total` bytes, with `before` bytes done.
    pub fn start(counts: Arc<ReadCounts>, total: u64, before: u64) -> Meter {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(total);
            if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent}% {msg}") {
                bar.set_style(style);
            }
            bar
        });
        let every = if bar.is_some() { TICK_EVERY } else { LINE_EVERY };
        let view = Arc::new(View { counts, bar, total, before, began: Instant::now() });
        let task = tokio::spawn({
            let view = view.clone();
            async move {
                loop {
                    tokio::time::sleep(every).await;
                    view.show();
                }
            }
        });
        Meter { task, view }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.task.abort();
        if let Some(bar) = &self.view.bar {
            bar.finish_and_clear();
        }
    }
}

impl View {
    fn show(&self) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.before + self.counts.bytes.load(Ordering::Relaxed));
                bar.set_message(self.text(self.began.elapsed()));
            }
            None => report_line!("{}", self.text(self.began.elapsed())),
        }
    }

    /// Describes the progress after this time: the bytes that were read before this run and in it, and how long the rest
    /// takes at the same rate.
    fn text(&self, elapsed: Duration) -> String {
        let read = self.counts.bytes.load(Ordering::Relaxed);
        let rate = read as f64 / elapsed.as_secs_f64().max(0.001);
        let left = self.total.saturating_sub(self.before + read);
        let rest = match time_left(elapsed, read, left) {
            Some(rest) => format!("{} left", HumanDuration(rest)),
            None => "time left unknown".to_owned(),
        };
        format!(
            "{}: {} of {}, {} rows, {}/s, {} elapsed, {rest}",
            self.counts.title.lock(),
            HumanBytes(self.before + read),
            HumanBytes(self.total),
            HumanCount(self.counts.rows.load(Ordering::Relaxed)),
            HumanBytes(rate as u64),
            HumanDuration(elapsed),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_rate_and_time_left() {
        let mb = 1024 * 1024;
        let counts = Arc::new(ReadCounts::default());
        counts.set_title("K.A".to_owned());
        let view =
            |before, total| View { counts: counts.clone(), bar: None, total, before, began: Instant::now() };
        let text = view(0, mb).text(Duration::ZERO);
        assert!(text.ends_with("0 seconds elapsed, time left unknown"), "{text}");
        counts.add_bytes(200 * mb);
        (0..1234).for_each(|_| counts.add_row());
        let text = view(100 * mb, 600 * mb).text(Duration::from_secs(10));
        assert_eq!(
            text,
            "K.A: 300.00 MiB of 600.00 MiB, 1,234 rows, 20.00 MiB/s, 10 seconds elapsed, 15 seconds left"
        );
    }
}
