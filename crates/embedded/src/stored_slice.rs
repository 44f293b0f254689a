//! Reads a slice of a row as it is stored, for people who look at it.
//!
//! A read of an application skips tombstones, and a slice of it may pass a million of them before it has found enough
//! live cells. This read stops after a number of entries, whatever they are, and returns the name to continue with:
//!
//! ```text
//!   row | 00                          deletion of the row
//!   row | 00 01 | range               range tombstones
//!   row | 01 | name                   cells: each is returned, with the answer to "is it hidden?"
//!
//!   row | 01 | esc(s) | 00            deletion of super column s
//!   row | 01 | esc(s) | 01 | name     its cells: the first ones, then the read seeks to the next super column
//! ```

use bytes::Bytes;

use super::key::{self, COLUMNS_LEVEL, ROW_END, ROW_MARKER, SuperEntry, SuperPrefix};
use super::row_reader::{Names, decode_cell, name_of};
use super::row_source::RowSource;
use base::compat::features::releases::NEWEST;
use base::model::{Cell, DeletionTime, LevelRanges, RangeTombstone, SliceRange, SortedRanges};
use base::util::meter;
use store::collect::Shadows;
use store::dump::{is_dropped, sort_ranges};
use store::limits::CELLS_PER_CHECK;
use store::{Result, StoreError, StoredCell, StoredColumns, StoredSlice, StoredSliceCommand, StoredSuper};

/// Entries that one call passes at most for each that it returns. Cells of dropped columns are passed.
const PASSED_PER_COLUMN: usize = 100;

/// The rest of the limits of a call.
struct Left {
    columns: usize,
    bytes: usize,
    entries: usize,
}

impl Left {
    fn of(command: &StoredSliceCommand) -> Left {
        let columns = command.range.count.max(1);
        Left { columns, bytes: command.max_bytes, entries: columns.saturating_mul(PASSED_PER_COLUMN) }
    }

    fn is_used_up(&self) -> bool {
        self.columns == 0 || self.bytes == 0 || self.entries == 0
    }

    /// Takes the bytes of a cell, and charges them to the request.
    fn take(&mut self, cell: &Cell) -> Result<()> {
        self.bytes = self.bytes.saturating_sub(cell.name.len() + cell.value.len());
        Ok(meter::charge(cell.memory())?)
    }
}

