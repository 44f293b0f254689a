//! Limits the requests to the cluster: a number of them run at the same time, as many more wait, and further ones are
//! refused.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use store::{Result, StoreError};

/// The gate that requests to the cluster pass.
#[derive(Debug)]
pub struct Gate {
    places: Semaphore,
    requests_max: usize,
    waiting: AtomicUsize,
    timeout: Duration,
}

/// Counts a waiting request until it is dropped.
struct WaitGuard<'a>(&'a AtomicUsize);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        let before = self.0.fetch_sub(1, Ordering::Relaxed);
        debug_assert!(before > 0, "the gate would count no waiting request again");
    }
}

impl Gate {
    pub fn new(requests_max: usize, timeout: Duration) -> Gate {
        let requests_max = requests_max.clamp(1, Semaphore::MAX_PERMITS);
        Gate { places: Semaphore::new(requests_max), requests_max, waiting: AtomicUsize::new(0), timeout }
    }

    /// Waits until the request may run, and keeps its place until the permit is dropped.
    ///
    /// # Errors
    /// `Overloaded` if too many requests wait already, or the wait exceeds the time limit.
    pub async fn pass(&self) -> Result<SemaphorePermit<'_>> {
        if let Ok(place) = self.places.try_acquire() {
            return Ok(place);
        }
        let others = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = WaitGuard(&self.waiting);
        if others >= self.requests_max {
            return Err(self.full());
        }
        match tokio::time::timeout(self.timeout, self.places.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) => Err(StoreError::Unavailable { why: "stopping".to_owned(), required: 1, alive: 0 }),
            Err(_) => Err(self.full()),
        }
    }

    /// Closes the gate: all later requests fail.
    pub fn close(&self) {
        self.places.close();
    }

    /// Returns the limit of concurrent requests.
    pub fn requests_max(&self) -> usize {
        self.requests_max
    }

    pub fn in_flight(&self) -> usize {
        self.requests_max.saturating_sub(self.places.available_permits())
    }

    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    fn full(&self) -> StoreError {
        StoreError::Overloaded(format!(
            "{} requests to the cluster are running and {} more wait: send fewer at a time",
            self.in_flight(),
            self.waiting()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_gate_lets_some_wait_and_refuses_the_rest() {
        let gate = Gate::new(1, Duration::from_secs(60));
        let place = gate.pass().await.unwrap();
        assert_eq!(gate.in_flight(), 1);
        let (second, third) = tokio::join!(gate.pass(), async {
            let refused = gate.pass().await;
            drop(place);
            refused
        });
        assert!(second.is_ok());
        assert!(matches!(third, Err(StoreError::Overloaded(_))));
        assert_eq!(gate.waiting(), 0);
    }

    #[tokio::test]
    async fn a_wait_ends_with_the_time_limit() {
        let gate = Gate::new(1, Duration::from_millis(5));
        let _place = gate.pass().await.unwrap();
        assert!(matches!(gate.pass().await, Err(StoreError::Overloaded(_))));
        gate.close();
        assert!(matches!(gate.pass().await, Err(StoreError::Unavailable { .. })));
    }
}
