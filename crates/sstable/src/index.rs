//! The Index component: where the rows of the Data file begin, in their order.
//!
//! ```text
//!   up to 1.1    key | position
//!   1.2 to 2.2   key | position | length | deletion and index of columns
//!   3.x          key | position | length | the same      position and length are variable-length numbers
//! ```

use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::error::SstableError;
use super::format::Format;
use super::input::Input;
use super::key_order::KeyReader;

/// Reads the entries of an Index component.
#[derive(Debug)]
pub(super) struct IndexReader {
    path: PathBuf,
    input: Input,
    format: Format,
    keys: KeyReader,
}

/// Where a row begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexEntry {
    pub key: Bytes,
    /// The position in the content of the Data file.
    pub position: u64,
}

impl IndexReader {
    /// Opens an Index component.
    pub(crate) fn open(path: &Path, format: Format) -> Result<IndexReader, SstableError> {
        let input = Input::of_file(path)?;
        Ok(IndexReader { path: path.to_owned(), input, format, keys: KeyReader::new(format.keys) })
    }

    /// Returns the place of the next entry.
    pub(crate) fn place(&self) -> u64 {
        self.input.position()
    }

    /// Goes back to the place of an entry.
    pub(crate) fn go_to(&mut self, place: u64) -> Result<(), SstableError> {
        self.input.seek(place)
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the next entry. `None` at the end.
    pub(crate) fn next_entry(&mut self) -> Result<Option<IndexEntry>, SstableError> {
        if self.input.remaining() == 0 {
            return Ok(None);
        }
        let key = self.keys.read(&mut self.input)?;
        let (position, length) = if self.format.has_modern_rows {
            (self.input.vint()?, self.input.vint()?)
        } else {
            let position = self.input.u64()?;
            let length = if self.format.has_row_index { 0 } else { self.input.u32()? };
            (position, u64::from(length))
        };
        self.input.skip(length)?;
        Ok(Some(IndexEntry { key, position }))
    }
}
