//! The last minutes of requests, for the charts of the console.
//!
//! A task reads the counters every two seconds and keeps the differences. Requests do not notice it: they count for the
//! metrics anyway.
//!
//! ```text
//!   counters      get ok 17 ... 21 ... 30        of all threads, since the start
//!   samples            |  +4  |  +9  |           in a ring, oldest first
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::request_totals::requests;
use base::util::metrics::{LATENCY_BOUNDS_MICROS, MethodTotals, RequestOutcome, RequestSlot};
use db::Database;

/// The time between two samples.
pub(crate) const SAMPLE_S: u64 = 2;
/// Samples that are kept: ten minutes. A sample has some bytes for each method that had requests.
pub(crate) const SAMPLES_MAX: usize = 300;
/// The time that the samples cover.
pub(crate) const HISTORY_MINUTES: u64 = SAMPLE_S * SAMPLES_MAX as u64 / 60;

const OUTCOMES: usize = RequestOutcome::ALL.len();
const BUCKETS: usize = LATENCY_BOUNDS_MICROS.len() + 1;

/// The requests of one method between two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MethodSample {
    pub method: &'static str,
    pub ok: u64,
    pub failed: u64,
}

/// The requests between two samples.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    pub seconds: f64,
    pub methods: Vec<MethodSample>,
    /// Requests by outcome, in the order of `RequestOutcome::ALL`.
    pub outcomes: [u64; OUTCOMES],
    /// Requests by their time, as the metrics have them.
    pub buckets: [u64; BUCKETS],
}

impl Sample {
    /// Returns the requests of all methods.
    pub(crate) fn requests(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// Returns the requests that got an error. A `get` that finds nothing has not failed.
    pub(crate) fn failed(&self) -> u64 {
        self.outcomes.iter().skip(RequestOutcome::Invalid as usize).sum()
    }
}

/// The samples of the last minutes.
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<Samples>);

#[derive(Debug, Default)]
struct Samples {
    samples: VecDeque<Sample>,
    /// The counters at the last sample, by slot.
    last: BTreeMap<usize, MethodTotals>,
    at: Option<Instant>,
}

impl History {
    /// Takes a sample. The first call only reads the counters.
    pub(crate) fn sample(&self, database: &Database) {
        self.0.lock().add(requests(database), Instant::now());
    }

    /// Returns the samples, oldest first.
    pub(crate) fn list(&self) -> Vec<Sample> {
        self.0.lock().samples.iter().cloned().collect()
    }
}

impl Samples {
    fn add(&mut self, counted: Vec<(RequestSlot, MethodTotals)>, now: Instant) {
        let mut sample = Sample::default();
        for (slot, totals) in counted {
            let last = self.last.insert(slot.number, totals.clone()).unwrap_or_default();
            let outcomes = differences(&totals.outcomes, &last.outcomes);
            let failed = outcomes.iter().skip(RequestOutcome::Invalid as usize).sum();
            let ok = outcomes.iter().sum::<u64>() - failed;
            add_all(&mut sample.outcomes, &outcomes);
            add_all(&mut sample.buckets, &differences(&totals.buckets, &last.buckets));
            if ok + failed == 0 {
                continue;
            }
            match sample.methods.iter_mut().find(|known| known.method == slot.method) {
                Some(known) => (known.ok, known.failed) = (known.ok + ok, known.failed + failed),
                None => sample.methods.push(MethodSample { method: slot.method, ok, failed }),
            }
        }
        let Some(before) = self.at.replace(now) else { return };
        sample.seconds = now.duration_since(before).max(Duration::from_millis(1)).as_secs_f64();
        self.samples.push_back(sample);
        if self.samples.len() > SAMPLES_MAX {
            self.samples.pop_front();
        }
    }
}

fn differences<const N: usize>(now: &[u64; N], before: &[u64; N]) -> [u64; N] {
    let mut out = *now;
    out.iter_mut().zip(before).for_each(|(out, before)| *out = out.saturating_sub(*before));
    out
}

fn add_all(sums: &mut [u64], more: &[u64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// Returns a quantile of times in microseconds, such as 0.99, from their buckets; between the bounds of a bucket times are
/// taken as evenly distributed. `None` without times.
pub(crate) fn quantile(buckets: &[u64], part: f64) -> Option<f64> {
    let all: u64 = buckets.iter().sum();
    let wanted = all as f64 * part;
    let (mut below, mut from) = (0.0, 0.0);
    for (at, count) in buckets.iter().enumerate() {
        let to = LATENCY_BOUNDS_MICROS.get(at).map_or(from, |bound| *bound as f64);
        let count = *count as f64;
        if count > 0.0 && below + count >= wanted {
            return Some(from + (to - from) * ((wanted - below) / count).clamp(0.0, 1.0));
        }
        (below, from) = (below + count, to);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(ok: u64, invalid: u64) -> Vec<(RequestSlot, MethodTotals)> {
        let mut totals = MethodTotals::default();
        (totals.outcomes[0], totals.outcomes[RequestOutcome::Invalid as usize]) = (ok, invalid);
        totals.buckets[1] = ok + invalid;
        let slot = |number, generation| RequestSlot { number, protocol: "thrift", method: "get", generation };
        vec![(slot(1, "0.6"), totals.clone()), (slot(2, "0.7"), totals)]
    }

    #[test]
    fn samples_are_differences_in_a_ring() {
        let (mut samples, start) = (Samples::default(), Instant::now());
        samples.add(counted(5, 0), start);
        assert!(samples.samples.is_empty(), "requests before the first sample are in none");
        samples.add(counted(7, 1), start + Duration::from_secs(2));
        let first = samples.samples[0].clone();
        assert_eq!(first.methods, [MethodSample { method: "get", ok: 4, failed: 2 }]);
        assert_eq!((first.requests(), first.failed(), first.buckets[1]), (6, 2, 6));
        assert!((first.seconds - 2.0).abs() < 1e-9);
        for at in 0..2 * SAMPLES_MAX as u64 {
            samples.add(counted(7, 1), start + Duration::from_secs(4 + 2 * at));
        }
        assert_eq!(samples.samples.len(), SAMPLES_MAX);
        assert!(samples.samples.iter().all(|sample| sample.methods.is_empty()));
    }

    #[test]
    fn quantiles_are_within_their_bucket() {
        let mut buckets = [0; BUCKETS];
        assert_eq!(quantile(&buckets, 0.5), None);
        (buckets[0], buckets[4]) = (90, 10);
        assert!(quantile(&buckets, 0.5).unwrap() < 10.0);
        let slow = quantile(&buckets, 0.99).unwrap();
        assert!((100.0..=250.0).contains(&slow), "{slow}");
        buckets[BUCKETS - 1] = 900;
        assert_eq!(quantile(&buckets, 0.99), Some(10_000_000.0), "beyond the last bound nothing is known");
    }
}
