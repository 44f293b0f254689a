//! Reads of many rows, in the order of the ring.
//!
//! Whole rows, or the first columns of each, are read by one statement without a limit of columns, and what is beyond the
//! limit is dropped here. `PER PARTITION LIMIT` would spare that, but at QUORUM a cluster needs twenty times as long with
//! it: replicas are asked again for each partition that may be incomplete. If too much is dropped, the other rows are read
//! one by one, by their keys:
//!
//! ```text
//!   limit 3     a: 1 2 | b: 1 2 3 | c: 1 2 3 (4 5 ... 400) | d: ... | e: ...
//!               one statement, in pages                    | keys from c on, and the first 3 columns of d, of e, ...
//! ```

use std::collections::HashSet;
use std::time::Instant;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use scylla::response::PagingState;
use scylla::response::query_result::QueryRowsResult;
use scylla::statement::prepared::PreparedStatement;

use super::link::{Link, level};
use super::paging::Paging;
use super::read::{GatheredColumns, charge_page, read};
use super::rows::{AnswerReader, FoundCell, keys};
use super::shape::{Ring, RingEnd, StatementShape};
use super::table::PreparedTable;
use super::token::token_value;
use super::values::DriverValues;
use base::compat::features::ConsistencyLevel;
use base::model::{Bounds, Cell, Predicate, RangeCommand, ReadCommand, Row, SliceRange};
use base::partitioner::Partitioner;
use base::util::meter;
use store::{IndexLookup, Result, StoreError, within_limit};

/// Cells beyond the limit of their rows that are read and dropped, in addition to as many as are kept.
const SURPLUS_MAX: usize = 256;
/// Bytes of such cells, in addition to as many as are kept.
const SURPLUS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Cells of the first page: their size is not known yet.
const CELLS_FIRST: usize = 64;

/// Divisions by two of a page that the cluster cannot read in time.
const HALVINGS_MAX: usize = 4;

/// A range of the ring, with the keys or tokens of its bounds.
struct BoundedRange {
    ring: Ring,
    values: DriverValues,
}

impl BoundedRange {
    /// Returns the range between two ends with their keys or tokens; `None` is open.
    fn between(from: Option<(RingEnd, Bytes)>, to: Option<(RingEnd, Bytes)>) -> BoundedRange {
        let [from_end, to_end] = [&from, &to].map(|end| end.as_ref().map_or(RingEnd::Open, |(end, _)| *end));
        let mut values = DriverValues::default();
        for (_, value) in from.into_iter().chain(to) {
            values = values.bytes(value);
        }
        BoundedRange { ring: Ring { from: from_end, to: to_end }, values }
    }

    /// Returns the part of the range that begins with a key.
    fn beginning_with(&self, key: Bytes) -> BoundedRange {
        let to = if self.ring.to == RingEnd::Open { None } else { self.values.0.last() };
        let values = DriverValues::default().bytes(key).0.into_iter().chain(to.cloned());
        BoundedRange {
            ring: Ring { from: RingEnd::Key, to: self.ring.to },
            values: DriverValues(values.collect()),
        }
    }
}

/// The rows that a statement without a limit of columns returns, each up to the limit.
struct WholeRows {
    rows: Vec<(Bytes, GatheredColumns)>,
    is_of_supers: bool,
    /// Limit of columns in a row.
    count: usize,
    kept: usize,
    kept_bytes: usize,
    /// Cells beyond the limit of their rows, which are dropped.
    surplus: usize,
    surplus_bytes: usize,
}

impl WholeRows {
    fn add(&mut self, found: FoundCell) {
        let is_next = self.rows.last().is_none_or(|(key, _)| *key != found.key);
        if is_next {
            self.rows.push((found.key.clone(), GatheredColumns::new(self.is_of_supers, self.count)));
        }
        let Some((_, columns)) = self.rows.last_mut() else { return };
        let bytes = size_of::<Cell>() + found.cell.name.len() + found.cell.value.len();
        if columns.is_complete() {
            self.surplus += 1;
            self.surplus_bytes += bytes;
        } else {
            self.kept += 1;
            self.kept_bytes += bytes;
            columns.add(found);
        }
    }

    /// Returns whether so many rows are complete.
    fn has_complete(&self, rows: usize) -> bool {
        self.rows.len() > rows
            || self.rows.len() == rows && self.rows.last().is_none_or(|(_, columns)| columns.is_complete())
    }

    fn drops_too_much(&self) -> bool {
        self.surplus > self.kept + SURPLUS_MAX || self.surplus_bytes > self.kept_bytes + SURPLUS_BYTES_MAX
    }

