//! Stores keys of any length in tables whose keys have at most 65,535 bytes.
//!
//! A row key, a super column name and a column name can have 65,535 bytes each, so the key of an entry can be longer
//! than that. A key of `CHUNK` bytes or more is cut after its first chunk. The chunk is stored in the ordinary tree as
//! a pointer. The rest is stored in a second tree, prefixed with an address, which is a hash of the chunks before it. A
//! rest of `CHUNK` bytes or more is cut again.
//!
//! ```text
//!   ordinary keys                    long keys
//!   "aaa"            -> value
//!   first chunk      -> pointer      address(first chunk) | rest -> value
//!   "zzz"            -> value
//! ```
//!
//! An iterator follows each pointer where it meets it, so entries come in the order of the whole keys. A single key is
//! found without reading pointers, since its address is computed from the key. Pointers are kept when the entries they
//! lead to have been removed.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::ops::Bound;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::tables::{Snapshot, Tables, TreeEntries};
use super::value;
use store::{Result, StoreError};

/// Length at which keys are cut: below the limit of tables, with space for an address.
pub(crate) const CHUNK: usize = 60_000;

/// Bytes of an address: enough of a SHA-256 to exclude collisions.
const ADDRESS: usize = 16;

/// Where the entry of a key is stored.
pub(crate) struct LongKeyPlace {
    /// The key in its tree: the tree of long keys if `pointers` is not empty, otherwise the ordinary one.
    pub key: Vec<u8>,
    /// The pointers that lead to it: whether each is in the tree of long keys, and its key.
    pub pointers: Vec<(bool, Vec<u8>)>,
}

/// Returns where the entry of a key is stored. Short keys are stored unchanged.
pub(crate) fn place(key: Vec<u8>) -> LongKeyPlace {
    if key.len() < CHUNK {
        return LongKeyPlace { key, pointers: Vec::new() };
    }
    let mut pointers = Vec::new();
    let mut space: Vec<u8> = Vec::new();
    let mut rest = &key[..];
    while let Some((chunk, behind)) = rest.split_at_checked(CHUNK) {
        let pointer = [&space[..], chunk].concat();
        space = address(&space, chunk);
        pointers.push((!pointers.is_empty(), pointer));
        rest = behind;
    }
    debug_assert!(rest.len() < CHUNK, "the key would be too long for a table");
    LongKeyPlace { key: [&space[..], rest].concat(), pointers }
}

/// Returns the address of keys that continue after `chunk`. `space` is the address of the chunk itself.
fn address(space: &[u8], chunk: &[u8]) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update([u8::try_from(space.len()).unwrap_or(0)]);
    hash.update(space);
    hash.update(chunk);
    hash.finalize().split_at(ADDRESS).0.to_vec()
}

/// The whole key of an entry: of an ordinary entry, or joined from its chunks.
#[derive(Debug, Clone)]
pub(crate) enum WholeKey {
    Ordinary(Bytes),
    Joined(Vec<u8>),
}

impl WholeKey {
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            WholeKey::Ordinary(key) => key,
            WholeKey::Joined(key) => key,
        }
    }

    /// Returns the bytes from `at` on, if possible without a copy.
    pub(crate) fn tail(&self, at: usize) -> Bytes {
        match self {
            WholeKey::Ordinary(key) => key.slice(at.min(key.len())..),
            WholeKey::Joined(key) => Bytes::copy_from_slice(key.get(at..).unwrap_or_default()),
        }
    }
}

/// An iterator over the entries of a range of whole keys, in either direction.
pub(crate) struct StoredEntries<'a> {
    tables: &'a Tables,
    snapshot: &'a Snapshot,
    reversed: bool,
    /// The nested parts of the range that are being iterated, innermost last.
    spaces: Vec<Space>,
}

