//! One execution of a SELECT, which reads one partition after another until there are enough rows.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::bounds::Reads;
use super::filter::RowTest;
use super::groups::Groups;
use super::keys::{Partitions, TokenRange};
use super::operands::Bound;
use super::paging::{PagingState, Position};
use super::partition::FirstPage;
use super::restrictions::Clustering;
use super::rows::{CellColumns, Row};
use super::selection::Projection;
use super::token::token_before;
use crate::{CqlError, QueryState};
use base::model::{Bounds, Predicate, SliceRange};
use base::partitioner::TokenForm;
use base::schema::CfDef;
use base::util::limits::{REQUEST_CHUNK_BYTES, RESULT_BYTES_MAX};
use base::util::meter;
use base::util::meter::MemoryMark;
use db::Request;

/// Maximum number of cells per read of a partition.
pub(super) const CELLS_PER_PAGE: usize = 1024;

/// Maximum number of cells that a scan reads of each partition.
const CELLS_PER_SCANNED: usize = 256;

/// Maximum number of partitions per read of a scan.
const PARTITIONS_PER_PAGE: usize = 64;

/// A row of the result.
#[derive(Debug)]
pub(super) struct ResultRow {
    pub values: Vec<Option<Bytes>>,
    /// For ORDER BY over several partitions; empty otherwise.
    pub clustering: Clustering,
}

/// An index lookup that finds the partitions.
#[derive(Debug)]
pub(super) struct ByIndex {
    pub column: Bytes,
    pub value: Bytes,
}

/// The memory of a request, and of its result, before a page is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct WalkMark {
    request: MemoryMark,
    answered: usize,
}

pub(super) struct Walk<'a> {
    pub state: &'a QueryState<'a>,
    pub keyspace: &'a str,
    pub bound: Bound<'a>,
    pub cf: Arc<CfDef>,
    pub cells: &'a CellColumns,
    pub projection: &'a Projection,
    pub reads: Reads,
    pub tests: Vec<RowTest>,
    pub is_reversed: bool,
    pub is_distinct: bool,
    /// Whether some row may need the static columns of its partition.
    pub needs_statics: bool,
    /// Whether a partition with only static columns is a row of the result too.
    pub shows_bare_statics: bool,
    pub keeps_clustering: bool,
    pub now_s: i32,
    /// Stop at this number of rows.
    pub want: usize,
    pub count: usize,
    pub answered: Vec<ResultRow>,
    /// The size of the values in `answered`.
    pub answered_bytes: usize,
    /// The estimated memory of the result rows and groups, here and in the reply.
    pub answered_memory: usize,
    pub groups: Groups,
    /// Maximum number of rows of each partition.
    pub per_partition: usize,
    /// The partition of the last row, and the number of rows taken from it.
    pub of_partition: Option<(Bytes, usize)>,
    /// The position of the last row that was taken.
    pub last: Option<(Bytes, Option<Position>)>,
}

