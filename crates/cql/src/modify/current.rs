//! Reads the current state of a row that a statement needs before it writes.

use bytes::Bytes;

use super::row_writer::Lists;
use crate::select::RowSet;
use crate::{QueryState, Result, Table};
use base::compat::features::ConsistencyLevel;
use base::compat::features::restrictions::CHANGES_OF_SEVERAL_ROWS;
use base::marshal::{
    CollectionForm, CqlType, STATIC_PREFIX, list_to_bytes, map_to_bytes, push_component, whole_from_fields,
};
use base::model::{Cell, Predicate, RowColumns, SliceRange};
use base::schema::{ColumnKind, Layout, TableColumn, TableDef};

/// The live cells of one row, or the static cells of a partition.
#[derive(Debug)]
pub(super) struct CurrentRow {
    cells: Vec<Cell>,
    /// Whether it is not the row of the statement, but the first row that has the given clustering values.
    is_other: bool,
}

/// An element of a collection: its name and its value.
pub(super) type Element = (Bytes, Bytes);

/// A partition that a statement reads before it writes.
#[derive(Clone, Copy)]
pub(super) struct CurrentPartition<'a> {
    pub state: &'a QueryState<'a>,
    pub table: &'a Table,
    pub key: &'a Bytes,
    pub consistency: ConsistencyLevel,
}

fn between(start: Bytes, finish: Bytes) -> Predicate {
    Predicate::Range(SliceRange { start, finish, ..SliceRange::all() })
}

/// Returns a predicate for the first cell of a slice. In a compact table a condition on a row whose clustering values are
/// not all given is one on the first row with the given values (Cassandra 2.0 to 2.2).
fn first_of(slice: SliceRange) -> Predicate {
    Predicate::Range(SliceRange { count: 1, ..slice })
}

/// Returns the prefix of the names of static cells, as a bound.
fn static_bound(def: &TableDef, end: u8) -> Bytes {
    let mut name = STATIC_PREFIX.to_vec();
    for at in 1..=def.clustering.len() {
        push_component(&[], if at == def.clustering.len() { end } else { 0 }, &mut name);
    }
    Bytes::from(name)
}

impl CurrentPartition<'_> {
    /// Returns the live cells that a predicate selects.
    async fn read(&self, super_column: Option<Bytes>, predicate: Predicate) -> Result<Vec<Cell>> {
        let request = self.state.request(&self.table.cf.keyspace, self.consistency);
        let key = self.key.clone();
        let columns = request.reads().read_cells(&self.table.cf, key, super_column, predicate).await?;
        let RowColumns::Cells(mut cells) = columns else { return Ok(Vec::new()) };
        cells.retain(Cell::is_live);
        Ok(cells)
    }

    /// Reads the given list columns of a row.
    pub(super) async fn lists(&self, prefix: &RowSet, columns: &[&TableColumn]) -> Result<Lists> {
        let clustering = match prefix {
            RowSet::Static | RowSet::Range { .. } => &[],
            RowSet::Row(values) => &values[..],
        };
        let mut lists = Lists::new();
        for column in columns {
            if lists.contains_key(&column.cell_name) {
                continue;
            }
            let is_static = column.kind == ColumnKind::Static;
            let bound = |end| self.table.def.sparse_name(is_static, clustering, &column.cell_name, None, end);
            lists.insert(column.cell_name.clone(), self.read(None, between(bound(0), bound(1))).await?);
        }
        Ok(lists)
    }

    /// Reads a whole row. A row whose columns are all null must be distinguished from a missing row.
    pub(super) async fn row(&self, prefix: &RowSet) -> Result<CurrentRow> {
        let def = &self.table.def;
        let reads_first = !self.state.has(CHANGES_OF_SEVERAL_ROWS);
        let declared = || def.others.values().map(|column| column.cell_name.clone()).collect();
        let (super_column, predicate) = match (def.layout, prefix) {
            (_, RowSet::Range { start, finish }) => (None, between(start.clone(), finish.clone())),
            (_, RowSet::Static) => (None, between(static_bound(def, 0), static_bound(def, 1))),
            (Layout::StaticCompact, _) => (None, Predicate::Names(declared())),
            (Layout::Super, RowSet::Row(values)) => match &values[..] {
                [super_column, name] => (Some(super_column.clone()), Predicate::Names(vec![name.clone()])),
                [super_column] => (Some(super_column.clone()), Predicate::Names(declared())),
                _ => (None, Predicate::Names(Vec::new())),
            },
            (Layout::Dense, RowSet::Row(values))
                if reads_first && values.iter().all(|value| value.is_empty()) =>
            {
                (None, first_of(SliceRange::all()))
            }
            (Layout::CompositeDense, RowSet::Row(values))
                if reads_first && values.len() < def.clustering.len() =>
            {
                let (start, finish) = match values.is_empty() {
                    true => (Bytes::new(), Bytes::new()),
                    false => (def.clustering_prefix(values, 0), def.clustering_prefix(values, 1)),
                };
                (None, first_of(SliceRange { start, finish, ..SliceRange::all() }))
            }
            (Layout::Dense | Layout::CompositeDense, RowSet::Row(values)) => {
                (None, Predicate::Names(vec![def.dense_name(values)]))
            }
            (Layout::Sparse, RowSet::Row(values)) if values.is_empty() => {
                (None, Predicate::Range(SliceRange::all()))
            }
            (Layout::Sparse, RowSet::Row(values)) => {
                (None, between(def.clustering_prefix(values, 0), def.clustering_prefix(values, 1)))
            }
        };
        let is_other = matches!(predicate, Predicate::Range(SliceRange { count: 1, .. }));
        Ok(CurrentRow { cells: self.read(super_column, predicate).await?, is_other })
    }

    /// Reads the first cell of the first row of a table with static columns.
    pub(super) async fn first_row(&self) -> Result<CurrentRow> {
        let slice = SliceRange { start: static_bound(&self.table.def, 1), ..SliceRange::all() };
        Ok(CurrentRow { cells: self.read(None, first_of(slice)).await?, is_other: true })
    }
}

