//! Builds the rows of a table from all of its live cells, partition by partition, without a statement.

use std::sync::Arc;

use bytes::Bytes;

use super::rows::{CellColumns, ColumnCells, Columns, Grouped, Grouping, ValuePlace};
use super::selection::collection;
use base::marshal::{CqlType, STATIC_PREFIX, Types};
use base::model::Cell;
use base::schema::{Layout, TableDef, row_key_parts};

/// Groups the live cells of a table into rows, as `SELECT *` returns them. Not for tables with super columns. One row is
/// in memory.
#[derive(Debug)]
pub struct RowAssembler {
    cells: CellColumns,
    /// Each column's place and type, in the order of [`TableDef::columns`].
    places: Vec<(ValuePlace, CqlType)>,
    partition: Option<PresentPartition>,
}

/// The present partition.
#[derive(Debug)]
struct PresentPartition {
    key_parts: Vec<Bytes>,
    current: Option<Grouped>,
    statics: Columns,
    has_statics: bool,
    has_rows: bool,
}

impl RowAssembler {
    /// Begins without a row.
    pub fn new(def: Arc<TableDef>, types: &Types) -> RowAssembler {
        let cells = CellColumns::new(def.clone(), types);
        let places = def.columns().map(|column| (cells.place(column), column.cql_type.clone())).collect();
        RowAssembler { cells, places, partition: None }
    }

    /// Begins a partition. Returns the last row of the partition before it.
    pub fn begin(&mut self, key: &Bytes) -> Option<Vec<Option<Bytes>>> {
        let last = self.finish();
        let count = self.cells.def.partition_key.len();
        self.partition = Some(PresentPartition {
            key_parts: row_key_parts(key, count).unwrap_or_else(|| vec![key.clone()]),
            current: None,
            statics: self.cells.blank(),
            has_statics: false,
            has_rows: false,
        });
        last
    }

    /// Adds the next cell of the partition. Returns the row before it, if the cell begins another: the values of
    /// [`TableDef::columns`], collections with long lengths.
    pub fn push(&mut self, cell: Cell) -> Option<Vec<Option<Bytes>>> {
        let partition = self.partition.as_mut()?;
        let (current, statics) = (partition.current.take(), std::mem::take(&mut partition.statics));
        let is_static = self.cells.def.layout == Layout::Sparse && cell.name.starts_with(&STATIC_PREFIX);
        let mut grouping = Grouping::resumed(&self.cells, current, statics);
        let before = grouping.push(cell);
        (partition.current, partition.statics) = grouping.suspend();
        partition.has_statics |= is_static;
        before.map(|row| self.row(Some(row)))
    }

    /// Ends the partition. Returns its last row; a partition with static columns only has one without the others.
    pub fn finish(&mut self) -> Option<Vec<Option<Bytes>>> {
        let partition = self.partition.as_mut()?;
        let current = partition.current.take();
        let has_row = current.is_some() || (partition.has_statics && !partition.has_rows);
        let last = has_row.then(|| self.row(current));
        self.partition = None;
        last
    }

    fn row(&mut self, row: Option<Grouped>) -> Vec<Option<Bytes>> {
        let Some(partition) = &mut self.partition else { return Vec::new() };
        partition.has_rows = true;
        let held = |columns: &Columns, at: usize, of: &CqlType| match columns.get(at)?.as_ref()? {
            ColumnCells::One(cell) => Some(cell.value.clone()),
            ColumnCells::Many(elements) => Some(collection(elements, of)),
        };
        let places = self.places.iter().map(|(place, of)| match *place {
            ValuePlace::Key(at) => partition.key_parts.get(at).cloned(),
            ValuePlace::Clustering(at) => row.as_ref()?.clustering.get(at)?.clone(),
            ValuePlace::Static(at) => held(&partition.statics, at, of),
            ValuePlace::Regular(at) => held(&row.as_ref()?.columns, at, of),
        });
        places.collect()
    }
}
