//! Reads of rows that meet conditions, through an index or a scan.
//!
//! An index is a column family. Its row keys are indexed values, and its columns are named by the rows with this value,
//! in the order of the ring:
//!
//! ```text
//!   users        "ann" -> city "Rome"      "bob" -> city "Bonn"      "eve" -> city "Rome"
//!   its index    "Rome" -> [token "ann", token "eve"]                "Bonn" -> [token "bob"]
//!
//!   city = "Rome" and age > 30       entries of "Rome", a page at a time
//!                                    -> read city and age of each row, check all conditions
//!                                    -> read the selected columns of the rows that meet them
//! ```
//!
//! A write adds the entry of its new value and does not remove the entry of the old value, so each row is checked again.
//! An entry whose row has another value now is stale. It is removed once the writes in progress have ended, because an
//! entry becomes visible before its column. A store with indexes of its own (a cluster) returns keys instead of entries.
//! Without an equality on an indexed column all rows are scanned.

use std::cmp::Ordering;
use std::sync::Arc;

use bytes::Bytes;

use super::indexes::{index_key, meets};
use crate::args::{IndexExpression, IndexOperator};
use crate::limits::ROW_WORK;
use crate::read::ReversedSlice;
use crate::ring_order::RingRange;
use crate::{DbFuture, Request, Result};
use base::marshal;
use base::marshal::{AbstractType, PACKAGE};
use base::model::{
    Bounds, Cell, CellKind, Predicate, RangeCommand, ReadCommand, Row, RowColumns, SliceRange,
};
use base::schema::{CfDef, ColumnDef};
use base::util::meter;
use store::IndexLookup;

/// The minimum and maximum number of rows or index entries that are read at a time.
const PAGE: (usize, usize) = (16, 1024);

/// A read of the rows of a column family that meet conditions.
pub(super) struct Filter<'a> {
    pub request: &'a Request<'a>,
    pub expressions: &'a [IndexExpression],
    pub max_rows: usize,
    pub read: ReadCommand,
    /// The merge of the columns that were read.
    pub merge: Option<ReversedSlice>,
    pub found: Vec<Row>,
}

