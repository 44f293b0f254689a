//! The table that a column family is in CQL.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::{CfDef, thrift_table};
use crate::marshal::CqlType;
use crate::util::Release;

/// The ways to name the cells of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A CQL table: a cell's name is a composite of the clustering values and the column's name. Each row has a marker.
    Sparse,
    /// COMPACT STORAGE without clustering columns: a cell's name is the column's name.
    StaticCompact,
    /// COMPACT STORAGE with one clustering column: a cell's name is its value.
    Dense,
    /// COMPACT STORAGE with several clustering columns: a cell's name is a composite of their values.
    CompositeDense,
    /// A Super column family: the first clustering column is the name of the super column. If no columns are defined, a
    /// second one is the name of the column in it.
    Super,
}

/// The role of a column in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// A component of the row key.
    PartitionKey,
    /// A component of the names of cells, by which the rows of a partition are sorted.
    Clustering,
    /// One value for the whole partition.
    Static,
    /// A value of each row of the table.
    Regular,
    /// The value of a cell in a dense table.
    CompactValue,
}

/// One column of a table.
#[derive(Debug, Clone)]
pub struct TableColumn {
    /// The name in statements, without quotes.
    pub name: String,
    /// The role of the column in the table.
    pub kind: ColumnKind,
    /// Its position among the columns of the partition key or the clustering columns; 0 for other columns.
    pub position: usize,
    /// The type of its values.
    pub cql_type: CqlType,
    /// Whether it is a clustering column in descending order.
    pub is_reversed: bool,
    /// Its name in cells' names, mostly the bytes of `name`.
    pub cell_name: Bytes,
}

impl TableColumn {
    /// Returns a column in ascending order whose cells have its name.
    pub fn new(name: &str, kind: ColumnKind, position: usize, cql_type: CqlType) -> TableColumn {
        TableColumn {
            name: name.to_owned(),
            kind,
            position,
            cql_type,
            is_reversed: false,
            cell_name: Bytes::copy_from_slice(name.as_bytes()),
        }
    }
}

/// A column that was dropped.
#[derive(Debug, Clone)]
pub struct DroppedColumn {
    /// The time of the last drop, in microseconds since 1970.
    pub at_us: i64,
    /// Whether the column had one value for the whole partition.
    pub is_static: bool,
    /// The type of its values at the last drop.
    pub cql_type: CqlType,
}

/// A table.
#[derive(Debug, Clone)]
pub struct TableDef {
    /// The way in which rows become cells.
    pub layout: Layout,
    /// The columns that are the row key, in order; at least one.
    pub partition_key: Vec<TableColumn>,
    /// The columns that begin the names of cells, in order.
    pub clustering: Vec<TableColumn>,
    /// Static and regular columns and a dense table's value, by their names.
    pub others: BTreeMap<String, TableColumn>,
    /// Columns that were dropped, by their names in cells. Their cells stay in the store. Reads skip those with the
    /// drop's timestamp or an older one, even if a column of that name exists again.
    pub dropped: BTreeMap<Bytes, DroppedColumn>,
}

impl TableDef {
    /// Returns the table of a column family: the one of CREATE TABLE, or for a column family that Thrift clients have
    /// created, the one that a release derives from it.
    pub fn of(cf: &CfDef, release: Release) -> Arc<TableDef> {
        match &cf.table {
            Some(table) => table.clone(),
            None => Arc::new(thrift_table::table_of(cf, release)),
        }
    }

    /// Returns a column by its name.
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        let keys = self.partition_key.iter().chain(&self.clustering);
        keys.into_iter().find(|column| column.name == name).or_else(|| self.others.get(name))
    }

    /// Returns all columns in the order of `SELECT *`: the key columns, then the static columns and then the others by
    /// their names.
    pub fn columns(&self) -> impl Iterator<Item = &TableColumn> {
        let regular = self.others.values().filter(|column| column.kind != ColumnKind::Static);
        self.partition_key.iter().chain(&self.clustering).chain(self.static_columns()).chain(regular)
    }

    /// Returns the columns with one value for the whole partition, sorted by their names.
    pub fn static_columns(&self) -> impl Iterator<Item = &TableColumn> {
        self.others.values().filter(|column| column.kind == ColumnKind::Static)
    }

    /// Returns the value column of a dense table, if it has one.
    pub fn compact_value(&self) -> Option<&TableColumn> {
        self.others.values().find(|column| column.kind == ColumnKind::CompactValue)
    }

    /// Returns whether it was created WITH COMPACT STORAGE or by a Thrift client.
    pub fn is_compact(&self) -> bool {
        self.layout != Layout::Sparse
    }
}
