//! What tombstones of runs of names shadow in a row. Only the sweeper asks: reads look at each name that they meet.

use bytes::Bytes;

use super::key::{self, COLUMNS_LEVEL, ROW_END, SuperEntry};
use super::row_reader::decode_cell;
use super::row_source::{RowKey, RowSource};
use super::value::{self, Value};
use crate::marshal::{self, AbstractType, TypeRef};
use crate::model::{LevelRanges, RangeDeletion};
use crate::schema::CfDef;
use crate::storage::StoreError;
use crate::util::Release;

/// The keys of the cells that a row's tombstones of runs of names shadow, at most so many. All of the row's are
/// to be given: which of two that touch a name belongs to is told by both.
pub fn shadowed_by_ranges(
    source: &RowSource<'_>,
    ranges: &[RangeDeletion],
    cf: &CfDef,
    most: usize,
) -> Result<Vec<Vec<u8>>, StoreError> {
    let names = newest_view(&cf.comparator);
    let mut holders = Holders::default();
    let mut shadowed = Vec::new();
    for entry in source.entries(COLUMNS_LEVEL, ROW_END, false) {
        let (key, value) = entry?;
        let is_shadowed = match cf.subcomparator() {
            None => match decode_cell(key.tail(COLUMNS_LEVEL.len()), value, &*cf.comparator)? {
                Some(cell) => LevelRanges::of_row(ranges, names).over(&cell.name).shadows(cell.timestamp),
                None => false,
            },
            Some(sub) => {
                let Some((holder, at)) = holders.of_entry(&key, &value, &*cf.comparator)? else { continue };
                let Some(cell) = decode_cell(key.tail(at), value, &**sub)? else { continue };
                let over = LevelRanges::of_supers(ranges, names).over(&holder);
                let inside = LevelRanges::of_super(ranges, &holder, names, newest_view(sub));
                over.merged(inside.over(&cell.name)).shadows(cell.timestamp)
            }
        };
        if is_shadowed {
            shadowed.push(key.as_slice().to_vec());
            if shadowed.len() == most {
                break;
            }
        }
    }
    Ok(shadowed)
}

/// Only releases from 2.0 on make such tombstones, so names are compared as those do.
fn newest_view(of: &TypeRef) -> &dyn AbstractType {
    marshal::at(&**of, Release::V2_1)
}

/// Tells the super column of each of a row's entries, which come in order.
#[derive(Default)]
struct Holders {
    /// Ordered and plain name of the super column that was met last and keeps its name at its deletion.
    kept: Option<(Vec<u8>, Bytes)>,
}

impl Holders {
    /// The super column of a cell, and where in the key the cell's own name begins; `None` for other entries.
    fn of_entry(
        &mut self,
        key: &RowKey,
        value: &Bytes,
        comparator: &dyn AbstractType,
    ) -> Result<Option<(Bytes, usize)>, StoreError> {
        let Some(entry) = SuperEntry::parse(key.as_slice(), COLUMNS_LEVEL.len()) else { return Ok(None) };
        let Some(at) = entry.cell_at else {
            if let Value::Deletion { name: Some(name), .. } = value::decode(value.clone())? {
                self.kept = Some((entry.ordered_super, name));
            }
            return Ok(None);
        };
        let holder = match &self.kept {
            Some((ordered, name)) if *ordered == entry.ordered_super => Some(name.clone()),
            _ => key::name_of(entry.ordered_super.into(), comparator),
        };
        // A name that nothing tells belongs to damaged data. What it holds is left alone.
        Ok(holder.map(|holder| (holder, at)))
    }
}
