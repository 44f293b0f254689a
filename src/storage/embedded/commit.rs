//! Makes writes durable: CommitLogSync batch and periodic.
//!
//! Every write is handed to the operating system before it is answered, so a killed process loses nothing.
//! What a failing machine may lose is decided here: with `batch` one thread syncs the log for all writers that
//! wait, with `periodic` the same thread syncs every period and nobody waits. Nobody is kept from writing meanwhile.
//!
//! With `batch` the thread syncs as soon as a writer waits. Writers that come while it syncs share the next sync, so the
//! slower the disk, the more of them share one: there is nothing to gain by putting a sync off.
//!
//! A failed sync is final. The operating system may have dropped the pages, so a second try could succeed and
//! prove nothing: writes are refused until a restart replays the log.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::write_ahead::WriteAhead;
use crate::storage::StoreError;

/// When a write counts as done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SyncMode {
    /// At once; the log is synced every period.
    Periodic(Duration),
    /// When the log is synced.
    Batch,
}

/// Where a waiting writer is told.
type Waiter = oneshot::Sender<Result<(), StoreError>>;

/// The thread that syncs, and the way to it.
pub struct Committer {
    mode: SyncMode,
    to_thread: Mutex<Option<Sender<Waiter>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Committer {
    /// Starts the thread.
    pub fn start(log: Arc<WriteAhead>, mode: SyncMode) -> Result<Committer, StoreError> {
        let (to_thread, from_writers) = channel();
        let thread = std::thread::Builder::new()
            .name("commit".to_owned())
            .spawn(move || run(&log, mode, &from_writers))
            .map_err(|error| StoreError::Io(format!("cannot start the commit thread: {error}")))?;
        Ok(Committer { mode, to_thread: Mutex::new(Some(to_thread)), thread: Mutex::new(Some(thread)) })
    }

    /// Whether writers wait for a sync.
    pub fn waits(&self) -> bool {
        matches!(self.mode, SyncMode::Batch)
    }

    /// Returns when everything written so far is on the disk.
    pub async fn synced(&self) -> Result<(), StoreError> {
        let (waiter, told) = oneshot::channel();
        let is_sent = self.to_thread.lock().as_ref().is_some_and(|thread| thread.send(waiter).is_ok());
        if !is_sent {
            return Err(StoreError::ReadOnly("the store is closed".to_owned()));
        }
        told.await.unwrap_or_else(|_| Err(StoreError::ReadOnly("the commit thread has ended".to_owned())))
    }

    /// Syncs a last time and ends the thread.
    pub fn stop(&self) {
        drop(self.to_thread.lock().take());
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the commit thread has panicked");
        }
    }
}

/// The thread: serves waiters, and syncs by itself where the mode says so. Ends when the sender is dropped.
fn run(log: &WriteAhead, mode: SyncMode, from_writers: &Receiver<Waiter>) {
    let period = match mode {
        SyncMode::Periodic(period) => period,
        // Nobody writes without waiting but at consistency level ZERO.
        SyncMode::Batch => Duration::from_secs(1),
    };
    let mut next_sync = Instant::now() + period;
    loop {
        match from_writers.recv_timeout(next_sync.saturating_duration_since(Instant::now())) {
            Ok(first) => {
                let mut waiters = vec![first];
                waiters.extend(from_writers.try_iter());
                let outcome = log.sync();
                for waiter in waiters {
                    // A writer that has gone away needs no answer.
                    let _ = waiter.send(outcome.clone());
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let _ = log.sync();
                next_sync = Instant::now() + period;
            }
            Err(RecvTimeoutError::Disconnected) => {
                let _ = log.sync();
                return;
            }
        }
    }
}
