//! The rows of one SSTable, past its damage.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use super::as_of::ClockShift;
use super::losses::{Losses, Lost, shown_key};
use super::summary::{FamilySummary, ReadSummary};
use super::{ImportError, SstableFile};
use crate::rows::Counts;
use base::compat::features::releases::NEWEST;
use base::model::DeletionTime;
use base::partitioner::PartitionerRef;
use base::schema::{CfDef, Layout, TableDef};
use base::util::hex;
use sstable::{
    Atom, Component, Damage, Descriptor, ListedRows, SkippedRow, SstableError, TableOptions, TableReader,
    Unit,
};

/// The consequence of damage of a file without which the rows are read.
const UNUSED: &str = "nothing is lost: the rows are read without it";

/// Keys of lost rows that a report names.
const KEYS_SHOWN: usize = 20;

/// Units of a table after which its position is counted.
const COUNT_EVERY: u32 = 1024;

/// The options for reading SSTables.
#[derive(Debug, Clone)]
pub(super) struct ReadOptions {
    /// The partitioner of files that do not name their own.
    pub partitioner: PartitionerRef,
    pub layout: Option<Layout>,
    pub skips_damage: bool,
    pub shift: ClockShift,
    /// Whether the last server of a node was one of 3.x.
    pub is_modern: bool,
    /// Counts the data that is read.
    pub counts: Arc<Counts>,
}

/// Reads an SSTable.
pub(super) struct SstableRows {
    /// `None` if the table cannot be opened, and damage is skipped.
    table: Option<TableReader>,
    path: PathBuf,
    skips_damage: bool,
    summary: FamilySummary,
    losses: Losses,
    /// The loss since the last row.
    gap: Option<Gap>,
    last_key: Option<Bytes>,
    shift: ClockShift,
    counts: Arc<Counts>,
    /// The size of the Data file, and how much of it is counted.
    bytes: u64,
    counted: u64,
    /// Units since it was counted.
    uncounted: u32,
}

/// A part of the file that was not read, up to the next row that is.
struct Gap {
    damage: Damage,
    /// The first row that is lost, at least in part.
    from: String,
    start: u64,
    /// `None` up to the end.
    end: Option<u64>,
    /// The rows that the Index file has there.
    listed: ListedRows,
}

/// The next result of a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RowUnit {
    /// A row begins.
    Row {
        key: Bytes,
        deletion: DeletionTime,
    },
    /// A part of the row.
    Atom(Atom),
    End,
}

impl ReadOptions {
    /// Returns the options for the tables of a column family with this definition, if it has one.
    pub(super) fn for_family(&self, cf: Option<&CfDef>) -> ReadOptions {
        ReadOptions { layout: cf.map(|cf| TableDef::of(cf, NEWEST).layout), ..self.clone() }
    }

    /// Returns the options of a table.
    pub(super) fn of_table(&self, found: &SstableFile) -> TableOptions {
        // Files of 2.1 and later name their partitioner.
        let named = found.descriptor.format.has_statistics_contents;
        TableOptions { layout: self.layout, partitioner: (!named).then(|| self.partitioner.clone()) }
    }
}

impl SstableRows {
    /// Opens an SSTable, and compares it with its checksum.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is damaged and damage is not skipped.
    pub(super) fn open(found: &SstableFile, options: &ReadOptions) -> Result<SstableRows, ImportError> {
        let mut summary = FamilySummary { tables: 1, ..FamilySummary::default() };
        summary.formats.insert(found.descriptor.format.letters, 1);
        let mut reader = SstableRows {
            table: None,
            path: found.path.clone(),
            skips_damage: options.skips_damage,
            summary,
            losses: Losses::default(),
            gap: None,
            last_key: None,
            shift: options.shift,
            counts: options.counts.clone(),
            bytes: found.bytes,
            counted: 0,
            uncounted: 0,
        };
        for name in found.descriptor.missing() {
            let note = format!("{}: its {name} is missing: less of it can be checked", found.path.display());
            reader.summary.notes.push(note);
        }
        match TableReader::open_damaged(&found.path, &options.of_table(found)) {
            Ok((table, damages)) => {
                for damage in damages {
                    reader.report_harmless(damage, UNUSED)?;
                }
                reader.check(table)?;
            }
            Err(error) => reader.report(error, "lost: all rows of this SSTable")?,
        }
        Ok(reader)
    }

