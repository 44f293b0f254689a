//! A column family as CQL sees it: a table.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::{CfDef, thrift_table};
use crate::marshal::CqlType;
use crate::util::Release;

/// How the cells of a table are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A CQL table: the clustering values, then the column's name, as one composite name. Each row has a marker.
    Sparse,
    /// COMPACT STORAGE without clustering columns: a cell's name is the column's.
    StaticCompact,
    /// COMPACT STORAGE with one clustering column: its value is the cell's name.
    Dense,
    /// COMPACT STORAGE with several: their values are, as one composite name.
    CompositeDense,
    /// A column family of super columns: the first clustering column names the super column. Without definitions of
    /// columns there is a second one, for the columns in it.
    Super,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    PartitionKey,
    Clustering,
    Static,
    Regular,
    /// What a cell of a dense table holds.
    CompactValue,
}

/// One column of a table.
#[derive(Debug, Clone)]
pub struct TableColumn {
    pub name: String,
    pub kind: ColumnKind,
    /// Its place among the columns of the partition key, or among the clustering columns; else 0.
    pub position: usize,
    pub cql_type: CqlType,
    /// A clustering column that sorts backwards.
    pub is_reversed: bool,
    /// What the column is called in cells' names: mostly the bytes of its name.
    pub cell_name: Bytes,
}

impl TableColumn {
    /// A column that sorts forwards and whose cells are called by its name.
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
    /// The microsecond of the last drop.
    pub at_us: i64,
    pub is_static: bool,
    pub cql_type: CqlType,
}

/// A table.
#[derive(Debug, Clone)]
pub struct TableDef {
    pub layout: Layout,
    pub partition_key: Vec<TableColumn>,
    pub clustering: Vec<TableColumn>,
    /// Static and regular columns and a dense table's value, by their names.
    pub others: BTreeMap<String, TableColumn>,
    /// Columns that were dropped, by their names in cells. Their cells stay stored, and nobody sees those with the drop's
    /// timestamp or an older one, even when a column of the name is there again.
    pub dropped: BTreeMap<Bytes, DroppedColumn>,
}

impl TableDef {
    /// The table that a column family is: as CREATE TABLE said, or for one that Thrift clients have made, as a release
    /// shows it.
    pub fn of(cf: &CfDef, release: Release) -> Arc<TableDef> {
        match &cf.table {
            Some(table) => table.clone(),
            None => Arc::new(thrift_table::table_of(cf, release)),
        }
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        let keys = self.partition_key.iter().chain(&self.clustering);
        keys.into_iter().find(|column| column.name == name).or_else(|| self.others.get(name))
    }

    /// Every column, in the order of `SELECT *`: the keys, and by their names the static columns before the others.
    pub fn columns(&self) -> impl Iterator<Item = &TableColumn> {
        let is_own = |column: &&TableColumn| column.kind != ColumnKind::Static;
        let others = self.static_columns().chain(self.others.values().filter(is_own));
        self.partition_key.iter().chain(&self.clustering).chain(others)
    }

    pub fn static_columns(&self) -> impl Iterator<Item = &TableColumn> {
        self.others.values().filter(|column| column.kind == ColumnKind::Static)
    }

    /// What the cells of a dense table hold; `None` where they hold nothing.
    pub fn compact_value(&self) -> Option<&TableColumn> {
        self.others.values().find(|column| column.kind == ColumnKind::CompactValue)
    }

    /// Whether it was made WITH COMPACT STORAGE, or by a Thrift client.
    pub fn is_compact(&self) -> bool {
        self.layout != Layout::Sparse
    }
}
