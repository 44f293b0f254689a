//! A clean shutdown: all tasks get a signal, and the server waits until they have ended.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, watch};

/// Starts the shutdown and waits for the holders of signals.
pub struct Shutdown {
    is_ending: watch::Sender<bool>,
    /// Yields when all signals are dropped.
    all_left: mpsc::Receiver<()>,
    signal: Option<ShutdownSignal>,
}

/// Lets a task see the shutdown. The server has not ended while a signal exists.
pub struct ShutdownSignal {
    is_ending: watch::Receiver<bool>,
    /// The registered wait. It is kept between calls, because a connection waits again with each request and would
    /// otherwise register each time.
    waiting: Option<BoxFuture<'static, ()>>,
    still_here: mpsc::Sender<()>,
}

impl Default for Shutdown {
    fn default() -> Shutdown {
        Shutdown::new()
    }
}

impl Shutdown {
    /// Makes a shutdown that has not begun.
    pub fn new() -> Shutdown {
        let (sender, is_ending) = watch::channel(false);
        let (still_here, all_left) = mpsc::channel(1);
        let signal = Some(ShutdownSignal { is_ending, waiting: None, still_here });
        Shutdown { is_ending: sender, all_left, signal }
    }

    /// Returns a signal for a task; `None` once the shutdown has begun.
    pub fn signal(&self) -> Option<ShutdownSignal> {
        self.signal.clone()
    }

    /// Starts the shutdown and waits until all signals are dropped, at most for `patience`. Returns whether they are.
    pub async fn end(mut self, patience: Duration) -> bool {
        self.signal = None;
        // Sending fails if no signal is left.
        let _ = self.is_ending.send(true);
        tokio::time::timeout(patience, self.all_left.recv()).await.is_ok()
    }
}

impl Clone for ShutdownSignal {
    fn clone(&self) -> ShutdownSignal {
        let (is_ending, still_here) = (self.is_ending.clone(), self.still_here.clone());
        ShutdownSignal { is_ending, waiting: None, still_here }
    }
}

impl ShutdownSignal {
    /// Waits until the shutdown has begun.
    pub async fn requested(&mut self) {
        let is_ending = &self.is_ending;
        self.waiting.get_or_insert_with(|| Box::pin(wait(is_ending.clone()))).await;
        self.waiting = None;
    }

    /// Returns whether the shutdown has begun.
    pub fn is_ending(&self) -> bool {
        *self.is_ending.borrow()
    }
}

async fn wait(mut receiver: watch::Receiver<bool>) {
    // An error means that `Shutdown` was dropped, which is a shutdown too.
    let _ = receiver.wait_for(|is_ending| *is_ending).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_waits_repeatedly_sees_the_shutdown() {
        let shutdown = Shutdown::new();
        let mut signal = shutdown.signal().unwrap();
        let mut other_signal = signal.clone();
        let (waits_on, has_waited) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(async move {
            for _ in 0..20 {
                tokio::select! {
                    biased;
                    () = tokio::time::sleep(Duration::from_millis(1)) => {}
                    () = signal.requested() => return false,
                }
            }
            waits_on.send(()).unwrap();
            signal.requested().await;
            signal.is_ending()
        });
        let other = tokio::spawn(async move { other_signal.requested().await });
        has_waited.await.unwrap();
        assert!(!waiting.is_finished() && !other.is_finished());
        assert!(shutdown.end(Duration::from_secs(10)).await, "all signals are dropped");
        assert!(waiting.await.unwrap());
        other.await.unwrap();
    }

    #[tokio::test]
    async fn a_task_without_budget_sees_the_shutdown() {
        let shutdown = Shutdown::new();
        let mut signal = shutdown.signal().unwrap();
        let waiting = tokio::spawn(async move {
            while tokio::task::coop::has_budget_remaining() {
                tokio::task::coop::consume_budget().await;
            }
            signal.requested().await;
        });
        tokio::task::yield_now().await;
        assert!(shutdown.end(Duration::from_secs(10)).await);
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn dropping_shutdown_is_a_shutdown() {
        let shutdown = Shutdown::new();
        let mut signal = shutdown.signal().unwrap();
        let waiting = tokio::spawn(async move { signal.requested().await });
        tokio::task::yield_now().await;
        drop(shutdown);
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn a_signal_that_moved_to_another_task_wakes_that_task() {
        let shutdown = Shutdown::new();
        let mut signal = shutdown.signal().unwrap();
        // Wait in this task first.
        tokio::select! {
            biased;
            () = signal.requested() => panic!("no shutdown was requested"),
            () = tokio::task::yield_now() => {}
        }
        let waiting = tokio::spawn(async move { signal.requested().await });
        tokio::task::yield_now().await;
        assert!(shutdown.end(Duration::from_secs(10)).await);
        waiting.await.unwrap();
    }
}