impl RowSource<'_> {
    /// Reads a slice with tombstones and hidden cells.
    pub(crate) fn stored_slice(&self, command: &StoredSliceCommand) -> Result<StoredSlice> {
        let (deletion, ranges) = self.row_deletions()?;
        // They are sorted in a copy.
        ranges.iter().try_for_each(|range| meter::charge(range.memory()))?;
        let names = Names::new(&*command.cf.comparator, NEWEST);
        let (mut super_deletion, mut level) = (DeletionTime::LIVE, COLUMNS_LEVEL.to_vec());
        let mut left = Left::of(command);
        let of_super = command.cf.subcomparator().zip(command.super_column.as_ref());
        let (columns, next) = match (command.cf.subcomparator(), of_super) {
            (None, _) => {
                let sorted = SortedRanges::new(ranges.clone(), names.view);
                let over = LevelRanges::of_sorted(&sorted, names.view);
                let shadows = Shadows::of_row(deletion, Some(over));
                self.stored_cells(&level, names, shadows, command, &mut left)?
            }
            (_, Some((subcomparator, name))) => {
                let holder = SuperPrefix::of(COLUMNS_LEVEL, name, names.stored);
                super_deletion = self.deletion_at(&holder.marker())?;
                level = holder.cells();
                let subnames = Names::new(&**subcomparator, NEWEST);
                let container = super_deletion.merged(LevelRanges::of_supers(&ranges, names.view).over(name));
                let over = LevelRanges::of_super(&ranges, name, container, names.view, subnames.view);
                let shadows = Shadows { container, outer: deletion, ranges: Some(over) };
                self.stored_cells(&level, subnames, shadows, command, &mut left)?
            }
            (Some(subcomparator), None) => {
                let subnames = Names::new(&**subcomparator, NEWEST);
                self.stored_supers(names, subnames, deletion, &ranges, command, &mut left)?
            }
        };
        let ranges = ranges.into_iter().filter(|range| match (&command.super_column, &range.super_column) {
            (None, _) => true,
            (Some(of), Some(name)) => of == name,
            (Some(_), None) => false,
        });
        let mut ranges: Vec<RangeTombstone> = ranges.collect();
        sort_ranges(&mut ranges);
        let range_count = ranges.len();
        ranges.truncate(command.max_ranges);
        ranges.shrink_to_fit();
        Ok(StoredSlice { deletion, super_deletion, ranges, range_count, columns, next })
    }

    /// Reads the cells of one level.
    fn stored_cells(
        &self,
        level: &[u8],
        names: Names<'_>,
        shadows: Shadows<'_>,
        command: &StoredSliceCommand,
        left: &mut Left,
    ) -> Result<(StoredColumns, Option<Bytes>)> {
        let (low, high) = bounds_of_cells(level, names, &command.range);
        let mut cells = Vec::new();
        for (at, entry) in self.entries(&low, &high, command.range.reversed).enumerate() {
            if at % CELLS_PER_CHECK == CELLS_PER_CHECK - 1 {
                meter::check()?;
            }
            let (key, value) = entry?;
            let Some(cell) = decode_cell(key.into_tail(level.len()), value, names.stored)? else { continue };
            if left.is_used_up() {
                return Ok((StoredColumns::Cells(cells), Some(cell.name)));
            }
            left.entries -= 1;
            if is_dropped(&command.cf, &cell) {
                continue;
            }
            left.take(&cell)?;
            left.columns -= 1;
            cells.push(StoredCell { is_shadowed: shadows.hide(&cell), cell });
        }
        Ok((StoredColumns::Cells(cells), None))
    }

    /// Reads super columns, each with its first cells.
    fn stored_supers(
        &self,
        names: Names<'_>,
        subnames: Names<'_>,
        row: DeletionTime,
        ranges: &[RangeTombstone],
        command: &StoredSliceCommand,
        left: &mut Left,
    ) -> Result<(StoredColumns, Option<Bytes>)> {
        let (mut low, mut high) = bounds_of_supers(names, &command.range);
        let mut supers = Vec::new();
        loop {
            meter::check()?;
            let first = self.entries(&low, &high, command.range.reversed).next();
            let Some((entry, _)) = first.transpose()? else {
                return Ok((StoredColumns::Supers(supers), None));
            };
            let (name, deletion, holder) = self.super_of(entry.as_slice(), names)?;
            if left.is_used_up() {
                return Ok((StoredColumns::Supers(supers), Some(name)));
            }
            left.entries -= 1;
            let container = deletion.merged(LevelRanges::of_supers(ranges, names.view).over(&name));
            let over = LevelRanges::of_super(ranges, &name, container, names.view, subnames.view);
            let shadows = Shadows { container, outer: row, ranges: Some(over) };
            let mut cells = Vec::new();
            let mut has_more = false;
            let prefix = holder.cells();
            for entry in self.entries(&prefix, &holder.end(), false) {
                let (key, value) = entry?;
                let Some(cell) = decode_cell(key.into_tail(prefix.len()), value, subnames.stored)? else {
                    continue;
                };
                if cells.len() >= command.cells_per_super || left.bytes == 0 {
                    has_more = true;
                    break;
                }
                left.take(&cell)?;
                cells.push(StoredCell { is_shadowed: shadows.hide(&cell), cell });
            }
            if command.range.reversed {
                high = holder.start().to_vec();
            } else {
                low = holder.end();
            }
            // An entry that only stores the name is not a super column.
            if !cells.is_empty() || has_more || deletion.is_deleted() {
                left.columns -= 1;
                supers.push(StoredSuper { name, deletion, cells, has_more });
            }
        }
    }

    /// Returns the name, the deletion and the prefix of the super column that an entry belongs to.
    fn super_of(&self, entry: &[u8], names: Names<'_>) -> Result<(Bytes, DeletionTime, SuperPrefix)> {
        let damaged = || StoreError::Corrupt("an entry of a super row cannot be read".to_owned());
        let parsed = SuperEntry::parse(entry, COLUMNS_LEVEL.len()).ok_or_else(damaged)?;
        let tag_at = parsed.cell_at.unwrap_or(entry.len()).saturating_sub(1);
        let marker = [entry.get(..tag_at).ok_or_else(damaged)?, ROW_MARKER].concat();
        let (deletion, kept) = self.deletion_and_name_at(&marker)?;
        let name = kept.map_or_else(|| name_of(parsed.ordered_super.into(), names.stored), Ok)?;
        let holder = SuperPrefix::of(COLUMNS_LEVEL, &name, names.stored);
        Ok((name, deletion, holder))
    }
}

/// Returns the first key of a slice of cells, inclusive, and the last, exclusive.
fn bounds_of_cells(level: &[u8], names: Names<'_>, range: &SliceRange) -> (Vec<u8>, Vec<u8>) {
    let (first, last) = range.ends();
    let low = if first.is_empty() { level.to_vec() } else { key::cell(level, first, names.stored) };
    if last.is_empty() {
        let mut high = level.to_vec();
        key::increment(&mut high);
        return (low, high);
    }
    let mut high = key::cell(level, last, names.stored);
    high.push(0);
    (low, high)
}

/// Returns the first key of a slice of super columns, inclusive, and the last, exclusive.
fn bounds_of_supers(names: Names<'_>, range: &SliceRange) -> (Vec<u8>, Vec<u8>) {
    let (first, last) = range.ends();
    let of = |name: &Bytes| SuperPrefix::of(COLUMNS_LEVEL, name, names.stored);
    let low = if first.is_empty() { COLUMNS_LEVEL.to_vec() } else { of(first).start().to_vec() };
    let high = if last.is_empty() { ROW_END.to_vec() } else { of(last).end() };
    (low, high)
}
