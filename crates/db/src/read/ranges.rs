//! Reads of many rows: range scans, and scans that page through columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::ReversedSlice;
use super::pages::Pages;
use crate::args::{ColumnParent, KeyRange, SlicePredicate};
use crate::error::invalid;
use crate::{Error, Request, Result};
use base::compat::features::ConsistencyLevel;
use base::model::{Bounds, Predicate, RangeCommand, Row, SliceRange};
use base::partitioner::Partitioner;
use base::schema::CfDef;

/// Reads of ranges of rows.
#[derive(Clone, Copy)]
pub struct Ranges<'a> {
    pub(super) request: &'a Request<'a>,
}

impl Request<'_> {
    /// Returns the reads of ranges of rows.
    pub fn ranges(&self) -> Ranges<'_> {
        Ranges { request: self }
    }
}

impl<'a> Ranges<'a> {
    /// Returns the rows of a range in ring order, each with a slice. get_range_slice is the same with keys.
    pub async fn get_range_slices(
        &self,
        parent: &ColumnParent,
        predicate: &SlicePredicate,
        range: &KeyRange,
    ) -> Result<Vec<Row>> {
        let Request { keyspace, consistency, behaviour, .. } = *self.request;
        let checks = self.request.validation();
        let cf = checks.column_parent(keyspace, parent)?;
        let predicate = checks.predicate(cf, parent.super_column.as_ref(), predicate)?;
        checks.key_range(cf, parent.super_column.as_ref(), range, self.partitioner())?;
        if consistency == ConsistencyLevel::Zero || behaviour.reads.scan_checks_level {
            // 0.6 fails with an internal error at ZERO and accepts ANY.
            checks.read_consistency(keyspace, consistency)?;
        }
        self.request.check_replicas_to_read()?;
        let bounds = self.bounds(range)?;
        let mut read = self.request.command(cf, parent.super_column.clone(), predicate);
        let max_rows = usize::try_from(range.count).unwrap_or(0);
        if !range.row_filter.is_empty() {
            let index_reads = self.request.index_reads();
            return index_reads.rows_that_meet(&range.row_filter, bounds, max_rows, read).await;
        }
        let merge = ReversedSlice::of(&mut read);
        let command = RangeCommand { bounds, max_rows, read, skip_empty: false };
        let rows = self.request.store().scan(command, consistency).await?;
        let Some(merge) = merge else { return Ok(rows) };
        Ok(rows.into_iter().map(|row| Row { columns: merge.merged(row.columns), ..row }).collect())
    }

