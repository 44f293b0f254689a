//! What goes wrong, by what the client can do about it.

use crate::storage::StoreError;

/// A failed request. Each protocol gives it its own shape, at its own edge.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The request can never succeed as it is.
    #[error("{0}")]
    InvalidRequest(String),
    /// `get` found nothing.
    #[error("not found")]
    NotFound,
    /// Too few replicas, or none that accepts writes: try again later.
    #[error("unavailable: {0}")]
    Unavailable(String),
    #[error("timed out: {0}")]
    TimedOut(String),
    /// The user is not who they say.
    #[error("{0}")]
    Authentication(String),
    /// The user may not.
    #[error("{0}")]
    Authorization(String),
    /// Our own fault, or the disk's.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    pub fn invalid(why: impl Into<String>) -> Error {
        Error::InvalidRequest(why.into())
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        match error {
            StoreError::ReadOnly(why) => Error::Unavailable(why),
            StoreError::Corrupt(why) | StoreError::Io(why) | StoreError::Mismatch(why) => {
                Error::Internal(why)
            }
        }
    }
}
