//! The errors of recordings.

use std::path::PathBuf;

/// Why a recording cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    #[error("cannot read {}: {why}", file.display())]
    Unreadable { file: PathBuf, why: std::io::Error },
    #[error("cannot write {}: {why}", file.display())]
    Unwritable { file: PathBuf, why: std::io::Error },
    #[error("{} exists already: remove it, or name another file", file.display())]
    Exists { file: PathBuf },
    #[error("{} is not a recording: it does not begin with the mark of one", file.display())]
    NotARecording { file: PathBuf },
    #[error("the head of {} is damaged: {why}", file.display())]
    DamagedHead { file: PathBuf, why: String },
    #[error(
        "{} has format {found} of recordings, but this version reads format {known}: use a later version of \
         thriftstore",
        file.display()
    )]
    OtherFormat { file: PathBuf, found: u32, known: u32 },
    /// A block cannot be read. Reading can go on with the next one.
    #[error("{} is damaged at byte {at}: {why}", file.display())]
    Damaged { file: PathBuf, at: u64, why: &'static str },
    #[error("line {line} of {}: {why}", file.display())]
    Json { file: PathBuf, line: u64, why: String },
    #[error("{0}")]
    Options(String),
}
