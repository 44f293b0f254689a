//! The part of a slice that is still to be read.

use std::cmp::Ordering;

use bytes::Bytes;

use super::bounds::CellSlice;
use crate::model::{Predicate, SliceRange};

/// A slice in the direction of the reading.
#[derive(Debug, Clone)]
pub(super) struct SliceCursor {
    pub from: Bytes,
    pub to: Bytes,
    /// Names that are left out: where it begins, and where it ends.
    pub skips: [Option<Bytes>; 2],
}

impl SliceCursor {
    pub fn new(slice: &CellSlice, is_reversed: bool) -> SliceCursor {
        let start = (slice.start.clone(), slice.skips_start);
        let finish = (slice.finish.clone(), slice.skips_finish);
        let ((from, skips_from), (to, skips_to)) =
            if is_reversed { (finish, start) } else { (start, finish) };
        let skips = [skips_from.then(|| from.clone()), skips_to.then(|| to.clone())];
        SliceCursor { from, to, skips }
    }

    /// What is left of it after a name; `None` where nothing is.
    pub fn after(mut self, name: &Bytes, order: &dyn Fn(&[u8], &[u8]) -> Ordering) -> Option<SliceCursor> {
        if !self.to.is_empty() && order(name, &self.to).is_ge() {
            return None;
        }
        if self.from.is_empty() || order(&self.from, name).is_le() {
            self.from = name.clone();
            self.skips[0] = Some(name.clone());
        }
        Some(self)
    }

    /// Goes on behind a page that ends with this name; false where nothing comes behind it.
    pub fn turns_page(&mut self, last: Option<Bytes>, is_last: bool) -> bool {
        let Some(last) = last.filter(|_| !is_last) else { return false };
        self.from = last.clone();
        self.skips[0] = Some(last);
        true
    }

    pub fn predicate(&self, is_reversed: bool, count: usize) -> Predicate {
        let (start, finish) = (self.from.clone(), self.to.clone());
        Predicate::Range(SliceRange { start, finish, reversed: is_reversed, count })
    }
}
