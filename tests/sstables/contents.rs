//! What a real server answered for every row.

use std::collections::BTreeMap;

use base::model::{Cell, CellKind, RowColumns};
use bytes::Bytes;
use serde_json::{Map, Value};

use crate::rows::Selected;

/// A live column: super column, name, value, timestamp and time to live. Counters have no timestamp.
pub type Column = (Option<String>, String, String, Option<i64>, Option<i64>);

/// Live rows by their keys, in hex.
pub type Rows = BTreeMap<String, Vec<Column>>;

/// Returns the rows of a column family as the server had them when it was stopped.
pub fn all_rows(contents: &Value, keyspace: &str, family: &str) -> Rows {
    let rows = contents["rows"][keyspace][family].as_array().unwrap().iter();
    rows.map(|row| (row["key"].as_str().unwrap().to_owned(), columns_of(row))).collect()
}

/// Returns the rows of a column family as they are in the SSTables, without the commit log; those that are deleted are empty.
pub fn rows_in_tables(contents: &Value, keyspace: &str, family: &str) -> Rows {
    let mut rows = all_rows(contents, keyspace, family);
    if let Some(before) = contents["rows_before_commitlog_writes"][keyspace][family].as_object() {
        for (key, row) in before {
            rows.insert(key.clone(), columns_of(row));
        }
    }
    // Servers of 3.x do not list rows with nothing live.
    for deletion in contents["deletions"].as_array().into_iter().flatten() {
        let is_here = deletion["keyspace"] == keyspace && deletion["cf"] == family;
        if let (true, Some(key)) = (is_here, deletion["key"].as_str()) {
            rows.entry(key.to_owned()).or_default();
        }
    }
    rows
}

/// Returns what SELECT returned of each CQL table, with or without the writes that were in the commit log only.
pub fn selected(contents: &Value, has_commit_logs: bool) -> BTreeMap<String, Vec<Value>> {
    let tables = |kind: &str| contents[kind].as_object().cloned().unwrap_or_default();
    let mut found = tables("cql3");
    if !has_commit_logs {
        found.extend(tables("cql3_before_commitlog_writes"));
    }
    found.into_iter().map(|(name, table)| (name, table["rows"].as_array().unwrap().clone())).collect()
}

fn columns_of(row: &Value) -> Vec<Column> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut found = Vec::new();
    found.extend(list(&row["columns"]).iter().map(|column| column_of(None, column)));
    found.extend(list(&row["counter_columns"]).iter().map(|counter| counter_of(None, counter)));
    for holder in list(&row["super_columns"]) {
        found.extend(list(&holder[1]).iter().map(|column| column_of(holder[0].as_str(), column)));
    }
    for holder in list(&row["counter_super_columns"]) {
        found.extend(list(&holder[1]).iter().map(|counter| counter_of(holder[0].as_str(), counter)));
    }
    // A row of a counter table can have both kinds of columns, and their common order is not known.
    if !list(&row["columns"]).is_empty() && !list(&row["counter_columns"]).is_empty() {
        found.sort();
    }
    found
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn column_of(holder: Option<&str>, column: &Value) -> Column {
    let holder = holder.map(str::to_owned);
    (holder, text(&column[0]), text(&column[1]), column[2].as_i64(), column[3].as_i64())
}

fn counter_of(holder: Option<&str>, counter: &Value) -> Column {
    let count = counter[1].as_i64().unwrap();
    (holder.map(str::to_owned), text(&counter[0]), count.to_string(), None, None)
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Returns the columns that a store returned in the same form.
pub fn columns_read(columns: &RowColumns) -> Vec<Column> {
    let column = |holder: Option<&Bytes>, cell: &Cell| {
        let (holder, name) = (holder.map(|holder| hex(holder)), hex(&cell.name));
        match cell.kind {
            CellKind::Counter => (holder, name, cell.count().unwrap().to_string(), None, None),
            CellKind::Expiring { ttl_s, .. } => {
                (holder, name, hex(&cell.value), Some(cell.timestamp), Some(i64::from(ttl_s)))
            }
            _ => (holder, name, hex(&cell.value), Some(cell.timestamp), None),
        }
    };
    let mut found: Vec<Column> = match columns {
        RowColumns::Cells(cells) => cells.iter().map(|cell| column(None, cell)).collect(),
        RowColumns::Supers(supers) => {
            let cells = supers.iter().flat_map(|holder| holder.cells.iter().map(|cell| (&holder.name, cell)));
            cells.map(|(holder, cell)| column(Some(holder), cell)).collect()
        }
    };
    let has = |counts: bool| found.iter().any(|(.., timestamp, _)| timestamp.is_none() == counts);
    if has(true) && has(false) {
        found.sort();
    }
    found
}

/// The differences between rows that were read and those that a server answered, in short.
#[derive(Default)]
pub struct Differences(Vec<String>);

impl Differences {
    pub fn compare(&mut self, place: &str, found: &[Column], expected: &[Column]) {
        let only = |of: &[Column], other: &[Column]| {
            let lines = of.iter().filter(|column| !other.contains(column)).map(|column| {
                let text = format!("{column:?}");
                text.chars().take(160).collect::<String>()
            });
            lines.take(4).collect::<Vec<_>>().join(", ")
        };
        if found != expected {
            let (read, answered) = (only(found, expected), only(expected, found));
            self.0.push(format!("{place}: read [{read}], the server answered [{answered}]"));
        }
    }

    /// Compares the rows of a table that SELECT returned.
    pub fn compare_selected(&mut self, place: &str, found: &[Selected], expected: &[Value]) {
        let is_same = |found: &Selected, expected: &Value| {
            found.len() == expected.as_object().map_or(0, Map::len)
                && found.iter().all(|(name, value)| match value {
                    Some((long, short)) => [long, short].map(|form| form == &expected[name]).contains(&true),
                    None => expected[name].is_null(),
                })
        };
        if found.len() != expected.len() {
            self.0.push(format!("{place}: {} rows, the server had {}", found.len(), expected.len()));
        }
        for (found, expected) in found.iter().zip(expected).filter(|(found, row)| !is_same(found, row)) {
            self.0.push(format!("{place}: read {found:?}, the server answered {expected}"));
        }
    }

    pub fn assert_none(&self) {
        assert!(self.0.is_empty(), "{} rows differ:\n{}", self.0.len(), self.0.join("\n"));
    }
}
