//! How a change of the manifest gets to the disk.
//!
//! A small manifest is replaced as a whole. One of more than `MANIFEST_BYTES_REPLACED` gets a file of changes, to which
//! each change is appended, until that file is as long as the manifest; then the manifest is written anew, with an empty
//! file of changes. So a change costs its own length, and the rewriting as much again:
//!
//! ```text
//!   1  MANIFEST.8 is made, empty, and synced
//!   2  MANIFEST is replaced by one that has everything and names MANIFEST.8        from here on MANIFEST.7 means nothing
//!   3  MANIFEST.7 is removed, now or at the next start
//! ```
//!
//! A file of changes that is named and not there is empty: a crash between 1 and 2 may leave the names in any order, and
//! the first change comes after both.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::changes_file::encode_change;
use super::contents::Contents;
use super::file::encode;
use crate::storage::disk::{Disk, DiskFile, ReplaceError, replace};
use crate::util::limits::MANIFEST_BYTES_REPLACED;

/// Where a manifest is written to.
pub struct ManifestWriter {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// The length of the whole manifest on the disk.
    whole_bytes: u64,
    /// The number of the file of changes that the manifest on the disk names.
    named: Option<u64>,
    /// The highest number that was ever used.
    last: u64,
    /// `None`: the next change is written with everything else.
    changes: Option<Changes>,
}

struct Changes {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    end: u64,
}

/// The path of a file of changes.
pub fn changes_path(manifest: &Path, number: u64) -> PathBuf {
    manifest.with_extension(number.to_string())
}

impl ManifestWriter {
    /// For a manifest that has been read, or that is not there yet. `number` is that of its file of changes.
    pub fn new(disk: Arc<dyn Disk>, path: PathBuf, number: Option<u64>) -> ManifestWriter {
        ManifestWriter { disk, path, whole_bytes: 0, named: number, last: number.unwrap_or(0), changes: None }
    }

    /// Writes contents, durably, that take the place of those before.
    ///
    /// # Errors
    /// As of `replace`; what cannot be written as text is an `Unchanged` error too.
    pub fn write(&mut self, before: &Contents, after: &Contents) -> Result<(), ReplaceError> {
        let Some(mut changes) = self.changes.take() else { return self.write_all(after) };
        let line = encode_change(before, after).map_err(|why| self.unwritable(why))?;
        if changes.end + line.len() as u64 > self.whole_bytes {
            return self.write_all(after);
        }
        // What a failed write leaves is no whole line. Nothing is written behind it, but everything anew.
        let written = changes.file.write_at(&line, changes.end);
        written.map_err(|error| ReplaceError::Unchanged(changes.path.clone(), error))?;
        changes.file.sync().map_err(|error| ReplaceError::Unknown(changes.path.clone(), error))?;
        changes.end += line.len() as u64;
        self.changes = Some(changes);
        Ok(())
    }

    fn write_all(&mut self, contents: &Contents) -> Result<(), ReplaceError> {
        let bytes = encode(contents, None).map_err(|why| self.unwritable(why))?;
        if bytes.len() <= MANIFEST_BYTES_REPLACED {
            replace(&*self.disk, &self.path, &bytes)?;
            self.name(None);
            return Ok(());
        }
        self.last += 1;
        let path = changes_path(&self.path, self.last);
        let unchanged = |error| ReplaceError::Unchanged(path.clone(), error);
        let file = self.disk.create(&path).map_err(unchanged)?;
        file.sync().map_err(unchanged)?;
        let bytes = encode(contents, Some(self.last)).map_err(|why| self.unwritable(why))?;
        replace(&*self.disk, &self.path, &bytes)?;
        self.name(Some(self.last));
        self.whole_bytes = bytes.len() as u64;
        self.changes = Some(Changes { path, file, end: 0 });
        Ok(())
    }

    /// The manifest on the disk names another file of changes. The one before means nothing: it is removed, or at the
    /// next start.
    fn name(&mut self, number: Option<u64>) {
        if let Some(before) = std::mem::replace(&mut self.named, number) {
            let _ = self.disk.remove_file(&changes_path(&self.path, before));
        }
    }

    fn unwritable(&self, why: String) -> ReplaceError {
        ReplaceError::Unchanged(self.path.clone(), std::io::Error::other(why))
    }
}
