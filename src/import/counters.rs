//! The counters of a column family: all its SSTables are read at the same time, row by row.
//!
//! ```text
//!   node 1   table 1   row a: hits [A local 5]        row c
//!            table 2   row a: hits [A local 4]                    A is settled at 9 within node 1
//!   node 2   table 1   row a: hits [A remote 9, B local 2]
//!                      row a: hits = A 9 + B 2 = 11
//! ```
//!
//! Shards of the node that wrote a file are increments, which add up within its own tables; then they are totals, like
//! those of other nodes. The counters of one row are in memory, for as long as the row is read.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::ImportError;
use super::reader::{Next, Reader, first_changes};
use crate::model::{CellKind, Change};
use crate::partitioner::PartitionerRef;
use crate::sstable::{Atom, CounterState};
use crate::storage::RowPiece;

/// A counter's super column and name.
type CounterName = (Option<Bytes>, Bytes);
/// The counters of a row, as the tables of each node have them.
type States = BTreeMap<CounterName, BTreeMap<usize, CounterState>>;

/// A table, and the row that it is at.
struct Source {
    reader: Reader,
    node: usize,
    deletions_are_final: bool,
    /// `None` at its end.
    next: Option<NextRow>,
}

/// A place in the ring: the token, and the key.
type Place = (Vec<u8>, Bytes);

struct NextRow {
    place: Place,
    changes: Vec<Change>,
}

/// Merges the tables of a column family of counters.
pub struct CounterMerge {
    sources: Vec<Source>,
    partitioner: PartitionerRef,
}

impl CounterMerge {
    /// Begins with tables and the numbers of their nodes. Their rows are in the order of the partitioner that the files
    /// name, else of `usual`.
    ///
    /// # Errors
    ///
    /// If a table has another partitioner or order, as all methods: a wrong order would separate the shards of a counter.
    pub fn new(
        tables: Vec<(Reader, usize, bool)>,
        usual: &PartitionerRef,
    ) -> Result<CounterMerge, ImportError> {
        let named = tables.iter().find_map(|(reader, ..)| reader.partitioner());
        let partitioner = named.unwrap_or(usual).clone();
        let mut sources = Vec::new();
        for (mut reader, node, deletions_are_final) in tables {
            if reader.partitioner().is_some_and(|own| own.class_name() != partitioner.class_name()) {
                return Err(out_of_order(&reader, &partitioner));
            }
            let first = reader.next()?;
            let mut source = Source { reader, node, deletions_are_final, next: None };
            source.begin(first, None, &partitioner)?;
            sources.push(source);
        }
        Ok(CounterMerge { sources, partitioner })
    }

    /// Returns the next row, with the totals of its counters and all else that it has. `None` at the end.
    pub fn next_row(&mut self) -> Result<Option<RowPiece>, ImportError> {
        let places = self.sources.iter().filter_map(|source| Some(&source.next.as_ref()?.place));
        let Some(place) = places.min().cloned() else { return Ok(None) };
        let mut states = States::new();
        let mut changes = Vec::new();
        for source in &mut self.sources {
            if source.next.as_ref().is_some_and(|next| next.place == place) {
                source.read_row(&mut states, &mut changes, &self.partitioner)?;
            }
        }
        changes.extend(totals(states, self.sources.iter().any(|source| source.deletions_are_final)));
        Ok(Some(RowPiece { key: place.1, changes }))
    }

    /// Returns the readers, to know what was read.
    pub fn finish(self) -> Vec<Reader> {
        self.sources.into_iter().map(|source| source.reader).collect()
    }
}

impl Source {
    /// Stops at a row or the end. `before` is the place of the row before it.
    fn begin(
        &mut self,
        next: Next,
        before: Option<Place>,
        partitioner: &PartitionerRef,
    ) -> Result<(), ImportError> {
        self.next = match next {
            Next::Row { key, deletion } => {
                let mut token = Vec::new();
                partitioner.token(&key, &mut token);
                let place = (token, key);
                if before.is_some_and(|before| before >= place) {
                    return Err(out_of_order(&self.reader, partitioner));
                }
                Some(NextRow { place, changes: first_changes(deletion) })
            }
            Next::Atom(_) | Next::End => None,
        };
        Ok(())
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
                Next::Atom(Atom::Counter { super_column, counter }) => {
                    let name = (super_column, counter.name.clone());
                    self.add(states, name, CounterState::Live(counter));
                }
                Next::Atom(atom) => {
                    if let Atom::Cell { super_column, cell } = &atom
                        && let CellKind::Deleted { .. } = cell.kind
                    {
                        let name = (super_column.clone(), cell.name.clone());
                        self.add(states, name, CounterState::Deleted { timestamp: cell.timestamp });
                    }
                    changes.extend(atom.into_change());
                }
                next => return self.begin(next, Some(place), partitioner),
            }
        }
    }

    fn add(&self, states: &mut States, name: CounterName, state: CounterState) {
        let of_nodes = states.entry(name).or_default();
        let merged = match of_nodes.remove(&self.node) {
            Some(before) => before.merged(state, self.deletions_are_final),
            None => state,
        };
        of_nodes.insert(self.node, merged);
    }
}

fn out_of_order(reader: &Reader, partitioner: &PartitionerRef) -> ImportError {
    let partitioner = partitioner.class_name().to_owned();
    ImportError::Order { path: reader.path().to_owned(), partitioner }
}

/// Returns the totals of the counters that are not deleted.
fn totals(states: States, deletions_are_final: bool) -> Vec<Change> {
    let settled = |state: CounterState| match state {
        CounterState::Live(counter) => CounterState::Live(counter.settled()),
        deleted @ CounterState::Deleted { .. } => deleted,
    };
    let mut changes = Vec::new();
    for ((super_column, _), of_nodes) in states {
        let merged =
            of_nodes.into_values().map(settled).reduce(|one, other| one.merged(other, deletions_are_final));
        if let Some(CounterState::Live(counter)) = merged {
            changes.push(Change::Cell { super_column, cell: counter.to_cell() });
        }
    }
    changes
}
