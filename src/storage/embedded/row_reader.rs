//! Reads inside one row: deletions first, then only the entries that the predicate asks for.

use bytes::Bytes;

use super::key::{self, COLUMNS_LEVEL, RANGES, RANGES_END, ROW_MARKER, SuperEntry, SuperPrefix};
use super::row_source::{RowEntries, RowKey, RowSource};
use super::value::{self, Value};
use crate::marshal::{self, AbstractType, StoredOrder};
use crate::model::{
    Cell, DeletionTime, LevelRanges, Predicate, RangeDeletion, RangeTombstoneRule, ReadCommand, ReadOf,
    RowColumns, SliceRange, SortedRanges, SuperColumn, detach_cells,
};
use crate::storage::StoreError;
use crate::storage::collect::{RowTombstones, Shadows, collect_cells, collect_supers};
use crate::storage::gather::{CountedColumns, Gather, KeptColumns};
use crate::storage::order::{Regrouped, group_prefix};
use crate::util::limits::{CELLS_PER_CHECK, REQUEST_CHUNK_BYTES};
use crate::util::meter;

/// A comparator twice: as names are stored, and as the caller's release orders them.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    pub stored: &'a dyn AbstractType,
    pub view: &'a dyn AbstractType,
}

impl<'a> Names<'a> {
    pub fn new(stored: &'a dyn AbstractType, release: crate::util::Release) -> Names<'a> {
        Names { stored, view: marshal::at(stored, release) }
    }
}

type Cells<'a> = Box<dyn Iterator<Item = Result<Cell, StoreError>> + 'a>;
type Supers<'a> = Box<dyn Iterator<Item = Result<SuperColumn, StoreError>> + 'a>;

impl RowSource<'_> {
    /// Reads what a command asks of the row.
    pub fn read(&self, command: &ReadCommand, read_of: ReadOf) -> Result<RowColumns, StoreError> {
        let mut kept = KeptColumns::default();
        self.gather(command, read_of, &mut kept)?;
        match command.cf.is_super() && command.super_column.is_none() {
            true => kept.into_supers(),
            false => kept.into_cells(),
        }
    }

    /// Counts what a command asks of the row, without keeping it.
    pub fn count(&self, command: &ReadCommand, read_of: ReadOf) -> Result<usize, StoreError> {
        let mut counted = CountedColumns::default();
        self.gather(command, read_of, &mut counted)?;
        Ok(counted.count)
    }

