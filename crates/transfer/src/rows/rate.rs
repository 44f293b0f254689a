//! Limits the bytes per second that a transfer reads, so that the source has time for its clients.

use std::time::Duration;

use tokio::time::Instant;

/// Time for which unused bytes are saved up: after a pause of the target the transfer is not faster for longer.
const SAVED: Duration = Duration::from_secs(1);

/// Bytes per second; `None` is without a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RateLimit(pub Option<f64>);

/// Spends bytes at the rate of a limit.
#[derive(Debug)]
pub(super) struct RatePace {
    bytes_per_s: Option<f64>,
    /// When the bytes so far are paid for.
    paid: Instant,
}

impl RatePace {
    pub(super) fn new(limit: RateLimit) -> RatePace {
        RatePace { bytes_per_s: limit.0.filter(|rate| *rate > 0.0), paid: Instant::now() }
    }

    /// Waits until these bytes may have been read.
    pub(super) async fn spend(&mut self, bytes: u64) {
        if let Some(until) = self.due(bytes, Instant::now()) {
            tokio::time::sleep_until(until).await;
        }
    }

    /// Returns until when bytes that are read now must wait.
    fn due(&mut self, bytes: u64, now: Instant) -> Option<Instant> {
        let rate = self.bytes_per_s?;
        let since = self.paid.max(now.checked_sub(SAVED).unwrap_or(now));
        self.paid = since + Duration::from_secs_f64((bytes as f64 / rate).min(1e9));
        Some(self.paid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_their_time_and_a_second_may_be_saved_up() {
        let mut pace = RatePace::new(RateLimit(Some(1000.0)));
        let began = pace.paid;
        let seconds = Duration::from_secs;
        for number in 1..=10 {
            assert_eq!(pace.due(1000, began), Some(began + seconds(number)));
        }
        let later = began + seconds(100);
        assert_eq!(pace.due(5000, later), Some(later + seconds(4)));
        assert_eq!(RatePace::new(RateLimit(None)).due(u64::MAX, began), None);
    }
}
