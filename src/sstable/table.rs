//! One SSTable: its rows, one after the other or one by its key, and what is damaged.

use std::path::Path;

use bytes::Bytes;

use super::atom::Unit;
use super::checksum::check_digest;
use super::component::{Component, Descriptor};
use super::compressed::CompressedFile;
use super::error::{Damage, SstableError};
use super::index::{IndexEntry, IndexReader};
use super::input::Input;
use super::key_order::{KeyOrder, KeyReader};
use super::modern::ModernRows;
use super::old::{OldRows, in_super_columns};
use super::statistics::{RowHeader, Statistics, read_statistics};
use crate::marshal::split_class;
use crate::partitioner::{PartitionerRef, resolve};
use crate::schema::Layout;

/// What is known of a table besides its files.
#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    /// How the cells of the column family are named. `None`: a file of 3.x is read as one of a CQL table or a super
    /// column family, and super columns of 2.0 to 2.2 have composite names. Older files show what they hold.
    pub layout: Option<Layout>,
    /// The partitioner by which the order of rows is checked. `None`: the one that the files name, if they do.
    pub partitioner: Option<PartitionerRef>,
}

/// The two kinds of rows.
#[derive(Debug)]
enum Rows {
    Old(Box<OldRows>),
    Modern(Box<ModernRows>),
}

/// Reads the rows of an SSTable.
#[derive(Debug)]
pub struct TableReader {
    descriptor: Descriptor,
    rows: Rows,
    partitioner: Option<PartitionerRef>,
    splits_super_columns: bool,
    order: KeyOrder,
    /// The entries of the Index component from the next row on. `None` if there is no such file, or it is damaged.
    index: Option<IndexReader>,
    /// Where the present row begins.
    row_start: u64,
    is_in_row: bool,
}

/// A part of a file that was skipped because of damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedRow {
    /// The position of the row in the content of the file.
    pub start: u64,
    /// The position of the next row that is read; `None` if everything up to the end is lost.
    pub end: Option<u64>,
    /// The key of the row, if the row itself or the Index component shows it.
    pub key: Option<Bytes>,
}

impl TableReader {
    /// Opens the SSTable of a Data file. Its other components must be beside it.
    pub fn open(data: &Path, options: &TableOptions) -> Result<TableReader, SstableError> {
        let descriptor = Descriptor::of_data_file(data)?;
        let format = descriptor.format;
        let statistics_path = descriptor.path(Component::Statistics);
        let statistics =
            if format.has_statistics_contents && (format.has_modern_rows || statistics_path.is_file()) {
                read_statistics(&statistics_path)?
            } else {
                Statistics::default()
            };
        let input = open_data(data, &descriptor)?;
        let rows = match statistics.header {
            Some(header) if format.has_modern_rows => {
                let layout = options.layout.unwrap_or_else(|| likely_layout(&header));
                Rows::Modern(Box::new(ModernRows::new(input, header, layout)?))
            }
            None if format.has_modern_rows => {
                return Err(SstableError::damaged(&statistics_path, 0, "it has no types of columns"));
            }
            _ => {
                let keys = KeyReader::new(format.keys);
                let has_supers = options.layout.map(|layout| layout == Layout::Super);
                Rows::Old(Box::new(OldRows::new(input, format, keys, has_supers)?))
            }
        };
        let is_index = descriptor.family.as_ref().is_some_and(|family| family.contains('.'));
        let named = statistics.partitioner.as_deref().and_then(resolve);
        // The rows of an index are in the order of the values.
        let partitioner = options.partitioner.clone().or(named).filter(|_| !is_index);
        let index_path = descriptor.path(Component::Index);
        let index = if index_path.is_file() { Some(IndexReader::open(&index_path, format)?) } else { None };
        Ok(TableReader {
            splits_super_columns: options.layout == Some(Layout::Super)
                && !format.has_super_columns
                && !format.has_modern_rows,
            descriptor,
            rows,
            order: KeyOrder::new(partitioner.clone()),
            partitioner,
            index,
            row_start: 0,
            is_in_row: false,
        })
    }

    /// Returns what the name of the file says.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Returns the partitioner in whose order the rows are: that of the options, else the one in the Statistics component.
    /// `None` if neither names it, and for an index.
    pub fn partitioner(&self) -> Option<&PartitionerRef> {
        self.partitioner.as_ref()
    }

    /// Compares the whole Data file with its digest component, if there is one. Reads the whole file. Files of 0.4 to 0.8
    /// have no checksums at all.
    pub fn check_digest(&self) -> Result<(), SstableError> {
        match self.descriptor.digest_path() {
            Some(digest) => {
                let data = self.descriptor.path(Component::Data);
                check_digest(&data, &digest, self.descriptor.format.block_checksum)
            }
            None => Ok(()),
        }
    }

    /// Returns the next unit. `None` at the end of the file. After an error of damage, [`TableReader::skip_damage`] moves
    /// to the next row that can be found.
    pub fn next_unit(&mut self) -> Result<Option<Unit>, SstableError> {
        let position = self.position();
        if !self.is_in_row {
            self.row_start = position;
        }
        match self.raw_unit()? {
            Some(Unit::Row { key, deletion }) => {
                self.is_in_row = true;
                self.check_row(&key, position)?;
                Ok(Some(Unit::Row { key, deletion }))
            }
            Some(Unit::Atom(atom)) if self.splits_super_columns => {
                let atom = in_super_columns(atom).map_err(|why| self.damaged(position, why))?;
                Ok(Some(Unit::Atom(atom)))
            }
            None => {
                self.check_end()?;
                Ok(None)
            }
            Some(Unit::EndOfRow) => {
                self.is_in_row = false;
                Ok(Some(Unit::EndOfRow))
            }
            other => Ok(other),
        }
    }

