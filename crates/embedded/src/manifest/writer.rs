//! Writes changes of the manifest to the disk.
//!
//! A small manifest is replaced as a whole. A manifest of more than `MANIFEST_BYTES_REPLACED` has a file of changes, to
//! which each change is appended. When that file is as long as the manifest, the manifest is written again, with an
//! empty file of changes. So on average a change writes about twice its own length. The manifest is replaced in these
//! steps:
//!
//! ```text
//!   1  MANIFEST.81 is created, empty, and synced, and so is the directory
//!   2  MANIFEST is replaced by one with all contents that names MANIFEST.81       from here on MANIFEST.37 is ignored
//!   3  MANIFEST.37 is removed, now or at the next start
//! ```
//!
//! So the named file of changes always exists. If it is missing, the directory is damaged. The numbers are random, so a
//! manifest and a file of changes that do not belong together are not taken for a pair.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::changes_file::encode_change;
use super::contents::Contents;
use super::file::encode;
use crate::disk::{Disk, DiskFile, ReplaceError, replace};
use crate::limits::MANIFEST_BYTES_REPLACED;
use store::Result;

/// Writes the manifest of one data directory.
pub(super) struct ManifestWriter {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// The length of `MANIFEST` in bytes, as this writer wrote it.
    whole_bytes: u64,
    /// The number of the file of changes that `MANIFEST` names.
    named: Option<u64>,
    /// The number of the next file of changes.
    next: u32,
    /// The open file of changes. `None` if the next change must write all contents.
    changes: Option<ChangesFile>,
}

struct ChangesFile {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    end: u64,
}

/// Returns the path of a file of changes.
pub(super) fn changes_path(manifest: &Path, number: u64) -> PathBuf {
    manifest.with_extension(number.to_string())
}

/// Returns a random number, so that a manifest of another directory or of an earlier time names a file that is not there.
fn unused_number() -> u32 {
    // The upper half of the hash: it is 1 at least.
    ((RandomState::new().hash_one(0) >> 32) as u32).max(1)
}

impl ManifestWriter {
    /// Returns a writer for a manifest that has been read, or that does not exist yet. `number` is the number of its
    /// file of changes.
    pub(super) fn new(disk: Arc<dyn Disk>, path: PathBuf, number: Option<u64>) -> ManifestWriter {
        ManifestWriter { disk, path, whole_bytes: 0, named: number, next: unused_number(), changes: None }
    }

    /// Replaces the contents `before` with `after`, durably.
    ///
    /// # Errors
    /// Fails like `replace`. Contents that cannot be written as text are an `Unchanged` error too.
    pub(super) fn write(&mut self, before: &Contents, after: &Contents) -> Result<(), ReplaceError> {
        let Some(mut changes) = self.changes.take() else { return self.write_all(after) };
        assert!(self.named.is_some(), "a change would be appended to a file that the manifest does not name");
        let line = encode_change(before, after).map_err(|why| self.unwritable(why))?;
        if changes.end + line.len() as u64 > self.whole_bytes {
            return self.write_all(after);
        }
        // A failed write may leave a part of a line. Nothing is appended after it: `self.changes` stays `None`, so the
        // next change writes all contents.
        let written = changes.file.write_at(&line, changes.end);
        written.map_err(|error| ReplaceError::Unchanged(changes.path.clone(), error))?;
        changes.file.sync().map_err(|error| ReplaceError::Unknown(changes.path.clone(), error))?;
        changes.end += line.len() as u64;
        debug_assert!(changes.end <= self.whole_bytes, "a start would read more changes than contents");
        self.changes = Some(changes);
        Ok(())
    }

    fn write_all(&mut self, contents: &Contents) -> Result<(), ReplaceError> {
        let bytes = encode(contents, None).map_err(|why| self.unwritable(why))?;
        if bytes.len() <= MANIFEST_BYTES_REPLACED {
            replace(&*self.disk, &self.path, &bytes)?;
            self.set_named(None);
            return Ok(());
        }
        // A number is used again after a failure, so that repeated failures leave one file and not many.
        let number = u64::from(self.next);
        assert!(self.named != Some(number), "the file of changes that the manifest names would be emptied");
        let path = changes_path(&self.path, number);
        let unchanged = |error| ReplaceError::Unchanged(path.clone(), error);
        let file = self.disk.create(&path).map_err(unchanged)?;
        file.sync().map_err(unchanged)?;
        self.disk.sync_directory(path.parent().unwrap_or(&path)).map_err(unchanged)?;
        let bytes = encode(contents, Some(number)).map_err(|why| self.unwritable(why))?;
        replace(&*self.disk, &self.path, &bytes)?;
        self.next = unused_number();
        self.set_named(Some(number));
        self.whole_bytes = bytes.len() as u64;
        self.changes = Some(ChangesFile { path, file, end: 0 });
        Ok(())
    }

    /// Records that `MANIFEST` now names another file of changes, and removes the earlier one. If that fails, the next
    /// start removes it.
    fn set_named(&mut self, number: Option<u64>) {
        debug_assert!(
            number.is_none() || number != self.named,
            "the file that MANIFEST names would be removed"
        );
        if let Some(before) = std::mem::replace(&mut self.named, number) {
            let _ = self.disk.remove_file(&changes_path(&self.path, before));
        }
    }

    fn unwritable(&self, why: String) -> ReplaceError {
        ReplaceError::Unchanged(self.path.clone(), std::io::Error::other(why))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::disk::RealDisk;
    use crate::manifest::Manifest;
    use store::StoreError;

    /// Creates a manifest that has a file of changes.
    fn create(directory: &Path) -> Manifest {
        let mut contents = Contents { partitioner: "P".to_owned(), ..Contents::default() };
        let large = Bytes::from(vec![b'x'; 2 * MANIFEST_BYTES_REPLACED]);
        contents.records.insert("large".to_owned(), large);
        Manifest::create(Arc::new(RealDisk), directory, contents, Arc::default()).unwrap()
    }

    fn open(directory: &Path) -> Result<Manifest> {
        Manifest::open(Arc::new(RealDisk), directory, Arc::default())
    }

    fn write(manifest: &Manifest, value: &'static str) -> Result<()> {
        manifest.change(|contents| drop(contents.records.insert("small".to_owned(), Bytes::from(value))))
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_missing_file_of_changes_is_damage() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        write(&create(directory), "a").unwrap();
        assert_eq!(open(directory).unwrap().contents().records["small"], "a");
        let changes = names(directory).pop().unwrap();
        std::fs::remove_file(directory.join(&changes)).unwrap();
        for outcome in [open(directory).map(drop), Manifest::read(&RealDisk, directory).map(drop)] {
            let error = outcome.unwrap_err();
            let is_right = matches!(&error, StoreError::Corrupt(why) if why.contains(&format!("{changes} is missing; put back")));
            assert!(is_right, "{error}");
        }
    }

    #[test]
    fn failed_changes_leave_at_most_one_file() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        drop(create(directory));
        let manifest = open(directory).unwrap();
        std::fs::create_dir(directory.join("MANIFEST.new")).unwrap();
        for _ in 0..9 {
            assert!(write(&manifest, "a").is_err());
        }
        let left = names(directory);
        assert!(left.len() == 4 && left[0] == "MANIFEST" && left[3] == "MANIFEST.new", "{left:?}");
        std::fs::remove_dir(directory.join("MANIFEST.new")).unwrap();
        write(&manifest, "a").unwrap();
        assert_eq!(names(directory).len(), 2);
        assert_eq!(open(directory).unwrap().contents().records["small"], "a");
    }
}
