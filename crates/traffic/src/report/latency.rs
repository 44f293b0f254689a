//! Latencies of one side.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Longest recorded latency, in microseconds: one hour.
const LONGEST_US: u64 = 3_600_000_000;

/// Latencies are recorded with two digits, one part in a hundred: a plot shows no more.
const DIGITS: u8 = 2;

/// Columns of a plot for each factor of ten.
const STEPS_PER_DECADE: i32 = 8;

/// The percentiles of reports.
const PERCENTILES: [f64; 7] = [1.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Latencies of the calls of one side, in microseconds. A few kilobytes, however many calls.
#[derive(Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
}

/// Latencies as reports have them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LatencySummary {
    /// The number of calls.
    pub calls: u64,
    /// The mean.
    pub mean_us: f64,
    /// The shortest.
    pub min_us: u64,
    /// The longest.
    pub max_us: u64,
    /// The percentile and its latency. Empty without calls.
    pub percentiles: Vec<Percentile>,
    /// The distribution: columns of a plot with a logarithmic axis. Columns without calls are not listed.
    pub distribution: Vec<LatencyColumn>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Percentile {
    pub percent: f64,
    pub us: u64,
}

/// The calls with a latency of at least `from_us` and less than `to_us`.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LatencyColumn {
    pub from_us: f64,
    pub to_us: f64,
    pub calls: u64,
}

impl LatencySummary {
    /// Returns the share of the calls that a column has.
    pub(super) fn share(&self, column: &LatencyColumn) -> f64 {
        column.calls as f64 / self.calls.max(1) as f64
    }
}

impl Default for Latencies {
    fn default() -> Latencies {
        let histogram = Histogram::new_with_bounds(1, LONGEST_US, DIGITS);
        // The bounds are constants that the histogram accepts.
        Latencies { histogram: histogram.unwrap_or_else(|_| unreachable!()) }
    }
}

impl Latencies {
    /// Adds the latency of a call, in microseconds.
    pub fn record(&mut self, us: u64) {
        self.histogram.saturating_record(us);
    }

    /// Returns the latencies as reports have them.
    pub fn summary(&self) -> LatencySummary {
        let calls = self.histogram.len();
        if calls == 0 {
            return LatencySummary::default();
        }
        let percentile =
            |percent: f64| Percentile { percent, us: self.histogram.value_at_quantile(percent / 100.0) };
        LatencySummary {
            calls,
            mean_us: self.histogram.mean(),
            min_us: self.histogram.min(),
            max_us: self.histogram.max(),
            percentiles: PERCENTILES.into_iter().map(percentile).collect(),
            distribution: self.distribution(),
        }
    }

    fn distribution(&self) -> Vec<LatencyColumn> {
        let bound = |step: i32| 10f64.powf(f64::from(step) / f64::from(STEPS_PER_DECADE));
        let mut columns: Vec<LatencyColumn> = Vec::new();
        let mut step = 0;
        for value in self.histogram.iter_recorded() {
            let us = value.value_iterated_to();
            while bound(step + 1) <= us as f64 {
                step += 1;
            }
            let calls = value.count_since_last_iteration();
            match columns.last_mut() {
                Some(last) if last.to_us > us as f64 => last.calls += calls,
                _ => columns.push(LatencyColumn { from_us: bound(step), to_us: bound(step + 1), calls }),
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_has_each_call_in_its_column() {
        let mut latencies = Latencies::default();
        for us in [0, 1, 1, 1000, 1001, 50_000, 7_200_000_000] {
            latencies.record(us);
        }
        let summary = latencies.summary();
        assert_eq!(summary.calls, 7);
        assert_eq!(summary.distribution.iter().map(|column| column.calls).sum::<u64>(), 7);
        for pair in summary.distribution.windows(2) {
            assert!(pair[0].to_us <= pair[1].from_us * 1.000_001, "{pair:?}");
        }
        let of_a_millisecond =
            summary.distribution.iter().find(|column| column.from_us <= 1001.0 && 1001.0 < column.to_us);
        assert_eq!(of_a_millisecond.map(|column| column.calls), Some(2));
    }
}
