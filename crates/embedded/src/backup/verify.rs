//! Verifies a backup before it is renamed to its final path.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;

use super::tree_copies::TreeCopies;
use crate::disk::Disk;
use crate::manifest::Manifest;
use crate::pace::{Progress, megabytes};
use crate::recovery::replay_newest;
use crate::tables::{TableSpace, TableSpaceOptions};
use crate::verification::verify;
use base::util::Clock;
use store::{Result, StoreError};

/// Size of the cache of data blocks, in bytes. Opening trees reads few blocks.
const CACHE_BYTES: u64 = 1 << 20;

/// A backup to verify.
pub(super) struct BackupVerification<'a> {
    pub disk: &'a Arc<dyn Disk>,
    pub source: &'a Path,
    /// The backup's directory.
    pub copy: &'a Path,
    pub trees: &'a TreeCopies<'a>,
}

impl BackupVerification<'_> {
    /// Replays the log, opens all trees and, if `reads_tables`, compares each table with its checksum.
    ///
    /// # Errors
    /// `Corrupt` for damage, with the path in the source: linked tables are damaged there, and copied ones most
    /// probably, too.
    pub(super) fn run(&self, reads_tables: bool, progress: Progress<'_>) -> Result<()> {
        self.check_log().and_then(|()| self.open_trees()).map_err(|error| self.of_source(error))?;
        if !reads_tables {
            return Ok(());
        }
        let whole: u64 = self.trees.tables().map(|table| table.bytes).sum();
        progress(&format!("reading {} of tables to verify them", megabytes(whole)));
        let found = verify(&**self.disk, self.copy, None, progress).map_err(|error| self.of_source(error))?;
        found.damages.into_iter().next().map_or(Ok(()), |damage| Err(self.of_source(damage)))
    }

    fn check_log(&self) -> Result<()> {
        let contents = Manifest::read(&**self.disk, self.copy)?;
        replay_newest(&**self.disk, &self.copy.join("log"), &contents, |_| {}).map(|_| ())
    }

    fn open_trees(&self) -> Result<()> {
        let contents = Manifest::read(&**self.disk, self.copy)?;
        let space = TableSpace::new(TableSpaceOptions {
            directory: self.copy.join("tables"),
            cache_bytes: CACHE_BYTES,
            clock: Arc::new(Clock::system()),
            disk: self.disk.clone(),
            manifest: Arc::new(Manifest::in_memory(contents, Arc::default())),
        });
        let gc_grace_s = Arc::new(AtomicI32::new(i32::MAX));
        self.trees.trees().try_for_each(|(folder, tree)| {
            // The tree is closed again at once. Nothing is merged or removed.
            space.open(folder, &tree.name.owner, &gc_grace_s).map(drop)
        })
    }

    /// Replaces the paths of the backup, which is going to be removed, by the paths of the source.
    fn of_source(&self, error: StoreError) -> StoreError {
        let (copy, source) = (self.copy.display().to_string(), self.source.display().to_string());
        match error {
            StoreError::Corrupt(text) => StoreError::Corrupt(text.replace(&copy, &source)),
            other => other,
        }
    }
}
