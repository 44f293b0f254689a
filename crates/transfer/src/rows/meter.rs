//! Displays the progress of a transfer: a bar on a terminal, else a line now and then.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bytes::Bytes;
use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::Tally;
use base::partitioner::PartitionerRef;
use base::util::output::report_line;
use base::util::time_left;

/// Time between two lines without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Time between two changes of the bar.
const TICK_EVERY: Duration = Duration::from_millis(200);
/// The length of a bar that shows the position in the ring.
const RING_LENGTH: u64 = 10_000;

/// The unit of a bar.
#[derive(Debug, Clone, Copy)]
enum Scale {
    /// The position in the ring.
    Ring,
    /// The bytes of files.
    Files,
}

/// The counts that are displayed. The threads that read files add to them.
#[derive(Debug)]
pub(crate) struct Counts {
    scale: Scale,
    length: u64,
    began: Instant,
    /// The work, and the column family.
    title: Mutex<String>,
    rows: AtomicU64,
    cells: AtomicU64,
    /// Bytes of this run.
    bytes: AtomicU64,
    /// The position in the bar, and the one at which this run began.
    position: AtomicU64,
    first_position: AtomicU64,
}

impl Counts {
    fn new(scale: Scale, length: u64) -> Counts {
        let (began, title, zero) = (Instant::now(), Mutex::default(), AtomicU64::default);
        let (rows, cells, bytes, position, first_position) = (zero(), zero(), zero(), zero(), zero());
        Counts { scale, length, began, title, rows, cells, bytes, position, first_position }
    }

    /// Returns the counts of files of `total` bytes, of which earlier runs have imported `before`.
    pub(crate) fn of_files(total: u64, before: u64) -> Arc<Counts> {
        let counts = Counts::new(Scale::Files, total);
        counts.begin_at(before);
        Arc::new(counts)
    }

    fn begin_at(&self, position: u64) {
        self.first_position.store(position, Relaxed);
        self.position.store(position, Relaxed);
    }

    /// Adds bytes of a Data file.
    pub(crate) fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Relaxed);
        self.position.fetch_add(bytes, Relaxed);
    }

    /// Adds a row of an SSTable.
    pub(crate) fn add_row(&self) {
        self.rows.fetch_add(1, Relaxed);
    }

    /// Sets the title of the part that is read from now on.
    pub(crate) fn set_title(&self, title: String) {
        *self.title.lock() = title;
    }

    /// Describes the progress after this time, and how long the rest takes at the same rate.
    fn text(&self, elapsed: Duration) -> String {
        let position = self.position.load(Relaxed);
        let done = position.saturating_sub(self.first_position.load(Relaxed));
        let left = time_left(elapsed, done, self.length.saturating_sub(position));
        let left = left.map(|left| format!("{} left", HumanDuration(left)));
        match self.scale {
            Scale::Ring => {
                let left = left.map(|left| format!(", {left}")).unwrap_or_default();
                format!("{}, {} elapsed{left}", self.sums(elapsed), HumanDuration(elapsed))
            }
            Scale::Files => format!(
                "{}: {} of {}, {} rows, {}/s, {} elapsed, {}",
                self.title.lock(),
                HumanBytes(position),
                HumanBytes(self.length),
                HumanCount(self.rows.load(Relaxed)),
                self.rate(elapsed),
                HumanDuration(elapsed),
                left.as_deref().unwrap_or("time left unknown"),
            ),
        }
    }

    fn sums(&self, elapsed: Duration) -> String {
        let (rows, cells) = (HumanCount(self.rows.load(Relaxed)), HumanCount(self.cells.load(Relaxed)));
        format!("{}: {rows} rows, {cells} cells, {}/s", self.title.lock(), self.rate(elapsed))
    }

    fn rate(&self, elapsed: Duration) -> HumanBytes {
        HumanBytes((self.bytes.load(Relaxed) as f64 / elapsed.as_secs_f64().max(0.001)) as u64)
    }
}

/// Displays counts until it is dropped.
pub(crate) struct Meter {
    counts: Arc<Counts>,
    bar: Option<ProgressBar>,
    ticks: JoinHandle<()>,
}

impl Meter {
    /// Starts to display counts, with a bar if their position is known.
    pub(crate) fn start(counts: Arc<Counts>, has_position: bool) -> Meter {
        let bar = std::io::stderr().is_terminal().then(|| {
            let template = if has_position { "{wide_bar} {percent}% {msg}" } else { "{spinner} {msg}" };
            let bar = ProgressBar::new(counts.length);
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar
        });
        let every = if bar.is_some() { TICK_EVERY } else { LINE_EVERY };
        let (shown, shown_bar) = (counts.clone(), bar.clone());
        let ticks = tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                let text = shown.text(shown.began.elapsed());
                match &shown_bar {
                    Some(bar) => {
                        bar.set_position(shown.position.load(Relaxed));
                        bar.set_message(text);
                        bar.tick();
                    }
                    None => report_line!("{text}"),
                }
            }
        });
        Meter { counts, bar, ticks }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.ticks.abort();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Displays the progress of a walk over one column family, and sums up its counts.
