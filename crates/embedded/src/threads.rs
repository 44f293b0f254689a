//! The background threads of a store: one flushes memtables, one merges tables, one sweeps deletions that are due.

use std::sync::Arc;
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use parking_lot::Mutex;

use super::health::Health;
use store::{Result, StoreError};

/// A thread that runs its work when it is woken, and periodically.
pub(crate) struct Worker {
    name: &'static str,
    thread: Thread,
    handle: Mutex<Option<JoinHandle<()>>>,
}

/// The next step of a worker.
pub(crate) enum NextRun {
    /// Run the work again at once.
    GoOn,
    /// Wait until woken, at most this long.
    Rest(Duration),
}

impl Worker {
    /// Starts a thread. It ends when the store is closed.
    pub(crate) fn start(
        name: &'static str,
        health: Arc<Health>,
        mut work: impl FnMut() -> NextRun + Send + 'static,
    ) -> Result<Worker> {
        let handle = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                while !health.is_closed() {
                    if let NextRun::Rest(longest) = work() {
                        std::thread::park_timeout(longest);
                    }
                }
            })
            .map_err(|error| StoreError::Io(format!("cannot start the {name} thread: {error}")))?;
        Ok(Worker { name, thread: handle.thread().clone(), handle: Mutex::new(Some(handle)) })
    }

    /// Wakes the thread.
    pub(crate) fn wake(&self) {
        self.thread.unpark();
    }

    /// Waits until the thread has finished its current work and ended. The store must be closed.
    pub(crate) fn stop(&self) {
        self.wake();
        if let Some(handle) = self.handle.lock().take()
            && handle.join().is_err()
        {
            tracing::error!("the {} thread has panicked", self.name);
        }
    }
}
