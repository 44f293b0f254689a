//! The Statistics component: partitioner, ranges of times, types of columns.
//!
//! ```text
//!   number of parts | (kind, offset) of each | validation part | statistics part | header part
//! ```
//!
//! Histograms have the form of 3.11: their buckets grow by a fifth. The cardinality of keys is left out; a server
//! estimates it from the Index.

use super::output::FileOutput;
use super::partition::{Partition, Unfiltered};
use super::writer::WrittenColumns;
use crate::statistics::{DELETION_EPOCH_S, HEADER, STATISTICS, TIMESTAMP_EPOCH_US, VALIDATION};
use base::model::{CellKind, DeletionTime};

/// Buckets of the histograms of sizes and of numbers of cells.
const SIZE_BUCKETS: usize = 150;
const CELL_BUCKETS: usize = 114;
/// The rate of false positives of the Bloom filter, which a server builds when it loads the table.
const FILTER_RATE: f64 = 0.01;
/// Bins of the histogram of tombstones, which is empty.
const TOMBSTONE_BINS: i32 = 100;

/// The least times of a table, to which the others are relative, and the greatest ones.
#[derive(Debug, Clone)]
pub(super) struct Baselines {
    timestamps: Option<(i64, i64)>,
    deletion_times: Option<(i32, i32)>,
    ttls: (i32, i32),
    has_live_cells: bool,
    rows: u64,
    cells_of_partitions: Vec<u64>,
}

impl Baselines {
    /// Looks at all times of a table.
    pub(super) fn of(partitions: &[Partition]) -> Baselines {
        let mut found = Baselines {
            timestamps: None,
            deletion_times: None,
            ttls: (i32::MAX, 0),
            has_live_cells: false,
            rows: 0,
            cells_of_partitions: Vec::with_capacity(partitions.len()),
        };
        for partition in partitions {
            found.see_deletion(partition.deletion);
            let mut cells = 0;
            for item in &partition.items {
                match item {
                    Unfiltered::Row { cell, .. } => {
                        cells += 1;
                        found.see(cell.timestamp);
                        found.see_kind(cell.kind);
                    }
                    Unfiltered::Bound { bound, .. } => {
                        bound.deletions().for_each(|deletion| found.see_deletion(deletion));
                    }
                }
            }
            found.rows += cells;
            found.cells_of_partitions.push(cells);
        }
        found
    }

    fn see(&mut self, timestamp: i64) {
        let (first, last) = self.timestamps.unwrap_or((timestamp, timestamp));
        self.timestamps = Some((first.min(timestamp), last.max(timestamp)));
    }

    fn see_deletion_time(&mut self, at_s: i32) {
        let (first, last) = self.deletion_times.unwrap_or((at_s, at_s));
        self.deletion_times = Some((first.min(at_s), last.max(at_s)));
    }

    fn see_deletion(&mut self, deletion: DeletionTime) {
        if deletion.is_deleted() {
            self.see(deletion.marked_for_delete_at);
            self.see_deletion_time(deletion.local_deletion_time);
        }
    }

    fn see_kind(&mut self, kind: CellKind) {
        let ttl_s = match kind {
            CellKind::Deleted { local_deletion_time } => {
                self.see_deletion_time(local_deletion_time);
                0
            }
            CellKind::Expiring { ttl_s, expires_at_s } => {
                self.see_deletion_time(expires_at_s);
                ttl_s
            }
            CellKind::Live | CellKind::Counter | CellKind::Increment => {
                self.has_live_cells = true;
                0
            }
        };
        self.ttls = (self.ttls.0.min(ttl_s), self.ttls.1.max(ttl_s));
    }

    fn least_timestamp(&self) -> i64 {
        self.timestamps.map_or(TIMESTAMP_EPOCH_US, |(least, _)| least)
    }

    fn least_deletion_time(&self) -> i32 {
        self.deletion_times.map_or(DELETION_EPOCH_S, |(least, _)| least)
    }

    pub(super) fn put_timestamp(&self, timestamp: i64, out: &mut FileOutput) {
        out.vint(timestamp.wrapping_sub(self.least_timestamp()).cast_unsigned());
    }

    pub(super) fn put_deletion_time(&self, at_s: i32, out: &mut FileOutput) {
        // As wide as a long of Java, whose sign is extended.
        out.vint(i64::from(at_s.wrapping_sub(self.least_deletion_time())).cast_unsigned());
    }

