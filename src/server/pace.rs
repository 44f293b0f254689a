//! How fast a client must send a message that has begun, and read a reply.
//!
//! A client has a credit of time. It runs down while the server waits for the client, and each byte that moves adds a
//! little, up to the credit of the start. So the limit is a rate, with a pause that may be as long as the credit:
//!
//! ```text
//!   credit  60 s ─┐                    a link of 10 KB/s: every second adds ten, the credit stays full
//!                 │\      /|\
//!                 │  \  /  |  \        a pause and then bytes again
//!              0 ─┴────────────\──    no byte for a minute, or one byte a second: closed
//! ```

use std::time::Duration;

use tokio::time::Instant;

/// A least rate, and the pause that is allowed in spite of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaceLimits {
    pub grace: Duration,
    pub bytes_per_s: u64,
}

/// The credit of a client: it is too slow from `until` on, unless more bytes move.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    limits: PaceLimits,
    until: Instant,
}

impl Pace {
    /// Begins with all of the credit.
    pub fn begin(limits: PaceLimits, now: Instant) -> Pace {
        Pace { limits, until: now + limits.grace }
    }

    /// Adds what so many bytes are worth.
    pub fn progress(&mut self, bytes: usize, now: Instant) {
        let nanoseconds = (bytes as u64).saturating_mul(1_000_000_000) / self.limits.bytes_per_s.max(1);
        let full = now + self.limits.grace;
        let worth = Duration::from_nanos(nanoseconds);
        self.until = if worth >= self.limits.grace { full } else { full.min(self.until + worth) };
    }

    /// Leaves out a time in which the server has not waited for the client.
    pub fn leave_out(&mut self, time: Duration) {
        self.until += time;
    }

    /// When the client is too slow.
    pub fn until(&self) -> Instant {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: PaceLimits = PaceLimits { grace: Duration::from_secs(60), bytes_per_s: 1024 };

    /// How many seconds after the start the client is too slow, if so many bytes move in each second until then.
    fn ends_after(bytes_per_s: usize) -> Option<u64> {
        let start = Instant::now();
        let mut pace = Pace::begin(LIMITS, start);
        (1..10_000).find(|second| {
            let now = start + Duration::from_secs(*second);
            let is_too_slow = now > pace.until();
            pace.progress(bytes_per_s, now);
            is_too_slow
        })
    }

    #[test]
    fn slow_links_live_and_stalled_clients_do_not() {
        assert_eq!(ends_after(1024), None);
        assert_eq!(ends_after(0), Some(61));
        assert_eq!(ends_after(1), Some(61));
        assert_eq!(ends_after(512), Some(120));
    }

    #[test]
    fn much_at_once_buys_no_longer_pause() {
        let start = Instant::now();
        let mut pace = Pace::begin(LIMITS, start);
        for bytes in [1 << 30, usize::MAX] {
            pace.progress(bytes, start);
            assert_eq!(pace.until(), start + LIMITS.grace);
        }
    }

    #[test]
    fn what_the_server_does_meanwhile_is_left_out() {
        let start = Instant::now();
        let mut pace = Pace::begin(LIMITS, start);
        pace.leave_out(Duration::from_secs(5));
        assert_eq!(pace.until(), start + LIMITS.grace + Duration::from_secs(5));
    }
}
