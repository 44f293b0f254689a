//! The server's own clock, as an argument, so that a test can hold it still.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where "now" comes from: the system, or a test's hand.
#[derive(Debug)]
pub struct Clock {
    source: Source,
    /// The last that `next_micros` gave.
    last_micros: AtomicI64,
}

#[derive(Debug)]
enum Source {
    System,
    /// Stands still at this many milliseconds since 1970 until a test moves it.
    Manual(AtomicI64),
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Clock {
        Clock { source: Source::System, last_micros: AtomicI64::new(0) }
    }

    /// A clock that a test moves by hand.
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

    /// Microseconds since 1970, each time a larger number than the last: timestamps of the server's own writes.
    pub fn next_micros(&self) -> i64 {
        let now = self.now_micros();
        let later = |last: i64| Some(now.max(last.saturating_add(1)));
        match self.last_micros.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later) {
            Ok(last) | Err(last) => now.max(last.saturating_add(1)),
        }
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now_micros() / 1000
    }

    /// Seconds since 1970, the unit of local deletion times. Stops at 2038's end of i32 instead of wrapping.
    pub fn now_s(&self) -> i32 {
        i32::try_from(self.now_ms() / 1000).unwrap_or(i32::MAX)
    }

    /// Moves a manual clock; the system's does not move.
    pub fn advance_ms(&self, by: i64) {
        if let Source::Manual(ms) = &self.source {
            ms.fetch_add(by, Ordering::Relaxed);
        }
    }
}
