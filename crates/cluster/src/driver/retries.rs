//! Decides which failed requests are sent again, to another node.
//!
//! An idempotent request is sent again if another node may succeed. A request that is not idempotent, such as an
//! addition to a counter, is sent again only if the first node cannot have begun to execute it. A node that sees too few
//! live replicas refuses a write before it begins; only a conditional statement may be refused for this reason later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use scylla::errors::{DbError, RequestAttemptError};
use scylla::policies::retry::{DefaultRetrySession, RequestInfo, RetryDecision, RetryPolicy, RetrySession};

use store::StoreError;

/// The retry policy. Each write has a policy of its own, which records whether the write may have been applied.
#[derive(Debug, Clone, Default)]
pub(super) struct Retries {
    may_be_applied: Arc<AtomicBool>,
    /// Whether a node that sees too few live replicas refuses the request before it begins to execute it.
    is_refused_first: bool,
}

impl Retries {
    /// Returns the policy of a write without conditions to one partition, or of a logged batch. (An unlogged batch of several
    /// partitions may have written the first ones when it is refused.)
    pub(super) fn of_write() -> Retries {
        Retries { is_refused_first: true, ..Retries::default() }
    }

    /// Returns the error of a write.
    ///
    /// The driver returns the error of the last node. If that node refused the write but an earlier one may have
    /// applied it, the error is `TimedOut`.
    pub(super) fn error_of_write(&self, error: StoreError) -> StoreError {
        if !self.may_be_applied.load(Ordering::Relaxed) {
            return error;
        }
        match error {
            StoreError::Unavailable { why, .. } | StoreError::Overloaded(why) => {
                StoreError::TimedOut(format!(
                    "the write may have been applied by a node of the cluster that was lost, and no other node applied it: {why}"
                ))
            }
            other => other,
        }
    }
}

impl RetryPolicy for Retries {
    fn new_session(&self) -> Box<dyn RetrySession> {
        Box::new(RetriedAttempts { usual: DefaultRetrySession::new(), retries: self.clone() })
    }
}

/// The attempts of one request.
struct RetriedAttempts {
    usual: DefaultRetrySession,
    retries: Retries,
}

impl RetrySession for RetriedAttempts {
    fn decide_should_retry(&mut self, request: RequestInfo) -> RetryDecision {
        if is_not_begun(request.error) {
            return RetryDecision::RetryNextTarget(None);
        }
        let is_refused =
            matches!(request.error, RequestAttemptError::DbError(DbError::Unavailable { .. }, _));
        let may_repeat = request.is_idempotent || is_refused && self.retries.is_refused_first;
        if !may_repeat {
            return RetryDecision::DontRetry;
        }
        if !is_refused {
            self.retries.may_be_applied.store(true, Ordering::Relaxed);
        }
        self.usual.decide_should_retry(request)
    }

    fn reset(&mut self) {
        self.usual.reset();
    }
}

/// Returns whether a node has not begun to execute a request, so that another may.
fn is_not_begun(error: &RequestAttemptError) -> bool {
    match error {
        RequestAttemptError::UnableToAllocStreamId => true,
        RequestAttemptError::DbError(DbError::IsBootstrapping, _) => true,
        RequestAttemptError::DbError(DbError::Invalid, why) => is_behind(why),
        _ => false,
    }
}

/// Returns whether a node reports that it does not know a table: it may have been down when the table was created.
/// Cassandra 4 and 5, Cassandra 3, and ScyllaDB have different texts for this.
fn is_behind(why: &str) -> bool {
    why.contains("does not exist") || why.contains("unconfigured table") || why.contains("Can't find a")
}

#[cfg(test)]
mod tests {
    use scylla::client::execution_profile::ExecutionProfile;

    use super::*;

    #[test]
    fn an_unknown_table_means_that_the_node_was_down() {
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
    fn a_write_that_may_have_been_applied_is_reported_as_timed_out() {
        let retries = Retries::default();
        let unavailable = || StoreError::Unavailable { why: "why".to_owned(), required: 2, alive: 1 };
        assert!(matches!(retries.error_of_write(unavailable()), StoreError::Unavailable { .. }));
        retries.may_be_applied.store(true, Ordering::Relaxed);
        assert!(matches!(retries.error_of_write(unavailable()), StoreError::TimedOut(_)));
        assert!(matches!(
            retries.error_of_write(StoreError::Overloaded(String::new())),
            StoreError::TimedOut(_)
        ));
        assert!(matches!(retries.error_of_write(StoreError::Invalid(String::new())), StoreError::Invalid(_)));
        // The driver accepts it as a policy.
        let _ = ExecutionProfile::builder().retry_policy(Arc::new(retries)).build();
    }
}
