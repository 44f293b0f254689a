//! Mutations: all changes to one row, which is the unit of atomicity.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use super::{Cell, Changes, DeletionTime, RangeTombstone};
use crate::schema::CfDef;

/// One change to a row of one column family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Writes or deletes a cell of a Standard row, or of a super column.
    Cell {
        /// The super column's name; `None` in a Standard row.
        super_column: Option<Bytes>,
        /// A value, an increment or a tombstone.
        cell: Cell,
    },
    /// Deletes a super column.
    DeleteSuper {
        /// The super column's name.
        name: Bytes,
        /// The timestamp up to which its cells are shadowed.
        deletion: DeletionTime,
    },
    /// Deletes the row.
    DeleteRow {
        /// The timestamp up to which all cells of the row are shadowed.
        deletion: DeletionTime,
    },
    /// Deletes a range of names (2.0 and later).
    DeleteRange(RangeTombstone),
}

/// The changes to one column family of the row, in the order of the request.
#[derive(Debug, Clone)]
pub struct CfMutation {
    /// The column family to write.
    pub cf: Arc<CfDef>,
    /// Of two changes of one column, reconciliation decides which is stored.
    pub changes: Changes,
}

/// All changes to one row key in a keyspace. They are applied all together or not at all, even after a crash.
#[derive(Debug, Clone)]
pub struct Mutation {
    /// The row's key, which is the same in all column families.
    pub key: Bytes,
    /// The changes, by column family.
    pub families: Vec<CfMutation>,
}

/// Bytes that a store adds to the names and the value of a change.
const CHANGE_BYTES: usize = 64;

impl Change {
    /// Returns the bytes of its names and its value.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Change::Cell { super_column, cell } => {
                super_column.as_ref().map_or(0, Bytes::len) + cell.name.len() + cell.value.len()
            }
            Change::DeleteSuper { name, .. } => name.len(),
            Change::DeleteRow { .. } => 0,
            Change::DeleteRange(range) => range.start.len() + range.finish.len(),
        }
    }
}

impl Mutation {
    /// Returns approximately how many bytes a store writes for the mutation.
    pub fn bytes(&self) -> usize {
        let of_each = self.key.len() + CHANGE_BYTES;
        let families = self.families.iter().map(|family| &family.changes);
        families.map(|changes| changes.bytes() + changes.len() * of_each).sum()
    }

    /// Returns a mutation of one column family.
    pub fn of(key: Bytes, cf: Arc<CfDef>, changes: Vec<Change>) -> Mutation {
        Mutation { key, families: vec![CfMutation { cf, changes: changes.into() }] }
    }

    /// Joins the changes to the same column family, so that they are reconciled with each other. The row of an index
    /// often has one entry for each change of a batch.
    pub fn join(&mut self) {
        if self.families.len() < 2 {
            return;
        }
        let mut joined: Vec<CfMutation> = Vec::with_capacity(self.families.len());
        for family in self.families.drain(..) {
            let is_same = |other: &&mut CfMutation| {
                (&other.cf.keyspace, &other.cf.name) == (&family.cf.keyspace, &family.cf.name)
            };
            // Entries of the same column family are mostly adjacent.
            match joined.iter_mut().rev().find(is_same) {
                Some(other) => family.changes.take_all(|change| other.changes.push(change)),
                None => joined.push(family),
            }
        }
        debug_assert!(
            joined.iter().map(|family| (&family.cf.keyspace, &family.cf.name)).collect::<BTreeSet<_>>().len()
                == joined.len(),
            "changes of a row would not be reconciled with each other"
        );
        self.families = joined;
    }
}
