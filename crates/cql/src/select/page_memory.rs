//! Accounts for the memory of the pages from which a slice takes its rows.

use base::util::meter;

/// Bytes that were counted when pages were read and are not released yet. A row is counted as part of the result when
/// it is taken, and its cells are freed then. If both were counted until the end of the page, a large result would be
/// counted twice.
#[derive(Debug, Default)]
pub(super) struct PageMemory {
    /// Bytes of pages before the last one. Only the cells of an unfinished row are left of them.
    before: usize,
    /// Bytes of the last page.
    page: usize,
}

impl PageMemory {
    /// Records that another page was read, for which this number of bytes was counted.
    pub(super) fn turn(&mut self, bytes: usize) {
        self.before += self.page;
        self.page = bytes;
    }

    /// Releases the bytes of a completed row, and with it the pages before the last one.
    pub(super) fn release_row(&mut self, bytes: usize) {
        let of_page = bytes.saturating_sub(self.before).min(self.page);
        meter::release(self.before + of_page);
        self.before = 0;
        self.page -= of_page;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use base::util::meter::{RequestLimits, RequestMeter, metered};

    #[tokio::test]
    async fn memory_of_a_finished_row_is_released_from_the_oldest_pages() {
        let meter = Arc::new(RequestMeter::new(&RequestLimits::default(), Arc::default()));
        metered(meter.clone(), async {
            let mut memory = PageMemory::default();
            let read = |memory: &mut PageMemory, bytes| {
                meter::charge(bytes).unwrap();
                memory.turn(bytes);
            };
            meter::charge(1000).unwrap();
            read(&mut memory, 100);
            memory.release_row(30);
            assert_eq!(meter.used(), 1070);
            // The next row has the rest of this page, and 20 bytes of the next.
            read(&mut memory, 100);
            assert_eq!(meter.used(), 1170);
            memory.release_row(90);
            assert_eq!(meter.used(), 1080);
            // Never release more than was counted.
            memory.release_row(500);
            assert_eq!(meter.used(), 1000);
        })
        .await;
    }
}
