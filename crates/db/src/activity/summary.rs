//! A request in a line, for the console.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::faults::{JournalEntry, JournalResult, RequestOrigin, cut};
use crate::limits::SUMMARY_CHARS_MAX;
use crate::request_log::hide_passwords;
use base::compat::features::ApiGeneration;
use base::util::metrics::{EndedRequest, RequestOutcome};
use base::util::system_ms;

/// The text of `Error::NotFound`.
const NOT_FOUND: &str = "not found";
/// The arguments with the column family, or with an object that has it.
const FAMILY_FIELDS: [&str; 7] = [
    "column_family",
    "cfname",
    "column_parent",
    "column_path",
    "columnFamily_column",
    "request",
    "columnFamily",
];
/// The arguments with row keys.
const KEY_FIELDS: [&str; 6] = ["key", "keys", "row", "mutation_map", "batch_mutation", "range"];
/// The fields of a key, and of an object that has one.
const KEY_PARTS: [&str; 4] = ["key", "start_key", "start_token", "row_key"];

/// A request that has ended, as one line of the console.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RequestSummary {
    /// When it ended, in milliseconds since 1970.
    pub at_ms: i64,
    /// `thrift` or `native`.
    pub protocol: String,
    /// The Thrift method, or the opcode of the native protocol.
    pub method: String,
    /// The API generation of a Thrift call.
    pub generation: Option<ApiGeneration>,
    /// The address of the client.
    pub client: String,
    /// Empty if the request has none, as all further texts.
    pub keyspace: String,
    /// The column family, or the first of several.
    pub column_family: String,
    /// The row key, or the first of several.
    pub key: String,
    /// The CQL statement.
    pub statement: String,
    /// The size of the result.
    pub result: String,
    /// The text of the error; for a slow request only its kind.
    pub error: String,
    /// The duration in microseconds.
    pub micros: u64,
}

impl RequestSummary {
    /// Returns the summary of a request that has just ended.
    pub fn of(entry: &JournalEntry) -> RequestSummary {
        let row = entry.rows.first();
        let arguments = entry.arguments.as_object();
        let family = row.map(|row| row.column_family.clone()).or_else(|| family_in(arguments?));
        let key = row.and_then(|row| row.key.clone()).or_else(|| key_in(arguments?));
        let statement = arguments.and_then(|arguments| arguments.get("query")?.as_str().map(str::to_owned));
        let short = |text: Option<String>| cut(text.unwrap_or_default(), SUMMARY_CHARS_MAX);
        // A `get` that finds nothing has an exception as its reply, but nothing went wrong.
        let finds_nothing = entry.error.as_deref() == Some(NOT_FOUND);
        let result = if finds_nothing { Some(NOT_FOUND.to_owned()) } else { entry.result.map(shown_result) };
        RequestSummary {
            at_ms: system_ms(),
            protocol: entry.protocol.clone(),
            method: entry.method.clone(),
            generation: entry.generation,
            client: entry.client.clone().unwrap_or_default(),
            keyspace: short(entry.keyspace.clone().or_else(|| keyspace_in(arguments?))),
            column_family: short(family),
            key: short(key),
            statement: short(statement),
            result: result.unwrap_or_default(),
            error: short(entry.error.clone().filter(|_| !finds_nothing)),
            micros: entry.micros,
        }
    }

    /// Returns the summary of a request whose passwords are not hidden yet.
    pub fn without_passwords(mut entry: JournalEntry) -> RequestSummary {
        hide_passwords(&mut entry.arguments, &mut entry.error);
        RequestSummary::of(&entry)
    }

    /// Returns the summary of a slow request. Its error is only a kind. `keyspace` is the session's.
    pub fn of_slow(
        origin: &RequestOrigin,
        ended: &EndedRequest,
        keyspace: Option<String>,
        arguments: Map<String, Value>,
    ) -> RequestSummary {
        RequestSummary::without_passwords(JournalEntry {
            client: origin.address.map(|address| address.to_string()),
            keyspace: keyspace.filter(|keyspace| !keyspace.is_empty()),
            arguments: arguments.into(),
            error: kind_of(ended.outcome),
            ..origin.entry(ended.time)
        })
    }
}

/// Returns the kind of an error, for requests whose error is not known; `None` for a success.
fn kind_of(outcome: RequestOutcome) -> Option<String> {
    (outcome != RequestOutcome::Ok).then(|| outcome.label().replace('_', " "))
}

