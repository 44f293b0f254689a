//! Reads recordings that are lines of JSON, such as in `tests/recordings`.
//!
//! The first line is a header. Each further line is a call that ends before the next one begins: `m` is the method, `a`
//! its arguments, `r` the reply, and `c` the connection, if there are several.
//!
//! ```text
//!   {"framed": true, "recorded_from": "Cassandra 1.2.15"}
//!   {"m": "get_count", "a": {"1": {"t": "k"}}, "r": ["reply", {"0": {"i": 0}}], "c": 1}
//! ```
//!
//! A reply `any error` becomes an internal error, with which any error is equal. `any reply` becomes a reply without a
//! result: it is of methods whose results are not compared.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde_json::Value as Json;

use super::value::{Fields, Value, fields_from_json};
use super::{Event, EventKind, Protocol, ThriftMessage, TrafficError};
use crate::limits::JSON_LINE_BYTES_MAX;
use wire::thrift::MessageKind;

/// Microseconds between the events of a file, which has no times.
const STEP_US: i64 = 1_000;
/// The kind of a TApplicationException for a failure inside the server.
const INTERNAL_ERROR: i32 = 6;

/// Iterates over the events of a file of JSON lines.
#[derive(Debug)]
pub struct JsonLines {
    file: BufReader<File>,
    path: PathBuf,
    /// The number of the line that is read next, from 1.
    line: u64,
    is_framed: bool,
    upstream: String,
    connections: BTreeSet<u64>,
    calls: u64,
    now_us: i64,
    /// The events of a line that were not returned yet.
    ready: Vec<Event>,
    has_failed: bool,
}

impl JsonLines {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the first line is not a header.
    pub fn open(path: &Path) -> Result<JsonLines, TrafficError> {
        let file = File::open(path);
        let file = file.map_err(|why| TrafficError::Unreadable { file: path.to_owned(), why })?;
        let mut lines = JsonLines {
            file: BufReader::new(file),
            path: path.to_owned(),
            line: 1,
            is_framed: false,
            upstream: String::new(),
            connections: BTreeSet::new(),
            calls: 0,
            now_us: 0,
            ready: Vec::new(),
            has_failed: false,
        };
        let header = lines.next_json()?.ok_or_else(|| lines.wrong("the file is empty"))?;
        if !header.is_object() || header.get("m").is_some() {
            return Err(lines.wrong("the first line is no header"));
        }
        lines.is_framed = header.get("framed").and_then(Json::as_bool).unwrap_or(false);
        lines.upstream = header.get("recorded_from").and_then(Json::as_str).unwrap_or_default().to_owned();
        Ok(lines)
    }

    /// Returns the server that answered, as the header has it.
    pub fn upstream(&self) -> &str {
        &self.upstream
    }

    /// Returns an error at the line that was read last.
    fn wrong(&self, why: impl Into<String>) -> TrafficError {
        TrafficError::Json { file: self.path.clone(), line: self.line.saturating_sub(1), why: why.into() }
    }

    /// Reads the next line that is not empty; `None` at the end.
    fn next_json(&mut self) -> Result<Option<Json>, TrafficError> {
        loop {
            let mut text = Vec::new();
            let limit = JSON_LINE_BYTES_MAX as u64 + 1;
            let read = (&mut self.file).take(limit).read_until(b'\n', &mut text);
            read.map_err(|why| TrafficError::Unreadable { file: self.path.clone(), why })?;
            self.line += 1;
            if text.is_empty() {
                return Ok(None);
            }
            if text.len() > JSON_LINE_BYTES_MAX {
                return Err(self.wrong(format!("it is longer than {JSON_LINE_BYTES_MAX} bytes")));
            }
            if !text.trim_ascii().is_empty() {
                return serde_json::from_slice(&text)
                    .map(Some)
                    .map_err(|error| self.wrong(error.to_string()));
            }
        }
    }

