//! The status of the cluster as this gateway sees it.

use std::sync::atomic::Ordering;

use super::link::Link;
use store::{ClusterStatus, NodeStatus};

impl Link {
    /// Returns the nodes that the driver knows with what they have answered, and the numbers of requests.
    pub fn status(&self) -> ClusterStatus {
        let state = self.session.get_cluster_state();
        let nodes = state.get_nodes_info().iter().map(|node| NodeStatus {
            address: node.address.to_string(),
            data_center: node.datacenter.clone(),
            rack: node.rack.clone(),
            is_up: node.is_connected(),
            counts: self.attempts.of(node.host_id),
        });
        let mut nodes: Vec<NodeStatus> = nodes.collect();
        nodes.sort_by(|one, other| one.address.cmp(&other.address));
        ClusterStatus {
            nodes,
            requests_in_flight: self.gate.in_flight(),
            requests_waiting: self.gate.waiting(),
            requests_timed_out: self.timed_out.load(Ordering::Relaxed),
            attempts: self.attempts.levels(),
        }
    }
}
