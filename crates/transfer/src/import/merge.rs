//! Merges the SSTables of a column family: row after row in the order of the ring, and within a row by name.
//!
//! ```text
//!   table 1   row a: x @5, z @2      row c: ...                    waiting   begins at row c: not open
//!   table 2   row a: x @3, y @4      row b: ...                    at row a  x @5        x @5
//!   table 3                          row c: ...                    at row a  x @3        x @3, y @4, z @2
//! ```
//!
//! Cells of the same name come one after the other, and the target reconciles them. The order only makes the import
//! fast: rows and names that a damaged file or another comparator has in another order come when they are met, and are
//! written like all others.
//!
//! A table is open from its first row to its last one. Tables of a leveled compaction are thousands, but few of them
//! overlap. If more than `open_max` do, the further ones are read when all others have ended.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::row_batcher::RowBatcher;
use super::sstable_rows::{ReadOptions, RowUnit, SstableRows};
use super::summary::ReadSummary;
use super::{ImportError, SstableFile};
use crate::rows::{RingPosition, ring_position};
use base::compat::features::releases::NEWEST;
use base::marshal;
use base::model::{DeletionTime, RangeTombstone};
use base::partitioner::PartitionerRef;
use base::schema::CfDef;
use base::util::hex;
use sstable::{Atom, TableReader, Unit};

/// Tables that are open at the same time: each has buffers of some 200 KB.
const OPEN_TABLES: RangeInclusive<usize> = 100..=600;
/// The files of an open table.
const FILES_OF_TABLE: u64 = 3;

/// Returns how many tables may be open at the same time. Half of the files that the process may have are left for the
/// target.
pub(super) fn open_max() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let tables = files.map_or(u64::MAX, |files| files / 2 / FILES_OF_TABLE);
    usize::try_from(tables).unwrap_or(usize::MAX).clamp(*OPEN_TABLES.start(), *OPEN_TABLES.end())
}

/// A table.
struct MergeTable {
    found: SstableFile,
    /// `None` before its first row is reached, and after its last one.
    reader: Option<SstableRows>,
    /// The deletion of the row that it is at.
    deletion: DeletionTime,
    /// The next atom of the row.
    next: Option<Atom>,
    /// The last row, if rows must be in order.
    last: Option<RingPosition>,
    /// Counters that were left out: the family has none.
    counters: u64,
}

/// The tables of a column family.
pub(super) struct FamilyMerge {
    cf: Arc<CfDef>,
    /// Whether the parts of a row must come together, since they are counters, which add up. Then a row out of order is an
    /// error, or lost, and all tables may be open at the same time.
    has_counters: bool,
    options: ReadOptions,
    partitioner: PartitionerRef,
    tables: Vec<MergeTable>,
    /// The tables by the row that is next in each.
    waiting: BinaryHeap<Reverse<(RingPosition, usize)>>,
    /// The tables that have the present row.
    of_row: Vec<usize>,
    /// The tables of `of_row` that have more of it.
    in_row: Vec<usize>,
    /// Tables that are read when the others have ended.
    deferred: Vec<(RingPosition, usize)>,
    open: usize,
    open_max: usize,
    /// The present row.
    place: Option<RingPosition>,
    /// Rows up to this place are skipped.
    after: Option<RingPosition>,
    /// Whether all rows up to the present one were returned: none came out of order, and no table was deferred.
    is_in_order: bool,
    /// The summary of the tables that have ended.
    finished: ReadSummary,
}

/// A row of some of the tables.
pub(super) struct MergedRow {
    pub key: Bytes,
    /// The deletion of the row, merged.
    pub deletion: DeletionTime,
}

