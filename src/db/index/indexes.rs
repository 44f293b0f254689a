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
use std::sync::Arc;

use bytes::Bytes;

use super::table_index;
use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::db::{Database, Error};
use crate::marshal::StoredOrder;
use crate::model::{Cell, CellKind, CfMutation, Change, Mutation, Predicate, RowColumns, SliceRange};
use crate::partitioner::TokenForm;
use crate::schema::{CfDef, ColumnDef};
use crate::storage::StoreError;

/// Every index row's key begins so, because a key is never empty and a value may be.
const KEY_PREFIX: u8 = b'v';

/// Entries of one partition that are looked at in one go.
const STALE_PAGE: usize = 256;

/// The key of the index row of a value: bytes that are equal where values are.
pub(in crate::db) fn index_key(column: &ColumnDef, value: &[u8]) -> Bytes {
    let mut key = vec![KEY_PREFIX];
    column.validator.ordered(value, &mut key);
    key.into()
}

/// Whether equal values can be found by equal bytes.
pub(in crate::db) fn is_exact(column: &ColumnDef) -> bool {
    column.validator.stored_order() == StoredOrder::Exact
}

impl Database {
    /// A row's name in an index: names sort as the rows do in the ring.
    pub(in crate::db) fn ring_name(&self, key: &[u8]) -> Bytes {
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

    /// What the entries of a partition's cells begin with: the partition in ring order, such that none begins as another
    /// does.
    pub(in crate::db) fn partition_prefix(&self, key: &[u8]) -> Vec<u8> {
        let partitioner = &self.parts.partitioner;
        let mut prefix = Vec::new();
        partitioner.token(key, &mut prefix);
        match partitioner.token_form() {
            // It tells the key.
            TokenForm::IsKey => return escaped(&prefix),
            TokenForm::Fixed(_) => {}
            TokenForm::Variable => prefix = escaped(&prefix),
        }
        prefix.extend(escaped(key));
        prefix
    }

    /// Where the entries of the partitions after one begin.
    pub(in crate::db) fn after_partition(&self, key: &[u8]) -> Bytes {
        let mut prefix = self.partition_prefix(key);
        // It ends with two zeros, and no other has a zero and a one in their place.
        prefix.pop();
        prefix.push(1);
        prefix.into()
    }

    /// Where the names of rows of a token begin.
    pub(in crate::db) fn ring_name_of_token(&self, token: &[u8]) -> Bytes {
        match self.parts.partitioner.token_form() {
            TokenForm::Variable => escaped(token).into(),
            TokenForm::IsKey | TokenForm::Fixed(_) => Bytes::copy_from_slice(token),
        }
    }

    /// Adds to each mutation the index entries of the columns that it writes. What belongs together is applied
    /// together.
    pub(in crate::db) fn add_index_entries(&self, mutations: &mut Vec<Mutation>) {
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
    pub(in crate::db) fn index_entries(
        &self,
        cf: &CfDef,
        row: &Bytes,
        change: &Change,
    ) -> Vec<(Bytes, CfMutation)> {
        let Change::Cell { super_column: None, cell } = change else { return Vec::new() };
        if !matches!(cell.kind, CellKind::Live | CellKind::Expiring { .. }) {
            return Vec::new();
        }
        let entry = |(column, value): (&ColumnDef, Bytes)| {
            let index = cf.index_families.get(&column.name)?;
            let name = match cf.table {
                None => self.ring_name(row),
                Some(_) => [&self.partition_prefix(row)[..], &cell.name].concat().into(),
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

    /// Waits for the writes of a row that are under way: who has seen an entry sees its column after that.
    pub(in crate::db) async fn await_writes(
        &self,
        row: &Bytes,
        behaviour: &'static Behaviour,
    ) -> Result<(), StoreError> {
        let nothing = Mutation { key: row.clone(), families: Vec::new() };
        self.store().apply(vec![nothing], behaviour, ConsistencyLevel::Zero).await
    }

    /// Takes a stale entry away. A newer one of the same name stays; an older write of the column loses to what the
    /// column holds. A failure leaves the entry for another time.
    pub(in crate::db) async fn remove_entry(
        &self,
        (index, key): (&Arc<CfDef>, &Bytes),
        entry: &Cell,
        behaviour: &'static Behaviour,
    ) {
        let dead = Cell::tombstone(entry.name.clone(), entry.timestamp, self.parts.clock.now_s());
        let change = Change::Cell { super_column: None, cell: dead };
        let mutation = Mutation::of(key.clone(), index.clone(), vec![change]);
        // Nobody waits for the disk: an entry that comes back is found again.
        if let Err(error) = self.store().apply(vec![mutation], behaviour, ConsistencyLevel::Zero).await {
            tracing::debug!("a stale index entry stays: {error}");
        }
    }

    /// Takes away the entries of a row or partition for a value that its cells do not have any more.
    pub async fn remove_stale_entries(
        &self,
        cf: &Arc<CfDef>,
        (column, value): (&Bytes, &[u8]),
        row: &Bytes,
        (consistency, behaviour): (ConsistencyLevel, &'static Behaviour),
    ) -> Result<(), Error> {
        let Some((definition, index)) = cf.column_metadata.get(column).zip(cf.index_families.get(column))
        else {
            return Ok(());
        };
        if self.store().capabilities().indexes.is_some() {
            // The store's own have none.
            return Ok(());
        }
        let key = index_key(definition, value);
        let command = self.command(index, None, self.entries_of(cf, row), behaviour);
        let RowColumns::Cells(entries) = self.store().read(key.clone(), command, consistency).await? else {
            return Ok(());
        };
        let cell_name = |entry: &Cell| match cf.table {
            None => column.clone(),
            Some(_) => entry.name.slice(self.partition_prefix(row).len()..),
        };
        if let Err(error) = self.await_writes(row, behaviour).await {
            // Reads go on where nothing can be written.
            tracing::debug!("stale index entries stay: {error}");
            return Ok(());
        }
        let names = Predicate::Names(entries.iter().map(cell_name).collect());
        let command = self.command(cf, None, names, behaviour);
        let RowColumns::Cells(cells) = self.store().read(row.clone(), command, consistency).await? else {
            return Ok(());
        };
        let is_held = |entry: &&Cell| {
            let name = cell_name(entry);
            let mut of_name = cells.iter().filter(|cell| cell.is_live() && cell.name == name);
            of_name.any(|cell| match &cf.table {
                None => index_key(definition, &cell.value) == key,
                Some(table) => {
                    let values = table_index::indexed_values(cf, table, row, cell);
                    values.into_iter().any(|(of, value)| of.name == *column && index_key(of, &value) == key)
                }
            })
        };
        for entry in entries.iter().filter(|entry| !is_held(entry)) {
            self.remove_entry((index, &key), entry, behaviour).await;
        }
        Ok(())
    }

    /// The entries of a row in an index. Those of a partition that name no cell, which an earlier program has written,
    /// are not among them.
    fn entries_of(&self, cf: &CfDef, row: &Bytes) -> Predicate {
        if cf.table.is_none() {
            return Predicate::Names(vec![self.ring_name(row)]);
        }
        let (start, finish) = (Bytes::from(self.partition_prefix(row)), self.after_partition(row));
        Predicate::Range(SliceRange { start, finish, count: STALE_PAGE, ..SliceRange::all() })
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
pub(in crate::db) fn meets(operator: crate::db::IndexOperator, order: Ordering) -> bool {
    match operator {
        crate::db::IndexOperator::Eq => order.is_eq(),
        crate::db::IndexOperator::Gte => order.is_ge(),
        crate::db::IndexOperator::Gt => order.is_gt(),
        crate::db::IndexOperator::Lte => order.is_le(),
        crate::db::IndexOperator::Lt => order.is_lt(),
    }
}
