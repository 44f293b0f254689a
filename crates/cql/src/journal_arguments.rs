//! Texts and bound values of statements, for the journal of a server with faults.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::run::Prepared;
use super::{ColumnSpec, QueryOptions};
use base::marshal::{CqlType, Native};
use base::model::BoundValue;
use base::schema::show;
use db::Database;
use db::faults::{ArgumentText, note_arguments};

/// Adds the text of a statement to the request that runs here.
pub(super) fn note_query(database: &Database, text: &str) {
    note_arguments(database, |arguments| {
        arguments.insert("query".to_owned(), ArgumentText::default().statement(text).into());
    });
}

/// Adds the text of a prepared statement and its values, which are in the order of the markers.
pub(super) fn note_values(database: &Database, prepared: &Prepared, options: &QueryOptions) {
    note_arguments(database, |arguments| {
        arguments.extend(statement(database, &mut ArgumentText::default(), prepared, options));
    });
}

/// Adds the statements of a batch with their values. They replace the text of the one that was parsed last.
pub(super) fn note_batch(database: &Database, statements: &[(Arc<Prepared>, QueryOptions)]) {
    note_arguments(database, |arguments| {
        let mut text = ArgumentText::default();
        let shown = text.take_elements(statements.len());
        let mut queries: Vec<Value> = statements[..shown]
            .iter()
            .map(|(prepared, options)| Value::Object(statement(database, &mut text, prepared, options)))
            .collect();
        if shown < statements.len() {
            queries.push(ArgumentText::left_out(statements.len()).into());
        }
        arguments.remove("query");
        arguments.insert("queries".to_owned(), queries.into());
    });
}

fn statement(
    database: &Database,
    text: &mut ArgumentText,
    prepared: &Prepared,
    options: &QueryOptions,
) -> Map<String, Value> {
    let mut arguments = Map::new();
    arguments.insert("query".to_owned(), text.statement(&prepared.text).into());
    if !options.values.is_empty() {
        let shown = text.take_elements(options.values.len());
        let of =
            |(at, value): (usize, &BoundValue)| shown_value(database, text, prepared.markers.get(at), value);
        let mut values: Vec<Value> = options.values[..shown].iter().enumerate().map(of).collect();
        if shown < options.values.len() {
            values.push(ArgumentText::left_out(options.values.len()).into());
        }
        arguments.insert("values".to_owned(), values.into());
    }
    arguments
}

/// Returns a text without quotes, other values as literals.
fn shown_value(
    database: &Database,
    text: &mut ArgumentText,
    marker: Option<&ColumnSpec>,
    value: &BoundValue,
) -> Value {
    let value = match value {
        BoundValue::Value(value) => value,
        BoundValue::Null => return Value::Null,
        BoundValue::Unset => return json!({"unset": true}),
    };
    match marker.map(|marker| &marker.cql_type) {
        None | Some(CqlType::Native(Native::Text | Native::Ascii)) => text.bytes(None, value).into(),
        Some(cql_type) => text.text(&show::literal(database.types(), cql_type, value)).into(),
    }
}
