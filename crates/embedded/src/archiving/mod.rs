//! The parts of a store that a continuous backup reads: its log as it grows, the changes of its manifest, and its tables.
//!
//! An archive (crate `archive`) restores a state of the store from three things:
//!
//! ```text
//!   tables       a pinned backup: hard links of all tables, and the manifest that lists them
//!   log          from the first segment that this manifest needs, up to a place of the log
//!   manifest     the last of its changes that precede that place
//! ```
//!
//! # Why a restored state is one that existed
//!
//! A `StorePoint` is a place of the log and a number of changes of the manifest, both read under one lock, which a
//! change of the manifest also takes after it is durable and before another thread sees it. So:
//!
//! - *The log up to a point has no column family or generation that the first changes do not list.* A write to a new
//!   generation begins after its change was published, and so is behind every point without that change.
//! - *A truncate, drop or definition is in a state with all writes that were acknowledged before it began, and with no
//!   write that began after it ended.* Log records of earlier generations that come behind the change are of writes that
//!   ran at the same time, and are ignored as after a crash.
//! - *Pinned tables have nothing newer than the point that is read after they were linked.* No flush runs meanwhile, so
//!   the manifest needs the log from one segment on all the time. A restore replays the log from that segment at least
//!   up to this point, for the reason that `backup` gives.
//!
//! The store keeps each segment of the log until the archive has read it.

mod manifest_watch;
mod meter;
mod pinned;
mod restored;
mod source;

use serde::{Deserialize, Serialize};

pub use manifest_watch::ManifestChange;
use manifest_watch::ManifestWatch;
pub use meter::ArchiveMeter;
pub use pinned::{PinnedBackup, PinnedTable, SmallFile};
pub use restored::{RestoreTarget, RestoredManifest};

use store::Result;

/// A place in the commit log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LogPlace {
    /// The number of the segment.
    pub segment: u64,
    /// Bytes of the segment before the place.
    pub offset: u64,
}

/// A state that the store was in: the log before a place, with the first changes of the manifest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StorePoint {
    /// The end of the log. All bytes before it are complete records.
    pub place: LogPlace,
    /// The number of changes of the manifest since [`ArchiveSource::begin`].
    pub changes: u64,
}

/// Bytes of one segment of the commit log.
#[derive(Debug, PartialEq, Eq)]
pub struct LogBytes {
    /// Where they begin.
    pub begin: LogPlace,
    /// The bytes as they are in the file.
    pub bytes: Vec<u8>,
    /// Where the log continues: behind the bytes, or at the beginning of the next segment.
    pub next: LogPlace,
}

/// A store that is archived. No method delays a request, except that flushes and truncates wait while tables are linked.
pub trait ArchiveSource: Send + Sync {
    /// Begins to record changes of the manifest, and to keep segments of the log. Forgets earlier changes. Returns the
    /// place from which on the log has all writes that are not in tables.
    fn begin(&self) -> LogPlace;

    /// Returns the current state of the store.
    fn now(&self) -> StorePoint;

    /// Returns the changes of the manifest since the last call, in order. `None` if there were too many to remember, so
    /// that the archive must begin anew.
    fn take_changes(&self) -> Option<Vec<ManifestChange>>;

    /// Reads at most `most` bytes of the log.
    ///
    /// # Errors
    /// If a segment is damaged or cannot be read.
    fn read_log(&self, from: LogPlace, most: usize) -> Result<LogBytes>;

    /// Returns the bytes of the log from one place to a later one. Segments that cannot be read count nothing.
    fn log_bytes(&self, from: LogPlace, to: LogPlace) -> u64;

    /// Returns the first segment that the store itself needs. Those before it exist for the archive only.
    fn needed_segment(&self) -> u64;

    /// Removes segments before this one as soon as the store does not need them itself.
    fn release_log(&self, before: u64);

    /// Ends the archive: no segment is kept, and no change is recorded.
    fn end(&self);

    /// Pins the tables. Waits for a running flush.
    ///
    /// # Errors
    /// `Corrupt` if the store's files are damaged, `Io` if they cannot be linked or copied.
    fn pin(&self) -> Result<PinnedBackup>;

    /// Returns the counters that the archive keeps up to date.
    fn meter(&self) -> &ArchiveMeter;
}
