//! The errors of a copy.

use crate::endpoint::Endpoint;

/// Why a copy failed, by what the user can do about it.
#[derive(Debug, Clone, thiserror::Error)]
#[expect(missing_docs, reason = "the texts of the errors name their fields")]
pub enum TransferError {
    /// An endpoint cannot be reached, or refuses a request. Data that has been copied stays.
    #[error("{endpoint}: {why}")]
    Endpoint { endpoint: String, why: String },
    /// The definitions of the endpoints are incompatible.
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

impl TransferError {
    /// Returns the error of an endpoint.
    pub fn of(endpoint: &Endpoint, why: impl std::fmt::Display) -> TransferError {
        TransferError::named(&endpoint.name, why)
    }

    /// Returns the error of an endpoint with this name.
    pub fn named(endpoint: &str, why: impl std::fmt::Display) -> TransferError {
        TransferError::Endpoint { endpoint: endpoint.to_owned(), why: why.to_string() }
    }
}
