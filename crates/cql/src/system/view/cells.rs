//! The cells that a row of a system table has in its partition.

use bytes::Bytes;

use crate::system::SystemRow;
use base::marshal::{CollectionForm, CqlType, list_from_bytes, map_from_bytes};
use base::model::Cell;
use base::schema::{ColumnKind, Layout, TableColumn, TableDef, row_key};

/// The timestamp of all cells of system tables.
const TIMESTAMP: i64 = 0;

pub(super) fn live(name: Bytes, value: Bytes) -> Cell {
    Cell::live(name, value, TIMESTAMP)
}

/// Returns the key of a row's partition, and the row's cells. Only rows `with_marker` have a marker.
pub(super) fn cells_of(def: &TableDef, row: SystemRow, with_marker: bool) -> (Bytes, Vec<Cell>) {
    let mut values = row.values.into_iter();
    let mut take =
        |count: usize| -> Vec<Bytes> { values.by_ref().take(count).map(Option::unwrap_or_default).collect() };
    let (key, clustering) = (row_key(&take(def.partition_key.len())), take(def.clustering.len()));
    let columns: Vec<(&TableColumn, Option<Bytes>)> =
        def.columns().skip(def.partition_key.len() + def.clustering.len()).zip(values).collect();
    let cells = match def.layout {
        Layout::Dense | Layout::CompositeDense => {
            let value = columns.into_iter().find(|(column, _)| column.kind == ColumnKind::CompactValue);
            let value = value.and_then(|(_, value)| value).unwrap_or_default();
            vec![live(def.dense_name(&clustering), value)]
        }
        Layout::StaticCompact | Layout::Super => {
            let cell =
                |(column, value): (&TableColumn, Option<Bytes>)| Some(live(column.cell_name.clone(), value?));
            columns.into_iter().filter_map(cell).collect()
        }
        Layout::Sparse => {
            let marker =
                with_marker.then(|| live(def.sparse_name(false, &clustering, &[], None, 0), Bytes::new()));
            let named = columns.into_iter().filter_map(|(column, value)| Some((column, value?)));
            marker
                .into_iter()
                .chain(named.flat_map(|(column, value)| column_cells(def, &clustering, column, value)))
                .collect()
        }
    };
    (key, cells)
}

/// Returns the cells of a column of a Sparse table: one, or one for each element of a collection.
fn column_cells(def: &TableDef, clustering: &[Bytes], column: &TableColumn, value: Bytes) -> Vec<Cell> {
    let name = |element: Option<&[u8]>| def.sparse_name(false, clustering, &column.cell_name, element, 0);
    match &column.cql_type {
        CqlType::Map { .. } => {
            let entries = map_from_bytes(&value, CollectionForm::Long).unwrap_or_default();
            entries.into_iter().map(|(key, value)| live(name(Some(&key)), value)).collect()
        }
        CqlType::Set { .. } => {
            let elements = list_from_bytes(&value, CollectionForm::Long).unwrap_or_default();
            elements.iter().map(|element| live(name(Some(element)), Bytes::new())).collect()
        }
        CqlType::List { .. } => {
            let elements = list_from_bytes(&value, CollectionForm::Long).unwrap_or_default();
            let elements = elements.into_iter().enumerate();
            elements.map(|(at, element)| live(name(Some(&list_place(at))), element)).collect()
        }
        _ => vec![live(name(None), value)],
    }
}

/// Returns the name of an element of a list: a time UUID, which grows with the place in the list.
fn list_place(at: usize) -> [u8; 16] {
    let ticks = uuid::Timestamp::from_gregorian_time(at as u64, 0);
    *uuid::Uuid::new_v1(ticks, &[0; 6]).as_bytes()
}
