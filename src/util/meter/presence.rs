//! Whether a connection's client is still there.

use std::sync::atomic::{AtomicU64, Ordering};

use super::request_meter::now_ms;
use crate::util::limits::REQUEST_AFTER_CLIENT_MS;

/// Whether a connection's client is still there, for the requests that run on its behalf.
#[derive(Debug, Default)]
pub struct ClientPresence {
    /// Milliseconds of the process from which on nobody waits for answers; 0 while somebody does.
    ends_at_ms: AtomicU64,
}

impl ClientPresence {
    /// The client sends nothing more. It may still read answers, so what runs has a little time left.
    pub fn stops_sending(&self) {
        let ends_at = now_ms().saturating_add(REQUEST_AFTER_CLIENT_MS).max(1);
        // The first sign counts: a second one does not give more time.
        let _ = self.ends_at_ms.compare_exchange(0, ends_at, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The connection is broken.
    pub fn leaves(&self) {
        self.ends_at_ms.store(1, Ordering::Relaxed);
    }

    /// Whether nobody waits for answers any more.
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
