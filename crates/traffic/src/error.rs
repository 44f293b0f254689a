//! The errors of recordings.

use std::path::PathBuf;

/// Why a recording cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts of the errors name their fields")]
pub enum TrafficError {
    /// The system failed to read a file, or there is none.
    #[error("cannot read {}: {why}", file.display())]
    Unreadable { file: PathBuf, why: std::io::Error },
    /// The system failed to write a file.
    #[error("cannot write {}: {why}", file.display())]
    Unwritable { file: PathBuf, why: std::io::Error },
    /// A new recording would replace a file.
    #[error("{} exists already: remove it, or name another file", file.display())]
    Exists { file: PathBuf },
    /// The file is of another kind.
    #[error("{} is not a recording: it does not begin with the mark of one", file.display())]
    NotARecording { file: PathBuf },
    /// The head of a file is damaged, so nothing of it is read.
    #[error("the head of {} is damaged: {why}", file.display())]
    DamagedHead { file: PathBuf, why: String },
    /// A later version has written the file.
    #[error(
        "{} has format {found} of recordings, but this version reads format {known}: use a later version of \
         thriftstore",
        file.display()
    )]
    OtherFormat { file: PathBuf, found: u32, known: u32 },
    /// A block cannot be read. Reading can go on with the next one.
    #[error("{} is damaged at byte {at}: {why}", file.display())]
    Damaged { file: PathBuf, at: u64, why: &'static str },
    /// A line of JSON is not of a call.
    #[error("line {line} of {}: {why}", file.display())]
    Json { file: PathBuf, line: u64, why: String },
    /// The options contradict each other; the text says which.
    #[error("{0}")]
    Options(String),
}