impl<'a> Filter<'a> {
    /// Reads the rows of a range, through an index if there is one.
    pub(super) fn rows(self, bounds: Bounds) -> DbFuture<'a, Vec<Row>> {
        Box::pin(async move {
            match self.index() {
                Some((expression, ..)) if self.request.store().capabilities().indexes.is_some() => {
                    self.by_index_of_store(expression, bounds).await
                }
                Some((expression, column, index)) => self.by_index(expression, column, index, bounds).await,
                None => self.by_scan(bounds).await,
            }
        })
    }

    /// Returns a condition that an index can answer, with its column and index.
    fn index(&self) -> Option<(&'a IndexExpression, ColumnDef, Arc<CfDef>)> {
        let cf = &self.read.cf;
        self.expressions.iter().find_map(|expression| {
            let (indexes, sees_new) = (self.request.database.indexes(), self.request.sees_new_indexes);
            let (column, index) = indexes.usable(cf, &expression.column_name, sees_new)?;
            let helps = expression.operator == IndexOperator::Eq;
            helps.then(|| (expression, column.clone(), index.clone()))
        })
    }

    fn page(&self) -> usize {
        (self.max_rows - self.found.len()).clamp(PAGE.0, PAGE.1)
    }

    /// Returns the same read with another predicate.
    fn command(&self, cf: &Arc<CfDef>, predicate: Predicate) -> ReadCommand {
        self.request.command(cf, None, predicate)
    }

    /// Returns the read of the columns in the conditions.
    fn conditions(&self) -> ReadCommand {
        let names = self.expressions.iter().map(|expression| expression.column_name.clone()).collect();
        let mut command = self.command(&self.read.cf, Predicate::Names(names));
        command.with_tombstones = true;
        command
    }

    async fn by_index(
        mut self,
        expression: &IndexExpression,
        column: ColumnDef,
        index: Arc<CfDef>,
        bounds: Bounds,
    ) -> Result<Vec<Row>> {
        let key = index_key(&column, &expression.value);
        let ring = self.request.database.ring_order();
        for range in ring.ranges(&bounds, self.request.behaviour.release) {
            let mut start = match &range.from {
                Some((token, _)) => ring.row_names_from(token),
                None => Bytes::new(),
            };
            while self.found.len() < self.max_rows {
                let page = self.page();
                let slice = SliceRange { start, count: page, ..SliceRange::all() };
                let command = self.command(&index, Predicate::Range(slice));
                let before = meter::mark();
                let read = self.request.store().read(key.clone(), command, self.request.consistency).await?;
                let held_for_a_while = before.since();
                let RowColumns::Cells(entries) = read else { break };
                let Some(last) = entries.last() else { break };
                // The smallest name after the last one.
                start = [&last.name[..], &[0]].concat().into();
                debug_assert!(entries.len() <= page, "a full page would be taken for the last one");
                let is_last_page = entries.len() < page;
                let is_over = self.take_entries(&entries, &key, expression, &index, &range).await?;
                meter::release(held_for_a_while);
                if is_last_page || is_over {
                    break;
                }
            }
        }
        Ok(self.found)
    }

    /// Checks the rows of index entries. Returns whether the range has ended or enough rows were found.
    async fn take_entries(
        &mut self,
        entries: &[Cell],
        key: &Bytes,
        expression: &IndexExpression,
        index: &Arc<CfDef>,
        range: &RingRange,
    ) -> Result<bool> {
        let index_reads = self.request.index_reads();
        let mut stale = Vec::new();
        let mut is_over = false;
        for entry in entries {
            let row = &entry.value;
            let token = self.request.database.ring_order().token(row);
            if range.to.as_ref().is_some_and(|to| token > *to) {
                is_over = true;
                break;
            }
            if matches!(&range.from, Some((from, false)) if token == *from) {
                continue;
            }
            let conditions = self.conditions();
            let before = meter::mark();
            let columns = index_reads.read(row.clone(), conditions).await?;
            before.restore();
            meter::yield_if_due(ROW_WORK + columns.len()).await?;
            if !self.is_current(&columns, expression) {
                stale.push(entry);
                continue;
            }
            if !self.all_hold(&columns) {
                continue;
            }
            self.take_rows(vec![row.clone()]).await?;
            if self.found.len() >= self.max_rows {
                is_over = true;
                break;
            }
        }
        for entry in stale {
            // The entry of a write in progress may be visible before its column.
            if let Err(error) = index_reads.await_writes(&entry.value).await {
                // Reads continue if nothing can be written.
                tracing::debug!("stale index entries were not removed: {error}");
                break;
            }
            let command = self.conditions();
            let columns = index_reads.read(entry.value.clone(), command).await?;
            if !self.is_current(&columns, expression) {
                index_reads.remove_entry(index, key, entry).await;
            }
        }
        Ok(is_over)
    }

    /// Reads through an index of the store itself, which has no stale entries.
    async fn by_index_of_store(
        mut self,
        expression: &IndexExpression,
        mut bounds: Bounds,
    ) -> Result<Vec<Row>> {
        let Some(indexes) = self.request.store().capabilities().indexes else { return Ok(self.found) };
        let ring = self.request.database.ring_order();
        while self.found.len() < self.max_rows {
            let max_keys = self.page();
            let lookup = IndexLookup {
                read: self.conditions(),
                column: expression.column_name.clone(),
                value: expression.value.clone(),
                bounds: bounds.clone(),
                max_keys,
            };
            let keys = indexes.indexed_keys(lookup, self.request.consistency).await?;
            let Some(last) = keys.last().cloned() else { break };
            let is_last_page = keys.len() < max_keys;
            let keys = match self.expressions {
                // The index has already checked the only condition.
                [_] => keys,
                _ => self.those_that_meet_all(keys).await?,
            };
            self.take_rows(keys).await?;
            match ring.after_key(&bounds, &last, self.request.behaviour.release) {
                Some(after) if !is_last_page => {
                    debug_assert!(after != bounds, "the same keys would be read for ever");
                    bounds = after;
                }
                _ => break,
            }
        }
        Ok(self.found)
    }

    async fn those_that_meet_all(&self, keys: Vec<Bytes>) -> Result<Vec<Bytes>> {
        let rows = self.request.reads().rows(keys, self.conditions()).all().await?;
        let meet_all = rows.into_iter().filter(|(_, columns)| self.all_hold(columns));
        Ok(meet_all.map(|(key, _)| key).collect())
    }

    async fn by_scan(mut self, bounds: Bounds) -> Result<Vec<Row>> {
        if !self.sees_its_columns() {
            return Ok(self.found);
        }
        let ring = self.request.database.ring_order();
        let mut bounds = bounds;
        while self.found.len() < self.max_rows {
            let max_rows = PAGE.1;
            let command =
                RangeCommand { bounds: bounds.clone(), max_rows, read: self.conditions(), skip_empty: false };
            let before = meter::mark();
            let page = self.request.store().scan(command, self.request.consistency).await?;
            let Some(last) = page.last().map(|row| row.key.clone()) else { break };
            let is_last_page = page.len() < max_rows;
            meter::yield_if_due(ROW_WORK * page.len()).await?;
            let meet_all = page.into_iter().filter(|row| self.all_hold(&row.columns));
            let keys = meet_all.map(|row| row.key).collect();
            before.restore();
            self.take_rows(keys).await?;
            match ring.after_key(&bounds, &last, self.request.behaviour.release) {
                Some(after) if !is_last_page => bounds = after,
                _ => break,
            }
        }
        Ok(self.found)
    }

    /// Returns whether the conditions can be evaluated. Without an index, 1.1 and 1.2 see only the columns that the
    /// client requested by name.
    fn sees_its_columns(&self) -> bool {
        let Predicate::Names(names) = &self.read.predicate else { return true };
        self.request.behaviour.reads.conditions_see_all_columns
            || self.expressions.iter().all(|expression| names.contains(&expression.column_name))
    }

    /// Reads the requested columns of rows that meet all conditions, up to the number of rows still wanted.
    async fn take_rows(&mut self, mut keys: Vec<Bytes>) -> Result<()> {
        debug_assert!(self.found.len() <= self.max_rows, "the result would have more rows than asked for");
        keys.truncate(self.max_rows - self.found.len());
        let is_reversed = matches!(&self.read.predicate, Predicate::Range(range) if range.reversed);
        for (key, mut columns) in self.request.reads().rows(keys, self.read.clone()).all().await? {
            if is_reversed && self.request.behaviour.reads.conditions_turn_reversed_slices {
                // With conditions, 2.1 reverses a reversed slice once more.
                columns.reverse();
            }
            if let Some(merge) = &self.merge {
                columns = merge.merged_with_conditions(columns);
            }
            if !(columns.is_empty() && self.request.behaviour.reads.conditions_skip_empty_rows) {
                self.found.push(Row { key, columns });
            }
        }
        Ok(())
    }

    fn all_hold(&self, columns: &RowColumns) -> bool {
        self.expressions.iter().all(|expression| self.holds(columns, expression))
    }

    /// Returns whether a row still has the value of its index entry.
    fn is_current(&self, columns: &RowColumns, expression: &IndexExpression) -> bool {
        let RowColumns::Cells(cells) = columns else { return false };
        let live = cells.iter().filter(|cell| cell.is_live()).cloned().collect();
        self.holds(&RowColumns::Cells(live), expression)
    }

    /// Returns whether a row's columns meet one condition. A missing column meets none. A deleted column whose
    /// tombstone is not purged yet compares as if its value were the four bytes of its deletion time, or in 3.0 and later
    /// empty: the old servers see it so if the condition is not the one that the index answers.
    fn holds(&self, columns: &RowColumns, expression: &IndexExpression) -> bool {
        let RowColumns::Cells(cells) = columns else { return false };
        let (cf, release) = (&self.read.cf, self.request.behaviour.release);
        let comparator = marshal::at(&*cf.comparator, release);
        let validator = marshal::at(&**cf.value_validator(&expression.column_name), release);
        cells.iter().any(|cell| {
            let order = match cell.kind {
                CellKind::Deleted { .. } if self.request.behaviour.reads.deleted_columns_are_empty => {
                    validator.compare(b"", &expression.value)
                }
                CellKind::Deleted { local_deletion_time } => {
                    compare_deletion(validator, local_deletion_time, &expression.value)
                }
                _ => validator.compare(&cell.value, &expression.value),
            };
            comparator.compare(&cell.name, &expression.column_name).is_eq()
                && meets(expression.operator, order)
        })
    }
}

/// Compares a deletion time with a value. Java compares numbers of different lengths by their first byte, signed, and
/// then byte by byte.
fn compare_deletion(validator: &dyn AbstractType, deleted_at_s: i32, value: &[u8]) -> Ordering {
    let bytes = deleted_at_s.to_be_bytes();
    let short = validator.class_name().trim_start_matches(PACKAGE);
    if ["LongType", "Int32Type", "CounterColumnType"].contains(&short) && !value.is_empty() {
        let first = |bytes: &[u8]| bytes.first().map(|byte| byte.cast_signed());
        return first(&bytes).cmp(&first(value)).then_with(|| bytes[..].cmp(value));
    }
    validator.compare(&bytes, value)
}
