//! One execution of a SELECT, which reads one partition after another until there are enough rows.

use bytes::Bytes;

use super::bounds::CellReads;
use super::cell_source::CellSource;
use super::filter::RowFilter;
use super::keys::{Partitions, ScannedRange};
use super::paging::{CellPosition, PagingState};
use super::partition::FirstPage;
use super::result_rows::ResultRows;
use super::row_counter::RowCounter;
use super::rows::TableRow;
use super::token::token_before;
use crate::{CqlError, Result};
use base::model::{Bounds, Predicate, SliceRange};
use base::partitioner::TokenForm;
use base::util::meter;

/// Maximum number of cells per read of a partition.
pub(super) const CELLS_PER_PAGE: usize = 1024;

/// Maximum number of cells that a scan reads of each partition.
const CELLS_PER_SCANNED: usize = 256;

/// Maximum number of partitions per read of a scan.
const PARTITIONS_PER_PAGE: usize = 64;

/// An index lookup that finds the partitions.
#[derive(Debug)]
pub(super) struct ByIndex {
    pub column: Bytes,
    pub value: Bytes,
}

/// The cells to read of each partition.
pub(super) struct PartitionReads {
    pub reads: CellReads,
    pub is_reversed: bool,
    pub is_distinct: bool,
    /// Whether some row may need the static columns of its partition.
    pub needs_statics: bool,
    /// Whether a partition with only static columns is a row of the result too.
    pub shows_bare_statics: bool,
}

pub(super) struct Walk<'a> {
    pub source: CellSource<'a>,
    pub slices: PartitionReads,
    pub tests: Vec<RowFilter>,
    pub counter: RowCounter,
    pub result: ResultRows<'a>,
}

