//! The data directory that is backed up.

use std::path::{Path, PathBuf};

use super::io_error;
use crate::disk::Disk;
use crate::format;
use crate::manifest::{Contents, LogSpan, Manifest};
use store::Result;

/// A source: a data directory of this version's format.
pub(crate) struct BackupSource {
    /// Its path without symbolic links.
    pub directory: PathBuf,
    /// The bytes of its file `THRIFTSTORE`.
    pub marker: Vec<u8>,
}

impl BackupSource {
    /// Checks that a directory can be backed up.
    pub(crate) fn open(disk: &dyn Disk, directory: &Path) -> Result<BackupSource> {
        let marker = format::read(disk, directory)?;
        let directory = directory.canonicalize().map_err(|error| io_error(directory, &error))?;
        Ok(BackupSource { directory, marker })
    }

    /// Reads the manifest.
    pub(crate) fn manifest(&self, disk: &dyn Disk) -> Result<Contents> {
        Manifest::read(disk, &self.directory)
    }
}

/// Returns the kind of change between two manifests that makes a copy of tables and log inconsistent. `None` if there is
/// none: only the next segment of the log may have been created, and tables merged.
pub(crate) fn change_between(before: &Contents, after: &Contents) -> Option<&'static str> {
    let first = |contents: &Contents| contents.log.map(|LogSpan { first, .. }| first);
    let newest = |contents: &Contents| -> Vec<_> {
        contents.tables.iter().map(|(folder, record)| (folder.clone(), record.newest)).collect()
    };
    if before.families != after.families {
        Some("a truncate or a schema change")
    } else if first(before) != first(after) || newest(before) != newest(after) {
        Some("a flush")
    } else if before.records != after.records {
        Some("a change of the schema or of users")
    } else if (&before.partitioner, &before.token) != (&after.partitioner, &after.token) {
        Some("a first start")
    } else {
        None
    }
}
