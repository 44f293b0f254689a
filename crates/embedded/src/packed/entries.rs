//! `PackedEntries`: finds, reads and changes the entries of one row.
//!
//! An entry has a slot of 32 bytes. The slots are sorted by key; the bytes of keys and values are in `data`, in the
//! order in which they were written. Three cells, of which `c` has a large value:
//!
//! ```text
//!   slots     head 01 a.. at 0, value 2    head 01 b.. at 4, value 3    head 01 c.. at 9, large 0
//!   data      [01 a] v v | [01 b] w w w | [01 c]
//!   large     [ 600 bytes ]
//! ```
//!
//! - *Find*: the slot has the first 16 bytes of the key as a number (`head`), so most comparisons do not read `data`.
//!   Only keys that agree in these bytes are compared there.
//! - *Replace*: a value that is not longer is written over the old one, and the rest of its bytes is a gap. For a
//!   longer value, key and value are appended, and all the old bytes are a gap. When half of `data` is gaps, it is
//!   packed anew.
//! - *Remove*: `remove` deletes an entry. `put` without a value keeps the key with a removal, as a memtable needs to
//!   hide the entry of that key in tables.
//! - *Large values* (over `INLINE_MAX`) have an allocation of their own. Copies of the row, and replies, share it.

use std::cmp::Ordering;
use std::ops::Range;

use bytes::Bytes;

use super::slot::{HEAD_BYTES, INLINE, REMOVED, SLOT_BYTES, Slot, as_u32, as_usize, head_of};
use super::value::PackedValue;

/// Values of more bytes than this are stored in `large`.
const INLINE_MAX: usize = 512;
/// Gaps of fewer bytes than this are not closed.
const GAPS_MIN: usize = 256;

/// Slots that a search compares in one step.
const LOOKS: usize = 7;

/// A sorted map from keys to values or removals. Its owners keep it below 4 GiB.
#[derive(Debug, Clone, Default)]
pub(crate) struct PackedEntries {
    pub(super) slots: Vec<Slot>,
    pub(super) data: Vec<u8>,
    pub(super) large: Vec<Bytes>,
    large_bytes: usize,
    /// Bytes of `data` that belong to no entry.
    gaps: usize,
}

