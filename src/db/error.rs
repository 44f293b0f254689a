//! What goes wrong, by what the client can do about it.

use crate::storage::StoreError;
use crate::util::meter::MeterError;

/// A failed request. Each protocol gives it its own shape, at its own edge.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The request can never succeed as it is.
    #[error("{0}")]
    InvalidRequest(String),
    /// It needs a keyspace, column family or index that is not there, as far as this server knows. Clients are told of
    /// an invalid request.
    #[error("{0}")]
    Unknown(String),
    /// `get` found nothing.
    #[error("not found")]
    NotFound,
    /// Too few replicas, or none that accepts writes: try again later.
    #[error("{why}")]
    Unavailable {
        why: String,
        /// How many replicas are needed, and how many there are.
        required: i32,
        alive: i32,
    },
    #[error("timed out: {0}")]
    TimedOut(String),
    /// Too much is asked at once: try again later, and less.
    #[error("overloaded: {0}")]
    Overloaded(String),
    /// Those who keep the schema do not agree about it yet: try again later.
    #[error("{0}")]
    SchemaDisagreement(String),
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
    /// No replica does what is asked.
    pub fn unavailable(why: impl Into<String>) -> Error {
        Error::Unavailable { why: why.into(), required: 1, alive: 0 }
    }

    pub fn invalid(why: impl Into<String>) -> Error {
        Error::InvalidRequest(why.into())
    }

    pub fn unknown(why: impl Into<String>) -> Error {
        Error::Unknown(why.into())
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        match error {
            StoreError::ReadOnly(why) => Error::unavailable(format!("unavailable: {why}")),
            StoreError::Corrupt(why) | StoreError::Io(why) | StoreError::Mismatch(why) => {
                Error::Internal(why)
            }
            StoreError::Unavailable { why, required, alive } => Error::Unavailable { why, required, alive },
            StoreError::TimedOut(why) => Error::TimedOut(why),
            StoreError::Overloaded(why) => Error::Overloaded(why),
            StoreError::Invalid(why) => Error::InvalidRequest(why),
            StoreError::SchemaDisagreement(why) => Error::SchemaDisagreement(why),
        }
    }
}

impl From<MeterError> for Error {
    fn from(error: MeterError) -> Error {
        StoreError::from(error).into()
    }
}
