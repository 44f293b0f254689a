//! A sorted map whose copies share their entries.
//!
//! The schema and the manifest are immutable snapshots: each change copies the snapshot and replaces it. With 10,000
//! column families a copy of a `BTreeMap` copies 10,000 names. Here the entries are stored in sorted chunks of at most
//! 64, and a copy shares the chunks:
//!
//! ```text
//!   before   [a b c d]   [e f g h]   [i j]
//!                |                      |
//!   after    (shared)   [e f x g h]  (shared)        after x is inserted
//! ```
//!
//! So a copy costs one reference for each chunk, and a change copies one chunk. A map and its copy are compared chunk
//! by chunk, without reading the shared ones.
//!
//! `imbl::OrdMap` is not used because of its comparison. The manifest records the differences between two maps, and up
//! to 7.0.1 of July 2026 `OrdMap::diff` missed one changed value in eight. It also compares values by `PartialEq`,
//! while the schema needs `Arc::ptr_eq`: a definition that is built again counts as changed, and definitions are too
//! large to compare.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Index;
use std::sync::Arc;

/// Maximum number of entries of a chunk, which a change copies.
const CHUNK_MAX: usize = 64;

/// Maximum number of entries that are compared one after the other.
const FEW: usize = 16;

type Chunk<K, V> = Arc<Vec<(K, V)>>;

/// A sorted map whose copies share their entries. No chunk is empty.
pub struct SharedMap<K, V> {
    chunks: Vec<Chunk<K, V>>,
}

/// An entry that differs between two maps: its key, and its values before and after.
pub type Difference<'a, K, V> = (&'a K, Option<&'a V>, Option<&'a V>);

impl<K, V> SharedMap<K, V> {
    /// Creates an empty map.
    pub const fn new() -> SharedMap<K, V> {
        SharedMap { chunks: Vec::new() }
    }

    /// Whether the map has no entries.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the number of entries. Takes time proportional to the number of chunks.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// Iterates over the entries in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.chunks.iter().flat_map(|chunk| chunk.iter().map(|(key, value)| (key, value)))
    }

    /// Iterates over the keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// Iterates over the values in key order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> SharedMap<K, V> {
    /// Returns the index of the chunk that contains or would contain a key, and the key's position in it.
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> (usize, Result<usize, usize>)
    where
        K: Borrow<Q>,
    {
        self.find_by(|known| known.borrow() == key, |known| known.borrow().cmp(key))
    }

    /// The same with a key that is compared by two functions.
    #[inline]
    fn find_by(
        &self,
        is_key: impl Fn(&K) -> bool,
        order: impl Fn(&K) -> Ordering,
    ) -> (usize, Result<usize, usize>) {
        // The usual case: a small map, which every request looks up several times. Texts of different lengths differ
        // without a look at their bytes, which a comparison by order needs.
        if let [chunk] = &self.chunks[..]
            && chunk.len() <= FEW
            && let Some(place) = chunk.iter().position(|(known, _)| is_key(known))
        {
            return (0, Ok(place));
        }
        let at =
            self.chunks.partition_point(|chunk| chunk.last().is_some_and(|(last, _)| order(last).is_lt()));
        let place = match self.chunks.get(at) {
            Some(chunk) => chunk.binary_search_by(|(known, _)| order(known)),
            None => Err(0),
        };
        (at, place)
    }

    /// Returns the value of a name that a client has sent. The name may be any bytes: no key equals a name that is not
    /// UTF-8.
    #[inline]
    pub fn get_named(&self, name: &[u8]) -> Option<&V>
    where
        K: AsRef<[u8]>,
    {
        match self.find_by(|known| known.as_ref() == name, |known| known.as_ref().cmp(name)) {
            (at, Ok(place)) => Some(&self.chunks[at][place].1),
            _ => None,
        }
    }

    /// Returns the value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match self.find(key) {
            (at, Ok(place)) => Some(&self.chunks[at][place].1),
            _ => None,
        }
    }

    /// Whether the map has a value of this key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).1.is_ok()
    }

    /// Returns the entries that differ from an earlier map, in key order. Chunks that both maps share are not read;
    /// `is_same` compares values of the others.
    pub fn changes_since<'a>(
        &'a self,
        earlier: &'a SharedMap<K, V>,
        is_same: impl Fn(&V, &V) -> bool,
    ) -> Vec<Difference<'a, K, V>> {
        let mut found = Vec::new();
        let (mut before, mut after) = (Cursor::new(&earlier.chunks), Cursor::new(&self.chunks));
        loop {
            before.skip_shared(&mut after);
            let order = match (before.entry(), after.entry()) {
                (None, None) => return found,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((one, _)), Some((other, _))) => one.cmp(other),
            };
            let old = if order.is_le() { before.take() } else { None };
            let new = if order.is_ge() { after.take() } else { None };
            let is_alike = matches!((old, new), (Some((_, old)), Some((_, new))) if is_same(old, new));
            if let Some((key, _)) = old.or(new)
                && !is_alike
            {
                found.push((key, old.map(|(_, value)| value), new.map(|(_, value)| value)));
            }
        }
    }
}

