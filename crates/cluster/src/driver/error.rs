//! Converts errors of the driver to errors of the store.

use scylla::errors::{
    BadQuery, DbError, ExecutionError, PrepareError, RequestAttemptError, SchemaAgreementError,
};

use store::StoreError;

/// Converts the error of a request.
pub(super) fn of_execution(error: ExecutionError) -> StoreError {
    match error {
        ExecutionError::LastAttemptError(attempt) => of_attempt(attempt),
        ExecutionError::RequestTimeout(limit) => {
            StoreError::TimedOut(format!("the cluster has not answered within {} ms", limit.as_millis()))
        }
        ExecutionError::EmptyPlan | ExecutionError::ConnectionPoolError(_) => no_node(&error),
        ExecutionError::PrepareError(error) => of_prepare(error),
        ExecutionError::BadQuery(BadQuery::TooManyQueriesInBatchStatement(count)) => {
            StoreError::Invalid(format!("{count} changes are too many for one batch: send fewer at a time"))
        }
        ExecutionError::SchemaAgreementError(error) => of_agreement(&error),
        other => StoreError::Io(other.to_string()),
    }
}

/// Converts the error of preparing a statement.
pub(super) fn of_prepare(error: PrepareError) -> StoreError {
    match error {
        PrepareError::AllAttemptsFailed { first_attempt } => of_attempt(first_attempt),
        PrepareError::ConnectionPoolError(_) => no_node(&error),
        other => StoreError::Io(other.to_string()),
    }
}

/// Converts the error of waiting for schema agreement: `TimedOut` if the node that changed the schema was lost.
pub(super) fn of_agreement(error: &SchemaAgreementError) -> StoreError {
    match error {
        SchemaAgreementError::RequestError(_)
        | SchemaAgreementError::RequiredHostAbsent(_)
        | SchemaAgreementError::ConnectionPoolError(_) => {
            StoreError::TimedOut(format!("the node that changed the schema does not answer: {error}"))
        }
        _ => StoreError::SchemaDisagreement(format!(
            "the cluster's nodes do not agree about the schema yet: {error}"
        )),
    }
}

fn no_node(error: &dyn std::error::Error) -> StoreError {
    let why = format!("no node of the cluster can be reached: {error}");
    StoreError::Unavailable { why, required: 1, alive: 0 }
}

/// Converts the error of one attempt on one node.
fn of_attempt(error: RequestAttemptError) -> StoreError {
    let (kind, message) = match error {
        RequestAttemptError::DbError(kind, message) => (kind, message),
        RequestAttemptError::UnableToAllocStreamId => {
            return StoreError::Overloaded("all connections to the cluster are busy".to_owned());
        }
        // The request may have been sent, so it is unknown whether it was executed.
        RequestAttemptError::BrokenConnectionError(error) => {
            return StoreError::TimedOut(format!(
                "the connection to a node of the cluster was lost: {error}"
            ));
        }
        other => return StoreError::Io(other.to_string()),
    };
    match kind {
        DbError::Unavailable { required, alive, .. } => {
            StoreError::Unavailable { why: message, required, alive }
        }
        // Some nodes may have truncated the table, and others may do so later.
        DbError::TruncateError if message.contains("timed out") => StoreError::TimedOut(message),
        DbError::IsBootstrapping | DbError::TruncateError => {
            StoreError::Unavailable { why: message, required: 1, alive: 0 }
        }
        DbError::ReadTimeout { .. } | DbError::WriteTimeout { .. } => StoreError::TimedOut(message),
        // Replicas have failed and were not just slow, but the old API has no other exception for it.
        DbError::ReadFailure { .. } | DbError::WriteFailure { .. } => {
            StoreError::TimedOut(format!("replicas of the cluster have failed: {kind}: {message}"))
        }
        DbError::Overloaded | DbError::RateLimitReached { .. } => StoreError::Overloaded(message),
        DbError::Invalid if message.starts_with("Batch too large") => StoreError::Invalid(format!(
            "{message}: send less in one atomic batch, or raise the cluster's batch_size_fail_threshold"
        )),
        DbError::SyntaxError
        | DbError::Invalid
        | DbError::ConfigError
        | DbError::AlreadyExists { .. }
        | DbError::FunctionFailure { .. } => StoreError::Invalid(message),
        DbError::Unauthorized | DbError::AuthenticationError => {
            StoreError::Invalid(format!("the cluster does not permit this to the gateway's user: {message}"))
        }
        other => StoreError::Io(format!("{other}: {message}")),
    }
}
