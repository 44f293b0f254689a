//! get_paged_slice, which reads the columns of consecutive rows.

use std::sync::Arc;

use bytes::Bytes;

use crate::limits::NAME_BYTES_MAX;
use crate::{Error, Request, Result};
use base::marshal;
use base::marshal::AbstractType;
use base::model::{Bounds, Predicate, RangeCommand, ReadCommand, Row, RowColumns, SliceRange};
use base::schema::CfDef;
use base::util::meter;

/// The number of rows per request to the store if the length of the scan is unknown.
const ROWS_PER_PAGE: usize = 256;

/// The number of columns per page of a row; more than one, because each page begins with the last column of the
/// previous page.
const NAMES_PER_PAGE: usize = 1000;

/// A traversal of the columns of many rows.
pub(super) struct Pages<'a> {
    pub request: &'a Request<'a>,
    pub cf: Arc<CfDef>,
    pub columns_left: usize,
    pub found: Vec<Row>,
}

impl Pages<'_> {
    fn command(&self, start: Bytes, count: usize) -> ReadCommand {
        let range = SliceRange { start, count, ..SliceRange::all() };
        self.request.command(&self.cf, None, Predicate::Range(range))
    }

    /// Reads the rows of a range, the first of them from a column on.
    pub(super) async fn read(&mut self, mut bounds: Bounds, start_column: Bytes) -> Result<()> {
        // The first row is read alone, because only that row begins at a column. From 2.0 on it does so only if it is
        // the row of the range's start key.
        let mut start = start_column;
        if self.request.behaviour.reads.page_start_is_of_named_row
            && !self.begins_with_its_key(&bounds).await?
        {
            start = Bytes::new();
        }
        let mut columns = self.columns_left;
        if !self.is_name(&start) {
            match self.first_from(&bounds, &start).await? {
                Some(name) => start = name,
                // The row is returned nevertheless.
                None => (start, columns) = (Bytes::new(), 0),
            }
        }
        let ring = self.request.database.ring_order();
        let mut max_rows = 1;
        while self.columns_left > 0 {
            let read = self.command(std::mem::take(&mut start), columns);
            let command = RangeCommand { bounds: bounds.clone(), max_rows, read, skip_empty: false };
            let page = self.request.store().scan(command, self.request.consistency).await?;
            let Some(last) = page.last().map(|row| row.key.clone()) else { break };
            debug_assert!(page.len() <= max_rows, "a full page would be taken for the last one");
            let is_last_page = page.len() < max_rows;
            let found: usize = page.iter().map(|row| row.columns.len()).sum();
            let columns_per_row = found.div_ceil(page.len()).max(1);
            self.take(page);
            columns = self.columns_left;
            // As many rows as are needed if they are like the previous ones; rows beyond that would be read for
            // nothing.
            max_rows = (self.columns_left / columns_per_row).clamp(1, ROWS_PER_PAGE);
            match ring.after_key(&bounds, &last, self.request.behaviour.release) {
                Some(after) if !is_last_page => {
                    debug_assert!(after != bounds, "the same rows would be read for ever");
                    bounds = after;
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Reads the rows of a range with all of their columns, up to a number of rows with those that were found before. If the
    /// first is the row of the range's start key, it begins at a column.
    pub(super) async fn read_rows(
        &mut self,
        mut bounds: Bounds,
        start_column: Bytes,
        max_rows: usize,
    ) -> Result<()> {
        let begins_there = !start_column.is_empty() && self.begins_with_its_key(&bounds).await?;
        let mut start = if begins_there { start_column } else { Bytes::new() };
        let mut at_once = if begins_there { 1 } else { max_rows };
        let mut columns = usize::MAX;
        // Without a start, the next read is of several rows.
        if begins_there && !self.is_name(&start) {
            match self.first_from(&bounds, &start).await? {
                Some(name) => start = name,
                None => (start, columns) = (Bytes::new(), 0),
            }
        }
        while self.found.len() < max_rows {
            let read = self.command(std::mem::take(&mut start), std::mem::replace(&mut columns, usize::MAX));
            let wanted = (max_rows - self.found.len()).min(at_once);
            let command = RangeCommand { bounds: bounds.clone(), max_rows: wanted, read, skip_empty: false };
            let page = self.request.store().scan(command, self.request.consistency).await?;
            debug_assert!(page.len() <= wanted, "a full page would be taken for the last one");
            let last = page.last().map(|row| row.key.clone()).filter(|_| page.len() == wanted);
            self.found.extend(page);
            at_once = max_rows;
            let ring = self.request.database.ring_order();
            let after = last.and_then(|last| ring.after_key(&bounds, &last, self.request.behaviour.release));
            let Some(after) = after else { break };
            debug_assert!(after != bounds, "the same rows would be read for ever");
            bounds = after;
        }
        Ok(())
    }

    /// Returns whether the first row of a range is the row of the range's start key.
    async fn begins_with_its_key(&self, bounds: &Bounds) -> Result<bool> {
        let (Bounds::Keys { start, .. } | Bounds::KeyToToken { start, .. }) = bounds else {
            return Ok(false);
        };
        let before = meter::mark();
        let first = self.first_row(bounds, self.command(Bytes::new(), self.columns_left)).await?;
        before.restore();
        Ok(first.is_some_and(|row| row.key == *start))
    }

    async fn first_row(&self, bounds: &Bounds, read: ReadCommand) -> Result<Option<Row>> {
        let command = RangeCommand { bounds: bounds.clone(), max_rows: 1, read, skip_empty: false };
        Ok(self.request.store().scan(command, self.request.consistency).await?.into_iter().next())
    }

    fn comparator(&self) -> &dyn AbstractType {
        marshal::at(&*self.cf.comparator, self.request.behaviour.release)
    }

    fn is_name(&self, start: &[u8]) -> bool {
        start.len() <= NAME_BYTES_MAX && self.comparator().validate(start).is_ok()
    }

    /// Returns the first column of the first row that does not sort before a start that is not a valid name. No
    /// release validates the start: it is compared with the existing names. `None` if all of them sort before it.
    async fn first_from(&self, bounds: &Bounds, start: &Bytes) -> Result<Option<Bytes>> {
        let comparator = self.comparator();
        let mut from = Bytes::new();
        loop {
            let read = self.command(from, NAMES_PER_PAGE);
            let before = meter::mark();
            let Some(row) = self.first_row(bounds, read).await? else { return Ok(None) };
            before.restore();
            meter::check()?;
            let names: Vec<Bytes> = match row.columns {
                RowColumns::Cells(cells) => cells.into_iter().map(|cell| cell.name).collect(),
                RowColumns::Supers(supers) => supers.into_iter().map(|one| one.name).collect(),
            };
            for name in &names {
                let order = comparator.compare_unchecked(start, name);
                if order.map_err(|error| Error::invalid(error.0))?.is_le() {
                    return Ok(Some(name.clone()));
                }
            }
            match names.last() {
                Some(last) if names.len() == NAMES_PER_PAGE => from = last.clone(),
                _ => return Ok(None),
            }
        }
    }

    /// Adds rows to the result until the number of columns is reached.
    fn take(&mut self, page: Vec<Row>) {
        for mut row in page {
            if self.columns_left == 0 {
                return;
            }
            row.columns.truncate(self.columns_left);
            debug_assert!(
                row.columns.len() <= self.columns_left,
                "the page would have more columns than asked for"
            );
            self.columns_left -= row.columns.len();
            self.found.push(row);
        }
    }
}
