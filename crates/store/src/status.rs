//! The status of a store.

use std::collections::BTreeMap;

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
    /// The storage engine of this process, if there is one.
    pub engine: Option<EngineStatus>,
    /// The archive of the store, if it has one.
    pub archive: Option<ArchiveStatus>,
}

/// The continuous backup of a store to object storage: how far it is behind, and its work since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchiveStatus {
    /// The age of the oldest write that is not in the archive, in milliseconds.
    pub lag_ms: u64,
    /// Bytes of the commit log that are not in the archive.
    pub lag_bytes: u64,
    /// Bytes that were uploaded.
    pub uploaded_bytes: u64,
    /// Full backups that are complete.
    pub full_backups: u64,
    /// Failed requests to the object storage, and failed full backups.
    pub failures: u64,
    /// Times at which the archive has begun anew, because it could not follow.
    pub gaps: u64,
    /// Failed removals of old parts.
    pub retention_failures: u64,
}

/// The storage engine: its contents now, and its work since its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineStatus {
    /// Bytes of the memtables, also of those that are being flushed.
    pub memtable_bytes: u64,
    /// Bytes of the commit log; 0 in a store in memory.
    pub commit_log_bytes: u64,
    /// Bytes of the sorted tables on the disk.
    pub table_bytes: u64,
    /// Sorted runs that wait for compaction, of the column family that has the most.
    pub unmerged_runs: u64,
    /// Memtables that were written to tables.
    pub flushes: u64,
    /// Compactions of a column family's tables.
    pub compactions: u64,
    /// Bytes of the cache of blocks of sorted tables.
    pub block_cache_bytes: u64,
    /// Bytes of the row cache.
    pub row_cache_bytes: u64,
    /// Reads that found their row in the row cache.
    pub row_cache_hits: u64,
    /// Reads that did not.
    pub row_cache_misses: u64,
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
    /// Requests that no node has answered within their time limit.
    pub requests_timed_out: u64,
    /// Attempts at each consistency level, by its name.
    pub attempts: BTreeMap<&'static str, u64>,
}

/// A node as this gateway sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeStatus {
    /// Address and port.
    pub address: String,
    /// `None` if it is not known.
    pub data_center: Option<String>,
    /// `None` if it is not known.
    pub rack: Option<String>,
    /// Whether there is a connection to it.
    pub is_up: bool,
    /// Its answers and errors.
    pub counts: NodeCounts,
}

/// The answers and errors of a node since the start of this gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeCounts {
    /// Answers without an error.
    pub answers: u64,
    /// The sum of their latencies, in microseconds.
    pub micros: u64,
    /// A mean of latencies, in microseconds, in which the last ones weigh most.
    pub recent_micros: u64,
    /// Errors by their kind, such as `read_timeout`.
    pub errors: BTreeMap<&'static str, u64>,
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
        let node = |is_up| NodeStatus { is_up, ..NodeStatus::default() };
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
