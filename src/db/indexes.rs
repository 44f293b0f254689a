//! Secondary indexes: which rows hold a value.
//!
//! An index is a column family of its own that clients do not see, as in the old servers: its row keys are the
//! values, its columns the rows that hold them, in ring order. An entry is written together with the column
//! that it is for, so it is never missing; what a column held before is not looked up, so an entry may be
//! stale. Whoever reads an index looks at the rows too, and takes stale entries away.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::{Database, table_index};
use crate::marshal::StoredOrder;
use crate::model::{Cell, CellKind, CfMutation, Change, Mutation};
use crate::partitioner::TokenForm;
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

impl Database {
    /// A row's name in an index: names sort as the rows do in the ring.
    pub(super) fn ring_name(&self, key: &[u8]) -> Bytes {
        let partitioner = &self.parts.partitioner;
        let mut name = Vec::new();
        partitioner.token(key, &mut name);
        match partitioner.token_form() {
            TokenForm::IsKey => {}
            TokenForm::Fixed(_) => name.extend_from_slice(key),
            TokenForm::Variable => {
                name = escaped(&name);
                name.extend_from_slice(key);
            }
        }
        name.into()
    }

    /// Where the names of rows of a token begin.
    pub(super) fn ring_name_of_token(&self, token: &[u8]) -> Bytes {
        match self.parts.partitioner.token_form() {
            TokenForm::Variable => escaped(token).into(),
            TokenForm::IsKey | TokenForm::Fixed(_) => Bytes::copy_from_slice(token),
        }
    }

    /// Adds to each mutation the index entries of the columns that it writes. What belongs together is applied
    /// together.
    pub(super) fn add_index_entries(&self, mutations: &mut Vec<Mutation>) {
        let is_indexed = |family: &CfMutation| !family.cf.index_families.is_empty();
        if !mutations.iter().any(|mutation| mutation.families.iter().any(is_indexed)) {
            return;
        }
        let mut entries = Vec::new();
        for mutation in mutations.iter() {
            for family in mutation.families.iter().filter(|family| is_indexed(family)) {
                for change in &family.changes {
                    entries.extend(self.index_entries(&family.cf, &mutation.key, change));
                }
            }
        }
        // No row may come twice among the mutations: else they would not be applied as one.
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
    pub(super) fn index_entries(&self, cf: &CfDef, row: &Bytes, change: &Change) -> Vec<(Bytes, CfMutation)> {
        let Change::Cell { super_column: None, cell } = change else { return Vec::new() };
        if !matches!(cell.kind, CellKind::Live | CellKind::Expiring { .. }) {
            return Vec::new();
        }
        let entry = |(column, value): (&ColumnDef, Bytes)| {
            let index = cf.index_families.get(&column.name)?;
            let entry = Cell { name: self.ring_name(row), value: row.clone(), ..cell.clone() };
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

    /// What takes a stale entry away. A newer one of the same row stays.
    pub(super) fn stale_entry(&self, index: &Arc<CfDef>, key: &Bytes, entry: &Cell) -> Mutation {
        let dead = Cell::tombstone(entry.name.clone(), entry.timestamp, self.parts.clock.now_s());
        let change = Change::Cell { super_column: None, cell: dead };
        Mutation::of(key.clone(), index.clone(), vec![change])
    }
}

/// Token bytes such that a longer token sorts after its own prefix, whatever follows.
fn escaped(token: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(token.len() + 2);
    for byte in token {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 0]);
    out
}

/// Whether a value that stands so to the one that is asked for meets a condition.
pub(super) fn meets(operator: super::IndexOperator, order: Ordering) -> bool {
    match operator {
        super::IndexOperator::Eq => order.is_eq(),
        super::IndexOperator::Gte => order.is_ge(),
        super::IndexOperator::Gt => order.is_gt(),
        super::IndexOperator::Lte => order.is_le(),
        super::IndexOperator::Lt => order.is_lt(),
    }
}
