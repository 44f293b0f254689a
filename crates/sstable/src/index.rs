//! The Index component: where the rows of the Data file begin, in their order.
//!
//! ```text
//!   up to 1.1    key | position
//!   1.2 to 2.2   key | position | length | deletion and index of columns
//!   3.x          key | position | length | the same      position and length are variable-length numbers
//! ```
//!
//! Files with tries (5.0) have them in the Partitions component, as `trie_index` describes it, mostly without keys.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::component::{Component, Descriptor};
use super::error::SstableError;
use super::format::Format;
use super::input::Input;
use super::key_order::KeyReader;
use super::trie_index::TrieIndex;

/// Reads the entries of an Index component.
#[derive(Debug)]
pub(super) struct IndexReader {
    path: PathBuf,
    entries: IndexForm,
}

/// The forms of the entries.
#[derive(Debug)]
enum IndexForm {
    List { input: Input, format: Format, keys: KeyReader },
    Trie(Box<TrieIndex>),
}

/// Where a row begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexEntry {
    /// The key; `None` if the component does not have it.
    pub key: Option<Bytes>,
    /// The position in the content of the Data file.
    pub position: u64,
}

impl IndexEntry {
    /// Returns whether it can be the entry of a row.
    pub(crate) fn is_of(&self, row_key: &Bytes, position: u64) -> bool {
        self.position == position && self.key.as_ref().is_none_or(|key| key == row_key)
    }
}

impl IndexReader {
    /// Opens the component of an SSTable. `None` if there is none.
    pub(crate) fn open(descriptor: &Descriptor) -> Result<Option<IndexReader>, SstableError> {
        let (path, format) = (descriptor.index_path(), descriptor.format);
        if !path.is_file() {
            return Ok(None);
        }
        let entries = if format.has_tries {
            IndexForm::Trie(Box::new(TrieIndex::open(&path, &descriptor.path(Component::Rows))?))
        } else {
            IndexForm::List { input: Input::of_file(&path)?, format, keys: KeyReader::new(format.keys) }
        };
        Ok(Some(IndexReader { path, entries }))
    }

    /// Returns the place of the next entry.
    pub(crate) fn place(&self) -> u64 {
        match &self.entries {
            IndexForm::List { input, .. } => input.position(),
            IndexForm::Trie(trie) => trie.place(),
        }
    }

    /// Goes back to the place of an entry.
    pub(crate) fn go_to(&mut self, place: u64) -> Result<(), SstableError> {
        match &mut self.entries {
            IndexForm::List { input, .. } => input.seek(place),
            IndexForm::Trie(trie) => trie.go_to(place),
        }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the next entry. `None` at the end.
    pub(crate) fn next_entry(&mut self) -> Result<Option<IndexEntry>, SstableError> {
        let (input, format, keys) = match &mut self.entries {
            IndexForm::List { input, format, keys } => (input, format, keys),
            IndexForm::Trie(trie) => {
                let found = trie.next_position()?;
                return Ok(found.map(|(key, position)| IndexEntry { key, position }));
            }
        };
        if input.remaining() == 0 {
            return Ok(None);
        }
        let key = Some(keys.read(input)?);
        let (position, length) = if format.has_modern_rows {
            (input.vint()?, input.vint()?)
        } else {
            let position = input.u64()?;
            let length = if format.has_row_index { 0 } else { input.u32()? };
            (position, u64::from(length))
        };
        input.skip(length)?;
        Ok(Some(IndexEntry { key, position }))
    }

    /// Whether the entries have keys.
    pub(crate) fn has_keys(&self) -> bool {
        matches!(self.entries, IndexForm::List { .. })
    }
}
