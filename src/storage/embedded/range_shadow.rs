//! What tombstones of runs of names shadow in a row. Only the sweeper asks: reads look at each name that they meet.

use bytes::Bytes;

use super::key::{self, COLUMNS_LEVEL, ROW_END, SuperEntry};
use super::row_reader::decode_cell;
use super::row_source::{RowKey, RowSource};
use super::value::{self, Value};
use crate::compat::features::releases::NEWEST;
use crate::marshal::{self, AbstractType, TypeRef};
use crate::model::{DeletionTime, LevelRanges, RangeDeletion};
use crate::schema::CfDef;
use crate::storage::StoreError;

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
                let Some((holder, deletion, at)) = holders.of_entry(&key, &value, &*cf.comparator)? else {
                    continue;
                };
                let Some(cell) = decode_cell(key.tail(at), value, &**sub)? else { continue };
                let over = LevelRanges::of_supers(ranges, names).over(&holder);
                let held = (&holder[..], over.merged(deletion));
                let inside = LevelRanges::of_super(ranges, held, names, newest_view(sub));
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
    marshal::at(&**of, NEWEST)
}

/// Tells the super column of each of a row's entries, which come in order.
#[derive(Default)]
struct Holders {
    /// Of the super column whose deletion was met last: ordered name, deletion, and the plain name that it may keep.
    met: Option<(Vec<u8>, DeletionTime, Option<Bytes>)>,
}

impl Holders {
    /// The super column of a cell, its deletion, and where in the key the cell's own name begins; `None` for other
    /// entries.
    fn of_entry(
        &mut self,
        key: &RowKey,
        value: &Bytes,
        comparator: &dyn AbstractType,
    ) -> Result<Option<(Bytes, DeletionTime, usize)>, StoreError> {
        let Some(entry) = SuperEntry::parse(key.as_slice(), COLUMNS_LEVEL.len()) else { return Ok(None) };
        let Some(at) = entry.cell_at else {
            if let Value::Deletion { deletion, name, .. } = value::decode(value.clone())? {
                self.met = Some((entry.ordered_super, deletion, name));
            }
            return Ok(None);
        };
        let (deletion, kept) = match &self.met {
            Some((ordered, deletion, name)) if *ordered == entry.ordered_super => (*deletion, name.clone()),
            _ => (DeletionTime::LIVE, None),
        };
        let holder = kept.or_else(|| key::name_of(entry.ordered_super.into(), comparator));
        // A name that nothing tells belongs to damaged data. What it holds is left alone.
        Ok(holder.map(|holder| (holder, deletion, at)))
    }
}
