//! One SSTable: its rows, one after the other or one by its key, and its damage.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::atom::Unit;
use super::checksum::FileDigest;
use super::companions::Companions;
use super::component::{Component, Descriptor};
use super::described::described;
use super::error::SstableError;
use super::index::IndexReader;
use super::key_order::{KeyOrderCheck, KeyReader};
use super::modern::ModernRows;
use super::old::{OldRows, in_super_columns};
use super::rows::TableRows;
use super::statistics::RowHeader;
use base::marshal::{Types, split_class};
use base::partitioner::{PartitionerRef, resolve};
use base::schema::{CfDef, Layout};

/// The properties of a table that are known besides its files.
#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    /// The way in which the cells of the column family are named. `None`: a file of 3.x is read as one of a CQL table
    /// or a super column family, and super columns of 2.0 to 2.2 have composite names. Older files show what they hold.
    pub layout: Option<Layout>,
    /// The partitioner by which the order of rows is checked. `None`: the one that the files name, if they do.
    pub partitioner: Option<PartitionerRef>,
}

/// The remark about a digest component that is wrong, of a file whose blocks have checksums.
const DIGEST_REMARK: &str = "it is not the checksum of the Data file, and servers do not read it: each block has a checksum of its \
    own, which is compared";

/// Entries of a damaged Index component among which the entry of a row is searched.
const ENTRIES_SEARCHED: usize = 16;

/// Reads the rows of an SSTable.
#[derive(Debug)]
pub struct TableReader {
    pub(super) descriptor: Descriptor,
    pub(super) rows: TableRows,
    partitioner: Option<PartitionerRef>,
    splits_super_columns: bool,
    pub(super) order: KeyOrderCheck,
    /// The entries of the Index component from the next row on. `None` if there is no such file, or it is damaged.
    pub(super) index: Option<IndexReader>,
    /// The place of the entry of the present row.
    pub(super) index_place: u64,
    /// Whether the last damage is a row that differs from its entry.
    pub(super) index_differs: bool,
    /// Whether a row was where the Index component has it, so that it is the one of this file.
    pub(super) index_has_fitted: bool,
    /// Whether entries that do not fit are not reported any more.
    pub(super) index_is_damaged: bool,
    /// Whether the digest of the whole Data file was compared with it, and the result.
    digest: Option<bool>,
    /// The first and last timestamp by the Statistics component of 3.x.
    pub(super) timestamps: Option<(i64, i64)>,
    /// The key of the last row by the Statistics component of 5.0, as long as no row was lost.
    pub(super) last_key: Option<Bytes>,
    /// The key of the last row that was read.
    last_read: Option<Bytes>,
    /// A unit that is returned once damage of the Statistics component is reported.
    held: Option<Unit>,
    /// Where the present row begins.
    pub(super) row_start: u64,
    pub(super) is_in_row: bool,
}

impl TableReader {
    /// Opens the SSTable of a Data file. Its other components must be beside it.
    pub fn open(data: &Path, options: &TableOptions) -> Result<TableReader, SstableError> {
        let (table, mut damages) = TableReader::open_damaged(data, options)?;
        if damages.is_empty() { Ok(table) } else { Err(damages.swap_remove(0)) }
    }

