//! What the store asks of a disk.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Mapping;

/// Bytes of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes that are left for us.
    pub free: u64,
    /// Bytes in all.
    pub whole: u64,
}

/// Files and directories by their paths. What was not synced may be missing after a power failure, in any order: a
/// file's bytes until the file is synced, its name until its directory is.
pub trait Disk: Debug + Send + Sync {
    /// Creates a file for reading and writing. One that exists is emptied.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens a file that exists for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Reads a whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Gives a file another name, in the place of a file that has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name. Fails when the second name exists, and where both names cannot have one file: on two
    /// file systems, or where the operating system forbids it.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Creates a directory, and those above it. One that exists is left as it is.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory with all that is in it. One that does not exist is no error.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// The paths of what is in a directory, in order. One that does not exist is empty.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// Whether there is a file or directory of this path.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Makes the names in a directory survive a power failure.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// How much room is left on the file system of a directory.
    fn free_space(&self, path: &Path) -> io::Result<FreeSpace>;
}

/// An open file. All operations name their place, so that a file can be shared.
pub trait DiskFile: Debug + Send + Sync {
    /// Writes all bytes at an offset.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// The file's length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Cuts the file off, or makes it longer with zeros.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Waits until the disk has the file's bytes and its length.
    fn sync(&self) -> io::Result<()>;

    /// Allocates and maps bytes of the file from an offset on. Fails with `StorageFull` when the disk has no room, and
    /// with `Unsupported` where files of this file system cannot be mapped safely.
    fn map(&self, begin: u64, bytes: u64) -> io::Result<Mapping>;
}

/// Replaces a file's content so that a crash leaves the old content or the new one.
///
/// # Errors
/// [`ReplaceError::Unchanged`] when the old content is still there for sure, [`ReplaceError::Unknown`] when either may
/// be.
pub fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), ReplaceError> {
    let next = path.with_extension("new");
    let write = || {
        let file = disk.create(&next)?;
        file.write_at(bytes, 0)?;
        file.sync()
    };
    write().map_err(|error| ReplaceError::Unchanged(next.clone(), error))?;
    disk.rename(&next, path).map_err(|error| ReplaceError::Unknown(path.to_owned(), error))?;
    let directory = path.parent().unwrap_or(path);
    disk.sync_directory(directory).map_err(|error| ReplaceError::Unknown(directory.to_owned(), error))
}

/// Why a file's content was not replaced, and the path at which that failed.
#[derive(Debug)]
pub enum ReplaceError {
    Unchanged(PathBuf, io::Error),
    Unknown(PathBuf, io::Error),
}
