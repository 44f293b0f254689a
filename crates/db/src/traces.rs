//! The traces of the most recent requests that asked for tracing, in memory.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::limits::{TRACE_TEXT_BYTES_MAX, TRACES_MAX};

/// A traced request. Ids are version 1 UUIDs.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The id of the trace, which the client receives.
    pub id: [u8; 16],
    /// The address of the client.
    pub client: IpAddr,
    /// The kind of request: `QUERY`.
    pub command: &'static str,
    /// The request in Cassandra's words: `Execute CQL3 query`.
    pub request: &'static str,
    /// The parameters of the request, such as its statement.
    pub parameters: BTreeMap<String, String>,
    /// Milliseconds since 1970.
    pub started_at_ms: i64,
    /// The duration of the request, in microseconds.
    pub duration_us: i32,
    /// The steps, in the order of time.
    pub events: Vec<TraceEvent>,
}

impl Trace {
    /// Returns the beginning of a text, as long as a trace stores it.
    pub fn beginning(text: &str) -> &str {
        let mut end = text.len().min(TRACE_TEXT_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        &text[..end]
    }
}

/// A step of a traced request.
#[derive(Debug, Clone)]
pub struct TraceEvent {
    /// The id of the step.
    pub id: [u8; 16],
    /// The description of the step.
    pub activity: String,
    /// Microseconds since the start of the request.
    pub elapsed_us: i32,
}

/// The most recent traces, the oldest first.
#[derive(Debug, Default)]
pub struct Traces(Mutex<VecDeque<Arc<Trace>>>);

impl Traces {
    /// Stores a trace. Long texts are truncated, and the oldest trace is removed if there are too many.
    pub fn keep(&self, mut trace: Trace) {
        trace.parameters.values_mut().for_each(cut);
        trace.events.iter_mut().for_each(|event| cut(&mut event.activity));
        let mut traces = self.0.lock();
        if traces.len() >= TRACES_MAX {
            traces.pop_front();
        }
        traces.push_back(Arc::new(trace));
        assert!(traces.len() <= TRACES_MAX, "clients cannot make more traces");
    }

    /// Removes all traces.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// Returns all stored traces.
    pub fn all(&self) -> Vec<Arc<Trace>> {
        self.0.lock().iter().cloned().collect()
    }
}

fn cut(text: &mut String) {
    let end = Trace::beginning(text).len();
    if end < text.len() {
        text.truncate(end);
        text.push_str("...");
        text.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Database, DatabaseParts};
    use base::partitioner;
    use base::schema::Catalog;
    use base::util::Clock;
    use embedded::EmbeddedStore;

    #[test]
    fn only_the_last_traces_are_stored_and_long_texts_are_cut() {
        let (catalog, clock) = (Arc::new(Catalog::default()), Arc::new(Clock::system()));
        let random = partitioner::resolve("RandomPartitioner").unwrap();
        let store = Arc::new(EmbeddedStore::in_memory(random.clone(), &catalog, clock.clone()).unwrap());
        let database = Database::new(DatabaseParts::new(catalog, store, random, clock));
        for number in 0..=TRACES_MAX {
            database.traces().keep(Trace {
                id: [0; 16],
                client: IpAddr::from([127, 0, 0, 1]),
                command: "QUERY",
                request: "Execute CQL3 query",
                parameters: BTreeMap::from([("query".to_owned(), "x".repeat(TRACE_TEXT_BYTES_MAX + 1))]),
                started_at_ms: i64::try_from(number).unwrap(),
                duration_us: 1,
                events: Vec::new(),
            });
        }
        let traces = database.traces().all();
        assert_eq!((traces.len(), traces[0].started_at_ms), (TRACES_MAX, 1), "the oldest is gone");
        assert_eq!(traces[0].parameters["query"], format!("{}...", "x".repeat(TRACE_TEXT_BYTES_MAX)));
    }
}