impl CurrentRow {
    /// Returns the row whose columns conditions look at. A row whose clustering values are not all given has none, although
    /// the answer shows the values of the first row that has the given ones (Cassandra 2.0 to 2.2).
    pub(super) fn named(&self) -> &CurrentRow {
        static NONE: CurrentRow = CurrentRow { cells: Vec::new(), is_other: false };
        if self.is_other { &NONE } else { self }
    }

    pub(super) fn exists(&self) -> bool {
        !self.cells.is_empty()
    }

    /// Returns the clustering values as they are stored, which may differ in bytes from the statement's, as 1.0 and
    /// 1.00 of a decimal are. `None` for a row without cells, and in a layout whose cell names have no clustering.
    pub(super) fn stored_clustering(&self, def: &TableDef) -> Option<Vec<Bytes>> {
        let place = def.place_of(&self.cells.first()?.name)?;
        (place.clustering.len() == def.clustering.len()).then_some(place.clustering)
    }

    /// Returns the cells of a column, with the names of its elements.
    fn cells_of<'c>(
        &'c self,
        def: &'c TableDef,
        column: &'c TableColumn,
    ) -> impl Iterator<Item = (Option<Bytes>, &'c Cell)> {
        self.cells.iter().filter_map(move |cell| match def.layout {
            Layout::Sparse => {
                let place = def.place_of(&cell.name)?;
                (place.column.as_ref() == Some(&column.cell_name)).then_some((place.element, cell))
            }
            Layout::StaticCompact => (cell.name == column.cell_name).then_some((None, cell)),
            Layout::Super if column.kind == ColumnKind::Regular => {
                (cell.name == column.cell_name).then_some((None, cell))
            }
            Layout::Dense | Layout::CompositeDense | Layout::Super => Some((None, cell)),
        })
    }

    /// Returns the value of a column that is stored in one cell.
    pub(super) fn single(&self, def: &TableDef, column: &TableColumn) -> Option<Bytes> {
        let mut cells = self.cells_of(def, column).filter(|(element, _)| element.is_none());
        cells.next().map(|(_, cell)| cell.value.clone())
    }

    /// Returns the elements of a collection, in their order.
    pub(super) fn elements(&self, def: &TableDef, column: &TableColumn) -> Vec<Element> {
        let cells = self.cells_of(def, column);
        cells.filter_map(|(element, cell)| Some((element?, cell.value.clone()))).collect()
    }

    /// Returns the value of a column in the format of results.
    pub(super) fn value(&self, def: &TableDef, column: &TableColumn) -> Option<Bytes> {
        if column.cql_type.is_multi_cell() {
            return collection_bytes(&column.cql_type, &self.elements(def, column));
        }
        self.single(def, column)
    }
}

/// Returns a collection or user-defined type in the format of results, or `None` if it has no elements: an empty
/// collection is null.
pub(super) fn collection_bytes(cql_type: &CqlType, elements: &[Element]) -> Option<Bytes> {
    if elements.is_empty() {
        return None;
    }
    Some(match cql_type {
        CqlType::Map { .. } => map_to_bytes(elements, CollectionForm::Long),
        CqlType::User { user, .. } => {
            let fields = elements.iter().map(|(name, value)| (name, value));
            whole_from_fields(fields, user.fields.len())
        }
        CqlType::Set { .. } => {
            let names: Vec<Bytes> = elements.iter().map(|(name, _)| name.clone()).collect();
            list_to_bytes(&names, CollectionForm::Long)
        }
        _ => {
            let values: Vec<Bytes> = elements.iter().map(|(_, value)| value.clone()).collect();
            list_to_bytes(&values, CollectionForm::Long)
        }
    })
}
