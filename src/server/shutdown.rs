//! An orderly end: everybody is told, and somebody waits until everybody has left.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, watch};

/// The side that ends the server.
pub struct Shutdown {
    tell: watch::Sender<bool>,
    all_left: mpsc::Receiver<()>,
    signal: Option<ShutdownSignal>,
}

/// The side of those who are told. The server has not ended while one of them is kept.
pub struct ShutdownSignal {
    told: watch::Receiver<bool>,
    /// Kept between two waits: a connection waits once more with each request, and would queue up anew each time.
    waiting: Option<BoxFuture<'static, ()>>,
    still_here: mpsc::Sender<()>,
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
        Shutdown { tell, all_left, signal: Some(ShutdownSignal { told, waiting: None, still_here }) }
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

impl Clone for ShutdownSignal {
    fn clone(&self) -> ShutdownSignal {
        ShutdownSignal { told: self.told.clone(), waiting: None, still_here: self.still_here.clone() }
    }
}

impl ShutdownSignal {
    /// Returns when the end has begun.
    pub async fn told(&mut self) {
        let told = &self.told;
        self.waiting.get_or_insert_with(|| Box::pin(wait(told.clone()))).await;
        self.waiting = None;
    }

    pub fn is_ending(&self) -> bool {
        *self.told.borrow()
    }
}

async fn wait(mut told: watch::Receiver<bool>) {
    // An error means that the teller is gone, which is the end too.
    let _ = told.wait_for(|is_ending| *is_ending).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_waits_again_and_again_is_told() {
        let shutdown = Shutdown::new();
        let mut signal = shutdown.signal().unwrap();
        let mut twin = signal.clone();
        let (waits_on, has_waited) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(async move {
            for _ in 0..20 {
                tokio::select! {
                    biased;
                    () = tokio::time::sleep(Duration::from_millis(1)) => {}
                    () = signal.told() => return false,
                }
            }
            waits_on.send(()).unwrap();
            signal.told().await;
            signal.is_ending()
        });
        let other = tokio::spawn(async move { twin.told().await });
        has_waited.await.unwrap();
        assert!(!waiting.is_finished() && !other.is_finished());
        assert!(shutdown.end(Duration::from_secs(10)).await, "nobody is left");
        assert!(waiting.await.unwrap());
        other.await.unwrap();
    }

    #[tokio::test]
    async fn who_has_used_up_his_turn_is_told() {
        let shutdown = Shutdown::new();
        let mut signal = shutdown.signal().unwrap();
        let waiting = tokio::spawn(async move {
            while tokio::task::coop::has_budget_remaining() {
                tokio::task::coop::consume_budget().await;
            }
            signal.told().await;
        });
        tokio::task::yield_now().await;
        assert!(shutdown.end(Duration::from_secs(10)).await);
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn a_teller_that_is_gone_is_the_end() {
        let shutdown = Shutdown::new();
        let mut signal = shutdown.signal().unwrap();
        let waiting = tokio::spawn(async move { signal.told().await });
        tokio::task::yield_now().await;
        drop(shutdown);
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn who_waits_in_another_task_is_told_there() {
        let shutdown = Shutdown::new();
        let mut signal = shutdown.signal().unwrap();
        // It is waited for in this task first.
        tokio::select! {
            biased;
            () = signal.told() => panic!("nobody has told"),
            () = tokio::task::yield_now() => {}
        }
        let waiting = tokio::spawn(async move { signal.told().await });
        tokio::task::yield_now().await;
        assert!(shutdown.end(Duration::from_secs(10)).await);
        waiting.await.unwrap();
    }
}
