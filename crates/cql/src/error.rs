//! The errors of statements, grouped by what the client can do about them.

use base::util::meter::MeterError;
use cql_syntax::{Place, SyntaxError};

/// The result of an operation of this crate; another kind of error can be named.
pub type Result<T, E = CqlError> = std::result::Result<T, E>;

/// The error of a failed statement. Each protocol converts it at its own boundary.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CqlError {
    /// The text is not valid CQL. The message begins with `line L:C`.
    #[error("{message}")]
    Syntax {
        /// The text for the client.
        message: String,
        /// The place in the statement at which it begins to be invalid.
        place: Place,
    },
    /// A keyspace or table was defined with invalid settings.
    #[error("{0}")]
    Configuration(String),
    /// The keyspace or table already exists.
    #[error("{message}")]
    AlreadyExists {
        /// The text for the client.
        message: String,
        /// The keyspace that exists, or that has the table.
        keyspace: String,
        /// The table; empty for a keyspace, as in the body of the native protocol's error.
        table: String,
    },
    /// The user lacks a permission.
    #[error("{0}")]
    Unauthorized(String),
    /// A prepared statement is not known here, or no longer known.
    #[error("{0}")]
    Unprepared(String),
    /// The paging state belongs to another statement, or is invalid.
    #[error("Invalid value for the paging state")]
    PagingState,
    /// All other invalid statements are `db::Error::InvalidRequest`; errors of the data or the disk are its other
    /// kinds.
    #[error(transparent)]
    Failed(#[from] db::Error),
}

impl CqlError {
    /// Returns the error of a readable statement that cannot be executed: `db::Error::InvalidRequest`.
    pub fn invalid(why: impl Into<String>) -> CqlError {
        CqlError::Failed(db::Error::invalid(why))
    }
}

/// Refuses a statement.
///
/// # Errors
/// Always: `InvalidRequest` with this message.
pub(crate) fn invalid<T>(why: impl Into<String>) -> Result<T> {
    Err(CqlError::invalid(why))
}

impl From<MeterError> for CqlError {
    fn from(error: MeterError) -> CqlError {
        CqlError::Failed(error.into())
    }
}

impl From<SyntaxError> for CqlError {
    fn from(error: SyntaxError) -> CqlError {
        match error {
            SyntaxError::Syntax { message, place } => CqlError::Syntax { message, place },
            SyntaxError::Invalid(why) => CqlError::invalid(why),
            SyntaxError::Meter(error) => error.into(),
        }
    }
}
