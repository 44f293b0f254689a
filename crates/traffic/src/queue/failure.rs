//! The errors of a queue.

use std::io;
use std::path::{Path, PathBuf};

/// Why a queue cannot be opened or used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts of the errors name their fields")]
pub enum QueueError {
    /// The system failed to read or write a file.
    #[error("the queue of writes: {}: {why}", file.display())]
    Io { file: PathBuf, why: io::Error },
    /// Another process uses the directory.
    #[error("the queue of writes in {} is in use by another process", directory.display())]
    InUse { directory: PathBuf },
    /// A later version has written the file.
    #[error("{} has format {found} of queues, but this version reads format {known}", file.display())]
    OtherFormat { file: PathBuf, found: u32, known: u32 },
    /// A file is damaged, so writes may be missing.
    #[error(
        "{} is damaged at byte {at}: {why}. Writes are lost: remove the directory of the queue, and copy everything again",
        file.display()
    )]
    Damaged { file: PathBuf, at: u64, why: &'static str },
}

impl QueueError {
    pub(super) fn io(file: &Path, why: io::Error) -> QueueError {
        QueueError::Io { file: file.to_owned(), why }
    }

    pub(super) fn damaged(file: &Path, at: u64, why: &'static str) -> QueueError {
        QueueError::Damaged { file: file.to_owned(), at, why }
    }
}
