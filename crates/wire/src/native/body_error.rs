//! Why a body cannot be read.

use base::util::meter::MeterError;

/// Why a body, or a value in it, cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is not as the protocol defines it.
    #[error("{0}")]
    Protocol(String),
    /// The body is longer than allowed.
    #[error("Request is too big: length {length} exceeds maximum allowed length {bytes_max}.")]
    TooLong {
        /// The length of the body, in bytes.
        length: usize,
        /// The longest allowed body, in bytes.
        bytes_max: usize,
    },
    /// The request has no memory for it.
    #[error(transparent)]
    Memory(#[from] MeterError),
}

impl BodyError {
    pub(super) fn protocol(why: impl Into<String>) -> BodyError {
        BodyError::Protocol(why.into())
    }
}
