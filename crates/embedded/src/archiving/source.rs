//! An open store as the source of an archive.

use std::sync::Arc;

use super::pinned::{PinnedBackup, remove_leftovers};
use super::{ArchiveMeter, ArchiveSource, LogBytes, LogPlace, ManifestChange, ManifestWatch, StorePoint};
use crate::engine::{Durable, Engine};
use crate::log::{CommitLog, LogPiece, MarkPosition};
use crate::manifest::Contents;
use crate::store::EmbeddedStore;
use store::{Result, StoreError};

/// An open store on a disk.
struct EngineSource {
    engine: Arc<Engine>,
    watch: Arc<ManifestWatch>,
    meter: Arc<ArchiveMeter>,
}

impl EmbeddedStore {
    /// Returns the store as the source of an archive, of which there can be one.
    ///
    /// # Errors
    /// `Invalid` for a store in memory, and if the store has been archived since it was opened; `Io` if the operating
    /// system fails.
    pub fn archive_source(&self) -> Result<Arc<dyn ArchiveSource>> {
        let engine = self.engine().clone();
        let watch = Arc::new(ManifestWatch::new(engine.write.ahead.clone()));
        let recorder = watch.clone();
        let observer = Box::new(move |before: &Contents, after: &Contents| recorder.record(before, after));
        let invalid = |why: &str| StoreError::Invalid(why.to_owned());
        let durable = engine.durable.as_ref();
        let durable = durable.ok_or_else(|| invalid("a store in memory cannot be archived"))?;
        if !engine.manifest.observe(observer) {
            return Err(invalid("the store has been archived since it was opened"));
        }
        remove_leftovers(&**durable.space.disk(), durable.directory())?;
        let meter = engine.archive.get_or_init(Arc::default).clone();
        Ok(Arc::new(EngineSource { engine, watch, meter }))
    }
}

impl EngineSource {
    fn log(&self) -> Option<&CommitLog> {
        self.engine.write.ahead.log()
    }

    fn durable(&self) -> Result<(&CommitLog, &Durable)> {
        let parts = self.log().zip(self.engine.durable.as_ref());
        parts.ok_or_else(|| StoreError::Invalid("a store in memory has no log".to_owned()))
    }
}

impl ArchiveSource for EngineSource {
    fn begin(&self) -> LogPlace {
        self.watch.set_on(true);
        LogPlace { segment: self.log().map_or(0, CommitLog::keep), offset: 0 }
    }

    fn now(&self) -> StorePoint {
        self.watch.now()
    }

    fn take_changes(&self) -> Option<Vec<ManifestChange>> {
        self.watch.take()
    }

    fn read_log(&self, from: LogPlace, most: usize) -> Result<LogBytes> {
        let (log, _) = self.durable()?;
        let from = MarkPosition { segment: from.segment, offset: from.offset };
        let LogPiece { begin, bytes, next } = log.read(from, most)?;
        let place = |MarkPosition { segment, offset }| LogPlace { segment, offset };
        Ok(LogBytes { begin: place(begin), bytes, next: place(next) })
    }

    fn log_bytes(&self, from: LogPlace, to: LogPlace) -> u64 {
        let Ok((log, _)) = self.durable() else { return 0 };
        let full: u64 = (from.segment..to.segment).map(|number| log.length_of_full(number)).sum();
        (full + to.offset).saturating_sub(from.offset)
    }

    fn needed_segment(&self) -> u64 {
        self.log().map_or(0, CommitLog::needed)
    }

    fn release_log(&self, before: u64) {
        if let Some(log) = self.log() {
            log.release(Some(before));
        }
    }

    fn end(&self) {
        self.watch.set_on(false);
        if let Some(log) = self.log() {
            log.release(None);
        }
    }

    fn pin(&self) -> Result<PinnedBackup> {
        let (_, durable) = self.durable()?;
        // Neither a flush nor a truncate or drop runs meanwhile.
        let _no_flush = self.engine.write.ahead.first_segment.lock();
        PinnedBackup::link(durable.space.disk(), durable.directory(), &self.engine.manifest, &self.watch)
    }

    fn meter(&self) -> &ArchiveMeter {
        &self.meter
    }
}
