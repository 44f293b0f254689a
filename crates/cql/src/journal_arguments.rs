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
        let queries = ArgumentText::default().list(statements.len(), |text, at| {
            let (prepared, options) = &statements[at];
            statement(database, text, prepared, options).into()
        });
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
        let values = text.list(options.values.len(), |text, at| {
            shown_value(database, text, prepared.markers.get(at), &options.values[at])
        });
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
