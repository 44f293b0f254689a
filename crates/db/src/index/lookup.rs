//! The keys of rows that an index lists for a value, for layers that read by stored names.

use std::sync::Arc;

use bytes::Bytes;

use super::index_reads::IndexReads;
use super::indexes::index_key;
use crate::Result;
use base::model::{Bounds, Predicate, RowColumns, SliceRange};
use base::schema::CfDef;
use store::IndexLookup;

impl IndexReads<'_> {
    /// Returns at most `count` keys of rows that may hold an indexed value, in ring order after a given key; fewer
    /// keys mean that there are no more. Entries may be stale, so the caller must check the rows.
    pub async fn indexed_keys(
        &self,
        cf: &Arc<CfDef>,
        column: &Bytes,
        value: &[u8],
        after: Option<&Bytes>,
        count: usize,
    ) -> Result<Vec<Bytes>> {
        let ring = self.request.database.ring_order();
        if let Some(indexes) = self.request.store().capabilities().indexes {
            let all = Bounds::Keys { start: Bytes::new(), end: Bytes::new() };
            let bounds = match after {
                Some(key) => ring.after_key(&all, key, self.request.behaviour.release),
                None => Some(all),
            };
            let Some(bounds) = bounds else { return Ok(Vec::new()) };
            let read = self.request.command(cf, None, Predicate::Names(vec![column.clone()]));
            let (column, value) = (column.clone(), Bytes::copy_from_slice(value));
            let lookup = IndexLookup { read, column, value, bounds, max_keys: count };
            return Ok(indexes.indexed_keys(lookup, self.request.consistency).await?);
        }
        let definition = cf.column_metadata.get(column);
        let Some((definition, index)) = definition.zip(cf.index_families.get(column)) else {
            return Ok(Vec::new());
        };
        // The smallest name after the names of a row.
        let start_after = |key: &Bytes| match cf.table {
            None => [&ring.row_name(key)[..], &[0]].concat().into(),
            Some(_) => ring.after_partition(key),
        };
        let mut start: Bytes = after.map(start_after).unwrap_or_default();
        let index: Arc<CfDef> = index.clone();
        let mut keys: Vec<Bytes> = Vec::new();
        while keys.len() < count {
            let range = SliceRange { start, count, ..SliceRange::all() };
            let command = self.request.command(&index, None, Predicate::Range(range));
            let read = self.read(index_key(definition, value), command).await?;
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
