//! Verifies a backup before it is renamed to its final path.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::time::{Duration, Instant};

use super::Progress;
use super::tree_copies::TreeCopies;
use crate::storage::StoreError;
use crate::storage::disk::Disk;
use crate::storage::embedded::manifest::Manifest;
use crate::storage::embedded::recovery::replay_newest;
use crate::storage::embedded::tables::{TableOptions, TableSpace, check_table};
use crate::util::{Clock, time_left};

/// Size of the cache of data blocks, in bytes. Opening trees reads few blocks.
const CACHE_BYTES: u64 = 1 << 20;
/// Time between two lines of progress.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// A backup to verify.
pub struct Verification<'a> {
    pub disk: &'a Arc<dyn Disk>,
    pub source: &'a Path,
    /// The backup's directory.
    pub copy: &'a Path,
    pub trees: &'a TreeCopies<'a>,
}

impl Verification<'_> {
    /// Replays the log, opens all trees and, if `reads_tables`, compares each table with its checksum.
    ///
    /// # Errors
    /// `Corrupt` for damage, with the path in the source: linked tables are damaged there, and copied ones most
    /// probably, too.
    pub fn run(&self, reads_tables: bool, progress: Progress<'_>) -> Result<(), StoreError> {
        self.check_log().and_then(|()| self.open_trees()).map_err(|error| self.of_source(error))?;
        if reads_tables { self.read_tables(progress) } else { Ok(()) }
    }

    fn check_log(&self) -> Result<(), StoreError> {
        let (contents, _) = Manifest::read(&**self.disk, self.copy)?;
        replay_newest((&**self.disk, &self.copy.join("log")), &contents, |_| {}).map(|_| ())
    }

    fn open_trees(&self) -> Result<(), StoreError> {
        let space = TableSpace::new(TableOptions {
            directory: self.copy.join("tables"),
            cache_bytes: CACHE_BYTES,
            clock: Arc::new(Clock::system()),
            disk: self.disk.clone(),
        });
        let gc_grace_s = Arc::new(AtomicI32::new(i32::MAX));
        self.trees.trees().try_for_each(|(folder, tree)| {
            // The tree is closed again at once. Nothing is merged or removed.
            space.open(folder, &tree.name.owner, &gc_grace_s).map(drop)
        })
    }

    /// Reads every byte of every table, and compares the checksums.
    fn read_tables(&self, progress: Progress<'_>) -> Result<(), StoreError> {
        let whole: u64 = self.trees.tables().map(|table| table.bytes).sum();
        progress(&format!("reading {} of tables to verify them", megabytes(whole)));
        let began = Instant::now();
        let (mut done, mut shown) = (0, began);
        for (folder, tree) in self.trees.trees() {
            for (number, table) in &tree.tables {
                let path = self.trees.path_of(folder, *number);
                let checked = check_table(&tree.name, &path, table.checksum);
                done += checked.map_err(|error| self.of_source(error))?;
                if shown.elapsed() >= LINE_EVERY {
                    progress(&verified(done, whole, began.elapsed()));
                    shown = Instant::now();
                }
            }
        }
        Ok(())
    }

    /// Replaces the paths of the backup, which is going to be removed, by those of the source.
    fn of_source(&self, error: StoreError) -> StoreError {
        let (copy, source) = (self.copy.display().to_string(), self.source.display().to_string());
        match error {
            StoreError::Corrupt(text) => StoreError::Corrupt(text.replace(&copy, &source)),
            other => other,
        }
    }
}

/// Formats a number of bytes.
/// Describes progress, and how long the rest takes at the same rate.
fn verified(done: u64, whole: u64, elapsed: Duration) -> String {
    let left = time_left(elapsed, done, whole.saturating_sub(done)).unwrap_or_default();
    format!(
        "verified {} of {}, {} s elapsed, {} s left",
        megabytes(done),
        megabytes(whole),
        elapsed.as_secs(),
        left.as_secs()
    )
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_the_time_left() {
        let text = verified(25_000_000, 100_000_000, Duration::from_secs(10));
        assert_eq!(text, "verified 25.0 MB of 100.0 MB, 10 s elapsed, 30 s left");
    }
}
