//! The rows of a column family without counters in commit logs, in the order of the ring, for a comparison.
//!
//! As for counters (`logged_counters`), all logs are read, and rows that do not fit into memory are dropped and read once
//! more when the comparison comes to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::counters::RingPosition;
use super::logs::Logs;
use super::row_batcher::first_changes;
use base::model::Change;
use base::partitioner::PartitionerRef;
use base::schema::CfDef;
use store::weight;

/// Approximate size of the rows in memory, in bytes.
const BYTES_MAX: usize = 64 * 1024 * 1024;
/// Approximate size of a row or a change besides its content, in bytes.
const OTHER_BYTES: usize = 150;

/// The rows of one column family in the commit logs of all nodes.
pub struct LoggedRows {
    logs: Arc<Logs>,
    cf: Arc<CfDef>,
    partitioner: PartitionerRef,
    bytes_max: usize,
    rows: BTreeMap<RingPosition, Vec<Change>>,
    bytes: usize,
    /// The first row that was dropped.
    dropped: Option<RingPosition>,
}

impl LoggedRows {
    /// Reads the logs. Rows are in the order of a partitioner.
    pub fn read(logs: Arc<Logs>, cf: Arc<CfDef>, partitioner: PartitionerRef) -> LoggedRows {
        let (rows, bytes_max) = (BTreeMap::new(), BYTES_MAX);
        let mut logged = LoggedRows { logs, cf, partitioner, bytes_max, rows, bytes: 0, dropped: None };
        logged.fill(&RingPosition::default());
        logged
    }

    /// Reads the rows from a place on, as many as fit.
    fn fill(&mut self, from: &RingPosition) {
        let logs = self.logs.clone();
        for log in logs.found() {
            // The import has reported the damage of a log.
            logs.read(log, |cf, row, _| {
                if (&cf.keyspace, &cf.name) == (&self.cf.keyspace, &self.cf.name) {
                    let mut token = Vec::new();
                    self.partitioner.token(&row.key, &mut token);
                    let mut changes = first_changes(row.deletion);
                    changes.extend(row.atoms.into_iter().filter_map(|atom| atom.into_change()));
                    self.add((token, row.key), changes, from);
                }
                true
            });
        }
    }

    fn add(&mut self, place: RingPosition, changes: Vec<Change>, from: &RingPosition) {
        if place < *from || self.dropped.as_ref().is_some_and(|dropped| place >= *dropped) {
            return;
        }
        self.bytes += OTHER_BYTES + size(&changes);
        self.rows.entry(place).or_default().extend(changes);
        while self.bytes > self.bytes_max && self.rows.len() > 1 {
            let Some((place, changes)) = self.rows.pop_last() else { break };
            self.bytes = self.bytes.saturating_sub(OTHER_BYTES + size(&changes));
            self.dropped = Some(place);
        }
    }

    /// Returns the place of the next row.
    pub fn next_place(&mut self) -> Option<RingPosition> {
        if self.rows.is_empty()
            && let Some(dropped) = self.dropped.take()
        {
            self.bytes = 0;
            self.fill(&dropped);
        }
        self.rows.first_key_value().map(|(place, _)| place.clone())
    }

    /// Removes the next row.
    pub fn take(&mut self) -> Vec<Change> {
        self.rows.pop_first().map(|(_, changes)| changes).unwrap_or_default()
    }
}

fn size(changes: &[Change]) -> usize {
    changes.iter().map(|change| weight(change) + OTHER_BYTES).sum()
}
