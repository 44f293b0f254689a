//! A line of the log of requests.

use serde::Serialize;
use serde_json::Value;

use crate::faults::JournalEntry;
use base::marshal::timestamp_text;

/// A line: when the request ended, and the request.
#[derive(Serialize)]
struct LogLine<'a> {
    /// In UTC.
    at: String,
    #[serde(flatten)]
    entry: &'a JournalEntry,
}

/// Returns the line of a request in JSON, without a line break. JSON escapes control characters, so what clients send
/// begins no line.
pub(super) fn line_of(entry: &JournalEntry, at_ms: i64) -> String {
    let line = serde_json::to_value(LogLine { at: timestamp_text(at_ms), entry });
    line.map_or_else(|_| String::new(), |line: Value| line.to_string())
}
