//! The counts of a database for its metrics.

use super::Error;
use base::util::metrics::{Counter, RequestMetrics, RequestOutcome};

/// The counts of a database since its start.
#[derive(Debug, Default)]
pub struct DatabaseMetrics {
    /// The requests of all protocols.
    pub requests: RequestMetrics,
    /// Logins with the right password, if logins are required.
    pub logins_ok: Counter,
    /// Logins that were refused.
    pub logins_failed: Counter,
}

impl From<&Error> for RequestOutcome {
    fn from(error: &Error) -> RequestOutcome {
        match error {
            Error::InvalidRequest(_) | Error::Unknown(_) => RequestOutcome::Invalid,
            Error::NotFound => RequestOutcome::NotFound,
            Error::Unavailable { .. } | Error::SchemaDisagreement(_) => RequestOutcome::Unavailable,
            Error::TimedOut(_) => RequestOutcome::TimedOut,
            Error::Overloaded(_) => RequestOutcome::Overloaded,
            Error::Authentication(_) | Error::Authorization(_) => RequestOutcome::Unauthorized,
            Error::Internal(_) => RequestOutcome::Internal,
        }
    }
}
