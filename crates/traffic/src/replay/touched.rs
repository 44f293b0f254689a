//! The rows that a call reads or writes, as far as its request shows them without the schema.

use std::fmt;

use bytes::Bytes;

use super::super::call::{Call, ColumnValues, KeyValue, Request, StatementWords, column_values};
use super::own_data::rows_of;
use base::util::hex;

/// The rows of a call. Empty for calls that have none, such as `describe_version`.
#[derive(Debug, Default)]
pub(crate) struct TouchedKeys(Vec<TableKeys>);

/// Rows of one table.
#[derive(Debug)]
struct TableKeys {
    /// Keyspace and table; `None` if it may be any.
    table: Option<(String, String)>,
    /// The restricted columns. The key of a Thrift call has an empty name.
    columns: ColumnValues,
}

impl TouchedKeys {
    /// Returns the rows of a call.
    pub(crate) fn of(call: &Call) -> TouchedKeys {
        let keyspace = || call.keyspace.clone().unwrap_or_default();
        let whole = || call.family.clone().map(|family| (keyspace(), family));
        let of_all = |columns| TableKeys { table: whole(), columns };
        match &call.request {
            // CQL 2 names and restricts columns as CQL 3 does.
            Request::Thrift { .. }
                if call.statement.is_some() && (call.is_write() || call.family.is_some()) =>
            {
                let text = call.statement.as_deref().unwrap_or_default();
                TouchedKeys(vec![of_all(column_values(text, &[]))])
            }
            Request::Thrift { .. } => {
                let rows = rows_of(call);
                if rows.is_empty() && (call.is_write() || call.family.is_some()) {
                    return TouchedKeys(vec![of_all(ColumnValues::new())]);
                }
                let rows = rows.into_iter().map(|(family, key)| TableKeys {
                    table: Some((keyspace(), String::from_utf8_lossy(&family).into_owned())),
                    columns: ColumnValues::from([(String::new(), vec![KeyValue::Bytes(key)])]),
                });
                TouchedKeys(rows.collect())
            }
            Request::Native(request) => {
                let rows = request.statements.iter().filter(|_| call.is_write() || call.family.is_some());
                let rows = rows.map(|statement| {
                    let text = statement.text().unwrap_or_default();
                    let StatementWords { keyspace: of_table, table, .. } = StatementWords::of(text);
                    let table = table.map(|table| (of_table.unwrap_or_else(keyspace), table));
                    TableKeys { table: table.or_else(whole), columns: column_values(text, &statement.values) }
                });
                TouchedKeys(rows.collect())
            }
        }
    }

    /// Returns whether both calls may touch the same row.
    pub(super) fn meets(&self, other: &TouchedKeys) -> bool {
        self.0.iter().any(|one| other.0.iter().any(|other| one.meets(other)))
    }

    /// Returns whether a row has one of these values as its key, as far as the request shows keys.
    pub(super) fn may_have_key(&self, is_shown: impl Fn(&Bytes) -> bool) -> bool {
        let mut values = self.0.iter().flat_map(|rows| rows.columns.values().flatten());
        self.0.iter().any(|rows| rows.columns.is_empty())
            || values.any(|value| match value {
                KeyValue::Bytes(bytes) => is_shown(bytes),
                KeyValue::Text(_) | KeyValue::Unknown => true,
            })
    }

    /// Returns whether the request names rows by their keys, and not a range or a whole table.
    pub(super) fn have_keys(&self) -> bool {
        self.0.iter().all(|rows| !rows.columns.is_empty())
    }
}

impl TableKeys {
    fn meets(&self, other: &TableKeys) -> bool {
        if self.table.as_ref().zip(other.table.as_ref()).is_some_and(|(one, other)| one != other) {
            return false;
        }
        // Rows are different if a column that both restrict has different values.
        self.columns.iter().all(|(name, values)| match other.columns.get(name) {
            None => true,
            Some(others) => values.iter().any(|one| others.iter().any(|other| one.may_equal(other))),
        })
    }
}

/// Longest value that is shown, in bytes: keys are short, and an INSERT has other values, too.
const SHOWN_BYTES_MAX: usize = 100;

/// Shows the rows by their short values: `p=1 c='x'`, or the keys of Thrift.
impl fmt::Display for TouchedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.iter().flat_map(|rows| &rows.columns);
        let mut separator = "";
        for (name, value) in all.flat_map(|(name, values)| values.iter().map(move |value| (name, value))) {
            let value = match value {
                KeyValue::Bytes(bytes) => match str::from_utf8(bytes) {
                    Ok(text) if !text.contains(char::is_control) => text.to_owned(),
                    _ => format!("0x{}", hex(bytes)),
                },
                KeyValue::Text(text) => text.clone(),
                KeyValue::Unknown => continue,
            };
            if value.len() <= SHOWN_BYTES_MAX {
                let name = if name.is_empty() { "row" } else { name };
                write!(f, "{separator}{name}={}", value.escape_debug())?;
                separator = " ";
            }
        }
        Ok(())
    }
}
