//! Secondary indexes: which rows hold a value.
//!
//! An index is a column family of its own that clients do not see, as in the old servers: its row keys are the
//! values, its columns the rows that hold them, in ring order. An entry is written together with the column
//! that it is for, so it is never missing; what a column held before is not looked up, so an entry may be
//! stale. Whoever reads an index looks at the rows too, and takes stale entries away.
//!
//! A row of Thrift's has one column that an entry may be for. A partition of CQL's has many, so an entry's name ends with
//! that of its cell: each lives and dies with its own.

use std::cmp::Ordering;
use std::collections::HashMap;

use bytes::Bytes;

use super::table_index;
use crate::db::Database;
use crate::marshal::StoredOrder;
use crate::model::{Cell, CellKind, CfMutation, Change, Mutation};
use crate::schema::{CfDef, ColumnDef};

/// Every index row's key begins so, because a key is never empty and a value may be.
const KEY_PREFIX: u8 = b'v';

/// The key of the index row of a value: bytes that are equal where values are.
pub(super) fn index_key(column: &ColumnDef, value: &[u8]) -> Bytes {
    let mut key = vec![KEY_PREFIX];
    column.validator.ordered(value, &mut key);
    key.into()
}

/// Whether equal values can be found by equal bytes.
pub(super) fn is_exact(column: &ColumnDef) -> bool {
    column.validator.stored_order() == StoredOrder::Exact
}

/// The secondary indexes of a database.
#[derive(Clone, Copy)]
pub struct Indexes<'a> {
    pub(super) database: &'a Database,
}

impl Database {
    /// The secondary indexes.
    pub fn indexes(&self) -> Indexes<'_> {
        Indexes { database: self }
    }
}

impl Indexes<'_> {
    /// Whether the index on a column can be asked for the rows with a value.
    pub fn is_usable(&self, cf: &CfDef, column: &Bytes) -> bool {
        let index = cf.index_families.get(column);
        let definition = cf.column_metadata.get(column);
        definition.is_some_and(is_exact) && index.is_some_and(|index| !self.is_being_built(index))
    }

    /// Adds to each mutation the index entries of the columns that it writes. What belongs together is applied
    /// together.
    pub(in crate::db) fn add_entries(&self, mutations: &mut Vec<Mutation>) {
        let is_indexed = |family: &CfMutation| !family.cf.index_families.is_empty();
        if !mutations.iter().any(|mutation| mutation.families.iter().any(is_indexed)) {
            return;
        }
        let mut entries = Vec::new();
        for mutation in mutations.iter() {
            for family in mutation.families.iter().filter(|family| is_indexed(family)) {
                for change in &family.changes {
                    entries.extend(self.entries_of(&family.cf, &mutation.key, change));
                }
            }
        }
        // No row may come twice among the mutations: else they would not be applied as one. Those with entries are the
        // last: who sees an entry sees the column.
        let mut places: HashMap<Bytes, usize> =
            mutations.iter().enumerate().map(|(at, mutation)| (mutation.key.clone(), at)).collect();
        for (key, family) in entries {
            match places.get(&key) {
                Some(&at) => mutations[at].families.push(family),
                None => {
                    places.insert(key.clone(), mutations.len());
                    mutations.push(Mutation { key, families: vec![family] });
                }
            }
        }
    }

    /// The index entries of one change, and the index rows that they go to.
    pub(super) fn entries_of(&self, cf: &CfDef, row: &Bytes, change: &Change) -> Vec<(Bytes, CfMutation)> {
        let Change::Cell { super_column: None, cell } = change else { return Vec::new() };
        if !matches!(cell.kind, CellKind::Live | CellKind::Expiring { .. }) {
            return Vec::new();
        }
        let ring = self.database.ring_order();
        let entry = |(column, value): (&ColumnDef, Bytes)| {
            let index = cf.index_families.get(&column.name)?;
            let name = match cf.table {
                None => ring.row_name(row),
                Some(_) => [&ring.partition_prefix(row)[..], &cell.name].concat().into(),
            };
            let entry = Cell { name, value: row.clone(), ..cell.clone() };
            let change = Change::Cell { super_column: None, cell: entry };
            Some((index_key(column, &value), CfMutation { cf: index.clone(), changes: vec![change] }))
        };
        match &cf.table {
            None => {
                let column = cf.column_metadata.get(&cell.name);
                column.map(|column| (column, cell.value.clone())).and_then(entry).into_iter().collect()
            }
            Some(table) => {
                table_index::indexed_values(cf, table, row, cell).into_iter().filter_map(entry).collect()
            }
        }
    }
}

/// Whether a value that stands so to the one that is asked for meets a condition.
pub(super) fn meets(operator: crate::db::IndexOperator, order: Ordering) -> bool {
    match operator {
        crate::db::IndexOperator::Eq => order.is_eq(),
        crate::db::IndexOperator::Gte => order.is_ge(),
        crate::db::IndexOperator::Gt => order.is_gt(),
        crate::db::IndexOperator::Lte => order.is_le(),
        crate::db::IndexOperator::Lt => order.is_lt(),
    }
}
