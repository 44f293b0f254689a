//! A consistent copy of a data directory that a server may be using.
//!
//! The backup works from outside: it reads files, changes nothing in the source, takes no lock and contacts no server.
//! That is possible since every file except the log is either immutable (tables) or replaced as a whole by a rename
//! (`MANIFEST`, `current` of a tree).
//!
//! ```text
//!   SOURCE                              TARGET.unfinished
//!   MANIFEST  ------ 1 read ----------> (memory)
//!   tables/1.1/v7  ---------- 2 copy -> tables/1.1/current, v7
//!   tables/1.1/tables/3,5   - 2 link -> tables/1.1/tables/3,5      (copied where links are impossible)
//!   log/8.log, 7.log  ------- 3 copy -> log/8.log, 7.log           (each cut after its last complete record)
//!   MANIFEST  ------ 4 read, compare:   if a flush, truncate or schema change has finished: begin again at 1
//!                            5 write -> MANIFEST, THRIFTSTORE
//!                            6 verify   checksums of all tables, every tree opens, the log replays
//!                            7 sync, and rename TARGET.unfinished to TARGET
//! ```
//!
//! # Why the copy is a state that existed
//!
//! The copy holds exactly the writes up to the end of the copied log. Let the manifest need the log from segment
//! `first` on, both at step 1 and at step 4. `first` only grows, so it had that value all the time between.
//!
//! - *The copied log is a prefix of the log.* Segments are read from the last to the first. If a segment has records
//!   when it is read, the segments before it are full. They are read later, so they are read completely. If the last
//!   segment is empty when it is read, the one before may still grow, and is copied up to its current end. A segment
//!   that is being written to is cut after its last complete record (see `log_copy`): later records were not
//!   acknowledged when the backup began.
//! - *Every write that was acknowledged before the backup began is in it.* Its record was in the log by then. Either
//!   its segment is before `first`: then the flush that raised `first` had finished its tables before, and they are
//!   listed. Or it is copied: segments are removed only after the manifest no longer needs them.
//! - *The tables have nothing newer than the copied log.* Entries from segments before `first` belong to the copy.
//!   Other entries come from a flush that has not yet written the manifest. Each of them is in a segment from `first`
//!   on that was full and synced before the flush wrote it, and that segment was copied after the tables. So the replay
//!   sets the same key again, to the value in the last copied record, and the entry in the memtable hides the one in
//!   the tables. The same holds after a crash in the middle of a flush, which leaves such tables too. The manifest may
//!   have a lower newest timestamp for these tables than they have. That does no harm: the memtable has the keys in
//!   question, and its flush raises the timestamp.
//! - *Trees may be copied at different times.* The manifest names one list of tables for each tree, and all tables on
//!   that list are linked. A compaction before or after does not change the result of any read. It removes tables only
//!   after the manifest names another list. So if a listed table is missing and the manifest names another list, the
//!   tree is copied again; if it names the same, the tree is damaged. The manifest of the copy names the lists that were
//!   copied. A tree that no start of this version has recorded is named by its file `current`.
//! - *Generations match.* A truncate, drop or new column family changes the manifest before the log has records of it.
//!   So if the manifests of steps 1 and 4 are the same, the log has no column family or generation that the manifest
//!   does not list. Only `log.last` may differ: another segment was created, which has no records before its
//!   predecessor is full.
//!
//! An attempt that fails because the source has changed keeps the tables that it has linked or copied: a tree does not
//! reuse the numbers of listed tables, and their checksums are compared.

mod log_copy;
mod outcome;
mod source;
mod target;
mod tree_copies;
mod verify;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use log_copy::complete_records;
use log_copy::copy_log;
pub use outcome::BackupSummary;
pub(crate) use source::BackupSource;
use source::change_between;
pub(crate) use target::BackupTarget;
pub(crate) use tree_copies::TreeCopies;
use verify::BackupVerification;

use super::format;
use super::manifest::{self, Contents, Manifest};
use super::pace::Progress;
use crate::disk::{Disk, RealDisk};
use store::{Result, StoreError};

/// The number of attempts to copy the source between two changes of its manifest.
const ATTEMPTS: u32 = 20;
/// The pause after the first attempt. Each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(640);