    fn gather(
        &self,
        command: &ReadCommand,
        read_of: ReadOf,
        gather: &mut impl Gather,
    ) -> Result<(), StoreError> {
        let (deletion, ranges) = self.row_deletions()?;
        let columns = COLUMNS_LEVEL;
        let names = Names::new(&*command.cf.comparator, command.behaviour.release);
        let Some(subcomparator) = command.cf.subcomparator() else {
            let ranges = SortedRanges::new(ranges, names.view);
            let ranges = (!ranges.is_empty()).then(|| LevelRanges::of_sorted(&ranges, names.view));
            let shadows = Shadows::of_row(deletion, ranges);
            return self.read_cells(columns, names, shadows, (command, read_of), gather);
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
                    .then(|| LevelRanges::of_super(&ranges, (&name, container), names.view, subnames.view));
                let shadows = Shadows { container, outer: deletion, ranges };
                self.read_cells(&holder.cells(), subnames, shadows, (command, read_of), gather)
            }
            None => {
                let tombstones = RowTombstones { row: deletion, ranges: &ranges };
                self.read_supers((names, subnames), tombstones, command, gather)
            }
        }
    }

    /// The row's deletion, and its tombstones of runs of names.
    pub fn row_deletions(&self) -> Result<(DeletionTime, Vec<RangeDeletion>), StoreError> {
        let marker = self.get(ROW_MARKER)?.map(value::decode).transpose()?;
        let Some(Value::Deletion { deletion, has_ranges, .. }) = marker else {
            return Ok((DeletionTime::LIVE, Vec::new()));
        };
        let mut ranges = Vec::new();
        if has_ranges {
            for entry in self.entries(RANGES, RANGES_END, false) {
                let (_, value) = entry?;
                if let Value::Range(range) = value::decode(value)? {
                    ranges.push(range);
                }
            }
        }
        Ok((deletion, ranges))
    }

    /// The deletion that stands at a key.
    pub fn deletion_at(&self, marker: &[u8]) -> Result<DeletionTime, StoreError> {
        self.deletion_and_name_at(marker).map(|(deletion, _)| deletion)
    }

    /// The deletion that stands at a key, and the name that is kept there.
    pub fn deletion_and_name_at(&self, marker: &[u8]) -> Result<(DeletionTime, Option<Bytes>), StoreError> {
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
        (command, read_of): (&ReadCommand, ReadOf),
        gather: &mut impl Gather,
    ) -> Result<(), StoreError> {
        let reached = shadows.ranges.map(|ranges| ranges.reached(command, read_of)).unwrap_or_default();
        let rule = RangeTombstoneRule::of_cells(command, read_of, &reached);
        let ranges = shadows.ranges.map(|ranges| ranges.read_by(rule));
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
                    // Those that are not there are seen by nobody else.
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

    /// The cell of a name, and the key at which it stands.
    pub fn find_cell(
        &self,
        level: &[u8],
        name: &[u8],
        names: Names<'_>,
    ) -> Result<Option<(Vec<u8>, Cell)>, StoreError> {
        match names.view.stored_order() {
            StoredOrder::Exact => {
                let key = key::cell(level, name, names.stored);
                let Some(value) = self.get(&key)? else { return Ok(None) };
                // The stored name may differ in bytes from the one asked for, where both compare equal.
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
                    let cell = decode_cell(key.tail(level.len()), value, names.stored)?;
                    if let Some(cell) = cell
                        && names.view.compare(&cell.name, name).is_eq()
                    {
                        return Ok(Some((key.as_slice().to_vec(), cell)));
                    }
                }
                Ok(None)
            }
        }
    }

    /// The name under which a super column is stored that the caller's release holds for this one.
    pub fn stored_super_name(
        &self,
        columns: &[u8],
        name: &Bytes,
        names: Names<'_>,
    ) -> Result<Option<Bytes>, StoreError> {
        let StoredOrder::WithinPrefix(prefix) = names.view.stored_order() else {
            return Ok(Some(name.clone()));
        };
        let ordered = group_prefix(names.stored, prefix, name);
        let mut low = SuperPrefix::open(columns, &ordered);
        let mut high = low.clone();
        key::increment(&mut high);
        // Each super column is looked at by its first entry; the next search begins after its last.
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

    /// The cells of a slice, in its order.
    fn slice_cells<'b>(&'b self, level: &'b [u8], names: Names<'b>, range: &'b SliceRange) -> Cells<'b> {
        let (low, high) = slice_bounds(level, names, range, false);
        let entries = self.entries(&low, &high, range.reversed);
        let cells = entries.filter_map(move |entry| {
            entry.and_then(|(key, value)| decode_cell(key.tail(level.len()), value, names.stored)).transpose()
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
        (names, subnames): (Names<'_>, Names<'_>),
        tombstones: RowTombstones<'_>,
        command: &ReadCommand,
        gather: &mut impl Gather,
    ) -> Result<(), StoreError> {
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

/// Names in order, each once.
fn sorted_names<'a>(names: &'a [Bytes], view: &dyn AbstractType) -> Vec<&'a Bytes> {
    let mut sorted: Vec<&Bytes> = names.iter().collect();
    sorted.sort_by(|a, b| view.compare(a, b));
    sorted.dedup_by(|a, b| view.compare(a, b).is_eq());
    sorted
}

/// The keys between which a slice lies: from, and before. Where only a prefix of the stored order can be
/// trusted, they are widened to whole groups.
fn slice_bounds(level: &[u8], names: Names<'_>, range: &SliceRange, is_super: bool) -> (Vec<u8>, Vec<u8>) {
    let (first, last) =
        if range.reversed { (&range.finish, &range.start) } else { (&range.start, &range.finish) };
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

/// A cell from what stands behind its level in the key, and its value. `None` for what is no cell.
pub fn decode_cell(
    ordered: Bytes,
    value: Bytes,
    comparator: &dyn AbstractType,
) -> Result<Option<Cell>, StoreError> {
    let Value::Cell { timestamp, kind, name, data } = value::decode(value)? else { return Ok(None) };
    let name = match name {
        Some(name) => name,
        None => name_of(ordered, comparator)?,
    };
    Ok(Some(Cell { name, value: data, timestamp, kind }))
}

/// Returns the column's name from its encoded form in a key.
pub fn name_of(ordered: Bytes, comparator: &dyn AbstractType) -> Result<Bytes, StoreError> {
    key::name_of(ordered, comparator)
        .ok_or_else(|| StoreError::Corrupt(format!("a key tells no name of {}", comparator.class_name())))
}

/// The name of the super column that this entry is the first of: its deletion's entry keeps it where keys do not
/// tell it.
fn super_name_of(
    entry: &RowKey,
    columns_len: usize,
    value: &Bytes,
    comparator: &dyn AbstractType,
) -> Result<Option<Bytes>, StoreError> {
    let Some(parsed) = SuperEntry::parse(entry.as_slice(), columns_len) else { return Ok(None) };
    if let (None, Value::Deletion { name: Some(name), .. }) = (parsed.cell_at, value::decode(value.clone())?)
    {
        return Ok(Some(name));
    }
    name_of(parsed.ordered_super.into(), comparator).map(Some)
}

/// Gathers entries into super columns, whichever way they come.
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

    /// The next super column: all entries that share the ordered name of the first.
    fn gather(&mut self) -> Result<Option<SuperColumn>, StoreError> {
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
        // It is whole in memory, and counted so; who gathers it counts what is left of it.
        let before = meter::mark();
        let (mut bytes, mut detached) = (0, 0);
        while let Some((entry, key, value)) = self.next_of(&ordered)? {
            match entry.cell_at {
                Some(at) => {
                    let cell = decode_cell(key.tail(at), value, self.subnames.stored)?;
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

    /// The next entry, if it is one of the super column of this ordered name. An entry that cannot be read might
    /// be: a super column is never returned with a part missing.
    fn next_of(&mut self, ordered: &[u8]) -> Result<Option<(SuperEntry, RowKey, Bytes)>, StoreError> {
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
    type Item = Result<SuperColumn, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.gather().transpose()
    }
}
