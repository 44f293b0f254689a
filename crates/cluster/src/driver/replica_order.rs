//! Chooses the node to which a request is sent first.
//!
//! The replicas of a row are tried in one order, the cluster's own, so that clients who write and read at ONE meet their
//! own writes: the first replica coordinates both, and a coordinator reads its own copy. With the driver's policy, which
//! chooses a replica at random, reads on a busy ring of three missed one of twelve writes just before them. Now they miss
//! one of a hundred: those that another replica has acknowledged first. A node that only reports failures, such as one
//! that its peers cannot reach, is avoided for a while:
//!
//! ```text
//!   replicas of a row    A            B            C
//!   lost by the driver   -
//!   fails twice                       avoided for 5 s
//!   first choice                                   x
//! ```

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use scylla::cluster::{ClusterState, NodeRef};
use scylla::errors::{DbError, RequestAttemptError};
use scylla::policies::load_balancing::{FallbackPlan, LoadBalancingPolicy, RoutingInfo};
use scylla::routing::Shard;
use uuid::Uuid;

use super::node_counts::AttemptCounts;

/// Failures in succession after which a node is avoided.
const FAILURES_MAX: u32 = 2;

/// The time for which a node is avoided after its last failure.
const AVOIDED: Duration = Duration::from_secs(5);

/// The order of a cluster's replicas; for requests without a row, and if no replica is connected, the order of another
/// policy.
#[derive(Debug)]
pub(super) struct ReplicaOrder {
    usual: Arc<dyn LoadBalancingPolicy>,
    data_center: Option<String>,
    failing: FailingNodes,
    attempts: Arc<AttemptCounts>,
}

impl ReplicaOrder {
    /// Returns the order of the replicas in a data centre, or in all of them. It counts each attempt of a request.
    pub(super) fn new(
        usual: Arc<dyn LoadBalancingPolicy>,
        data_center: Option<String>,
        attempts: Arc<AttemptCounts>,
    ) -> ReplicaOrder {
        ReplicaOrder { usual, data_center, failing: FailingNodes::default(), attempts }
    }

    fn first_replica<'a>(
        &'a self,
        request: &'a RoutingInfo<'_>,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        let (token, table) = (request.token?, request.table?);
        let strategy = &cluster.get_keyspace(table.ks_name())?.strategy;
        let locator = cluster.replica_locator();
        let connected = || {
            let replicas = locator.replicas_for_token(token, strategy, self.data_center.as_deref(), table);
            replicas.into_iter().filter(|(node, _)| node.is_connected())
        };
        let first = connected().find(|(node, _)| !self.failing.is_avoided(node.host_id));
        first.or_else(|| connected().next()).map(|(node, shard)| (node, Some(shard)))
    }
}

/// Nodes that have failed since their last success.
#[derive(Debug, Default)]
struct FailingNodes {
    nodes: Mutex<HashMap<Uuid, Failures>>,
    /// Whether there is one, so that most requests need no lock.
    is_any: AtomicBool,
}

#[derive(Debug)]
struct Failures {
    count: u32,
    last: Instant,
}

impl FailingNodes {
    fn is_avoided(&self, node: Uuid) -> bool {
        self.is_any.load(Ordering::Relaxed)
            && self
                .nodes
                .lock()
                .get(&node)
                .is_some_and(|Failures { count, last }| *count >= FAILURES_MAX && last.elapsed() < AVOIDED)
    }

    fn add(&self, node: Uuid) {
        let mut nodes = self.nodes.lock();
        let of = nodes.entry(node).or_insert(Failures { count: 0, last: Instant::now() });
        *of = Failures { count: of.count.saturating_add(1), last: Instant::now() };
        self.is_any.store(true, Ordering::Relaxed);
    }

    fn remove(&self, node: Uuid) {
        if self.is_any.load(Ordering::Relaxed) {
            let mut nodes = self.nodes.lock();
            nodes.remove(&node);
            self.is_any.store(!nodes.is_empty(), Ordering::Relaxed);
        }
    }
}

impl LoadBalancingPolicy for ReplicaOrder {
    fn pick<'a>(
        &'a self,
        request: &'a RoutingInfo<'_>,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        self.first_replica(request, cluster).or_else(|| self.usual.pick(request, cluster))
    }

    fn fallback<'a>(&'a self, request: &'a RoutingInfo<'_>, cluster: &'a ClusterState) -> FallbackPlan<'a> {
        self.usual.fallback(request, cluster)
    }

    fn on_request_success(&self, request: &RoutingInfo<'_>, latency: Duration, node: NodeRef<'_>) {
        self.attempts.add_answer(node.host_id, request.consistency, latency);
        self.failing.remove(node.host_id);
    }

    fn on_request_failure(
        &self,
        request: &RoutingInfo<'_>,
        _: Duration,
        node: NodeRef<'_>,
        error: &RequestAttemptError,
    ) {
        self.attempts.add_error(node.host_id, request.consistency, error);
        let is_of_node = matches!(
            error,
            RequestAttemptError::BrokenConnectionError(_)
                | RequestAttemptError::DbError(
                    DbError::Unavailable { .. }
                        | DbError::ReadTimeout { .. }
                        | DbError::WriteTimeout { .. }
                        | DbError::IsBootstrapping,
                    _
                )
        );
        if is_of_node {
            self.failing.add(node.host_id);
        }
    }

    fn name(&self) -> String {
        "ReplicaOrder".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_avoided_from_its_second_failure_to_its_next_success() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let failing = FailingNodes::default();
        failing.add(one);
        failing.add(other);
        assert!(!failing.is_avoided(one));
        failing.add(one);
        assert!(failing.is_avoided(one) && !failing.is_avoided(other));
        failing.remove(one);
        failing.add(one);
        assert!(!failing.is_avoided(one));
    }
}