    /// Opens the SSTable of a Data file as [`TableReader::open`], and returns the damages of the other components too, if
    /// the rows can be read without these.
    pub fn open_damaged(
        data: &Path,
        options: &TableOptions,
    ) -> Result<(TableReader, Vec<SstableError>), SstableError> {
        let descriptor = Descriptor::of_data_file(data)?;
        let format = descriptor.format;
        let Companions { input, statistics, last_key, index, damages } = Companions::open(data, &descriptor)?;
        let rows = match statistics.header {
            Some(header) if format.has_modern_rows => {
                let layout = options.layout.unwrap_or_else(|| likely_layout(&header));
                TableRows::Modern(Box::new(ModernRows::new(input, header, layout)?))
            }
            None if format.has_modern_rows => {
                let path = descriptor.path(Component::Statistics);
                return Err(SstableError::damaged(&path, 0, "it has no types of columns"));
            }
            _ => {
                let keys = KeyReader::new(format.keys);
                let has_supers = options.layout.map(|layout| layout == Layout::Super);
                TableRows::Old(Box::new(OldRows::new(input, format, keys, has_supers)?))
            }
        };
        let is_index = descriptor.family.as_ref().is_some_and(|family| family.contains('.'));
        let named = statistics.partitioner.as_deref().and_then(resolve);
        // The rows of an index are in the order of the values.
        let partitioner = options.partitioner.clone().or(named).filter(|_| !is_index);
        let table = TableReader {
            splits_super_columns: options.layout == Some(Layout::Super)
                && !format.has_super_columns
                && !format.has_modern_rows,
            descriptor,
            rows,
            order: KeyOrderCheck::new(partitioner.clone()),
            partitioner,
            index,
            index_place: 0,
            index_differs: false,
            index_has_fitted: false,
            index_is_damaged: false,
            digest: None,
            timestamps: statistics.timestamps.filter(|_| format.has_modern_rows),
            last_key,
            last_read: None,
            held: None,
            row_start: 0,
            is_in_row: false,
        };
        Ok((table, damages))
    }

    /// Returns the parts of the file's name.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Returns the partitioner in whose order the rows are: the one of the options, else the one in the Statistics
    /// component. `None` if neither names it, and for an index.
    pub fn partitioner(&self) -> Option<&PartitionerRef> {
        self.partitioner.as_ref()
    }

    /// Returns the column family that a file of 3.x describes: its types and the names of the columns that are not in
    /// keys. `None` for older files.
    pub fn described(&self, types: &Types) -> Option<Arc<CfDef>> {
        match &self.rows {
            TableRows::Old(_) => None,
            TableRows::Modern(rows) => Some(described(&self.descriptor, rows.header(), rows.layout(), types)),
        }
    }

    /// Returns the number of cells among those that were read which expire after 2038-01-19. Files of 5.0 can have them. They are
    /// read as if they expired at that date, as 3.x does.
    pub fn late_cells(&self) -> u64 {
        match &self.rows {
            TableRows::Old(_) => 0,
            TableRows::Modern(rows) => rows.late_cells(),
        }
    }

    /// Returns the keys of the first rows, `most` at most, from the Index component if there is one.
    pub fn first_keys(&mut self, most: usize) -> Result<Vec<Bytes>, SstableError> {
        let mut keys = Vec::new();
        while keys.len() < most {
            if let Some(index) = self.index.as_mut().filter(|index| index.has_keys()) {
                let Some(entry) = index.next_entry()? else { break };
                keys.extend(entry.key);
                continue;
            }
            match self.next_unit()? {
                Some(Unit::Row { key, .. }) => keys.push(key),
                Some(_) => {}
                None => break,
            }
        }
        Ok(keys)
    }

