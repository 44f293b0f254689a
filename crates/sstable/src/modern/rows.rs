//! The rows of a Data file of 3.0 and later.
//!
//! ```text
//!   partition   key | deletion | static row, if the table has static columns | rows and bounds | end flag
//!   row         flags | clustering | size | size of the one before | marker's times | deletion | set of columns | cells
//!   bound       flags | kind | clustering | size | size of the one before | one or two deletions
//!   cell        flags | timestamp | local deletion time | ttl | path in a complex column | value
//! ```
//!
//! A range tombstone is two bounds with rows between them. It is returned where its second bound is.

use std::sync::Arc;

use bytes::Bytes;

use super::super::atom::{Atom, Unit, read_deletion};
use super::super::counter::{CounterCell, shards_of};
use super::super::error::SstableError;
use super::super::input::Input;
use super::super::statistics::{RowHeader, StoredColumn};
use super::names::{ClusteringBound, RowPlace, range_of};
use super::values::{
    LAST_SECOND, read_bound, read_clustering, read_columns, read_short_deletion, read_value, row_flags,
};
use base::model::{Cell, CellKind, DeletionTime};
use base::schema::Layout;

/// Flags of a cell.
mod cell_flags {
    pub(super) const DELETED: u8 = 0x01;
    pub(super) const EXPIRING: u8 = 0x02;
    pub(super) const EMPTY_VALUE: u8 = 0x04;
    pub(super) const ROW_TIMESTAMP: u8 = 0x08;
    pub(super) const ROW_TTL: u8 = 0x10;
    pub(super) const ALL: u8 = DELETED | EXPIRING | EMPTY_VALUE | ROW_TIMESTAMP | ROW_TTL;
}

/// Reads the rows of a file, one unit at a time.
#[derive(Debug)]
pub(in super::super) struct ModernRows {
    input: Input,
    header: RowHeader,
    layout: Layout,
    partition: Option<UnreadPartition>,
    /// Cells that were read of columns whose user type is not frozen.
    user_type_cells: u64,
    /// Whether the sizes of rows are stored, which commit logs do not have.
    has_sizes: bool,
    /// Cells that were read and expire after 2038, which the file has and cells of this server do not.
    late_cells: u64,
}

/// So many cells of user types that fit the sizes of their rows show how they are stored.
const CELLS_THAT_DECIDE: u64 = 100;

/// The partition that is being read.
#[derive(Debug)]
struct UnreadPartition {
    key: Bytes,
    /// Whether the static row comes next.
    before_static: bool,
    /// Whether the number of rows comes next, or behind the static row. Only commit logs have it.
    before_count: bool,
    /// The first bound of a range tombstone whose second one has not come yet.
    open_range: Option<(ClusteringBound, DeletionTime)>,
    row: Option<OpenModernRow>,
}

impl UnreadPartition {
    fn new(key: Bytes, header: &RowHeader, before_count: bool) -> UnreadPartition {
        let before_static = !header.static_columns.is_empty();
        UnreadPartition { key, before_static, before_count, open_range: None, row: None }
    }
}

/// The times of the row marker.
#[derive(Debug, Clone, Copy)]
struct RowMarker {
    timestamp: i64,
    /// The time to live and the second of expiry.
    expiry: Option<(i32, i32)>,
}

/// The row of a table that is being read.
#[derive(Debug)]
struct OpenModernRow {
    place: RowPlace,
    /// Where the row ends, if its size is stored.
    end: Option<u64>,
    marker: Option<RowMarker>,
    /// The row marker's and the row's own deletion, which come first.
    first: Vec<Atom>,
    has_complex_deletions: bool,
    /// Positions of the columns that are not read yet, the next one last.
    columns: Vec<usize>,
    /// Cells of the present complex column that are not read yet.
    complex: Option<(usize, u64)>,
}

impl ModernRows {
    /// Returns the rows from the position of the input on.
    pub(crate) fn new(input: Input, header: RowHeader, layout: Layout) -> Result<ModernRows, SstableError> {
        let (partition, user_type_cells) = (None, 0);
        let mut rows =
            ModernRows { input, header, layout, partition, user_type_cells, has_sizes: true, late_cells: 0 };
        rows.find_frozen_types()?;
        Ok(rows)
    }

    /// Returns the rows of a partition in a commit log, from the position of the input on. `has_count` says whether their
    /// number is stored.
    pub(super) fn of_update(
        input: Input,
        header: RowHeader,
        layout: Layout,
        key: Bytes,
        has_count: bool,
    ) -> ModernRows {
        let partition = Some(UnreadPartition::new(key, &header, has_count));
        ModernRows { input, header, layout, partition, user_type_cells: 0, has_sizes: false, late_cells: 0 }
    }