impl FamilyMerge {
    /// Begins with tables of a column family. Rows up to the key `after`, in the order of the ring, are skipped.
    ///
    /// # Errors
    ///
    /// If a table cannot be read, as all methods; at damage, unless it is skipped.
    pub(super) fn new(
        cf: Arc<CfDef>,
        tables: &[SstableFile],
        options: ReadOptions,
        after: Option<Bytes>,
    ) -> Result<FamilyMerge, ImportError> {
        let has_counters = cf.is_counter();
        let mut merge = FamilyMerge {
            cf,
            has_counters,
            partitioner: options.partitioner.clone(),
            options,
            tables: Vec::new(),
            waiting: BinaryHeap::new(),
            of_row: Vec::new(),
            in_row: Vec::new(),
            deferred: Vec::new(),
            open: 0,
            open_max: if has_counters { usize::MAX } else { open_max() },
            place: None,
            after: None,
            is_in_order: true,
            finished: ReadSummary::default(),
        };
        let mut first_keys = Vec::new();
        for found in tables {
            // Damage is reported when the table is read.
            let opened = TableReader::open_damaged(&found.path, &merge.options.of_table(found));
            first_keys.push(opened.ok().and_then(|(mut table, _)| {
                if let Some(named) = table.partitioner() {
                    merge.partitioner = named.clone();
                }
                match table.next_unit() {
                    Ok(Some(Unit::Row { key, .. })) => Some(key),
                    _ => None,
                }
            }));
        }
        merge.after = after.map(|key| merge.place_of(key));
        for (found, key) in tables.iter().zip(first_keys) {
            let place = key.map_or_else(RingPosition::default, |key| merge.place_of(key));
            merge.waiting.push(Reverse((place, merge.tables.len())));
            let (found, deletion) = (found.clone(), DeletionTime::LIVE);
            merge.tables.push(MergeTable {
                found,
                reader: None,
                deletion,
                next: None,
                last: None,
                counters: 0,
            });
        }
        Ok(merge)
    }

    /// Checks that the rows are in the order of a partitioner.
    ///
    /// # Errors
    ///
    /// If there are tables, and they are in another order.
    pub(super) fn check_order(&self, partitioner: &PartitionerRef) -> Result<(), ImportError> {
        let differs = self.partitioner.class_name() != partitioner.class_name();
        self.tables.first().filter(|_| differs).map_or(Ok(()), |first| Err(self.out_of_order(first)))
    }

    fn out_of_order(&self, table: &MergeTable) -> ImportError {
        let partitioner = self.partitioner.class_name().to_owned();
        ImportError::Order { path: table.found.path.clone(), partitioner }
    }

    fn place_of(&self, key: Bytes) -> RingPosition {
        ring_position(&self.partitioner, key)
    }

    /// Moves to the next row. `None` at the end. The rest of the row before is skipped.
    pub(super) fn next_row(&mut self) -> Result<Option<MergedRow>, ImportError> {
        while self.next_atom()?.is_some() {}
        let place = loop {
            let Some(Reverse((place, at))) = self.waiting.pop() else {
                if self.deferred.is_empty() {
                    return Ok(None);
                }
                self.waiting = self.deferred.drain(..).map(Reverse).collect();
                continue;
            };
            if self.tables[at].reader.is_none() {
                self.open(at, place)?;
            } else if self.after.as_ref().is_some_and(|after| place <= *after) {
                self.skip_row(at)?;
            } else {
                self.waiting.push(Reverse((place.clone(), at)));
                break place;
            }
        };
        self.is_in_order &= self.place.as_ref().is_none_or(|before| *before < place);
        self.of_row.clear();
        let mut deletion = DeletionTime::LIVE;
        while let Some(Reverse((next, at))) = self.waiting.pop() {
            if next != place {
                self.waiting.push(Reverse((next, at)));
                break;
            }
            if self.tables[at].reader.is_none() {
                self.open(at, next)?;
                continue;
            }
            deletion = deletion.merged(self.tables[at].deletion);
            self.of_row.push(at);
            if self.advance(at)? {
                self.in_row.push(at);
            }
        }
        let key = place.1.clone();
        self.place = Some(place);
        Ok(Some(MergedRow { key, deletion }))
    }

    /// Returns the next part of the row, of all tables that have it. `None` at the end of the row.
    pub(super) fn next_atom(&mut self) -> Result<Option<Atom>, ImportError> {
        let atom = self.next_atom_of_table()?.map(|(atom, _)| atom);
        Ok(atom)
    }

