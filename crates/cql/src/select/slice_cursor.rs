//! The part of a slice that has not been read yet.

use std::cmp::Ordering;

use bytes::Bytes;

use super::bounds::CellSlice;
use base::marshal::AbstractType;
use base::model::{Predicate, SliceRange};

/// A slice in the direction of the read.
#[derive(Debug, Clone)]
pub(super) struct SliceCursor {
    pub from: Bytes,
    pub to: Bytes,
    /// Names at the start and at the end that are excluded.
    pub skips: [Option<Bytes>; 2],
}

impl SliceCursor {
    pub(super) fn new(slice: &CellSlice, is_reversed: bool) -> SliceCursor {
        let start = (slice.start.clone(), slice.skips_start);
        let finish = (slice.finish.clone(), slice.skips_finish);
        let ((from, skips_from), (to, skips_to)) =
            if is_reversed { (finish, start) } else { (start, finish) };
        let skips = [skips_from.then(|| from.clone()), skips_to.then(|| to.clone())];
        SliceCursor { from, to, skips }
    }

    /// Returns the rest of the slice after a name, or `None` if nothing is left.
    pub(super) fn after(
        mut self,
        name: &Bytes,
        order: &dyn Fn(&[u8], &[u8]) -> Ordering,
    ) -> Option<SliceCursor> {
        if !self.to.is_empty() && order(name, &self.to).is_ge() {
            return None;
        }
        if self.from.is_empty() || order(&self.from, name).is_le() {
            self.from = name.clone();
            self.skips[0] = Some(name.clone());
        }
        Some(self)
    }

    /// Whether a name is one of the excluded ends.
    pub(super) fn is_skipped(&self, name: &Bytes, comparator: &dyn AbstractType) -> bool {
        self.skips.iter().flatten().any(|skipped| comparator.compare(name, skipped).is_eq())
    }

    /// Moves the start behind the last name of a page. Returns false if nothing follows.
    pub(super) fn turns_page(&mut self, last: Option<Bytes>, is_last: bool) -> bool {
        let Some(last) = last.filter(|_| !is_last) else { return false };
        debug_assert!(self.skips[0].as_ref() != Some(&last), "the same page would be read for ever");
        self.from = last.clone();
        self.skips[0] = Some(last);
        true
    }

    pub(super) fn predicate(&self, is_reversed: bool, count: usize) -> Predicate {
        let (start, finish) = (self.from.clone(), self.to.clone());
        Predicate::Range(SliceRange { start, finish, reversed: is_reversed, count })
    }
}
