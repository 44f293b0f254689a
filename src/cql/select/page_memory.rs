//! The memory of the pages from which a slice takes its rows.

use crate::util::meter;

/// Bytes that were counted when pages were read, and are not released yet. A row is counted as an answer once it is taken,
/// and its cells are gone then: to count both until the page is done would count a large result twice.
#[derive(Debug, Default)]
pub(super) struct PageMemory {
    /// Of pages before the last one: only the cells of an unfinished row are left of them.
    before: usize,
    /// Of the last page.
    page: usize,
}

impl PageMemory {
    /// Another page has been read, and so many bytes were counted for it.
    pub fn turn(&mut self, bytes: usize) {
        self.before += self.page;
        self.page = bytes;
    }

    /// A row is done whose cells took so many bytes. With it the pages before the last one are.
    pub fn release_row(&mut self, bytes: usize) {
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
    use crate::util::meter::{RequestLimits, RequestMeter, metered};

    #[tokio::test]
    async fn rows_that_are_done_are_released_with_the_pages_before() {
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
            // The next row has the rest of this page, and 20 of the next.
            read(&mut memory, 100);
            assert_eq!(meter.used(), 1170);
            memory.release_row(90);
            assert_eq!(meter.used(), 1080);
            // Never more than was counted.
            memory.release_row(500);
            assert_eq!(meter.used(), 1000);
        })
        .await;
    }
}
