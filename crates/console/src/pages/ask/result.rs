//! A result as a table and as JSON.

use std::sync::Arc;

use bytes::Bytes;

use super::csv::CsvRows;
use crate::limits::{ASK_BYTES_MAX, ASK_ROWS_MAX};
use crate::present::{ShownBytes, read_as, read_as_type};
use base::marshal::{BytesType, TypeRef};
use cql::cql2::Cql2Result;
use cql::{QueryState, ResultSet, TypesOf, json};
use traffic::report::visible_json;

/// A field of a table.
pub(super) enum Field {
    Null,
    Bytes(ShownBytes),
    Text(String),
}

/// A result as it is shown.
#[derive(Default)]
pub(super) struct ShownResult {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Field>>,
    /// The number of all rows of the result.
    pub row_count: usize,
    pub json: String,
    /// The result as CSV, with whole values.
    pub csv: String,
    /// The part of the result that is not shown, and the reason.
    pub note: String,
    /// Where the next page of the result begins, in hex; empty on the last page.
    pub next_page: String,
}

/// Collects the JSON of rows up to the limit.
#[derive(Default)]
pub(super) struct JsonRows {
    text: String,
    left_out: usize,
}

impl JsonRows {
    pub(super) fn push(&mut self, row: &str) {
        if self.left_out > 0 || self.text.len() + row.len() > ASK_BYTES_MAX {
            self.left_out += 1;
            return;
        }
        self.text.push_str(if self.text.is_empty() { "[\n  " } else { ",\n  " });
        self.text.push_str(row);
    }

    /// Returns the whole array, and a sentence about what it lacks.
    pub(super) fn finish(self) -> (String, String) {
        let text = if self.text.is_empty() { "[]".to_owned() } else { self.text + "\n]" };
        let note = match self.left_out {
            0 => String::new(),
            rows => {
                format!("The last {rows} rows are not in the JSON, which has at most {ASK_BYTES_MAX} bytes.")
            }
        };
        (visible_json(&text), note)
    }
}

impl ShownResult {
    /// Shows the rows of a statement of CQL 3.
    pub(super) fn of_rows(state: &QueryState<'_>, found: &ResultSet) -> ShownResult {
        let types = TypesOf { types: state.database.types(), release: state.behaviour.release };
        let columns: Vec<String> = found.columns.iter().map(|column| column.name.clone()).collect();
        let mut rows = Vec::new();
        let mut json_rows = JsonRows::default();
        let mut csv = CsvRows::new(&columns);
        for row in found.rows.iter().take(ASK_ROWS_MAX) {
            let (mut fields, mut entries, mut texts) = (Vec::new(), Vec::new(), Vec::new());
            for (column, value) in found.columns.iter().zip(row) {
                fields.push(match value {
                    None => Field::Null,
                    Some(value) => Field::Bytes(ShownBytes::of_type(&column.cql_type, value)),
                });
                let written = value.as_ref().filter(|_| !csv.is_cut());
                texts.push(written.map(|value| read_as_type(&column.cql_type, value).text));
                let value = json::to_json(&column.cql_type, value.as_ref(), types);
                entries.push(format!("{}: {value}", json::column_key(&column.name)));
            }
            rows.push(fields);
            csv.push(texts.iter().map(|text| text.as_deref().unwrap_or_default()));
            json_rows.push(&format!("{{{}}}", entries.join(", ")));
        }
        let (json, mut note) = json_rows.finish();
        if found.rows.len() > ASK_ROWS_MAX {
            note = format!("The first {ASK_ROWS_MAX} rows are shown. Use LIMIT to get fewer. {note}");
        }
        let next_page = found.paging_state.as_ref().map_or(String::new(), |state| base::util::hex(state));
        let csv = csv.finish();
        ShownResult { columns, rows, row_count: found.rows.len(), json, csv, note, next_page }
    }

    /// Shows the rows of a statement of CQL 2, a line for each column.
    pub(super) fn of_cql2(state: &QueryState<'_>, found: &Cql2Result) -> ShownResult {
        let types = state.database.types();
        let columns = ["key", "column", "value", "timestamp"].map(str::to_owned).to_vec();
        let class_of = |class: &str| types.resolve(class).unwrap_or_else(|| Arc::new(BytesType));
        let whole = |class: &TypeRef, bytes: &Bytes| read_as(types, &**class, bytes).text;
        let mut rows = Vec::new();
        let mut json_rows = JsonRows::default();
        let mut csv = CsvRows::new(&columns);
        let mut note = String::new();
        for row in &found.rows {
            let mut values = serde_json::Map::new();
            for column in &row.columns {
                let name_class = found.name_types.get(&column.name).unwrap_or(&found.default_name_type);
                let name_class = class_of(name_class);
                let class = found.value_types.get(&column.name).unwrap_or(&found.default_value_type);
                let class = class_of(class);
                let name = whole(&name_class, &column.name);
                let value = column.value.as_ref().map(|value| whole(&class, value));
                values.insert(name.clone(), value.clone().into());
                if rows.len() >= ASK_ROWS_MAX {
                    note = format!("The first {ASK_ROWS_MAX} columns are shown in the table.");
                    continue;
                }
                let time = column.timestamp.map(|time| time.to_string());
                let key = read_as(types, &BytesType, &row.key).text;
                let texts = [Some(&key), Some(&name), value.as_ref(), time.as_ref()];
                csv.push(texts.into_iter().map(|text| text.map_or("", String::as_str)));
                let value = column.value.as_ref().map(|value| ShownBytes::of(types, &*class, value));
                rows.push(vec![
                    Field::Bytes(ShownBytes::of(types, &BytesType, &row.key)),
                    Field::Bytes(ShownBytes::of(types, &*name_class, &column.name)),
                    value.map_or(Field::Null, Field::Bytes),
                    time.map_or(Field::Null, Field::Text),
                ]);
            }
            json_rows.push(&serde_json::Value::Object(values).to_string());
        }
        let (json, cut) = json_rows.finish();
        let note = format!("{note} {cut}").trim().to_owned();
        let csv = csv.finish();
        ShownResult { columns, rows, row_count: found.rows.len(), json, csv, note, next_page: String::new() }
    }
}
