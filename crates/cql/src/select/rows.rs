//! Builds the rows of a table from cells: consecutive cells with the same clustering are a row.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::restrictions::Clustering;
use base::marshal::{TypeRef, Types};
use base::model::{Cell, SuperColumn};
use base::schema::{ColumnKind, Layout, TableColumn, TableDef};

/// The cells of a row for a static or regular column.
#[derive(Debug, Clone)]
pub(super) enum ColumnCells {
    One(Cell),
    /// A collection's elements in order, each with its cell.
    Many(Vec<(Bytes, Cell)>),
}

/// The cells of each static or regular column, in the order of the column names.
pub(super) type Columns = Vec<Option<ColumnCells>>;

/// The place of a value in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValuePlace {
    Key(usize),
    Clustering(usize),
    Static(usize),
    Regular(usize),
}

/// A row of a table.
#[derive(Debug, Clone)]
pub(super) struct TableRow {
    pub key: Bytes,
    pub key_parts: Arc<[Bytes]>,
    pub clustering: Clustering,
    pub statics: Arc<Columns>,
    pub columns: Columns,
}

impl TableRow {
    /// Returns the cells of a static or regular column.
    pub(super) fn held(&self, place: ValuePlace) -> Option<&ColumnCells> {
        match place {
            ValuePlace::Static(at) => self.statics.get(at)?.as_ref(),
            ValuePlace::Regular(at) => self.columns.get(at)?.as_ref(),
            ValuePlace::Key(_) | ValuePlace::Clustering(_) => None,
        }
    }

    /// Returns the value of a column that is not a multi-cell collection.
    pub(super) fn value(&self, place: ValuePlace) -> Option<&Bytes> {
        match place {
            ValuePlace::Key(at) => self.key_parts.get(at),
            ValuePlace::Clustering(at) => self.clustering.get(at)?.as_ref(),
            ValuePlace::Static(_) | ValuePlace::Regular(_) => match self.held(place)? {
                ColumnCells::One(cell) => Some(&cell.value),
                ColumnCells::Many(_) => None,
            },
        }
    }
}

/// Maps cells to the columns of a table.
#[derive(Debug)]
pub(super) struct CellColumns {
    pub def: Arc<TableDef>,
    /// By the column's name in cells: its place, whether it is static, whether it is a multi-cell collection.
    known: HashMap<Bytes, (usize, bool, bool)>,
    /// The place of a dense table's value.
    value: Option<usize>,
    /// The types of the clustering columns.
    clustering: Vec<TypeRef>,
}

impl CellColumns {
    pub(super) fn new(def: Arc<TableDef>, types: &Types) -> CellColumns {
        let known = def.others.values().enumerate().map(|(at, column)| {
            let is_static = column.kind == ColumnKind::Static;
            (column.cell_name.clone(), (at, is_static, column.cql_type.is_multi_cell()))
        });
        let known = known.collect();
        let value = def.others.values().position(|column| column.kind == ColumnKind::CompactValue);
        let clustering = def.clustering.iter().map(|column| column.cql_type.type_ref(types)).collect();
        CellColumns { def, known, value, clustering }
    }

    /// Returns whether cells with these clustering values are of one row. Different bytes can be equal values: the
    /// decimals 1.0 and 1.00.
    fn is_one_row(&self, one: &Clustering, other: &Clustering) -> bool {
        one == other
            || one.iter().zip(other).zip(&self.clustering).all(|((one, other), of)| match (one, other) {
                (Some(one), Some(other)) => one == other || of.compare(one, other).is_eq(),
                (one, other) => one == other,
            })
    }

    pub(super) fn blank(&self) -> Columns {
        vec![None; self.def.others.len()]
    }

    /// Returns the place of a column's value.
    pub(super) fn place(&self, column: &TableColumn) -> ValuePlace {
        debug_assert!(
            matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering)
                || self.known.contains_key(&column.cell_name),
            "{} would have the values of another column",
            column.name
        );
        let at = self.known.get(&column.cell_name).map(|(at, ..)| *at).unwrap_or_default();
        match column.kind {
            ColumnKind::PartitionKey => ValuePlace::Key(column.position),
            ColumnKind::Clustering => ValuePlace::Clustering(column.position),
            ColumnKind::Static => ValuePlace::Static(at),
            ColumnKind::Regular | ColumnKind::CompactValue => ValuePlace::Regular(at),
        }
    }

    /// Returns the maximum number of cells in a row if no collection has more than one element.
    pub(super) fn cells_per_row(&self) -> usize {
        match self.def.layout {
            Layout::Sparse | Layout::StaticCompact => {
                let regular = self.def.others.values().filter(|column| column.kind == ColumnKind::Regular);
                regular.count() + 1
            }
            Layout::Dense | Layout::CompositeDense | Layout::Super => 1,
        }
    }
}

/// A complete row, and the name of its last cell.
#[derive(Debug)]
pub(super) struct Grouped {
    pub clustering: Clustering,
    pub columns: Columns,
    pub last_name: Bytes,
}