    /// Returns the types of all columns.
    pub(crate) fn header(&self) -> &RowHeader {
        &self.header
    }

    /// Returns how cells are named.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the number of cells that were read and expire after 2038.
    pub(crate) fn late_cells(&self) -> u64 {
        self.late_cells
    }

    /// Returns the input, which is behind the data that was read.
    pub(super) fn into_input(self) -> Input {
        self.input
    }

    /// Moves to the start of a partition.
    pub(crate) fn seek(&mut self, position: u64) -> Result<(), SstableError> {
        self.partition = None;
        self.input.seek(position)
    }

    /// Returns the content of the file.
    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    /// Returns the content of the file. Reading from it ends the present partition: see [`ModernRows::seek`].
    pub(crate) fn input_mut(&mut self) -> &mut Input {
        &mut self.input
    }

    /// 3.0 writes user types, which it always freezes, as if they were not frozen. Only one of the two readings fits the
    /// sizes of rows.
    fn find_frozen_types(&mut self) -> Result<(), SstableError> {
        let all = self.header.static_columns.iter().chain(&self.header.regular_columns);
        if !all.into_iter().any(|column| column.is_user_type) {
            return Ok(());
        }
        let start = self.input.position();
        let is_readable = loop {
            match self.next_unit() {
                Ok(Some(Unit::EndOfRow)) if self.user_type_cells >= CELLS_THAT_DECIDE => break true,
                Ok(Some(_)) => {}
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        self.seek(start)?;
        self.late_cells = 0;
        if !is_readable {
            let header = &mut self.header;
            for column in header.static_columns.iter_mut().chain(&mut header.regular_columns) {
                if column.is_user_type {
                    Arc::make_mut(column).is_complex = false;
                }
            }
            header.sort_columns();
        }
        Ok(())
    }

    /// Returns the next unit. `None` at the end of the file.
    pub(crate) fn next_unit(&mut self) -> Result<Option<Unit>, SstableError> {
        let Some(mut partition) = self.partition.take() else { return self.begin_partition() };
        let read = self.in_partition(&mut partition).map_err(|error| error.in_row(&partition.key));
        if !matches!(read, Ok(Unit::EndOfRow) | Err(_)) {
            self.partition = Some(partition);
        }
        read.map(Some)
    }

    fn begin_partition(&mut self) -> Result<Option<Unit>, SstableError> {
        if self.input.remaining() == 0 {
            return Ok(None);
        }
        let key = self.input.short_bytes()?;
        let input = &mut self.input;
        let is_short = self.header.has_unsigned_times;
        let deletion = if is_short { read_short_deletion(input) } else { read_deletion(input) };
        let deletion = deletion.map_err(|error| error.in_row(&key))?;
        self.partition = Some(UnreadPartition::new(key.clone(), &self.header, false));
        Ok(Some(Unit::Row { key, deletion }))
    }

    fn in_partition(&mut self, partition: &mut UnreadPartition) -> Result<Unit, SstableError> {
        loop {
            if let Some(row) = &mut partition.row {
                if let Some(atom) = self.in_row(row)? {
                    return Ok(Unit::Atom(atom));
                }
                partition.row = None;
            }
            if !partition.before_static && std::mem::take(&mut partition.before_count) {
                self.input.vint()?;
            }
            let flags = self.input.u8()?;
            let is_static_next = std::mem::take(&mut partition.before_static);
            if flags & row_flags::END != 0 {
                if is_static_next || partition.open_range.is_some() {
                    return Err(self.input.damaged("the partition ends early"));
                }
                return Ok(Unit::EndOfRow);
            }
            let extended = if flags & row_flags::EXTENDED != 0 { self.input.u8()? } else { 0 };
            let is_known = extended & !(row_flags::STATIC | row_flags::SHADOWABLE) == 0;
            let is_static = extended & row_flags::STATIC != 0;
            if !is_known || is_static != is_static_next {
                return Err(self.input.damaged(format!("a row with the flags {flags:#04x} {extended:#04x}")));
            }
            if flags & row_flags::MARKER == 0 {
                partition.row = Some(self.begin_row(flags, is_static)?);
            } else if let Some(atom) = self.read_bound(partition)? {
                return Ok(Unit::Atom(atom));
            }
        }
    }

    /// Reads the two sizes behind a clustering, and returns where the row or bound ends. `None` in a commit log.
    fn read_end(&mut self) -> Result<Option<u64>, SstableError> {
        if !self.has_sizes {
            return Ok(None);
        }
        let size = self.input.vint()?;
        if size > self.input.remaining() {
            let why = format!("a row of {size} bytes, and {} follow", self.input.remaining());
            return Err(self.input.damaged(why));
        }
        let end = self.input.position() + size;
        // The size of the one before it, with which 3.x reads backwards.
        self.input.vint()?;
        Ok(Some(end))
    }

    fn begin_row(&mut self, flags: u8, is_static: bool) -> Result<OpenModernRow, SstableError> {
        let place = if is_static {
            RowPlace::Static { clustering_columns: self.header.clustering.len() }
        } else {
            RowPlace::Row(read_clustering(&mut self.input, &self.header.clustering)?)
        };
        let end = self.read_end()?;
        let (header, input) = (&self.header, &mut self.input);
        let mut first = Vec::new();
        let mut marker = None;
        if flags & row_flags::TIMESTAMP != 0 {
            let timestamp = header.timestamp(input)?;
            let expiry = match flags & row_flags::TTL {
                0 => None,
                _ => Some((header.ttl_s(input)?, header.deletion_time_s(input)?)),
            };
            marker = Some(RowMarker { timestamp, expiry });
            first.extend(place.marker_name(self.layout).map(|name| {
                let kind = kind_of(expiry);
                Atom::Cell { super_column: None, cell: Cell { name, value: Bytes::new(), timestamp, kind } }
            }));
        }
        if flags & row_flags::DELETION != 0 {
            let deletion = header.deletion(input)?;
            first.push(place.row_deletion(self.layout, deletion));
        }
        let columns = if is_static { &header.static_columns } else { &header.regular_columns };
        let mut columns: Vec<usize> = match flags & row_flags::ALL_COLUMNS {
            0 => read_columns(input, columns)?,
            _ => (0..columns.len()).collect(),
        };
        columns.reverse();
        let has_complex_deletions = flags & row_flags::COMPLEX_DELETION != 0;
        Ok(OpenModernRow { place, end, marker, first, has_complex_deletions, columns, complex: None })
    }

    /// Returns the next atom of a row. `None` at its end, which is checked.
    fn in_row(&mut self, row: &mut OpenModernRow) -> Result<Option<Atom>, SstableError> {
        if let Some(atom) = row.first.pop() {
            return Ok(Some(atom));
        }
        loop {
            if row.end.is_some_and(|end| self.input.position() > end) {
                return Err(self.input.damaged("the cells are longer than the row"));
            }
            if let Some((column, left @ 1..)) = row.complex {
                row.complex = Some((column, left - 1));
                return self.read_cell(row, column).map(Some);
            }
            row.complex = None;
            let Some(at) = row.columns.pop() else {
                return match row.end {
                    Some(end) if end != self.input.position() => {
                        Err(self.input.damaged(format!("the cells end here, and the row ends at {end}")))
                    }
                    _ => Ok(None),
                };
            };
            let column = self.column(row, at)?;
            if !column.is_complex {
                return self.read_cell(row, at).map(Some);
            }
            let deletion = match row.has_complex_deletions {
                true => self.header.deletion(&mut self.input)?,
                false => DeletionTime::LIVE,
            };
            row.complex = Some((at, self.input.vint()?));
            if deletion.is_deleted() {
                return Ok(Some(row.place.complex_deletion(self.layout, &column, deletion)));
            }
        }
    }

    fn column(&self, row: &OpenModernRow, at: usize) -> Result<Arc<StoredColumn>, SstableError> {
        let columns = match row.place {
            RowPlace::Static { .. } => &self.header.static_columns,
            RowPlace::Row(_) => &self.header.regular_columns,
        };
        columns.get(at).cloned().ok_or_else(|| self.input.damaged("a column that the file does not have"))
    }

    fn read_cell(&mut self, row: &OpenModernRow, at: usize) -> Result<Atom, SstableError> {
        let column = self.column(row, at)?;
        self.user_type_cells += u64::from(column.is_user_type);
        let (header, input) = (&self.header, &mut self.input);
        let flags = input.u8()?;
        let has = |flag: u8| flags & flag != 0;
        if flags & !cell_flags::ALL != 0 {
            return Err(input.damaged(format!("a cell with the flags {flags:#04x}")));
        }
        let (is_deleted, is_expiring) = (has(cell_flags::DELETED), has(cell_flags::EXPIRING));
        let no_marker = "a cell with the times of a row that has none";
        let timestamp = match (has(cell_flags::ROW_TIMESTAMP), row.marker) {
            (true, Some(marker)) => marker.timestamp,
            (true, None) => return Err(input.damaged(no_marker)),
            (false, _) => header.timestamp(input)?,
        };
        let expiry = match (has(cell_flags::ROW_TTL), row.marker.and_then(|marker| marker.expiry)) {
            (true, Some(expiry)) => Some(expiry),
            (true, None) => return Err(input.damaged(no_marker)),
            (false, _) if is_deleted || is_expiring => {
                let at_s = header.deletion_time_s(input)?;
                let ttl_s = if is_expiring { header.ttl_s(input)? } else { 0 };
                Some((ttl_s, at_s))
            }
            (false, _) => None,
        };
        let is_late = header.has_unsigned_times && expiry.is_some_and(|(_, at_s)| at_s == LAST_SECOND);
        self.late_cells += u64::from(is_late);
        let path = if column.is_complex { Some(input.vint_bytes()?) } else { None };
        let value =
            if has(cell_flags::EMPTY_VALUE) { Bytes::new() } else { read_value(input, &column.value)? };
        let (super_column, name) = row.place.cell_name(self.layout, &column, path);
        let cell = match expiry {
            Some((_, at_s)) if is_deleted => Cell::tombstone(name, timestamp, at_s),
            _ if column.is_counter => {
                let shards = shards_of(&value).map_err(|why| self.input.damaged(why))?;
                let counter = CounterCell { name, timestamp, last_delete: i64::MIN, shards };
                return Ok(Atom::Counter { super_column, counter });
            }
            expiry => Cell { name, value, timestamp, kind: kind_of(expiry) },
        };
        Ok(Atom::Cell { super_column, cell })
    }

    /// Reads the deletion of a tombstone that begins or ends at a bound.
    fn read_side(
        &mut self,
        is_inclusive: Option<bool>,
    ) -> Result<Option<(bool, DeletionTime)>, SstableError> {
        let Some(is_inclusive) = is_inclusive else { return Ok(None) };
        Ok(Some((is_inclusive, self.header.deletion(&mut self.input)?)))
    }

    /// Reads a bound of a range tombstone. Returns the tombstone that ends at it.
    fn read_bound(&mut self, partition: &mut UnreadPartition) -> Result<Option<Atom>, SstableError> {
        let kind = self.input.u8()?;
        // Whether a tombstone ends here, and one begins here, and whether the bound belongs to it.
        let (ends, starts) = match kind {
            0 => (Some(false), None),
            1 => (None, Some(true)),
            2 => (Some(false), Some(true)),
            5 => (Some(true), Some(false)),
            6 => (Some(true), None),
            7 => (None, Some(false)),
            _ => return Err(self.input.damaged(format!("a bound of the kind {kind}"))),
        };
        let values = read_bound(&mut self.input, &self.header.clustering)?;
        let end = self.read_end()?;
        let ending = self.read_side(ends)?;
        let starting = self.read_side(starts)?;
        let bound = |(is_inclusive, deletion): (bool, DeletionTime), other: Option<(bool, DeletionTime)>| {
            // Where one tombstone ends and the next one begins, the older one may cover the bound too.
            let is_older =
                other.is_some_and(|(_, other)| deletion.marked_for_delete_at <= other.marked_for_delete_at);
            ClusteringBound { values: values.clone(), is_inclusive: is_inclusive || is_older }
        };
        let mut ended = None;
        if let Some((_, deletion)) = ending {
            let open = partition.open_range.take().filter(|(_, of_start)| *of_start == deletion);
            let (start, _) = open.ok_or_else(|| self.input.damaged("a range tombstone without its start"))?;
            let finish = bound((ends == Some(true), deletion), starting);
            let range = range_of(self.layout, &start, &finish, deletion);
            ended = Some(range.map_err(|why| self.input.damaged(why))?);
        }
        if let Some((is_inclusive, deletion)) = starting {
            if partition.open_range.is_some() {
                return Err(self.input.damaged("a range tombstone in another one"));
            }
            partition.open_range = Some((bound((is_inclusive, deletion), ending), deletion));
        }
        if end.is_some_and(|end| end != self.input.position()) {
            return Err(self.input.damaged("a bound with another length than its own"));
        }
        Ok(ended)
    }
}

fn kind_of(expiry: Option<(i32, i32)>) -> CellKind {
    match expiry {
        Some((ttl_s, expires_at_s)) => CellKind::Expiring { ttl_s, expires_at_s },
        None => CellKind::Live,
    }
}
