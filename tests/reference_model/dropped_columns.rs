//! Columns that were dropped from a CQL table. Their cells stay stored, but no read returns them.

use base::model::Cell;
use base::schema::CfDef;

/// What the name of a static column's cell starts with, before its components.
const STATIC: &[u8] = &[0xff, 0xff];

/// Whether a cell was written to a column before the column was dropped. 2.0 and later: cells that are written after the
/// drop belong to a new column of the same name.
pub fn is_dropped(cf: &CfDef, cell: &Cell) -> bool {
    let Some(table) = cf.table.as_ref().filter(|table| !table.dropped.is_empty()) else { return false };
    let mut rest = cell.name.strip_prefix(STATIC).unwrap_or(&cell.name);
    // The name is a composite: the values of the clustering columns, then the name of the column.
    let mut column = None;
    for _ in 0..=table.clustering.len() {
        let Some((component, after)) = split(rest) else { return false };
        (column, rest) = (Some(component), after);
    }
    let dropped = column.and_then(|column| table.dropped.get(column));
    dropped.is_some_and(|dropped| cell.timestamp <= dropped.at_us)
}

/// Splits the first component off a composite: two bytes of length, the value, one byte for the end of the component.
fn split(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = name.split_first_chunk::<2>()?;
    let (value, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    Some((value, rest.get(1..).unwrap_or_default()))
}
