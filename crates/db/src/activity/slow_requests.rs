//! The slowest requests of the last hour.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::summary::RequestSummary;
use crate::limits::{SLOW_MINUTES_MAX, SLOW_REQUESTS_OF_MINUTE};

/// The slowest requests of each minute of the last hour. So the slowest of the hour are among them.
#[derive(Debug)]
pub struct SlowRequests {
    /// The nanoseconds that a request must take longer than to be stored. All ones while nobody collects.
    threshold: AtomicU64,
    minutes: Mutex<Minutes>,
}

#[derive(Debug, Default)]
struct Minutes {
    current: Vec<(u64, RequestSummary)>,
    /// Oldest first.
    ended: VecDeque<Vec<(u64, RequestSummary)>>,
}

impl Default for SlowRequests {
    fn default() -> SlowRequests {
        SlowRequests { threshold: AtomicU64::new(u64::MAX), minutes: Mutex::default() }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl SlowRequests {
    /// Begins to collect.
    pub(super) fn begin(&self) {
        self.threshold.store(0, Ordering::Relaxed);
    }

    /// Returns whether a request that took this time is among the slowest of the minute so far.
    #[inline]
    pub fn admits(&self, time: Duration) -> bool {
        nanos(time) > self.threshold.load(Ordering::Relaxed)
    }

    /// Stores a request, if it is still among the slowest.
    pub fn add(&self, time: Duration, request: RequestSummary) {
        let time = nanos(time);
        let mut minutes = self.minutes.lock();
        let current = &mut minutes.current;
        if current.len() >= SLOW_REQUESTS_OF_MINUTE {
            let fastest = current.iter_mut().min_by_key(|(other, _)| *other);
            match fastest {
                Some(fastest) if fastest.0 < time => *fastest = (time, request),
                _ => return,
            }
        } else {
            current.push((time, request));
        }
        assert!(current.len() <= SLOW_REQUESTS_OF_MINUTE, "the requests of a minute are bounded");
        if current.len() >= SLOW_REQUESTS_OF_MINUTE {
            let fastest = current.iter().map(|(time, _)| *time).min().unwrap_or_default();
            self.threshold.store(fastest, Ordering::Relaxed);
        }
    }

    /// Ends the minute, and forgets the one an hour ago.
    pub(super) fn end_minute(&self) {
        let mut minutes = self.minutes.lock();
        let current = std::mem::take(&mut minutes.current);
        minutes.ended.push_back(current);
        // The current minute is one of them.
        while minutes.ended.len() >= SLOW_MINUTES_MAX {
            minutes.ended.pop_front();
        }
        self.threshold.store(0, Ordering::Relaxed);
    }

    /// Returns the slowest requests of the last hour, slowest first.
    pub fn list(&self) -> Vec<RequestSummary> {
        let minutes = self.minutes.lock();
        let mut all: Vec<&(u64, RequestSummary)> =
            minutes.ended.iter().chain([&minutes.current]).flatten().collect();
        all.sort_by_key(|(time, _)| Reverse(*time));
        all.into_iter().take(SLOW_REQUESTS_OF_MINUTE).map(|(_, request)| request.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(slow: &SlowRequests, micros: u64) {
        let time = Duration::from_micros(micros);
        if slow.admits(time) {
            slow.add(time, RequestSummary { micros, ..RequestSummary::default() });
        }
    }

    fn listed(slow: &SlowRequests) -> Vec<u64> {
        slow.list().iter().map(|request| request.micros).collect()
    }

    #[test]
    fn the_slowest_requests_stay() {
        let slow = SlowRequests::default();
        add(&slow, 1_000_000);
        assert!(listed(&slow).is_empty(), "nobody collects");
        slow.begin();
        (1..=1000).for_each(|micros| add(&slow, micros * 7919 % 1009));
        let expected: Vec<u64> = (1..=1000)
            .map(|micros| micros * 7919 % 1009)
            .collect::<std::collections::BTreeSet<u64>>()
            .into_iter()
            .rev()
            .take(SLOW_REQUESTS_OF_MINUTE)
            .collect();
        assert_eq!(listed(&slow), expected);
        let fastest = Duration::from_micros(*expected.last().unwrap());
        assert!(!slow.admits(fastest) && slow.admits(fastest + Duration::from_micros(1)));
    }

    #[test]
    fn an_hour_is_remembered() {
        let slow = SlowRequests::default();
        slow.begin();
        add(&slow, 5000);
        (0..100).for_each(|_| add(&slow, 10));
        for _ in 1..SLOW_MINUTES_MAX {
            slow.end_minute();
            add(&slow, 1);
            assert_eq!(slow.list()[0].micros, 5000);
        }
        slow.end_minute();
        assert_eq!(slow.list()[0].micros, 1);
        let minutes = slow.minutes.lock();
        assert!(minutes.ended.len() < SLOW_MINUTES_MAX);
    }
}
