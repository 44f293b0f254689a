//! The content types of replies.

/// One value in JSON, on one line.
pub(super) const JSON: &str = "application/json";
/// Lines, each with an object in JSON.
pub(super) const JSON_LINES: &str = "application/x-ndjson";
