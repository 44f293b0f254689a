//! `/requests/stream`: requests of clients as they end, one JSON object on each line.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::call::{ControlCall, NoBody};
use super::conditions::check_condition;
use super::content::JSON_LINES;
use super::json::Json;
use super::route::Output;
use crate::control::Result;
use db::faults::{Condition, JournalEntry, SoughtRequests};

/// The time without a request after which an empty line is sent: so the server finds out that the client has left.
const SILENCE: Duration = Duration::from_secs(10);

/// The request of `POST /requests/stream`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StreamRequest {
    /// The condition of the requests; all requests if nothing is given. A key is compared with the text in the journal.
    pub when: Condition,
    /// The arguments that the requests contain: objects have at least these fields, lists these elements in this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
}

/// A line of the stream.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StreamLine<'a> {
    /// A request that has ended.
    Request(&'a JournalEntry),
    /// The client reads too slowly.
    Missed {
        /// The number of requests, also of those that do not meet the condition, that the stream leaves out here.
        missed: u64,
    },
}

/// The requests that meet a condition, from now on.
pub struct RequestStream {
    entries: Receiver<Arc<JournalEntry>>,
    sought: SoughtRequests,
    /// The time until an empty line.
    silence: Duration,
    /// Changes when the stream ends.
    ending: watch::Receiver<bool>,
}

impl Output for RequestStream {
    const CONTENT_TYPE: &'static str = JSON_LINES;

    fn described(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<StreamLine<'_>>()
    }
}

impl IntoResponse for RequestStream {
    fn into_response(self) -> Response {
        let headers = [(CONTENT_TYPE, JSON_LINES), (CACHE_CONTROL, "no-store")];
        (headers, Body::from_stream(self.lines())).into_response()
    }
}

impl RequestStream {
    fn lines(self) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
        unfold((self.ending.clone(), self), |(mut ending, mut stream)| async move {
            let line = tokio::select! {
                line = stream.next_line() => line?,
                _ = ending.changed() => return None,
            };
            Some((Ok(line), (ending, stream)))
        })
    }

    /// Waits for the next line; an empty one after a long silence.
    async fn next_line(&mut self) -> Option<Bytes> {
        // Requests that are left out do not end the silence.
        let silence_ends = Instant::now() + self.silence;
        loop {
            let Ok(next) = timeout_at(silence_ends, self.entries.recv()).await else {
                return Some(Bytes::from_static(b"\n"));
            };
            let line = match &next {
                Ok(entry) if self.sought.includes(entry) => StreamLine::Request(entry),
                Ok(_) => continue,
                Err(RecvError::Lagged(missed)) => StreamLine::Missed { missed: *missed },
                Err(RecvError::Closed) => return None,
            };
            let mut line = serde_json::to_vec(&line).unwrap_or_default();
            line.push(b'\n');
            return Some(line.into());
        }
    }
}

pub(super) async fn all(call: ControlCall<NoBody>) -> Result<RequestStream> {
    let (entries, ending) = (call.control.faults()?.journal.follow(), call.connection.ending);
    Ok(RequestStream { entries, sought: SoughtRequests::default(), silence: SILENCE, ending })
}

pub(super) async fn some(call: ControlCall<Json<StreamRequest>>) -> Result<RequestStream> {
    let (entries, ending) = (call.control.faults()?.journal.follow(), call.connection.ending);
    let StreamRequest { when, arguments } = call.body.0;
    check_condition(&when)?;
    Ok(RequestStream { entries, sought: SoughtRequests { when, arguments }, silence: SILENCE, ending })
}

#[cfg(test)]
mod tests {
    use tokio::sync::broadcast;

    use super::*;

    fn entry(number: u64, method: &str) -> Arc<JournalEntry> {
        let json =
            format!(r#"{{"number": {number}, "protocol": "thrift", "method": "{method}", "micros": 1}}"#);
        Arc::new(serde_json::from_str(&json).unwrap())
    }

    #[tokio::test]
    async fn a_slow_reader_misses_requests_and_is_told_how_many() {
        let (sender, entries) = broadcast::channel(4);
        let when = serde_json::from_str(r#"{"method": "get"}"#).unwrap();
        let (sought, ending) = (SoughtRequests { when, arguments: None }, watch::channel(false).1);
        let mut stream = RequestStream { entries, sought, silence: SILENCE, ending };
        for number in 1..=10 {
            sender.send(entry(number, if number % 2 == 0 { "get" } else { "insert" })).unwrap();
        }
        let mut lines = Vec::new();
        drop(sender);
        while let Some(line) = stream.next_line().await {
            lines.push(serde_json::from_slice::<Value>(&line).unwrap());
        }
        assert_eq!(lines[0], serde_json::json!({"missed": 6}));
        let numbers: Vec<&Value> = lines[1..].iter().map(|line| &line["number"]).collect();
        assert_eq!(numbers, [8, 10]);
    }

    #[tokio::test]
    async fn a_silent_stream_has_empty_lines_until_it_ends() {
        let (_sender, entries) = broadcast::channel(4);
        let (sought, silence) = (SoughtRequests::default(), Duration::from_millis(1));
        let (end, ending) = watch::channel(false);
        let stream = RequestStream { entries, sought, silence, ending };
        let mut lines = std::pin::pin!(stream.lines());
        assert_eq!(futures_util::StreamExt::next(&mut lines).await.unwrap().unwrap(), "\n");
        end.send(true).unwrap();
        assert!(futures_util::StreamExt::next(&mut lines).await.is_none());
    }
}
