//! An iterator over packed entries.

use bytes::{Bytes, BytesMut};

use super::entries::{PackedEntries, outside, part};
use super::slot::{REMOVED, Slot, as_usize};

/// Entries copied at a time.
const RUN: usize = 16;

/// Returns owned entries of one row, in either direction. Entries are copied many at a time, so that a slice needs one
/// allocation for 16 columns and not two for each column.
pub(crate) struct PackedWalk<'a> {
    entries: &'a PackedEntries,
    from: usize,
    to: usize,
    reversed: bool,
    /// Copied keys and values of the next entries.
    run: Bytes,
    run_left: usize,
}

impl<'a> PackedWalk<'a> {
    /// Returns the entries from `low`, inclusive, to `high`, exclusive; in descending order if `reversed`.
    pub(crate) fn new(entries: &'a PackedEntries, low: &[u8], high: &[u8], reversed: bool) -> PackedWalk<'a> {
        let (from, to) = (entries.first_not_below(low), entries.first_not_below(high));
        PackedWalk { entries, from, to, reversed, run: Bytes::new(), run_left: 0 }
    }

    /// Copies the next entries.
    fn copy_run(&mut self) {
        debug_assert!(self.run.is_empty(), "copied entries would be skipped");
        self.run_left = RUN.min(self.to - self.from);
        let Some(slots) = self.entries.slots.get(self.from..self.to) else { outside() };
        let next = if self.reversed {
            slots.split_at(slots.len() - self.run_left).1
        } else {
            slots.split_at(self.run_left).0
        };
        let mut run = BytesMut::with_capacity(next.iter().map(Slot::data_len).sum());
        for slot in next {
            let begin = as_usize(slot.at);
            run.extend_from_slice(part(&self.entries.data, begin..begin + slot.data_len()));
        }
        self.run = run.freeze();
    }
}

impl Iterator for PackedWalk<'_> {
    /// A key and its value. Removals are skipped.
    type Item = (Bytes, Bytes);

    fn next(&mut self) -> Option<(Bytes, Bytes)> {
        while self.from < self.to {
            if self.run_left == 0 {
                self.copy_run();
            }
            self.run_left -= 1;
            let slot = if self.reversed {
                self.to -= 1;
                self.entries.slots.get(self.to)?
            } else {
                self.from += 1;
                self.entries.slots.get(self.from - 1)?
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
