//! The thread that flushes memtables.

use std::sync::Arc;
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use parking_lot::Mutex;

use super::flush::flush;
use super::inner::Inner;
use crate::storage::StoreError;

/// Time between two looks at what wants to be flushed, beside being told.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The thread, and the way to wake it.
pub struct Flusher {
    thread: Thread,
    handle: Mutex<Option<JoinHandle<()>>>,
}

impl Flusher {
    /// Starts the thread.
    pub fn start(inner: Arc<Inner>) -> Result<Flusher, StoreError> {
        let handle = std::thread::Builder::new()
            .name("flush".to_owned())
            .spawn(move || run(&inner))
            .map_err(|error| StoreError::Io(format!("cannot start the flush thread: {error}")))?;
        Ok(Flusher { thread: handle.thread().clone(), handle: Mutex::new(Some(handle)) })
    }

    /// Lets the thread look.
    pub fn wake(&self) {
        self.thread.unpark();
    }

    /// Ends the thread when it has finished what it is at. The intake is closed.
    pub fn stop(&self) {
        self.wake();
        if let Some(handle) = self.handle.lock().take()
            && handle.join().is_err()
        {
            tracing::error!("the flush thread has panicked");
        }
    }
}

/// The thread. Ends when the intake is closed, or when a flush has failed: then the engine must be opened again.
fn run(inner: &Inner) {
    while !inner.intake.is_closed() {
        if !inner.intake.wants_flush() {
            std::thread::park_timeout(LOOK_EVERY);
            continue;
        }
        if let Err(error) = inner.shielded(flush) {
            tracing::error!("what is in memory was not written to tables: {error}");
            inner.intake.set_flush_failed();
            return;
        }
    }
}