    /// Returns the next part of the row, and the table that has it.
    pub(super) fn next_atom_of_table(&mut self) -> Result<Option<(Atom, &SstableFile)>, ImportError> {
        let first = match &self.in_row[..] {
            [] => return Ok(None),
            [_] => 0,
            _ => self.first_by_name(),
        };
        let at = self.in_row[first];
        let atom = self.tables[at].next.take();
        if matches!(atom, Some(Atom::Counter { .. })) && !self.has_counters {
            self.tables[at].counters += 1;
        }
        if !self.advance(at)? {
            self.in_row.swap_remove(first);
        }
        Ok(atom.map(|atom| (atom, &self.tables[at].found)))
    }

    /// Returns the position in `in_row` of the table with the first name.
    fn first_by_name(&self) -> usize {
        let next = |position: usize| self.tables[self.in_row[position]].next.as_ref();
        let mut first = 0;
        for other in 1..self.in_row.len() {
            if let (Some(one), Some(two)) = (next(first), next(other))
                && order(&self.cf, two, one).is_lt()
            {
                first = other;
            }
        }
        first
    }

    /// Reads the next atom of a table. Returns whether that is in the same row.
    fn advance(&mut self, at: usize) -> Result<bool, ImportError> {
        let mut is_left_out = false;
        loop {
            let table = &mut self.tables[at];
            let Some(reader) = &mut table.reader else { return Ok(false) };
            match reader.next()? {
                RowUnit::Atom(_) if is_left_out => {}
                RowUnit::Atom(atom) => {
                    table.next = Some(atom);
                    return Ok(true);
                }
                RowUnit::Row { key, deletion } => {
                    table.deletion = deletion;
                    let place = self.place_of(key);
                    is_left_out = self.has_counters && !self.is_next_of(at, &place)?;
                    if !is_left_out {
                        self.waiting.push(Reverse((place, at)));
                        return Ok(false);
                    }
                }
                RowUnit::End => {
                    self.close(at);
                    return Ok(false);
                }
            }
        }
    }

    /// Returns whether a row of counters comes after the one before it in its table. If not, it is lost.
    ///
    /// # Errors
    ///
    /// If it does not, unless damage is skipped.
    fn is_next_of(&mut self, at: usize, place: &RingPosition) -> Result<bool, ImportError> {
        let table = &self.tables[at];
        if table.last.as_ref().is_none_or(|last| last < place) {
            self.tables[at].last = Some(place.clone());
            return Ok(true);
        }
        let error = self.out_of_order(table);
        match &mut self.tables[at].reader {
            Some(reader) if reader.skips_damage() => {
                reader.lose(format!("{error}; lost: the row with the key 0x{}", hex(&place.1)));
                Ok(false)
            }
            _ => Err(error),
        }
    }

    fn skip_row(&mut self, at: usize) -> Result<(), ImportError> {
        while self.advance(at)? {}
        Ok(())
    }

    /// Opens a table, and moves to its first row.
    fn open(&mut self, at: usize, place: RingPosition) -> Result<(), ImportError> {
        if self.open >= self.open_max {
            self.is_in_order = false;
            self.deferred.push((place, at));
            return Ok(());
        }
        let found = &self.tables[at].found;
        let mut reader = SstableRows::open(found, &self.options)?;
        if let Some(after) = &self.after {
            reader.skip_rows(found, &self.options, |key| self.place_of(key.clone()) <= *after)?;
        }
        let class = self.partitioner.class_name();
        if self.has_counters && reader.partitioner().is_some_and(|own| own.class_name() != class) {
            return Err(self.out_of_order(&self.tables[at]));
        }
        self.open += 1;
        self.tables[at].reader = Some(reader);
        // Nothing but a row can begin a table.
        self.skip_row(at)
    }

    fn close(&mut self, at: usize) {
        let table = &mut self.tables[at];
        let Some(mut reader) = table.reader.take() else { return };
        self.open -= 1;
        if table.counters > 0 {
            reader.lose_counters(table.counters);
        }
        self.finished.add(reader.finish());
    }

    /// Returns the place of the present row.
    pub(super) fn place(&self) -> Option<&RingPosition> {
        self.place.as_ref()
    }

    /// Returns whether rows up to the present one are left for later, or came before.
    pub(super) fn is_disordered(&self) -> bool {
        !self.is_in_order
    }

