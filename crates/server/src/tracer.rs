//! Records the trace of a request with the TRACING flag.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::IpAddr;
use std::time::Instant;

use parking_lot::Mutex;

use base::model::BoundValue;
use base::util::hex;
use cql::values::append_uuid;
use cql::{Outcome, QueryOptions};
use cql_syntax::{Dialect, Secrets, without_secrets};
use db::{Database, Trace, TraceEvent};

/// Bytes of a bound value that a trace shows.
const VALUE_BYTES_SHOWN: usize = 64;
/// Bound values of a statement that a trace shows.
const VALUES_SHOWN: usize = 32;

/// Records the steps of a request. A request without the TRACING flag costs nothing.
pub(crate) struct Tracer<'a>(Option<Box<Mutex<OpenTrace<'a>>>>);

struct OpenTrace<'a> {
    database: &'a Database,
    started: Instant,
    trace: Trace,
    /// The trace shows neither bound values nor the error, because they may have a password.
    is_secret: bool,
}

impl<'a> Tracer<'a> {
    /// Returns the tracer of a request without a trace.
    pub(crate) fn none() -> Tracer<'a> {
        Tracer(None)
    }

    /// Begins a trace. `request` has Cassandra's words for the kind of request.
    pub(crate) fn begin(database: &'a Database, request: &'static str, client: IpAddr) -> Tracer<'a> {
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
        let open = OpenTrace { database, started: Instant::now(), trace, is_secret: false };
        Tracer(Some(Box::new(Mutex::new(open))))
    }

    fn record(&self, record: impl FnOnce(&mut OpenTrace<'a>)) {
        if let Some(open) = &self.0 {
            record(&mut open.lock());
        }
    }

    /// Records the parameters of a statement.
    pub(crate) fn options(&self, options: &QueryOptions) {
        self.record(|open| {
            open.parameter("consistency_level", options.consistency.to_string());
            open.parameter("serial_consistency_level", options.serial_consistency.to_string());
            if let Some(size) = options.page_size {
                open.parameter("page_size", size.to_string());
            }
            let values_shown = if open.is_secret { 0 } else { VALUES_SHOWN };
            for (at, value) in options.values.iter().enumerate().take(values_shown) {
                open.parameter(&format!("bound_var_{at}"), shown_value(value));
            }
        });
    }

    /// Records the statement, and the first step `doing`.
    pub(crate) fn statement(&self, doing: &str, text: &str) {
        self.record(|open| {
            open.is_secret = Secrets::of(text, Dialect::Cql3).is_some_and(|secrets| secrets.are_in_values);
            let text = without_secrets(text);
            let shown = Trace::beginning(&text);
            open.parameter("query", shown.to_owned());
            open.step(format!("{doing} {shown}"));
        });
    }

    /// Records a step.
    pub(crate) fn step(&self, activity: impl FnOnce() -> String) {
        self.record(|open| open.step(activity()));
    }

    /// Records the outcome.
    pub(crate) fn outcome(&self, outcome: &Outcome) {
        self.step(|| match outcome {
            Outcome::Void | Outcome::Warned(_) => "Done".to_owned(),
            Outcome::Rows(rows) => format!("Read {} rows", rows.rows.len()),
            Outcome::Keyspace(keyspace) => format!("Using keyspace {keyspace}"),
            Outcome::Schema(_) => "Schema changed".to_owned(),
        });
    }

    /// Records why the request failed, if it did, and stores the trace. Returns its id.
    #[inline]
    pub(crate) fn end(self, error: Option<&dyn Display>) -> Option<[u8; 16]> {
        Some(self.0?.into_inner().end(error))
    }
}

impl OpenTrace<'_> {
    fn parameter(&mut self, name: &str, value: String) {
        self.trace.parameters.insert(name.to_owned(), value);
    }

    fn step(&mut self, activity: String) {
        let elapsed_us = micros(self.started);
        self.trace.events.push(TraceEvent { id: append_uuid(self.database), activity, elapsed_us });
    }

    fn end(mut self, error: Option<&dyn Display>) -> [u8; 16] {
        match error {
            None => {}
            Some(_) if self.is_secret => self.step("Failed".to_owned()),
            Some(error) => self.step(format!("Failed: {error}")),
        }
        let OpenTrace { database, started, mut trace, .. } = self;
        trace.duration_us = micros(started);
        let id = trace.id;
        database.traces().keep(trace);
        id
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