    fn partitioner(&self) -> &'a dyn Partitioner {
        &**self.request.database.partitioner()
    }

    fn bounds(&self, range: &KeyRange) -> Result<Bounds> {
        let partitioner = self.partitioner();
        let key = |key: &Option<Bytes>| key.clone().unwrap_or_default();
        let token = |text: &Bytes| {
            let text = String::from_utf8_lossy(text);
            partitioner.parse_token(&text).map_err(|error| Error::invalid(error.to_string()))
        };
        match (&range.start_token, &range.end_token) {
            (Some(start), Some(end)) => Ok(Bounds::Tokens { start: token(start)?, end: token(end)? }),
            (None, Some(end)) => {
                let end = token(end)?;
                let is_open = end == partitioner.minimum_token(self.request.behaviour.release);
                Ok(Bounds::KeyToToken { start: key(&range.start_key), end: (!is_open).then_some(end) })
            }
            _ => Ok(Bounds::Keys { start: key(&range.start_key), end: key(&range.end_key) }),
        }
    }

    /// Returns the columns of consecutive rows, in the first row from a column on; the count limits the columns of
    /// all rows together (1.1 and later). Rows without columns are returned as in a range scan.
    pub async fn get_paged_slice(
        &self,
        family: &Bytes,
        range: &KeyRange,
        mut start_column: Bytes,
    ) -> Result<Vec<Row>> {
        let Request { keyspace, consistency, behaviour, .. } = *self.request;
        let checks = self.request.validation();
        let cf = checks.family(keyspace, family)?;
        checks.key_range(cf, None, range, self.partitioner())?;
        checks.read_consistency(keyspace, consistency)?;
        if !range.row_filter.is_empty() {
            return invalid("Cross-row paging is not supported along with index clauses");
        }
        if behaviour.reads.page_start_is_read_as_name {
            start_column = checks.read_bound_unchecked(cf, &start_column)?;
        }
        self.request.check_replicas_to_read()?;
        let count = usize::try_from(range.count).unwrap_or(0);
        let mut pages =
            Pages { request: self.request, cf: cf.clone(), columns_left: count, found: Vec::new() };
        let ring = self.request.database.ring_order();
        if behaviour.reads.page_count_is_of_rows {
            if !cf.is_super() {
                // 3.0 fails with an internal error.
                checks.page_start(cf, &start_column)?;
            }
            for part in ring.parts(self.bounds(range)?, behaviour.release) {
                let start = if pages.found.is_empty() { start_column.clone() } else { Bytes::new() };
                pages.read_rows(part, start, count).await?;
            }
            return Ok(pages.found);
        }
        for part in ring.parts(self.bounds(range)?, behaviour.release) {
            // The part after the end of the ring is read as a range of its own, unless there are enough columns
            // already.
            if pages.columns_left > 0 {
                pages.columns_left = count;
                let start = if pages.found.is_empty() { start_column.clone() } else { Bytes::new() };
                pages.read(part, start).await?;
            }
        }
        Ok(pages.found)
    }

    /// Returns the keys in a range that have live columns, in the order of the keys (0.4 and 0.5).
    pub async fn get_key_range(
        &self,
        family: &[u8],
        start: Bytes,
        finish: Bytes,
        count: i32,
    ) -> Result<Vec<Bytes>> {
        let keyspace = self.request.keyspace;
        let checks = self.request.validation();
        checks.keyspace(keyspace)?;
        let family_name = String::from_utf8_lossy(family);
        let cf = checks
            .column_family(keyspace, family)
            .map_err(|_| Error::unknown(format!("Column Family {family_name} is invalid.")))?;
        let max_rows = self.keys_wanted(count)?;
        self.live_keys(cf, Bounds::Keys { start, end: finish }, max_rows).await
    }

    /// Returns the keys in a range that have live columns in any column family of a table, in the order of the keys
    /// (0.3).
    pub async fn get_table_keys(&self, start: Bytes, finish: Bytes, count: i32) -> Result<Vec<Bytes>> {
        let Request { keyspace: table, ref catalog, .. } = *self.request;
        let ring = self.request.database.ring_order();
        let max_rows = self.keys_wanted(count)?;
        self.request.validation().keyspace(table)?;
        let bounds = Bounds::Keys { start, end: finish };
        let mut keys = BTreeMap::new();
        for cf in catalog.keyspace(table).into_iter().flat_map(|keyspace| keyspace.column_families.values()) {
            for key in self.live_keys(cf, bounds.clone(), max_rows).await? {
                keys.insert((ring.token(&key), key.clone()), key);
            }
        }
        Ok(keys.into_values().take(max_rows).collect())
    }

    /// Returns the number of keys that a call requests. Such calls need an order-preserving partitioner.
    fn keys_wanted(&self, count: i32) -> Result<usize> {
        if !self.partitioner().preserves_order() {
            return invalid("range queries may only be performed against an order-preserving partitioner");
        }
        match usize::try_from(count) {
            Ok(max_rows) if max_rows > 0 => Ok(max_rows),
            _ => invalid("maxResults must be positive"),
        }
    }

    /// Returns the first keys of a range that have live columns in one column family.
    async fn live_keys(&self, cf: &Arc<CfDef>, bounds: Bounds, max_rows: usize) -> Result<Vec<Bytes>> {
        let first_live = Predicate::Range(SliceRange { count: 1, ..SliceRange::all() });
        let mut read = self.request.command(cf, None, first_live);
        if self.request.behaviour.reads.key_range_misses_refilled_supers {
            // The old server looks for live columns as if all tombstones had been purged.
            read.gc_before = i32::MAX;
        }
        let command = RangeCommand { bounds, max_rows, read, skip_empty: true };
        let rows = self.request.store().scan(command, ConsistencyLevel::One).await?;
        Ok(rows.into_iter().map(|row| row.key).collect())
    }
}