/// Groups the cells of one partition into rows as they are read.
#[derive(Debug)]
pub(super) struct Grouping<'a> {
    columns: &'a CellColumns,
    is_reversed: bool,
    current: Option<Grouped>,
    /// Static cells that were read with the rows; `None` if they were read separately.
    pub statics: Option<Columns>,
}

impl<'a> Grouping<'a> {
    pub(super) fn new(columns: &'a CellColumns, is_reversed: bool, keeps_statics: bool) -> Grouping<'a> {
        Grouping { columns, is_reversed, current: None, statics: keeps_statics.then(|| columns.blank()) }
    }

    /// Goes on with a row and with static cells that an earlier grouping had.
    pub(super) fn resumed(
        columns: &'a CellColumns,
        current: Option<Grouped>,
        statics: Columns,
    ) -> Grouping<'a> {
        Grouping { columns, is_reversed: false, current, statics: Some(statics) }
    }

    /// Returns the present row and the static cells.
    pub(super) fn suspend(self) -> (Option<Grouped>, Columns) {
        debug_assert!(self.statics.is_some(), "the static columns of the partition would be lost");
        (self.current, self.statics.unwrap_or_default())
    }

    /// Adds the next cell. If it begins a new row, returns the completed row before it.
    pub(super) fn push(&mut self, cell: Cell) -> Option<Grouped> {
        let def = &self.columns.def;
        let place = def.place_of(&cell.name)?;
        let name = cell.name.clone();
        let held = match (def.layout, &place.column) {
            (Layout::Dense | Layout::CompositeDense, _) => self.columns.value.map(|at| (at, cell)),
            // The row marker.
            (Layout::Sparse, Some(column)) if column.is_empty() => None,
            // Any live cell makes its row visible, as in 2.1.22: a row whose only cell is of a column that is not defined has
            // nulls.
            (Layout::Sparse, Some(column))
                if !place.is_static && !self.columns.known.contains_key(column) =>
            {
                None
            }
            (_, column) => {
                let (at, is_static, is_collection) = *self.columns.known.get(column.as_ref()?)?;
                if is_static != place.is_static || is_collection != place.element.is_some() {
                    return None;
                }
                Some((at, cell))
            }
        };
        if place.is_static {
            if let (Some(statics), Some((at, cell))) = (&mut self.statics, held) {
                keep(statics, at, place.element, cell);
            }
            return None;
        }
        let mut clustering: Clustering = place.clustering.into_iter().map(Some).collect();
        if clustering.len() > def.clustering.len() {
            return None;
        }
        clustering.resize(def.clustering.len(), None);
        // In the other layouts each cell has its own clustering.
        let goes_on = matches!(def.layout, Layout::Sparse | Layout::StaticCompact)
            && self
                .current
                .as_ref()
                .is_some_and(|current| self.columns.is_one_row(&current.clustering, &clustering));
        let before = if goes_on { None } else { self.finish() };
        let current = self.current.get_or_insert_with(|| Grouped {
            clustering,
            columns: self.columns.blank(),
            last_name: Bytes::new(),
        });
        current.last_name = name;
        if let Some((at, cell)) = held {
            keep(&mut current.columns, at, place.element, cell);
        }
        before
    }

    /// Returns the last row.
    pub(super) fn finish(&mut self) -> Option<Grouped> {
        let mut row = self.current.take()?;
        if self.is_reversed {
            for held in &mut row.columns {
                if let Some(ColumnCells::Many(elements)) = held {
                    elements.reverse();
                }
            }
        }
        Some(row)
    }

    /// Returns the rows of a super column: one row if the table declares its columns, otherwise one row per cell.
    pub(super) fn of_super(&self, column: SuperColumn) -> Vec<Grouped> {
        let def = &self.columns.def;
        if def.clustering.len() == 1 {
            let mut columns = self.columns.blank();
            let mut last_name = None;
            for cell in column.cells {
                if let Some((at, ..)) = self.columns.known.get(&cell.name) {
                    last_name = Some(cell.name.clone());
                    keep(&mut columns, *at, None, cell);
                }
            }
            let Some(last_name) = last_name else { return Vec::new() };
            return vec![Grouped { clustering: vec![Some(column.name)], columns, last_name }];
        }
        let mut rows = Vec::with_capacity(column.cells.len());
        for cell in column.cells {
            let mut columns = self.columns.blank();
            let last_name = cell.name.clone();
            let clustering = vec![Some(column.name.clone()), Some(cell.name.clone())];
            if let Some(at) = self.columns.value {
                keep(&mut columns, at, None, cell);
            }
            rows.push(Grouped { clustering, columns, last_name });
        }
        rows
    }
}

fn keep(columns: &mut Columns, at: usize, element: Option<Bytes>, cell: Cell) {
    debug_assert!(at < columns.len(), "a cell would be missing in its row");
    let Some(place) = columns.get_mut(at) else { return };
    match (place, element) {
        (Some(ColumnCells::Many(elements)), Some(element)) => elements.push((element, cell)),
        (place, Some(element)) => *place = Some(ColumnCells::Many(vec![(element, cell)])),
        (place, None) => *place = Some(ColumnCells::One(cell)),
    }
}
