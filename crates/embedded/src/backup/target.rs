//! The directory that a backup is written to. It has another name until the backup is complete.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::io_error;
use crate::disk::Disk;
use store::{Result, StoreError};

/// Suffix of the directory's name until the backup is complete.
const UNFINISHED: &str = ".unfinished";

/// A backup that is being written. Dropping it before `finish` removes the directory.
pub(crate) struct BackupTarget<'a> {
    disk: &'a dyn Disk,
    /// Its path when it is complete.
    path: PathBuf,
    /// Its path until then.
    pub unfinished: PathBuf,
    is_finished: bool,
}

impl<'a> BackupTarget<'a> {
    /// Creates the directory of the unfinished backup, with the permissions of the source.
    ///
    /// # Errors
    /// `Mismatch` if the target exists and is not an empty directory, or is inside of the source.
    pub(crate) fn create(disk: &'a dyn Disk, path: &Path, source: &Path) -> Result<BackupTarget<'a>> {
        let inner = resolved(path)?;
        if inner.starts_with(source) {
            return Err(StoreError::Mismatch(format!(
                "the target {} is inside of the data directory {}; choose one outside",
                inner.display(),
                source.display()
            )));
        }
        let target = BackupTarget::begin(disk, path)?;
        let permissions = fs::metadata(source).map_err(|error| io_error(source, &error))?.permissions();
        let allowed = fs::set_permissions(&target.unfinished, permissions);
        allowed.map_err(|error| io_error(&target.unfinished, &error))?;
        Ok(target)
    }

    /// Creates the directory of an unfinished backup or restore.
    ///
    /// # Errors
    /// `Mismatch` if the target exists and is not an empty directory.
    pub(crate) fn begin(disk: &'a dyn Disk, path: &Path) -> Result<BackupTarget<'a>> {
        let path = resolved(path)?;
        check_free(&path)?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(UNFINISHED);
        let unfinished = path.with_file_name(name);
        fs::create_dir(&unfinished).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => StoreError::Mismatch(format!(
                "{} exists: a backup or restore to {} is running or was interrupted; wait for it, or remove that directory",
                unfinished.display(),
                path.display()
            )),
            _ => io_error(&unfinished, &error),
        })?;
        Ok(BackupTarget { disk, path, unfinished, is_finished: false })
    }

    /// Writes a file of the backup.
    pub(crate) fn write(&self, disk: &dyn Disk, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.unfinished.join(name);
        disk.write(&path, bytes).map_err(|error| io_error(&path, &error))
    }

    /// Syncs the backup and renames it to its final path.
    pub(crate) fn finish(mut self) -> Result<()> {
        sync_all(self.disk, &self.unfinished)?;
        let renamed = self.disk.rename(&self.unfinished, &self.path);
        renamed.map_err(|error| io_error(&self.path, &error))?;
        self.is_finished = true;
        let parent = self.path.parent().unwrap_or(&self.path);
        self.disk.sync_directory(parent).map_err(|error| io_error(parent, &error))
    }
}

impl Drop for BackupTarget<'_> {
    fn drop(&mut self) {
        if !self.is_finished
            && let Err(error) = self.disk.remove_directory(&self.unfinished)
        {
            tracing::warn!("the unfinished backup {} was not removed: {error}", self.unfinished.display());
        }
    }
}

/// Returns a path without symbolic links. It need not exist, but its parent directory must.
fn resolved(path: &Path) -> Result<PathBuf> {
    if let Ok(path) = path.canonicalize() {
        return Ok(path);
    }
    let Some(name) = path.file_name() else {
        return Err(StoreError::Mismatch(format!(
            "the target {} does not end with a directory's name",
            path.display()
        )));
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match parent.canonicalize() {
        Ok(parent) => Ok(parent.join(name)),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(StoreError::Mismatch(format!(
            "the directory {}, in which the target is to be created, does not exist; create it, or mount its disk",
            parent.display()
        ))),
        Err(error) => Err(io_error(parent, &error)),
    }
}

/// Fails unless a path does not exist, or is an empty directory that a rename can replace.
fn check_free(path: &Path) -> Result<()> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        metadata => metadata.map_err(|error| io_error(path, &error))?,
    };
    let advice = "choose a directory that does not exist";
    if !metadata.is_dir() {
        return Err(StoreError::Mismatch(format!(
            "the target {} exists and is not a directory; {advice}",
            path.display()
        )));
    }
    let mut entries = fs::read_dir(path).map_err(|error| io_error(path, &error))?;
    if entries.next().is_some() {
        return Err(StoreError::Mismatch(format!(
            "the target {} exists and is not empty; {advice}, or empty this one",
            path.display()
        )));
    }
    let parent = path.parent().and_then(|parent| fs::metadata(parent).ok());
    if parent.is_none_or(|parent| parent.dev() != metadata.dev()) {
        return Err(StoreError::Mismatch(format!(
            "the target {} is the root of a file system, which a rename cannot replace; choose a directory in it, such \
             as {}",
            path.display(),
            path.join("backup").display()
        )));
    }
    Ok(())
}

/// Syncs all files in a directory, then the directory itself.
fn sync_all(disk: &dyn Disk, directory: &Path) -> Result<()> {
    for path in disk.list(directory).map_err(|error| io_error(directory, &error))? {
        if path.is_dir() {
            sync_all(disk, &path)?;
        } else {
            disk.open(&path).and_then(|file| file.sync()).map_err(|error| io_error(&path, &error))?;
        }
    }
    disk.sync_directory(directory).map_err(|error| io_error(directory, &error))
}
