//! The errors of a copy.

use super::Side;

/// Why a copy failed, by what the user can do about it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CopyError {
    /// A side cannot be reached, or refuses a request. Data that has been copied stays.
    #[error("{side}: {why}")]
    Side { side: String, why: String },
    /// The definitions of the sides are incompatible.
    #[error("{0}")]
    Schema(String),
    /// The progress file cannot be used.
    #[error("{0}")]
    ProgressFile(String),
    /// A signal stopped the copy.
    #[error("stopped: {0}")]
    Interrupted(String),
    /// The comparison has found differences.
    #[error("the sides differ: {0} differences")]
    Different(u64),
}

impl CopyError {
    /// Returns the error of a side.
    pub fn of(side: &Side, why: impl std::fmt::Display) -> CopyError {
        CopyError::Side { side: side.name.clone(), why: why.to_string() }
    }
}