/// The part of the range after one pointer, or the ordinary tree for the outermost.
struct Space {
    /// The common prefix of its whole keys.
    prefix: Vec<u8>,
    /// Bytes of the address that its keys begin with in the tree.
    address: usize,
    /// Lower bound, inclusive, relative to `prefix`. `None` if unbounded.
    low: Option<Vec<u8>>,
    /// Upper bound, exclusive, relative to `prefix`. `None` if unbounded.
    high: Option<Vec<u8>>,
    entries: TreeEntries,
}

impl<'a> StoredEntries<'a> {
    /// Returns the entries from `low`, inclusive, to `high`, exclusive or unbounded.
    pub(crate) fn new(
        tables: &'a Tables,
        snapshot: &'a Snapshot,
        low: Vec<u8>,
        high: Option<Vec<u8>>,
        reversed: bool,
    ) -> StoredEntries<'a> {
        let mut entries = StoredEntries { tables, snapshot, reversed, spaces: Vec::with_capacity(1) };
        entries.enter(Vec::new(), &[], Some(low), high);
        entries
    }

    /// Continues the iteration in a space. Does nothing if it has no entry in the range.
    fn enter(&mut self, prefix: Vec<u8>, address: &[u8], low: Option<Vec<u8>>, high: Option<Vec<u8>>) {
        let is_long = !address.is_empty();
        let Some(tree) = (if is_long { self.tables.long() } else { self.tables.main() }) else { return };
        let from = Bound::Included(within(address, low.as_deref().unwrap_or(&[])));
        let to = match &high {
            // The bound is longer than the chunk, so the chunk's pointer is in the range.
            Some(high) if high.len() > CHUNK => Bound::Included(within(address, high)),
            Some(high) => Bound::Excluded(within(address, high)),
            None if is_long => {
                let mut end = address.to_vec();
                super::key::increment(&mut end);
                Bound::Excluded(end)
            }
            None => Bound::Unbounded,
        };
        if is_empty_range(&from, &to) {
            return;
        }
        let entries = tree.range(self.snapshot, (from, to));
        self.spaces.push(Space { prefix, address: address.len(), low, high, entries });
    }

    /// Follows a pointer of the current space.
    fn follow(&mut self, tree_key: &[u8]) {
        let Some(space) = self.spaces.last() else { return };
        let Some((own, chunk)) = tree_key.split_at_checked(space.address) else { return };
        let next = address(own, chunk);
        let prefix = [&space.prefix[..], chunk].concat();
        let rest_of = |bound: &Option<Vec<u8>>| {
            bound.as_ref().and_then(|bound| bound.strip_prefix(chunk).map(<[u8]>::to_vec))
        };
        let (low, high) = (rest_of(&space.low), rest_of(&space.high));
        self.enter(prefix, &next, low, high);
    }
}

/// Returns a bound within a space, cut to the length of the longest key in a tree.
fn within(address: &[u8], bound: &[u8]) -> Vec<u8> {
    [address, bound.get(..CHUNK).unwrap_or(bound)].concat()
}

fn is_empty_range(from: &Bound<Vec<u8>>, to: &Bound<Vec<u8>>) -> bool {
    match (from, to) {
        (Bound::Included(from), Bound::Excluded(to)) => from >= to,
        (Bound::Included(from), Bound::Included(to)) => from > to,
        _ => false,
    }
}

impl Iterator for StoredEntries<'_> {
    type Item = Result<(WholeKey, Bytes)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let space = self.spaces.last_mut()?;
            let entry = if self.reversed { space.entries.next_back() } else { space.entries.next() };
            let Some(entry) = entry else {
                self.spaces.pop();
                continue;
            };
            let (key, value) = match entry {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error)),
            };
            if key.len() == space.address + CHUNK && value::is_pointer(&value) {
                self.follow(&key);
                continue;
            }
            if space.address == 0 {
                return Some(Ok((WholeKey::Ordinary(key), value)));
            }
            let Some(rest) = key.get(space.address..) else {
                return Some(Err(StoreError::Corrupt("an entry with a long key has no address".to_owned())));
            };
            return Some(Ok((WholeKey::Joined([&space.prefix[..], rest].concat()), value)));
        }
    }
}
