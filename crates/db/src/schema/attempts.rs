//! Repeated attempts at a change of the schema, because changes by other servers may interrupt it.

use std::time::{Duration, Instant};

use crate::{Error, Result};

/// The maximum number of attempts, and the time after the first one in which another may begin.
const ATTEMPTS: u32 = 8;
const PATIENCE: Duration = Duration::from_secs(10);

/// The minimum delay after the first attempt; it grows with each further attempt.
const REST: Duration = Duration::from_millis(20);

/// Counts the attempts that have been made.
pub(crate) struct Attempts {
    began: Instant,
    made: u32,
}

impl Attempts {
    pub(crate) fn begin() -> Attempts {
        Attempts { began: Instant::now(), made: 0 }
    }

    /// Waits and returns true if the change should be tried again after this outcome: that is, if another server's
    /// change interrupted the attempt and it was not the last one. Any other outcome is final.
    pub(crate) async fn go_on_after<T>(&mut self, outcome: &Result<T>) -> bool {
        self.made += 1;
        let was_last = self.made == ATTEMPTS || self.began.elapsed() > PATIENCE;
        if was_last || !matches!(outcome, Err(Error::SchemaDisagreement(_))) {
            return false;
        }
        // The delay is random, so that servers that interrupted each other do not retry at the same time.
        let chance = u32::from(uuid::Uuid::new_v4().as_bytes()[0]) % 100;
        tokio::time::sleep(REST * self.made * (100 + chance) / 100).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_changes_that_other_servers_interrupted_are_repeated() {
        let mut attempts = Attempts::begin();
        assert!(!attempts.go_on_after(&Ok(())).await);
        assert!(!attempts.go_on_after::<()>(&Err(Error::TimedOut(String::new()))).await);
        let outcome: Result<()> = Err(Error::SchemaDisagreement(String::new()));
        let mut attempts = Attempts::begin();
        let mut made = 1;
        while attempts.go_on_after(&outcome).await {
            made += 1;
        }
        assert_eq!(made, ATTEMPTS);
    }
}