    fn raw_unit(&mut self) -> Result<Option<Unit>, SstableError> {
        match &mut self.rows {
            Rows::Old(rows) => rows.next_unit(),
            Rows::Modern(rows) => rows.next_unit(),
        }
    }

    fn position(&self) -> u64 {
        match &self.rows {
            Rows::Old(rows) => rows.position(),
            Rows::Modern(rows) => rows.position(),
        }
    }

    fn seek(&mut self, position: u64) -> Result<(), SstableError> {
        self.row_start = position;
        self.is_in_row = false;
        match &mut self.rows {
            Rows::Old(rows) => rows.seek(position),
            Rows::Modern(rows) => rows.seek(position),
        }
    }

    fn damaged(&self, position: u64, why: impl Into<String>) -> SstableError {
        SstableError::damaged(&self.descriptor.path(Component::Data), position, why)
    }

    /// Compares a row with its entry in the Index component, and with the row before it.
    fn check_row(&mut self, row_key: &Bytes, position: u64) -> Result<(), SstableError> {
        if let Some(index) = &mut self.index {
            let expected = IndexEntry { key: row_key.clone(), position };
            if index.next_entry()?.as_ref() != Some(&expected) {
                let why = "the Index component has another row at this place";
                return Err(self.damaged(position, why).in_row(row_key));
            }
        }
        let ordered = self.order.take(row_key);
        ordered.map_err(|why| self.damaged(position, why).in_row(row_key))
    }

    /// Checks at the end of the file that the Index component has no more rows.
    fn check_end(&mut self) -> Result<(), SstableError> {
        let Some(index) = &mut self.index else { return Ok(()) };
        match index.next_entry()? {
            None => Ok(()),
            Some(entry) => {
                let why = "the file ends before this row, which the Index component has";
                Err(self.damaged(entry.position, why).in_row(&entry.key))
            }
        }
    }

    /// Moves to the start of the row with a key, so that [`TableReader::next_unit`] returns the row. Returns whether there
    /// is one. Without an Index component all rows are read.
    pub fn seek_to_key(&mut self, row_key: &[u8]) -> Result<bool, SstableError> {
        let index_path = self.descriptor.path(Component::Index);
        self.index = None;
        self.order.forget();
        if !index_path.is_file() {
            return self.seek_by_reading(row_key);
        }
        let mut index = IndexReader::open(&index_path, self.descriptor.format)?;
        while let Some(entry) = index.next_entry()? {
            if entry.key == row_key {
                self.seek(entry.position)?;
                return Ok(true);
            }
        }
        Ok(false)
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

    /// Moves behind damage: to the next row that the Index component has, or that follows by the size of the present one.
    /// Returns what is lost. The next damage may begin there.
    pub fn skip_damage(&mut self, damage: &Damage) -> Result<SkippedRow, SstableError> {
        let start = self.row_start;
        let mut skipped = SkippedRow { start, end: None, key: damage.key.clone() };
        self.order.forget();
        self.is_in_row = false;
        if damage.path == self.descriptor.path(Component::Index) {
            // The rows themselves can be read without it, from the present one on.
            self.index = None;
            skipped.end = Some(start);
            self.seek(start)?;
            return Ok(skipped);
        }
        skipped.end = self.row_after(&mut skipped.key);
        if skipped.end.is_none() {
            self.index = None;
            if let Rows::Old(rows) = &mut self.rows {
                skipped.end = rows.end_of_row(start).filter(|end| *end > start);
            }
        }
        self.seek(skipped.end.unwrap_or_else(|| self.length()))?;
        Ok(skipped)
    }

    /// Returns the position of the row behind the present one by the Index component. `None` if there is no such
    /// component or no such row, or it is damaged.
    fn row_after(&mut self, row_key: &mut Option<Bytes>) -> Option<u64> {
        let start = self.row_start;
        let index = self.index.as_mut()?;
        loop {
            let place = index.place();
            let entry = index.next_entry().ok()??;
            if entry.position > start {
                index.go_to(place).ok()?;
                return Some(entry.position);
            }
            if entry.position == start {
                *row_key = Some(entry.key);
            }
        }
    }

    fn length(&self) -> u64 {
        match &self.rows {
            Rows::Old(rows) => rows.length(),
            Rows::Modern(rows) => rows.length(),
        }
    }
}

/// Returns the partitioner that the Statistics component of an SSTable names (2.1 and later).
pub fn named_partitioner(descriptor: &Descriptor) -> Option<PartitionerRef> {
    let path = descriptor.path(Component::Statistics);
    if !descriptor.format.has_statistics_contents || !path.is_file() {
        return None;
    }
    resolve(&read_statistics(&path).ok()?.partitioner?)
}

/// Opens a Data file with its compression or its checksums of blocks.
fn open_data(data: &Path, descriptor: &Descriptor) -> Result<Input, SstableError> {
    let format = &descriptor.format;
    let info = descriptor.path(Component::CompressionInfo);
    let crc = descriptor.path(Component::Crc);
    if info.is_file() {
        let file = CompressedFile::open(data, &info, format)?;
        return Ok(Input::of_compressed(data, file));
    }
    if crc.is_file() {
        return Input::with_block_sums(data, &crc, format.block_checksum);
    }
    Input::of_file(data)
}

/// Returns the layout of a table of which only the file is known: a file does not say whether its table is compact.
fn likely_layout(header: &RowHeader) -> Layout {
    match &header.regular_columns[..] {
        [only] if only.name.is_empty() && split_class(&only.value.class).0 == "MapType" => Layout::Super,
        _ => Layout::Sparse,
    }
}
