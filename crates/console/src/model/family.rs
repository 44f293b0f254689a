//! A column family of a sketch: its levels, its rows as cells and as CQL rows, and its queries.

use std::sync::Arc;

use bytes::Bytes;

use super::drawing::{Level, levels_of};
use super::shown_query::{QueryList, beginning};
use super::sketch::{Area, OpenSketch, SketchError};
use super::{cql_queries, cql_text, thrift_queries};
use crate::limits::{SKETCH_CELLS, SKETCH_ROWS};
use crate::present::{CellParts, ShownBytes, ShownCell, escaped, key_class};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::NEWEST;
use base::marshal::TypeRef;
use base::model::{Bounds, Cell, Predicate, Row, RowColumns, SliceRange};
use base::schema::{CfDef, Layout, TableDef};
use cql::ResultSet;
use db::Error;

/// Cells that are read of one row.
const CELLS_OF_ROW: usize = SKETCH_CELLS;

/// A column family as the page shows it.
#[derive(Debug)]
pub(crate) struct ShownFamily {
    /// The id of its element on the page.
    pub anchor: String,
    pub keyspace: String,
    pub name: String,
    /// `Standard column family`, `Super column family` or `CQL table`.
    pub kind: &'static str,
    pub levels: Vec<Level>,
    pub rows: Vec<ShownRow>,
    /// Whether there are more rows or cells than the page shows.
    pub is_cut: bool,
    pub table: ShownTable,
    /// The calls and the statements that were tried; a list that is empty is left out.
    pub queries: Vec<QueryList>,
}

/// A stored row.
#[derive(Debug)]
pub(crate) struct ShownRow {
    pub key: ShownBytes,
    pub holders: Vec<ShownHolder>,
}

/// The cells of a row, or of one of its super columns.
#[derive(Debug)]
pub(crate) struct ShownHolder {
    /// The name of the super column.
    pub name: Option<ShownBytes>,
    pub cells: Vec<ShownPlacedCell>,
}

/// A cell, and its meaning in CQL.
#[derive(Debug)]
pub(crate) struct ShownPlacedCell {
    pub cell: ShownCell,
    /// Empty if CQL does not show it.
    pub meaning: String,
}

/// The rows of a table as CQL shows them.
#[derive(Debug, Default)]
pub(crate) struct ShownTable {
    /// The names and types of the columns.
    pub columns: Vec<(String, String)>,
    /// `None` is null.
    pub rows: Vec<Vec<Option<ShownBytes>>>,
    /// Why CQL cannot show them.
    pub failure: String,
}

impl ShownFamily {
    /// Shows the column family at a position of the model.
    pub(crate) async fn of(
        open: &OpenSketch,
        cf: &Arc<CfDef>,
        at: usize,
    ) -> Result<ShownFamily, SketchError> {
        let def = TableDef::of(cf, Behaviour::of(NEWEST).release);
        let read = read_rows(open, cf).await;
        let (rows, mut is_cut) =
            read.map_err(|error| SketchError::new(Area::Data, format!("{}: {error}", cf.name)))?;
        let view = SampleRows { open, cf, def: &def };
        let mut shown = Vec::new();
        let mut left = SKETCH_CELLS;
        for (row_at, row) in rows.iter().enumerate() {
            if left == 0 {
                is_cut = true;
                break;
            }
            let row = view.row(row, &format!("f{at}r{row_at}"), &mut left);
            shown.push(row);
        }
        let state = open.state();
        let (table, sample) = match cql_text::table_rows(&state, cf).await {
            Ok((rows, is_table_cut)) => {
                is_cut |= is_table_cut;
                (ShownTable::of(&rows), Some(rows))
            }
            Err(failure) => (ShownTable { failure: beginning(&failure), ..ShownTable::default() }, None),
        };
        let thrift = thrift_queries::thrift_queries(open, cf, &def, &rows).await;
        let cql = cql_queries::cql_queries(open, cf, &def, sample.as_ref()).await;
        let lists = [QueryList::new("Thrift calls", thrift), QueryList::new("CQL statements", cql)];
        Ok(ShownFamily {
            anchor: format!("family-{at}"),
            keyspace: escaped(cf.keyspace.as_bytes()),
            name: escaped(cf.name.as_bytes()),
            kind: kind_of(cf, &def),
            levels: levels_of(cf, &def, open.database.types()),
            queries: lists.into_iter().filter(|list| !list.queries.is_empty()).collect(),
            rows: shown,
            is_cut,
            table,
        })
    }
}

