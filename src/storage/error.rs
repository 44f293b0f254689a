//! What can go wrong in a store.

use std::io;
use std::path::Path;

use crate::util::meter::MeterError;

/// A failure of the store, by what can be done about it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Writes are refused until an operator has acted or a fault has passed; reads go on.
    #[error("writes are refused: {0}")]
    ReadOnly(String),
    /// Bytes on the disk are not what was written.
    #[error("corrupt data: {0}")]
    Corrupt(String),
    /// The data directory belongs to another schema, partitioner or format.
    #[error("{0}")]
    Mismatch(String),
    /// The disk or the operating system refused.
    #[error("{0}")]
    Io(String),
    /// A cluster behind us has too few replicas up for the consistency level. Nothing was done.
    #[error("{why}")]
    Unavailable { why: String, required: i32, alive: i32 },
    /// A cluster did not answer in time. A write may still happen.
    #[error("{0}")]
    TimedOut(String),
    /// There is more to do than a cluster, or we, can take just now. Nothing was done.
    #[error("{0}")]
    Overloaded(String),
    /// The request can never succeed there.
    #[error("{0}")]
    Invalid(String),
    /// Nodes of a cluster, or gateways before it, do not see the same schema yet.
    #[error("{0}")]
    SchemaDisagreement(String),
}

impl StoreError {
    /// What the operating system has refused at a path.
    pub fn io_at(path: &Path) -> impl Fn(io::Error) -> StoreError {
        move |error| StoreError::Io(format!("{}: {error}", path.display()))
    }

    /// The same for a file that must be there: that it is missing is damage.
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
            MeterError::Crowded { .. } => StoreError::Overloaded(why),
            MeterError::TimedOut { .. } | MeterError::ClientGone => StoreError::TimedOut(why),
        }
    }
}
