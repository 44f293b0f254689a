//! Reads of many rows, in the order of the ring.

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt};
use scylla::response::PagingState;

use super::link::{Link, level};
use super::paging::Paging;
use super::read::{GatheredColumns, charge_page, read};
use super::rows::{AnswerReader, keys};
use super::shape::{Ring, RingEnd, StatementShape};
use super::table::PreparedTable;
use super::token::token_value;
use super::values::BoundValues;
use base::compat::features::ConsistencyLevel;
use base::model::{Bounds, Predicate, RangeCommand, ReadCommand, Row};
use base::partitioner::Partitioner;
use store::{IndexLookup, StoreError, within_limit};

/// A range of the ring, with the keys or tokens of its bounds.
struct BoundedRange {
    ring: Ring,
    values: BoundValues,
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
    pub(super) async fn rows(&self, command: &RangeCommand) -> Result<Vec<Row>, StoreError> {
        let mut found = Vec::new();
        for range in self.ring_ranges(&command.bounds, &command.read)? {
            let room = command.max_rows.saturating_sub(found.len());
            if room == 0 {
                break;
            }
            if let Some(limit) = self.whole_rows(&command.read) {
                self.add_whole_rows(range, room, limit, command, &mut found).await?;
            } else {
                self.add_rows_by_key(range, room, command, &mut found).await?;
            }
        }
        Ok(found)
    }

    /// Returns the keys of rows that an index finds.
    pub(super) async fn indexed_keys(&self, lookup: &IndexLookup) -> Result<Vec<Bytes>, StoreError> {
        let mut found = Vec::new();
        for range in self.ring_ranges(&lookup.bounds, &lookup.read)? {
            let values = BoundValues::default()
                .bytes(lookup.value.clone())
                .bytes(self.table.outer.encode(&lookup.column));
            let values = BoundValues(values.0.into_iter().chain(range.values.0).collect());
            self.add_keys(StatementShape::IndexedKeys(range.ring), &values, lookup.max_keys, &mut found)
                .await?;
        }
        found.truncate(lookup.max_keys);
        Ok(found)
    }

    /// Returns whether one statement can read whole rows, or the first columns of each; then also the limit of columns
    /// in a row.
    ///
    /// A limit of super columns cannot be expressed as a limit of a table's rows, which are columns of super columns.
    fn whole_rows(&self, read: &ReadCommand) -> Option<Option<i32>> {
        let Predicate::Range(range) = &read.predicate else { return None };
        let is_whole = range.start.is_empty() && range.finish.is_empty() && !range.reversed;
        if !is_whole || read.super_column.is_some() || range.count == 0 {
            return None;
        }
        match i32::try_from(range.count) {
            Ok(count) if count < i32::MAX => self.table.inner.is_none().then_some(Some(count)),
            _ => Some(None),
        }
    }

    async fn add_whole_rows(
        &self,
        range: BoundedRange,
        room: usize,
        limit: Option<i32>,
        command: &RangeCommand,
        found: &mut Vec<Row>,
    ) -> Result<(), StoreError> {
        let shape = StatementShape::Rows { ring: range.ring, is_limited: limit.is_some() };
        let mut statement = self.link.prepared(self.table, shape).await?;
        statement.set_consistency(level(self.consistency));
        let per_row = limit.map_or(usize::MAX, |limit| limit.unsigned_abs() as usize);
        let mut paging = Paging::of(room.saturating_mul(per_row));
        let values = match limit {
            Some(limit) => range.values.clone().int(limit),
            None => range.values.clone(),
        };
        let reading = AnswerReader { table: self.table, has_key: true, now_s: command.read.now_s };
        let is_of_supers = self.table.inner.is_some();
        let mut rows: Vec<(Bytes, GatheredColumns)> = Vec::new();
        let (mut from, mut bytes) = (PagingState::start(), 0);
        loop {
            statement.set_page_size(paging.rows());
            let (page, next) = self.link.page(&statement, &values, from).await?;
            bytes = within_limit(bytes + page.rows_bytes_size())?;
            charge_page(&page)?;
            let cells = reading.cells(&page)?;
            if limit.is_some() && cells.len() < page.rows_num() {
                // Columns without a value, which CQL clients can write, have counted towards the limit.
                return self.add_rows_by_key(range, room, command, found).await;
            }
            for cell in cells {
                match rows.last_mut() {
                    Some((key, columns)) if *key == cell.key => columns.add(cell),
                    _ => {
                        let mut columns = GatheredColumns::new(is_of_supers, usize::MAX);
                        let key = cell.key.clone();
                        columns.add(cell);
                        rows.push((key, columns));
                    }
                }
            }
            paging.learn(&page, (room + 1).saturating_sub(rows.len()).saturating_mul(per_row));
            match next {
                Some(next) if rows.len() <= room => from = next,
                _ => break,
            }
        }
        rows.truncate(room);
        found.extend(rows.into_iter().map(|(key, columns)| Row { key, columns: columns.columns(false) }));
        Ok(())
    }

