//! A consistent copy of a data directory, which a server may be serving meanwhile.
//!
//! The backup works from outside: it reads files, changes nothing in the source, takes no lock and asks no server. That
//! is possible since every file but the log is either immutable (tables) or replaced as a whole by a rename (`MANIFEST`,
//! `current` of a tree).
//!
//! ```text
//!   SOURCE                              TARGET.unfinished
//!   MANIFEST  ------ 1 read ----------> (memory)
//!   tables/1.1/current, v7  - 2 copy -> tables/1.1/current, v7
//!   tables/1.1/tables/3,5   - 2 link -> tables/1.1/tables/3,5      (copied where links are impossible)
//!   log/8.log, 7.log  ------- 3 copy -> log/8.log, 7.log           (each cut behind its last whole record)
//!   MANIFEST  ------ 4 read, compare:   has another flush, truncate or schema change finished? begin again at 1
//!                            5 write -> MANIFEST, THRIFTSTORE
//!                            6 verify   checksums of all tables, every tree opens, the log replays
//!                            7 sync, and rename TARGET.unfinished to TARGET
//! ```
//!
//! # Why the copy is a state that existed
//!
//! Claim: the copy holds exactly the writes up to the end of the copied log. Let the manifest need the log from segment
//! `first` on, both at step 1 and at step 4. `first` only grows, so it had that value all the time between.
//!
//! - *The copied log is a prefix of the log.* Segments are read from the last to the first. A segment that has records
//!   when it is read follows segments that are full, and these are read later, so whole. If the last one is empty when
//!   it is read, the one before may still grow, and is copied as far as it is then. A segment that is being written to
//!   is cut behind its last whole record (see `log`): what follows was not acknowledged when the backup began.
//! - *Every write that was acknowledged before the backup began is in it.* Its record was in the log by then. Either its
//!   segment is before `first`: then the flush that raised `first` had finished its tables before, and they are listed.
//!   Or it is copied: segments are removed only after the manifest no longer needs them.
//! - *The tables hold nothing newer than the copied log.* Entries of segments before `first` are as they should be.
//!   Others come from a flush that has not yet finished with a new manifest. Each of them is in a segment from `first` on
//!   that was full and synced before the flush began, and that segment was copied after the tables were. So the replay
//!   sets the same key again, to what the last copied record says: the key in the memtable hides the one in the tables.
//!   The same holds after a crash in the middle of a flush, which leaves such tables too. The manifest may note a lower
//!   newest timestamp for them than they have; the memtable has the keys in question, and its flush raises the note.
//! - *Trees may be copied at different moments.* Of each, `current` names one list of tables, and all tables on that list
//!   are linked. A compaction before or after changes no answer. It removes tables only after a new `current`, so if a
//!   listed table has vanished and `current` is another, that tree is copied again; if it is the same, it is damage.
//! - *Generations match.* A truncate, drop or new column family changes the manifest before the log has records of it, so
//!   the log has no column family or generation that the manifest of step 1 does not know, if that of step 4 is the same.
//!   Only `log.last` may differ: another segment was created, which no record is in before its predecessor is full.
//!
//! An attempt that fails because the source has changed keeps the tables that it has linked or copied: their numbers are
//! never given to other tables while a tree lists them, and their checksums are compared.

mod log_copy;
mod outcome;
mod source;
mod target;
mod tree_copies;
mod verify;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use log_copy::copy_log;
pub use outcome::BackupSummary;
use source::{ManifestCopy, Source};
use target::Target;
use tree_copies::TreeCopies;
use verify::Verification;

use super::{format, manifest};
use crate::storage::StoreError;
use crate::storage::disk::{Disk, RealDisk};

/// Attempts to copy the source between two changes of its manifest.
const ATTEMPTS: u32 = 20;
/// The pause after the first attempt; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(640);

/// What is backed up, and where to.
#[derive(Debug, Clone)]
pub struct BackupOptions {
    /// A data directory. A server may be serving it.
    pub source: PathBuf,
    /// A directory that does not exist or is empty.
    pub target: PathBuf,
    /// Whether all tables are read and compared with their checksums.
    pub reads_tables: bool,
}