    /// Returns about how many cells have to be read for so many rows in all.
    fn cells_missing(&self, rows: usize) -> usize {
        let per_row = (self.kept + self.surplus).div_ceil(self.rows.len().max(1)).max(1);
        rows.saturating_add(1).saturating_sub(self.rows.len()).saturating_mul(per_row)
    }
}

/// Reads rows of a table.
#[derive(Clone, Copy)]
pub(super) struct RingScan<'a> {
    pub link: &'a Link,
    pub table: &'a PreparedTable,
    pub partitioner: &'a dyn Partitioner,
    pub consistency: ConsistencyLevel,
}

impl RingScan<'_> {
    /// Returns the rows of a range that have live columns, each with the selected columns.
    pub(super) async fn rows(&self, command: &RangeCommand) -> Result<Vec<Row>> {
        let mut found = Vec::new();
        for range in self.ring_ranges(&command.bounds, &command.read)? {
            let room = command.max_rows.saturating_sub(found.len());
            if room == 0 {
                break;
            }
            if is_of_whole_rows(&command.read) {
                self.add_whole_rows(range, room, command, &mut found).await?;
            } else {
                self.add_rows_by_key(range, &HashSet::new(), room, command, &mut found).await?;
            }
        }
        debug_assert!(found.len() <= command.max_rows, "a full page would be taken for the last one");
        Ok(found)
    }

    /// Returns the keys of rows that an index finds.
    pub(super) async fn indexed_keys(&self, lookup: &IndexLookup) -> Result<Vec<Bytes>> {
        let mut found = Vec::new();
        for range in self.ring_ranges(&lookup.bounds, &lookup.read)? {
            let values = DriverValues::default()
                .bytes(lookup.value.clone())
                .bytes(self.table.outer.encode(&lookup.column));
            let values = DriverValues(values.0.into_iter().chain(range.values.0).collect());
            self.add_keys(StatementShape::IndexedKeys(range.ring), &values, lookup.max_keys, &mut found)
                .await?;
        }
        found.truncate(lookup.max_keys);
        Ok(found)
    }

    async fn add_whole_rows(
        &self,
        range: BoundedRange,
        room: usize,
        command: &RangeCommand,
        found: &mut Vec<Row>,
    ) -> Result<()> {
        let mut statement = self.link.prepared(self.table, StatementShape::Rows(range.ring)).await?;
        statement.set_consistency(level(self.consistency));
        let reading = AnswerReader { table: self.table, has_key: true, now_s: command.read.now_s };
        let Predicate::Range(SliceRange { count, .. }) = command.read.predicate else { return Ok(()) };
        let is_of_supers = self.table.inner.is_some();
        let mut whole = WholeRows {
            rows: Vec::new(),
            is_of_supers,
            count,
            kept: 0,
            kept_bytes: 0,
            surplus: 0,
            surplus_bytes: 0,
        };
        let mut paging = Paging::of(room.saturating_add(1).min(CELLS_FIRST));
        let held_before = meter::mark();
        let mut from = PagingState::start();
        let mut is_interrupted = false;
        loop {
            let (page, next) = self.page(&mut statement, &range.values, from, &mut paging).await?;
            charge_page(&page)?;
            reading.cells(&page)?.into_iter().for_each(|cell| whole.add(cell));
            within_limit(whole.kept_bytes)?;
            // The page is read; twice the kept cells are held, for they are copied to the reply.
            held_before.keep(2 * whole.kept_bytes);
            paging.learn(&page, whole.cells_missing(room));
            match next {
                Some(_) if whole.drops_too_much() => is_interrupted = true,
                Some(next) if !whole.has_complete(room) => {
                    from = next;
                    continue;
                }
                _ => {}
            }
            break;
        }
        let mut rows = whole.rows;
        rows.truncate(room);
        let last = rows.last().map(|(key, _)| key.clone());
        if is_interrupted {
            rows.pop_if(|(_, columns)| !columns.is_complete());
        }
        let seen: HashSet<Bytes> = rows.iter().map(|(key, _)| key.clone()).collect();
        found.extend(rows.into_iter().map(|(key, columns)| Row { key, columns: columns.columns(false) }));
        match last {
            Some(last) if is_interrupted && seen.len() < room => {
                self.add_rows_by_key(range.beginning_with(last), &seen, room - seen.len(), command, found)
                    .await
            }
            _ => Ok(()),
        }
    }

    /// Reads row by row, without those that were `seen`. Rows without selected columns must be returned too, and one
    /// statement would not return them.
    async fn add_rows_by_key(
        &self,
        range: BoundedRange,
        seen: &HashSet<Bytes>,
        room: usize,
        command: &RangeCommand,
        found: &mut Vec<Row>,
    ) -> Result<()> {
        let mut statement = self.link.prepared(self.table, StatementShape::Keys(range.ring)).await?;
        statement.set_consistency(level(self.consistency));
        let mut paging = Paging::of(room);
        let until = found.len() + room;
        let mut from = PagingState::start();
        while found.len() < until {
            let (page, next) = self.page(&mut statement, &range.values, from, &mut paging).await?;
            let keys = keys(&page)?.into_iter().filter(|key| !seen.contains(key));
            let rows: Vec<Row> = futures_util::stream::iter(keys)
                .map(|key| async move {
                    let columns = read(self.link, self.table, &key, &command.read, self.consistency).await?;
                    Ok::<Row, StoreError>(Row { key, columns })
                })
                .buffered(self.link.rows_at_once())
                .try_collect()
                .await?;
            found.extend(rows.into_iter().filter(|row| !(command.skip_empty && row.columns.is_empty())));
            paging.learn(&page, until.saturating_sub(found.len()));
            match next {
                Some(next) => from = next,
                None => break,
            }
        }
        found.truncate(until);
        Ok(())
    }

    /// Appends the keys that a statement returns, until there are `max_keys`.
    async fn add_keys(
        &self,
        shape: StatementShape,
        values: &DriverValues,
        max_keys: usize,
        found: &mut Vec<Bytes>,
    ) -> Result<()> {
        let mut statement = self.link.prepared(self.table, shape).await?;
        statement.set_consistency(level(self.consistency));
        let mut paging = Paging::of(max_keys.saturating_sub(found.len()));
        let mut from = PagingState::start();
        while found.len() < max_keys {
            let (page, next) = self.page(&mut statement, values, from, &mut paging).await?;
            found.extend(keys(&page)?);
            paging.learn(&page, max_keys.saturating_sub(found.len()));
            match next {
                Some(next) => from = next,
                None => break,
            }
        }
        Ok(())
    }

    /// Reads a page. If the cluster cannot read it in time, a smaller one is read.
    async fn page(
        &self,
        statement: &mut PreparedStatement,
        values: &DriverValues,
        from: PagingState,
        paging: &mut Paging,
    ) -> Result<(QueryRowsResult, Option<PagingState>)> {
        let begun = Instant::now();
        for _ in 0..HALVINGS_MAX {
            statement.set_page_size(paging.rows());
            let page = self.link.page(statement, values, from.clone()).await;
            let has_time = begun.elapsed() < self.link.request_timeout() * 2;
            match page {
                Err(StoreError::TimedOut(_)) if has_time && paging.halve() => meter::check()?,
                outcome => return outcome,
            }
        }
        statement.set_page_size(paging.rows());
        self.link.page(statement, values, from).await
    }

    /// Returns the ranges of the ring that bounds mean, in the order in which they are read.
    fn ring_ranges(&self, bounds: &Bounds, read: &ReadCommand) -> Result<Vec<BoundedRange>> {
        let key = |key: &Bytes| (!key.is_empty()).then(|| (RingEnd::Key, key.clone()));
        let token =
            |token: &[u8]| token_value(self.partitioner, token).map(|token| Some((RingEnd::Token, token)));
        let (from, to) = match bounds {
            Bounds::Keys { start, end } => (key(start), key(end)),
            Bounds::KeyToToken { start, end: Some(end) } => (key(start), token(end)?),
            Bounds::KeyToToken { start, end: None } => (key(start), None),
            Bounds::Tokens { start, end } => {
                let minimum = self.partitioner.minimum_token(read.behaviour.release);
                let from = token(start)?.filter(|_| *start != minimum);
                if *end == minimum {
                    (from, None)
                } else if start < end {
                    (from, token(end)?)
                } else {
                    return Ok(vec![
                        BoundedRange::between(from, None),
                        BoundedRange::between(None, token(end)?),
                    ]);
                }
            }
        };
        Ok(vec![BoundedRange::between(from, to)])
    }
}

/// Returns whether a read selects whole rows, or the first columns of each.
fn is_of_whole_rows(read: &ReadCommand) -> bool {
    let Predicate::Range(range) = &read.predicate else { return false };
    let is_whole = range.start.is_empty() && range.finish.is_empty() && !range.reversed;
    is_whole && read.super_column.is_none() && range.count > 0
}