    /// Reads row by row: rows without selected columns must be returned too, and one statement would not return them.
    async fn add_rows_by_key(
        &self,
        range: BoundedRange,
        room: usize,
        command: &RangeCommand,
        found: &mut Vec<Row>,
    ) -> Result<(), StoreError> {
        let mut statement = self.link.prepared(self.table, StatementShape::Keys(range.ring)).await?;
        statement.set_consistency(level(self.consistency));
        let mut paging = Paging::of(room);
        let until = found.len() + room;
        let mut from = PagingState::start();
        while found.len() < until {
            statement.set_page_size(paging.rows());
            let (page, next) = self.link.page(&statement, &range.values, from).await?;
            let rows: Vec<Row> = futures_util::stream::iter(keys(&page)?)
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
        values: &BoundValues,
        max_keys: usize,
        found: &mut Vec<Bytes>,
    ) -> Result<(), StoreError> {
        let mut statement = self.link.prepared(self.table, shape).await?;
        statement.set_consistency(level(self.consistency));
        let mut paging = Paging::of(max_keys.saturating_sub(found.len()));
        let mut from = PagingState::start();
        while found.len() < max_keys {
            statement.set_page_size(paging.rows());
            let (page, next) = self.link.page(&statement, values, from).await?;
            found.extend(keys(&page)?);
            paging.learn(&page, max_keys.saturating_sub(found.len()));
            match next {
                Some(next) => from = next,
                None => break,
            }
        }
        Ok(())
    }

    /// The ring_ranges that bounds mean, in the order in which they are read.
    fn ring_ranges(&self, bounds: &Bounds, read: &ReadCommand) -> Result<Vec<BoundedRange>, StoreError> {
        let token = |token: &[u8]| token_value(self.partitioner, token);
        let one = |from: Option<(RingEnd, Bytes)>, to: Option<(RingEnd, Bytes)>| {
            let end = |end: &Option<(RingEnd, Bytes)>| end.as_ref().map_or(RingEnd::Open, |(end, _)| *end);
            let ring = Ring { from: end(&from), to: end(&to) };
            let values = from
                .into_iter()
                .chain(to)
                .fold(BoundValues::default(), |values, (_, value)| values.bytes(value));
            BoundedRange { ring, values }
        };
        let key = |key: &Bytes| (!key.is_empty()).then(|| (RingEnd::Key, key.clone()));
        Ok(match bounds {
            Bounds::Keys { start, end } => vec![one(key(start), key(end))],
            Bounds::KeyToToken { start, end } => {
                let to = end.as_ref().map(|end| token(end)).transpose()?;
                vec![one(key(start), to.map(|to| (RingEnd::Token, to)))]
            }
            Bounds::Tokens { start, end } => {
                let minimum = self.partitioner.minimum_token(read.behaviour.release);
                let from = Some((RingEnd::Token, token(start)?)).filter(|_| *start != minimum);
                if *end == minimum {
                    vec![one(from, None)]
                } else {
                    let to = Some((RingEnd::Token, token(end)?));
                    if start < end { vec![one(from, to)] } else { vec![one(from, None), one(None, to)] }
                }
            }
        })
    }
}