impl<K: Ord + Clone, V: Clone> SharedMap<K, V> {
    /// Returns a mutable reference to the value of a key. Copies the chunk if another map shares it.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        match self.find(key) {
            (at, Ok(place)) => Some(&mut Arc::make_mut(&mut self.chunks[at])[place].1),
            _ => None,
        }
    }

    /// Sets the value of a key. Returns the former value.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            (at, Ok(place)) => {
                let chunk = Arc::make_mut(&mut self.chunks[at]);
                Some(std::mem::replace(&mut chunk[place].1, value))
            }
            // A key after all others: fill the last chunk before adding another.
            (at, Err(_)) if at == self.chunks.len() => {
                match self.chunks.last_mut() {
                    Some(last) if last.len() < CHUNK_MAX => Arc::make_mut(last).push((key, value)),
                    _ => self.chunks.push(Arc::new(vec![(key, value)])),
                }
                debug_assert!(self.is_ordered_at(self.chunks.len() - 1), "a key would not be found");
                None
            }
            (at, Err(place)) => {
                let chunk = Arc::make_mut(&mut self.chunks[at]);
                chunk.insert(place, (key, value));
                if chunk.len() > CHUNK_MAX {
                    let rest = chunk.split_off(CHUNK_MAX / 2);
                    self.chunks.insert(at + 1, Arc::new(rest));
                }
                debug_assert!(self.is_ordered_at(at), "a key would not be found");
                None
            }
        }
    }

    /// Removes a key. Returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (at, Ok(place)) = self.find(key) else { return None };
        let chunk = Arc::make_mut(&mut self.chunks[at]);
        let (_, value) = chunk.remove(place);
        if chunk.is_empty() {
            self.chunks.remove(at);
        } else if let Some(next) = self.chunks.get(at + 1).filter(|next| next.len() < CHUNK_MAX / 4).cloned()
            && self.chunks[at].len() < CHUNK_MAX / 4
        {
            Arc::make_mut(&mut self.chunks[at]).extend(next.iter().cloned());
            self.chunks.remove(at + 1);
        }
        debug_assert!(self.is_ordered_at(at), "a key would not be found");
        Some(value)
    }

    /// Returns whether the keys of the chunks before, at and after an index ascend, for assertions.
    fn is_ordered_at(&self, at: usize) -> bool {
        let near = self.chunks.get(at.saturating_sub(1)..self.chunks.len().min(at + 3)).unwrap_or_default();
        near.iter().flat_map(|chunk| chunk.iter()).is_sorted_by(|(one, _), (other, _)| one < other)
    }

    /// Removes the entries for which `keeps` returns false.
    pub fn retain(&mut self, mut keeps: impl FnMut(&K, &V) -> bool) {
        self.chunks.retain_mut(|chunk| {
            let kept: Vec<bool> = chunk.iter().map(|(key, value)| keeps(key, value)).collect();
            if !kept.iter().all(|kept| *kept) {
                let mut kept = kept.into_iter();
                Arc::make_mut(chunk).retain(|_| kept.next().unwrap_or(true));
            }
            !chunk.is_empty()
        });
    }
}

/// A position among the entries of a map.
struct Cursor<'a, K, V> {
    chunks: &'a [Chunk<K, V>],
    at: usize,
}

impl<'a, K, V> Cursor<'a, K, V> {
    fn new(chunks: &'a [Chunk<K, V>]) -> Cursor<'a, K, V> {
        Cursor { chunks, at: 0 }
    }

    /// Advances both cursors past chunks that both maps share, if both are at the start of such a chunk.
    fn skip_shared(&mut self, other: &mut Cursor<'a, K, V>) {
        while let ([one, ..], [two, ..]) = (self.chunks, other.chunks)
            && (self.at, other.at) == (0, 0)
            && Arc::ptr_eq(one, two)
        {
            self.chunks = &self.chunks[1..];
            other.chunks = &other.chunks[1..];
        }
    }

    fn entry(&self) -> Option<(&'a K, &'a V)> {
        let (key, value) = self.chunks.first()?.get(self.at)?;
        Some((key, value))
    }

    /// Returns the current entry and advances.
    fn take(&mut self) -> Option<(&'a K, &'a V)> {
        let entry = self.entry();
        self.at += 1;
        if self.chunks.first().is_some_and(|chunk| self.at >= chunk.len()) {
            self.chunks = &self.chunks[1..];
            self.at = 0;
        }
        entry
    }
}

impl<K, V> Clone for SharedMap<K, V> {
    fn clone(&self) -> SharedMap<K, V> {
        SharedMap { chunks: self.chunks.clone() }
    }
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> SharedMap<K, V> {
        SharedMap::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SharedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Ord, V: PartialEq> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &SharedMap<K, V>) -> bool {
        self.changes_since(other, V::eq).is_empty()
    }
}

impl<K: Ord, V: Eq> Eq for SharedMap<K, V> {}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for SharedMap<K, V> {
    type Output = V;

