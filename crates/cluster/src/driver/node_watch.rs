//! Logs the loss and the return of the cluster's nodes.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use store::NodeStatus;

/// The nodes as they were last seen.
#[derive(Debug, Default)]
pub(super) struct NodeWatch {
    /// Whether each node was connected, by its address.
    seen: Mutex<BTreeMap<String, bool>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeChange {
    Lost,
    Connected,
    Left,
}

impl NodeWatch {
    /// Logs each node that was lost, has come back or has left since the last call. A node that is connected when it is
    /// first seen is not logged.
    pub(super) fn note(&self, nodes: &[NodeStatus]) {
        for (address, change) in self.changes(nodes) {
            match change {
                NodeChange::Lost => tracing::warn!("node {address} of the cluster is lost"),
                NodeChange::Connected => tracing::warn!("node {address} of the cluster is connected again"),
                NodeChange::Left => tracing::warn!("node {address} has left the cluster"),
            }
        }
    }

    fn changes(&self, nodes: &[NodeStatus]) -> Vec<(String, NodeChange)> {
        let now: BTreeMap<String, bool> =
            nodes.iter().map(|node| (node.address.clone(), node.is_up)).collect();
        let mut seen = self.seen.lock();
        let mut changes = Vec::new();
        for (address, is_up) in &now {
            match (seen.get(address).copied().unwrap_or(true), *is_up) {
                (true, false) => changes.push((address.clone(), NodeChange::Lost)),
                (false, true) => changes.push((address.clone(), NodeChange::Connected)),
                _ => {}
            }
        }
        let gone = seen.keys().filter(|address| !now.contains_key(*address));
        changes.extend(gone.map(|address| (address.clone(), NodeChange::Left)));
        *seen = now;
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(address: &str, is_up: bool) -> NodeStatus {
        NodeStatus { address: address.to_owned(), is_up, ..NodeStatus::default() }
    }

    #[test]
    fn each_change_is_reported_once() {
        let watch = NodeWatch::default();
        assert!(watch.changes(&[node("a", true), node("b", true)]).is_empty());
        let lost = [node("a", false), node("b", true)];
        assert_eq!(watch.changes(&lost), [("a".to_owned(), NodeChange::Lost)]);
        assert!(watch.changes(&lost).is_empty());
        let changes = watch.changes(&[node("a", true), node("c", false)]);
        let expected = [("a", NodeChange::Connected), ("c", NodeChange::Lost), ("b", NodeChange::Left)];
        assert_eq!(changes, expected.map(|(address, change)| (address.to_owned(), change)));
    }
}
