//! A walk over packed entries.

use bytes::{Bytes, BytesMut};

use super::entries::PackedEntries;
use super::slot::{REMOVED, Slot, as_usize};

/// Entries that a walk copies at a time.
const RUN: usize = 16;

/// Entries of one row to keep apart from it, from either end. They are copied many at a time: a reply to a slice is
/// two pieces of memory, not two for each column.
pub struct PackedWalk<'a> {
    entries: &'a PackedEntries,
    from: usize,
    to: usize,
    reversed: bool,
    /// Keys and values of the entries that come next.
    run: Bytes,
    run_left: usize,
}

impl<'a> PackedWalk<'a> {
    /// Entries from `low` on and before `high`, or backwards.
    pub fn new(entries: &'a PackedEntries, low: &[u8], high: &[u8], reversed: bool) -> PackedWalk<'a> {
        let (from, to) = (entries.first_not_below(low), entries.first_not_below(high));
        PackedWalk { entries, from, to, reversed, run: Bytes::new(), run_left: 0 }
    }

    /// Copies the entries that come next.
    fn copy_run(&mut self) {
        self.run_left = RUN.min(self.to - self.from);
        let slots = &self.entries.slots[self.from..self.to];
        let next =
            if self.reversed { &slots[slots.len() - self.run_left..] } else { &slots[..self.run_left] };
        let mut run = BytesMut::with_capacity(next.iter().map(Slot::data_len).sum());
        for slot in next {
            let begin = as_usize(slot.at);
            run.extend_from_slice(&self.entries.data[begin..begin + slot.data_len()]);
        }
        self.run = run.freeze();
    }
}

impl Iterator for PackedWalk<'_> {
    /// A key and its value; removals are passed over.
    type Item = (Bytes, Bytes);

    fn next(&mut self) -> Option<(Bytes, Bytes)> {
        while self.from < self.to {
            if self.run_left == 0 {
                self.copy_run();
            }
            self.run_left -= 1;
            let slot = if self.reversed {
                self.to -= 1;
                &self.entries.slots[self.to]
            } else {
                self.from += 1;
                &self.entries.slots[self.from - 1]
            };
            let mut key = if self.reversed {
                self.run.split_off(self.run.len() - slot.data_len())
            } else {
                self.run.split_to(slot.data_len())
            };
            let inline = key.split_off(as_usize(slot.key_len));
            match self.entries.large.get(as_usize(slot.large)) {
                Some(large) => return Some((key, large.clone())),
                None if slot.value_len == REMOVED => {}
                None => return Some((key, inline)),
            }
        }
        None
    }
}
