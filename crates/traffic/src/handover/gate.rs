//! The gate through which connections pass.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// The server that answers clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answering {
    /// The old server.
    Old,
    /// The new server.
    New,
}

/// Lets connections through to the server that answers; while it is closed they wait.
#[derive(Debug)]
pub struct HandoverGate {
    /// `None` while it is closed.
    state: watch::Sender<Option<Answering>>,
    /// Each pass has a clone.
    passes: Arc<()>,
}

/// A connection that was let through.
#[derive(Debug)]
pub(super) struct GatePass {
    pub answering: Answering,
    state: watch::Receiver<Option<Answering>>,
    _pass: Arc<()>,
}

impl HandoverGate {
    /// Creates an open gate.
    pub fn new(answering: Answering) -> HandoverGate {
        HandoverGate { state: watch::Sender::new(Some(answering)), passes: Arc::new(()) }
    }

    /// Waits until the gate is open.
    pub(super) async fn enter(&self) -> GatePass {
        let mut state = self.state.subscribe();
        loop {
            // The pass is counted before the state is read, so a gate that closes meanwhile waits for it.
            let pass = self.passes.clone();
            let answering = *state.borrow_and_update();
            if let Some(answering) = answering {
                return GatePass { answering, state, _pass: pass };
            }
            drop(pass);
            // The gate has the sender.
            let _ = state.changed().await;
        }
    }

    pub(super) fn close(&self) {
        self.state.send_replace(None);
    }

    pub(super) fn open(&self, answering: Answering) {
        self.state.send_replace(Some(answering));
    }

    /// Waits until all connections have ended. Returns whether they have.
    pub(super) async fn until_left(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while Arc::strong_count(&self.passes) > 1 {
            if Instant::now() >= end {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        true
    }
}

impl GatePass {
    /// Waits until the gate closes.
    pub(super) async fn closing(&mut self) {
        while self.state.borrow_and_update().is_some() {
            if self.state.changed().await.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_closed_gate_lets_connections_wait() {
        let gate = Arc::new(HandoverGate::new(Answering::Old));
        let mut pass = gate.enter().await;
        assert_eq!(pass.answering, Answering::Old);
        gate.close();
        pass.closing().await;
        let waiting = tokio::spawn({
            let gate = gate.clone();
            async move { gate.enter().await.answering }
        });
        assert!(!gate.until_left(Duration::from_millis(20)).await);
        drop(pass);
        assert!(gate.until_left(Duration::from_secs(5)).await);
        assert!(!waiting.is_finished());
        gate.open(Answering::New);
        assert_eq!(waiting.await.unwrap(), Answering::New);
    }
}
