//! The open engine and the threads that work on it.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use fjall::PersistMode;
use parking_lot::Mutex;

use super::commit::Committer;
use super::engine::engine_error;
use super::flush::flush;
use super::flusher::Flusher;
use super::inner::Inner;
use super::purge;
use super::setup::Setup;
use super::shield;
use crate::storage::StoreError;

/// Time between two looks at the queue of deletions.
const SWEEP_EVERY: Duration = Duration::from_secs(5);

/// The engine, the commit thread, the flush thread and the sweeper. The threads end when it is dropped.
pub struct Running {
    pub inner: Arc<Inner>,
    pub committer: Committer,
    pub flusher: Flusher,
    sweeper: Mutex<Option<JoinHandle<()>>>,
}

impl Running {
    /// Opens the engine and starts the threads.
    pub fn start(setup: &Setup) -> Result<Running, StoreError> {
        shield::caught(|| {
            let inner = Arc::new(Inner::open(setup)?);
            let committer = Committer::start(inner.clone(), setup.options.sync)?;
            let flusher = Flusher::start(inner.clone())?;
            let sweeper = start_sweeper(inner.clone())?;
            Ok(Running { inner, committer, flusher, sweeper: Mutex::new(Some(sweeper)) })
        })
    }

    /// Ends the threads and makes everything durable. What is long to replay is flushed, so that the next start is
    /// quick.
    pub fn close(&self) -> Result<(), StoreError> {
        self.stop_threads();
        self.inner.intake.sync()?;
        if self.inner.intake.is_worth_flushing() {
            self.inner.shielded(flush)?;
        }
        self.inner.database.persist(PersistMode::SyncAll).map_err(engine_error)
    }

    fn stop_threads(&self) {
        self.inner.intake.close();
        self.committer.stop();
        self.flusher.stop();
        if let Some(sweeper) = self.sweeper.lock().take() {
            sweeper.thread().unpark();
            if sweeper.join().is_err() {
                tracing::error!("the sweeper has panicked");
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop_threads();
        if self.inner.has_panicked() {
            // An engine that has panicked may panic again when it is dropped. What it holds is left to the end of
            // the process, which is near.
            std::mem::forget(self.inner.clone());
        }
    }
}

fn start_sweeper(inner: Arc<Inner>) -> Result<JoinHandle<()>, StoreError> {
    let run = move || {
        while !inner.intake.is_closed() {
            let swept = inner.check_room(0).and_then(|()| inner.shielded(purge::sweep));
            match swept {
                Ok(0) => std::thread::park_timeout(SWEEP_EVERY),
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!("old tombstones were not removed: {error}");
                    std::thread::park_timeout(SWEEP_EVERY);
                }
            }
        }
    };
    std::thread::Builder::new()
        .name("sweeper".to_owned())
        .spawn(run)
        .map_err(|error| StoreError::Io(format!("cannot start the sweeper: {error}")))
}
