//! The format of keys, in memory and on the disk. Keys are compared as bytes.
//!
//! ```text
//!   row        token | esc(row key)                     partitioners that hash: the token has 16 or 8 bytes
//!              esc(token)                               partitioners whose token is the key itself
//!   entry      row | 00                                 the row's deletion
//!              row | 00 01 | 16 bytes of MD5            a range tombstone, by the MD5 of its names
//!              row | 01 | ordered column name           a cell
//!              row | 01 | esc(super name) | 00          a super column's deletion
//!              row | 01 | esc(super name) | 01 | ordered name of its cell
//!
//!   esc        00 -> 00 FF, and 00 00 at the end: keeps the order, and no escaped name is a prefix of another
//! ```

use bytes::Bytes;
use md5::{Digest, Md5};
use smallvec::SmallVec;

use base::marshal::AbstractType;
use base::model::RangeTombstone;
use base::partitioner::{Partitioner, TokenForm};
use store::{Result, StoreError};

/// Tag of deletions. It sorts before the entries that a deletion shadows.
const MARKER: u8 = 0;
/// Tag of columns.
const COLUMNS: u8 = 1;

/// Appends escaped bytes and their end mark. Escaped bytes sort like the bytes themselves.
pub(crate) fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    escape_open(bytes, out);
    out.extend_from_slice(&[0, 0]);
}

/// Appends escaped bytes without the end mark: the common prefix of all names that begin with these bytes.
fn escape_open(bytes: &[u8], out: &mut Vec<u8>) {
    for (at, part) in bytes.split(|byte| *byte == 0).enumerate() {
        if at > 0 {
            out.extend_from_slice(&[0, 0xFF]);
        }
        out.extend_from_slice(part);
    }
}

