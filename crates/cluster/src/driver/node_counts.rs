//! Counts what each node answers to this gateway, and the attempts at each consistency level. A request that fails at one
//! node and is sent to another is two attempts.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use parking_lot::Mutex;
use scylla::errors::{DbError, RequestAttemptError};
use scylla::statement::Consistency;
use uuid::Uuid;

use store::NodeCounts;

/// The share of a new latency in the recent one is one part of this.
const RECENT: i64 = 16;

/// Counts the attempts since the gateway's start.
#[derive(Debug, Default)]
pub(super) struct AttemptCounts {
    counts: Mutex<SinceStart>,
}

#[derive(Debug, Default)]
struct SinceStart {
    nodes: HashMap<Uuid, NodeCounts>,
    levels: BTreeMap<&'static str, u64>,
}

impl AttemptCounts {
    /// Counts an answer without an error.
    pub(super) fn add_answer(&self, node: Uuid, consistency: Consistency, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.add(node, consistency, |counts| {
            if counts.answers == 0 {
                counts.recent_micros = micros;
            }
            let change = (micros as i64).saturating_sub(counts.recent_micros as i64) / RECENT;
            counts.recent_micros = counts.recent_micros.saturating_add_signed(change);
            counts.answers += 1;
            counts.micros = counts.micros.saturating_add(micros);
        });
    }

    /// Counts an error of a node, or of the connection to it.
    pub(super) fn add_error(&self, node: Uuid, consistency: Consistency, error: &RequestAttemptError) {
        self.add(node, consistency, |counts| *counts.errors.entry(kind(error)).or_default() += 1);
    }

    fn add(&self, node: Uuid, consistency: Consistency, change: impl FnOnce(&mut NodeCounts)) {
        let mut counts = self.counts.lock();
        *counts.levels.entry(level_name(consistency)).or_default() += 1;
        change(counts.nodes.entry(node).or_default());
    }

    /// Returns the counts of a node.
    pub(super) fn of(&self, node: Uuid) -> NodeCounts {
        self.counts.lock().nodes.get(&node).cloned().unwrap_or_default()
    }

    /// Returns the attempts at each consistency level that was used.
    pub(super) fn levels(&self) -> BTreeMap<&'static str, u64> {
        self.counts.lock().levels.clone()
    }
}

/// Returns Cassandra's name of a consistency level.
fn level_name(consistency: Consistency) -> &'static str {
    match consistency {
        Consistency::Any => "ANY",
        Consistency::One => "ONE",
        Consistency::Two => "TWO",
        Consistency::Three => "THREE",
        Consistency::Quorum => "QUORUM",
        Consistency::All => "ALL",
        Consistency::LocalQuorum => "LOCAL_QUORUM",
        Consistency::EachQuorum => "EACH_QUORUM",
        Consistency::LocalOne => "LOCAL_ONE",
        Consistency::Serial => "SERIAL",
        Consistency::LocalSerial => "LOCAL_SERIAL",
    }
}

/// Returns the kind of an error, as the native protocol calls it.
fn kind(error: &RequestAttemptError) -> &'static str {
    match error {
        RequestAttemptError::DbError(of_node, _) => match of_node {
            DbError::Unavailable { .. } => "unavailable",
            DbError::ReadTimeout { .. } => "read_timeout",
            DbError::WriteTimeout { .. } => "write_timeout",
            DbError::ReadFailure { .. } => "read_failure",
            DbError::WriteFailure { .. } => "write_failure",
            DbError::Overloaded | DbError::RateLimitReached { .. } => "overloaded",
            DbError::IsBootstrapping => "is_bootstrapping",
            DbError::TruncateError => "truncate_error",
            DbError::Unprepared { .. } => "unprepared",
            DbError::Unauthorized | DbError::AuthenticationError => "unauthorized",
            DbError::Invalid | DbError::SyntaxError | DbError::ConfigError => "invalid",
            _ => "server_error",
        },
        RequestAttemptError::BrokenConnectionError(_) => "connection_lost",
        RequestAttemptError::UnableToAllocStreamId => "connection_busy",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_errors_are_counted_by_node_and_level() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let counts = AttemptCounts::default();
        counts.add_answer(one, Consistency::Quorum, Duration::from_micros(1600));
        counts.add_answer(one, Consistency::Quorum, Duration::ZERO);
        let lost = RequestAttemptError::DbError(DbError::Overloaded, String::new());
        counts.add_error(other, Consistency::One, &lost);
        let expected = NodeCounts { answers: 2, micros: 1600, recent_micros: 1500, ..NodeCounts::default() };
        assert_eq!(counts.of(one), expected);
        assert_eq!(counts.of(other).errors, BTreeMap::from([("overloaded", 1)]));
        assert_eq!(counts.of(Uuid::nil()), NodeCounts::default());
        assert_eq!(counts.levels(), BTreeMap::from([("ONE", 1), ("QUORUM", 2)]));
    }
}
