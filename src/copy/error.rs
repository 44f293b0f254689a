//! Why a copy ends before its end.

use super::Side;

/// A copy that did not come to its end, by what can be done about it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CopyError {
    /// A side cannot be reached, or refuses. What is copied stays copied.
    #[error("{side}: {why}")]
    Side { side: String, why: String },
    /// The sides' definitions do not go together.
    #[error("{0}")]
    Schema(String),
    /// The progress file cannot be used.
    #[error("{0}")]
    ProgressFile(String),
    /// Somebody has stopped it.
    #[error("stopped: {0}")]
    Interrupted(String),
    /// The sides are not the same.
    #[error("the sides differ: {0} differences")]
    Different(u64),
}

impl CopyError {
    /// A side has failed.
    pub fn of(side: &Side, why: impl std::fmt::Display) -> CopyError {
        CopyError::Side { side: side.name.clone(), why: why.to_string() }
    }
}
