//! A result as a table and as JSON.

use bytes::Bytes;

use super::csv::CsvRows;
use crate::limits::{ASK_BYTES_MAX, ASK_ROWS_MAX};
use crate::present::{ShownBytes, read_as_type};
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

/// Returns a table as it is shown as CSV.
pub(super) fn csv_of(columns: &[String], rows: &[Vec<Field>]) -> String {
    let mut csv = CsvRows::new(columns);
    for row in rows {
        csv.push(row.iter().map(Field::text));
    }
    csv.finish()
}

impl Field {
    /// Returns the text that the table shows.
    fn text(&self) -> &str {
        match self {
            Field::Null => "",
            Field::Bytes(shown) => &shown.text,
            Field::Text(text) => text,
        }
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
                let value_text = || Some(read_as_type(&column.cql_type, value.as_ref()?).text);
                texts.push(if csv.is_cut() { None } else { value_text() });
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
        let names = ["key", "column", "value", "timestamp"];
        let show = |class: &str, bytes: &Bytes| match types.resolve(class) {
            Some(class) => ShownBytes::of(types, &*class, bytes),
            None => ShownBytes::of(types, &base::marshal::BytesType, bytes),
        };
        let mut rows = Vec::new();
        let mut json_rows = JsonRows::default();
        let mut note = String::new();
        for row in &found.rows {
            let mut values = serde_json::Map::new();
            for column in &row.columns {
                let name = show(
                    found.name_types.get(&column.name).unwrap_or(&found.default_name_type),
                    &column.name,
                );
                let class = found.value_types.get(&column.name).unwrap_or(&found.default_value_type);
                let value = column.value.as_ref().map(|value| show(class, value));
                values.insert(name.text.clone(), value.as_ref().map(|value| value.text.clone()).into());
                if rows.len() >= ASK_ROWS_MAX {
                    note = format!("The first {ASK_ROWS_MAX} columns are shown in the table.");
                    continue;
                }
                let time = column.timestamp.map_or(Field::Null, |time| Field::Text(time.to_string()));
                let key = ShownBytes::of(types, &base::marshal::BytesType, &row.key);
                rows.push(vec![
                    Field::Bytes(key),
                    Field::Bytes(name),
                    value.map_or(Field::Null, Field::Bytes),
                    time,
                ]);
            }
            json_rows.push(&serde_json::Value::Object(values).to_string());
        }
        let (json, cut) = json_rows.finish();
        let columns: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let note = format!("{note} {cut}").trim().to_owned();
        let csv = csv_of(&columns, &rows);
        ShownResult { columns, rows, row_count: found.rows.len(), json, csv, note, next_page: String::new() }
    }
}
