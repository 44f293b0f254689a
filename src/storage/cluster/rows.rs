//! Rows of the cluster's answers as cells.

use bytes::Bytes;
use scylla::deserialize::row::ColumnIterator;
use scylla::response::query_result::QueryRowsResult;

use super::table::Table;
use crate::model::{Cell, CellKind};
use crate::storage::StoreError;

/// One column of an answer's row; `None`: null.
pub type Field = Option<Bytes>;

/// A row of an answer: the place of a column and the column.
#[derive(Debug)]
pub struct FoundCell {
    /// The row's key, where it was asked for; else empty.
    pub key: Bytes,
    /// The super column that it is in.
    pub super_column: Option<Bytes>,
    pub cell: Cell,
}

/// What the columns of an answer are.
#[derive(Debug, Clone, Copy)]
pub struct AnswerReader<'a> {
    pub table: &'a Table,
    /// The key comes first.
    pub has_key: bool,
    /// The second of the server's clock from which the rest of a time to live counts.
    pub now_s: i32,
}

impl AnswerReader<'_> {
    /// The cells of a page. Rows that a CQL client has left without a value are none.
    pub fn cells(&self, page: &QueryRowsResult) -> Result<Vec<FoundCell>, StoreError> {
        let mut cells = Vec::with_capacity(page.rows_num());
        let rows = page.rows::<ColumnIterator>().map_err(unreadable)?;
        for row in rows {
            let fields = fields(row.map_err(unreadable)?)?;
            cells.extend(self.cell(fields)?);
        }
        Ok(cells)
    }

    fn cell(&self, fields: Vec<Field>) -> Result<Option<FoundCell>, StoreError> {
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

/// The first column of every row of a page.
pub fn keys(page: &QueryRowsResult) -> Result<Vec<Bytes>, StoreError> {
    let mut keys = Vec::with_capacity(page.rows_num());
    for row in page.rows::<ColumnIterator>().map_err(unreadable)? {
        keys.extend(fields(row.map_err(unreadable)?)?.into_iter().next().flatten());
    }
    Ok(keys)
}

/// All columns of a page's rows.
pub fn all(page: &QueryRowsResult) -> Result<Vec<Vec<Field>>, StoreError> {
    page.rows::<ColumnIterator>().map_err(unreadable)?.map(|row| fields(row.map_err(unreadable)?)).collect()
}

fn fields(row: ColumnIterator<'_, '_>) -> Result<Vec<Field>, StoreError> {
    row.map(|column| column.map(|column| column.slice.map(|slice| slice.to_bytes())).map_err(unreadable))
        .collect()
}

/// The first column of the first row.
pub fn first(rows: Vec<Vec<Field>>) -> Field {
    rows.into_iter().next().and_then(|row| row.into_iter().next().flatten())
}

/// Whether a transaction has been done: its answer begins with that.
pub fn is_applied(rows: Vec<Vec<Field>>) -> bool {
    first(rows).is_some_and(|applied| applied.as_ref() == [1])
}

/// A number of four or eight bytes.
pub fn number(bytes: &[u8]) -> Option<i64> {
    match bytes.len() {
        4 => bytes.try_into().ok().map(|bytes| i64::from(i32::from_be_bytes(bytes))),
        8 => bytes.try_into().ok().map(i64::from_be_bytes),
        _ => None,
    }
}

fn unreadable(error: impl std::fmt::Display) -> StoreError {
    StoreError::Io(format!("the cluster's answer cannot be read: {error}"))
}
