//! The entries of one row, in order, shared between one writer and any number of readers.
//!
//! A reader takes the whole map by cloning an `Arc`, and sees it as it was then. The writer changes it in place as
//! long as nobody looks; otherwise it copies the one chunk that it changes, and the list of chunks. So the two ends of
//! a row of a million columns are as near as those of a row of ten, and nobody waits for a reader.
//!
//! ```text
//!   chunks    [ a c d ]  [ f g ]  [ k m p t ]      each in order, and none empty
//! ```

use std::sync::Arc;

use crate::storage::embedded::row_cache::EntryChange;

/// Most entries of a chunk: few enough to copy, enough that the list of chunks stays short.
const CHUNK_MAX: usize = 128;

type Chunk = Arc<Vec<EntryChange>>;

/// Keys relative to a row, each with its value or `None` for its removal.
#[derive(Debug, Clone, Default)]
pub struct EntryMap {
    chunks: Vec<Chunk>,
    /// How many of the entries are removals.
    removals: usize,
}

/// A place in a map: the chunk, and the entry in it. Behind the last entry of a chunk comes the next chunk's first.
type Place = (usize, usize);

impl EntryMap {
    /// Puts an entry in the place of what had its key; gives that.
    pub fn put(&mut self, change: EntryChange) -> Option<EntryChange> {
        self.removals += usize::from(change.1.is_none());
        let at = self.chunk_of(&change.0);
        let Some(chunk) = self.chunks.get_mut(at) else {
            self.chunks.push(Arc::new(vec![change]));
            return None;
        };
        let entries = Arc::make_mut(chunk);
        match entries.binary_search_by(|(key, _)| key.cmp(&change.0)) {
            Ok(found) => {
                let old = std::mem::replace(&mut entries[found], change);
                self.removals -= usize::from(old.1.is_none());
                Some(old)
            }
            Err(place) if entries.len() < CHUNK_MAX => {
                entries.insert(place, change);
                None
            }
            Err(place) => {
                self.split(at, place, change);
                None
            }
        }
    }

    /// Makes two chunks of a full one, and puts an entry at a place of it.
    fn split(&mut self, at: usize, place: usize, change: EntryChange) {
        let entries = Arc::make_mut(&mut self.chunks[at]);
        // Who writes columns in order leaves full chunks behind.
        let cut = if place == entries.len() { place } else { entries.len() / 2 };
        let mut upper = Vec::with_capacity(CHUNK_MAX);
        upper.extend(entries.drain(cut..));
        if place < cut {
            entries.insert(place, change);
        } else {
            upper.insert(place - cut, change);
        }
        self.chunks.insert(at + 1, Arc::new(upper));
    }

    /// The chunk in which a key stands or would be put; the first if it is before all.
    fn chunk_of(&self, key: &[u8]) -> usize {
        if self.chunks.len() < 2 {
            return 0;
        }
        self.chunks.partition_point(|chunk| chunk.first().is_some_and(|(first, _)| &first[..] <= key)).max(1)
            - 1
    }

    /// What is said of a key.
    pub fn get(&self, key: &[u8]) -> Option<&EntryChange> {
        let entries = self.chunks.get(self.chunk_of(key))?;
        entries.binary_search_by(|(other, _)| other[..].cmp(key)).ok().map(|at| &entries[at])
    }

    /// Whether some entries are removals.
    pub fn has_removals(&self) -> bool {
        self.removals > 0
    }

    pub fn iter(&self) -> impl Iterator<Item = &EntryChange> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// Where the first entry stands whose key is not below this.
    fn first_not_below(&self, bound: &[u8]) -> Place {
        let at = self.chunk_of(bound);
        let Some(entries) = self.chunks.get(at) else { return (0, 0) };
        let place = entries.partition_point(|(key, _)| &key[..] < bound);
        if place == entries.len() { (at + 1, 0) } else { (at, place) }
    }

