//! Reads within one row: deletions first, then only the entries that the predicate selects.
//!
//! A row is a range of sorted keys (see `key`), and its deletions sort before its cells. So one read knows what shadows
//! a cell before it meets the cell, and never reads a row as a whole:
//!
//! ```text
//!   row | 00                 deletion of the row      read once: its timestamp shadows older cells
//!   row | 00 01 | ...        range tombstones         read only if the deletion says that there are some
//!   row | 01 | a             cell
//!   row | 01 | b      <----  a slice from "b" to "d" begins here
//!   row | 01 | c             cells are decoded one by one, and dropped if a deletion shadows them
//!   row | 01 | d      <----  and ends here, or when enough columns were found
//! ```
//!
//! In super column families the same happens on two levels: a super column has its own deletion in front of its cells.
//!
//! Keys are compared as bytes. For some comparators, and for the view of an older release, only the first bytes of a name
//! are in the comparator's order (`StoredOrder`): names with these bytes in common are read as a group and sorted again
//! (`Regrouped`).

use bytes::{Buf, Bytes};

use super::key::{self, COLUMNS_LEVEL, RANGES, RANGES_END, ROW_MARKER, SuperEntry, SuperPrefix};
use super::row_source::{RowEntries, RowKey, RowSource};
use super::value::{self, Value};
use base::compat::features::releases::NEWEST;
use base::marshal;
use base::marshal::{AbstractType, StoredOrder};
use base::model::{
    Cell, DeletionTime, LevelRanges, Predicate, RangeTombstone, RangeTombstoneRule, ReadCommand, ReadOf,
    RowColumns, SliceRange, SortedRanges, SuperColumn, detach_cells,
};
use base::util::limits::REQUEST_CHUNK_BYTES;
use base::util::meter;
use store::collect::{RowTombstones, Shadows, collect_cells, collect_supers};
use store::gather::{CountedColumns, Gather, KeptColumns};
use store::limits::CELLS_PER_CHECK;
use store::order::{Regrouped, group_prefix};
use store::{Result, StoreError};

/// The comparator by which names are stored, and the one by which the caller's release orders them.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub stored: &'a dyn AbstractType,
    pub view: &'a dyn AbstractType,
}

impl<'a> Names<'a> {
    pub(crate) fn new(stored: &'a dyn AbstractType, release: base::util::Release) -> Names<'a> {
        Names { stored, view: marshal::at(stored, release) }
    }
}

/// Returns the comparator for the names of range tombstones. Only releases from 2.0 on create range tombstones, so
/// names are compared as in the newest release.
pub(crate) fn newest(of: &dyn AbstractType) -> &dyn AbstractType {
    marshal::at(of, NEWEST)
}

type Cells<'a> = Box<dyn Iterator<Item = Result<Cell>> + 'a>;
type Supers<'a> = Box<dyn Iterator<Item = Result<SuperColumn>> + 'a>;

impl RowSource<'_> {
    /// Reads the columns that a command selects.
    pub(crate) fn read(&self, command: &ReadCommand, read_of: ReadOf) -> Result<RowColumns> {
        let mut kept = KeptColumns::default();
        self.gather(command, read_of, &mut kept)?;
        if command.cf.is_super() && command.super_column.is_none() {
            kept.into_supers()
        } else {
            kept.into_cells()
        }
    }

    /// Counts the columns that a command selects, without collecting them.
    pub(crate) fn count(&self, command: &ReadCommand, read_of: ReadOf) -> Result<usize> {
        let mut counted = CountedColumns::default();
        self.gather(command, read_of, &mut counted)?;
        Ok(counted.count)
    }

