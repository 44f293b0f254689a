//! The file that says what a data directory is, and keeps other processes out of it.
//!
//! It goes to the operating system directly, not through [`Disk`]: a lock belongs to the process and to a real file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::storage::StoreError;
use crate::storage::disk::Disk;

/// The file's name, and its first line.
pub const FILE: &str = "THRIFTSTORE";
const TEXT: &str = "thriftstore data, format 3\n";
/// Of the versions that kept an engine with a log of its own; the first of them had no other.
const EARLIER: [&str; 2] = ["thriftstore data, format 1\n", "thriftstore data, format 2\n"];

/// What else a data directory has, of any format.
const PARTS: [&str; 4] = ["engine", "log", "tables", "MANIFEST"];

/// A data directory that is locked for this process until this is dropped.
pub struct LockedDirectory {
    file: File,
    path: PathBuf,
    /// Its files are of an earlier format.
    pub is_earlier: bool,
}

/// Reads the file of a data directory of the newest format, which another process may have locked.
///
/// # Errors
/// `Mismatch` when the directory is none, or one of another format.
pub fn read_newest(disk: &dyn Disk, directory: &Path) -> Result<Vec<u8>, StoreError> {
    let path = directory.join(FILE);
    let text = disk.read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => StoreError::Mismatch(format!(
            "{} is no data directory: {} is missing; specify the data directory of a server",
            directory.display(),
            path.display()
        )),
        _ => StoreError::io_at(&path)(error),
    })?;
    let first_line = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned();
    if text == TEXT.as_bytes() {
        Ok(text)
    } else if text.is_empty() || EARLIER.iter().any(|earlier| text == earlier.as_bytes()) {
        Err(StoreError::Mismatch(format!(
            "{} contains {first_line:?}, not {:?}; start the server of this version on {} once, which upgrades it",
            path.display(),
            TEXT.trim_end(),
            directory.display()
        )))
    } else {
        Err(StoreError::Mismatch(format!(
            "{} contains {first_line:?}, and this version knows formats up to {:?} only; use the version that wrote it",
            path.display(),
            TEXT.trim_end()
        )))
    }
}

impl LockedDirectory {
    /// Takes a data directory for this process; marks an empty one as ours.
    ///
    /// # Errors
    /// `Mismatch` for a directory of another format, `Corrupt` for one that has lost the file, `Io` when another process
    /// has it.
    pub fn take(directory: &Path) -> Result<LockedDirectory, StoreError> {
        let path = directory.join(FILE);
        let io = StoreError::io_at(&path);
        make_durably(directory).map_err(StoreError::io_at(directory))?;
        let part = PARTS.iter().map(|part| directory.join(part)).find(|part| part.exists());
        if let (Some(part), false) = (&part, path.exists()) {
            return Err(StoreError::Corrupt(format!(
                "{} is missing, but {} is there: put back an undamaged copy of the data directory, or choose another one \
                 if this is not ours",
                path.display(),
                part.display()
            )));
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(&io)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => StoreError::Io(format!(
                "the data directory {} is in use by another process",
                directory.display()
            )),
            TryLockError::Error(error) => io(error),
        })?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(&io)?;
        let is_earlier = EARLIER.iter().any(|earlier| text == earlier.as_bytes());
        let mut locked = LockedDirectory { file, path: path.clone(), is_earlier };
        if text.is_empty() && part.is_none() {
            // Its first start was cut short, or this is it.
            locked.mark()?;
        } else if text != TEXT.as_bytes() && !is_earlier {
            return Err(StoreError::Mismatch(format!(
                "{} says {:?}, this program reads {:?}",
                locked.path.display(),
                String::from_utf8_lossy(&text).lines().next().unwrap_or_default(),
                TEXT.trim_end(),
            )));
        }
        Ok(locked)
    }

    /// Says, durably, that the directory is of the newest format.
    pub fn mark(&mut self) -> Result<(), StoreError> {
        let write = || {
            // In place, one byte of it where there is an earlier text: another file of its name would not be locked.
            self.file.write_all_at(TEXT.as_bytes(), 0)?;
            self.file.sync_all()?;
            File::open(self.path.parent().unwrap_or(&self.path))?.sync_all()
        };
        write().map_err(StoreError::io_at(&self.path))?;
        self.is_earlier = false;
        Ok(())
    }
}

/// Creates a directory and those above it, so that their names survive a power failure.
fn make_durably(directory: &Path) -> io::Result<()> {
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing: Vec<&Path> = directory.ancestors().take_while(is_missing).collect();
    fs::create_dir_all(directory)?;
    for made in missing {
        let above = made.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(above)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_made_with_those_above_them() {
        let above = tempfile::tempdir().unwrap();
        let directory = above.path().join("a/b/c");
        make_durably(&directory).unwrap();
        make_durably(&directory).unwrap();
        assert!(directory.is_dir());
        fs::write(above.path().join("file"), "").unwrap();
        assert!(make_durably(&above.path().join("file/c")).is_err());
    }
}