fn kind_of(cf: &CfDef, def: &TableDef) -> &'static str {
    match def.layout {
        Layout::Super if cf.is_counter() => "Super column family of counters",
        Layout::Super => "Super column family",
        Layout::Sparse => "CQL table",
        Layout::CompositeDense => "Standard column family with composite names",
        _ if cf.is_counter() => "Standard column family of counters",
        _ => "Standard column family",
    }
}

/// Reads the first rows of a column family in ring order, without rows that have no cells. The last value is whether
/// there are more.
pub(super) async fn read_rows(open: &OpenSketch, cf: &Arc<CfDef>) -> Result<(Vec<Row>, bool), Error> {
    let behaviour = Behaviour::of(NEWEST);
    let request = open.database.request(cf.keyspace.as_bytes(), ConsistencyLevel::One, behaviour);
    let everything = Bounds::Keys { start: Bytes::new(), end: Bytes::new() };
    let predicate = Predicate::Range(SliceRange { count: CELLS_OF_ROW, ..SliceRange::all() });
    let mut rows = request.ranges().scan_cells(cf, everything, SKETCH_ROWS + 1, predicate).await?;
    let is_cut = rows.len() > SKETCH_ROWS;
    rows.truncate(SKETCH_ROWS);
    rows.retain(|row| !row.columns.is_empty());
    Ok((rows, is_cut))
}

/// Shows rows of a column family.
struct SampleRows<'a> {
    open: &'a OpenSketch,
    cf: &'a CfDef,
    def: &'a TableDef,
}

impl SampleRows<'_> {
    /// Shows a row with as many cells as are left.
    fn row(&self, row: &Row, anchor: &str, left: &mut usize) -> ShownRow {
        let types = self.open.database.types();
        let key = ShownBytes::of(types, key_class(self.cf), &row.key);
        let holders = match &row.columns {
            RowColumns::Cells(cells) => {
                vec![ShownHolder { name: None, cells: self.cells(cells, &self.cf.comparator, anchor, left) }]
            }
            RowColumns::Supers(supers) => {
                let names = self.cf.subcomparator().unwrap_or(&self.cf.comparator);
                let mut holders = Vec::new();
                for (at, holder) in supers.iter().enumerate() {
                    if *left == 0 {
                        break;
                    }
                    let name = Some(ShownBytes::of(types, &*self.cf.comparator, &holder.name));
                    let cells = self.cells(&holder.cells, names, &format!("{anchor}s{at}"), left);
                    holders.push(ShownHolder { name, cells });
                }
                holders
            }
        };
        ShownRow { key, holders }
    }

    fn cells(&self, cells: &[Cell], names: &TypeRef, anchor: &str, left: &mut usize) -> Vec<ShownPlacedCell> {
        let parts =
            CellParts { database: &self.open.database, cf: self.cf, names: &**names, is_shadowed: false };
        let shown = cells.iter().take(*left).enumerate().map(|(at, cell)| ShownPlacedCell {
            cell: ShownCell::of(&parts, cell, format!("{anchor}c{at}")),
            meaning: self.meaning(cell),
        });
        let shown: Vec<ShownPlacedCell> = shown.collect();
        *left -= shown.len();
        shown
    }

    /// Returns the meaning of a table's cell in CQL. Cells of other column families say it by themselves.
    fn meaning(&self, cell: &Cell) -> String {
        let is_whole_name = self.def.clustering.is_empty()
            && self.def.others.values().any(|column| column.cell_name == cell.name);
        if self.def.layout != Layout::Sparse || is_whole_name {
            return String::new();
        }
        let meaning = base::schema::show::meaning(self.open.database.types(), self.def, &cell.name, None);
        let meaning = escaped(meaning.as_bytes());
        match meaning.char_indices().nth(200) {
            Some((at, _)) => format!("{}…", meaning.get(..at).unwrap_or_default()),
            None => meaning,
        }
    }
}

impl ShownTable {
    fn of(rows: &ResultSet) -> ShownTable {
        let mut shown = ShownTable::default();
        for column in rows.columns.iter() {
            shown.columns.push((escaped(column.name.as_bytes()), column.cql_type.to_string()));
        }
        for row in &rows.rows {
            let values = rows.columns.iter().zip(row);
            let values =
                values.map(|(column, value)| Some(ShownBytes::of_type(&column.cql_type, value.as_ref()?)));
            shown.rows.push(values.collect());
        }
        shown
    }
}
