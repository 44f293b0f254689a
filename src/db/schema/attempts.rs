//! Attempts at a change of the schema, which other servers' changes may interrupt.

use std::time::{Duration, Instant};

use crate::db::Error;

/// How many attempts there are, and how long after the first one another may begin.
const ATTEMPTS: u32 = 8;
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the rest after the first attempt is at least; later ones are longer.
const REST: Duration = Duration::from_millis(20);

/// The attempts that have been made.
pub(in crate::db) struct Attempts {
    began: Instant,
    made: u32,
}

impl Attempts {
    pub(in crate::db) fn begin() -> Attempts {
        Attempts { began: Instant::now(), made: 0 }
    }

    /// Whether to try again after an attempt with this outcome; rests first. That is so where another server's change has
    /// interrupted it, up to the last attempt. Any other outcome stands.
    pub(in crate::db) async fn go_on_after<T>(&mut self, outcome: &Result<T, Error>) -> bool {
        self.made += 1;
        let was_last = self.made == ATTEMPTS || self.began.elapsed() > PATIENCE;
        if was_last || !matches!(outcome, Err(Error::SchemaDisagreement(_))) {
            return false;
        }
        // Several servers that get into each other's way do not rest for the same time.
        let chance = u32::from(uuid::Uuid::new_v4().as_bytes()[0]) % 100;
        tokio::time::sleep(REST * self.made * (100 + chance) / 100).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_what_others_have_interrupted_is_tried_again() {
        let mut attempts = Attempts::begin();
        assert!(!attempts.go_on_after(&Ok(())).await);
        assert!(!attempts.go_on_after::<()>(&Err(Error::TimedOut(String::new()))).await);
        let outcome: Result<(), Error> = Err(Error::SchemaDisagreement(String::new()));
        let mut attempts = Attempts::begin();
        let mut made = 1;
        while attempts.go_on_after(&outcome).await {
            made += 1;
        }
        assert_eq!(made, ATTEMPTS);
    }
}
