//! The rows in commit logs, in the order in which SSTables are merged: by column family, token and key.
//!
//! Commit logs are in the order of time. All logs are read, and the changes of each row are collected, and those of each
//! counter added up, in a map that is in the right order. If it grows too large, its last rows are dropped, and read once more
//! when the merge comes to them:
//!
//! ```text
//!   first reading    Hits a, Hits b, Hits c, Hits d  too much     -> keeps Hits a, Hits b
//!   second reading   Hits c, Hits d, Views a         fits
//! ```
//!
//! A log stands for the memtables of its server: its changes are merged with each other first, in their order, and then
//! with the changes in SSTables.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use parking_lot::Mutex;

use super::counters::CounterName;
use super::logs::Logs;
use super::read_thread::read_on_thread;
use super::row_batcher::first_changes;
use super::summary::FamilySummary;
use super::{FamilyName, ImportError};
use crate::rows::{RingPosition, ring_position};
use base::model::{CellKind, Change};
use base::partitioner::PartitionerRef;
use base::schema::CfDef;
use sstable::{Atom, CounterState, LogRow};
use store::weight;

/// Approximate size of the rows in memory, in bytes.
const BYTES_MAX: usize = 64 * 1024 * 1024;
/// Approximate size of a counter, and of a row or a change besides its content, in bytes.
const COUNTER_BYTES: usize = 300;
const OTHER_BYTES: usize = 150;

/// A row of a column family.
type FamilyPosition = (FamilyName, RingPosition);

/// The changes of a row in the logs of a node.
#[derive(Debug, Default)]
pub(super) struct LoggedRow {
    /// Deletions, and columns that are not counters.
    pub changes: Vec<Change>,
    pub counters: BTreeMap<CounterName, CounterState>,
    /// Whether a deletion of a counter wins whatever its timestamp.
    pub deletions_are_final: bool,
}

/// The column families whose rows are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoggedKind {
    Counters,
    Others,
}

/// Rows that several threads take, one after the other.
pub(super) type SharedRows = Arc<Mutex<LoggedRows>>;

/// The rows of a column family in the commit logs.
pub(super) struct FamilyLog {
    rows: SharedRows,
    family: FamilyName,
}

impl FamilyLog {
    pub(super) fn of(rows: &SharedRows, family: &FamilyName) -> FamilyLog {
        FamilyLog { rows: rows.clone(), family: family.clone() }
    }

    /// Returns the partitioner in whose order the rows are.
    pub(super) fn partitioner(&self) -> PartitionerRef {
        self.rows.lock().partitioner.clone()
    }

    /// Returns the position of the next row. `None` if there are no more.
    pub(super) fn next_position(&self) -> Option<RingPosition> {
        self.rows.lock().next_position(&self.family)
    }

    /// Returns the counts of all writes.
    pub(super) fn counts(&self) -> FamilySummary {
        self.rows.lock().families.get(&self.family).cloned().unwrap_or_default()
    }

    /// Removes the row at a position, and returns its changes by node.
    pub(super) fn take(&self, position: &RingPosition) -> BTreeMap<usize, LoggedRow> {
        self.rows.lock().rows.remove(&(self.family.clone(), position.clone())).unwrap_or_default()
    }
}

/// The rows in the logs of all nodes.
pub(super) struct LoggedRows {
    logs: Arc<Logs>,
    kind: LoggedKind,
    partitioner: PartitionerRef,
    bytes_max: usize,
    /// The changes of each row, by node.
    rows: BTreeMap<FamilyPosition, BTreeMap<usize, LoggedRow>>,
    bytes: usize,
    /// The first row that was dropped.
    dropped: Option<FamilyPosition>,
    /// The column families of all rows, with the counts of their writes.
    families: BTreeMap<FamilyName, FamilySummary>,
}

impl LoggedRows {
    /// Reads the logs. Rows are in the order of a partitioner. `None` if the logs cannot have such rows.
    ///
    /// # Errors
    ///
    /// If the thread that reads has panicked.
    pub(super) async fn read_all(
        logs: &Arc<Logs>,
        partitioner: PartitionerRef,
        kind: LoggedKind,
    ) -> Result<Option<SharedRows>, ImportError> {
        let may_have = match kind {
            LoggedKind::Counters => logs.may_have_counters(),
            LoggedKind::Others => !logs.found().is_empty(),
        };
        if !may_have {
            return Ok(None);
        }
        let logs = logs.clone();
        let rows = read_on_thread(move || LoggedRows::with_limit(logs, partitioner, kind, BYTES_MAX)).await?;
        Ok(Some(Arc::new(Mutex::new(rows))))
    }

    fn with_limit(
        logs: Arc<Logs>,
        partitioner: PartitionerRef,
        kind: LoggedKind,
        bytes_max: usize,
    ) -> LoggedRows {
        let mut rows = LoggedRows {
            logs,
            kind,
            partitioner,
            bytes_max,
            rows: BTreeMap::new(),
            bytes: 0,
            dropped: None,
            families: BTreeMap::new(),
        };
        rows.fill(None);
        rows
    }

