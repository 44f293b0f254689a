//! The rows of CQL that the cells of a slice are: each value with the cell that it comes from.
//!
//! ```text
//!   cell c0   cut:1:          row marker          k    | c | title  | tags
//!   cell c1   cut:1:tags:red                      -----+---+--------+---------
//!   cell c2   cut:1:title     'Cut'               cut  | 1 | Cut    | {red}
//!                                                       c0    c2       c1
//! ```
//!
//! Consecutive cells with the same clustering values are a row. Tombstones and hidden cells are in no row.

use bytes::Bytes;

use super::query::Target;
use crate::present::ShownBytes;
use base::marshal::{CqlType, Native};
use base::model::CellKind;
use base::schema::{ColumnKind, Layout, TableColumn, TableDef, row_key_parts};
use db::Database;
use store::{StoredCell, StoredColumns, StoredSlice};

/// A part of a value: the whole value, or an element of a collection.
#[derive(Clone)]
pub(super) struct ValuePart {
    /// The key of a map's entry, or the name of a field.
    pub label: Option<ShownBytes>,
    /// `None` in a set, whose elements are only labels.
    pub value: Option<ShownBytes>,
    /// The id of its cell.
    pub anchor: String,
}

/// A value of a row; without pieces it is null.
#[derive(Default)]
pub(super) struct GridValue {
    pub open: &'static str,
    pub pieces: Vec<ValuePart>,
    pub close: &'static str,
}

pub(super) struct GridColumn {
    pub name: String,
    pub kind: &'static str,
    pub of: String,
}

/// The rows of a slice.
#[derive(Default)]
pub(super) struct CqlRows {
    pub columns: Vec<GridColumn>,
    pub rows: Vec<Vec<GridValue>>,
    /// The name of the table has these columns by statements of CQL only if they are not empty.
    pub has_statics: bool,
}

/// A live cell of the slice.
struct LiveCell<'a> {
    stored: &'a StoredCell,
    /// Its super column.
    holder: Option<&'a Bytes>,
    anchor: String,
}

/// The rows while they are built.
struct Grid<'a> {
    table: &'a TableDef,
    columns: Vec<&'a TableColumn>,
    key: Vec<Bytes>,
    rows: Vec<Vec<GridValue>>,
    /// The clustering values of the last row.
    current: Option<Vec<Bytes>>,
    statics: Vec<(usize, CqlPiece)>,
}

/// A piece, and the brackets of the collection around it.
struct CqlPiece {
    brackets: (&'static str, &'static str),
    piece: ValuePart,
}

impl CqlRows {
    pub(super) fn of(database: &Database, target: &Target, slice: &StoredSlice) -> CqlRows {
        let table = &*target.table;
        let key = target.key.as_ref().and_then(|key| row_key_parts(key, table.partition_key.len()));
        let Some(key) = key else { return CqlRows::default() };
        let columns: Vec<&TableColumn> = table.columns().collect();
        let mut grid = Grid { table, columns, key, rows: Vec::new(), current: None, statics: Vec::new() };
        let now_s = database.now_s();
        for source in sources(target, slice).iter().filter(|source| is_live(source.stored, now_s)) {
            grid.add(source);
        }
        grid.finish()
    }
}

fn is_live(stored: &StoredCell, now_s: i32) -> bool {
    let is_expired =
        matches!(stored.cell.kind, CellKind::Expiring { expires_at_s, .. } if expires_at_s <= now_s);
    !stored.is_shadowed && stored.cell.is_live() && !is_expired
}

/// Returns the cells with the ids that the page gives them.
fn sources<'a>(target: &'a Target, slice: &'a StoredSlice) -> Vec<LiveCell<'a>> {
    match &slice.columns {
        StoredColumns::Cells(cells) => {
            let holder = target.super_column.as_ref();
            let cells = cells.iter().enumerate();
            cells.map(|(at, stored)| LiveCell { stored, holder, anchor: format!("c{at}") }).collect()
        }
        StoredColumns::Supers(supers) => {
            let mut sources = Vec::new();
            for (at, column) in supers.iter().enumerate() {
                for (inner, stored) in column.cells.iter().enumerate() {
                    let anchor = format!("s{at}c{inner}");
                    sources.push(LiveCell { stored, holder: Some(&column.name), anchor });
                }
            }
            sources
        }
    }
}

