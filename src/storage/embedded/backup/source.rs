//! The data directory that is backed up.

use std::path::{Path, PathBuf};

use super::io_error;
use crate::storage::StoreError;
use crate::storage::disk::Disk;
use crate::storage::embedded::format;
use crate::storage::embedded::manifest::{Contents, LogSpan, Manifest};

/// A source: a data directory of the newest format.
pub struct Source {
    /// Its path without symbolic links.
    pub directory: PathBuf,
    /// The bytes of its file `THRIFTSTORE`.
    pub marker: Vec<u8>,
}

/// The manifest at one time.
pub struct ManifestCopy {
    pub bytes: Vec<u8>,
    pub contents: Contents,
}

impl Source {
    /// Checks that a directory can be backed up.
    pub fn open(disk: &dyn Disk, directory: &Path) -> Result<Source, StoreError> {
        let marker = format::read_newest(disk, directory)?;
        let directory = directory.canonicalize().map_err(|error| io_error(directory, &error))?;
        Ok(Source { directory, marker })
    }

    /// Reads the manifest.
    pub fn manifest(&self, disk: &dyn Disk) -> Result<ManifestCopy, StoreError> {
        let (contents, bytes) = Manifest::read(disk, &self.directory)?;
        Ok(ManifestCopy { bytes, contents })
    }
}

impl ManifestCopy {
    /// Returns the kind of change between this manifest and a later one that makes a copy of tables and log
    /// inconsistent. `None` if there is none: only the next segment of the log may have been created.
    pub fn change_until(&self, later: &ManifestCopy) -> Option<&'static str> {
        let (before, after) = (&self.contents, &later.contents);
        let first = |contents: &Contents| contents.log.map(|LogSpan { first, .. }| first);
        if before.families != after.families {
            Some("a truncate or a schema change")
        } else if first(before) != first(after) || before.tables != after.tables {
            Some("a flush")
        } else if before.records != after.records {
            Some("a change of the schema or of users")
        } else if (&before.partitioner, &before.token) != (&after.partitioner, &after.token) {
            Some("a first start")
        } else {
            None
        }
    }
}
