//! What a walk over rows in ring order needs, for layers that read by stored names.

use std::sync::Arc;

use bytes::Bytes;

use super::indexes::{index_key, is_exact};
use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::db::Database;
use crate::model::{Bounds, Predicate, RowColumns, SliceRange};
use crate::schema::CfDef;
use crate::storage::IndexLookup;

impl Database {
    /// The stored token of a row key.
    pub fn token(&self, key: &[u8]) -> Vec<u8> {
        let mut token = Vec::new();
        self.parts.partitioner.token(key, &mut token);
        token
    }

    /// What is left of a range after a row of it; `None` when nothing is.
    pub fn rest_of_range(&self, bounds: &Bounds, key: &Bytes, behaviour: &Behaviour) -> Option<Bounds> {
        self.after_key(bounds, key, behaviour)
    }

    /// Whether one can read at a consistency level.
    pub fn check_read_consistency(
        &self,
        keyspace: &str,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<(), crate::db::Error> {
        let catalog = self.catalog();
        self.validation(&catalog, behaviour).read_consistency(keyspace.as_bytes(), consistency)
    }

    /// Whether the index on a column can be asked for the rows with a value.
    pub fn has_index(&self, cf: &CfDef, column: &Bytes) -> bool {
        let index = cf.index_families.get(column);
        let definition = cf.column_metadata.get(column);
        definition.is_some_and(is_exact) && index.is_some_and(|index| !self.is_being_built(index))
    }

    /// Keys of rows that may hold an indexed value, in ring order after one of them, at most so many; fewer are the last.
    /// Entries may be stale: look at the rows.
    pub async fn indexed_keys(
        &self,
        cf: &Arc<CfDef>,
        (column, value): (&Bytes, &[u8]),
        (after, count): (Option<&Bytes>, usize),
        (consistency, behaviour): (ConsistencyLevel, &'static Behaviour),
    ) -> Result<Vec<Bytes>, crate::db::Error> {
        if let Some(indexes) = self.store().capabilities().indexes {
            let all = Bounds::Keys { start: Bytes::new(), end: Bytes::new() };
            let bounds = match after {
                Some(key) => self.after_key(&all, key, behaviour),
                None => Some(all),
            };
            let Some(bounds) = bounds else { return Ok(Vec::new()) };
            let read = self.command(cf, None, Predicate::Names(vec![column.clone()]), behaviour);
            let (column, value) = (column.clone(), Bytes::copy_from_slice(value));
            let lookup = IndexLookup { read, column, value, bounds, max_keys: count };
            return Ok(indexes.indexed_keys(lookup, consistency).await?);
        }
        let definition = cf.column_metadata.get(column);
        let Some((definition, index)) = definition.zip(cf.index_families.get(column)) else {
            return Ok(Vec::new());
        };
        // The smallest name after those of a row.
        let start_after = |key: &Bytes| match cf.table {
            None => [&self.ring_name(key)[..], &[0]].concat().into(),
            Some(_) => self.after_partition(key),
        };
        let mut start: Bytes = after.map(start_after).unwrap_or_default();
        let index: Arc<CfDef> = index.clone();
        let mut keys: Vec<Bytes> = Vec::new();
        while keys.len() < count {
            let range = SliceRange { start, count, ..SliceRange::all() };
            let command = self.command(&index, None, Predicate::Range(range), behaviour);
            let read = self.store().read(index_key(definition, value), command, consistency).await?;
            let RowColumns::Cells(entries) = read else { break };
            let is_last = entries.len() < count;
            // Several cells of a partition may have an entry.
            keys.extend(entries.into_iter().map(|entry| entry.value));
            keys.dedup();
            keys.truncate(count);
            match keys.last() {
                Some(last) if !is_last => start = start_after(last),
                _ => break,
            }
        }
        Ok(keys)
    }
}