impl Walk<'_> {
    /// Returns the number of cells to read: the cells of all rows that are still wanted, and of one more row, which
    /// shows that the last wanted row is complete.
    pub(super) fn page_cells(&self) -> usize {
        let columns = self.source.columns;
        let statics = if self.slices.needs_statics { columns.def.static_columns().count() } else { 0 };
        if self.slices.is_distinct {
            return (statics + 2).min(CELLS_PER_PAGE);
        }
        let (rows, of_row) = (self.rows_to_read(), columns.cells_per_row());
        rows.saturating_add(1).saturating_mul(of_row).saturating_add(statics).clamp(2, CELLS_PER_PAGE)
    }

    /// Returns the maximum number of rows that are still read. With conditions, any number may have to be read: rows that
    /// fail are not counted.
    fn rows_to_read(&self) -> usize {
        if self.tests.is_empty() { self.counter.left() } else { usize::MAX }
    }

    /// Adds a row to the result if it meets the conditions.
    pub(super) fn answer(&mut self, row: &TableRow, position: Option<CellPosition>) -> Result<()> {
        if self.counter.is_full()
            || !self.tests.iter().all(|test| test.holds(row))
            || self.counter.is_partition_full(&row.key)
        {
            return Ok(());
        }
        self.counter.take(&row.key, position);
        self.result.add(row)
    }

    /// Reads partitions, starting where the previous page ended.
    pub(super) async fn run(
        &mut self,
        partitions: Partitions,
        index: Option<ByIndex>,
        resume: Option<PagingState>,
    ) -> Result<()> {
        match (partitions, index) {
            (Partitions::Keys(keys), _) => self.keys(keys, resume).await,
            (Partitions::Range(None), _) => Ok(()),
            (Partitions::Range(Some(range)), Some(index)) => self.by_index(range, index, resume).await,
            (Partitions::Range(Some(range)), None) => self.range(range, resume).await,
        }
    }

    async fn keys(&mut self, keys: Vec<Bytes>, resume: Option<PagingState>) -> Result<()> {
        let mut keys = keys.into_iter();
        if let Some(resume) = resume {
            if !keys.any(|key| key == resume.key) {
                return Err(foreign_state());
            }
            self.rest_of_partition(&resume).await?;
        }
        for key in keys {
            if self.result.is_sorted {
                // The rows are sorted only after all partitions are read, so each partition may return all rows of the limit.
                self.counter.restart();
            }
            if self.counter.is_full() {
                return Ok(());
            }
            let from = self.result.rows.len();
            self.partition(key, None, None).await?;
            if self.result.is_sorted && self.slices.is_reversed {
                // The sort reverses the rows, including equal ones.
                self.result.rows[from..].reverse();
            }
        }
        Ok(())
    }

    async fn rest_of_partition(&mut self, resume: &PagingState) -> Result<()> {
        match &resume.position {
            Some(position) => self.partition(resume.key.clone(), None, Some(position.clone())).await,
            None => Ok(()),
        }
    }

    async fn range(&mut self, range: ScannedRange, resume: Option<PagingState>) -> Result<()> {
        let ring = self.source.state.database.ring_order();
        let mut bounds = range.bounds.clone();
        let mut seen: Option<Bytes> = None;
        if let Some(resume) = resume {
            if !range.holds(&ring.token(&resume.key)) {
                return Err(foreign_state());
            }
            self.rest_of_partition(&resume).await?;
            match self.rest(&bounds, &resume.key) {
                (Some(rest), _) => bounds = rest,
                (None, _) => return Ok(()),
            }
            seen = Some(resume.key);
        }
        // Pages without live rows grow, so LIMIT 1 does not read deleted partitions three at a time.
        let mut rows_min = 3;
        while !self.counter.is_full() {
            // One row more shows whether there is a next page; another may have been seen in the previous page.
            let max_rows = self.rows_to_read().saturating_add(2).clamp(rows_min, PARTITIONS_PER_PAGE);
            let left_before = self.counter.left();
            let (predicate, count, is_first_page) = self.scanned();
            let (predicate, count) = capped(predicate, count);
            let before = self.result.mark();
            let page = self
                .source
                .request()
                .ranges()
                .scan_cells(&self.source.cf, bounds.clone(), max_rows, predicate)
                .await?;
            debug_assert!(page.len() <= max_rows, "rows after these would be taken for read");
            let mut counted = before.request.since();
            let is_last = page.len() < max_rows;
            let last = page.last().map(|row| row.key.clone());
            let has_new = last.is_some() && last != seen;
            for row in page {
                // The rows taken from it are charged as part of the result.
                let of_row = row.columns.memory().min(counted);
                meter::release(of_row);
                counted -= of_row;
                let token = ring.token(&row.key);
                if range.is_past(&token) || self.counter.is_full() {
                    return Ok(());
                }
                if !range.holds(&token)
                    || seen.as_ref().is_some_and(|seen| (ring.token(seen), seen) >= (token.clone(), &row.key))
                {
                    continue;
                }
                let first_page = is_first_page.then_some(FirstPage { columns: row.columns, count });
                self.partition(row.key, first_page, None).await?;
            }
            self.result.release_pages(before);
            if self.counter.left() == left_before {
                rows_min = (rows_min * 2).min(PARTITIONS_PER_PAGE);
            }
            let Some(last) = last.filter(|_| !is_last) else { return Ok(()) };
            let (with_equals, after) = self.rest(&bounds, &last);
            // A whole page of keys may have the same token and may all have been seen before.
            match if has_new { with_equals } else { after } {
                Some(rest) => bounds = rest,
                None => return Ok(()),
            }
            seen = Some(last);
        }
        Ok(())
    }

    /// Returns the rest of a range after a key twice: with the keys of its token, some of which may come after it, and
    /// without them.
    fn rest(&self, bounds: &Bounds, key: &Bytes) -> (Option<Bounds>, Option<Bounds>) {
        let database = self.source.state.database;
        let ring = database.ring_order();
        let after = ring.after_key(bounds, key, self.source.state.behaviour.release);
        let token = ring.token(key);
        let before = match database.partitioner().token_form() {
            TokenForm::Fixed(_) => token_before(&token),
            TokenForm::IsKey | TokenForm::Variable => None,
        };
        let Some(start) = before else { return (after.clone(), after) };
        let end = match &after {
            Some(Bounds::Tokens { end, .. }) => end.clone(),
            _ => token,
        };
        (Some(Bounds::Tokens { start, end }), after)
    }

    async fn by_index(
        &mut self,
        range: ScannedRange,
        index: ByIndex,
        resume: Option<PagingState>,
    ) -> Result<()> {
        let ring = self.source.state.database.ring_order();
        let mut after = None;
        if let Some(resume) = resume {
            self.rest_of_partition(&resume).await?;
            after = Some(resume.key);
        }
        while !self.counter.is_full() {
            let (column, value) = (&index.column, &index.value[..]);
            let before = self.result.mark();
            let request = self.source.request();
            let reads = request.index_reads();
            let keys = reads
                .indexed_keys(&self.source.cf, column, value, after.as_ref(), PARTITIONS_PER_PAGE)
                .await?;
            debug_assert!(keys.len() <= PARTITIONS_PER_PAGE, "keys after these would be taken for read");
            debug_assert!(
                keys.is_empty() || keys.last() != after.as_ref(),
                "the same keys would be read for ever"
            );
            let is_last = keys.len() < PARTITIONS_PER_PAGE;
            for key in &keys {
                if self.counter.is_full() {
                    return Ok(());
                }
                if !range.holds(&ring.token(key)) {
                    continue;
                }
                let before = self.counter.taken;
                self.partition(key.clone(), None, None).await?;
                if self.counter.taken == before {
                    // No row with the value was found: the index entry may be stale.
                    self.source
                        .request()
                        .index_reads()
                        .remove_stale_entries(&self.source.cf, column, value, key)
                        .await?;
                }
            }
            self.result.release_pages(before);
            after = keys.into_iter().next_back();
            if is_last {
                break;
            }
        }
        Ok(())
    }
}

/// Limits the cells per partition: a scan reads many partitions at a time.
fn capped(predicate: Predicate, count: usize) -> (Predicate, usize) {
    match predicate {
        Predicate::Range(range) => {
            let count = count.min(CELLS_PER_SCANNED);
            (Predicate::Range(SliceRange { count, ..range }), count)
        }
        names @ Predicate::Names(_) => (names, count),
    }
}

fn foreign_state() -> CqlError {
    CqlError::PagingState
}
