//! The server's clock. It is passed as an argument, so that tests can set it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The current time: of the system, or set by a test.
#[derive(Debug)]
pub struct Clock {
    source: Source,
    /// The last value that `next_micros` returned.
    last_micros: AtomicI64,
}

#[derive(Debug)]
enum Source {
    System,
    /// Milliseconds since 1970. They only change by `advance_ms`.
    Manual(AtomicI64),
}

impl Clock {
    /// Returns the system's clock.
    pub fn system() -> Clock {
        Clock { source: Source::System, last_micros: AtomicI64::new(0) }
    }

    /// Returns a clock that only [`Clock::advance_ms`] moves.
    pub fn manual(unix_ms: i64) -> Clock {
        Clock { source: Source::Manual(AtomicI64::new(unix_ms)), last_micros: AtomicI64::new(0) }
    }

    fn now_micros(&self) -> i64 {
        match &self.source {
            Source::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
            }
            Source::Manual(ms) => ms.load(Ordering::Relaxed).saturating_mul(1000),
        }
    }

    /// Returns microseconds since 1970, larger than all values returned before: the timestamps of the server's own
    /// writes.
    pub fn next_micros(&self) -> i64 {
        let now = self.now_micros();
        let later = |last: i64| Some(now.max(last.saturating_add(1)));
        match self.last_micros.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later) {
            Ok(last) | Err(last) => now.max(last.saturating_add(1)),
        }
    }

    /// Returns milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now_micros() / 1000
    }

    /// Returns seconds since 1970, the unit of local deletion times. Saturates at the end of i32 in 2038.
    pub fn now_s(&self) -> i32 {
        i32::try_from(self.now_ms() / 1000).unwrap_or(i32::MAX)
    }

    /// Advances a manual clock. Has no effect on the system's clock.
    pub fn advance_ms(&self, by: i64) {
        if let Source::Manual(ms) = &self.source {
            ms.fetch_add(by, Ordering::Relaxed);
        }
    }
}