impl PackedEntries {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the memory that it uses in bytes, spare capacity included.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * SLOT_BYTES + self.data.capacity() + self.large_bytes
    }

    /// Returns the bytes that a copy of it copies. Large values are shared.
    pub(crate) fn bytes_to_copy(&self) -> usize {
        self.slots.len() * SLOT_BYTES + self.data.len() + self.large.len() * size_of::<Bytes>()
    }

    /// Returns the key of an entry. Empty if there is no entry at `at`.
    pub(crate) fn key(&self, at: usize) -> &[u8] {
        self.slots.get(at).map_or(&[], |slot| part(&self.data, slot.key_range()))
    }

    /// Returns the value of an entry. `None` if it is a removal, or there is no entry at `at`.
    pub(crate) fn value(&self, at: usize) -> Option<PackedValue<'_>> {
        let slot = self.slots.get(at)?;
        if slot.value_len == REMOVED {
            return None;
        }
        Some(match self.large.get(as_usize(slot.large)) {
            Some(large) => PackedValue::Large(large),
            None => {
                let begin = slot.key_range().end;
                PackedValue::Inline(part(&self.data, begin..begin + as_usize(slot.value_len)))
            }
        })
    }

    /// Returns all entries in the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], Option<PackedValue<'_>>)> {
        (0..self.len()).map(|at| (self.key(at), self.value(at)))
    }

    /// Returns whether the first entry has this key.
    pub(crate) fn begins_with(&self, key: &[u8]) -> bool {
        self.slots.first().is_some_and(|slot| self.compare(slot, head_of(key), key).is_eq())
    }

    /// Returns the position of a key, or as an error the position to insert it at. `likely` is looked at first, since
    /// successive searches are mostly for adjacent keys.
    pub(crate) fn search(&self, key: &[u8], likely: usize) -> Result<usize, usize> {
        let head = head_of(key);
        if self.slots.get(likely).is_some_and(|slot| self.compare(slot, head, key).is_eq()) {
            return Ok(likely);
        }
        let from = self.slots.len() - self.not_below(head).len();
        if self.slots.get(from).is_none_or(|slot| slot.head != head) {
            return Err(from);
        }
        let found = self.slots.split_at(from).1.binary_search_by(|slot| self.compare(slot, head, key));
        found.map(|at| from + at).map_err(|at| from + at)
    }

    /// Returns the slots from the first one whose head is at least `head`.
    ///
    /// Each step compares several slots that do not depend on each other, so the CPU loads them at the same time. A
    /// binary search would wait for memory in each of its steps.
    fn not_below(&self, head: u128) -> &[Slot] {
        let mut rest = &self.slots[..];
        let mut end = rest.len();
        while end > LOOKS {
            let step = end.div_ceil(LOOKS + 1);
            let below = (1..=LOOKS)
                .filter(|look| rest.get(look * step - 1).is_some_and(|slot| slot.head < head))
                .count();
            rest = rest.split_at(below * step).1;
            end = step.min(rest.len());
        }
        let below = rest.split_at(end).0.iter().filter(|slot| slot.head < head).count();
        rest.split_at(below).1
    }

    fn compare(&self, slot: &Slot, head: u128, key: &[u8]) -> Ordering {
        slot.head.cmp(&head).then_with(|| {
            let length = as_usize(slot.key_len);
            if length.min(key.len()) <= HEAD_BYTES {
                // The heads are equal, so the longer key is the shorter one followed by zeros, as far as the head
                // reaches.
                return length.cmp(&key.len());
            }
            part(&self.data, slot.key_range()).cmp(key)
        })
    }

    /// Returns the position of the first entry whose key is at least `bound`. Slices without bounds ask for both ends,
    /// so these are checked first.
    pub(crate) fn first_not_below(&self, bound: &[u8]) -> usize {
        let head = head_of(bound);
        let is_below = |slot: &Slot| self.compare(slot, head, bound).is_lt();
        if !self.slots.first().is_some_and(is_below) {
            0
        } else if self.slots.last().is_some_and(is_below) {
            self.len()
        } else {
            self.search(bound, self.len()).unwrap_or_else(|at| at)
        }
    }

    /// Inserts or replaces an entry. Returns its position.
    pub(crate) fn put(&mut self, key: &[u8], value: Option<&[u8]>, likely: usize) -> usize {
        match self.search(key, likely) {
            Ok(at) => {
                self.replace(at, value);
                at
            }
            Err(at) => {
                let slot = self.add(key, value);
                self.slots.insert(at, slot);
                debug_assert!(self.is_ordered_at(at), "an entry would not be found");
                at
            }
        }
    }

    /// Appends an entry whose key is greater than all others.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) {
        debug_assert!(
            self.slots.last().is_none_or(|last| self.compare(last, head_of(key), key).is_lt()),
            "the entries of a row are not in the order of their keys"
        );
        let slot = self.add(key, Some(value));
        self.slots.push(slot);
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, at: usize) {
        self.drop_large(at);
        let slot = self.slots.remove(at);
        self.gaps += slot.data_len();
        self.close_gaps();
    }

    fn replace(&mut self, at: usize, value: Option<&[u8]>) {
        self.drop_large(at);
        let Some(slot) = self.slots.get_mut(at) else { outside() };
        let (room, begin) = (slot.inline_len(), slot.key_range().end);
        match value {
            None => {
                self.gaps += room;
                slot.value_len = REMOVED;
            }
            Some(value) if value.len() <= room => {
                let Some(old) = self.data.get_mut(begin..begin + value.len()) else { outside() };
                old.copy_from_slice(value);
                self.gaps += room - value.len();
                slot.value_len = as_u32(value.len());
            }
            Some(value) => {
                self.gaps += slot.data_len();
                let key = part(&self.data, slot.key_range()).to_vec();
                let moved = self.add(&key, Some(value));
                if let Some(slot) = self.slots.get_mut(at) {
                    *slot = moved;
                }
            }
        }
        self.close_gaps();
    }

    /// Appends the bytes of an entry to `data`, and returns its slot, which the caller inserts.
    fn add(&mut self, key: &[u8], value: Option<&[u8]>) -> Slot {
        let at = as_u32(self.data.len());
        self.data.reserve(key.len() + value.map_or(0, <[u8]>::len).min(INLINE_MAX));
        self.data.extend_from_slice(key);
        let mut slot =
            Slot { head: head_of(key), at, key_len: as_u32(key.len()), value_len: REMOVED, large: INLINE };
        if let Some(value) = value {
            slot.value_len = as_u32(value.len());
            if value.len() <= INLINE_MAX {
                self.data.extend_from_slice(value);
            } else {
                slot.large = as_u32(self.large.len());
                self.large_bytes += value.len();
                self.large.push(Bytes::copy_from_slice(value));
            }
        }
        slot
    }

    /// Drops an entry's large value, if it has one.
    fn drop_large(&mut self, at: usize) {
        let Some(number) = self.slots.get(at).map(|slot| slot.large).filter(|number| *number != INLINE)
        else {
            return;
        };
        // `swap_remove` gives the last large value this number.
        let last = as_u32(self.large.len() - 1);
        if let Some(moved) = self.slots.iter_mut().find(|slot| slot.large == last) {
            moved.large = number;
        }
        if let Some(slot) = self.slots.get_mut(at) {
            slot.large = INLINE;
            slot.value_len = REMOVED;
        }
        self.large_bytes -= self.large.swap_remove(as_usize(number)).len();
        debug_assert!(self.large_bytes == self.large.iter().map(Bytes::len).sum::<usize>());
    }

    /// Returns whether the keys before, at and after a position ascend, for assertions.
    fn is_ordered_at(&self, at: usize) -> bool {
        let near = at.saturating_sub(1)..self.len().min(at + 2);
        near.map(|at| self.key(at)).is_sorted_by(|a, b| a < b)
    }

    /// Copies `data` without its gaps if half of it is gaps.
    fn close_gaps(&mut self) {
        if self.gaps < GAPS_MIN || self.gaps < self.data.len() / 2 {
            return;
        }
        let mut data = Vec::with_capacity(self.data.len() - self.gaps + GAPS_MIN);
        for slot in &mut self.slots {
            let begin = as_usize(slot.at);
            slot.at = as_u32(data.len());
            data.extend_from_slice(part(&self.data, begin..begin + slot.data_len()));
        }
        debug_assert!(data.len() == self.data.len() - self.gaps, "gaps were counted twice or not at all");
        (self.data, self.gaps) = (data, 0);
    }

    /// Removes the entries from a position on, and returns them.
    pub(crate) fn split_off(&mut self, at: usize) -> PackedEntries {
        let upper = self.copied(at..self.len());
        let whole = self.len();
        *self = self.copied(0..at);
        debug_assert!(self.len() + upper.len() == whole, "entries were lost, or are in both parts");
        upper
    }

    fn copied(&self, range: Range<usize>) -> PackedEntries {
        let mut copy = PackedEntries::default();
        for (key, value) in range.map(|at| (self.key(at), self.value(at))) {
            let slot = match value {
                // A large value is shared, not copied.
                Some(PackedValue::Large(value)) => {
                    let slot = Slot {
                        value_len: as_u32(value.len()),
                        large: as_u32(copy.large.len()),
                        ..copy.add(key, None)
                    };
                    copy.large_bytes += value.len();
                    copy.large.push(value.clone());
                    slot
                }
                value => copy.add(key, value.map(PackedValue::as_slice)),
            };
            copy.slots.push(slot);
        }
        copy
    }
}

