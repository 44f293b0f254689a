//! A data directory that is assembled from an archive.
//!
//! ```text
//!   TARGET.unfinished/
//!     tables/...            the caller stores the tables and their lists here
//!     replay/7.log, 8.log   and the log here, cut at the end of the last record
//!   1  MANIFEST, THRIFTSTORE    written; then the checksums of all tables are compared
//!   2  replay                   into memtables, which are flushed when they are full
//!   3  TARGET                   synced and renamed, without `replay`
//! ```
//!
//! The log may be much longer than a server's own, so it is not left for the next start, which would replay it into
//! memory as a whole.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::backup::BackupTarget;
use crate::blocking::BlockingPermit;
use crate::commit::SyncMode;
use crate::deletion_queue::DeletionQueue;
use crate::disk::{Disk, RealDisk};
use crate::engine::{Engine, Setup};
use crate::format;
use crate::manifest::{self, Contents, LogSpan, Manifest};
use crate::options::EmbeddedOptions;
use crate::pace::Progress;
use crate::recovery::replay_newest;
use crate::tables::{TableFolder, number_of};
use crate::verification::{Verified, verify};
use base::partitioner;
use base::schema::Catalog;
use base::util::Clock;
use store::{Result, StoreError};

/// Memory for caches and memtables during the replay, in bytes.
const CACHE_BYTES: u64 = 128 << 20;

/// The manifest of a restored data directory.
pub struct RestoredManifest {
    /// The contents, with the log to replay.
    contents: Contents,
}

/// A data directory that is being restored. Dropping it before `finish` removes it.
pub struct RestoreTarget {
    target: BackupTarget<'static>,
}

impl RestoredManifest {
    /// Returns the manifest for the tables of a pinned backup, after the last of the changes that are restored, if there
    /// are any. The log is replayed from segment `first` to `last`.
    ///
    /// # Errors
    /// `Corrupt` if one of the manifests cannot be read.
    pub fn new(pinned: &[u8], change: Option<&[u8]>, first: u64, last: u64) -> Result<RestoredManifest> {
        let decode = |bytes: &[u8]| {
            Manifest::decode(bytes).map_err(|why| {
                StoreError::Corrupt(format!("a manifest of the archive cannot be read: {why}"))
            })
        };
        let pinned = decode(pinned)?;
        let mut contents = change.map_or_else(|| Ok(pinned.clone()), decode)?;
        let families = contents.families.iter();
        let newest = families
            .map(|(name, record)| TableFolder::of_family(number_of(record.id, record.generation), name));
        let newest = newest.chain([DeletionQueue::folder()]).flat_map(|folder| [folder.main, folder.long]);
        let newest: HashSet<String> = newest.collect();
        // Tables of earlier generations were truncated or dropped after they were pinned.
        let tables = pinned.tables.iter().filter(|(folder, _)| newest.contains(*folder));
        contents.tables = tables.map(|(folder, record)| (folder.clone(), *record)).collect();
        contents.log = Some(LogSpan { first, last });
        Ok(RestoredManifest { contents })
    }

    /// Returns whether the restored directory has the tables in this directory.
    pub fn lists(&self, folder: &str) -> bool {
        self.contents.tables.contains_key(folder)
    }

    /// Returns the number of column families that are not dropped.
    pub fn column_families(&self) -> usize {
        self.contents.families.values().filter(|record| !record.is_dropped).count()
    }
}

impl RestoreTarget {
    /// Creates the directory.
    ///
    /// # Errors
    /// `Mismatch` if the target exists and is not an empty directory, `Io` if the operating system fails.
    pub fn create(path: &Path) -> Result<RestoreTarget> {
        let target = BackupTarget::begin(&RealDisk, path)?;
        for part in [target.unfinished.join("tables"), target.unfinished.join("replay")] {
            RealDisk.create_directory(&part).map_err(StoreError::io_at(&part))?;
        }
        Ok(RestoreTarget { target })
    }

    /// Returns the path of a file or directory of tables.
    pub fn table_path(&self, place: &str) -> PathBuf {
        self.target.unfinished.join("tables").join(place)
    }

    /// Returns the path of a segment of the log that is going to be replayed.
    pub fn segment_path(&self, number: u64) -> PathBuf {
        crate::log::path_of(&self.replay(), number)
    }

    fn replay(&self) -> PathBuf {
        self.target.unfinished.join("replay")
    }

    /// Writes another file of the data directory.
    ///
    /// # Errors
    /// `Io` if the operating system fails.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.target.write(&RealDisk, name, bytes)
    }

    /// Verifies all tables, replays the log, and gives the directory its name. Returns what was verified.
    ///
    /// # Errors
    /// `Corrupt` if tables or log are damaged or do not belong together, `Io` if the operating system fails. The
    /// directory is removed then.
    pub fn finish(
        self,
        restored: &RestoredManifest,
        marker: &[u8],
        progress: Progress<'_>,
    ) -> Result<Verified> {
        let directory = self.target.unfinished.clone();
        let without_log = Contents { log: None, ..restored.contents.clone() };
        self.write(manifest::FILE, &Manifest::encode(&without_log)?)?;
        self.write(format::FILE, marker)?;
        progress("reading the tables to verify them");
        let mut verified = verify(&RealDisk, &directory, None, progress)?;
        if !verified.damages.is_empty() {
            return Err(verified.damages.swap_remove(0));
        }
        progress("replaying the commit log");
        replay(&directory, &self.replay(), &restored.contents)?;
        let replayed = self.replay();
        RealDisk.remove_directory(&replayed).map_err(StoreError::io_at(&replayed))?;
        progress("syncing the data directory to the disk");
        self.target.finish()?;
        Ok(verified)
    }
}

/// Replays a log into the tables of a data directory.
fn replay(directory: &Path, log: &Path, contents: &Contents) -> Result<()> {
    let partitioner = partitioner::resolve(&contents.partitioner).ok_or_else(|| {
        StoreError::Mismatch(format!("this version does not know the partitioner {}", contents.partitioner))
    })?;
    let options = EmbeddedOptions {
        directory: directory.to_owned(),
        sync: SyncMode::Periodic(Duration::from_secs(10)),
        cache_bytes: CACHE_BYTES,
    };
    let setup = Setup { options, disk: Arc::new(RealDisk), partitioner, clock: Arc::new(Clock::system()) };
    // No column family is defined, so no tombstone is dropped: their gc_grace is not known.
    let engine = Engine::open(setup, &Catalog::default())?;
    let may_wait = BlockingPermit::on_own_thread();
    engine.begin_load()?;
    let mut flushed = Ok(());
    replay_newest(&RealDisk, log, contents, |row| {
        let ahead = &engine.write.ahead;
        ahead.apply_replayed(row);
        if flushed.is_ok() && ahead.wants_flush() {
            flushed = engine.flush(&may_wait);
        }
    })?;
    flushed?;
    engine.end_load(&may_wait)?;
    engine.close()
}
