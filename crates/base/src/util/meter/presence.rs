//! Records whether a connection's client is still connected.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::util::limits::REQUEST_AFTER_CLIENT_MS;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Returns milliseconds since the first call in this process.
fn now_ms() -> u64 {
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Whether a connection's client is still connected. The connection writes it, its requests read it.
#[derive(Debug, Default)]
pub struct ClientPresence {
    /// When the client counts as gone, in milliseconds of the process; 0 while it is connected.
    ends_at_ms: AtomicU64,
}

impl ClientPresence {
    /// Records that the client sends nothing more. It may still read replies, so running requests have a little time
    /// left.
    pub fn stops_sending(&self) {
        let ends_at = now_ms().saturating_add(REQUEST_AFTER_CLIENT_MS).max(1);
        // The first call counts: a second one does not add time.
        let _ = self.ends_at_ms.compare_exchange(0, ends_at, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Records that the connection is broken.
    pub fn leaves(&self) {
        self.ends_at_ms.store(1, Ordering::Relaxed);
    }

    /// Returns whether the client no longer waits for replies.
    pub fn has_left(&self) -> bool {
        let ends_at = self.ends_at_ms.load(Ordering::Relaxed);
        ends_at != 0 && now_ms() >= ends_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_only_stops_sending_is_waited_for() {
        let presence = ClientPresence::default();
        assert!(!presence.has_left());
        presence.stops_sending();
        assert!(!presence.has_left());
        presence.leaves();
        presence.stops_sending();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(presence.has_left());
    }
}