    /// Skips rows at the beginning, by their keys, if the Index component shows where the others begin.
    pub(super) fn skip_rows(
        &mut self,
        found: &SstableFile,
        options: &ReadOptions,
        is_skipped: impl Fn(&Bytes) -> bool,
    ) -> Result<(), ImportError> {
        let Some(table) = &mut self.table else { return Ok(()) };
        if table.skip_rows(is_skipped).is_err() {
            // Damage of the Index is reported where the rows are read.
            *table = TableReader::open_damaged(&found.path, &options.of_table(found))?.0;
        }
        self.count_bytes();
        Ok(())
    }

    /// Compares a table with its checksum, before its rows are read.
    fn check(&mut self, mut table: TableReader) -> Result<(), ImportError> {
        match table.check_digest() {
            Ok(remark) => self.summary.notes.extend(remark),
            Err(error) if table.has_checksums_of_blocks() => {
                self.report_uncovered(error, table.descriptor())?
            }
            Err(error) => {
                let what =
                    "its rows have no other checksum: all may have wrong values, and rows may be missing";
                self.report(error, what)?;
            }
        }
        self.table = Some(table);
        Ok(())
    }

    /// Records that the digest is wrong although each block that is read has a checksum: bytes follow the last chunk, or the CRC
    /// file has checksums of more blocks than the Data file has, which may have been cut.
    fn report_uncovered(&mut self, error: SstableError, of: &Descriptor) -> Result<(), ImportError> {
        if of.path(Component::CompressionInfo).is_file() {
            return self
                .report_harmless(error, "nothing is lost: bytes follow the last chunk, which are not read");
        }
        let more = "the CRC file has checksums of more blocks than the Data file";
        if of.index_path().is_file() {
            let what = format!("{more}; nothing is lost but the rows that only the Index file has");
            return self.report_harmless(error, &what);
        }
        self.report(error, &format!("lost: the rows at the end, if there were more: {more}"))
    }

    /// Records damage and its loss.
    ///
    /// # Errors
    ///
    /// The damage, unless it is skipped.
    fn report(&mut self, error: SstableError, what: &str) -> Result<(), ImportError> {
        if !self.skips_damage {
            return Err(error.into());
        }
        self.lose(format!("{error}; {what}"));
        Ok(())
    }

    /// Records damage without which all rows are read.
    ///
    /// # Errors
    ///
    /// The damage, unless it is skipped.
    fn report_harmless(&mut self, error: SstableError, what: &str) -> Result<(), ImportError> {
        if !self.skips_damage {
            return Err(error.into());
        }
        self.losses.add_harmless(Lost { path: self.path.clone(), what: format!("{error}; {what}") });
        Ok(())
    }

    /// Returns the partitioner in whose order the rows are, if the files name it or it was given.
    pub(super) fn partitioner(&self) -> Option<&PartitionerRef> {
        self.table.as_ref().and_then(TableReader::partitioner)
    }

    /// Returns the counts of the read data, and the losses.
    pub(super) fn finish(mut self) -> ReadSummary {
        self.count_bytes();
        self.end_gap(None);
        let late = self.table.as_ref().map_or(0, TableReader::late_cells);
        if late > 0 {
            self.summary.notes.push(format!(
                "{}: {late} values expire after 2038-01-19; here they expire at that date, as in 3.x",
                self.path.display()
            ));
        }
        ReadSummary { family: self.summary, losses: self.losses }
    }

    /// Counts the bytes that were read since the last time.
    fn count_bytes(&mut self) {
        let share = self.table.as_ref().map_or(1.0, TableReader::share_read);
        let read = (share * self.bytes as f64) as u64;
        self.counts.add_bytes(read.saturating_sub(self.counted));
        self.counted = self.counted.max(read);
        self.uncounted = 0;
    }