    fn gather(&self, command: &ReadCommand, read_of: ReadOf, gather: &mut impl Gather) -> Result<()> {
        let (deletion, ranges) = self.row_deletions()?;
        let columns = COLUMNS_LEVEL;
        let names = Names::new(&*command.cf.comparator, command.behaviour.release);
        let Some(subcomparator) = command.cf.subcomparator() else {
            let ranges = SortedRanges::new(ranges, names.view);
            let ranges = (!ranges.is_empty()).then(|| LevelRanges::of_sorted(&ranges, names.view));
            let shadows = Shadows::of_row(deletion, ranges);
            return self.read_cells(columns, names, shadows, command, read_of, gather);
        };
        let subnames = Names::new(&**subcomparator, command.behaviour.release);
        match &command.super_column {
            Some(name) => {
                let Some(name) = self.stored_super_name(columns, name, names)? else {
                    return Ok(());
                };
                let holder = SuperPrefix::of(columns, &name, names.stored);
                let over = LevelRanges::of_supers(&ranges, names.view).over(&name);
                let container = self.deletion_at(&holder.marker())?.merged(over);
                let ranges = (!ranges.is_empty())
                    .then(|| LevelRanges::of_super(&ranges, &name, container, names.view, subnames.view));
                let shadows = Shadows { container, outer: deletion, ranges };
                self.read_cells(&holder.cells(), subnames, shadows, command, read_of, gather)
            }
            None => {
                let tombstones = RowTombstones { row: deletion, ranges: &ranges };
                self.read_supers(names, subnames, tombstones, command, gather)
            }
        }
    }

    /// Returns the row's deletion and its range tombstones.
    pub(crate) fn row_deletions(&self) -> Result<(DeletionTime, Vec<RangeTombstone>)> {
        let marker = self.get(ROW_MARKER)?.map(value::decode).transpose()?;
        let Some(Value::Deletion { deletion, has_ranges, .. }) = marker else {
            return Ok((DeletionTime::LIVE, Vec::new()));
        };
        let mut ranges = Vec::new();
        if has_ranges {
            for (at, entry) in self.entries(RANGES, RANGES_END, false).enumerate() {
                if at % CELLS_PER_CHECK == CELLS_PER_CHECK - 1 {
                    meter::check()?;
                }
                let (_, value) = entry?;
                if let Value::Range(range) = value::decode(value)? {
                    meter::charge(range.memory())?;
                    ranges.push(range);
                }
            }
        }
        Ok((deletion, ranges))
    }

    /// Returns the deletion with a key.
    pub(crate) fn deletion_at(&self, marker: &[u8]) -> Result<DeletionTime> {
        self.deletion_and_name_at(marker).map(|(deletion, _)| deletion)
    }

    /// Returns the deletion with a key, and the name that it stores.
    pub(crate) fn deletion_and_name_at(&self, marker: &[u8]) -> Result<(DeletionTime, Option<Bytes>)> {
        match self.get(marker)?.map(value::decode).transpose()? {
            Some(Value::Deletion { deletion, name, .. }) => Ok((deletion, name)),
            _ => Ok((DeletionTime::LIVE, None)),
        }
    }

    fn read_cells(
        &self,
        level: &[u8],
        names: Names<'_>,
        shadows: Shadows<'_>,
        command: &ReadCommand,
        read_of: ReadOf,
        gather: &mut impl Gather,
    ) -> Result<()> {
        let not_searched =
            shadows.ranges.map(|ranges| ranges.names_not_searched(command, read_of)).unwrap_or_default();
        let rule = RangeTombstoneRule::of_cells(command, read_of, &not_searched);
        let ranges = shadows.ranges.map(|ranges| ranges.with_rule(rule));
        let shadows = Shadows { ranges, ..shadows };
        match &command.predicate {
            Predicate::Range(range) => {
                let cells = self.slice_cells(level, names, range);
                collect_cells(cells, shadows, range.count, command, gather)
            }
            Predicate::Names(wanted) => {
                let wanted = sorted_names(wanted, names.view);
                let count = wanted.len();
                let found = wanted.into_iter().enumerate().filter_map(|(at, name)| {
                    // Names without a cell are not counted by `collect_cells`, so time and memory are checked here.
                    if at % CELLS_PER_CHECK == CELLS_PER_CHECK - 1
                        && let Err(error) = meter::check()
                    {
                        return Some(Err(error.into()));
                    }
                    self.find_cell(level, name, names).map(|cell| cell.map(|(_, cell)| cell)).transpose()
                });
                collect_cells(found, shadows, count, command, gather)
            }
        }
    }

