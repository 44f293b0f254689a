//! The errors of texts that are not statements of CQL.

use base::util::meter::MeterError;

/// A position in a statement's text, as the old servers count: the line from 1, the column from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 0, in UTF-16 units.
    pub column: usize,
}

/// The result of an operation of this crate; another kind of error can be named.
pub type Result<T, E = SyntaxError> = std::result::Result<T, E>;

/// Refuses a statement for another reason than its syntax.
pub(crate) fn invalid<T>(why: impl Into<String>) -> Result<T> {
    Err(SyntaxError::invalid(why))
}

/// The error of a text that is not a statement.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SyntaxError {
    /// The text is not valid CQL. The message begins with `line L:C`.
    #[error("{message}")]
    Syntax {
        /// In the words of the old servers.
        message: String,
        /// Where the text is wrong.
        place: Place,
    },
    /// The text is valid CQL with something that no server accepts.
    #[error("{0}")]
    Invalid(String),
    /// The request has no memory or time left.
    #[error(transparent)]
    Meter(#[from] MeterError),
}

impl SyntaxError {
    /// Returns the error with a message.
    pub(crate) fn invalid(why: impl Into<String>) -> SyntaxError {
        SyntaxError::Invalid(why.into())
    }
}
