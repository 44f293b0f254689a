//! What goes wrong with a statement, by what the client can do about it.

use crate::db;
use crate::util::meter::MeterError;

/// A place in a statement's text: the line from 1, the column from 0, as the old servers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

/// A statement that failed. Each protocol gives it its own shape, at its own edge.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CqlError {
    /// The text is no statement. The message begins with `line L:C`.
    #[error("{message}")]
    Syntax { message: String, place: Place },
    /// A keyspace or table would be made with settings that cannot be.
    #[error("{0}")]
    Configuration(String),
    /// It is there already. The table's name is empty where it is a keyspace.
    #[error("{message}")]
    AlreadyExists { message: String, keyspace: String, table: String },
    /// The user may not.
    #[error("{0}")]
    Unauthorized(String),
    /// A prepared statement that is not known here (any more).
    #[error("{0}")]
    Unprepared(String),
    /// A client wants the next page of something else.
    #[error("Invalid value for the paging state")]
    PagingState,
    /// Everything else that is wrong with a statement is `db::Error::InvalidRequest`; what is wrong with the data or
    /// the disk, its other kinds.
    #[error(transparent)]
    Failed(#[from] db::Error),
}

impl CqlError {
    pub fn invalid(why: impl Into<String>) -> CqlError {
        CqlError::Failed(db::Error::invalid(why))
    }
}

impl From<MeterError> for CqlError {
    fn from(error: MeterError) -> CqlError {
        CqlError::Failed(error.into())
    }
}
