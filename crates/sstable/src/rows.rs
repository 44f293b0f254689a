//! The rows of a Data file, in one of the two formats: of 0.4 to 2.2, or of 3.x.

use bytes::Bytes;

use super::atom::Unit;
use super::error::SstableError;
use super::input::Input;
use super::modern::ModernRows;
use super::old::OldRows;

/// The rows of a file, read one unit at a time.
#[derive(Debug)]
pub(super) enum TableRows {
    Old(Box<OldRows>),
    Modern(Box<ModernRows>),
}

impl TableRows {
    /// Returns the content of the file.
    pub(crate) fn input(&self) -> &Input {
        match self {
            TableRows::Old(rows) => rows.input(),
            TableRows::Modern(rows) => rows.input(),
        }
    }

    /// Returns the content of the file. Before rows are read on, [`TableRows::seek`] must follow if it was moved.
    pub(crate) fn input_mut(&mut self) -> &mut Input {
        match self {
            TableRows::Old(rows) => rows.input_mut(),
            TableRows::Modern(rows) => rows.input_mut(),
        }
    }

    /// Moves to the start of a row.
    pub(crate) fn seek(&mut self, position: u64) -> Result<(), SstableError> {
        match self {
            TableRows::Old(rows) => rows.seek(position),
            TableRows::Modern(rows) => rows.seek(position),
        }
    }

    /// Returns the next unit. `None` at the end of the file.
    pub(crate) fn next_unit(&mut self) -> Result<Option<Unit>, SstableError> {
        match self {
            TableRows::Old(rows) => rows.next_unit(),
            TableRows::Modern(rows) => rows.next_unit(),
        }
    }

    /// Returns the key of the row at a position, and moves there. `None` if it cannot be read.
    pub(crate) fn key_at(&mut self, position: u64) -> Option<Bytes> {
        self.seek(position).ok()?;
        match self {
            TableRows::Old(rows) => rows.read_key().ok(),
            TableRows::Modern(rows) => rows.input_mut().short_bytes().ok(),
        }
    }

    /// Returns where the row ends that begins at a position, if the file has its size.
    pub(crate) fn end_of_row(&mut self, position: u64) -> Option<u64> {
        match self {
            TableRows::Old(rows) => rows.end_of_row(position),
            TableRows::Modern(_) => None,
        }
    }
}