    /// Returns the cell of a name, and its key.
    pub(crate) fn find_cell(
        &self,
        level: &[u8],
        name: &[u8],
        names: Names<'_>,
    ) -> Result<Option<(Vec<u8>, Cell)>> {
        match names.view.stored_order() {
            StoredOrder::Exact => {
                let key = key::cell(level, name, names.stored);
                let Some(value) = self.get(&key)? else { return Ok(None) };
                // The stored name may have other bytes than `name` if the comparator treats them as equal.
                let tail = if names.stored.ordered_is_name() {
                    Bytes::copy_from_slice(name)
                } else {
                    Bytes::copy_from_slice(&key[level.len()..])
                };
                Ok(decode_cell(tail, value, names.stored)?.map(|cell| (key, cell)))
            }
            StoredOrder::WithinPrefix(prefix) => {
                let start = [level, &group_prefix(names.stored, prefix, name)].concat();
                let mut end = start.clone();
                key::increment(&mut end);
                for entry in self.entries(&start, &end, false) {
                    let (key, value) = entry?;
                    let whole = key.as_slice().to_vec();
                    let cell = decode_cell(key.into_tail(level.len()), value, names.stored)?;
                    if let Some(cell) = cell
                        && names.view.compare(&cell.name, name).is_eq()
                    {
                        return Ok(Some((whole, cell)));
                    }
                }
                Ok(None)
            }
        }
    }

    /// Returns the name under which a super column is stored. By the caller's release, several names may be equal to
    /// it.
    pub(crate) fn stored_super_name(
        &self,
        columns: &[u8],
        name: &Bytes,
        names: Names<'_>,
    ) -> Result<Option<Bytes>> {
        let StoredOrder::WithinPrefix(prefix) = names.view.stored_order() else {
            return Ok(Some(name.clone()));
        };
        let ordered = group_prefix(names.stored, prefix, name);
        let mut low = SuperPrefix::open(columns, &ordered);
        let mut high = low.clone();
        key::increment(&mut high);
        // Reads the first entry of each super column, and then seeks to the next super column.
        loop {
            let mut entries = self.entries(&low, &high, false);
            let Some(entry) = entries.next() else { return Ok(None) };
            let (entry, value) = entry?;
            let Some(stored) = super_name_of(&entry, columns.len(), &value, names.stored)? else {
                return Ok(None);
            };
            if names.view.compare(&stored, name).is_eq() {
                return Ok(Some(stored));
            }
            low = SuperPrefix::of(columns, &stored, names.stored).end();
        }
    }

    /// Returns the cells of a slice, in its order.
    fn slice_cells<'b>(&'b self, level: &'b [u8], names: Names<'b>, range: &'b SliceRange) -> Cells<'b> {
        let (low, high) = slice_bounds(level, names, range, false);
        let entries = self.entries(&low, &high, range.reversed);
        let cells = entries.filter_map(move |entry| {
            entry
                .and_then(|(key, value)| decode_cell(key.into_tail(level.len()), value, names.stored))
                .transpose()
        });
        match names.view.stored_order() {
            StoredOrder::Exact => Box::new(cells),
            StoredOrder::WithinPrefix(prefix) => {
                Box::new(Regrouped::new(cells, names.view, names.stored, prefix, range))
            }
        }
    }

    fn read_supers(
        &self,
        names: Names<'_>,
        subnames: Names<'_>,
        tombstones: RowTombstones<'_>,
        command: &ReadCommand,
        gather: &mut impl Gather,
    ) -> Result<()> {
        let columns = COLUMNS_LEVEL;
        match &command.predicate {
            Predicate::Range(range) => {
                let supers = self.slice_supers(columns, names, subnames, range);
                collect_supers(supers, tombstones, range.count, command, gather)
            }
            Predicate::Names(wanted) => {
                let of_name = |name: &Bytes| {
                    let stored = self.stored_super_name(columns, name, names).transpose()?;
                    Some(stored.and_then(|stored| {
                        let holder = SuperPrefix::of(columns, &stored, names.stored);
                        let entries = self.entries(holder.start(), &holder.end(), false);
                        SuperColumns::new(entries, columns.len(), names, subnames, false).next().transpose()
                    }))
                };
                let wanted = sorted_names(wanted, names.view);
                let found = wanted.into_iter().filter_map(of_name).filter_map(Result::transpose);
                collect_supers(found, tombstones, usize::MAX, command, gather)
            }
        }
    }

