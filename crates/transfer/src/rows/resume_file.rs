//! A file that records how far a transfer is, so that another run continues there.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use base::util::{replace_file, sync_name};

/// Longest accepted file: paths of some hundred thousand SSTables.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A record in a file. Without a path it is not stored.
#[derive(Debug)]
pub(crate) struct ResumeFile<R> {
    pub path: Option<PathBuf>,
    pub record: R,
}

impl<R: Serialize + DeserializeOwned> ResumeFile<R> {
    /// Returns the record of a new transfer.
    pub(crate) fn new(path: Option<&Path>, record: R) -> ResumeFile<R> {
        ResumeFile { path: path.map(Path::to_path_buf), record }
    }

    /// Reads the record of earlier runs. `None` if there is no file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or has something else.
    pub(crate) fn read(path: &Path) -> io::Result<Option<R>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut json = Vec::new();
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut json)?;
        if json.len() as u64 > FILE_BYTES_MAX {
            return Err(io::Error::other("it is too large"));
        }
        Ok(Some(serde_json::from_slice(&json)?))
    }

    /// Replaces the file, so that a kill at any time leaves the old or the new one. The rows that it records must be
    /// durable in the target.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(crate) fn write(&self) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        replace_file(path, &serde_json::to_vec_pretty(&self.record)?)?;
        sync_name(path)
    }
}
