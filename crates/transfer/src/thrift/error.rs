//! The errors of calls of a Thrift server.

use std::fmt;

/// The exceptions of a cluster whose replicas are down or slow. They have no text.
const UNAVAILABLE: &str = "UnavailableException";
const TIMED_OUT: &str = "TimedOutException";

/// Why a call failed, by what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ThriftCallError {
    /// The server cannot be reached, so the call was not sent.
    Unreachable(String),
    /// The connection was lost, or the answer took too long: the server may have run the call.
    Lost(String),
    /// The method has raised an exception that it declares; `exception` is its name in the interface.
    Refused { method: String, exception: String, why: Option<String> },
    /// The server does not know the call, or one side does not understand the other.
    Failed(String),
}

impl ThriftCallError {
    /// Returns whether there was no answer: the server may be restarting.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, ThriftCallError::Unreachable(_) | ThriftCallError::Lost(_))
    }

    /// Returns whether the same call may succeed later.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            ThriftCallError::Refused { exception, .. } => exception == UNAVAILABLE || exception == TIMED_OUT,
            other => other.is_lost(),
        }
    }
}

impl fmt::Display for ThriftCallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThriftCallError::Unreachable(why) | ThriftCallError::Lost(why) | ThriftCallError::Failed(why) => {
                f.write_str(why)
            }
            ThriftCallError::Refused { method, why: Some(why), .. } => {
                write!(f, "{method} was refused: {why}")
            }
            ThriftCallError::Refused { method, exception, why: None } => match &exception[..] {
                UNAVAILABLE => write!(
                    f,
                    "{method} was refused: {UNAVAILABLE}: fewer replicas are up than the consistency level QUORUM needs"
                ),
                TIMED_OUT => write!(f, "{method} was refused: {TIMED_OUT}: replicas did not answer in time"),
                exception => write!(f, "{method} was refused: {exception} without a text"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(exception: &str, why: Option<&str>) -> ThriftCallError {
        let (exception, why) = (exception.to_owned(), why.map(str::to_owned));
        ThriftCallError::Refused { method: "batch_mutate".to_owned(), exception, why }
    }

    #[test]
    fn exceptions_without_a_text_are_named() {
        for (error, is_temporary, text) in [
            (refused("UnavailableException", None), true, "UnavailableException: fewer replicas are up"),
            (refused("TimedOutException", None), true, "TimedOutException: replicas did not answer"),
            (refused("InvalidRequestException", Some("no")), false, "batch_mutate was refused: no"),
            (refused("NotFoundException", None), false, "refused: NotFoundException without a text"),
        ] {
            assert_eq!(error.is_temporary(), is_temporary, "{error:?}");
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
