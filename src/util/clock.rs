//! The server's own clock, as an argument, so that a test can hold it still.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where "now" comes from: the system, or a test's hand.
#[derive(Debug)]
pub enum Clock {
    System,
    /// Stands still at this many milliseconds since 1970 until a test moves it.
    Manual(AtomicI64),
}

impl Clock {
    /// A clock that a test moves by hand.
    pub fn manual(unix_ms: i64) -> Clock {
        Clock::Manual(AtomicI64::new(unix_ms))
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        match self {
            Clock::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
            }
            Clock::Manual(ms) => ms.load(Ordering::Relaxed),
        }
    }

    /// Seconds since 1970, the unit of local deletion times. Stops at 2038's end of i32 instead of wrapping.
    pub fn now_s(&self) -> i32 {
        i32::try_from(self.now_ms() / 1000).unwrap_or(i32::MAX)
    }

    /// Moves a manual clock; the system's does not move.
    pub fn advance_ms(&self, by: i64) {
        if let Clock::Manual(ms) = self {
            ms.fetch_add(by, Ordering::Relaxed);
        }
    }
}
