//! Errors of an import.

use std::path::PathBuf;

use crate::TransferError;
use sstable::SstableError;

/// Why an import ends before its end.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts of the errors name their fields")]
pub enum ImportError {
    /// A directory cannot be read.
    #[error("cannot read {path}: {why}", path = .path.display())]
    Directory { path: PathBuf, why: String },
    /// A file would belong to two nodes.
    #[error(
        "{path} is in the directories of two nodes, {one} and {other}. Each --from is another node: give all directories of \
         one node after one --from. The directory commitlog beside a data directory belongs to the same node",
        path = .path.display(), one = .one.display(), other = .other.display()
    )]
    TwoNodes { path: PathBuf, one: PathBuf, other: PathBuf },
    /// No SSTable was found, or none of those that were asked for.
    #[error("{0}")]
    Nothing(String),
    /// The rows of a table of counters are in another order than in the others.
    #[error(
        "{path}: its rows are not in the order of {partitioner}, so its counters cannot be merged with those of the other \
         SSTables; set --partitioner", path = .path.display()
    )]
    Order { path: PathBuf, partitioner: String },
    /// The rows are in the order of another partitioner than the one that was named.
    #[error(
        "the rows of {path} are not in the order of {named} ({named_by}), but in that of {other}: set --partitioner {other}",
        path = .path.display()
    )]
    Partitioner { path: PathBuf, named: String, named_by: String, other: String },
    /// A task has panicked, which is a bug.
    #[error("the import has failed: {0}")]
    Thread(String),
    /// It is not known whether a file should be read.
    #[error("{0}; --skip-damaged reports this and goes on")]
    Doubt(String),
    /// A file is damaged.
    #[error("{0}; --skip-damaged reports such damage and goes on")]
    Damaged(SstableError),
    /// A file cannot be read, or its format is not supported.
    #[error(transparent)]
    Table(SstableError),
    /// The target has refused rows or definitions.
    #[error(transparent)]
    Target(#[from] TransferError),
    /// The file of `--progress-file`.
    #[error("the progress file {path}: {why}", path = .path.display())]
    Progress { path: PathBuf, why: String },
    /// A signal stopped the import. The text says how to go on.
    #[error("stopped; {0}")]
    Interrupted(String),
}

impl ImportError {
    /// Returns the message without the advice to skip damage.
    pub fn without_advice(&self) -> String {
        match self {
            ImportError::Damaged(error) => error.to_string(),
            other => other.to_string(),
        }
    }
}

impl From<SstableError> for ImportError {
    fn from(error: SstableError) -> ImportError {
        match error {
            SstableError::Damaged(_) => ImportError::Damaged(error),
            other => ImportError::Table(other),
        }
    }
}
