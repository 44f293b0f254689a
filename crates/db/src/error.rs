//! Errors, distinguished by what the client can do about them.

use base::util::meter::MeterError;
use store::StoreError;

/// The result of an operation of this crate; another kind of error can be named.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Refuses an invalid request.
pub(crate) fn invalid<T>(why: impl Into<String>) -> Result<T> {
    Err(Error::invalid(why))
}

/// The error of a failed request. Each protocol converts it to its own form.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The request is invalid: it fails however often it is repeated.
    #[error("{0}")]
    InvalidRequest(String),
    /// The request needs a keyspace, column family or index that does not exist, as far as this server knows. Clients
    /// receive it as an invalid request.
    #[error("{0}")]
    Unknown(String),
    /// `get` found nothing.
    #[error("not found")]
    NotFound,
    /// Too few replicas are alive, or none accepts writes: the client can try again later.
    #[error("{why}")]
    Unavailable {
        /// The reason, for the client.
        why: String,
        /// The number of required replicas.
        required: i32,
        /// The number of live replicas.
        alive: i32,
    },
    /// The request was not completed in time; a write may have been applied or not.
    #[error("timed out: {0}")]
    TimedOut(String),
    /// The server is overloaded: the client can try again later, with less at once.
    #[error("overloaded: {0}")]
    Overloaded(String),
    /// The nodes do not agree about the schema yet: the client can try again later.
    #[error("{0}")]
    SchemaDisagreement(String),
    /// The login failed: the user is unknown or the password is wrong.
    #[error("{0}")]
    Authentication(String),
    /// The user has no permission for the request.
    #[error("{0}")]
    Authorization(String),
    /// A failure of this server or of its disk.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    /// Returns the error of a request that no replica can serve.
    pub fn unavailable(why: impl Into<String>) -> Error {
        Error::Unavailable { why: why.into(), required: 1, alive: 0 }
    }

    /// Returns the error of an invalid request.
    pub fn invalid(why: impl Into<String>) -> Error {
        Error::InvalidRequest(why.into())
    }

    /// Returns the error of a request for something that does not exist.
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
