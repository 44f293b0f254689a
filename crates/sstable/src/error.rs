//! Errors of files of old servers.

use base::util::hex;
use std::fmt;
use std::path::{Path, PathBuf};

use bytes::Bytes;

/// Why a file cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SstableError {
    /// The disk or the operating system failed, or the file is missing.
    #[error("{path}: {why}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        why: String,
    },
    /// The content of a file contradicts its format or its checksum.
    #[error("{0}")]
    Damaged(Damage),
    /// The file is of a release that cannot be read, or is named like no file of a release.
    #[error("{path}: {why}", path = .path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The message: what is not supported, and what to do.
        why: String,
    },
}

/// A damaged place of a file, or a missing file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// The offset in the file, or in its decompressed content. `None` if the file is missing.
    pub offset: Option<u64>,
    /// The key of the row at this place, if it is known.
    pub key: Option<Bytes>,
    /// The description of the damage.
    pub why: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{} is damaged at byte {offset}", self.path.display())?,
            None => write!(f, "{} is missing", self.path.display())?,
        }
        if let Some(key) = &self.key {
            write!(f, ", in the row with the key 0x{}", hex(key))?;
        }
        write!(f, ": {}", self.why)
    }
}

impl SstableError {
    /// Returns the error of a damaged place.
    pub(super) fn damaged(path: &Path, offset: u64, why: impl Into<String>) -> SstableError {
        let (path, offset) = (path.to_owned(), Some(offset));
        SstableError::Damaged(Damage { path, offset, key: None, why: why.into() })
    }

    /// Returns the error of a file that is missing. `why` is what cannot be done without it.
    pub(super) fn missing(path: &Path, why: impl Into<String>) -> SstableError {
        SstableError::Damaged(Damage { path: path.to_owned(), offset: None, key: None, why: why.into() })
    }

    /// Returns a function that converts an error of the operating system.
    pub(super) fn io_at(path: &Path) -> impl Fn(std::io::Error) -> SstableError {
        move |error| SstableError::Io { path: path.to_owned(), why: error.to_string() }
    }

    /// Returns the error of a file that is not supported.
    pub(super) fn unsupported(path: &Path, why: impl Into<String>) -> SstableError {
        SstableError::Unsupported { path: path.to_owned(), why: why.into() }
    }

    /// Adds the key of the row to a damage that has none.
    #[must_use]
    pub(super) fn in_row(self, row_key: &Bytes) -> SstableError {
        match self {
            SstableError::Damaged(Damage { path, offset, key: None, why }) => {
                SstableError::Damaged(Damage { path, offset, key: Some(row_key.clone()), why })
            }
            other => other,
        }
    }
}