/// Receives lines about the progress of a backup.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

/// Copies a data directory to a target, from which it can be served.
///
/// # Errors
/// `Mismatch` when the source is no data directory of the newest format, or the target cannot be one; `Corrupt` when the
/// source is damaged; `Io` when the operating system refuses, or the source changes too often. The target is then as it
/// was before.
pub fn back_up(options: &BackupOptions, progress: Progress<'_>) -> Result<BackupSummary, StoreError> {
    back_up_on(&(Arc::new(RealDisk) as Arc<dyn Disk>), options, progress)
}

/// The same on another disk than the operating system's: for tests.
pub fn back_up_on(
    disk: &Arc<dyn Disk>,
    options: &BackupOptions,
    progress: Progress<'_>,
) -> Result<BackupSummary, StoreError> {
    let source = Source::open(&**disk, &options.source)?;
    let target = Target::create(&**disk, &options.target, &source.directory)?;
    let mut capture = Capture {
        disk: &**disk,
        trees: TreeCopies::new(&**disk, &source.directory, &target.unfinished),
        source: &source,
        target: &target,
        log_bytes: 0,
    };
    let (manifest, attempts) = capture.run(progress)?;
    let Capture { trees, log_bytes, .. } = capture;
    let verification =
        Verification { disk, source: &source.directory, copy: &target.unfinished, trees: &trees };
    verification.run(options.reads_tables, progress)?;
    let summary = BackupSummary::of(&manifest.contents, &trees, log_bytes, attempts);
    progress("syncing the copy to the disk");
    target.finish()?;
    Ok(summary)
}

/// Steps 1 to 5.
struct Capture<'a> {
    disk: &'a dyn Disk,
    source: &'a Source,
    target: &'a Target<'a>,
    trees: TreeCopies<'a>,
    log_bytes: u64,
}

impl Capture<'_> {
    /// Copies the source between two changes of its manifest. Returns the manifest and the number of attempts.
    fn run(&mut self, progress: Progress<'_>) -> Result<(ManifestCopy, u32), StoreError> {
        let mut pause = FIRST_PAUSE;
        let mut change = "";
        for attempt in 1..=ATTEMPTS {
            let before = self.source.manifest(self.disk)?;
            let outcome = self.copy_files(&before, progress);
            let after = self.source.manifest(self.disk)?;
            change = match outcome {
                Ok(()) => match before.change_until(&after) {
                    None => return Ok((before, attempt)),
                    Some(change) => change,
                },
                // What has vanished meanwhile is no damage.
                Err(StoreError::Corrupt(_)) if before.contents != after.contents => {
                    before.change_until(&after).unwrap_or("a segment of its log was replaced")
                }
                Err(error) => return Err(error),
            };
            progress(&format!("the data directory changed ({change}): beginning again"));
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Err(StoreError::Io(format!(
            "{} changed during each of {ATTEMPTS} attempts to copy it (the last time: {change}); try again when the server \
             takes fewer writes and schema changes, or with a target on the same file system, which takes less time",
            self.source.directory.display()
        )))
    }

    fn copy_files(&mut self, manifest: &ManifestCopy, progress: Progress<'_>) -> Result<(), StoreError> {
        self.trees.update(manifest, progress)?;
        let logs = (&*self.source.directory.join("log"), &*self.target.unfinished.join("log"));
        self.log_bytes = copy_log(self.disk, logs, manifest.contents.log)?;
        self.target.write(self.disk, manifest::FILE, &manifest.bytes)?;
        self.target.write(self.disk, format::FILE, &self.source.marker)
    }
}

/// An error of the operating system at a path. A full disk is not the store's: nothing but the backup is refused.
fn io_error(path: &std::path::Path, error: &std::io::Error) -> StoreError {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    let advice = match error.kind() {
        StorageFull | QuotaExceeded => "; free some space there, or choose a target on another disk",
        _ => "",
    };
    StoreError::Io(format!("{}: {error}{advice}", path.display()))
}