/// The options of a backup.
#[derive(Debug, Clone)]
pub struct BackupOptions {
    /// The data directory to copy. A server may be using it.
    pub source: PathBuf,
    /// A directory that does not exist or is empty.
    pub target: PathBuf,
    /// Whether to read all tables and compare their checksums.
    pub reads_tables: bool,
}

/// Copies a data directory to a target, which is then a data directory, too.
///
/// # Errors
/// `Mismatch` if the source is not a data directory of the newest format, or the target cannot be used; `Corrupt` if
/// the source is damaged; `Io` if the operating system fails, or the source changes too often. The target is unchanged
/// after an error.
pub fn back_up(options: &BackupOptions, progress: Progress<'_>) -> Result<BackupSummary> {
    back_up_on(&(Arc::new(RealDisk) as Arc<dyn Disk>), options, progress)
}

/// Does the same on another disk than the operating system's, for tests.
pub fn back_up_on(
    disk: &Arc<dyn Disk>,
    options: &BackupOptions,
    progress: Progress<'_>,
) -> Result<BackupSummary> {
    let source = BackupSource::open(&**disk, &options.source)?;
    let target = BackupTarget::create(&**disk, &options.target, &source.directory)?;
    let mut capture = Capture {
        disk: &**disk,
        trees: TreeCopies::new(&**disk, &source, &target.unfinished),
        source: &source,
        target: &target,
        log_bytes: 0,
    };
    let (manifest, attempts) = capture.run(progress)?;
    let Capture { trees, log_bytes, .. } = capture;
    let verification =
        BackupVerification { disk, source: &source.directory, copy: &target.unfinished, trees: &trees };
    verification.run(options.reads_tables, progress)?;
    let summary = BackupSummary::of(&manifest, &trees, log_bytes, attempts);
    progress("syncing the copy to the disk");
    target.finish()?;
    Ok(summary)
}

/// Steps 1 to 5 of a backup.
struct Capture<'a> {
    disk: &'a dyn Disk,
    source: &'a BackupSource,
    target: &'a BackupTarget<'a>,
    trees: TreeCopies<'a>,
    log_bytes: u64,
}

impl Capture<'_> {
    /// Copies the source between two changes of its manifest. Returns the manifest and the number of attempts.
    fn run(&mut self, progress: Progress<'_>) -> Result<(Contents, u32)> {
        let mut pause = FIRST_PAUSE;
        let mut change = "";
        for attempt in 1..=ATTEMPTS {
            let before = self.source.manifest(self.disk)?;
            let outcome = self.copy_files(&before, progress);
            let after = self.source.manifest(self.disk)?;
            change = match outcome {
                Ok(()) => match change_between(&before, &after) {
                    None => return Ok((before, attempt)),
                    Some(change) => change,
                },
                // A file that is missing because the source has changed is not damage.
                Err(StoreError::Corrupt(_)) if before != after => {
                    change_between(&before, &after).unwrap_or("tables or a segment of its log were replaced")
                }
                Err(error) => return Err(error),
            };
            progress(&format!("the data directory changed ({change}): starting again"));
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Err(StoreError::Io(format!(
            "{} changed during each of {ATTEMPTS} attempts to copy it (the last time: {change}); try again when the server \
             takes fewer writes and schema changes, or with a target on the same file system, which takes less time",
            self.source.directory.display()
        )))
    }

    fn copy_files(&mut self, contents: &Contents, progress: Progress<'_>) -> Result<()> {
        self.trees.update(contents, progress)?;
        let (from, to) = (self.source.directory.join("log"), self.target.unfinished.join("log"));
        self.log_bytes = copy_log(self.disk, &from, &to, contents.log)?;
        let contents = Manifest::encode(&self.trees.recorded_in(contents))?;
        self.target.write(self.disk, manifest::FILE, &contents)?;
        self.target.write(self.disk, format::FILE, &self.source.marker)
    }
}

/// Converts an error of the operating system. A full disk is an `Io` error here, since it is the backup's disk and not
/// the store's.
fn io_error(path: &std::path::Path, error: &std::io::Error) -> StoreError {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    let advice = match error.kind() {
        StorageFull | QuotaExceeded => "; free some space there, or choose a target on another disk",
        _ => "",
    };
    StoreError::Io(format!("{}: {error}{advice}", path.display()))
}
