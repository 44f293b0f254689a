//! An orderly end: everybody is told, and somebody waits until everybody has left.

use std::time::Duration;

use tokio::sync::{mpsc, watch};

/// The side that ends the server.
pub struct Shutdown {
    tell: watch::Sender<bool>,
    all_left: mpsc::Receiver<()>,
    signal: Option<ShutdownSignal>,
}

/// The side of those who are told. The server has not ended while one of them is kept.
#[derive(Clone)]
pub struct ShutdownSignal {
    told: watch::Receiver<bool>,
    _still_here: mpsc::Sender<()>,
}

impl Default for Shutdown {
    fn default() -> Shutdown {
        Shutdown::new()
    }
}

impl Shutdown {
    pub fn new() -> Shutdown {
        let (tell, told) = watch::channel(false);
        let (still_here, all_left) = mpsc::channel(1);
        Shutdown { tell, all_left, signal: Some(ShutdownSignal { told, _still_here: still_here }) }
    }

    /// A signal for one who must be told; `None` once the end has begun.
    pub fn signal(&self) -> Option<ShutdownSignal> {
        self.signal.clone()
    }

    /// Tells everybody and waits until all have left, but not longer than this. Returns whether they have.
    pub async fn end(mut self, patience: Duration) -> bool {
        self.signal = None;
        // Nobody listens when there is nobody left.
        let _ = self.tell.send(true);
        tokio::time::timeout(patience, self.all_left.recv()).await.is_ok()
    }
}

impl ShutdownSignal {
    /// Returns when the end has begun.
    pub async fn told(&mut self) {
        // An error means that the teller is gone, which is the end too.
        let _ = self.told.wait_for(|is_ending| *is_ending).await;
    }

    pub fn is_ending(&self) -> bool {
        *self.told.borrow()
    }
}
