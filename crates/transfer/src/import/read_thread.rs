//! A thread that reads files, as a source of rows.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

use super::ImportError;
use crate::rows::{Delivered, Pump, RowBatch, RowSource, RowTarget};

/// Batches that are written at the same time, unless they are written in order.
pub(super) const PARALLEL: usize = 16;
/// Batches that wait until the target takes them.
const WAITING: usize = 8;

/// Where a reading thread sends its batches. Sending fails once no more are taken.
pub(crate) type BatchSender = mpsc::Sender<RowBatch>;

/// A thread for blocking work that reads files, and returns an `R` when it has read all.
pub(crate) struct ReadThread<R> {
    batches: mpsc::Receiver<RowBatch>,
    thread: Option<JoinHandle<Result<R, ImportError>>>,
    read: Option<R>,
}

impl<R: Send + 'static> ReadThread<R> {
    /// Starts to read. `read` sends the rows, and ends when sending fails.
    pub(crate) fn start(
        read: impl FnOnce(BatchSender) -> Result<R, ImportError> + Send + 'static,
    ) -> ReadThread<R> {
        let (sender, batches) = mpsc::channel(WAITING);
        let thread = Some(tokio::task::spawn_blocking(move || read(sender)));
        ReadThread { batches, thread, read: None }
    }

    /// Moves all rows to a target. Returns the result of the thread, which has ended.
    ///
    /// # Errors
    ///
    /// The first error of the thread, the target and `delivered`.
    pub(crate) async fn pump<T: RowTarget>(
        mut self,
        pump: &Pump,
        target: &Arc<T>,
        delivered: impl AsyncFnMut(Delivered<T::Outcome>) -> Result<(), ImportError>,
    ) -> Result<R, ImportError> {
        let moved = pump.run(&mut self, target, delivered).await;
        let read = self.finish().await;
        moved.and(read)
    }

    /// Ends the thread. Returns its result.
    ///
    /// # Errors
    ///
    /// The error of the thread.
    pub(crate) async fn finish(mut self) -> Result<R, ImportError> {
        // If no more rows are taken, the thread ends soon.
        self.batches.close();
        self.join().await?;
        self.read.ok_or_else(|| ImportError::Thread("the thread that reads has failed".to_owned()))
    }

    async fn join(&mut self) -> Result<(), ImportError> {
        if let Some(thread) = self.thread.take() {
            self.read = Some(joined(thread.await)??);
        }
        Ok(())
    }
}

impl<R: Send + 'static> RowSource for ReadThread<R> {
    type Error = ImportError;

    async fn next(&mut self) -> Result<Option<RowBatch>, ImportError> {
        let batch = self.batches.recv().await;
        if batch.is_none() {
            // Without its error, the rest would be taken for missing.
            self.join().await?;
        }
        Ok(batch)
    }
}

/// Runs `read` on a thread for blocking work.
pub(super) async fn read_on_thread<T: Send + 'static>(
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ImportError> {
    joined(tokio::task::spawn_blocking(read).await)
}

fn joined<T>(read: Result<T, JoinError>) -> Result<T, ImportError> {
    read.map_err(|error| ImportError::Thread(error.to_string()))
}
