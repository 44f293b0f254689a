//! Converts rows of the cluster's results to cells.

use bytes::Bytes;
use scylla::deserialize::row::ColumnIterator;
use scylla::response::query_result::QueryRowsResult;

use super::table::PreparedTable;
use base::model::{Cell, CellKind};
use store::{Result, StoreError};

/// A value of a result's row. `None` is null.
pub(super) type Field = Option<Bytes>;

/// A column in a result, with the row and the super column it is in.
#[derive(Debug)]
pub(super) struct FoundCell {
    /// The row's key if it was selected, otherwise empty.
    pub key: Bytes,
    /// The super column it is in, if any.
    pub super_column: Option<Bytes>,
    pub cell: Cell,
}

/// Decodes the rows of a result.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerReader<'a> {
    pub table: &'a PreparedTable,
    /// Whether the row's key is the first value.
    pub has_key: bool,
    /// The current second, to which the remaining time to live is added.
    pub now_s: i32,
}

impl AnswerReader<'_> {
    /// Returns the cells of a page. Rows without a value, which CQL clients can write, are skipped.
    pub(super) fn cells(&self, page: &QueryRowsResult) -> Result<Vec<FoundCell>> {
        let mut cells = Vec::with_capacity(page.rows_num());
        let rows = page.rows::<ColumnIterator>().map_err(unreadable)?;
        for row in rows {
            let fields = fields(row.map_err(unreadable)?)?;
            cells.extend(self.cell(fields)?);
        }
        Ok(cells)
    }

    fn cell(&self, fields: Vec<Field>) -> Result<Option<FoundCell>> {
        let mut fields = fields.into_iter();
        let mut next = || fields.next().flatten();
        let key = if self.has_key { next().unwrap_or_default() } else { Bytes::new() };
        let outer = self.table.outer.decode(next().unwrap_or_default())?;
        let (super_column, name) = match &self.table.inner {
            Some(inner) => (Some(outer), inner.decode(next().unwrap_or_default())?),
            None => (None, outer),
        };
        let Some(value) = next() else { return Ok(None) };
        let cell = if self.table.is_counter {
            Cell { name, value, timestamp: 0, kind: CellKind::Counter }
        } else {
            let Some(timestamp) = next().and_then(|bytes| number(&bytes)) else { return Ok(None) };
            let ttl_s = next().and_then(|bytes| number(&bytes)).and_then(|ttl| i32::try_from(ttl).ok());
            match ttl_s {
                Some(ttl_s) => Cell::expiring(name, value, timestamp, ttl_s, self.now_s),
                None => Cell::live(name, value, timestamp),
            }
        };
        Ok(Some(FoundCell { key, super_column, cell }))
    }
}

/// Returns the first value of every row of a page.
pub(super) fn keys(page: &QueryRowsResult) -> Result<Vec<Bytes>> {
    let mut keys = Vec::with_capacity(page.rows_num());
    for row in page.rows::<ColumnIterator>().map_err(unreadable)? {
        keys.extend(fields(row.map_err(unreadable)?)?.into_iter().next().flatten());
    }
    Ok(keys)
}

/// Returns all values of a page's rows.
pub(super) fn all(page: &QueryRowsResult) -> Result<Vec<Vec<Field>>> {
    page.rows::<ColumnIterator>().map_err(unreadable)?.map(|row| fields(row.map_err(unreadable)?)).collect()
}

fn fields(row: ColumnIterator<'_, '_>) -> Result<Vec<Field>> {
    row.map(|column| column.map(|column| column.slice.map(|slice| slice.to_bytes())).map_err(unreadable))
        .collect()
}

/// Returns the first value of the first row.
pub(super) fn first(rows: Vec<Vec<Field>>) -> Field {
    rows.into_iter().next().and_then(|row| row.into_iter().next().flatten())
}

/// Returns whether a transaction was applied: the first value of its result.
pub(super) fn is_applied(rows: Vec<Vec<Field>>) -> bool {
    first(rows).is_some_and(|applied| applied.as_ref() == [1])
}

/// Decodes a number of four or eight bytes.
pub(super) fn number(bytes: &[u8]) -> Option<i64> {
    match bytes.len() {
        4 => bytes.try_into().ok().map(|bytes| i64::from(i32::from_be_bytes(bytes))),
        8 => bytes.try_into().ok().map(i64::from_be_bytes),
        _ => None,
    }
}

fn unreadable(error: impl std::fmt::Display) -> StoreError {
    StoreError::Io(format!("the cluster's answer cannot be read: {error}"))
}
