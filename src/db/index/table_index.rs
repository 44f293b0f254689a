//! Index entries of the cells of a CQL table. An index lists the partitions that hold a value.

use bytes::Bytes;

use crate::marshal::CqlType;
use crate::model::Cell;
use crate::schema::{CellPlace, CfDef, ColumnDef, TableColumn, TableDef, row_key_parts};

/// The option of an index on the keys of a map, with the old servers' name.
pub const INDEX_KEYS: &str = "index_keys";

/// Returns the values under which a cell is indexed, each with the indexed column.
pub(super) fn indexed_values<'a>(
    cf: &'a CfDef,
    table: &TableDef,
    row: &Bytes,
    cell: &Cell,
) -> Vec<(&'a ColumnDef, Bytes)> {
    let Some(place) = table.place_of(&cell.name) else { return Vec::new() };
    let mut found = Vec::new();
    let indexed = |name: &Bytes| cf.column_metadata.get(name).filter(|column| column.index.is_some());
    if let Some(column) = place.column.as_ref().and_then(indexed)
        && let Some(value) = value_of(table, column, &place, cell)
    {
        found.push((column, value));
    }
    for (key, value) in table.clustering.iter().zip(&place.clustering) {
        found.extend(indexed(&key.cell_name).map(|column| (column, value.clone())));
    }
    if table.partition_key.iter().any(|key| indexed(&key.cell_name).is_some())
        && let Some(parts) = row_key_parts(row, table.partition_key.len())
    {
        for (key, value) in table.partition_key.iter().zip(parts) {
            found.extend(indexed(&key.cell_name).map(|column| (column, value)));
        }
    }
    found
}

/// Returns what an index on a column indexes of one of its cells: the value, or for a collection the elements or the
/// keys.
fn value_of(table: &TableDef, column: &ColumnDef, place: &CellPlace, cell: &Cell) -> Option<Bytes> {
    let of_keys = column.index.as_ref().and_then(|index| index.options.as_ref());
    let of_keys = of_keys.is_some_and(|options| options.contains_key(INDEX_KEYS));
    let is_column = |other: &&TableColumn| other.cell_name == column.name;
    match table.others.values().find(is_column).map(|column| &column.cql_type) {
        Some(CqlType::Set { is_frozen: false, .. }) => place.element.clone(),
        Some(CqlType::Map { is_frozen: false, .. }) if of_keys => place.element.clone(),
        Some(_) => Some(cell.value.clone()),
        None => None,
    }
}
