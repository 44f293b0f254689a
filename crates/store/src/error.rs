//! Errors of a store.

use std::io;
use std::path::Path;

use base::util::meter::MeterError;

/// The result of an operation of this crate; another kind of error can be named.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error of a store, by what can be done about it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Writes are refused until an operator acts or a temporary fault ends. Reads continue.
    #[error("writes are refused: {0}")]
    ReadOnly(String),
    /// Stored data is damaged or missing.
    #[error("corrupt data: {0}")]
    Corrupt(String),
    /// The data directory has another schema, partitioner or format, or a configuration cannot be used.
    #[error("{0}")]
    Mismatch(String),
    /// The disk or the operating system failed.
    #[error("{0}")]
    Io(String),
    /// The cluster has too few live replicas for the consistency level. Nothing was done.
    #[error("{why}")]
    Unavailable {
        /// The message for the log and the client.
        why: String,
        /// Replicas that the consistency level needs.
        required: i32,
        /// Replicas that are up.
        alive: i32,
    },
    /// The cluster did not answer in time. A write may still be applied.
    #[error("{0}")]
    TimedOut(String),
    /// The cluster or this server is overloaded. Nothing was done.
    #[error("{0}")]
    Overloaded(String),
    /// The request can never succeed on this store.
    #[error("{0}")]
    Invalid(String),
    /// The nodes of a cluster, or its gateways, do not have the same schema yet.
    #[error("{0}")]
    SchemaDisagreement(String),
}

impl StoreError {
    /// Returns a function that converts an error of the operating system at a path.
    pub fn io_at(path: &Path) -> impl Fn(io::Error) -> StoreError {
        move |error| StoreError::Io(format!("{}: {error}", path.display()))
    }

    /// Like [`StoreError::io_at`], for a file that must exist: if it is missing, the error is `Corrupt`.
    pub fn needed_at(path: &Path) -> impl Fn(io::Error) -> StoreError {
        move |error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::Corrupt(format!(
                "{} is missing; put back an undamaged copy of the data directory",
                path.display()
            )),
            _ => StoreError::io_at(path)(error),
        }
    }
}

impl From<MeterError> for StoreError {
    fn from(error: MeterError) -> StoreError {
        let why = error.to_string();
        match error {
            MeterError::TooLarge { .. } => StoreError::Invalid(why),
            MeterError::Crowded { .. } | MeterError::OutOfMemory { .. } => StoreError::Overloaded(why),
            MeterError::TimedOut { .. } | MeterError::ClientGone => StoreError::TimedOut(why),
        }
    }
}
