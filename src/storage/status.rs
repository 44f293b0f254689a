//! The status of a store.

/// The current status of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreStatus {
    /// Bytes on the disk; 0 for a store without files.
    pub disk_bytes: u64,
    /// Why writes are currently refused.
    pub read_only: Option<String>,
    /// Column families that have data but are not defined, as `Keyspace.ColumnFamily`.
    pub undefined: Vec<String>,
    /// The cluster that stores the rows, if there is one.
    pub cluster: Option<ClusterStatus>,
}

/// A cluster as this gateway sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterStatus {
    /// The nodes, sorted by address.
    pub nodes: Vec<NodeStatus>,
    /// Requests that were sent and are not answered yet.
    pub requests_in_flight: usize,
    /// Requests that wait until one in flight is answered.
    pub requests_waiting: usize,
}

/// A node as this gateway sees it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeStatus {
    /// Address and port.
    pub address: String,
    /// `None` if it is not known.
    pub data_center: Option<String>,
    /// `None` if it is not known.
    pub rack: Option<String>,
    /// Whether there is a connection to it.
    pub is_up: bool,
}

impl StoreStatus {
    /// Returns why the store cannot currently serve all requests.
    pub fn failure(&self) -> Option<String> {
        if let Some(why) = &self.read_only {
            return Some(format!("writes are refused: {why}"));
        }
        let cluster = self.cluster.as_ref()?;
        let is_reached = cluster.nodes.iter().any(|node| node.is_up);
        (!is_reached).then(|| "no node of the cluster is connected".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_connected_node_is_enough() {
        let node = |is_up| NodeStatus { address: String::new(), data_center: None, rack: None, is_up };
        let failure = |nodes: &[bool]| {
            let cluster = ClusterStatus {
                nodes: nodes.iter().map(|is_up| node(*is_up)).collect(),
                ..ClusterStatus::default()
            };
            StoreStatus { cluster: Some(cluster), ..StoreStatus::default() }.failure()
        };
        assert_eq!(failure(&[false, true, false]), None);
        assert!(failure(&[false, false]).unwrap().contains("no node"));
        assert!(failure(&[]).is_some());
    }

    #[test]
    fn an_embedded_store_has_trouble_only_if_it_refuses_writes() {
        assert_eq!(StoreStatus::default().failure(), None);
        let full = StoreStatus { read_only: Some("the disk is full".to_owned()), ..StoreStatus::default() };
        assert_eq!(full.failure().unwrap(), "writes are refused: the disk is full");
    }
}