/// Returns bytes of `data`.
pub(super) fn part(data: &[u8], range: Range<usize>) -> &[u8] {
    let Some(part) = data.get(range) else { outside() };
    part
}

/// Panics: the entries have been changed in a way that this folder does not allow. Empty bytes in their place would be
/// stored, or returned to clients, as a cell.
#[cold]
pub(super) fn outside() -> ! {
    unreachable!("a slot is outside of its row, or leads outside of the bytes of the row")
}

#[cfg(test)]
mod tests {
    use super::super::walk::PackedWalk;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Model = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

    fn any_key() -> impl Strategy<Value = Vec<u8>> {
        // Some keys have the same head.
        let byte = || prop::sample::select(vec![0u8, 1, 255]);
        prop_oneof![
            prop::collection::vec(byte(), 0..4),
            prop::collection::vec(byte(), 0..4).prop_map(|tail| [&[7; 15][..], &tail].concat()),
        ]
    }

    fn any_value() -> impl Strategy<Value = Option<Vec<u8>>> {
        let length = prop_oneof![4 => 0usize..60, 1 => INLINE_MAX - 1..INLINE_MAX + 3];
        prop::option::weighted(0.8, (any::<u8>(), length).prop_map(|(byte, length)| vec![byte; length]))
    }

    fn check(packed: &PackedEntries, model: &Model) {
        let owned: Vec<_> = packed
            .iter()
            .map(|(key, value)| (key.to_vec(), value.map(|value| value.as_slice().to_vec())))
            .collect();
        assert_eq!(owned, model.clone().into_iter().collect::<Vec<_>>());
        let used: usize = packed.slots.iter().map(Slot::data_len).sum();
        assert_eq!(packed.data.len(), used + packed.gaps);
        assert_eq!(packed.large_bytes, packed.large.iter().map(Bytes::len).sum::<usize>());
        assert!(packed.gaps < GAPS_MIN || packed.gaps < packed.data.len() / 2);
    }

