//! How many rows to ask the cluster for at a time: a page is in memory as a whole, there and here, and how long its rows
//! are is known when some have come.

use scylla::response::query_result::QueryRowsResult;

/// Rows of a first page, at most, and of any.
const ROWS_FIRST: usize = 256;
const ROWS_MAX: usize = 5000;
/// What a page shall come to, in bytes.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// The size of the next page.
#[derive(Debug)]
pub struct Paging {
    rows: usize,
}

impl Paging {
    /// Of a read that wants so many rows.
    pub fn of(wanted: usize) -> Paging {
        Paging { rows: wanted.clamp(1, ROWS_FIRST) }
    }

    /// Rows to ask for next.
    pub fn rows(&self) -> i32 {
        i32::try_from(self.rows).unwrap_or(i32::MAX)
    }

    /// Learns from a page that has come, when so many rows are still wanted.
    pub fn learn(&mut self, page: &QueryRowsResult, wanted: usize) {
        self.fit(page.rows_num(), page.rows_bytes_size(), wanted);
    }

    fn fit(&mut self, rows: usize, bytes: usize, wanted: usize) {
        if let Some(row_bytes) = bytes.checked_div(rows) {
            let row_bytes = row_bytes.max(1);
            self.rows = (PAGE_BYTES / row_bytes).clamp(1, ROWS_MAX);
        }
        self.rows = self.rows.min(wanted.max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_as_long_as_its_rows_let_it_be() {
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
    }
}
