//! Counts requests by method and outcome, with a histogram of their times.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::outcome::RequestOutcome;
use super::sharded::{SHARDS, own_shard};
use crate::util::whole_micros;

/// Upper bounds of the buckets of times, in microseconds. Times beyond the last are in a bucket of their own.
pub const LATENCY_BOUNDS_MICROS: [u64; 19] = [
    10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];

const BUCKETS: usize = LATENCY_BOUNDS_MICROS.len() + 1;
const OUTCOMES: usize = RequestOutcome::ALL.len();

/// Slots for methods. Each protocol numbers its methods; both are tables in the program, so clients cannot add any.
pub const REQUEST_SLOTS_MAX: usize = 192;

/// A method in the metrics: which slot its requests are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestSlot {
    /// The index of the slot, below [`REQUEST_SLOTS_MAX`].
    pub number: usize,
    /// `thrift` or `native`.
    pub protocol: &'static str,
    /// The name of the Thrift method, or of the request of the native protocol.
    pub method: &'static str,
    /// The API generation of a Thrift method; empty for the native protocol.
    pub generation: &'static str,
}

/// A request that has ended.
#[derive(Debug, Clone, Copy)]
pub struct EndedRequest {
    /// The outcome that the reply tells the client.
    pub outcome: RequestOutcome,
    /// The time from the message to the encoded reply.
    pub time: Duration,
    /// The length of the request.
    pub bytes_in: usize,
    /// The length of the reply.
    pub bytes_out: usize,
}

impl EndedRequest {
    /// A message that cannot be read, of which neither time nor bytes count.
    pub const UNREADABLE: EndedRequest =
        EndedRequest { outcome: RequestOutcome::Protocol, time: Duration::ZERO, bytes_in: 0, bytes_out: 0 };
}

/// The counts of one method on one thread.
#[derive(Debug, Default)]
struct MethodCells {
    outcomes: [AtomicU64; OUTCOMES],
    buckets: [AtomicU64; BUCKETS],
    micros: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
}

/// The counts of one thread. The counts of a method are created with its first request.
#[derive(Debug)]
struct MetricsShard([OnceLock<Box<MethodCells>>; REQUEST_SLOTS_MAX]);

/// Counts requests. Memory is bounded: at most 16 parts with `REQUEST_SLOTS_MAX` methods each.
#[derive(Debug, Default)]
pub struct RequestMetrics([OnceLock<Box<MetricsShard>>; SHARDS]);

/// The counts of a method on all threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodTotals {
    /// Requests by outcome, in the order of `RequestOutcome::ALL`.
    pub outcomes: [u64; OUTCOMES],
    /// Requests by the bucket of their time; the last one has no bound.
    pub buckets: [u64; BUCKETS],
    /// The time of all requests, in microseconds.
    pub micros: u64,
    /// The length of all requests.
    pub bytes_in: u64,
    /// The length of all replies.
    pub bytes_out: u64,
}

impl RequestMetrics {
    /// Counts a request. A slot that does not exist is not counted.
    pub fn record(&self, slot: usize, request: &EndedRequest) {
        let Some(shard) = self.0.get(own_shard()) else { return };
        let shard =
            shard.get_or_init(|| Box::new(MetricsShard([const { OnceLock::new() }; REQUEST_SLOTS_MAX])));
        let Some(cells) = shard.0.get(slot) else { return };
        let cells = cells.get_or_init(Box::default);
        let micros = whole_micros(request.time);
        let bucket = LATENCY_BOUNDS_MICROS.partition_point(|bound| *bound < micros);
        let counted = [cells.outcomes.get(request.outcome as usize), cells.buckets.get(bucket)];
        counted.into_iter().flatten().for_each(|cell| {
            cell.fetch_add(1, Ordering::Relaxed);
        });
        cells.micros.fetch_add(micros, Ordering::Relaxed);
        cells.bytes_in.fetch_add(request.bytes_in as u64, Ordering::Relaxed);
        cells.bytes_out.fetch_add(request.bytes_out as u64, Ordering::Relaxed);
    }

    /// Returns the counts of a method; `None` if it had no request.
    pub fn totals(&self, slot: usize) -> Option<MethodTotals> {
        let shards = self.0.iter().filter_map(OnceLock::get);
        let mut cells = shards.filter_map(|shard| shard.0.get(slot)?.get()).peekable();
        cells.peek()?;
        let mut totals = MethodTotals::default();
        for cells in cells {
            let add = |totals: &mut [u64], cells: &[AtomicU64]| {
                totals.iter_mut().zip(cells).for_each(|(total, cell)| *total += cell.load(Ordering::Relaxed));
            };
            add(&mut totals.outcomes, &cells.outcomes);
            add(&mut totals.buckets, &cells.buckets);
            totals.micros += cells.micros.load(Ordering::Relaxed);
            totals.bytes_in += cells.bytes_in.load(Ordering::Relaxed);
            totals.bytes_out += cells.bytes_out.load(Ordering::Relaxed);
        }
        Some(totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_method_outcome_and_time() {
        let metrics = RequestMetrics::default();
        let request = |outcome, micros| EndedRequest {
            outcome,
            time: Duration::from_micros(micros),
            bytes_in: 3,
            bytes_out: 5,
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    metrics.record(2, &request(RequestOutcome::Ok, 10));
                    metrics.record(2, &request(RequestOutcome::Internal, 11));
                    metrics.record(2, &request(RequestOutcome::Ok, 99_000_000));
                });
            }
        });
        let totals = metrics.totals(2).unwrap();
        assert_eq!((totals.outcomes[0], totals.outcomes[8]), (6, 3));
        assert_eq!((totals.buckets[0], totals.buckets[1], totals.buckets[BUCKETS - 1]), (3, 3, 3));
        assert_eq!((totals.micros, totals.bytes_in, totals.bytes_out), (3 * 99_000_021, 27, 45));
        assert_eq!(metrics.totals(1), None);
        metrics.record(REQUEST_SLOTS_MAX, &request(RequestOutcome::Ok, 1));
        assert_eq!(metrics.totals(REQUEST_SLOTS_MAX), None);
    }

    #[test]
    fn outcomes_are_numbered_in_their_order() {
        for (number, outcome) in RequestOutcome::ALL.iter().copied().enumerate() {
            assert_eq!(outcome as usize, number, "{}", outcome.label());
        }
    }
}