    /// Returns the next part.
    ///
    /// # Errors
    ///
    /// At damage, unless it is skipped.
    pub(super) fn next(&mut self) -> Result<RowUnit, ImportError> {
        self.uncounted += 1;
        if self.uncounted >= COUNT_EVERY {
            self.count_bytes();
        }
        while let Some(table) = &mut self.table {
            match table.next_unit() {
                Ok(None) => break,
                Ok(Some(Unit::EndOfRow)) => {}
                Ok(Some(Unit::Row { key, deletion })) => {
                    self.end_gap(Some(&key));
                    self.summary.rows += 1;
                    self.counts.add_row();
                    let deletion = self.shift.deletion(deletion);
                    self.summary.tombstones += u64::from(deletion.is_deleted());
                    self.last_key = Some(key.clone());
                    return Ok(RowUnit::Row { key, deletion });
                }
                Ok(Some(Unit::Atom(atom))) => {
                    self.summary.count(&atom);
                    let key = self.last_key.as_ref();
                    key.iter().for_each(|key| self.summary.overflowed.see(key, &atom));
                    let atom = self.shift.atom(atom);
                    return Ok(RowUnit::Atom(atom));
                }
                Err(SstableError::Damaged(damage)) if self.skips_damage => {
                    let skipped = table.skip_damage(&damage)?;
                    self.skip(damage, skipped);
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.end_gap(None);
        Ok(RowUnit::End)
    }

    /// Records damage. Damages without a row between them are one.
    fn skip(&mut self, damage: Damage, skipped: SkippedRow) {
        let SkippedRow { start, end, key, listed } = skipped;
        if end == Some(start) {
            let what = format!("{damage}; {UNUSED}");
            return self.losses.add_harmless(Lost { path: self.path.clone(), what });
        }
        if let Some(gap) = self.gap.as_mut().filter(|gap| gap.end == Some(start)) {
            gap.end = end;
            gap.listed.append(listed);
            return;
        }
        self.end_gap(None);
        let from = match (key, &self.last_key) {
            (Some(key), _) => format!("from the key 0x{}, of which a part may be there,", hex(&key)),
            (None, Some(last)) => format!("after the key 0x{}", hex(last)),
            (None, None) => "from the first one".to_owned(),
        };
        self.gap = Some(Gap { damage, from, start, end, listed });
    }

    /// Records the loss up to a row, or up to the end.
    fn end_gap(&mut self, next: Option<&Bytes>) {
        let Some(Gap { damage, from, start, end, listed }) = self.gap.take() else { return };
        let to = match next {
            Some(key) => format!("to before the key 0x{}", hex(key)),
            None => "to the last one".to_owned(),
        };
        let end = end.map_or_else(|| "the end".to_owned(), |end| end.to_string());
        let mut what = format!("{damage}; lost: bytes {start} to {end}, the rows {from} {to}");
        if listed.count > 0 {
            let rows = if listed.count == 1 { "row" } else { "rows" };
            let mut keys: Vec<String> = listed.keys.iter().take(KEYS_SHOWN).map(shown_key).collect();
            let more = listed.count - keys.len() as u64;
            keys.extend((more > 0).then(|| format!("{more} more")));
            let _ = write!(what, "; the Index file has {} {rows} there", listed.count);
            // Tries have few keys.
            if !listed.keys.is_empty() {
                let _ = write!(what, ": {}", keys.join(", "));
            }
        }
        self.lose(what);
    }

    /// Whether reading goes on behind damage.
    pub(super) fn skips_damage(&self) -> bool {
        self.skips_damage
    }

    /// Records the loss of counters in a family that has none.
    pub(super) fn lose_counters(&mut self, counters: u64) {
        let path = self.path.display();
        self.lose(format!("{path}: {counters} counters, which the target's definition does not have"));
    }

    /// Returns whether something is lost.
    pub(super) fn has_lost(&self) -> bool {
        !self.losses.is_empty() || self.gap.is_some()
    }

    /// Records a loss.
    pub(super) fn lose(&mut self, what: String) {
        self.losses.add(Lost { path: self.path.clone(), what });
    }
}
