//! Secondary indexes, which list the rows that hold a value.
//!
//! An index is a hidden column family of its own, as in the old servers: its row keys are the values, its columns the
//! rows that hold them, in ring order. An entry is written together with its column, so entries are never missing.
//! The previous value of the column is not looked up, so entries may be stale: readers of an index check the rows
//! too, and remove stale entries.
//! A Thrift row has one column per index entry. A CQL partition has many cells, so the name of an entry ends with the
//! name of its cell, and each entry is valid as long as its cell.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::table_index;
use crate::Database;
use base::marshal::StoredOrder;
use base::model::{Cell, CellKind, CfMutation, Change, Mutation};
use base::schema::{CfDef, ColumnDef};

/// The first byte of every index row's key, because a key must not be empty but a value may be.
const KEY_PREFIX: u8 = b'v';

/// Returns the key of the index row of a value: equal values have equal keys.
pub(super) fn index_key(column: &ColumnDef, value: &[u8]) -> Bytes {
    let mut key = vec![KEY_PREFIX];
    column.validator.ordered(value, &mut key);
    key.into()
}

/// Returns whether equal values always have equal bytes in the index.
pub(super) fn is_exact(column: &ColumnDef) -> bool {
    column.validator.stored_order() == StoredOrder::Exact
}

/// The secondary indexes of a database.
#[derive(Clone, Copy)]
pub struct Indexes<'a> {
    pub(super) database: &'a Database,
}

impl Database {
    /// Returns the secondary indexes.
    pub fn indexes(&self) -> Indexes<'_> {
        Indexes { database: self }
    }
}

impl Indexes<'_> {
    /// Returns whether reads can use the index on a column. `sees_new` is the request's `sees_new_indexes`.
    pub fn is_usable(&self, cf: &CfDef, column: &Bytes, sees_new: bool) -> bool {
        self.usable(cf, column, sees_new).is_some()
    }

    /// Returns a column and its index if reads can use the index. No query uses an index that this does not return.
    pub(super) fn usable<'c>(
        &self,
        cf: &'c CfDef,
        column: &Bytes,
        sees_new: bool,
    ) -> Option<(&'c ColumnDef, &'c Arc<CfDef>)> {
        let (definition, index) = cf.column_metadata.get(column).zip(cf.index_families.get(column))?;
        let is_used = self.is_built(cf, column) || sees_new && self.is_new(index);
        (is_exact(definition) && is_used).then_some((definition, index))
    }

    /// Adds to the mutations the index entries of the columns that they write. Each column is applied together with
    /// its entries.
    pub(crate) fn add_entries(&self, mutations: &mut Vec<Mutation>) {
        let is_indexed = |family: &CfMutation| !family.cf.index_families.is_empty();
        if !mutations.iter().any(|mutation| mutation.families.iter().any(is_indexed)) {
            return;
        }
        let mut entries = Vec::new();
        for mutation in mutations.iter() {
            for family in mutation.families.iter().filter(|family| is_indexed(family)) {
                for change in family.changes.iter() {
                    entries.extend(self.entries_of(&family.cf, &mutation.key, &change));
                }
            }
        }
        // Each row must occur once among the mutations, or they would not be applied as one. The index rows are last,
        // so that a reader that sees an entry also sees its column.
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

    /// Returns the index entries of one change, with the index rows that they go to.
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
            Some((index_key(column, &value), CfMutation { cf: index.clone(), changes: vec![change].into() }))
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

/// Returns whether a value that compares so with the value of a condition meets the condition.
pub(super) fn meets(operator: crate::IndexOperator, order: Ordering) -> bool {
    match operator {
        crate::IndexOperator::Eq => order.is_eq(),
        crate::IndexOperator::Gte => order.is_ge(),
        crate::IndexOperator::Gt => order.is_gt(),
        crate::IndexOperator::Lte => order.is_le(),
        crate::IndexOperator::Lt => order.is_lt(),
    }
}