    pub(super) fn put_deletion(&self, deletion: DeletionTime, out: &mut FileOutput) {
        self.put_timestamp(deletion.marked_for_delete_at, out);
        self.put_deletion_time(deletion.local_deletion_time, out);
    }

    /// Returns the component. `sizes` are the sizes of the partitions in bytes.
    pub(super) fn statistics(
        &self,
        columns: &WrittenColumns,
        partitioner: &str,
        sizes: &[u64],
    ) -> FileOutput {
        let mut validation = FileOutput::default();
        validation.short_bytes(partitioner.as_bytes());
        validation.f64(FILTER_RATE);
        let parts = [
            (VALIDATION, validation),
            (STATISTICS, self.statistics_part(sizes)),
            (HEADER, self.header_part(columns)),
        ];
        let mut out = FileOutput::default();
        out.i32(3);
        let mut offset = 4 + 8 * parts.len();
        for (kind, part) in &parts {
            out.i32(*kind);
            out.u32(u32::try_from(offset).unwrap_or(u32::MAX));
            offset += part.bytes.len();
        }
        parts.iter().for_each(|(_, part)| out.put(&part.bytes));
        out
    }

    fn statistics_part(&self, sizes: &[u64]) -> FileOutput {
        let mut out = FileOutput::default();
        put_histogram(SIZE_BUCKETS, sizes, &mut out);
        put_histogram(CELL_BUCKETS, &self.cells_of_partitions, &mut out);
        put_no_log_position(&mut out);
        let (first, last) = self.timestamps.unwrap_or((i64::MIN, i64::MAX));
        out.i64(first);
        out.i64(last);
        // A live cell has the greatest time.
        let (first_s, last_s) = self.deletion_times.unwrap_or((i32::MAX, i32::MAX));
        out.i32(first_s);
        out.i32(if self.has_live_cells { i32::MAX } else { last_s });
        out.i32(self.ttls.0.min(self.ttls.1));
        out.i32(self.ttls.1);
        // Not compressed.
        out.f64(-1.0);
        out.i32(TOMBSTONE_BINS);
        out.i32(0);
        // The level of the table, and when it was repaired.
        out.i32(0);
        out.i64(0);
        // No least and greatest clustering values: a read never leaves the table out.
        out.i32(0);
        out.i32(0);
        // No local and remote shards of counters.
        out.u8(0);
        out.i64(i64::try_from(self.rows).unwrap_or(i64::MAX));
        out.i64(i64::try_from(self.rows).unwrap_or(i64::MAX));
        // The commit log: the least position, and no intervals.
        put_no_log_position(&mut out);
        out.i32(0);
        // No host.
        out.u8(0);
        out
    }

    fn header_part(&self, columns: &WrittenColumns) -> FileOutput {
        let mut out = FileOutput::default();
        out.vint(self.least_timestamp().wrapping_sub(TIMESTAMP_EPOCH_US).cast_unsigned());
        let least_s = self.least_deletion_time().wrapping_sub(DELETION_EPOCH_S);
        out.vint(i64::from(least_s).cast_unsigned());
        // Times to live are relative to zero.
        out.vint(0);
        out.vint_bytes(columns.key.as_bytes());
        out.vint(columns.clustering.len() as u64);
        columns.clustering.iter().for_each(|class| out.vint_bytes(class.as_bytes()));
        // No static columns, and one regular column.
        out.vint(0);
        out.vint(1);
        out.vint_bytes(b"value");
        out.vint_bytes(columns.value.as_bytes());
        out
    }
}

fn put_no_log_position(out: &mut FileOutput) {
    out.i64(-1);
    out.i32(0);
}

fn put_histogram(buckets: usize, values: &[u64], out: &mut FileOutput) {
    let mut offsets: Vec<u64> = vec![1];
    while offsets.len() < buckets {
        let last = offsets.last().copied().unwrap_or(1);
        offsets.push((last + 1).max((last * 6 + 2) / 5));
    }
    // One more for greater values.
    let mut counts = vec![0_i64; buckets + 1];
    for value in values {
        let bucket = offsets.partition_point(|offset| offset < value);
        if let Some(count) = counts.get_mut(bucket) {
            *count += 1;
        }
    }
    out.i32(i32::try_from(counts.len()).unwrap_or(i32::MAX));
    for (at, count) in counts.iter().enumerate() {
        let offset = offsets.get(at.saturating_sub(1)).copied().unwrap_or_default();
        out.i64(i64::try_from(offset).unwrap_or(i64::MAX));
        out.i64(*count);
    }
}
