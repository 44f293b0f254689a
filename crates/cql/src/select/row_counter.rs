//! Counts the rows of a result against the limits of the statement.

use bytes::Bytes;

use super::paging::{CellPosition, PagingState};

/// The rows that an execution has taken, and how many it may take.
#[derive(Debug)]
pub(super) struct RowCounter {
    /// Maximum number of rows: of the page, or of each partition if the rows of several partitions are sorted.
    limit: usize,
    /// Maximum number of rows of each partition.
    pub per_partition: usize,
    pub taken: usize,
    /// The rows taken before those that `limit` counts.
    before: usize,
    /// The partition of the last row, and the number of rows taken from it, in earlier pages too.
    of_partition: Option<(Bytes, usize)>,
    /// The position of the last row that was taken.
    last: Option<(Bytes, Option<CellPosition>)>,
}

impl RowCounter {
    pub(super) fn new(limit: usize, per_partition: usize, resume: Option<&PagingState>) -> RowCounter {
        let of_partition = resume.map(|resume| (resume.key.clone(), resume.of_partition));
        RowCounter { limit, per_partition, taken: 0, before: 0, of_partition, last: None }
    }

    /// Returns the maximum number of rows; `None`: no limit.
    pub(super) fn limit(&self) -> Option<usize> {
        Some(self.limit).filter(|limit| *limit < usize::MAX)
    }

    /// Returns the number of rows that may still be taken.
    pub(super) fn left(&self) -> usize {
        debug_assert!(self.before <= self.taken, "rows would be counted that were not taken");
        self.limit - self.limit.min(self.taken - self.before)
    }

    pub(super) fn is_full(&self) -> bool {
        self.left() == 0
    }

    /// Whether a partition has reached its limit of rows.
    pub(super) fn is_partition_full(&self, key: &Bytes) -> bool {
        self.of_partition.as_ref().is_some_and(|(of, count)| of == key && *count >= self.per_partition)
    }

    /// Lets the limit count only the rows from here on.
    pub(super) fn restart(&mut self) {
        self.before = self.taken;
    }

    pub(super) fn take(&mut self, key: &Bytes, position: Option<CellPosition>) {
        debug_assert!(!self.is_full(), "a row beyond the limit would be in the result");
        debug_assert!(
            !self.is_partition_full(key),
            "a row beyond the limit of its partition would be in the result"
        );
        self.taken += 1;
        self.of_partition = match self.of_partition.take() {
            Some((of, count)) if of == *key => Some((of, count + 1)),
            _ => Some((key.clone(), 1)),
        };
        self.last = Some((key.clone(), position));
    }

    /// Returns where the next page begins, with the number of rows that LIMIT still allows.
    pub(super) fn next_page(self, rows_left: usize) -> Option<PagingState> {
        let (key, position) = self.last?;
        debug_assert!(
            self.of_partition.as_ref().is_some_and(|(of, _)| *of == key),
            "the next page would count the rows of another partition"
        );
        let of_partition = self.of_partition.map_or(0, |(_, count)| count);
        let rows_left = u64::try_from(rows_left).unwrap_or(u64::MAX);
        Some(PagingState { key, position, rows_left, of_partition })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(counter: &mut RowCounter, key: &'static [u8]) {
        counter.take(&Bytes::from_static(key), None);
    }

    #[test]
    fn rows_are_counted_by_page_and_by_partition() {
        let mut counter = RowCounter::new(3, 2, None);
        take(&mut counter, b"a");
        take(&mut counter, b"a");
        assert!(counter.is_partition_full(&Bytes::from_static(b"a")) && counter.left() == 1);
        take(&mut counter, b"b");
        assert!(counter.is_full() && !counter.is_partition_full(&Bytes::from_static(b"b")));
        let next = counter.next_page(7).unwrap();
        assert_eq!((&next.key[..], next.of_partition, next.rows_left), (&b"b"[..], 1, 7));
        let resumed = RowCounter::new(3, 1, Some(&next));
        assert!(resumed.is_partition_full(&next.key) && !resumed.is_full());
    }

    #[test]
    fn sorted_partitions_have_the_limit_on_their_own() {
        let mut counter = RowCounter::new(1, usize::MAX, None);
        for key in [b"a", b"b"] {
            counter.restart();
            assert!(!counter.is_full());
            take(&mut counter, key);
            assert!(counter.is_full());
        }
        assert_eq!(counter.taken, 2);
    }
}
