//! A write: all changes to one row, the unit of atomicity.

use std::sync::Arc;

use bytes::Bytes;

use super::{Cell, DeletionTime, RangeDeletion};
use crate::schema::CfDef;

/// One change to a row of one column family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A cell of a Standard row, or of a super column.
    Cell { super_column: Option<Bytes>, cell: Cell },
    /// A super column's tombstone.
    DeleteSuper { name: Bytes, deletion: DeletionTime },
    /// The row's tombstone.
    DeleteRow { deletion: DeletionTime },
    /// The tombstone of a run of names (2.0 and later).
    DeleteRange(RangeDeletion),
}

/// The changes to one column family of the row, in the order in which they were asked for.
#[derive(Debug, Clone)]
pub struct CfMutation {
    pub cf: Arc<CfDef>,
    pub changes: Vec<Change>,
}

/// All changes to one row key of a keyspace: applied whole or not at all, even when the machine stops.
#[derive(Debug, Clone)]
pub struct Mutation {
    pub key: Bytes,
    pub families: Vec<CfMutation>,
}

impl Mutation {
    /// Changes to a row of one column family.
    pub fn of(key: Bytes, cf: Arc<CfDef>, changes: Vec<Change>) -> Mutation {
        Mutation { key, families: vec![CfMutation { cf, changes }] }
    }

    /// The same with each column family once: what is changed together is weighed together. An index's row often has
    /// one entry for each change of a batch.
    #[must_use]
    pub fn joined(mut self) -> Mutation {
        if self.families.len() < 2 {
            return self;
        }
        let mut joined: Vec<CfMutation> = Vec::with_capacity(self.families.len());
        for family in self.families {
            let is_same = |other: &&mut CfMutation| {
                (&other.cf.keyspace, &other.cf.name) == (&family.cf.keyspace, &family.cf.name)
            };
            // Those that belong together mostly stand together.
            match joined.iter_mut().rev().find(is_same) {
                Some(other) => other.changes.extend(family.changes),
                None => joined.push(family),
            }
        }
        self.families = joined;
        self
    }
}