    /// Returns all range tombstones of the present row. Its tables are opened once more for that.
    pub(super) fn ranges_of_row(&self) -> Result<Vec<RangeTombstone>, ImportError> {
        let mut ranges = Vec::new();
        let Some((_, key)) = &self.place else { return Ok(ranges) };
        for at in &self.of_row {
            let found = &self.tables[*at].found;
            let (mut table, _) = TableReader::open_damaged(&found.path, &self.options.of_table(found))?;
            if !table.seek_to_key(key)? {
                continue;
            }
            // Damage ends the row; it is reported where its cells are read.
            while let Ok(Some(unit)) = table.next_unit() {
                match unit {
                    Unit::Atom(Atom::Range(range)) => {
                        let deletion = self.options.shift.deletion(range.deletion);
                        ranges.push(RangeTombstone { deletion, ..range });
                    }
                    Unit::EndOfRow => break,
                    Unit::Row { .. } | Unit::Atom(_) => {}
                }
            }
        }
        Ok(ranges)
    }

    /// Returns the error of a row whose names are in another order.
    pub(super) fn disordered(&self, why: &str) -> ImportError {
        let first = self.of_row.first().map(|at| &self.tables[*at].found.path);
        let path = first.map(|path| path.display().to_string()).unwrap_or_default();
        ImportError::Nothing(format!("{path}: {why}, so it cannot be read as a whole"))
    }

    /// Sends all rows, until the target takes no more. Now and then, after `every`, a batch has the key of its last row as
    /// its place: all rows up to there are sent.
    pub(super) fn feed(
        &mut self,
        batcher: &mut RowBatcher,
        every: Option<Duration>,
    ) -> Result<(), ImportError> {
        let mut last = Instant::now();
        while let Some(row) = self.next_row()? {
            let key = row.key.clone();
            batcher.begin(row.key, row.deletion);
            while let Some(atom) = self.next_atom()? {
                if let Some(change) = atom.into_change()
                    && !batcher.add(change)
                {
                    return Ok(());
                }
            }
            let is_due = every.is_some_and(|every| last.elapsed() >= every);
            if is_due && self.is_in_order && !self.has_lost() {
                if !batcher.send(Some(key)) {
                    return Ok(());
                }
                last = Instant::now();
            }
        }
        batcher.send(None);
        Ok(())
    }

    fn has_lost(&self) -> bool {
        !self.finished.losses.is_empty()
            || self.tables.iter().filter_map(|table| table.reader.as_ref()).any(SstableRows::has_lost)
    }

    /// Returns the counts of all tables, and the losses.
    pub(super) fn finish(self) -> ReadSummary {
        self.finished
    }
}

/// Orders parts of a row by their names: of the row, then within a super column.
fn order(cf: &CfDef, one: &Atom, other: &Atom) -> Ordering {
    let names = marshal::at(&*cf.comparator, NEWEST);
    let ((outer, level, inner), (other_outer, other_level, other_inner)) = (names_of(one), names_of(other));
    let by_outer = names.compare(outer, other_outer).then(level.cmp(&other_level));
    by_outer.then_with(|| match cf.subcomparator() {
        Some(subcomparator) => marshal::at(&**subcomparator, NEWEST).compare(inner, other_inner),
        None => Ordering::Equal,
    })
}

/// Returns the name of the row's column that a part of a row belongs to, whether the part is within the column, and its
/// name there.
fn names_of(atom: &Atom) -> (&[u8], bool, &[u8]) {
    match atom {
        Atom::Cell { super_column: Some(holder), cell } => (holder, true, &cell.name),
        Atom::Cell { super_column: None, cell } => (&cell.name, false, &[]),
        Atom::Counter { super_column: Some(holder), counter } => (holder, true, &counter.name),
        Atom::Counter { super_column: None, counter } => (&counter.name, false, &[]),
        Atom::SuperDeletion { name, .. } => (name, false, &[]),
        Atom::Range(range) => match &range.super_column {
            Some(holder) => (holder, true, &range.start),
            None => (&range.start, false, &[]),
        },
    }
}
