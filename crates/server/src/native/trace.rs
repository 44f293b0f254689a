//! Records the trace of a request with the TRACING flag.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Instant;

use super::error::NativeError;
use base::model::BoundValue;
use base::util::hex;
use cql::values::append_uuid;
use cql::{Outcome, QueryOptions};
use cql_syntax::{Dialect, Secrets, without_secrets};
use db::limits::TRACE_TEXT_BYTES_MAX;
use db::{Database, Trace, TraceEvent};
use wire::native::RequestCode;

/// Bytes of a bound value that a trace shows.
const VALUE_BYTES_SHOWN: usize = 64;

/// Records the steps of a request. A request without the TRACING flag costs nothing.
pub struct Tracer<'a> {
    open: Option<Open<'a>>,
}

struct Open<'a> {
    database: &'a Database,
    started: Instant,
    trace: Trace,
    /// The trace shows neither bound values nor the error, because they may have a password.
    is_secret: bool,
}

impl<'a> Tracer<'a> {
    /// Returns the tracer of a request without a trace.
    pub fn none() -> Tracer<'a> {
        Tracer { open: None }
    }

    /// Begins a trace.
    pub fn begin(database: &'a Database, code: RequestCode, client: IpAddr) -> Tracer<'a> {
        let request = match code {
            RequestCode::Query => "Execute CQL3 query",
            RequestCode::Prepare => "Preparing CQL3 query",
            RequestCode::Execute => "Execute CQL3 prepared query",
            _ => "Execute batch of CQL3 queries",
        };
        let trace = Trace {
            id: append_uuid(database),
            client,
            command: "QUERY",
            request,
            parameters: BTreeMap::new(),
            started_at_ms: database.clock().now_ms(),
            duration_us: 0,
            events: Vec::new(),
        };
        Tracer { open: Some(Open { database, started: Instant::now(), trace, is_secret: false }) }
    }

    /// Records the parameters of a statement.
    pub fn options(&mut self, options: &QueryOptions) {
        self.parameter("consistency_level", || options.consistency.to_string());
        self.parameter("serial_consistency_level", || options.serial_consistency.to_string());
        if let Some(size) = options.page_size {
            self.parameter("page_size", || size.to_string());
        }
        for (at, value) in options.values.iter().enumerate().take(self.values_shown()) {
            self.parameter(&format!("bound_var_{at}"), || shown_value(value));
        }
    }

    fn values_shown(&self) -> usize {
        const VALUES_SHOWN: usize = 32;
        if self.open.as_ref().is_some_and(|open| !open.is_secret) { VALUES_SHOWN } else { 0 }
    }

    /// Records the statement, and the first step `doing`.
    pub fn statement(&mut self, doing: &str, text: &str) {
        let Some(open) = &mut self.open else { return };
        open.is_secret = Secrets::of(text, Dialect::Cql3).is_some_and(|secrets| secrets.are_in_values);
        let text = without_secrets(text);
        let mut end = text.len().min(TRACE_TEXT_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let shown = &text[..end];
        self.parameter("query", || shown.to_owned());
        self.step(|| format!("{doing} {shown}"));
    }

    fn parameter(&mut self, name: &str, value: impl FnOnce() -> String) {
        if let Some(open) = &mut self.open {
            open.trace.parameters.insert(name.to_owned(), value());
        }
    }

    /// Records a step.
    pub fn step(&mut self, activity: impl FnOnce() -> String) {
        if let Some(open) = &mut self.open {
            let elapsed_us = micros(open.started);
            let id = append_uuid(open.database);
            open.trace.events.push(TraceEvent { id, activity: activity(), elapsed_us });
        }
    }

    /// Records why the request failed.
    pub fn failure(&mut self, error: &NativeError) {
        let is_secret = self.open.as_ref().is_some_and(|open| open.is_secret);
        self.step(|| if is_secret { "Failed".to_owned() } else { format!("Failed: {error}") });
    }

    /// Records the outcome.
    pub fn outcome(&mut self, outcome: &Outcome) {
        self.step(|| match outcome {
            Outcome::Void | Outcome::Warned(_) => "Done".to_owned(),
            Outcome::Rows(rows) => format!("Read {} rows", rows.rows.len()),
            Outcome::Keyspace(keyspace) => format!("Using keyspace {keyspace}"),
            Outcome::Schema(_) => "Schema changed".to_owned(),
        });
    }

    /// Stores the trace. Returns its id.
    pub fn end(self) -> Option<[u8; 16]> {
        let Open { database, started, mut trace, .. } = self.open?;
        trace.duration_us = micros(started);
        let id = trace.id;
        database.traces().keep(trace);
        Some(id)
    }
}

/// Returns the first bytes of a value as text.
fn shown_value(value: &BoundValue) -> String {
    match value {
        BoundValue::Null => "null".to_owned(),
        BoundValue::Unset => "unset".to_owned(),
        BoundValue::Value(bytes) => {
            let first = &bytes[..bytes.len().min(VALUE_BYTES_SHOWN)];
            format!("0x{}{}", hex(first), if first.len() < bytes.len() { "..." } else { "" })
        }
    }
}

fn micros(started: Instant) -> i32 {
    i32::try_from(started.elapsed().as_micros()).unwrap_or(i32::MAX)
}