    /// Compares the whole Data file with its digest component, if there is one. Reads the whole file. Files of 0.4 to 0.8
    /// have no checksums at all. Returns a remark if the digest is wrong and each block of the file has a checksum of its
    /// own, which is compared when the block is read: servers compare only these.
    ///
    /// # Errors
    ///
    /// If the digest is wrong, and the blocks have no checksums.
    pub fn check_digest(&mut self) -> Result<Option<String>, SstableError> {
        let Some(path) = self.descriptor.digest_path() else { return Ok(None) };
        let wrong = match self.fits_digest(&path) {
            Ok(true) => {
                self.digest = Some(true);
                // Checksums of blocks that differ are damaged themselves.
                self.rows.input_mut().forget_block_sums();
                return Ok(None);
            }
            Ok(false) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let why = format!("the checksum of the whole file is not that in {name}");
                SstableError::damaged(&self.descriptor.path(Component::Data), 0, why)
            }
            Err(wrong @ SstableError::Damaged(_)) => wrong,
            Err(error) => return Err(error),
        };
        if self.rows.input_mut().is_covered_by_sums() {
            return Ok(Some(format!("{}: {DIGEST_REMARK}", path.display())));
        }
        self.digest = Some(false);
        Err(wrong)
    }

    fn fits_digest(&mut self, path: &Path) -> Result<bool, SstableError> {
        let (digest, format) = (FileDigest::read(path)?, self.descriptor.format);
        if digest.is_of_file(&self.descriptor.path(Component::Data), format.block_checksum)? {
            return Ok(true);
        }
        let FileDigest::Number(stored) = digest else { return Ok(false) };
        Ok(format.digest_may_skip_chunk_sums() && self.rows.input_mut().adler_of_chunks() == Some(stored))
    }

    /// Returns whether each block that is read of the Data file is compared with a checksum of its own.
    pub fn has_checksums_of_blocks(&self) -> bool {
        self.rows.input().has_sums()
    }

    /// Returns whether a checksum covers each byte that is read of the Data file, and none was wrong so far.
    fn has_checksums(&self) -> bool {
        self.digest.unwrap_or_else(|| self.has_checksums_of_blocks())
    }

    /// Returns the next unit. `None` at the end of the file. After an error of damage, [`TableReader::skip_damage`] moves
    /// to the next row that can be found.
    pub fn next_unit(&mut self) -> Result<Option<Unit>, SstableError> {
        if let Some(unit) = self.held.take() {
            return Ok(Some(unit));
        }
        let position = self.rows.input().position();
        if !self.is_in_row {
            self.row_start = position;
        }
        let unit = match self.rows.next_unit()? {
            Some(Unit::Row { key, deletion }) => {
                self.is_in_row = true;
                self.check_row(&key, position)?;
                Unit::Row { key, deletion }
            }
            Some(Unit::Atom(atom)) if self.splits_super_columns => {
                Unit::Atom(in_super_columns(atom).map_err(|why| self.damaged(position, why))?)
            }
            None => {
                self.check_end()?;
                return Ok(None);
            }
            Some(Unit::EndOfRow) => {
                self.is_in_row = false;
                Unit::EndOfRow
            }
            Some(other) => other,
        };
        self.check_timestamp(unit).map(Some)
    }

    /// Compares the timestamp of a unit of 3.x with the first and last one of the file.
    fn check_timestamp(&mut self, unit: Unit) -> Result<Unit, SstableError> {
        let Some((first, last)) = self.timestamps else { return Ok(unit) };
        let Some(timestamp) = unit.timestamp().filter(|at| !(first..=last).contains(at)) else {
            return Ok(unit);
        };
        self.held = Some(unit);
        let path = self.descriptor.path(Component::Statistics);
        let why = format!(
            "the file has the timestamps {first} to {last}, and a row has {timestamp}: all timestamps of this SSTable \
             may be wrong"
        );
        Err(SstableError::damaged(&path, 0, why))
    }

    /// Returns how much of the content of the file was read, from 0 to 1.
    pub fn share_read(&self) -> f64 {
        let input = self.rows.input();
        input.position() as f64 / input.length().max(1) as f64
    }

    pub(super) fn seek(&mut self, position: u64) -> Result<(), SstableError> {
        self.row_start = position;
        self.is_in_row = false;
        self.held = None;
        self.rows.seek(position)
    }

    pub(super) fn damaged(&self, position: u64, why: impl Into<String>) -> SstableError {
        SstableError::damaged(&self.descriptor.path(Component::Data), position, why)
    }

    /// Compares a row with its entry in the Index component, and with the row before it.
    fn check_row(&mut self, row_key: &Bytes, position: u64) -> Result<(), SstableError> {
        self.index_differs = false;
        if self.fits_index(row_key, position)? {
            self.index_has_fitted |= self.index.is_some() && !self.index_is_damaged;
        } else {
            self.index_differs = true;
            if self.has_checksums() {
                let path = self.descriptor.index_path();
                let why = format!(
                    "it has another row than the Data file, whose checksum is right, at byte {position}"
                );
                return Err(SstableError::damaged(&path, self.index_place, why).in_row(row_key));
            }
            let why = "the Index component has another row at this place";
            return Err(self.damaged(position, why).in_row(row_key));
        }
        self.last_read = Some(row_key.clone());
        let ordered = self.order.take(row_key);
        ordered.map_err(|why| self.damaged(position, why).in_row(row_key))
    }

    /// Returns whether the next entry of the Index component belongs to a row.
    fn fits_index(&mut self, row_key: &Bytes, position: u64) -> Result<bool, SstableError> {
        let Some(index) = &mut self.index else { return Ok(true) };
        self.index_place = index.place();
        if !self.index_is_damaged {
            return Ok(index.next_entry()?.is_some_and(|entry| entry.is_of(row_key, position)));
        }
        // After damage, entries can be missing or too many. Entries that fit are used again.
        for _ in 0..ENTRIES_SEARCHED {
            match index.next_entry() {
                Ok(Some(entry)) if entry.is_of(row_key, position) => {
                    self.index_is_damaged = false;
                    return Ok(true);
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break,
            }
        }
        index.go_to(self.index_place)?;
        Ok(true)
    }

    /// Checks at the end of the file that the Index component has no more rows, and that the last row was the last one by the
    /// Statistics component.
    fn check_end(&mut self) -> Result<(), SstableError> {
        let Some(index) = self.index.as_mut().filter(|_| !self.index_is_damaged) else {
            let Some(last) = self.last_key.take().filter(|last| Some(last) != self.last_read.as_ref()) else {
                return Ok(());
            };
            let why = "the file ends before this row, which is the last one by the Statistics component";
            return Err(self.damaged(self.rows.input().position(), why).in_row(&last));
        };
        self.index_place = index.place();
        let Some(entry) = index.next_entry()? else { return Ok(()) };
        // The digest of a compressed file covers its chunks, and not how many there are.
        let is_whole = self.rows.input().is_as_long_as_file();
        if self.digest == Some(true) && is_whole {
            let path = index.path().to_owned();
            let why = "it has more rows than the Data file, whose checksum is right";
            return Err(SstableError::damaged(&path, self.index_place, why));
        }
        let why = "the file ends before this row, which the Index component has";
        let damaged = self.damaged(entry.position, why);
        Err(match &entry.key {
            Some(row_key) => damaged.in_row(row_key),
            None => damaged,
        })
    }

    /// Moves to the start of the row with a key, so that [`TableReader::next_unit`] returns the row. Returns whether
    /// there is one. Without an Index component all rows are read.
    pub fn seek_to_key(&mut self, row_key: &[u8]) -> Result<bool, SstableError> {
        self.index = None;
        self.order.forget();
        let index = IndexReader::open(&self.descriptor)?;
        let Some(mut index) = index else { return self.seek_by_reading(row_key) };
        while let Some(entry) = index.next_entry()? {
            let key = entry.key.or_else(|| self.rows.key_at(entry.position));
            // The damage that hides a key is reported where the row is read.
            let Some(key) = key else { return self.seek_by_reading(row_key) };
            if key == row_key {
                self.seek(entry.position)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Skips rows at the beginning for as long as `is_skipped` returns true for their keys. Without an Index component
    /// nothing is skipped. After an error the table must be opened again.
    pub fn skip_rows(&mut self, is_skipped: impl Fn(&Bytes) -> bool) -> Result<(), SstableError> {
        let Some(index) = self.index.as_mut().filter(|index| index.has_keys()) else { return Ok(()) };
        self.last_key = None;
        loop {
            let place = index.place();
            match index.next_entry()? {
                Some(entry) if entry.key.as_ref().is_some_and(&is_skipped) => {}
                Some(entry) => {
                    index.go_to(place)?;
                    return self.seek(entry.position);
                }
                None => return self.seek(self.rows.input().length()),
            }
        }
    }

    fn seek_by_reading(&mut self, row_key: &[u8]) -> Result<bool, SstableError> {
        self.seek(0)?;
        while let Some(unit) = self.next_unit()? {
            if matches!(unit, Unit::Row { key, .. } if key == row_key) {
                self.order.forget();
                self.seek(self.row_start)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Guesses the layout of a table by its file alone: a file does not say whether its table is compact.
fn likely_layout(header: &RowHeader) -> Layout {
    match &header.regular_columns[..] {
        [only] if only.name.is_empty() && split_class(&only.value.class).0 == "MapType" => Layout::Super,
        _ => Layout::Sparse,
    }
}
