//! Which requests are sent again, to another node, when one has failed.
//!
//! What comes to the same when it is done twice is, where another node may do better. What does not, an addition to a
//! counter for one, is sent again only if the first node cannot have begun with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use scylla::errors::{DbError, RequestAttemptError};
use scylla::policies::retry::{DefaultRetrySession, RequestInfo, RetryDecision, RetryPolicy, RetrySession};

use crate::storage::StoreError;

/// What sends requests again. One of its own for each write also tells afterwards whether that may have been done.
#[derive(Debug, Clone, Default)]
pub struct Retries {
    may_be_done: Arc<AtomicBool>,
}

impl Retries {
    /// The error of a write. The driver tells the last node's, and that a node has refused a write means nothing where
    /// one before may have done it.
    pub fn told(&self, error: StoreError) -> StoreError {
        if !self.may_be_done.load(Ordering::Relaxed) {
            return error;
        }
        match error {
            StoreError::Unavailable { why, .. } | StoreError::Overloaded(why) => {
                StoreError::TimedOut(format!(
                    "a node of the cluster was lost that may have done the write, and no other could: {why}"
                ))
            }
            other => other,
        }
    }
}

impl RetryPolicy for Retries {
    fn new_session(&self) -> Box<dyn RetrySession> {
        Box::new(Attempts { usual: DefaultRetrySession::new(), may_be_done: self.may_be_done.clone() })
    }
}

/// The attempts of one request.
struct Attempts {
    usual: DefaultRetrySession,
    may_be_done: Arc<AtomicBool>,
}

impl RetrySession for Attempts {
    fn decide_should_retry(&mut self, request: RequestInfo) -> RetryDecision {
        if is_not_begun(request.error) {
            return RetryDecision::RetryNextTarget(None);
        }
        if !request.is_idempotent {
            return RetryDecision::DontRetry;
        }
        let is_refused =
            matches!(request.error, RequestAttemptError::DbError(DbError::Unavailable { .. }, _));
        if !is_refused {
            self.may_be_done.store(true, Ordering::Relaxed);
        }
        self.usual.decide_should_retry(request)
    }

    fn reset(&mut self) {
        self.usual.reset();
    }
}

/// Whether a node has not even begun with a request, and another may do it.
fn is_not_begun(error: &RequestAttemptError) -> bool {
    match error {
        RequestAttemptError::UnableToAllocStreamId => true,
        RequestAttemptError::DbError(DbError::IsBootstrapping, _) => true,
        RequestAttemptError::DbError(DbError::Invalid, why) => is_behind(why),
        _ => false,
    }
}

/// Whether a node says that it does not know a table: it may have been away when that was made. Cassandra 4 and 5 have
/// one form of words for it, ScyllaDB and Cassandra 3 have others.
fn is_behind(why: &str) -> bool {
    why.contains("does not exist") || why.contains("unconfigured table") || why.contains("Can't find a")
}

#[cfg(test)]
mod tests {
    use scylla::client::execution_profile::ExecutionProfile;

    use super::*;

    #[test]
    fn a_node_that_was_away_is_told_by_what_it_does_not_know() {
        for why in ["table Cf does not exist", "keyspace Ks does not exist", "unconfigured table Cf"] {
            let error = RequestAttemptError::DbError(DbError::Invalid, why.to_owned());
            assert!(is_not_begun(&error), "{why}");
        }
        for error in [
            RequestAttemptError::DbError(DbError::Invalid, "Key may not be empty".to_owned()),
            RequestAttemptError::DbError(DbError::Overloaded, String::new()),
            RequestAttemptError::DbError(DbError::ServerError, "table Cf does not exist".to_owned()),
        ] {
            assert!(!is_not_begun(&error), "{error}");
        }
    }

    #[test]
    fn a_write_that_may_have_been_done_is_not_told_as_refused() {
        let retries = Retries::default();
        let unavailable = || StoreError::Unavailable { why: "why".to_owned(), required: 2, alive: 1 };
        assert!(matches!(retries.told(unavailable()), StoreError::Unavailable { .. }));
        retries.may_be_done.store(true, Ordering::Relaxed);
        assert!(matches!(retries.told(unavailable()), StoreError::TimedOut(_)));
        assert!(matches!(retries.told(StoreError::Overloaded(String::new())), StoreError::TimedOut(_)));
        assert!(matches!(retries.told(StoreError::Invalid(String::new())), StoreError::Invalid(_)));
        // The driver takes it.
        let _ = ExecutionProfile::builder().retry_policy(Arc::new(retries)).build();
    }
}
