//! Changes to entries of one row in the format of the log: built for writing, and read back.
//!
//! ```text
//!   entry     u32 length, key relative to the row | u32 length, value; or FF FF FF FF if the entry is removed
//! ```

use byteorder::{BigEndian, ByteOrder};

/// Stored in place of a value's length if the entry is removed.
const REMOVED: u32 = u32::MAX;

/// Bytes of a list whose copy costs more than a new buffer.
const LONG_BYTES: usize = 64 * 1024;

/// A key relative to its row, and its new value, or `None` if the entry is removed.
pub(super) type Change<'a> = (&'a [u8], Option<&'a [u8]>);

/// A list of changes that is being built. A key is in it at most once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChangeList {
    bytes: Vec<u8>,
    count: u32,
    /// Where the first key probably is among the entries of its row in the memtable. The log does not store it.
    pub likely: usize,
}

/// An iterator over encoded changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Changes<'a> {
    /// Changes that are left.
    count: u32,
    rest: &'a [u8],
    /// The probable place of the first key, see [`ChangeList`]; 0 for changes that were read from the log.
    pub likely: usize,
}

/// Returns a length or count as the log stores it. Lengths and counts never come near the limit, since a message has at
/// most 256 MiB.
pub(super) fn length_of(length: usize) -> u32 {
    assert!(length < REMOVED as usize, "{length} bytes or changes do not fit into a record");
    length as u32
}

pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&length_of(bytes.len()).to_be_bytes());
    out.extend_from_slice(bytes);
}

impl ChangeList {
    /// Returns an empty list with room for `count` changes whose names and values have `bytes` bytes together.
    pub(crate) fn with_room_for(count: usize, bytes: usize) -> ChangeList {
        /// Lengths, tags, timestamps and expiries of a change.
        const BESIDE: usize = 40;
        ChangeList { bytes: Vec::with_capacity(count * BESIDE + bytes), ..ChangeList::default() }
    }

    /// Adds a change of a key that is not in the list yet.
    pub(crate) fn add(&mut self, key: &[u8], value: Option<&[u8]>) {
        debug_assert!(self.lacks(key), "a replay would apply one of two changes of a key");
        put_bytes(key, &mut self.bytes);
        match value {
            Some(value) => put_bytes(value, &mut self.bytes),
            None => self.bytes.extend_from_slice(&REMOVED.to_be_bytes()),
        }
        self.count += 1;
    }

    /// Adds a change whose value `write` appends to the list's buffer, without a copy. `at_least` is the capacity to
    /// reserve for the value, in bytes. The key must not be in the list yet.
    pub(crate) fn add_written(&mut self, key: &[u8], at_least: usize, write: impl FnOnce(&mut Vec<u8>)) {
        debug_assert!(self.lacks(key), "a replay would apply one of two changes of a key");
        self.bytes.reserve(8 + key.len() + at_least);
        put_bytes(key, &mut self.bytes);
        let length_at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        write(&mut self.bytes);
        let length = length_of(self.bytes.len() - length_at - 4);
        BigEndian::write_u32(self.bytes.split_at_mut(length_at).1, length);
        self.count += 1;
    }

    /// Adds a change, or replaces an earlier change of the same key: a record must not have a key twice.
    pub(crate) fn set(&mut self, key: &[u8], value: Option<&[u8]>) {
        if self.get(key).is_none() {
            return self.add(key, value);
        }
        let old = std::mem::take(self);
        for (other, was) in old.iter() {
            self.add(other, if other == key { value } else { was });
        }
    }

    /// Returns the change of a key: `Some(None)` if the entry is removed, `None` if the list does not change the key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.iter().find(|(other, _)| *other == key).map(|(_, value)| value)
    }

    /// Returns whether a key is not in the list, for assertions. A long list is not searched.
    fn lacks(&self, key: &[u8]) -> bool {
        self.count > 64 || self.get(key).is_none()
    }

    /// Adds all changes of another list. No key may be in both.
    pub(crate) fn append(&mut self, other: &ChangeList) {
        debug_assert!(other.iter().all(|(key, _)| self.get(key).is_none()));
        self.bytes.extend_from_slice(&other.bytes);
        self.count += other.count;
    }

    pub(crate) fn iter(&self) -> Changes<'_> {
        Changes { count: self.count, rest: &self.bytes, likely: self.likely }
    }

    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.count).unwrap_or(usize::MAX)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends the list in the format of the log: the number of changes, then each change. The buffer of a long list is
    /// not copied: what `out` has is put in front of it.
    pub(super) fn move_to(mut self, out: &mut Vec<u8>) {
        debug_assert!(self.iter().end().is_some_and(<[u8]>::is_empty), "the count is not of these changes");
        out.extend_from_slice(&self.count.to_be_bytes());
        if self.is_long() && out.len() < self.bytes.len() {
            self.bytes.splice(..0, out.drain(..));
            *out = self.bytes;
        } else {
            out.extend_from_slice(&self.bytes);
        }
    }

    /// Returns the bytes that `move_to` is likely to copy behind those that are there.
    pub(super) fn room(&self) -> usize {
        if self.is_long() { 0 } else { self.bytes.len() }
    }

    fn is_long(&self) -> bool {
        self.bytes.len() >= LONG_BYTES
    }
}

impl<'a> Changes<'a> {
    /// Reads the number of changes at the beginning of `bytes`. The changes themselves are decoded while iterating.
    pub(super) fn read(bytes: &mut &'a [u8], likely: usize) -> Option<Changes<'a>> {
        let count = take_number(bytes)?;
        Some(Changes { count, rest: bytes, likely })
    }

    /// Skips the remaining changes and returns the bytes after them. `None` if a change is incomplete.
    pub(super) fn end(mut self) -> Option<&'a [u8]> {
        for _ in 0..self.count {
            self.next()?;
        }
        Some(self.rest)
    }
}

impl<'a> Iterator for Changes<'a> {
    type Item = Change<'a>;

    fn next(&mut self) -> Option<Change<'a>> {
        self.count = self.count.checked_sub(1)?;
        let key = take_bytes(&mut self.rest)?;
        let value = match take_number(&mut self.rest)? {
            REMOVED => None,
            length => Some(take(&mut self.rest, length)?),
        };
        Some((key, value))
    }
}

fn take<'a>(bytes: &mut &'a [u8], length: u32) -> Option<&'a [u8]> {
    bytes.split_off(..usize::try_from(length).ok()?)
}

pub(super) fn take_number(bytes: &mut &[u8]) -> Option<u32> {
    Some(BigEndian::read_u32(bytes.split_off(..4)?))
}

/// Reads a length and that many bytes.
pub(super) fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_number(bytes)?;
    take(bytes, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_replaces_an_earlier_change_of_the_key() {
        let mut list = ChangeList::default();
        list.set(b"a", Some(b"1"));
        list.set(b"b", None);
        list.set(b"a", Some(b"22"));
        list.add_written(b"d", 1, |out| out.extend_from_slice(b"444"));
        list.set(b"b", Some(b""));
        let expected: [Change<'_>; 3] = [(b"a", Some(b"22")), (b"b", Some(b"")), (b"d", Some(b"444"))];
        assert_eq!(list.iter().collect::<Vec<_>>(), expected);
        assert_eq!((list.get(b"a"), list.get(b"c")), (Some(Some(&b"22"[..])), None));
    }
}
