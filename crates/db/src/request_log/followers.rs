//! The requests of the moment, for the console.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::broadcast;

use crate::faults::JournalEntry;
use crate::limits::{LIVE_REQUESTS_PER_S, STREAM_BEHIND_MAX};

/// Sends requests that have ended to followers. It sends a limited number in a second, so that followers cost nothing
/// measurable on a busy server, and counts the others.
#[derive(Debug)]
pub struct Followers {
    sender: broadcast::Sender<Arc<JournalEntry>>,
    count: AtomicUsize,
    started: Instant,
    /// The second since the start, and how many requests were chosen in it: 32 bits each.
    chosen: AtomicU64,
    left_out: AtomicU64,
}

/// A follower. Dropping it ends the following.
#[derive(Debug)]
pub struct LiveRequests {
    followers: Arc<Followers>,
    /// The requests. A receiver that is too far behind misses the oldest.
    pub entries: broadcast::Receiver<Arc<JournalEntry>>,
}

impl Default for Followers {
    fn default() -> Followers {
        Followers {
            sender: broadcast::Sender::new(STREAM_BEHIND_MAX),
            count: AtomicUsize::new(0),
            started: Instant::now(),
            chosen: AtomicU64::new(0),
            left_out: AtomicU64::new(0),
        }
    }
}

impl Followers {
    /// Begins to follow.
    pub fn follow(self: &Arc<Self>) -> LiveRequests {
        let entries = self.sender.subscribe();
        self.count.fetch_add(1, Ordering::Relaxed);
        LiveRequests { followers: self.clone(), entries }
    }

    pub(super) fn has_some(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Returns whether a request that begins now is sent to followers.
    pub(super) fn choose(&self) -> bool {
        if !self.has_some() {
            return false;
        }
        let second = self.started.elapsed().as_secs();
        let is_chosen = self.chosen.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |chosen| {
            if chosen >> 32 != second {
                return Some(second << 32 | 1);
            }
            (chosen & 0xffff_ffff < LIVE_REQUESTS_PER_S).then_some(chosen + 1)
        });
        let is_chosen = is_chosen.is_ok();
        if !is_chosen {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        is_chosen
    }

    pub(super) fn send(&self, entry: JournalEntry) {
        // Fails only if the last of them has just left.
        let _ = self.sender.send(Arc::new(entry));
    }
}

impl LiveRequests {
    /// Returns how many requests were not sent since the start, because there were too many in a second.
    pub fn left_out(&self) -> u64 {
        self.followers.left_out.load(Ordering::Relaxed)
    }
}

impl Drop for LiveRequests {
    fn drop(&mut self) {
        self.followers.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn followers_get_a_limited_number_of_requests() {
        let followers = Arc::new(Followers::default());
        assert!(!followers.choose());
        let live = followers.follow();
        let chosen = (0..3 * LIVE_REQUESTS_PER_S).filter(|_| followers.choose()).count() as u64;
        // A second may end meanwhile.
        assert!((LIVE_REQUESTS_PER_S..=2 * LIVE_REQUESTS_PER_S).contains(&chosen), "{chosen}");
        assert_eq!(live.left_out() + chosen, 3 * LIVE_REQUESTS_PER_S);
        drop(live);
        assert!(!followers.choose());
    }
}
