//! The status of the cluster as this gateway sees it.

use super::link::Link;
use store::{ClusterStatus, NodeStatus};

impl Link {
    /// Returns the nodes that the driver knows, and the number of running and waiting requests.
    pub fn status(&self) -> ClusterStatus {
        let state = self.session.get_cluster_state();
        let nodes = state.get_nodes_info().iter().map(|node| NodeStatus {
            address: node.address.to_string(),
            data_center: node.datacenter.clone(),
            rack: node.rack.clone(),
            is_up: node.is_connected(),
        });
        let mut nodes: Vec<NodeStatus> = nodes.collect();
        nodes.sort();
        ClusterStatus {
            nodes,
            requests_in_flight: self.gate.in_flight(),
            requests_waiting: self.gate.waiting(),
        }
    }
}
