//! The cells that were read, as rows of cells.

use std::collections::HashSet;

use bytes::Bytes;

use crate::present::{CellParts, ShownBytes, ShownCell, key_class, name_class};
use base::schema::CfDef;
use db::Database;
use store::ReadCell;

/// The cells of a row, or of a super column, that were read.
pub(super) struct CellRow {
    pub family: String,
    pub key: ShownBytes,
    pub super_column: Option<ShownBytes>,
    pub cells: Vec<ShownCell>,
}

/// Shows a row key by its validator.
pub(super) fn shown_key(database: &Database, cf: &CfDef, key: &Bytes) -> ShownBytes {
    ShownBytes::of(database.types(), key_class(cf), key)
}

/// Groups cells by row. A cell that several requests have read is shown once.
pub(super) fn cell_rows(database: &Database, cells: &[ReadCell]) -> Vec<CellRow> {
    let mut rows: Vec<CellRow> = Vec::new();
    let mut seen = HashSet::new();
    let mut last: Option<(&str, &str, &Bytes, Option<&Bytes>)> = None;
    for (at, read) in cells.iter().enumerate() {
        let ReadCell { cf, key, super_column, cell } = read;
        if !seen.insert((&cf.keyspace, &cf.name, key, super_column, &cell.name)) {
            continue;
        }
        let place = (&*cf.keyspace, &*cf.name, key, super_column.as_ref());
        if last != Some(place) {
            last = Some(place);
            rows.push(CellRow {
                family: format!("{}.{}", cf.keyspace, cf.name),
                key: shown_key(database, cf, key),
                super_column: super_column
                    .as_ref()
                    .map(|name| ShownBytes::of(database.types(), &*cf.comparator, name)),
                cells: Vec::new(),
            });
        }
        let names = name_class(cf, super_column.is_some());
        let parts = CellParts { database, cf, names, is_shadowed: false };
        if let Some(row) = rows.last_mut() {
            row.cells.push(ShownCell::of(&parts, cell, format!("cell{at}")));
        }
    }
    rows
}
