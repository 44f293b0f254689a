//! Makes writes durable: CommitLogSync batch and periodic.
//!
//! Every write is handed to the operating system before it is answered, so a killed process loses nothing.
//! What a failing machine may lose is decided here: with `batch` one thread syncs the log for all writers that
//! wait, with `periodic` the same thread syncs every period and nobody waits. The log is synced through
//! descriptors of our own, because the engine would hold its write lock meanwhile.
//!
//! A failed sync is final. The operating system may have dropped the pages, so a second try could succeed and
//! prove nothing: writes are refused until a restart replays the log.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fjall::{Database, PersistMode};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::engine::engine_error;
use crate::storage::StoreError;

/// When a write counts as done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SyncMode {
    /// At once; the log is synced every period.
    Periodic(Duration),
    /// When the log is synced; writers that come within the window share a sync.
    Batch(Duration),
}

/// Where a waiting writer is told.
type Waiter = oneshot::Sender<Result<(), StoreError>>;

/// The thread that syncs, and the way to it.
pub struct Committer {
    mode: SyncMode,
    to_thread: Mutex<Option<Sender<Waiter>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    has_failed: Arc<AtomicBool>,
}

impl Committer {
    /// Starts the thread.
    pub fn start(
        database: Database,
        engine_directory: PathBuf,
        mode: SyncMode,
    ) -> Result<Committer, StoreError> {
        let (to_thread, from_writers) = channel();
        let has_failed = Arc::new(AtomicBool::new(false));
        let log = Log { database, directory: engine_directory, has_failed: has_failed.clone() };
        let thread = std::thread::Builder::new()
            .name("commit".to_owned())
            .spawn(move || run(&log, mode, &from_writers))
            .map_err(|error| StoreError::Io(format!("cannot start the commit thread: {error}")))?;
        Ok(Committer {
            mode,
            to_thread: Mutex::new(Some(to_thread)),
            thread: Mutex::new(Some(thread)),
            has_failed,
        })
    }

    /// Refuses when a sync has failed before.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.has_failed.load(Ordering::Relaxed) { Err(sync_has_failed()) } else { Ok(()) }
    }

    /// Whether writers wait for a sync.
    pub fn waits(&self) -> bool {
        matches!(self.mode, SyncMode::Batch(_))
    }

    /// Returns when everything written so far is on the disk.
    pub async fn synced(&self) -> Result<(), StoreError> {
        let (waiter, told) = oneshot::channel();
        let is_sent = self.to_thread.lock().as_ref().is_some_and(|thread| thread.send(waiter).is_ok());
        if !is_sent {
            return Err(StoreError::ReadOnly("the store is closed".to_owned()));
        }
        told.await.unwrap_or_else(|_| Err(sync_has_failed()))
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

fn sync_has_failed() -> StoreError {
    StoreError::ReadOnly(
        "the disk could not sync the write log, so nothing more is accepted until a restart".to_owned(),
    )
}

/// The thread: serves waiters, and syncs by itself where the mode says so. Ends when the sender is dropped.
fn run(log: &Log, mode: SyncMode, from_writers: &Receiver<Waiter>) {
    let period = match mode {
        SyncMode::Periodic(period) => period,
        // Nobody writes without waiting but at consistency level ZERO.
        SyncMode::Batch(_) => Duration::from_secs(1),
    };
    let mut next_sync = Instant::now() + period;
    loop {
        match from_writers.recv_timeout(next_sync.saturating_duration_since(Instant::now())) {
            Ok(first) => {
                if let SyncMode::Batch(window) = mode {
                    std::thread::sleep(window);
                }
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

/// The engine's write log.
struct Log {
    database: Database,
    directory: PathBuf,
    has_failed: Arc<AtomicBool>,
}

impl Log {
    fn sync(&self) -> Result<(), StoreError> {
        if self.has_failed.load(Ordering::Relaxed) {
            return Err(sync_has_failed());
        }
        // An engine that has failed at something else refuses writes by itself, and may be opened again.
        self.database.persist(PersistMode::Buffer).map_err(engine_error)?;
        let outcome = match sync_files(&self.directory) {
            Ok(0) => self.database.persist(PersistMode::SyncData).map_err(engine_error),
            Ok(_) => Ok(()),
            Err(error) => Err(StoreError::Io(format!("sync of the write log: {error}"))),
        };
        if let Err(error) = &outcome {
            self.has_failed.store(true, Ordering::Relaxed);
            tracing::error!("{error}; writes are refused until a restart");
        }
        outcome
    }
}

/// Syncs every log file of the engine; says how many there are.
fn sync_files(directory: &Path) -> std::io::Result<usize> {
    let mut synced = 0;
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "jnl") {
            continue;
        }
        match File::open(&path) {
            Ok(file) => file.sync_data()?,
            // Flushed and removed since the directory was read: its rows are in tables, which are synced.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        synced += 1;
    }
    Ok(synced)
}
