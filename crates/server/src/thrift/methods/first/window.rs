//! The `start` and `count` of slices of 0.3.

/// A number of columns after a number of skipped ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub skipped: usize,
    pub count: usize,
}

impl Window {
    /// Converts a `start` and a `count`. A count of 0 means all columns if nothing is skipped, and none otherwise.
    pub(super) fn new(start: i32, count: i32) -> Window {
        let skipped = usize::try_from(start).unwrap_or(0);
        let count = match usize::try_from(count).unwrap_or(0) {
            0 if skipped == 0 => usize::MAX,
            count => count,
        };
        Window { skipped, count }
    }

    /// Returns how many columns a slice must read to cover the window.
    pub(super) fn end(self) -> i32 {
        let end = if self.count == 0 { 0 } else { self.skipped.saturating_add(self.count) };
        i32::try_from(end).unwrap_or(i32::MAX)
    }

    /// Returns the items of a list that are in the window.
    pub(super) fn of<T>(self, mut items: Vec<T>) -> Vec<T> {
        items.drain(..self.skipped.min(items.len()));
        items.truncate(self.count);
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_selects_the_columns_that_0_3_returned() {
        let of = |start, count| Window::new(start, count).of((0..5).collect::<Vec<i32>>());
        for everything in [(-1, -1), (0, 0), (0, -1), (-7, i32::MAX)] {
            assert_eq!(of(everything.0, everything.1), [0, 1, 2, 3, 4], "{everything:?}");
        }
        assert_eq!(of(-1, 2), [0, 1]);
        assert_eq!(of(3, 1), [3]);
        assert_eq!(of(3, i32::MAX), [3, 4]);
        assert_eq!(of(5, 1), [0; 0]);
        assert_eq!(of(1, -1), [0; 0]);
        assert_eq!(of(1, 0), [0; 0]);
        assert_eq!(Window::new(i32::MAX, i32::MAX).end(), i32::MAX);
        assert_eq!((Window::new(3, 2).end(), Window::new(3, 0).end()), (5, 0));
    }
}
