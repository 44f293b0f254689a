//! Lets changes of the whole database run while no request runs.
//!
//! A request holds a permit from its start until its last work has ended. A change of the whole database waits until
//! all permits are returned, and meanwhile no further request starts. Requests and changes are admitted in the order in
//! which they came, so neither can keep the other out.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// Admits requests, or one change of the whole database. A clone admits the same requests.
#[derive(Debug, Clone, Default)]
pub struct RequestGate(Arc<RwLock<()>>);

/// The permit of a request.
#[derive(Debug)]
pub struct RequestPermit(
    #[expect(dead_code, reason = "its drop returns the permit")] OwnedRwLockReadGuard<()>,
);

/// The permit of a change of the whole database: no request runs while it is held.
#[derive(Debug)]
pub struct Alone(#[expect(dead_code, reason = "its drop admits requests")] OwnedRwLockWriteGuard<()>);

impl RequestGate {
    /// Waits until a request may start.
    pub async fn enter(&self) -> RequestPermit {
        RequestPermit(self.0.clone().read_owned().await)
    }

    /// Waits until no request runs; `None` if requests still run after `patience`. Requests that came later may start
    /// then.
    pub async fn enter_alone(&self, patience: Duration) -> Option<Alone> {
        tokio::time::timeout(patience, self.0.clone().write_owned()).await.ok().map(Alone)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(10);

    #[tokio::test]
    async fn a_change_runs_alone_and_gives_up_if_a_request_does_not_end() {
        let gate = RequestGate::default();
        let [first, second] = [gate.enter().await, gate.enter().await];
        assert!(gate.enter_alone(SHORT).await.is_none());
        let third = gate.enter().now_or_never();
        assert!(third.is_some(), "requests start again after the change has given up");
        drop((first, third));
        let waiting = tokio::spawn({
            let gate = gate.clone();
            async move { gate.enter_alone(LONG).await }
        });
        tokio::time::sleep(SHORT).await;
        assert!(gate.enter().now_or_never().is_none(), "requests wait behind the change");
        drop(second);
        let alone = waiting.await.unwrap();
        assert!(alone.is_some() && gate.enter().now_or_never().is_none());
        drop(alone);
        assert!(gate.enter().now_or_never().is_some());
    }
}
