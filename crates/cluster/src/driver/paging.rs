//! Computes how many rows to request in a page. A page is in memory as a whole, on the node and here. The size of its
//! rows is known after the first page.

use scylla::response::query_result::QueryRowsResult;

/// Limit of the rows of a first page.
const ROWS_FIRST: usize = 256;
/// Limit of the rows of any page.
const ROWS_MAX: usize = 5000;
/// Desired size of a page in bytes.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// The size of the next page.
#[derive(Debug)]
pub(super) struct Paging {
    rows: usize,
    /// Limit of the rows of a page.
    most: usize,
}

impl Paging {
    /// Returns the size of the first page of a read of `wanted` rows.
    pub(super) fn of(wanted: usize) -> Paging {
        Paging { rows: wanted.clamp(1, ROWS_FIRST), most: ROWS_MAX }
    }

    /// Returns the number of rows to request next.
    pub(super) fn rows(&self) -> i32 {
        i32::try_from(self.rows).unwrap_or(i32::MAX)
    }

    /// Adjusts the size to the rows of a page. `wanted` is the number of rows that are still to be read.
    pub(super) fn learn(&mut self, page: &QueryRowsResult, wanted: usize) {
        self.fit(page.rows_num(), page.rows_bytes_size(), wanted);
    }

    /// Divides the size of this page and of later ones by two. Returns whether it could be divided.
    pub(super) fn halve(&mut self) -> bool {
        if self.rows < 2 {
            return false;
        }
        self.most = self.rows / 2;
        self.rows = self.most;
        true
    }

    fn fit(&mut self, rows: usize, bytes: usize, wanted: usize) {
        if let Some(row_bytes) = bytes.checked_div(rows) {
            let row_bytes = row_bytes.max(1);
            self.rows = (PAGE_BYTES / row_bytes).clamp(1, self.most);
        }
        self.rows = self.rows.min(wanted.max(1));
        debug_assert!((1..=self.most).contains(&self.rows), "a page of no rows means all rows");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_fewer_rows_if_rows_are_large() {
        assert_eq!(Paging::of(3).rows(), 3);
        let mut paging = Paging::of(usize::MAX);
        assert_eq!(paging.rows(), 256);
        paging.fit(256, 256 * 100, usize::MAX);
        assert_eq!(paging.rows(), 5000);
        paging.fit(10, 10 * 1024 * 1024, usize::MAX);
        assert_eq!(paging.rows(), 4);
        paging.fit(1, 100 * 1024 * 1024, usize::MAX);
        assert_eq!(paging.rows(), 1);
        paging.fit(256, 256, 7);
        assert_eq!(paging.rows(), 7);
        assert!(paging.halve());
        assert_eq!(paging.rows(), 3);
        paging.fit(3, 3, usize::MAX);
        assert_eq!(paging.rows(), 3, "larger pages would not be read in time either");
        assert!(paging.halve() && !paging.halve());
    }
}