    /// Returns the value of a key. Panics if the map does not contain it.
    #[expect(clippy::expect_used, reason = "as the maps of the standard library do")]
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key is in the map")
    }
}

impl<K: Ord + Clone, V: Clone> Extend<(K, V)> for SharedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for SharedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> SharedMap<K, V> {
        let mut map = SharedMap::new();
        map.extend(entries);
        map
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum MapChange {
        Insert(u16, u8),
        Remove(u16),
        Change(u16),
        KeepEven,
        /// Sets the mark since which changes are computed.
        Mark,
    }

    fn steps() -> impl Strategy<Value = Vec<MapChange>> {
        let step = prop_oneof![
            20 => (0u16..600, any::<u8>()).prop_map(|(key, value)| MapChange::Insert(key, value)),
            9 => (0u16..600).prop_map(MapChange::Remove),
            3 => (0u16..600).prop_map(MapChange::Change),
            1 => Just(MapChange::KeepEven),
            2 => Just(MapChange::Mark),
        ];
        prop::collection::vec(step, 0..900)
    }

    proptest! {
        #[test]
        fn behaves_like_a_btree_map_and_finds_all_changes(steps in steps(), is_filled in any::<bool>()) {
            let full = if is_filled { 500u16 } else { 0 };
            let mut expected: BTreeMap<u16, u8> = (0..full).map(|key| (key, 1)).collect();
            let mut map: SharedMap<u16, u8> = expected.clone().into_iter().collect();
            let (mut mark, mut expected_mark) = (map.clone(), expected.clone());
            for step in steps {
                match step {
                    MapChange::Insert(key, value) => prop_assert_eq!(map.insert(key, value), expected.insert(key, value)),
                    MapChange::Remove(key) => prop_assert_eq!(map.remove(&key), expected.remove(&key)),
                    MapChange::Change(key) => {
                        if let Some(value) = map.get_mut(&key) { *value = 9; }
                        if let Some(value) = expected.get_mut(&key) { *value = 9; }
                    }
                    MapChange::KeepEven => {
                        map.retain(|key, value| (u16::from(*value) + key).is_multiple_of(2));
                        expected.retain(|key, value| (u16::from(*value) + *key).is_multiple_of(2));
                    }
                    MapChange::Mark => (mark, expected_mark) = (map.clone(), expected.clone()),
                }
            }
            prop_assert!(map.iter().eq(expected.iter()));
            prop_assert!(mark.iter().eq(expected_mark.iter()));
            prop_assert_eq!(map.len(), expected.len());
            prop_assert!(map.chunks.iter().all(|chunk| (1..=CHUNK_MAX).contains(&chunk.len())));
            let keys: std::collections::BTreeSet<_> = expected.keys().chain(expected_mark.keys()).collect();
            for key in &keys {
                prop_assert_eq!(map.get(*key), expected.get(key));
            }
            let changed: Vec<_> = keys
                .into_iter()
                .map(|key| (key, expected_mark.get(key), expected.get(key)))
                .filter(|(_, old, new)| old != new)
                .collect();
            prop_assert_eq!(map.changes_since(&mark, u8::eq), changed);
            prop_assert_eq!(map == mark, expected == expected_mark);
        }
    }

    #[test]
    fn a_change_of_one_entry_leaves_the_other_chunks_shared() {
        let before: SharedMap<u32, u32> = (0..10_000).map(|key| (key * 2, key)).collect();
        let mut after = before.clone();
        after.insert(9_999, 0);
        after.insert(4, 1_000_000);
        after.remove(&10);
        let is_shared =
            |chunk: &&Chunk<u32, u32>| before.chunks.iter().any(|other| Arc::ptr_eq(chunk, other));
        assert!(after.chunks.iter().filter(is_shared).count() + 3 >= before.chunks.len());
        let looked_at = std::cell::Cell::new(0);
        let changes = after.changes_since(&before, |one, other| {
            looked_at.set(looked_at.get() + 1);
            one == other
        });
        let expected = [(&4, Some(&2), Some(&1_000_000)), (&10, Some(&5), None), (&9_999, None, Some(&0))];
        assert_eq!(changes, expected);
        assert!(looked_at.get() <= 2 * CHUNK_MAX, "{}", looked_at.get());
    }
}
