//! Displays the progress of a copy or comparison: a bar on a terminal, else a line now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use bytes::Bytes;
use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};

use crate::rows::Tally;
use base::partitioner::PartitionerRef;
use base::util::output::report_line;
use base::util::time_left;

/// Time between two lines without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The length of the bar.
const WHOLE: u64 = 10_000;

/// The progress of one column family.
pub struct Meter {
    bar: Option<ProgressBar>,
    /// The task and the column family.
    title: String,
    partitioner: Option<PartitionerRef>,
    started: Instant,
    shown: Instant,
    /// The part of the ring before the first batch of this run, and before the last one.
    first_share: Option<u64>,
    share: u64,
    /// Counts of this run, and of earlier runs.
    tally: Tally,
    before: Tally,
}

impl Meter {
    /// Starts with the counts of earlier runs. With a hash partitioner, the bar shows the progress in the ring.
    pub fn new(title: String, partitioner: Option<PartitionerRef>, before: Tally) -> Meter {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(WHOLE);
            let template = if partitioner.as_ref().is_some_and(|one| !one.preserves_order()) {
                "{wide_bar} {percent}% {msg}"
            } else {
                "{spinner} {msg}"
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        // A run that continues an earlier one begins somewhere in the ring.
        let first_share = (before == Tally::default()).then_some(0);
        let partitioner = partitioner.filter(|partitioner| !partitioner.preserves_order());
        let tally = Tally::default();
        Meter { bar, title, partitioner, started: now, shown: now, first_share, share: 0, tally, before }
    }

    /// Returns the counts of all runs.
    pub fn total(&self) -> Tally {
        let mut total = self.before;
        total.add(self.tally);
        total
    }

    /// Adds the counts of a batch that ends with the row `last_key`.
    pub fn add(&mut self, tally: Tally, last_key: Option<&Bytes>) {
        self.tally.add(tally);
        if let (Some(partitioner), Some(key)) = (&self.partitioner, last_key) {
            self.share = share_of_ring(partitioner, key);
            self.first_share.get_or_insert(self.share);
        }
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.share);
                bar.set_message(self.text());
                bar.tick();
            }
            None if self.shown.elapsed() >= LINE_EVERY => {
                self.shown = Instant::now();
                report_line!("{}", self.text());
            }
            None => {}
        }
    }

    fn text(&self) -> String {
        let elapsed = self.started.elapsed();
        let done = self.share.saturating_sub(self.first_share.unwrap_or(0));
        let rest = time_left(elapsed, done, WHOLE.saturating_sub(self.share));
        let rest = rest.map(|rest| format!(", {} left", HumanDuration(rest)));
        format!("{}, {} elapsed{}", self.counts(elapsed), HumanDuration(elapsed), rest.unwrap_or_default())
    }

    fn counts(&self, elapsed: Duration) -> String {
        let total = self.total();
        let a_second = self.tally.bytes as f64 / elapsed.as_secs_f64().max(0.001);
        format!(
            "{}: {} rows, {} cells, {}/s",
            self.title,
            HumanCount(total.rows),
            HumanCount(total.cells),
            HumanBytes(a_second as u64)
        )
    }

    /// Removes the bar, and prints a last line if there are rows. Commands list column families without rows in one line.
    pub fn finish(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.total().rows > 0 {
            report_line!("{}", self.counts(self.started.elapsed()));
        }
    }
}

/// Returns the part of the ring before a row. Tokens of hash partitioners are distributed evenly.
fn share_of_ring(partitioner: &PartitionerRef, key: &[u8]) -> u64 {
    let mut token = Vec::new();
    partitioner.token(key, &mut token);
    let Some((first, _)) = token.split_first_chunk::<8>() else { return 0 };
    let mut share = u64::from_be_bytes(*first) as f64 / u64::MAX as f64;
    if partitioner.class_name().ends_with(".RandomPartitioner") {
        // Its tokens end at 2^127, in sixteen bytes.
        share *= 2.0;
    }
    (share.clamp(0.0, 1.0) * WHOLE as f64) as u64
}