    fn slice_supers<'b>(
        &'b self,
        columns: &'b [u8],
        names: Names<'b>,
        subnames: Names<'b>,
        range: &'b SliceRange,
    ) -> Supers<'b> {
        let (low, high) = slice_bounds(columns, names, range, true);
        let entries = self.entries(&low, &high, range.reversed);
        let supers = SuperColumns::new(entries, columns.len(), names, subnames, range.reversed);
        match names.view.stored_order() {
            StoredOrder::Exact => Box::new(supers),
            StoredOrder::WithinPrefix(prefix) => {
                Box::new(Regrouped::new(supers, names.view, names.stored, prefix, range))
            }
        }
    }
}

/// Returns the names sorted and without duplicates.
fn sorted_names<'a>(names: &'a [Bytes], view: &dyn AbstractType) -> Vec<&'a Bytes> {
    let mut sorted: Vec<&Bytes> = names.iter().collect();
    sorted.sort_by(|a, b| view.compare(a, b));
    sorted.dedup_by(|a, b| view.compare(a, b).is_eq());
    sorted
}

/// Returns the range of keys of a slice: the first key, inclusive, and the last, exclusive. If the caller's release
/// orders names as stored only up to a prefix, the range is widened to whole groups of names with equal prefixes.
fn slice_bounds(level: &[u8], names: Names<'_>, range: &SliceRange, is_super: bool) -> (Vec<u8>, Vec<u8>) {
    let (first, last) = range.ends();
    let prefix = match names.view.stored_order() {
        StoredOrder::Exact => usize::MAX,
        StoredOrder::WithinPrefix(prefix) => prefix,
    };
    let bound = |name: &Bytes| -> Vec<u8> {
        let ordered = group_prefix(names.stored, prefix, name);
        let is_whole = prefix == usize::MAX;
        match (is_super, is_whole) {
            (false, _) => [level, &ordered].concat(),
            (true, true) => SuperPrefix::of(level, name, names.stored).start().to_vec(),
            (true, false) => SuperPrefix::open(level, &ordered),
        }
    };
    let low = if first.is_empty() { level.to_vec() } else { bound(first) };
    let mut high = if last.is_empty() { level.to_vec() } else { bound(last) };
    let is_one_cell = !last.is_empty() && !is_super && prefix == usize::MAX;
    if is_one_cell {
        high.push(0);
    } else {
        key::increment(&mut high);
    }
    (low, high)
}

/// Decodes a cell from its ordered name and its value. `None` if the value is not a cell.
pub(crate) fn decode_cell(
    ordered: Bytes,
    mut value: Bytes,
    comparator: &dyn AbstractType,
) -> Result<Option<Cell>> {
    if let Some(timestamp) = value::plain_timestamp(&value) {
        value.advance(value::HEAD);
        return Ok(Some(Cell::live(name_of(ordered, comparator)?, value, timestamp)));
    }
    let Value::Cell { timestamp, kind, name, data } = value::decode(value)? else { return Ok(None) };
    let name = match name {
        Some(name) => name,
        None => name_of(ordered, comparator)?,
    };
    Ok(Some(Cell { name, value: data, timestamp, kind }))
}

/// Returns the column's name from its encoded form in a key.
pub(crate) fn name_of(ordered: Bytes, comparator: &dyn AbstractType) -> Result<Bytes> {
    key::name_of(ordered, comparator).ok_or_else(|| {
        StoreError::Corrupt(format!("a key cannot be decoded as a name of {}", comparator.class_name()))
    })
}

