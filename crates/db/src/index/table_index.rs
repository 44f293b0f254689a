//! Index entries of the cells of a CQL table. An index lists the partitions that hold a value.

use bytes::Bytes;

use base::marshal::{CqlType, push_component};
use base::model::Cell;
use base::schema::{CellPlace, CfDef, ColumnDef, TableDef, row_key_parts};

/// The option of an index on the keys of a map, with the old servers' name.
pub const INDEX_KEYS: &str = "index_keys";

/// The option of an index on the entries of a map, with the old servers' name.
pub const INDEX_ENTRIES: &str = "index_keys_and_values";

/// Returns the value under which an index on the entries of a map has an entry: a composite of the key and the value.
pub fn entry_value(key: &[u8], value: &[u8]) -> Bytes {
    let mut entry = Vec::with_capacity(key.len() + value.len() + 6);
    push_component(key, 0, &mut entry);
    push_component(value, 0, &mut entry);
    Bytes::from(entry)
}

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

/// Returns the parts of a cell that an index on its column indexes: the value, or for a collection the elements, the
/// keys or the entries.
fn value_of(table: &TableDef, column: &ColumnDef, place: &CellPlace, cell: &Cell) -> Option<Bytes> {
    let options = column.index.as_ref().and_then(|index| index.options.as_ref());
    let is_of = |option: &str| options.is_some_and(|options| options.contains_key(option));
    let other = table.others.values().find(|other| other.cell_name == column.name);
    match other.map(|column| &column.cql_type) {
        Some(CqlType::Set { is_frozen: false, .. }) => place.element.clone(),
        Some(CqlType::Map { is_frozen: false, .. }) if is_of(INDEX_KEYS) => place.element.clone(),
        Some(CqlType::Map { is_frozen: false, .. }) if is_of(INDEX_ENTRIES) => {
            place.element.as_ref().map(|key| entry_value(key, &cell.value))
        }
        Some(_) => Some(cell.value.clone()),
        None => None,
    }
}
