//! Makes writes durable: CommitLogSync batch and periodic.
//!
//! Every write is given to the operating system before it is acknowledged, so a killed process loses nothing. The mode
//! decides what a power failure may lose. With `batch` one thread syncs the log for all writers that wait. With
//! `periodic` the same thread syncs every period, and no writer waits. Writes continue during a sync.
//!
//! With `batch` the thread syncs as soon as a writer waits. Writers that arrive during a sync share the next one. So
//! the slower the disk, the more writers share a sync, and delaying a sync gains nothing.
//!
//! A failed sync is final. The operating system may have dropped the pages, so a second sync could succeed although
//! data is lost. Writes are refused until a restart replays the log.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::write_ahead::WriteAhead;
use store::{Result, StoreError};

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SyncMode {
    /// At once. The log is synced every period.
    Periodic(Duration),
    /// When the log has been synced.
    Batch,
}

/// Sends the result of a sync to a waiting writer.
type Waiter = oneshot::Sender<Result<()>>;

/// The thread that syncs the log, and the channel to it.
pub(crate) struct Committer {
    mode: SyncMode,
    to_thread: Mutex<Option<Sender<Waiter>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Committer {
    /// Starts the thread.
    pub(crate) fn start(log: Arc<WriteAhead>, mode: SyncMode) -> Result<Committer> {
        let (to_thread, from_writers) = channel();
        let thread = std::thread::Builder::new()
            .name("commit".to_owned())
            .spawn(move || run(&log, mode, &from_writers))
            .map_err(|error| StoreError::Io(format!("cannot start the commit thread: {error}")))?;
        Ok(Committer { mode, to_thread: Mutex::new(Some(to_thread)), thread: Mutex::new(Some(thread)) })
    }

    /// Returns whether writers wait for a sync.
    pub(crate) fn waits(&self) -> bool {
        matches!(self.mode, SyncMode::Batch)
    }

    /// Waits until all writes so far are on the disk.
    pub(crate) async fn synced(&self) -> Result<()> {
        let (waiter, outcome) = oneshot::channel();
        let is_sent = self.to_thread.lock().as_ref().is_some_and(|thread| thread.send(waiter).is_ok());
        if !is_sent {
            return Err(StoreError::ReadOnly("the store is closed".to_owned()));
        }
        outcome.await.unwrap_or_else(|_| Err(StoreError::ReadOnly("the commit thread has ended".to_owned())))
    }

    /// Syncs a last time and ends the thread.
    pub(crate) fn stop(&self) {
        drop(self.to_thread.lock().take());
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the commit thread has panicked");
        }
    }
}

/// The thread: syncs for waiting writers, and every period. Ends when the sender is dropped.
fn run(log: &WriteAhead, mode: SyncMode, from_writers: &Receiver<Waiter>) {
    let period = match mode {
        SyncMode::Periodic(period) => period,
        // Only writes at consistency level ZERO do not wait.
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
                    // The writer may have been cancelled.
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
