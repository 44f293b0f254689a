//! Keys of any length in tables whose keys end at 65,535 bytes.
//!
//! A row key, a super column name and a column name may each have that many bytes. A key of `CHUNK` bytes or
//! more is cut: its first chunk stands among the ordinary keys as a pointer, and the rest in a second
//! tree under an address made of all that came before, cut again if need be.
//!
//! ```text
//!   ordinary keys                    long keys
//!   "aaa"            -> value
//!   first chunk      -> pointer      address(first chunk) | rest -> value
//!   "zzz"            -> value
//! ```
//!
//! Whoever iterates follows the pointer where it stands, so the order is that of the whole keys. The address
//! is a hash, so a key is found without reading pointers. Pointers stay when what they led to is gone.

use std::ops::Bound;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::tables::{Snapshot, Tables, TreeEntries};
use super::value;
use crate::storage::StoreError;

/// Where keys are cut: below the limit of tables, with room for an address.
pub const CHUNK: usize = 60_000;

/// Bytes of an address: enough of a SHA-256 that two never meet.
const ADDRESS: usize = 16;

/// Where a key's entry stands.
pub struct Place {
    /// For a key that is cut, in the tree of the long keys.
    pub key: Vec<u8>,
    /// Pointers that must lead to it: whether each is long, and its key.
    pub pointers: Vec<(bool, Vec<u8>)>,
}

/// Finds the place of a key. Short keys stay as they are.
pub fn place(key: Vec<u8>) -> Place {
    if key.len() < CHUNK {
        return Place { key, pointers: Vec::new() };
    }
    let mut pointers = Vec::new();
    let mut space: Vec<u8> = Vec::new();
    let mut rest = &key[..];
    while rest.len() >= CHUNK {
        let pointer = [&space[..], &rest[..CHUNK]].concat();
        space = address(&space, &rest[..CHUNK]);
        pointers.push((!pointers.is_empty(), pointer));
        rest = &rest[CHUNK..];
    }
    Place { key: [&space[..], rest].concat(), pointers }
}

/// The address of the keys that begin with a chunk, within the space that holds the chunk.
fn address(space: &[u8], chunk: &[u8]) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update([u8::try_from(space.len()).unwrap_or(0)]);
    hash.update(space);
    hash.update(chunk);
    hash.finalize()[..ADDRESS].to_vec()
}

/// A whole key, wherever it stood.
#[derive(Debug, Clone)]
pub enum WholeKey {
    Ordinary(Bytes),
    Joined(Vec<u8>),
}

impl WholeKey {
    pub fn as_slice(&self) -> &[u8] {
        match self {
            WholeKey::Ordinary(key) => key,
            WholeKey::Joined(key) => key,
        }
    }

    /// The bytes from `at` on, without a copy where that can be.
    pub fn tail(&self, at: usize) -> Bytes {
        match self {
            WholeKey::Ordinary(key) => key.slice(at.min(key.len())..),
            WholeKey::Joined(key) => Bytes::copy_from_slice(&key[at.min(key.len())..]),
        }
    }
}

/// The entries of a range of whole keys, forwards or backwards.
pub struct Entries<'a> {
    tables: &'a Tables,
    snapshot: &'a Snapshot,
    reversed: bool,
    spaces: Vec<Space>,
}

/// The part of the range that lies in one space.
struct Space {
    /// What all its keys begin with, as whole keys.
    prefix: Vec<u8>,
    /// How many bytes of its keys in the tree are address.
    address: usize,
    /// Bounds of the range, relative to the space: from, and before. `None`: open.
    low: Option<Vec<u8>>,
    high: Option<Vec<u8>>,
    entries: TreeEntries,
}

impl<'a> Entries<'a> {
    /// Entries from `low` on and before `high`, which may be open.
    pub fn new(
        tables: &'a Tables,
        snapshot: &'a Snapshot,
        low: Vec<u8>,
        high: Option<Vec<u8>>,
        reversed: bool,
    ) -> Entries<'a> {
        let mut entries = Entries { tables, snapshot, reversed, spaces: Vec::with_capacity(1) };
        entries.enter(Vec::new(), &[], Some(low), high);
        entries
    }

    /// Goes on in a space; nothing happens where there can be no entry.
    fn enter(&mut self, prefix: Vec<u8>, address: &[u8], low: Option<Vec<u8>>, high: Option<Vec<u8>>) {
        let is_long = !address.is_empty();
        let Some(tree) = (if is_long { self.tables.long() } else { self.tables.main() }) else { return };
        let from = Bound::Included(within(address, low.as_deref().unwrap_or(&[])));
        let to = match &high {
            // The bound itself lies behind the chunk, so the chunk's pointer belongs to the range.
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

    /// Follows a pointer that the current space holds.
    fn follow(&mut self, tree_key: &[u8]) {
        let Some(space) = self.spaces.last() else { return };
        let chunk = &tree_key[space.address..];
        let next = address(&tree_key[..space.address], chunk);
        let prefix = [&space.prefix[..], chunk].concat();
        let rest_of = |bound: &Option<Vec<u8>>| {
            bound.as_ref().and_then(|bound| bound.strip_prefix(chunk).map(<[u8]>::to_vec))
        };
        let (low, high) = (rest_of(&space.low), rest_of(&space.high));
        self.enter(prefix, &next, low, high);
    }
}

/// A bound within a space, cut to the chunk that can stand there.
fn within(address: &[u8], bound: &[u8]) -> Vec<u8> {
    [address, &bound[..bound.len().min(CHUNK)]].concat()
}

fn is_empty_range(from: &Bound<Vec<u8>>, to: &Bound<Vec<u8>>) -> bool {
    match (from, to) {
        (Bound::Included(from), Bound::Excluded(to)) => from >= to,
        (Bound::Included(from), Bound::Included(to)) => from > to,
        _ => false,
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<(WholeKey, Bytes), StoreError>;

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
            let whole = if space.address == 0 {
                WholeKey::Ordinary(key)
            } else {
                WholeKey::Joined([&space.prefix[..], &key[space.address..]].concat())
            };
            return Some(Ok((whole, value)));
        }
    }
}