    /// Returns the position of the next row of a column family. `None` if there are no more.
    fn next_position(&mut self, family: &FamilyName) -> Option<RingPosition> {
        loop {
            // Rows of column families before this one were not asked for.
            while self.rows.first_entry().is_some_and(|first| first.key().0 < *family) {
                self.rows.pop_first();
            }
            match (self.rows.first_key_value(), self.dropped.take()) {
                (Some(((of, place), _)), dropped) => {
                    self.dropped = dropped;
                    return (of == family).then(|| place.clone());
                }
                (None, Some(dropped)) if dropped.0 <= *family => {
                    let first = (family.clone(), RingPosition::default());
                    self.fill(Some(&dropped.max(first)));
                }
                (None, dropped) => {
                    self.dropped = dropped;
                    return None;
                }
            }
        }
    }

    /// Returns the column families that the logs have rows of.
    pub(super) fn families(&self) -> impl Iterator<Item = &FamilyName> {
        self.families.keys()
    }

    /// Reads the rows from a place on.
    fn fill(&mut self, from: Option<&FamilyPosition>) {
        self.rows.clear();
        self.bytes = 0;
        let logs = self.logs.clone();
        for log in logs.found() {
            logs.read(log, |cf, row, deletions_are_final| {
                // The import has reported the damage of a log.
                if cf.is_counter() == (self.kind == LoggedKind::Counters) {
                    self.add(cf, row, log.node, deletions_are_final, from);
                }
                true
            });
        }
    }

    fn add(
        &mut self,
        cf: &Arc<CfDef>,
        row: LogRow,
        node: usize,
        deletions_are_final: bool,
        from: Option<&FamilyPosition>,
    ) {
        let place = (FamilyName::of(cf), ring_position(&self.partitioner, row.key.clone()));
        // Later readings see the same writes.
        if from.is_none() {
            self.families.entry(place.0.clone()).or_default().count_write(&row);
        }
        let row = self.logs.shifted(row);
        if from.is_some_and(|from| place < *from)
            || self.dropped.as_ref().is_some_and(|dropped| place >= *dropped)
        {
            return;
        }
        let of_nodes = match self.rows.entry(place) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(there) => {
                self.bytes += 2 * row.key.len() + OTHER_BYTES;
                there.insert(BTreeMap::new())
            }
        };
        let counts = self.kind == LoggedKind::Counters;
        self.bytes += of_nodes.entry(node).or_default().add(row, counts, deletions_are_final);
        while self.bytes > self.bytes_max
            && self.rows.len() > 1
            && let Some((place, of_nodes)) = self.rows.pop_last()
        {
            let bytes: usize = of_nodes.values().map(LoggedRow::bytes).sum();
            self.bytes = self.bytes.saturating_sub(bytes + 2 * place.1.1.len() + OTHER_BYTES);
            self.dropped = Some(place);
        }
    }
}

impl LoggedRow {
    /// Adds changes; those of counters are added up, if the family has them. Returns by how many bytes the row has grown.
    fn add(&mut self, row: LogRow, has_counters: bool, deletions_are_final: bool) -> usize {
        let mut bytes = 0;
        self.deletions_are_final |= deletions_are_final;
        for deletion in first_changes(row.deletion) {
            bytes += weight(&deletion) + OTHER_BYTES;
            self.changes.push(deletion);
        }
        for atom in row.atoms {
            let state = match &atom {
                _ if !has_counters => None,
                Atom::Counter { super_column, counter } => {
                    Some((super_column, &counter.name, CounterState::Live(counter.clone())))
                }
                Atom::Cell { super_column, cell } if matches!(cell.kind, CellKind::Deleted { .. }) => {
                    let timestamp = cell.timestamp;
                    Some((super_column, &cell.name, CounterState::Deleted { timestamp }))
                }
                _ => None,
            };
            if let Some((super_column, name, state)) = state {
                bytes += self.add_state((super_column.clone(), name.clone()), state, deletions_are_final);
            }
            if let Some(change) = atom.into_change() {
                bytes += weight(&change) + OTHER_BYTES;
                self.changes.push(change);
            }
        }
        bytes
    }

    fn add_state(&mut self, name: CounterName, state: CounterState, deletions_are_final: bool) -> usize {
        match self.counters.entry(name) {
            Entry::Vacant(place) => {
                place.insert(state);
                COUNTER_BYTES
            }
            Entry::Occupied(mut place) => {
                let merged = place.get().clone().merged(state, deletions_are_final);
                place.insert(merged);
                0
            }
        }
    }

    fn bytes(&self) -> usize {
        let changes: usize = self.changes.iter().map(|change| weight(change) + OTHER_BYTES).sum();
        changes + self.counters.len() * COUNTER_BYTES
    }
}
