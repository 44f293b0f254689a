//! Sorts names by a comparator whose order differs from the stored one.
//!
//! The store sorts names by their `ordered` bytes. If a release orders names differently only among those that share a
//! prefix of these bytes, each such group is sorted. If the order differs everywhere, the prefix is empty and the whole
//! row is one group.

use bytes::Bytes;

use crate::Result;
use base::marshal::AbstractType;
use base::model::{Cell, SliceRange, SuperColumn};

/// A column that is sorted by its name.
pub trait Named {
    /// Returns the name by which it is sorted.
    fn name(&self) -> &Bytes;
}

impl Named for Cell {
    fn name(&self) -> &Bytes {
        &self.name
    }
}

impl Named for SuperColumn {
    fn name(&self) -> &Bytes {
        &self.name
    }
}

/// Returns whether a name is within the bounds of a slice, by the comparator.
pub fn within(name: &[u8], range: &SliceRange, comparator: &dyn AbstractType) -> bool {
    let (low, high) = range.ends();
    (low.is_empty() || comparator.compare(name, low).is_ge())
        && (high.is_empty() || comparator.compare(name, high).is_le())
}

/// Sorts columns that come in stored order, or its reverse, group by group.
pub struct Regrouped<'a, T, I: Iterator<Item = Result<T>>> {
    source: std::iter::Peekable<I>,
    comparator: &'a dyn AbstractType,
    /// The type whose `ordered` bytes define the groups.
    stored: &'a dyn AbstractType,
    prefix: usize,
    range: &'a SliceRange,
    /// The rest of the current group. The next column is the last one.
    group: Vec<T>,
}

impl<'a, T: Named, I: Iterator<Item = Result<T>>> Regrouped<'a, T, I> {
    /// Creates the iterator over a source that is sorted within groups only.
    pub fn new(
        source: I,
        comparator: &'a dyn AbstractType,
        stored: &'a dyn AbstractType,
        prefix: usize,
        range: &'a SliceRange,
    ) -> Self {
        Regrouped { source: source.peekable(), comparator, stored, prefix, range, group: Vec::new() }
    }

    fn load_group(&mut self) -> Result<()> {
        debug_assert!(self.group.is_empty(), "the rest of a group would come behind the next one");
        let Some(first) = self.source.next() else { return Ok(()) };
        let first = first?;
        let group = group_prefix(self.stored, self.prefix, first.name());
        self.group.push(first);
        let (comparator, range, stored, prefix) = (self.comparator, self.range, self.stored, self.prefix);
        let is_inside = |next: &Result<T>| {
            next.as_ref().map_or(true, |next| group_prefix(stored, prefix, next.name()) == group)
        };
        while let Some(next) = self.source.next_if(is_inside) {
            self.group.push(next?);
        }
        self.group.retain(|item| within(item.name(), range, comparator));
        self.group.sort_by(|a, b| comparator.compare(a.name(), b.name()));
        if !range.reversed {
            self.group.reverse();
        }
        Ok(())
    }
}

impl<T: Named, I: Iterator<Item = Result<T>>> Iterator for Regrouped<'_, T, I> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.group.is_empty() {
            self.source.peek()?;
            if let Err(error) = self.load_group() {
                return Some(Err(error));
            }
        }
        self.group.pop().map(Ok)
    }
}

/// Returns the first `prefix` bytes of a name's `ordered` bytes.
pub fn group_prefix(stored: &dyn AbstractType, prefix: usize, name: &[u8]) -> Vec<u8> {
    let mut ordered = Vec::with_capacity(name.len() + 8);
    stored.ordered(name, &mut ordered);
    ordered.truncate(prefix);
    ordered
}
