//! The operations of a disk that the embedded store uses.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Mapping;

/// The size and the free space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes that this process can still use.
    pub free: u64,
    /// Size of the file system in bytes.
    pub whole: u64,
}

/// A disk: files and directories by their paths. Changes that are not synced may be missing after a power failure, in
/// any combination: a file's bytes until the file is synced, its name until its directory is synced.
pub trait Disk: Debug + Send + Sync {
    /// Creates a file for reading and writing. An existing file is truncated.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens an existing file for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Reads a whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Creates a file as [`Disk::create`], with these contents. They are not synced.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.create(path)?.write_at(bytes, 0)
    }

    /// Renames a file, and replaces an existing file of that name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Creates a hard link. Fails if `to` exists, if the paths are on different file systems, or if the operating
    /// system does not permit it.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Creates a directory and its parents. An existing directory is left unchanged.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory with all its contents. It is not an error if it does not exist.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// Returns the paths of a directory's entries, sorted. A directory that does not exist has none.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// Returns whether a file or directory exists.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Syncs a directory, so that the names in it survive a power failure.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Returns the free space of the file system of a directory.
    fn free_space(&self, path: &Path) -> io::Result<FreeSpace>;
}

/// An open file. All operations have an explicit offset, so that a file can be shared.
pub trait DiskFile: Debug + Send + Sync {
    /// Writes all bytes at an offset.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Returns the file's length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Truncates the file, or extends it with zeros.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Waits until the disk has the file's bytes and its length.
    fn sync(&self) -> io::Result<()>;

    /// Allocates and maps bytes of the file from an offset on.
    ///
    /// # Errors
    /// `StorageFull` if the disk is full, `Unsupported` if files of this file system cannot be mapped safely.
    fn map(&self, begin: u64, bytes: u64) -> io::Result<Mapping>;
}

/// Replaces a file's contents. A crash leaves either the old contents or the new ones.
///
/// # Errors
/// [`ReplaceError::Unchanged`] if the file certainly has the old contents, [`ReplaceError::Unknown`] if it may have
/// either.
pub fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), ReplaceError> {
    let next = path.with_extension("new");
    disk.create(&next)
        .and_then(|file| file.write_at(bytes, 0).and_then(|()| file.sync()))
        .map_err(|error| ReplaceError::Unchanged(next.clone(), error))?;
    disk.rename(&next, path).map_err(|error| ReplaceError::Unknown(path.to_owned(), error))?;
    let directory = path.parent().unwrap_or(path);
    disk.sync_directory(directory).map_err(|error| ReplaceError::Unknown(directory.to_owned(), error))
}

/// Why a file was not replaced, and the path of the operation that failed.
#[derive(Debug)]
pub enum ReplaceError {
    /// The old content is still there.
    Unchanged(PathBuf, io::Error),
    /// The old content or the new one is there: a crash decides which.
    Unknown(PathBuf, io::Error),
}