    fn at(&self, (chunk, entry): Place) -> Option<&EntryChange> {
        self.chunks.get(chunk)?.get(entry)
    }
}

/// A stretch of a map, consumed from either end.
pub struct EntryRange {
    map: Arc<EntryMap>,
    from: Place,
    to: Place,
}

impl EntryRange {
    /// Entries from `low` on and before `high`.
    pub fn new(map: Arc<EntryMap>, low: &[u8], high: &[u8]) -> EntryRange {
        let from = map.first_not_below(low);
        let to = map.first_not_below(high).max(from);
        EntryRange { map, from, to }
    }

    /// The first entry, or the last.
    pub fn peek(&self, reversed: bool) -> Option<&EntryChange> {
        if self.from >= self.to {
            return None;
        }
        self.map.at(if reversed { self.before_end() } else { self.from })
    }

    /// Goes past the first entry, or the last.
    pub fn skip(&mut self, reversed: bool) {
        if self.from >= self.to {
            return;
        }
        if reversed {
            self.to = self.before_end();
        } else {
            let (chunk, entry) = self.from;
            let is_last = self.map.chunks.get(chunk).is_none_or(|entries| entry + 1 >= entries.len());
            self.from = if is_last { (chunk + 1, 0) } else { (chunk, entry + 1) };
        }
    }

    /// The place before the end. The stretch is not empty.
    fn before_end(&self) -> Place {
        match self.to {
            (0, 0) => (0, 0),
            (chunk, 0) => (chunk - 1, self.map.chunks[chunk - 1].len().saturating_sub(1)),
            (chunk, entry) => (chunk, entry - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn key(number: u16) -> Bytes {
        Bytes::copy_from_slice(&number.to_be_bytes())
    }

    fn walk(map: &EntryMap, low: u16, high: u16, reversed: bool) -> Vec<EntryChange> {
        let mut range = EntryRange::new(Arc::new(map.clone()), &key(low), &key(high));
        let mut found = Vec::new();
        while let Some(entry) = range.peek(reversed) {
            found.push(entry.clone());
            range.skip(reversed);
        }
        found
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_map(
            changes in prop::collection::vec((0u16..900, prop::option::of(0u8..9)), 0..1500),
            in_order in any::<bool>(),
            (low, high) in (0u16..950, 0u16..950),
        ) {
            let mut changes = changes;
            if in_order {
                changes.sort();
            }
            let (mut map, mut twin) = (EntryMap::default(), BTreeMap::new());
            for (number, value) in changes {
                let value = value.map(|byte| Bytes::copy_from_slice(&[byte]));
                let old = map.put((key(number), value.clone())).map(|(_, old)| old);
                prop_assert_eq!(old, twin.insert(number, value));
            }
            let expected: Vec<EntryChange> =
                twin.range(low..high.max(low)).map(|(number, value)| (key(*number), value.clone())).collect();
            prop_assert_eq!(walk(&map, low, high, false), expected.clone());
            prop_assert_eq!(walk(&map, low, high, true), expected.into_iter().rev().collect::<Vec<_>>());
            prop_assert_eq!(map.get(&key(low)).map(|(_, value)| value.clone()), twin.get(&low).cloned());
            prop_assert_eq!(map.has_removals(), twin.values().any(Option::is_none));
            prop_assert_eq!(map.iter().count(), twin.len());
        }
    }

    #[test]
    fn a_reader_sees_the_map_as_it_was() {
        let mut writer = Arc::new(EntryMap::default());
        for number in 0..1000 {
            Arc::make_mut(&mut writer).put((key(number), Some(Bytes::from_static(b"old"))));
        }
        let reader = writer.clone();
        for number in 0..1000 {
            Arc::make_mut(&mut writer).put((key(number), None));
        }
        assert!(reader.iter().all(|(_, value)| value.is_some()) && !reader.has_removals());
        assert!(writer.iter().all(|(_, value)| value.is_none()));
    }
}
