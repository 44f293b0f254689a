//! The counters of a column family: all its SSTables are read at the same time, row by row, together with the parts of
//! the rows in commit logs.
//!
//! ```text
//!   node 1   table 1   row a: hits [A local 5]        row c
//!            table 2   row a: hits [A local 4]
//!            logs      row a: hits [A local 3]                    A is settled at 12 within node 1
//!   node 2   table 1   row a: hits [A remote 9, B local 2]
//!                      row a: hits = A 12 + B 2 = 14
//! ```
//!
//! Shards of the node that wrote a file are increments, which add up within its own tables; then they are totals, like
//! those of other nodes. The counters of one row are in memory, for as long as the row is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::counter_row::{Counter, changes_of};
use super::logged_rows::FamilyLog;
use super::merge::{FamilyMerge, MergedRow};
use super::row_batcher::first_changes;
use super::sstable_rows::ReadOptions;
use super::summary::ReadSummary;
use super::{ImportError, SstableFile};
use base::model::{CellKind, Change};
use base::schema::CfDef;
use sstable::{Atom, CounterState};
use store::RowPiece;

/// A counter's super column and name.
pub(super) type CounterName = (Option<Bytes>, Bytes);
/// The counters of a row, as the tables of each node have them.
type States = BTreeMap<CounterName, BTreeMap<usize, CounterState>>;

/// Merges the tables and logs of a column family of counters.
pub(super) struct CounterMerge {
    merge: FamilyMerge,
    /// The next row of the tables, at which the merge is.
    next: Option<MergedRow>,
    /// Whether the deletions of counters in a table are final.
    deletions_are_final: bool,
    log: Option<FamilyLog>,
    /// Whether the last server of a node was one of 3.x. From 2.1 to 2.2 the deletion of a row or super column deletes counters
    /// with newer timestamps too (`DeletionInfo.isDeleted`), in 3.x only older ones (`DeletionTime.deletes`), also of the
    /// files of its predecessors.
    is_modern: bool,
    cf: Arc<CfDef>,
}

impl CounterMerge {
    /// Opens the tables. Their rows are in the order of the partitioner that the files name, else of the options.
    ///
    /// # Errors
    ///
    /// If a table cannot be opened, or has another partitioner or order. In a wrong order the shards of a counter would
    /// not be read together.
    pub(super) fn new(
        tables: &[SstableFile],
        log: Option<FamilyLog>,
        read: &ReadOptions,
        cf: Arc<CfDef>,
    ) -> Result<CounterMerge, ImportError> {
        let mut merge = FamilyMerge::new(cf.clone(), tables, read.clone(), None)?;
        if let Some(log) = &log {
            merge.check_order(&log.partitioner())?;
        }
        let next = merge.next_row()?;
        let deletions_are_final =
            tables.iter().any(|table| table.descriptor.format.counter_deletions_are_final());
        Ok(CounterMerge { merge, next, deletions_are_final, log, is_modern: read.is_modern, cf })
    }

    /// Returns the next row, with the totals of its counters and all else that it has. `None` at the end.
    pub(super) fn next_row(&mut self) -> Result<Option<RowPiece>, ImportError> {
        let of_tables = self.merge.place().filter(|_| self.next.is_some()).cloned();
        let of_logs = self.log.as_ref().and_then(FamilyLog::next_position);
        let Some(place) = of_tables.clone().into_iter().chain(of_logs).min() else { return Ok(None) };
        let mut states = States::new();
        let mut changes = Vec::new();
        let mut deletions_are_final = self.deletions_are_final;
        if of_tables.as_ref() == Some(&place)
            && let Some(row) = self.next.take()
        {
            changes.extend(first_changes(row.deletion));
            self.read_row(&mut states, &mut changes)?;
            self.next = self.merge.next_row()?;
        }
        if let Some(log) = &self.log {
            for (node, row) in log.take(&place) {
                deletions_are_final |= row.deletions_are_final;
                changes.extend(row.changes);
                for (name, state) in row.counters {
                    add(&mut states, name, state, node, row.deletions_are_final);
                }
            }
        }
        let counters = totals(states, deletions_are_final);
        let changes = changes_of(&self.cf, changes, counters, deletions_are_final && !self.is_modern);
        Ok(Some(RowPiece { key: place.1, changes }))
    }

    /// Reads the row that the merge is at.
    fn read_row(&mut self, states: &mut States, changes: &mut Vec<Change>) -> Result<(), ImportError> {
        while let Some((atom, table)) = self.merge.next_atom_of_table()? {
            let (node, is_final) = (table.node, table.descriptor.format.counter_deletions_are_final());
            match atom {
                Atom::Counter { super_column, counter } => {
                    let name = (super_column, counter.name.clone());
                    add(states, name, CounterState::Live(counter), node, is_final);
                }
                atom => {
                    if let Atom::Cell { super_column, cell } = &atom
                        && let CellKind::Deleted { .. } = cell.kind
                    {
                        let name = (super_column.clone(), cell.name.clone());
                        let state = CounterState::Deleted { timestamp: cell.timestamp };
                        add(states, name, state, node, is_final);
                    }
                    changes.extend(atom.into_change());
                }
            }
        }
        Ok(())
    }

    /// Returns the counts of the tables.
    pub(super) fn finish(self) -> ReadSummary {
        self.merge.finish()
    }
}

/// Merges the state of a counter with its earlier state on the node.
fn add(states: &mut States, name: CounterName, state: CounterState, node: usize, deletions_are_final: bool) {
    let of_nodes = states.entry(name).or_default();
    let merged = match of_nodes.remove(&node) {
        Some(before) => before.merged(state, deletions_are_final),
        None => state,
    };
    of_nodes.insert(node, merged);
}

/// Returns the totals of the counters that are not deleted.
fn totals(states: States, deletions_are_final: bool) -> Vec<Counter> {
    let mut counters = Vec::new();
    for ((super_column, _), of_nodes) in states {
        let settled = of_nodes.into_values().map(|state| match state {
            CounterState::Live(counter) => CounterState::Live(counter.settled()),
            deleted @ CounterState::Deleted { .. } => deleted,
        });
        let merged = settled.reduce(|one, other| one.merged(other, deletions_are_final));
        if let Some(CounterState::Live(counter)) = merged {
            counters.push((super_column, counter.to_cell()));
        }
    }
    counters
}
