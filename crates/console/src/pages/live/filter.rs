//! The filter of the requests on the page.

use std::fmt::Write;

use serde::Deserialize;

use crate::failure::{AdminError, Result, invalid};
use db::activity::RequestSummary;

/// The fields of the form. Empty ones ask for nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LiveQuery {
    pub method: String,
    pub keyspace: String,
    pub family: String,
    pub client: String,
    /// `ok` or `failed`.
    pub outcome: String,
    /// Milliseconds.
    pub slower: String,
    /// Not empty: the page waits some seconds for requests, and shows them.
    pub watch: String,
}

/// The filter of requests: it shows those that meet all conditions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LiveFilter {
    method: String,
    keyspace: String,
    family: String,
    client: String,
    has_failed: Option<bool>,
    micros_min: f64,
}

impl LiveQuery {
    /// Returns the filter.
    ///
    /// # Errors
    /// If a field has another form.
    pub(crate) fn filter(&self) -> Result<LiveFilter> {
        let lower = |text: &str| text.trim().to_lowercase();
        let has_failed = match self.outcome.as_str() {
            "" => None,
            "ok" => Some(false),
            "failed" => Some(true),
            _ => return invalid("outcome is ok, failed, or empty for both"),
        };
        let slower = self.slower.trim();
        let millis = if slower.is_empty() { Some(0.0) } else { slower.parse::<f64>().ok() };
        let millis = millis.filter(|millis| millis.is_finite() && *millis >= 0.0);
        let micros_min = 1000.0
            * millis.ok_or_else(|| AdminError::invalid("slower is a number of milliseconds, such as 2.5"))?;
        let (method, keyspace) = (lower(&self.method), lower(&self.keyspace));
        let (family, client) = (lower(&self.family), lower(&self.client));
        Ok(LiveFilter { method, keyspace, family, client, has_failed, micros_min })
    }

    /// Returns the fields as the query of an address.
    pub(crate) fn encoded(&self) -> String {
        let fields = [
            ("method", &self.method),
            ("keyspace", &self.keyspace),
            ("family", &self.family),
            ("client", &self.client),
            ("outcome", &self.outcome),
            ("slower", &self.slower),
        ];
        let mut out = String::new();
        for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
            let between = if out.is_empty() { "" } else { "&" };
            let Ok(value) = askama::filters::urlencode_strict(value);
            // Writing to a `String` cannot fail.
            let _ = write!(out, "{between}{name}={value}");
        }
        out
    }
}

impl LiveFilter {
    /// Returns whether a request meets all conditions of the filter.
    pub(crate) fn admits(&self, request: &RequestSummary) -> bool {
        let is_method = self.method.is_empty() || request.method.eq_ignore_ascii_case(&self.method);
        is_method
            && names(&self.keyspace, &request.keyspace, &request.statement)
            && names(&self.family, &request.column_family, &request.statement)
            && (self.client.is_empty() || is_client(&self.client, &request.client))
            && self.has_failed.is_none_or(|failed| failed != request.error.is_empty())
            && request.micros as f64 >= self.micros_min
    }
}

/// Returns whether a request is about a keyspace or column family, in any letter case: by its field, or if that is
/// empty, by a word of its statement.
fn names(wanted: &str, field: &str, statement: &str) -> bool {
    let is_wanted = |name: &str| name.to_lowercase() == wanted;
    let mut words = statement.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    wanted.is_empty() || is_wanted(field) || (field.is_empty() && words.any(is_wanted))
}

/// Returns whether a client has an address, which may lack the port and the brackets of IPv6.
fn is_client(wanted: &str, client: &str) -> bool {
    let host = client.rsplit_once(':').map_or(client, |(host, _)| host);
    [client, host, host.trim_matches(['[', ']'])].contains(&wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(name: &str, value: &str) -> LiveQuery {
        serde_json::from_value(serde_json::json!({name: value})).unwrap()
    }

    #[test]
    fn a_request_must_meet_all_conditions() {
        let request = RequestSummary {
            method: "get_slice".to_owned(),
            keyspace: "Blog".to_owned(),
            column_family: "Posts".to_owned(),
            client: "10.0.0.7:1234".to_owned(),
            micros: 2500,
            ..RequestSummary::default()
        };
        for (name, value, expected) in [
            ("method", "", true),
            ("method", "GET_SLICE", true),
            ("method", "slice", false),
            ("keyspace", "blog", true),
            ("keyspace", "blo", false),
            ("family", "posts", true),
            ("family", "post", false),
            ("client", "10.0.0.7", true),
            ("client", "10.0.0.7:1234", true),
            ("client", "10.0.0", false),
            ("outcome", "ok", true),
            ("outcome", "failed", false),
            ("slower", "2.5", true),
            ("slower", "2.6", false),
        ] {
            let filter = query(name, value).filter().unwrap();
            assert_eq!(filter.admits(&request), expected, "{name}={value}");
        }
        let text = "SELECT * FROM blog.\"Posts\"".to_owned();
        let statement =
            RequestSummary { statement: text, client: "[::1]:5".to_owned(), ..Default::default() };
        for (name, value, expected) in [
            ("family", "Posts", true),
            ("family", "post", false),
            ("keyspace", "Blog", true),
            ("client", "::1", true),
        ] {
            assert_eq!(query(name, value).filter().unwrap().admits(&statement), expected, "{name}={value}");
        }
    }

    #[test]
    fn wrong_fields_are_refused() {
        for (name, value) in [("outcome", "good"), ("slower", "x"), ("slower", "-1"), ("slower", "inf")] {
            assert!(query(name, value).filter().is_err(), "{name}={value}");
        }
    }

    #[test]
    fn the_stream_has_the_fields_of_the_form() {
        let query = LiveQuery { method: "a&b".to_owned(), slower: "5".to_owned(), ..LiveQuery::default() };
        assert_eq!(query.encoded(), "method=a%26b&slower=5");
        assert_eq!(LiveQuery::default().encoded(), "");
    }
}
