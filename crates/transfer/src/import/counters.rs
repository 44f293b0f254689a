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
use super::row_batcher::first_changes;
use super::sstable_rows::{ReadOptions, RowUnit, SstableRows};
use super::{ImportError, SstableFile};
use base::model::{CellKind, Change};
use base::partitioner::PartitionerRef;
use base::schema::CfDef;
use base::util::hex;
use sstable::{Atom, CounterState};
use store::RowPiece;

/// A counter's super column and name.
pub type CounterName = (Option<Bytes>, Bytes);
/// The counters of a row, as the tables of each node have them.
type States = BTreeMap<CounterName, BTreeMap<usize, CounterState>>;

/// A table, and the row that it is at.
struct CounterTable {
    reader: SstableRows,
    node: usize,
    deletions_are_final: bool,
    /// `None` at its end.
    next: Option<NextRow>,
}

/// A place in the ring: the token, and the key.
pub type RingPosition = (Vec<u8>, Bytes);

struct NextRow {
    place: RingPosition,
    changes: Vec<Change>,
}

/// Merges the tables and logs of a column family of counters.
pub struct CounterMerge {
    sources: Vec<CounterTable>,
    log: Option<FamilyLog>,
    partitioner: PartitionerRef,
    /// Whether the last server of a node was one of 3.x. From 2.1 to 2.2 the deletion of a row or super column deletes counters
    /// with newer timestamps too (`DeletionInfo.isDeleted`), in 3.x only older ones (`DeletionTime.deletes`), also of the
    /// files of its predecessors.
    is_modern: bool,
    cf: Arc<CfDef>,
    /// The rows and counters of logs.
    counts: (u64, u64),
}

impl CounterMerge {
    /// Opens the tables. Their rows are in the order of the partitioner that the files name, else of the options.
    ///
    /// # Errors
    ///
    /// If a table cannot be opened, or has another partitioner or order. In a wrong order the shards of a counter would
    /// not be read together.
    pub fn new(
        tables: &[SstableFile],
        log: Option<FamilyLog>,
        read: &ReadOptions,
        cf: Arc<CfDef>,
    ) -> Result<CounterMerge, ImportError> {
        let mut sources =
            tables.iter().map(|table| CounterTable::open(table, read)).collect::<Result<Vec<_>, _>>()?;
        let named = sources.iter().find_map(|source| source.reader.partitioner());
        let of_logs = log.as_ref().map(FamilyLog::partitioner);
        let partitioner = named.cloned().or(of_logs.clone()).unwrap_or_else(|| read.partitioner.clone());
        if let Some(first) = sources.first()
            && of_logs.is_some_and(|of_logs| of_logs.class_name() != partitioner.class_name())
        {
            return Err(out_of_order(&first.reader, &partitioner));
        }
        let is_modern = read.is_modern;
        for source in &mut sources {
            if source.reader.partitioner().is_some_and(|own| own.class_name() != partitioner.class_name()) {
                return Err(out_of_order(&source.reader, &partitioner));
            }
            let first = source.reader.next()?;
            source.begin(first, None, &partitioner)?;
        }
        Ok(CounterMerge { sources, log, partitioner, is_modern, cf, counts: (0, 0) })
    }