/// Returns the name of a super column from its first entry. If the name cannot be restored from the key, the deletion's
/// entry stores it.
fn super_name_of(
    entry: &RowKey,
    columns_len: usize,
    value: &Bytes,
    comparator: &dyn AbstractType,
) -> Result<Option<Bytes>> {
    let Some(parsed) = SuperEntry::parse(entry.as_slice(), columns_len) else { return Ok(None) };
    if let (None, Value::Deletion { name: Some(name), .. }) = (parsed.cell_at, value::decode(value.clone())?)
    {
        return Ok(Some(name));
    }
    name_of(parsed.ordered_super.into(), comparator).map(Some)
}

/// Groups entries into super columns. Entries may come in either direction.
struct SuperColumns<'a> {
    entries: std::iter::Peekable<RowEntries<'a>>,
    columns_len: usize,
    names: Names<'a>,
    subnames: Names<'a>,
    reversed: bool,
}

impl<'a> SuperColumns<'a> {
    fn new(
        entries: RowEntries<'a>,
        columns_len: usize,
        names: Names<'a>,
        subnames: Names<'a>,
        reversed: bool,
    ) -> SuperColumns<'a> {
        SuperColumns { entries: entries.peekable(), columns_len, names, subnames, reversed }
    }

    /// Returns the next super column: all entries that have the ordered name of the first.
    fn gather(&mut self) -> Result<Option<SuperColumn>> {
        let Some(first) = self.entries.peek() else { return Ok(None) };
        let ordered = match first {
            Ok((key, _)) => {
                SuperEntry::parse(key.as_slice(), self.columns_len).map(|entry| entry.ordered_super)
            }
            Err(error) => return Err(error.clone()),
        };
        let Some(ordered) = ordered else {
            return Err(StoreError::Corrupt("an entry of a super row cannot be read".to_owned()));
        };
        let mut kept_name = None;
        let mut deletion = DeletionTime::LIVE;
        let mut cells = Vec::new();
        // While it is built, the whole super column is in memory and charged to the meter. Afterwards the caller
        // charges the part that it keeps.
        let before = meter::mark();
        let (mut bytes, mut detached) = (0, 0);
        while let Some((entry, key, value)) = self.next_of(&ordered)? {
            match entry.cell_at {
                Some(at) => {
                    let cell = decode_cell(key.into_tail(at), value, self.subnames.stored)?;
                    bytes += cell.as_ref().map_or(0, Cell::memory);
                    cells.extend(cell);
                    if bytes >= REQUEST_CHUNK_BYTES {
                        detach_cells(&mut cells[detached..]);
                        detached = cells.len();
                        meter::charge(std::mem::take(&mut bytes))?;
                        meter::check()?;
                    }
                }
                None => {
                    if let Value::Deletion { deletion: found, name: kept, .. } = value::decode(value)? {
                        deletion = found;
                        kept_name = kept;
                    }
                }
            }
        }
        before.restore();
        if self.reversed {
            cells.reverse();
        }
        if self.subnames.view.stored_order() != StoredOrder::Exact {
            cells.sort_by(|a, b| self.subnames.view.compare(&a.name, &b.name));
        }
        let name = kept_name.map_or_else(|| name_of(ordered.into(), self.names.stored), Ok)?;
        Ok(Some(SuperColumn { name, deletion, cells }))
    }

    /// Returns the next entry if it belongs to the super column with this ordered name. An entry that cannot be read is
    /// an error, so that a super column is never returned incompletely.
    fn next_of(&mut self, ordered: &[u8]) -> Result<Option<(SuperEntry, RowKey, Bytes)>> {
        let columns_len = self.columns_len;
        let mut parsed = None;
        let next = self.entries.next_if(|next| match next {
            Ok((key, _)) => {
                parsed = SuperEntry::parse(key.as_slice(), columns_len);
                parsed.as_ref().is_some_and(|entry| entry.ordered_super == ordered)
            }
            Err(_) => true,
        });
        match (next.transpose()?, parsed) {
            (Some((key, value)), Some(entry)) => Ok(Some((entry, key, value))),
            _ => Ok(None),
        }
    }
}

impl Iterator for SuperColumns<'_> {
    type Item = Result<SuperColumn>;

    fn next(&mut self) -> Option<Self::Item> {
        self.gather().transpose()
    }
}