fn keyspace_in(arguments: &Map<String, Value>) -> Option<String> {
    ["keyspace", "tablename", "tableName"].iter().find_map(|name| text_of(arguments.get(*name)?))
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn family_in(arguments: &Map<String, Value>) -> Option<String> {
    let named = FAMILY_FIELDS.iter().find_map(|name| match arguments.get(*name)? {
        // 0.3 names column family and column in one text.
        Value::String(text) if *name == "columnFamily_column" => text.split(':').next().map(str::to_owned),
        Value::Object(fields) => family_in(fields),
        value => text_of(value),
    });
    // The mutations of a row by column family.
    named.or_else(|| {
        let rows = ["mutation_map", "cfmap"].iter().find_map(|name| arguments.get(*name)?.as_object())?;
        let (first, of_row) = rows.iter().next()?;
        Some(of_row.as_object().and_then(|families| families.keys().next()).unwrap_or(first).clone())
    })
}

fn key_in(arguments: &Map<String, Value>) -> Option<String> {
    KEY_FIELDS.iter().find_map(|name| match arguments.get(*name)? {
        Value::Array(keys) => text_of(keys.first()?),
        Value::Object(fields) if *name == "range" => {
            KEY_PARTS.iter().find_map(|part| text_of(fields.get(*part)?))
        }
        Value::Object(rows) => rows.keys().next().cloned(),
        value => text_of(value),
    })
}

fn shown_result(result: JournalResult) -> String {
    let counted = |count: Option<usize>, one: &str| {
        count.map(|count| if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") })
    };
    let applied = result.applied.map(|applied| if applied { "applied" } else { "not applied" }.to_owned());
    let parts = [counted(result.rows, "row"), counted(result.columns, "column"), applied];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn summary(arguments: &Value) -> RequestSummary {
        RequestSummary::without_passwords(JournalEntry {
            arguments: arguments.clone(),
            ..JournalEntry::default()
        })
    }

    fn place(arguments: &Value) -> [String; 3] {
        let RequestSummary { keyspace, column_family, key, .. } = summary(arguments);
        [keyspace, column_family, key]
    }

    #[test]
    fn keys_and_column_families_are_found_in_arguments() {
        let found = |keyspace: &str, family: &str, key: &str| [keyspace, family, key].map(str::to_owned);
        let path = json!({"column_family": "Posts", "column": "title"});
        let get = json!({"keyspace": "Blog", "key": "jonas", "column_path": path});
        assert_eq!(place(&get), found("Blog", "Posts", "jonas"));
        let several = json!({"keys": [7, "b"], "column_parent": {"column_family": "Posts"}});
        assert_eq!(place(&several), found("", "Posts", "7"));
        let batch = json!({"mutation_map": {"jonas": {"Posts": [{"column": "x"}]}}});
        assert_eq!(place(&batch), found("", "Posts", "jonas"));
        let old = json!({"tablename": "Blog", "key": "jonas", "columnFamily_column": "Posts:title"});
        assert_eq!(place(&old), found("Blog", "Posts", "jonas"));
        let range =
            json!({"range": {"start_key": "a", "count": 5}, "column_parent": {"column_family": "Posts"}});
        assert_eq!(place(&range), found("", "Posts", "a"));
        assert_eq!(place(&json!({})), found("", "", ""));
    }

    #[test]
    fn statements_are_cut_and_passwords_hidden() {
        let shown = summary(&json!({"query": "CREATE USER anna WITH PASSWORD 'secret'"}));
        assert!(!shown.statement.contains("secret") && shown.statement.starts_with("CREATE USER"));
        let shown = summary(&json!({"query": "é".repeat(5000)}));
        assert_eq!(shown.statement.chars().count(), SUMMARY_CHARS_MAX + 1);
    }

    #[test]
    fn nothing_found_is_no_error() {
        assert_eq!(crate::Error::NotFound.to_string(), NOT_FOUND);
        let error = kind_of(RequestOutcome::NotFound);
        assert_eq!(error.as_deref(), Some(NOT_FOUND));
        let shown = RequestSummary::of(&JournalEntry { error, ..JournalEntry::default() });
        assert_eq!((shown.error.as_str(), shown.result.as_str()), ("", NOT_FOUND));
    }

    #[test]
    fn results_are_shown_in_words() {
        let result = JournalResult { rows: Some(1), columns: Some(2), applied: Some(false) };
        assert_eq!(shown_result(result), "1 row, 2 columns, not applied");
    }
}