impl Walk<'_> {
    /// Returns the request context for the next page. Each page reads the schema that is current then, so that no
    /// schema change waits for a SELECT of many pages.
    pub(super) fn request(&self) -> Request<'_> {
        self.state.request(self.keyspace, self.bound.options.consistency)
    }

    pub fn is_full(&self) -> bool {
        self.count >= self.want
    }

    /// Whether the partition has reached its limit of rows.
    pub fn is_partition_full(&self, key: &Bytes) -> bool {
        self.of_partition.as_ref().is_some_and(|(of, count)| of == key && *count >= self.per_partition)
    }

    /// Returns the number of cells to read: the cells of all rows that are still wanted, and of one more row, which
    /// shows that the last wanted row is complete.
    pub fn page_cells(&self) -> usize {
        let of_row = self.cells.cells_per_row();
        let statics = if self.needs_statics { self.cells.def.static_columns().count() } else { 0 };
        if self.is_distinct {
            return (statics + 2).min(CELLS_PER_PAGE);
        }
        // With conditions, any number of rows may have to be read: rows that fail are not counted.
        let rows = if self.tests.is_empty() { self.want - self.count.min(self.want) } else { usize::MAX };
        rows.saturating_add(1).saturating_mul(of_row).saturating_add(statics).clamp(2, CELLS_PER_PAGE)
    }

    /// Adds a row to the result if it meets the conditions.
    pub fn answer(&mut self, row: &Row, position: Option<Position>) -> Result<(), CqlError> {
        if self.is_full() || !self.tests.iter().all(|test| test.holds(row)) {
            return Ok(());
        }
        if self.is_partition_full(&row.key) {
            return Ok(());
        }
        self.count += 1;
        self.of_partition = match self.of_partition.take() {
            Some((key, count)) if key == row.key => Some((key, count + 1)),
            _ => Some((row.key.clone(), 1)),
        };
        self.last = Some((row.key.clone(), position));
        if self.projection.is_grouped() {
            let before = self.groups.memory;
            self.groups.add(row, self.projection, self.bound, self.now_s)?;
            self.hold(self.groups.memory - before)?;
        } else if !self.projection.is_count {
            let mut values = self.projection.values(row, self.bound, self.now_s)?;
            let clustering = if self.keeps_clustering { row.clustering.clone() } else { Vec::new() };
            let bytes = values.iter().flatten().map(Bytes::len).sum::<usize>();
            // In the reply each value, even null, has a length of four bytes.
            self.answered_bytes += bytes + 4 * values.len();
            self.hold(size_of::<ResultRow>() + memory_of(&values))?;
            if self.answered_bytes > REQUEST_CHUNK_BYTES {
                detach(&mut values, bytes);
            }
            if self.answered_bytes > RESULT_BYTES_MAX {
                return Err(CqlError::invalid(format!(
                    "the result has more than {RESULT_BYTES_MAX} bytes: ask for it in pages, or for less with LIMIT"
                )));
            }
            self.answered.push(ResultRow { values, clustering });
        }
        Ok(())
    }

    /// Charges memory for the result.
    fn hold(&mut self, bytes: usize) -> Result<(), CqlError> {
        self.answered_memory += bytes;
        Ok(meter::charge(bytes)?)
    }

    pub fn mark(&self) -> WalkMark {
        WalkMark { request: meter::mark(), answered: self.answered_memory }
    }

    /// Releases the memory of everything read since `before` except the result.
    pub fn holds_only_answers(&self, before: WalkMark) {
        before.request.keep(self.answered_memory.saturating_sub(before.answered));
    }

    /// Reads partitions, starting where the previous page ended.
    pub async fn run(
        &mut self,
        partitions: Partitions,
        index: Option<ByIndex>,
        resume: Option<PagingState>,
    ) -> Result<(), CqlError> {
        match (partitions, index) {
            (Partitions::Keys(keys), _) => self.keys(keys, resume).await,
            (Partitions::Range(None), _) => Ok(()),
            (Partitions::Range(Some(range)), Some(index)) => self.by_index(range, index, resume).await,
            (Partitions::Range(Some(range)), None) => self.range(range, resume).await,
        }
    }

    async fn keys(&mut self, keys: Vec<Bytes>, resume: Option<PagingState>) -> Result<(), CqlError> {
        let mut keys = keys.into_iter();
        if let Some(resume) = resume {
            if !keys.any(|key| key == resume.key) {
                return Err(foreign_state());
            }
            self.rest_of_partition(&resume).await?;
        }
        let limit = self.want;
        for key in keys {
            if self.is_full() {
                return Ok(());
            }
            if self.keeps_clustering {
                // The rows are sorted only after all partitions are read, so each partition may return `limit` rows.
                self.want = self.count.saturating_add(limit);
            }
            let from = self.answered.len();
            self.partition(key, None, None).await?;
            if self.keeps_clustering && self.is_reversed {
                // The sort reverses the rows, including equal ones.
                self.answered[from..].reverse();
            }
            self.want = limit.max(if self.keeps_clustering { self.count + 1 } else { 0 });
        }
        Ok(())
    }

    async fn rest_of_partition(&mut self, resume: &PagingState) -> Result<(), CqlError> {
        match &resume.position {
            Some(position) => self.partition(resume.key.clone(), None, Some(position.clone())).await,
            None => Ok(()),
        }
    }

    async fn range(&mut self, range: TokenRange, resume: Option<PagingState>) -> Result<(), CqlError> {
        let ring = self.state.database.ring_order();
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
        while !self.is_full() {
            let left = if self.tests.is_empty() { self.want - self.count } else { usize::MAX };
            // One row more shows whether there is a next page; another may have been seen in the previous page.
            let max_rows = left.saturating_add(2).clamp(3, PARTITIONS_PER_PAGE);
            let (predicate, count, is_first_page) = self.scanned();
            let (predicate, count) = capped(predicate, count);
            let before = self.mark();
            let page =
                self.request().ranges().scan_cells(&self.cf, bounds.clone(), max_rows, predicate).await?;
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
                if range.is_past(&token) || self.is_full() {
                    return Ok(());
                }
                let is_seen = |seen: &Bytes| (ring.token(seen), seen) >= (token.clone(), &row.key);
                if !range.holds(&token) || seen.as_ref().is_some_and(is_seen) {
                    continue;
                }
                let first_page = is_first_page.then_some(FirstPage { columns: row.columns, count });
                self.partition(row.key, first_page, None).await?;
            }
            self.holds_only_answers(before);
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
        let database = self.state.database;
        let ring = database.ring_order();
        let after = ring.after_key(bounds, key, self.state.behaviour.release);
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
        range: TokenRange,
        index: ByIndex,
        resume: Option<PagingState>,
    ) -> Result<(), CqlError> {
        let ring = self.state.database.ring_order();
        let mut after = None;
        if let Some(resume) = resume {
            self.rest_of_partition(&resume).await?;
            after = Some(resume.key);
        }
        while !self.is_full() {
            let (column, value) = (&index.column, &index.value[..]);
            let before = self.mark();
            let request = self.request();
            let reads = request.index_reads();
            let keys =
                reads.indexed_keys(&self.cf, column, value, after.as_ref(), PARTITIONS_PER_PAGE).await?;
            let is_last = keys.len() < PARTITIONS_PER_PAGE;
            for key in &keys {
                if self.is_full() {
                    return Ok(());
                }
                if !range.holds(&ring.token(key)) {
                    continue;
                }
                let before = self.count;
                self.partition(key.clone(), None, None).await?;
                if self.count == before {
                    // No row with the value was found: the index entry may be stale.
                    self.request().index_reads().remove_stale_entries(&self.cf, column, value, key).await?;
                }
            }
            self.holds_only_answers(before);
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

/// Returns the estimated memory of a result row, here and in the reply.
pub(super) fn memory_of(values: &[Option<Bytes>]) -> usize {
    let bytes: usize = values.iter().flatten().map(Bytes::len).sum();
    size_of_val(values) + 2 * (bytes + values.len() * size_of::<i32>())
}

/// Copies the values of a row into memory of their own: values that were read share their buffer with columns that are
/// not selected.
fn detach(values: &mut [Option<Bytes>], bytes: usize) {
    let mut copied = BytesMut::with_capacity(bytes);
    values.iter().flatten().for_each(|value| copied.extend_from_slice(value));
    let mut copied = copied.freeze();
    for value in values.iter_mut().flatten() {
        *value = copied.split_to(value.len());
    }
}

fn foreign_state() -> CqlError {
    CqlError::PagingState
}
