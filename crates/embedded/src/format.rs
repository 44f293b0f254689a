//! The file `THRIFTSTORE`, which has the format of a data directory, and whose lock keeps other processes out.
//!
//! This file is accessed directly and not through [`Disk`]: a lock belongs to the process and to a real file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::disk::Disk;
use store::{Result, StoreError};

/// The file's name.
pub const FILE: &str = "THRIFTSTORE";
/// The format of data directories that this version reads and writes.
pub const DATA_FORMAT: u8 = 4;
/// The file's contents.
const TEXT: &str = "thriftstore data, format 4\n";
/// The contents in the formats of builds before release 1.0.0, which is the only release that upgrades them.
const BEFORE_1_0: [&str; 3] =
    ["thriftstore data, format 1\n", "thriftstore data, format 2\n", "thriftstore data, format 3\n"];

/// Other files and directories of a data directory.
pub(crate) const PARTS: [&str; 3] = ["log", "tables", "MANIFEST"];

/// A data directory that is locked for this process until this is dropped.
pub(crate) struct LockedDirectory {
    file: File,
    pub directory: PathBuf,
}

/// Reads the file of a data directory, which another process may have locked. It is empty after an interrupted first
/// start.
///
/// # Errors
/// `Mismatch` if it is not a data directory, or has another format.
pub(crate) fn read(disk: &dyn Disk, directory: &Path) -> Result<Vec<u8>> {
    let path = directory.join(FILE);
    let text = disk.read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => StoreError::Mismatch(format!(
            "{} is not a data directory: {} is missing; specify the data directory of a server",
            directory.display(),
            path.display()
        )),
        _ => StoreError::io_at(&path)(error),
    })?;
    if !text.is_empty() {
        check(directory, &text)?;
    }
    Ok(text)
}

/// Fails with `Mismatch` if the file has another format.
fn check(directory: &Path, text: &[u8]) -> Result<()> {
    if text == TEXT.as_bytes() {
        return Ok(());
    }
    let remedy = if BEFORE_1_0.iter().any(|earlier| text == earlier.as_bytes()) {
        "start version 1.0.0 on the directory, which upgrades it, and then this version"
    } else {
        "use the version that wrote it"
    };
    Err(StoreError::Mismatch(format!(
        "{} contains {:?}, but this version reads {:?}; {remedy}",
        directory.join(FILE).display(),
        String::from_utf8_lossy(text).lines().next().unwrap_or_default(),
        TEXT.trim_end()
    )))
}

/// Returns whether a process has locked a data directory.
pub(crate) fn is_locked(directory: &Path) -> bool {
    let Ok(file) = File::open(directory.join(FILE)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

impl LockedDirectory {
    /// Locks a data directory for this process. Creates the file in an empty directory.
    ///
    /// # Errors
    /// `Mismatch` if it has another format, `Corrupt` if the file is missing in a directory with data, `Io` if another
    /// process has locked it.
    pub(crate) fn take(directory: &Path) -> Result<LockedDirectory> {
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
        let locked = LockedDirectory { file, directory: directory.to_owned() };
        if text.is_empty() && part.is_none() {
            // This is the first start, or the first start was interrupted.
            locked.mark().map_err(&io)?;
            tracing::info!("new data directory {}", std::path::absolute(directory).map_err(&io)?.display());
        } else {
            check(directory, &text)?;
        }
        Ok(locked)
    }

    /// Writes the format durably.
    fn mark(&self) -> io::Result<()> {
        // Written in place, since a new file of that name would not be locked.
        self.file.write_all_at(TEXT.as_bytes(), 0)?;
        self.file.sync_all()?;
        File::open(&self.directory)?.sync_all()
    }
}

/// Creates a directory and its missing parents so that they survive a power failure.
fn make_durably(directory: &Path) -> io::Result<()> {
    let missing: Vec<&Path> =
        directory.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
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
    use crate::disk::RealDisk;

    #[test]
    fn a_directory_from_before_the_first_release_is_refused_and_the_error_names_the_release_that_upgrades_it()
    {
        let directory = tempfile::tempdir().unwrap();
        for text in BEFORE_1_0 {
            fs::write(directory.path().join(FILE), text).unwrap();
            let opened = LockedDirectory::take(directory.path()).map(drop).unwrap_err().to_string();
            assert_eq!(opened, read(&RealDisk, directory.path()).unwrap_err().to_string());
            assert!(opened.contains(text.trim_end()) && opened.contains("start version 1.0.0"), "{opened}");
            assert_eq!(fs::read_to_string(directory.path().join(FILE)).unwrap(), text);
        }
        assert_eq!(TEXT, format!("thriftstore data, format {DATA_FORMAT}\n"));
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