pub(crate) struct WalkMeter {
    meter: Meter,
    /// The partitioner, if it is a hash partitioner: only then a key shows the position in the ring.
    partitioner: Option<PartitionerRef>,
    has_first_position: bool,
    total: Tally,
}

impl WalkMeter {
    /// Starts with the counts of earlier runs.
    pub(crate) fn new(title: String, partitioner: Option<&PartitionerRef>, before: Tally) -> WalkMeter {
        let partitioner = partitioner.filter(|partitioner| !partitioner.preserves_order()).cloned();
        let counts = Arc::new(Counts::new(Scale::Ring, RING_LENGTH));
        counts.set_title(title);
        let meter = Meter::start(counts, partitioner.is_some());
        // A run that continues an earlier one begins somewhere in the ring.
        let has_first_position = before == Tally::default();
        let mut meter = WalkMeter { meter, partitioner, has_first_position, total: Tally::default() };
        meter.count(Tally { bytes: 0, ..before });
        WalkMeter { total: before, ..meter }
    }

    /// Returns the counts of all runs.
    pub(crate) fn total(&self) -> Tally {
        self.total
    }

    /// Adds the counts of a batch that ends with the row `last_key`.
    pub(crate) fn add(&mut self, tally: Tally, last_key: Option<&Bytes>) {
        self.count(tally);
        if let (Some(partitioner), Some(key)) = (&self.partitioner, last_key) {
            let counts = &self.meter.counts;
            let position = position_in_ring(partitioner, key);
            if !std::mem::replace(&mut self.has_first_position, true) {
                counts.begin_at(position);
            }
            counts.position.store(position, Relaxed);
        }
    }

    fn count(&mut self, tally: Tally) {
        self.total.add(tally);
        let counts = &self.meter.counts;
        counts.rows.fetch_add(tally.rows, Relaxed);
        counts.cells.fetch_add(tally.cells, Relaxed);
        counts.bytes.fetch_add(tally.bytes, Relaxed);
    }

    /// Removes the bar, and prints a last line if there are rows: commands list column families without rows in one line.
    /// Returns the counts of all runs.
    pub(crate) fn finish(self) -> Tally {
        let WalkMeter { meter, total, .. } = self;
        let counts = meter.counts.clone();
        drop(meter);
        if total.rows > 0 {
            report_line!("{}", counts.sums(counts.began.elapsed()));
        }
        total
    }
}

/// Returns the part of the ring before a row. Tokens of hash partitioners are distributed evenly.
fn position_in_ring(partitioner: &PartitionerRef, key: &[u8]) -> u64 {
    let mut token = Vec::new();
    partitioner.token(key, &mut token);
    let Some((first, _)) = token.split_first_chunk::<8>() else { return 0 };
    let mut share = u64::from_be_bytes(*first) as f64 / u64::MAX as f64;
    if partitioner.class_name().ends_with(".RandomPartitioner") {
        // Its tokens end at 2^127, in sixteen bytes.
        share *= 2.0;
    }
    (share.clamp(0.0, 1.0) * RING_LENGTH as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1024 * 1024;

    #[test]
    fn progress_of_files_has_rate_and_time_left() {
        let counts = Counts::of_files(600 * MB, 100 * MB);
        counts.set_title("K.A".to_owned());
        let text = counts.text(Duration::ZERO);
        assert!(text.ends_with("0 seconds elapsed, time left unknown"), "{text}");
        counts.add_bytes(200 * MB);
        (0..1234).for_each(|_| counts.add_row());
        assert_eq!(
            counts.text(Duration::from_secs(10)),
            "K.A: 300.00 MiB of 600.00 MiB, 1,234 rows, 20.00 MiB/s, 10 seconds elapsed, 15 seconds left"
        );
    }

    #[tokio::test]
    async fn progress_of_a_walk_counts_earlier_runs_and_its_position_in_the_ring() {
        let partitioner = base::partitioner::resolve("RandomPartitioner");
        let before = Tally { rows: 1000, cells: 5000, bytes: 7 * MB };
        let mut meter = WalkMeter::new("K.A (1 of 2)".to_owned(), partitioner.as_ref(), before);
        let text = |meter: &WalkMeter| meter.meter.counts.text(Duration::from_secs(10));
        assert_eq!(text(&meter), "K.A (1 of 2): 1,000 rows, 5,000 cells, 0 B/s, 10 seconds elapsed");
        let tally = Tally { rows: 1, cells: 2, bytes: 20 * MB };
        // The first batch only shows where this run has begun.
        meter.add(tally, Some(&Bytes::from("a")));
        assert!(!text(&meter).contains("left"), "{}", text(&meter));
        assert_eq!(meter.total(), Tally { rows: 1001, cells: 5002, bytes: 27 * MB });
        meter.meter.counts.begin_at(0);
        meter.meter.counts.position.store(RING_LENGTH / 2, Relaxed);
        assert_eq!(
            text(&meter),
            "K.A (1 of 2): 1,001 rows, 5,002 cells, 2.00 MiB/s, 10 seconds elapsed, 10 seconds left"
        );
    }
}
