//! Enforces a minimum rate at which a client sends a message that has begun, and reads a reply.
//!
//! A client has a credit of time. The credit runs down while the server waits for the client. Each byte that moves adds
//! to it, up to the initial credit. So the limit is a minimum rate that allows a pause as long as the credit:
//!
//! ```text
//!   credit  60 s ─┐                    a link of 10 KB/s: every second adds ten, the credit stays full
//!                 │\      /|\
//!                 │  \  /  |  \        a pause and then bytes again
//!              0 ─┴────────────\──    no byte for a minute, or one byte a second: closed
//! ```

use std::time::Duration;

use tokio::time::Instant;

/// A minimum rate, and the pause that is allowed in spite of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaceLimits {
    /// The longest pause.
    pub grace: Duration,
    /// The minimum rate in bytes a second.
    pub bytes_per_s: u64,
}

/// The credit of a client. The client is too slow from `until` on, unless more bytes move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientPace {
    limits: PaceLimits,
    until: Instant,
}

impl ClientPace {
    /// Starts with the full credit.
    pub(crate) fn begin(limits: PaceLimits, now: Instant) -> ClientPace {
        ClientPace { limits, until: now + limits.grace }
    }

    /// Adds the credit for `bytes`.
    pub(crate) fn progress(&mut self, bytes: usize, now: Instant) {
        let nanoseconds = (bytes as u64).saturating_mul(1_000_000_000) / self.limits.bytes_per_s.max(1);
        let full = now + self.limits.grace;
        let worth = Duration::from_nanos(nanoseconds);
        self.until = if worth >= self.limits.grace { full } else { full.min(self.until + worth) };
    }

    /// Adds a time in which the server did not wait for the client.
    pub(crate) fn leave_out(&mut self, time: Duration) {
        self.until += time;
    }

    /// Returns when the credit is used up.
    pub(crate) fn until(&self) -> Instant {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: PaceLimits = PaceLimits { grace: Duration::from_secs(60), bytes_per_s: 1024 };

    /// Returns after how many seconds a client is too slow that moves `bytes_per_s` each second.
    fn ends_after(bytes_per_s: usize) -> Option<u64> {
        let start = Instant::now();
        let mut pace = ClientPace::begin(LIMITS, start);
        (1..10_000).find(|second| {
            let now = start + Duration::from_secs(*second);
            let is_too_slow = now > pace.until();
            pace.progress(bytes_per_s, now);
            is_too_slow
        })
    }

    #[test]
    fn slow_links_stay_open_and_stalled_clients_are_closed() {
        assert_eq!(ends_after(1024), None);
        assert_eq!(ends_after(0), Some(61));
        assert_eq!(ends_after(1), Some(61));
        assert_eq!(ends_after(512), Some(120));
    }

    #[test]
    fn the_credit_never_exceeds_the_initial_credit() {
        let start = Instant::now();
        let mut pace = ClientPace::begin(LIMITS, start);
        for bytes in [1 << 30, usize::MAX] {
            pace.progress(bytes, start);
            assert_eq!(pace.until(), start + LIMITS.grace);
        }
    }

    #[test]
    fn time_without_waiting_for_the_client_does_not_count() {
        let start = Instant::now();
        let mut pace = ClientPace::begin(LIMITS, start);
        pace.leave_out(Duration::from_secs(5));
        assert_eq!(pace.until(), start + LIMITS.grace + Duration::from_secs(5));
    }
}
