//! A request as a line of the page.

use serde::Serialize;

use crate::pages::home::count;
use crate::present::escaped;
use base::compat::features::ApiGeneration;
use base::marshal::timestamp_text;
use db::activity::RequestSummary;

/// The texts of a line, without anything that cannot be seen. The script of the page reads the same fields as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ShownRequest {
    /// The time of day, or the date with it, or a word.
    pub at: String,
    pub method: String,
    /// The API generation, or the protocol.
    pub generation: &'static str,
    /// Keyspace and column family.
    pub place: String,
    /// The row key, or the statement.
    pub key: String,
    pub result: String,
    pub has_failed: bool,
    pub micros: String,
    pub client: String,
}

impl ShownRequest {
    /// Shows a request with the time of day.
    pub(super) fn of(request: &RequestSummary) -> ShownRequest {
        let date = timestamp_text(request.at_ms);
        // The journal has no times.
        let time = date.get(11..23).filter(|_| request.at_ms > 0).unwrap_or("earlier");
        ShownRequest::at(time.to_owned(), request)
    }

    /// Shows a request with its date.
    pub(super) fn with_date(request: &RequestSummary) -> ShownRequest {
        ShownRequest::at(timestamp_text(request.at_ms), request)
    }

    fn at(at: String, request: &RequestSummary) -> ShownRequest {
        let shown = |text: &str| escaped(text.as_bytes());
        let place = match (request.keyspace.as_str(), request.column_family.as_str()) {
            ("", family) => shown(family),
            (keyspace, "") => shown(keyspace),
            (keyspace, family) => format!("{}.{}", shown(keyspace), shown(family)),
        };
        let key = if request.statement.is_empty() { &request.key } else { &request.statement };
        let has_failed = !request.error.is_empty();
        let result = match (has_failed, request.result.as_str()) {
            (true, _) => shown(&request.error),
            (false, "") => "ok".to_owned(),
            (false, result) => result.to_owned(),
        };
        ShownRequest {
            at,
            method: shown(&request.method),
            generation: match request.generation {
                Some(ApiGeneration::WithTextPaths) => "0.3",
                Some(ApiGeneration::WithKeyspace) => "0.4 to 0.6",
                Some(ApiGeneration::AfterSetKeyspace) => "0.7 to 2.1",
                None => "native",
            },
            place,
            key: shown(key),
            result,
            has_failed,
            micros: count(request.micros),
            client: shown(&request.client),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_send_can_be_seen() {
        let request = RequestSummary {
            at_ms: 1_250_558_130_123,
            method: "get".to_owned(),
            generation: Some(ApiGeneration::WithKeyspace),
            keyspace: "Blog".to_owned(),
            column_family: "Posts".to_owned(),
            key: "a\n\u{202e}b".to_owned(),
            micros: 12_345,
            ..RequestSummary::default()
        };
        let shown = ShownRequest::of(&request);
        assert_eq!(shown.at, "01:15:30.123");
        assert_eq!((shown.place.as_str(), shown.key.as_str()), ("Blog.Posts", "a\\n\\u{202e}b"));
        assert_eq!((shown.result.as_str(), shown.micros.as_str()), ("ok", "12,345"));
        let failed = RequestSummary { error: "no\0".to_owned(), ..request };
        let shown = ShownRequest::with_date(&failed);
        assert_eq!((shown.result.as_str(), shown.has_failed), ("no\\0", true));
        assert_eq!(shown.at, "2009-08-18 01:15:30.123Z");
    }
}