impl Grid<'_> {
    fn add(&mut self, source: &LiveCell<'_>) {
        let cell = &source.stored.cell;
        match (self.table.layout, source.holder) {
            (Layout::Super, Some(holder)) => self.add_of_super(source, holder),
            (Layout::Super, None) => {}
            _ => {
                let Some(place) = self.table.place_of(&cell.name) else { return };
                let column = match &place.column {
                    None => self.table.compact_value(),
                    // The marker of a row.
                    Some(name) if name.is_empty() && self.table.layout == Layout::Sparse => {
                        self.enter(place.clustering, &source.anchor);
                        return;
                    }
                    Some(name) => self.table.others.values().find(|column| column.cell_name == *name),
                };
                // A cell of no column is in no row of CQL; in a dense table without a value column each cell is a row.
                if place.column.is_some() && column.is_none() {
                    return;
                }
                let at = column.and_then(|column| self.position(column));
                let piece = column.map(|column| piece_of(column, place.element.as_ref(), source));
                if place.is_static {
                    self.statics.extend(at.zip(piece));
                    return;
                }
                self.enter(place.clustering, &source.anchor);
                if let Some((at, piece)) = at.zip(piece) {
                    self.put(at, piece);
                }
            }
        }
    }

    /// Adds a cell of a super column: a column of its row if the table declares columns, otherwise a row.
    fn add_of_super(&mut self, source: &LiveCell<'_>, holder: &Bytes) {
        let name = &source.stored.cell.name;
        let (clustering, column) = match self.table.clustering.len() {
            1 => (vec![holder.clone()], self.table.others.values().find(|column| column.cell_name == *name)),
            _ => (vec![holder.clone(), name.clone()], self.table.compact_value()),
        };
        let Some(column) = column else { return };
        self.enter(clustering, &source.anchor);
        if let Some(at) = self.position(column) {
            self.put(at, piece_of(column, None, source));
        }
    }

    fn position(&self, column: &TableColumn) -> Option<usize> {
        self.columns.iter().position(|other| other.name == column.name)
    }

    /// Begins the row of these clustering values, unless it is the current one.
    fn enter(&mut self, clustering: Vec<Bytes>, anchor: &str) {
        if self.current.as_ref() == Some(&clustering) {
            return;
        }
        self.push_row(&clustering, anchor);
        self.current = Some(clustering);
    }

    fn push_row(&mut self, clustering: &[Bytes], anchor: &str) {
        let mut row = Vec::new();
        for column in &self.columns {
            // Values of the key have no cell of their own.
            let (bytes, anchor) = match column.kind {
                ColumnKind::PartitionKey => (self.key.get(column.position), ""),
                ColumnKind::Clustering => (clustering.get(column.position), anchor),
                _ => (None, ""),
            };
            let pieces = bytes.map(|bytes| {
                let value = Some(ShownBytes::of_type(&column.cql_type, bytes));
                ValuePart { label: None, value, anchor: anchor.to_owned() }
            });
            row.push(GridValue { pieces: pieces.into_iter().collect(), ..GridValue::default() });
        }
        self.rows.push(row);
    }

    fn put(&mut self, at: usize, CqlPiece { brackets, piece }: CqlPiece) {
        let Some(value) = self.rows.last_mut().and_then(|row| row.get_mut(at)) else { return };
        (value.open, value.close) = brackets;
        value.pieces.push(piece);
    }

    fn finish(mut self) -> CqlRows {
        // A partition with static values and no rows is one row of CQL.
        if self.rows.is_empty() && !self.statics.is_empty() {
            self.push_row(&[], "");
        }
        for (at, CqlPiece { brackets, piece }) in self.statics {
            for value in self.rows.iter_mut().filter_map(|row| row.get_mut(at)) {
                (value.open, value.close) = brackets;
                value.pieces.push(piece.clone());
            }
        }
        let columns = self.columns.iter().map(|column| GridColumn {
            name: crate::present::escaped(column.name.as_bytes()),
            kind: match column.kind {
                ColumnKind::PartitionKey => "partition key",
                ColumnKind::Clustering => "clustering",
                ColumnKind::Static => "static",
                ColumnKind::Regular | ColumnKind::CompactValue => "",
            },
            of: column.cql_type.to_string(),
        });
        CqlRows {
            columns: columns.collect(),
            rows: self.rows,
            has_statics: self.table.static_columns().next().is_some(),
        }
    }
}

/// Returns the value of a cell in a column, or the element of its collection.
fn piece_of(column: &TableColumn, element: Option<&Bytes>, source: &LiveCell<'_>) -> CqlPiece {
    let value = &source.stored.cell.value;
    let shown = |of: &CqlType| Some(ShownBytes::of_type(of, value));
    let (brackets, label, value) = match (&column.cql_type, element) {
        (CqlType::Map { key, value: of, is_frozen: false }, Some(element)) => {
            (("{", "}"), Some(ShownBytes::of_type(key, element)), shown(of))
        }
        (CqlType::Set { element: of, is_frozen: false }, Some(element)) => {
            (("{", "}"), None, Some(ShownBytes::of_type(of, element)))
        }
        (CqlType::List { element: of, is_frozen: false }, Some(_)) => (("[", "]"), None, shown(of)),
        (CqlType::User { user, is_frozen: false }, Some(element)) => {
            let at = <[u8; 2]>::try_from(&element[..]).ok().map(u16::from_be_bytes);
            match at.and_then(|at| user.fields.get(usize::from(at))) {
                Some((name, of)) => {
                    let name =
                        ShownBytes::of_type(&CqlType::Native(Native::Text), &Bytes::from(name.clone()));
                    (("{", "}"), Some(name), shown(of))
                }
                None => (("{", "}"), None, shown(&CqlType::Native(Native::Blob))),
            }
        }
        (of, _) => (("", ""), None, shown(of)),
    };
    CqlPiece { brackets, piece: ValuePart { label, value, anchor: source.anchor.clone() } }
}
