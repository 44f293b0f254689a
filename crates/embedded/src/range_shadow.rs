//! Finds the cells of a row that range tombstones shadow, so that the sweeper can remove them.
//!
//! Reads do not use this: they compare each cell that they meet with the range tombstones (`model::LevelRanges`). In a
//! row of a Standard column family only names and timestamps count:
//!
//! ```text
//!   range tombstone     b .. d, deleted at 20
//!   cells               a @10     b @10     c @30     d @20     e @10
//!   shadowed                      b                   d                     not newer than 20, and within b .. d
//! ```
//!
//! In a row of super columns a range tombstone covers either super columns, or columns of one super column. So for each
//! cell the name and the deletion of its super column must be known. The deletion is the entry before its cells, if
//! there is one, and `ShadowHolders` remembers it while iterating:
//!
//! ```text
//!   row | 01 | esc(s1) | 00         deletion of s1        remembered
//!   row | 01 | esc(s1) | 01 | a     cell a of s1          covered by a tombstone of super columns around s1, or
//!   row | 01 | esc(s1) | 01 | b     cell b of s1          by one of the columns of s1 around its own name
//!   row | 01 | esc(s2) | 01 | a     cell a of s2          s2 has no deletion
//! ```

use bytes::Bytes;

use super::key::{self, COLUMNS_LEVEL, ROW_END, SuperEntry};
use super::row_reader::{decode_cell, newest};
use super::row_source::{RowKey, RowSource};
use super::value::{self, Value};
use base::marshal::AbstractType;
use base::model::{DeletionTime, LevelRanges, RangeTombstone};
use base::schema::CfDef;
use store::Result;

/// Returns the keys of at most `most` cells that range tombstones of the row shadow. `ranges` must have all range
/// tombstones of the row: if two of them touch at a name, both are needed to decide which one covers it.
pub(crate) fn shadowed_by_ranges(
    source: &RowSource<'_>,
    ranges: &[RangeTombstone],
    cf: &CfDef,
    most: usize,
) -> Result<Vec<Vec<u8>>> {
    let names = newest(&*cf.comparator);
    let mut holders = ShadowHolders::default();
    let mut shadowed = Vec::new();
    for entry in source.entries(COLUMNS_LEVEL, ROW_END, false) {
        let (key, value) = entry?;
        let is_shadowed = match cf.subcomparator() {
            None => match decode_cell(key.clone().into_tail(COLUMNS_LEVEL.len()), value, &*cf.comparator)? {
                Some(cell) => LevelRanges::of_row(ranges, names).over(&cell.name).shadows(cell.timestamp),
                None => false,
            },
            Some(sub) => {
                let Some((holder, deletion, at)) = holders.of_entry(&key, &value, &*cf.comparator)? else {
                    continue;
                };
                let Some(cell) = decode_cell(key.clone().into_tail(at), value, &**sub)? else { continue };
                let over = LevelRanges::of_supers(ranges, names).over(&holder);
                let whole = over.merged(deletion);
                let inside = LevelRanges::of_super(ranges, &holder, whole, names, newest(&**sub));
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

/// Finds the super column of each entry of a row. Entries must be passed in their order.
#[derive(Default)]
struct ShadowHolders {
    /// The super column of the last deletion entry: its ordered name, its deletion, and the name that the entry stores
    /// if it cannot be restored from the key.
    last: Option<(Vec<u8>, DeletionTime, Option<Bytes>)>,
}

impl ShadowHolders {
    /// Returns the super column of a cell, its deletion, and the offset of the cell's name in the key. `None` for
    /// entries that are not cells.
    fn of_entry(
        &mut self,
        key: &RowKey,
        value: &Bytes,
        comparator: &dyn AbstractType,
    ) -> Result<Option<(Bytes, DeletionTime, usize)>> {
        let Some(entry) = SuperEntry::parse(key.as_slice(), COLUMNS_LEVEL.len()) else { return Ok(None) };
        let Some(at) = entry.cell_at else {
            if let Value::Deletion { deletion, name, .. } = value::decode(value.clone())? {
                self.last = Some((entry.ordered_super, deletion, name));
            }
            return Ok(None);
        };
        let (deletion, kept) = match &self.last {
            Some((ordered, deletion, name)) if *ordered == entry.ordered_super => (*deletion, name.clone()),
            _ => (DeletionTime::LIVE, None),
        };
        let holder = kept.or_else(|| key::name_of(entry.ordered_super.into(), comparator));
        // A name that can be neither read nor restored is damaged. Its cells are left alone.
        Ok(holder.map(|holder| (holder, deletion, at)))
    }
}