    proptest! {
        #[test]
        fn behaves_like_a_btree_map(
            changes in prop::collection::vec((any_key(), any_value(), 0usize..40, any::<bool>()), 0..300),
            (low, high) in (any_key(), any_key()),
            cut in 0usize..40,
        ) {
            let (mut packed, mut model) = (PackedEntries::default(), Model::new());
            for (key, value, likely, removes) in changes {
                match packed.search(&key, likely) {
                    Ok(at) if removes => {
                        packed.remove(at);
                        model.remove(&key);
                    }
                    found => {
                        prop_assert_eq!(found.is_ok(), model.contains_key(&key));
                        let at = packed.put(&key, value.as_deref(), likely);
                        prop_assert_eq!(packed.key(at), &key[..]);
                        model.insert(key, value);
                    }
                }
            }
            check(&packed, &model);
            let range = model.iter().filter(|(key, _)| **key >= low && **key < high);
            let expected: Vec<(Bytes, Bytes)> = range
                .filter_map(|(key, value)| Some((key.clone().into(), value.clone()?.into())))
                .collect();
            let walked: Vec<_> = PackedWalk::new(&packed, &low, &high, false).collect();
            prop_assert_eq!(&walked, &expected);
            let mut backwards: Vec<_> = PackedWalk::new(&packed, &low, &high, true).collect();
            backwards.reverse();
            prop_assert_eq!(&backwards, &expected);
            let cut = cut.min(packed.len());
            let upper = packed.split_off(cut);
            let mut lower_model = model.clone();
            let upper_model = model.keys().nth(cut).cloned().map(|key| lower_model.split_off(&key));
            check(&packed, &lower_model);
            check(&upper, &upper_model.unwrap_or_default());
        }
    }

    #[test]
    fn keys_with_the_same_head_are_found() {
        let keys: [&[u8]; 5] =
            [b"", b"\0", b"sixteen bytes on", b"sixteen bytes on\0", b"sixteen bytes on and on"];
        let mut packed = PackedEntries::default();
        keys.iter().for_each(|key| packed.push(key, b""));
        for (at, key) in keys.iter().enumerate() {
            for likely in 0..6 {
                assert_eq!(packed.search(key, likely), Ok(at));
            }
        }
        assert_eq!(packed.search(b"sixteen bytes on a", 0), Err(4));
    }

    #[test]
    fn many_keys_with_the_same_head_are_found() {
        let key = |number: usize| [&[1; 16][..], &number.to_be_bytes(), &[2; 16]].concat();
        let mut packed = PackedEntries::default();
        (0..300).for_each(|number| packed.push(&key(number * 2), b""));
        for number in 0..300 {
            assert_eq!(packed.search(&key(number * 2), 0), Ok(number));
            assert_eq!(packed.search(&key(number * 2 + 1), 0), Err(number + 1));
        }
    }

    #[test]
    fn replacing_values_of_equal_length_takes_no_more_memory() {
        let mut packed = PackedEntries::default();
        packed.put(b"key", Some(b"one"), 0);
        let bytes = packed.bytes();
        for value in [b"two", b"six", b"ten"] {
            packed.put(b"key", Some(value), 0);
        }
        assert_eq!((packed.bytes(), packed.gaps), (bytes, 0));
    }
}
