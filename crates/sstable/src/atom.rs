//! The content of a row as it is read from a file of an old server.

use bytes::Bytes;

use super::counter::CounterCell;
use super::error::SstableError;
use super::input::Input;
use base::model::{Cell, Change, DeletionTime, RangeTombstone};

/// A part of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Atom {
    /// A value, an expiring value or a tombstone.
    Cell {
        /// The super column's name; `None` in a Standard row.
        super_column: Option<Bytes>,
        /// Never a counter.
        cell: Cell,
    },
    /// A counter.
    Counter {
        /// The super column's name; `None` in a Standard row.
        super_column: Option<Bytes>,
        /// The name and the shards.
        counter: CounterCell,
    },
    /// The deletion of a super column.
    SuperDeletion {
        /// The super column's name.
        name: Bytes,
        /// Up to when its columns are shadowed.
        deletion: DeletionTime,
    },
    /// The deletion of a range of names.
    Range(RangeTombstone),
}

impl Atom {
    /// Returns the name of the super column, if the atom is in one or deletes one.
    pub fn super_column(&self) -> Option<&Bytes> {
        match self {
            Atom::Cell { super_column, .. } | Atom::Counter { super_column, .. } => super_column.as_ref(),
            Atom::SuperDeletion { name, .. } => Some(name),
            Atom::Range(range) => range.super_column.as_ref(),
        }
    }

    /// Returns the change that writes the atom to a store. `None` for a counter, whose shards are merged first.
    pub fn into_change(self) -> Option<Change> {
        match self {
            Atom::Cell { super_column, cell } => Some(Change::Cell { super_column, cell }),
            Atom::Counter { .. } => None,
            Atom::SuperDeletion { name, deletion } => Some(Change::DeleteSuper { name, deletion }),
            Atom::Range(range) => Some(Change::DeleteRange(range)),
        }
    }
}

/// The next unit of a table: rows, each with its atoms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unit {
    /// A row begins.
    Row {
        /// The row's key.
        key: Bytes,
        /// The deletion of the whole row; `LIVE` if it was not deleted.
        deletion: DeletionTime,
    },
    /// A part of the row. Up to 2.2, range tombstones come before what they cover and may be repeated; later they come
    /// where they end.
    Atom(Atom),
    /// The row ends.
    EndOfRow,
}

impl Unit {
    /// Returns the timestamp of the unit. `None` if it has none.
    pub(super) fn timestamp(&self) -> Option<i64> {
        let of =
            |deletion: &DeletionTime| Some(deletion.marked_for_delete_at).filter(|_| deletion.is_deleted());
        match self {
            Unit::Row { deletion, .. } => of(deletion),
            Unit::Atom(Atom::Cell { cell, .. }) => Some(cell.timestamp),
            Unit::Atom(Atom::Counter { counter, .. }) => Some(counter.timestamp),
            Unit::Atom(
                Atom::SuperDeletion { deletion, .. } | Atom::Range(RangeTombstone { deletion, .. }),
            ) => of(deletion),
            Unit::EndOfRow => None,
        }
    }
}

/// Reads a deletion. Up to 2.2 rows that were not deleted have other local deletion times than
/// [`DeletionTime::LIVE`].
pub(super) fn read_deletion(input: &mut Input) -> Result<DeletionTime, SstableError> {
    let local_deletion_time = input.i32()?;
    Ok(match input.i64()? {
        i64::MIN => DeletionTime::LIVE,
        marked_for_delete_at => DeletionTime { marked_for_delete_at, local_deletion_time },
    })
}
