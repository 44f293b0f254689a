//! Counts operations and latencies of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::reply::StressFailure;
use super::workload::StressCall;

/// The counts of one thread, or of several after `merge`.
#[derive(Debug, Default)]
pub(crate) struct ReplyTally {
    /// Successful operations by method.
    pub calls: BTreeMap<StressCall, CallTally>,
    /// Failed operations by kind.
    pub failures: BTreeMap<&'static str, FailureTally>,
    /// Connections that ended before the run did.
    pub connections_lost: u64,
}

#[derive(Debug)]
pub(crate) struct CallTally {
    /// Nanoseconds from writing a request to having checked its reply.
    pub latency: Histogram<u64>,
    /// Columns in all replies.
    pub columns: u64,
}

#[derive(Debug)]
pub(crate) struct FailureTally {
    pub count: u64,
    /// Text of the first one.
    pub first: String,
}

/// Latencies are recorded with three digits: one part in a thousand.
const LATENCY_DIGITS: u8 = 3;

/// Shortest and longest recorded latency, in nanoseconds: 100 ns and two minutes.
const LATENCY_NANOS: (u64, u64) = (100, 120_000_000_000);

impl ReplyTally {
    pub(crate) fn success(&mut self, call: StressCall, latency: Duration, columns: usize) {
        let tally = self.calls.entry(call).or_insert_with(CallTally::new);
        tally.latency.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
        tally.columns += columns as u64;
    }

    pub(crate) fn failure(&mut self, failure: StressFailure) {
        let tally =
            self.failures.entry(failure.kind).or_insert(FailureTally { count: 0, first: failure.text });
        tally.count += 1;
    }

    /// Counts a connection that ended before the run.
    pub(crate) fn end_of_connection(&mut self, end: Result<(), StressFailure>) {
        if let Err(failure) = end {
            self.connections_lost += 1;
            self.failure(failure);
        }
    }

    pub(crate) fn merge(&mut self, other: ReplyTally) -> Result<(), String> {
        for (call, theirs) in other.calls {
            let ours = self.calls.entry(call).or_insert_with(CallTally::new);
            ours.columns += theirs.columns;
            ours.latency.add(&theirs.latency).map_err(|error| format!("merge latencies: {error}"))?;
        }
        for (kind, theirs) in other.failures {
            let ours = self.failures.entry(kind).or_insert(FailureTally { count: 0, first: theirs.first });
            ours.count += theirs.count;
        }
        self.connections_lost += other.connections_lost;
        Ok(())
    }

    pub(crate) fn succeeded(&self) -> u64 {
        self.calls.values().map(|call| call.latency.len()).sum()
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failures.values().map(|failure| failure.count).sum()
    }
}

impl CallTally {
    fn new() -> CallTally {
        let latency = Histogram::new_with_bounds(LATENCY_NANOS.0, LATENCY_NANOS.1, LATENCY_DIGITS);
        // The bounds are constants that the histogram accepts.
        CallTally { latency: latency.unwrap_or_else(|_| unreachable!()), columns: 0 }
    }

    /// Returns a percentile of the latency, in microseconds.
    pub(crate) fn percentile_us(&self, percent: f64) -> f64 {
        self.latency.value_at_quantile(percent / 100.0) as f64 / 1000.0
    }

    /// Returns the longest latency in microseconds.
    pub(crate) fn max_us(&self) -> f64 {
        self.latency.max() as f64 / 1000.0
    }

    pub(crate) fn columns_per_call(&self) -> f64 {
        self.columns as f64 / self.latency.len().max(1) as f64
    }
}
