//! Removes index entries whose rows no longer have the value.

use std::sync::Arc;

use bytes::Bytes;

use super::index_reads::IndexReads;
use super::indexes::index_key;
use super::table_index;
use crate::ring_order::RingOrder;
use crate::{Request, Result};
use base::compat::features::ConsistencyLevel;
use base::model::{Cell, Change, Mutation, Predicate, RowColumns, SliceRange};
use base::schema::CfDef;
use store::StoreError;

/// The number of entries of one partition that are read at a time.
const STALE_PAGE: usize = 256;

impl IndexReads<'_> {
    /// Waits for the writes of a row in progress; after that, the column of every visible entry is visible.
    pub(super) async fn await_writes(&self, row: &Bytes) -> Result<(), StoreError> {
        let nothing = Mutation { key: row.clone(), families: Vec::new() };
        self.request.store().apply(vec![nothing], self.request.behaviour, ConsistencyLevel::Zero).await
    }

    /// Removes a stale entry. A newer entry of the same name stays; an older write of the column loses to the
    /// column's current value. If the removal fails, the entry stays for another time.
    pub(super) async fn remove_entry(&self, index: &Arc<CfDef>, key: &Bytes, entry: &Cell) {
        let dead = Cell::tombstone(entry.name.clone(), entry.timestamp, self.request.database.now_s());
        let change = Change::Cell { super_column: None, cell: dead };
        let mutation = Mutation::of(key.clone(), index.clone(), vec![change]);
        // This does not wait for the disk: an entry that comes back is found again.
        let Request { behaviour, .. } = *self.request;
        if let Err(error) =
            self.request.store().apply(vec![mutation], behaviour, ConsistencyLevel::Zero).await
        {
            tracing::debug!("a stale index entry was not removed: {error}");
        }
    }

    /// Removes the entries of a row or partition for a value that its cells no longer have.
    pub async fn remove_stale_entries(
        &self,
        cf: &Arc<CfDef>,
        column: &Bytes,
        value: &[u8],
        row: &Bytes,
    ) -> Result<()> {
        let Some((definition, index)) = cf.column_metadata.get(column).zip(cf.index_families.get(column))
        else {
            return Ok(());
        };
        if self.request.store().capabilities().indexes.is_some() {
            // The store's own indexes have no stale entries.
            return Ok(());
        }
        let ring = self.request.database.ring_order();
        let key = index_key(definition, value);
        let command = self.request.command(index, None, entries_of_row(ring, cf, row));
        let RowColumns::Cells(entries) = self.read(key.clone(), command).await? else {
            return Ok(());
        };
        let cell_name = |entry: &Cell| match cf.table {
            None => column.clone(),
            Some(_) => entry.name.slice(ring.partition_prefix(row).len()..),
        };
        if let Err(error) = self.await_writes(row).await {
            // Reads go on where nothing can be written.
            tracing::debug!("stale index entries were not removed: {error}");
            return Ok(());
        }
        let names = Predicate::Names(entries.iter().map(cell_name).collect());
        let command = self.request.command(cf, None, names);
        let RowColumns::Cells(cells) = self.read(row.clone(), command).await? else {
            return Ok(());
        };
        for entry in &entries {
            let name = cell_name(entry);
            let mut of_name = cells.iter().filter(|cell| cell.is_live() && cell.name == name);
            let is_held = of_name.any(|cell| match &cf.table {
                None => index_key(definition, &cell.value) == key,
                Some(table) => {
                    let values = table_index::indexed_values(cf, table, row, cell);
                    values.into_iter().any(|(of, value)| of.name == *column && index_key(of, &value) == key)
                }
            });
            if !is_held {
                self.remove_entry(index, &key, entry).await;
            }
        }
        Ok(())
    }
}

/// Returns the predicate of a row's entries in an index. It excludes entries of a partition without a cell name,
/// which an earlier version wrote.
fn entries_of_row(ring: RingOrder<'_>, cf: &CfDef, row: &Bytes) -> Predicate {
    if cf.table.is_none() {
        return Predicate::Names(vec![ring.row_name(row)]);
    }
    let (start, finish) = (Bytes::from(ring.partition_prefix(row)), ring.after_partition(row));
    Predicate::Range(SliceRange { start, finish, count: STALE_PAGE, ..SliceRange::all() })
}
