//! The target of an import, and how much of the import is durable there.
//!
//! A data directory is loaded in bulk: writes are durable at the next checkpoint only (`storage::BulkStore`), and the
//! progress file is written after it. A cluster makes each write durable before it acknowledges it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::import_progress::ImportProgress;
use super::{ImportError, SstableFile};
use crate::TransferError;
use crate::endpoint::{Endpoint, RowWriter};
use base::util::Clock;
use store::{BulkStore, StoreError};

/// A target, with the progress of the import.
pub(super) struct ImportTarget {
    pub to: Arc<Endpoint>,
    pub writer: Arc<RowWriter>,
    pub progress: ImportProgress,
    /// Time between two checkpoints.
    every: Duration,
    last: Instant,
}

impl ImportTarget {
    /// Begins to import into a target.
    ///
    /// # Errors
    ///
    /// If the target cannot be written to.
    pub(super) fn begin(
        to: Arc<Endpoint>,
        clock: Arc<Clock>,
        progress: ImportProgress,
        every: Duration,
    ) -> Result<ImportTarget, ImportError> {
        let writer = Arc::new(RowWriter::new(to.clone(), clock)?);
        let target = ImportTarget { to, writer, progress, every, last: Instant::now() };
        if let Some(bulk) = target.bulk() {
            bulk.begin_load().map_err(|error| target.failed(error))?;
        }
        Ok(target)
    }

    /// Returns whether the target is loaded in bulk.
    pub(super) fn is_bulk(&self) -> bool {
        self.bulk().is_some()
    }

    fn bulk(&self) -> Option<&dyn BulkStore> {
        self.to.database.as_ref().and_then(|database| database.store().capabilities().bulk_load)
    }

    fn failed(&self, error: StoreError) -> ImportError {
        TransferError::of(&self.to, error).into()
    }

    /// Returns the time between two checkpoints. `None` if no progress is recorded.
    pub(super) fn checkpoint_every(&self) -> Option<Duration> {
        self.progress.is_recorded().then_some(self.every)
    }

    /// Records parts of a column family that are written completely.
    pub(super) async fn finish(&mut self, family: &str, parts: Vec<String>) -> Result<(), ImportError> {
        self.progress.finish(family, parts);
        match self.checkpoint_every() {
            Some(every) if !self.is_bulk() || self.last.elapsed() >= every => self.checkpoint().await,
            _ => Ok(()),
        }
    }

    /// Records that tables of a column family are written up to a row.
    pub(super) async fn reach(
        &mut self,
        family: &str,
        tables: &[SstableFile],
        key: &[u8],
    ) -> Result<(), ImportError> {
        self.progress.reach(family, tables, key);
        self.checkpoint().await
    }

    /// Makes the written rows durable, and then writes the progress file.
    pub(super) async fn checkpoint(&mut self) -> Result<(), ImportError> {
        if let Some(bulk) = self.bulk() {
            bulk.checkpoint_load().await.map_err(|error| self.failed(error))?;
        }
        self.progress.write()?;
        self.last = Instant::now();
        Ok(())
    }

    /// Ends the import: everything is durable.
    pub(super) async fn end(&mut self) -> Result<(), ImportError> {
        if let Some(bulk) = self.bulk() {
            bulk.end_load().await.map_err(|error| self.failed(error))?;
        }
        self.progress.write()
    }
}
