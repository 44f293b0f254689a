//! The file `THRIFTSTORE`, which has the format of a data directory, and whose lock keeps other processes out.
//!
//! This file is accessed directly and not through [`Disk`]: a lock belongs to the process and to a real file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::storage::StoreError;
use crate::storage::disk::Disk;

/// The file's name.
pub const FILE: &str = "THRIFTSTORE";
/// The newest format, which this version writes.
pub const NEWEST: u8 = 4;
/// The file's contents in the newest format.
const TEXT: &str = "thriftstore data, format 4\n";
/// The contents in earlier formats. Formats 1 and 2 have a storage engine with a log of its own; format 1 has no other
/// log. Up to format 3 an empty component under a `ReversedType` sorts first.
const EARLIER: [&str; 3] =
    ["thriftstore data, format 1\n", "thriftstore data, format 2\n", "thriftstore data, format 3\n"];

/// The first format with a `MANIFEST`.
pub const MANIFEST_SINCE: u8 = 3;

/// Other files and directories of a data directory, in any format.
const PARTS: [&str; 4] = ["engine", "log", "tables", "MANIFEST"];

/// A data directory that is locked for this process until this is dropped.
pub struct LockedDirectory {
    file: File,
    path: PathBuf,
    /// The format of its files, if that is an earlier one.
    pub earlier: Option<u8>,
}

/// The contents of the file of a data directory.
pub struct Marked {
    pub format: u8,
    pub text: Vec<u8>,
}

/// Reads the file of a data directory, which another process may have locked. An empty file, which an interrupted first
/// start leaves, counts as the newest format.
///
/// # Errors
/// `Mismatch` if it is not a data directory, or has the format of a later version.
pub fn read(disk: &dyn Disk, directory: &Path) -> Result<Marked, StoreError> {
    let path = directory.join(FILE);
    let text = disk.read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => StoreError::Mismatch(format!(
            "{} is not a data directory: {} is missing; specify the data directory of a server",
            directory.display(),
            path.display()
        )),
        _ => StoreError::io_at(&path)(error),
    })?;
    let earlier = (1..).zip(EARLIER).find(|(_, earlier)| text == earlier.as_bytes());
    match earlier {
        Some((format, _)) => Ok(Marked { format, text }),
        None if text.is_empty() || text == TEXT.as_bytes() => Ok(Marked { format: NEWEST, text }),
        None => Err(StoreError::Mismatch(format!(
            "{} contains {:?}, and this version knows formats up to {:?} only; use the version that wrote it",
            path.display(),
            first_line(&text),
            TEXT.trim_end()
        ))),
    }
}

/// Reads the file of a data directory of the newest format, which another process may have locked.
///
/// # Errors
/// `Mismatch` if it is not a data directory, or has another format.
pub fn read_newest(disk: &dyn Disk, directory: &Path) -> Result<Vec<u8>, StoreError> {
    let Marked { text, .. } = read(disk, directory)?;
    if text == TEXT.as_bytes() {
        return Ok(text);
    }
    Err(StoreError::Mismatch(format!(
        "{} contains {:?}, not {:?}; start the server of this version on {} once, which upgrades it",
        directory.join(FILE).display(),
        first_line(&text),
        TEXT.trim_end(),
        directory.display()
    )))
}

/// Returns whether a process has locked a data directory.
pub fn is_locked(directory: &Path) -> bool {
    let Ok(file) = File::open(directory.join(FILE)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn first_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().next().unwrap_or_default().to_owned()
}

impl LockedDirectory {
    /// Locks a data directory for this process. Creates the file in an empty directory.
    ///
    /// # Errors
    /// `Mismatch` if the format is unknown, `Corrupt` if the file is missing in a directory with data, `Io` if another
    /// process has locked it.
    pub fn take(directory: &Path) -> Result<LockedDirectory, StoreError> {
        let path = directory.join(FILE);
        let io = StoreError::io_at(&path);
        make_durably(directory).map_err(StoreError::io_at(directory))?;
        let part = PARTS.iter().map(|part| directory.join(part)).find(|part| part.exists());
        if let (Some(part), false) = (&part, path.exists()) {
            return Err(StoreError::Corrupt(format!(
                "{} is missing, but {} exists: put back an undamaged copy of the data directory, or choose another one \
                 if this is not thriftstore's",
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
        let earlier = (1..).zip(EARLIER).find(|(_, earlier)| text == earlier.as_bytes());
        let mut locked =
            LockedDirectory { file, path: path.clone(), earlier: earlier.map(|(format, _)| format) };
        if text.is_empty() && part.is_none() {
            // This is the first start, or the first start was interrupted.
            locked.mark()?;
        } else if text != TEXT.as_bytes() && locked.earlier.is_none() {
            return Err(StoreError::Mismatch(format!(
                "{} contains {:?}, but this version reads {:?}; use the version that wrote it",
                locked.path.display(),
                first_line(&text),
                TEXT.trim_end(),
            )));
        }
        Ok(locked)
    }

    /// Records durably that the directory has the newest format.
    pub fn mark(&mut self) -> Result<(), StoreError> {
        let write = || {
            // Written in place, since a new file of that name would not be locked. Only one byte differs from an
            // earlier format.
            self.file.write_all_at(TEXT.as_bytes(), 0)?;
            self.file.sync_all()?;
            File::open(self.path.parent().unwrap_or(&self.path))?.sync_all()
        };
        write().map_err(StoreError::io_at(&self.path))?;
        self.earlier = None;
        Ok(())
    }
}

/// Creates a directory and its missing parents so that they survive a power failure.
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
    fn the_newest_format_is_numbered_after_the_earlier_ones() {
        assert_eq!(usize::from(NEWEST), EARLIER.len() + 1);
        assert_eq!(TEXT, format!("thriftstore data, format {NEWEST}\n"));
    }

    #[test]
    fn missing_parent_directories_are_created() {
        let above = tempfile::tempdir().unwrap();
        let directory = above.path().join("a/b/c");
        make_durably(&directory).unwrap();
        make_durably(&directory).unwrap();
        assert!(directory.is_dir());
        fs::write(above.path().join("file"), "").unwrap();
        assert!(make_durably(&above.path().join("file/c")).is_err());
    }
}
