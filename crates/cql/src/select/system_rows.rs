//! Rows of the virtual system tables, which are generated when they are read.

use std::sync::Arc;

use bytes::Bytes;

use super::keys::Partitions;
use super::paging::{CellPosition, PagingState};
use super::rows::{ColumnCells, TableRow};
use super::walk::Walk;
use crate::system::{RequestedTables, SystemRow};
use crate::{Result, system};
use base::marshal::components;
use base::model::Cell;
use base::schema::row_key;

impl Walk<'_> {
    /// Takes the rows of a system table that meet the conditions, starting where the previous page ended.
    pub(super) fn system_rows(
        &mut self,
        wanted: &RequestedTables,
        partitions: Partitions,
        resume: Option<PagingState>,
    ) -> Result<()> {
        let ring = self.source.state.database.ring_order();
        let mut rows = system::rows(self.source.state, &self.source.cf, wanted);
        if self.slices.is_reversed {
            rows.reverse();
        }
        if let Some(resume) = &resume {
            self.skip(&mut rows, resume);
        }
        let rows = rows.into_iter().map(|row| self.system_row(row.values));
        let rows: Vec<TableRow> = rows.filter(|row| partitions.has(&row.key, ring)).collect();
        let mut before = None;
        for row in rows {
            if self.counter.is_full() {
                break;
            }
            if self.slices.is_distinct && before.as_ref() == Some(&row.key) {
                continue;
            }
            let position = if self.slices.is_distinct { None } else { self.position(&row) };
            self.answer(&row, position)?;
            before = Some(row.key);
        }
        Ok(())
    }

    /// Returns the position of a row in its partition.
    fn position(&self, row: &TableRow) -> Option<CellPosition> {
        let clustering: Vec<Bytes> = row.clustering.iter().cloned().map(Option::unwrap_or_default).collect();
        let name = self.source.columns.def.clustering_prefix(&clustering, 0);
        (!name.is_empty()).then(|| CellPosition { super_column: Bytes::new(), name })
    }

    /// Drops the rows that earlier pages have returned. The rows are in the order of their positions, or in reverse.
    fn skip(&self, rows: &mut Vec<SystemRow>, resume: &PagingState) {
        let ring = self.source.state.database.ring_order().position(&resume.key);
        let clustering: Option<Vec<Bytes>> = resume.position.as_ref().map(|position| {
            let parts = components(&position.name).unwrap_or_default();
            let parts = parts.into_iter().map(Bytes::copy_from_slice).collect();
            system::sorting(&self.source.columns.def, parts)
        });
        rows.retain(|row| {
            let order = match (row.place.0.cmp(&ring), &clustering) {
                (std::cmp::Ordering::Equal, Some(clustering)) => row.place.1.cmp(clustering),
                (order, _) => order,
            };
            if self.slices.is_reversed { order.is_lt() } else { order.is_gt() }
        });
    }

    fn system_row(&self, values: Vec<Option<Bytes>>) -> TableRow {
        let def = &self.source.columns.def;
        let mut values = values.into_iter();
        let key_parts: Arc<[Bytes]> =
            values.by_ref().take(def.partition_key.len()).map(Option::unwrap_or_default).collect();
        let clustering = values.by_ref().take(def.clustering.len()).collect();
        let held =
            |value: Option<Bytes>| value.map(|value| ColumnCells::One(Cell::live(Bytes::new(), value, 0)));
        TableRow {
            key: row_key(&key_parts),
            key_parts,
            clustering,
            statics: Arc::default(),
            columns: values.map(held).collect(),
        }
    }
}