    /// Returns the next row, with the totals of its counters and all else that it has. `None` at the end.
    pub fn next_row(&mut self) -> Result<Option<RowPiece>, ImportError> {
        let places = self.sources.iter().filter_map(|source| Some(&source.next.as_ref()?.place));
        let of_logs = self.log.as_ref().and_then(FamilyLog::next_position);
        let Some(place) = places.min().cloned().into_iter().chain(of_logs).min() else { return Ok(None) };
        let mut states = States::new();
        let mut changes = Vec::new();
        let mut deletions_are_final = self.sources.iter().any(|source| source.deletions_are_final);
        for source in &mut self.sources {
            if source.next.as_ref().is_some_and(|next| next.place == place) {
                source.read_row(&mut states, &mut changes, &self.partitioner)?;
            }
        }
        if let Some(log) = &self.log {
            for (node, row) in log.take(&place) {
                self.counts = (self.counts.0 + 1, self.counts.1 + row.counters.len() as u64);
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

    /// Returns the readers, with the counts of their reads, and the numbers of rows and counters in logs.
    pub fn finish(self) -> (Vec<SstableRows>, (u64, u64)) {
        (self.sources.into_iter().map(|source| source.reader).collect(), self.counts)
    }
}

impl CounterTable {
    fn open(table: &SstableFile, read: &ReadOptions) -> Result<CounterTable, ImportError> {
        let deletions_are_final = table.descriptor.format.counter_deletions_are_final();
        Ok(CounterTable {
            reader: SstableRows::open(table, read)?,
            node: table.node,
            deletions_are_final,
            next: None,
        })
    }

    /// Stops at a row or the end. `before` is the place of the row before it.
    fn begin(
        &mut self,
        mut next: RowUnit,
        before: Option<RingPosition>,
        partitioner: &PartitionerRef,
    ) -> Result<(), ImportError> {
        loop {
            match next {
                RowUnit::Row { key, deletion } => {
                    let mut token = Vec::new();
                    partitioner.token(&key, &mut token);
                    let place = (token, key);
                    if before.as_ref().is_none_or(|before| *before < place) {
                        self.next = Some(NextRow { place, changes: first_changes(deletion) });
                        return Ok(());
                    }
                    let error = out_of_order(&self.reader, partitioner);
                    if !self.reader.skips_damage() {
                        return Err(error);
                    }
                    let key = hex(&place.1);
                    self.reader.lose(format!("{error}; lost: the row with the key 0x{key}"));
                }
                // The rest of a row that is left out.
                RowUnit::Atom(_) => {}
                RowUnit::End => {
                    self.next = None;
                    return Ok(());
                }
            }
            next = self.reader.next()?;
        }
    }

    /// Reads the present row, and stops at the next one.
    fn read_row(
        &mut self,
        states: &mut States,
        changes: &mut Vec<Change>,
        partitioner: &PartitionerRef,
    ) -> Result<(), ImportError> {
        let Some(NextRow { place, changes: first }) = self.next.take() else { return Ok(()) };
        changes.extend(first);
        loop {
            match self.reader.next()? {
                RowUnit::Atom(Atom::Counter { super_column, counter }) => {
                    let name = (super_column, counter.name.clone());
                    add(states, name, CounterState::Live(counter), self.node, self.deletions_are_final);
                }
                RowUnit::Atom(atom) => {
                    if let Atom::Cell { super_column, cell } = &atom
                        && let CellKind::Deleted { .. } = cell.kind
                    {
                        let name = (super_column.clone(), cell.name.clone());
                        let state = CounterState::Deleted { timestamp: cell.timestamp };
                        add(states, name, state, self.node, self.deletions_are_final);
                    }
                    changes.extend(atom.into_change());
                }
                next => return self.begin(next, Some(place), partitioner),
            }
        }
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

fn out_of_order(reader: &SstableRows, partitioner: &PartitionerRef) -> ImportError {
    let partitioner = partitioner.class_name().to_owned();
    ImportError::Order { path: reader.path().to_owned(), partitioner }
}

/// Returns the totals of the counters that are not deleted.
fn totals(states: States, deletions_are_final: bool) -> Vec<Counter> {
    let settled = |state: CounterState| match state {
        CounterState::Live(counter) => CounterState::Live(counter.settled()),
        deleted @ CounterState::Deleted { .. } => deleted,
    };
    let mut counters = Vec::new();
    for ((super_column, _), of_nodes) in states {
        let merged =
            of_nodes.into_values().map(settled).reduce(|one, other| one.merged(other, deletions_are_final));
        if let Some(CounterState::Live(counter)) = merged {
            counters.push((super_column, counter.to_cell()));
        }
    }
    counters
}