    /// Adds the events of a call.
    fn add_call(&mut self, json: &Json) -> Result<(), TrafficError> {
        let method = json.get("m").and_then(Json::as_str);
        let method = method.ok_or_else(|| self.wrong("the call has no method (m)"))?;
        let connection = json.get("c").and_then(Json::as_u64).unwrap_or(0);
        let fields = |json: Option<&Json>| {
            fields_from_json(json.unwrap_or(&Json::Null)).map_err(|error| self.wrong(error.to_string()))
        };
        let reply = json.get("r").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        let (kind, result) = match reply.first().and_then(Json::as_str) {
            Some("reply") => (MessageKind::Reply, fields(reply.get(1))?),
            Some("exception") => (MessageKind::Exception, fields(reply.get(1))?),
            Some("any reply") => (MessageKind::Reply, Fields::new()),
            Some("any error") => (
                MessageKind::Exception,
                Fields::from([
                    (1, Value::Binary(Bytes::from(format!("Internal error processing {method}")))),
                    (2, Value::I32(INTERNAL_ERROR)),
                ]),
            ),
            _ => return Err(self.wrong("the reply (r) is none of reply, exception, any reply and any error")),
        };
        let call = self.calls;
        let name = Bytes::copy_from_slice(method.as_bytes());
        let request =
            ThriftMessage { name, kind: MessageKind::Call, seqid: 0, fields: fields(json.get("a"))? };
        let reply = ThriftMessage { kind, fields: result, ..request.clone() };
        if self.connections.insert(connection) {
            let protocol = Protocol::Thrift { is_framed: self.is_framed };
            let (client, upstream) = (String::new(), self.upstream.clone());
            self.add(connection, EventKind::Opened { protocol, client, upstream });
        }
        self.calls += 1;
        self.add(connection, EventKind::Request { call, message: request.write() });
        self.add(connection, EventKind::Reply { call, message: reply.write() });
        Ok(())
    }

    fn add(&mut self, connection: u64, kind: EventKind) {
        self.now_us += STEP_US;
        self.ready.push(Event { at_us: self.now_us, connection, kind });
    }
}

impl Iterator for JsonLines {
    type Item = Result<Event, TrafficError>;

    fn next(&mut self) -> Option<Result<Event, TrafficError>> {
        if self.has_failed {
            return None;
        }
        if self.ready.is_empty() {
            let read = self.next_json().and_then(|json| match json {
                Some(json) => self.add_call(&json),
                None => Ok(()),
            });
            if let Err(error) = read {
                self.has_failed = true;
                return Some(Err(error));
            }
        }
        if self.ready.is_empty() { None } else { Some(Ok(self.ready.remove(0))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Event>, TrafficError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.jsonl");
        std::fs::write(&path, text).unwrap();
        JsonLines::open(&path)?.collect()
    }

    #[test]
    fn calls_become_events() {
        let call = r#"{"m": "get_count", "a": {"1": {"t": "k"}}, "r": ["reply", {"0": {"i": 0}}], "c": 3}"#;
        let error = r#"{"m": "get", "a": {}, "r": ["any error", {}]}"#;
        let events = read(&format!("{{\"framed\": true}}\n{call}\n\n{error}\n{call}")).unwrap();
        assert_eq!(events.len(), 8, "two connections and three calls");
        let protocol = Protocol::Thrift { is_framed: true };
        assert!(matches!(&events[0].kind, EventKind::Opened { protocol: of, .. } if *of == protocol));
        let EventKind::Reply { call: 0, message } = &events[2].kind else { unreachable!("no reply") };
        let reply = ThriftMessage::read(message).unwrap();
        assert_eq!(reply.fields, Fields::from([(0, Value::I32(0))]));
        let EventKind::Reply { call: 1, message } = &events[5].kind else { unreachable!("no reply") };
        assert_eq!(ThriftMessage::read(message).unwrap().kind, MessageKind::Exception);
    }

    #[test]
    fn mistakes_name_their_line() {
        for (text, expected) in [
            ("", "line 1"),
            ("[]", "line 1"),
            ("{}\n{", "line 2"),
            ("{}\n{\"m\": 5}", "line 2"),
            ("{}\n{\"m\": \"get\", \"a\": {}, \"r\": [\"maybe\"]}", "line 2"),
            ("{}\n\n{\"m\": \"get\", \"a\": {\"1\": 5}, \"r\": [\"reply\", {}]}", "line 3"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