/// Decodes escaped bytes. Returns them and their encoded length, or `None` if they have no end mark.
pub(crate) fn unescape(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut out = Vec::with_capacity(bytes.len().min(64));
    let mut at = 0;
    loop {
        match (*bytes.get(at)?, bytes.get(at + 1)) {
            (0, Some(0)) => return Some((out, at + 2)),
            (0, Some(0xFF)) => {
                out.push(0);
                at += 2;
            }
            (0, _) => return None,
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
}

/// Returns the length of escaped bytes with their end mark.
fn escaped_len(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        match bytes.get(at + 1)? {
            0 => return Some(at + 2),
            0xFF => at += 2,
            _ => return None,
        }
    }
}

/// Bytes of a prefix that needs no allocation: a token and a key of up to 18 bytes.
const SHORT_PREFIX: usize = 36;

/// The prefix of the keys of all entries of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowPrefix(SmallVec<[u8; SHORT_PREFIX]>);

impl RowPrefix {
    pub(crate) fn of(key: &[u8], partitioner: &dyn Partitioner) -> RowPrefix {
        let mut bytes = Vec::with_capacity(key.len() + 64);
        match partitioner.token_form() {
            TokenForm::Fixed(width) => {
                partitioner.token(key, &mut bytes);
                debug_assert!(bytes.len() == width, "the row's key would be read from a wrong place");
                escape(key, &mut bytes);
            }
            TokenForm::Variable => {
                let mut token = Vec::new();
                partitioner.token(key, &mut token);
                escape(&token, &mut bytes);
                escape(key, &mut bytes);
            }
            TokenForm::IsKey => {
                let mut token = Vec::with_capacity(key.len());
                partitioner.token(key, &mut token);
                escape(&token, &mut bytes);
            }
        }
        let prefix = RowPrefix(SmallVec::from_slice(&bytes));
        debug_assert!(
            RowPrefix::of_entry(&prefix.entry(ROW_MARKER), partitioner).as_ref() == Some(&prefix),
            "entries would be taken for those of another row"
        );
        prefix
    }

    /// Returns the prefix of a row of the store's own, outside of the ring.
    pub(crate) fn fixed(bytes: &[u8]) -> RowPrefix {
        RowPrefix(SmallVec::from_slice(bytes))
    }

    /// Returns the prefix of the row that an entry's key belongs to. `None` if the bytes are not the key of an entry.
    pub(crate) fn of_entry(entry: &[u8], partitioner: &dyn Partitioner) -> Option<RowPrefix> {
        let length = match partitioner.token_form() {
            TokenForm::Fixed(width) => width + escaped_len(entry.get(width..)?)?,
            TokenForm::Variable => {
                let token = escaped_len(entry)?;
                token + escaped_len(entry.get(token..)?)?
            }
            TokenForm::IsKey => escaped_len(entry)?,
        };
        Some(RowPrefix::fixed(entry.get(..length)?))
    }

    /// Returns the row's key.
    pub(crate) fn row_key(&self, partitioner: &dyn Partitioner) -> Result<Bytes> {
        let behind = |token: usize| unescape(self.0.get(token..)?).map(|(key, _)| key);
        let key = match partitioner.token_form() {
            TokenForm::Fixed(width) => behind(width),
            TokenForm::Variable => escaped_len(&self.0).and_then(behind),
            TokenForm::IsKey => behind(0).and_then(|token| partitioner.key_of_token(&token)),
        };
        let key = key.ok_or_else(|| StoreError::Corrupt("an entry's row key cannot be read".to_owned()))?;
        Ok(key.into())
    }

    /// Returns the row's token.
    pub(crate) fn token(&self, partitioner: &dyn Partitioner) -> Option<Vec<u8>> {
        match partitioner.token_form() {
            TokenForm::Fixed(width) => self.0.get(..width).map(<[u8]>::to_vec),
            TokenForm::Variable | TokenForm::IsKey => unescape(&self.0).map(|(token, _)| token),
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the whole key of an entry from its key relative to the row.
    pub(crate) fn entry(&self, relative: &[u8]) -> Vec<u8> {
        [&self.0[..], relative].concat()
    }

    /// Returns the first key after all entries of the row.
    pub(crate) fn end(&self) -> Vec<u8> {
        self.entry(&[COLUMNS + 1])
    }
}

/// The key of the row's deletion, relative to the row.
pub(crate) const ROW_MARKER: &[u8] = &[MARKER];

/// The prefix of the keys of range tombstones, relative to the row.
pub(crate) const RANGES: &[u8] = &[MARKER, 1];
/// The first key after all range tombstones, relative to the row.
pub(crate) const RANGES_END: &[u8] = &[MARKER, 2];

/// Returns the key of a range tombstone, relative to the row. Tombstones of the same range have the same key.
pub(crate) fn range(range: &RangeTombstone) -> Vec<u8> {
    let mut digest = Md5::new();
    digest.update([u8::from(range.super_column.is_some())]);
    for part in [range.super_column.as_ref().unwrap_or(&Bytes::new()), &range.start, &range.finish] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    [RANGES, &digest.finalize()[..]].concat()
}

/// The prefix of the row's columns, relative to the row: cells in a Standard column family, super columns in a Super
/// one.
pub(crate) const COLUMNS_LEVEL: &[u8] = &[COLUMNS];

/// The first key after all entries of the row, relative to the row.
pub(crate) const ROW_END: &[u8] = &[COLUMNS + 1];

/// Returns a lower bound of the keys whose token is at least `token`, or greater than it if `after`. `None` if no such
/// key can exist, because the token is all FF.
pub(crate) fn token_bound(token: &[u8], after: bool, partitioner: &dyn Partitioner) -> Option<Vec<u8>> {
    let mut bound = Vec::with_capacity(token.len() + 8);
    match partitioner.token_form() {
        TokenForm::Fixed(_) => bound.extend_from_slice(token),
        TokenForm::Variable | TokenForm::IsKey => escape(token, &mut bound),
    }
    if after {
        increment(&mut bound);
        if bound.is_empty() {
            return None;
        }
    }
    Some(bound)
}

/// Replaces `bytes` by the first bytes after all that begin with them. The result is empty, which means unbounded, if
/// all bytes are FF.
pub(crate) fn increment(bytes: &mut Vec<u8>) {
    while let Some(last) = bytes.last_mut() {
        if *last < 0xFF {
            *last += 1;
            return;
        }
        bytes.pop();
    }
}

/// Sets `key` to the key of a cell: the prefix of its level and its ordered name.
pub(crate) fn write_cell(level: &[u8], name: &[u8], comparator: &dyn AbstractType, key: &mut Vec<u8>) {
    key.clear();
    key.reserve(level.len() + name.len() + 9);
    key.extend_from_slice(level);
    comparator.ordered(name, key);
}

/// Returns the key of a cell.
pub(crate) fn cell(level: &[u8], name: &[u8], comparator: &dyn AbstractType) -> Vec<u8> {
    let mut key = Vec::new();
    write_cell(level, name, comparator, &mut key);
    key
}

/// The prefix of a super column's entries. Its deletion has the key `marker`, its cells have the prefix `cells`.
#[derive(Debug, Clone)]
pub(crate) struct SuperPrefix(Vec<u8>);

impl SuperPrefix {
    pub(crate) fn of(columns: &[u8], name: &[u8], comparator: &dyn AbstractType) -> SuperPrefix {
        let mut ordered = Vec::with_capacity(name.len() + 9);
        comparator.ordered(name, &mut ordered);
        let mut bytes = Vec::with_capacity(columns.len() + ordered.len() + 8);
        bytes.extend_from_slice(columns);
        escape(&ordered, &mut bytes);
        SuperPrefix(bytes)
    }

    /// Returns the common prefix of all super columns whose ordered names begin with `ordered`.
    pub(crate) fn open(columns: &[u8], ordered: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(columns.len() + ordered.len() + 8);
        bytes.extend_from_slice(columns);
        escape_open(ordered, &mut bytes);
        bytes
    }

    pub(crate) fn marker(&self) -> Vec<u8> {
        [&self.0[..], &[MARKER]].concat()
    }

    pub(crate) fn cells(&self) -> Vec<u8> {
        [&self.0[..], &[COLUMNS]].concat()
    }

    pub(crate) fn start(&self) -> &[u8] {
        &self.0
    }

    /// Returns the first key after all entries of the super column.
    pub(crate) fn end(&self) -> Vec<u8> {
        [&self.0[..], &[COLUMNS + 1]].concat()
    }
}

/// The decoded key of an entry in a row of super columns.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SuperEntry {
    pub ordered_super: Vec<u8>,
    /// Offset of the cell's ordered name in the key. `None` for the deletion of the super column.
    pub cell_at: Option<usize>,
}

impl SuperEntry {
    /// Decodes the key of an entry, which begins with a level of `columns_len` bytes.
    pub(crate) fn parse(entry: &[u8], columns_len: usize) -> Option<SuperEntry> {
        let (ordered_super, used) = unescape(entry.get(columns_len..)?)?;
        let tag_at = columns_len + used;
        let cell_at = match *entry.get(tag_at)? {
            MARKER => None,
            COLUMNS => Some(tag_at + 1),
            _ => return None,
        };
        Some(SuperEntry { ordered_super, cell_at })
    }
}

/// Returns the name that has these ordered bytes. `None` if the comparator cannot restore it: then the value stores the
/// name.
pub(crate) fn name_of(ordered: Bytes, comparator: &dyn AbstractType) -> Option<Bytes> {
    if comparator.ordered_is_name() { Some(ordered) } else { comparator.restore(&ordered).map(Bytes::from) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::partitioner::RandomPartitioner;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn escaping_keeps_order_and_round_trips(
            a in prop::collection::vec(prop::sample::select(vec![0u8, 1, 0xFE, 0xFF]), 0..6),
            b in prop::collection::vec(prop::sample::select(vec![0u8, 1, 0xFE, 0xFF]), 0..6),
            tail in prop::collection::vec(any::<u8>(), 0..4),
        ) {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            escape(&a, &mut left);
            escape(&b, &mut right);
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            let length = left.len();
            left.extend_from_slice(&tail);
            prop_assert_eq!(unescape(&left), Some((a, length)));
            prop_assert_eq!(escaped_len(&left), Some(length));
        }
    }

    #[test]
    fn a_bound_after_the_last_token_is_none() {
        use base::partitioner::Murmur3Partitioner;
        assert_eq!(token_bound(&[0xFF; 8], true, &Murmur3Partitioner), None);
        assert_eq!(token_bound(&[0xFF; 8], false, &Murmur3Partitioner), Some(vec![0xFF; 8]));
    }

    #[test]
    fn the_row_of_an_entry_can_be_decoded() {
        let row = RowPrefix::of(b"a\0key", &RandomPartitioner);
        let entry = row.entry(b"\x01name\0\0");
        let found = RowPrefix::of_entry(&entry, &RandomPartitioner).unwrap();
        assert_eq!(found, row);
        assert_eq!(found.row_key(&RandomPartitioner).unwrap(), b"a\0key"[..]);
        assert!(row.entry(ROW_MARKER) < row.entry(COLUMNS_LEVEL) && entry < row.end());
    }
}
