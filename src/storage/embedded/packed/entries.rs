//! The entries, to be found, read and changed.

use std::cmp::Ordering;

use bytes::Bytes;

use super::slot::{HEAD_BYTES, INLINE, REMOVED, SLOT_BYTES, Slot, as_u32, as_usize, head_of};
use super::value::PackedValue;

/// Values of more bytes than this are kept by themselves.
const INLINE_MAX: usize = 512;
/// Gaps of fewer bytes than this are left alone.
const GAPS_MIN: usize = 256;

/// Slots that a search looks at side by side.
const LOOKS: usize = 7;

/// Keys in order, each with its value or its removal. All of it takes less than 4 GiB: its owners see to that.
#[derive(Debug, Clone, Default)]
pub struct PackedEntries {
    pub(super) slots: Vec<Slot>,
    pub(super) data: Vec<u8>,
    pub(super) large: Vec<Bytes>,
    large_bytes: usize,
    /// Bytes of `data` that belong to no entry any more.
    gaps: usize,
}

impl PackedEntries {
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Bytes that it takes, with the room that it keeps.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * SLOT_BYTES + self.data.capacity() + self.large_bytes
    }

    /// Bytes that a copy of it takes: large values are shared.
    pub fn bytes_to_copy(&self) -> usize {
        self.slots.len() * SLOT_BYTES + self.data.len() + self.large.len() * size_of::<Bytes>()
    }

    /// The key of an entry; empty where there is none.
    pub fn key(&self, at: usize) -> &[u8] {
        self.slots.get(at).map_or(&[], |slot| &self.data[slot.key_range()])
    }

    /// The value of an entry; `None` for a removal, and where there is no entry.
    pub fn value(&self, at: usize) -> Option<PackedValue<'_>> {
        let slot = self.slots.get(at)?;
        if slot.value_len == REMOVED {
            return None;
        }
        Some(match self.large.get(as_usize(slot.large)) {
            Some(large) => PackedValue::Large(large),
            None => {
                let begin = slot.key_range().end;
                PackedValue::Inline(&self.data[begin..begin + as_usize(slot.value_len)])
            }
        })
    }

    /// Every entry, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Option<PackedValue<'_>>)> {
        (0..self.len()).map(|at| (self.key(at), self.value(at)))
    }

    /// Whether the first entry has this key.
    pub fn begins_with(&self, key: &[u8]) -> bool {
        self.slots.first().is_some_and(|slot| self.compare(slot, head_of(key), key).is_eq())
    }

    /// Where a key stands, or would stand. `likely` is where to look first: who asks for several keys asks for
    /// neighbours.
    pub fn search(&self, key: &[u8], likely: usize) -> Result<usize, usize> {
        let head = head_of(key);
        if self.slots.get(likely).is_some_and(|slot| self.compare(slot, head, key).is_eq()) {
            return Ok(likely);
        }
        let from = self.slots.len() - self.not_below(head).len();
        if self.slots.get(from).is_none_or(|slot| slot.head != head) {
            return Err(from);
        }
        let found = self.slots[from..].binary_search_by(|slot| self.compare(slot, head, key));
        found.map(|at| from + at).map_err(|at| from + at)
    }

    /// The slots from the first one on whose head is not below this. Several are looked at side by side, as each may be
    /// far away: to look at one after another would take as long as many steps do.
    fn not_below(&self, head: u128) -> &[Slot] {
        let mut rest = &self.slots[..];
        let mut end = rest.len();
        while end > LOOKS {
            let step = end.div_ceil(LOOKS + 1);
            let below = (1..=LOOKS)
                .filter(|look| rest.get(look * step - 1).is_some_and(|slot| slot.head < head))
                .count();
            rest = &rest[below * step..];
            end = step.min(rest.len());
        }
        let below = rest[..end].iter().filter(|slot| slot.head < head).count();
        &rest[below..]
    }

    fn compare(&self, slot: &Slot, head: u128, key: &[u8]) -> Ordering {
        slot.head.cmp(&head).then_with(|| {
            let length = as_usize(slot.key_len);
            if length.min(key.len()) <= HEAD_BYTES {
                // One is the other's beginning, and what follows there is zeros as far as the heads tell.
                return length.cmp(&key.len());
            }
            self.data[slot.key_range()].cmp(key)
        })
    }

    /// Where the first entry stands whose key is not below this. Open slices ask for the ends.
    pub fn first_not_below(&self, bound: &[u8]) -> usize {
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

    /// Puts an entry in the place of what has its key, or between its neighbours. Gives its place.
    pub fn put(&mut self, key: &[u8], value: Option<&[u8]>, likely: usize) -> usize {
        match self.search(key, likely) {
            Ok(at) => {
                self.replace(at, value);
                at
            }
            Err(at) => {
                let slot = self.add(key, value);
                self.slots.insert(at, slot);
                at
            }
        }
    }

    /// Appends an entry that sorts behind all others.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        let slot = self.add(key, Some(value));
        self.slots.push(slot);
    }

    /// Takes an entry away.
    pub fn remove(&mut self, at: usize) {
        self.forget_large(at);
        let slot = self.slots.remove(at);
        self.gaps += slot.data_len();
        self.close_gaps();
    }

    fn replace(&mut self, at: usize, value: Option<&[u8]>) {
        self.forget_large(at);
        let slot = &mut self.slots[at];
        let (room, begin) = (slot.inline_len(), slot.key_range().end);
        match value {
            None => {
                self.gaps += room;
                slot.value_len = REMOVED;
            }
            Some(value) if value.len() <= room => {
                self.data[begin..begin + value.len()].copy_from_slice(value);
                self.gaps += room - value.len();
                slot.value_len = as_u32(value.len());
            }
            Some(value) => {
                self.gaps += slot.data_len();
                let key = self.data[slot.key_range()].to_vec();
                self.slots[at] = self.add(&key, Some(value));
            }
        }
        self.close_gaps();
    }

    /// Puts bytes behind the others, for an entry that the caller puts in its place.
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

    /// Lets go of an entry's large value, if it has one.
    fn forget_large(&mut self, at: usize) {
        let number = self.slots[at].large;
        if number == INLINE {
            return;
        }
        // The last one takes its number.
        let last = as_u32(self.large.len() - 1);
        if let Some(moved) = self.slots.iter_mut().find(|slot| slot.large == last) {
            moved.large = number;
        }
        let slot = &mut self.slots[at];
        slot.large = INLINE;
        slot.value_len = REMOVED;
        self.large_bytes -= self.large.swap_remove(as_usize(number)).len();
    }

    /// Packs the data anew when half of it is gaps.
    fn close_gaps(&mut self) {
        if self.gaps < GAPS_MIN || self.gaps < self.data.len() / 2 {
            return;
        }
        let mut data = Vec::with_capacity(self.data.len() - self.gaps + GAPS_MIN);
        for slot in &mut self.slots {
            let begin = as_usize(slot.at);
            slot.at = as_u32(data.len());
            data.extend_from_slice(&self.data[begin..begin + slot.data_len()]);
        }
        (self.data, self.gaps) = (data, 0);
    }

    /// Takes away the entries from a place on, and gives them.
    pub fn split_off(&mut self, at: usize) -> PackedEntries {
        let upper = self.copied(at..self.len());
        *self = self.copied(0..at);
        upper
    }

    fn copied(&self, range: std::ops::Range<usize>) -> PackedEntries {
        let mut copy = PackedEntries::default();
        for (key, value) in range.map(|at| (self.key(at), self.value(at))) {
            let slot = match value {
                // It need not be copied.
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

#[cfg(test)]
mod tests {
    use super::super::walk::PackedWalk;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Twin = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

    fn any_key() -> impl Strategy<Value = Vec<u8>> {
        // Some share all that is compared at once.
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

    fn check(packed: &PackedEntries, twin: &Twin) {
        let owned: Vec<_> = packed
            .iter()
            .map(|(key, value)| (key.to_vec(), value.map(|value| value.as_slice().to_vec())))
            .collect();
        assert_eq!(owned, twin.clone().into_iter().collect::<Vec<_>>());
        let used: usize = packed.slots.iter().map(Slot::data_len).sum();
        assert_eq!(packed.data.len(), used + packed.gaps);
        assert_eq!(packed.large_bytes, packed.large.iter().map(Bytes::len).sum::<usize>());
        assert!(packed.gaps < GAPS_MIN || packed.gaps < packed.data.len() / 2);
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_map(
            changes in prop::collection::vec((any_key(), any_value(), 0usize..40, any::<bool>()), 0..300),
            (low, high) in (any_key(), any_key()),
            cut in 0usize..40,
        ) {
            let (mut packed, mut twin) = (PackedEntries::default(), Twin::new());
            for (key, value, likely, removes) in changes {
                match packed.search(&key, likely) {
                    Ok(at) if removes => {
                        packed.remove(at);
                        twin.remove(&key);
                    }
                    found => {
                        prop_assert_eq!(found.is_ok(), twin.contains_key(&key));
                        let at = packed.put(&key, value.as_deref(), likely);
                        prop_assert_eq!(packed.key(at), &key[..]);
                        twin.insert(key, value);
                    }
                }
            }
            check(&packed, &twin);
            let stretch = twin.iter().filter(|(key, _)| **key >= low && **key < high);
            let expected: Vec<(Bytes, Bytes)> = stretch
                .filter_map(|(key, value)| Some((key.clone().into(), value.clone()?.into())))
                .collect();
            let walked: Vec<_> = PackedWalk::new(&packed, &low, &high, false).collect();
            prop_assert_eq!(&walked, &expected);
            let mut backwards: Vec<_> = PackedWalk::new(&packed, &low, &high, true).collect();
            backwards.reverse();
            prop_assert_eq!(&backwards, &expected);
            let cut = cut.min(packed.len());
            let upper = packed.split_off(cut);
            let mut lower_twin = twin.clone();
            let upper_twin = twin.keys().nth(cut).cloned().map(|key| lower_twin.split_off(&key));
            check(&packed, &lower_twin);
            check(&upper, &upper_twin.unwrap_or_default());
        }
    }

    #[test]
    fn keys_that_begin_alike_are_told_apart() {
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
    fn many_keys_that_begin_alike_are_told_apart() {
        let key = |number: usize| [&[1; 16][..], &number.to_be_bytes(), &[2; 16]].concat();
        let mut packed = PackedEntries::default();
        (0..300).for_each(|number| packed.push(&key(number * 2), b""));
        for number in 0..300 {
            assert_eq!(packed.search(&key(number * 2), 0), Ok(number));
            assert_eq!(packed.search(&key(number * 2 + 1), 0), Err(number + 1));
        }
    }

    #[test]
    fn values_of_one_length_take_no_more_room() {
        let mut packed = PackedEntries::default();
        packed.put(b"key", Some(b"one"), 0);
        let bytes = packed.bytes();
        for value in [b"two", b"six", b"ten"] {
            packed.put(b"key", Some(value), 0);
        }
        assert_eq!((packed.bytes(), packed.gaps), (bytes, 0));
    }
}
