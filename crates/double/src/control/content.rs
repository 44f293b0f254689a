//! The content types of replies.

/// One value in JSON, on one line.
pub const JSON: &str = "application/json";
/// Lines, each with an object in JSON.
pub const JSON_LINES: &str = "application/x-ndjson";
