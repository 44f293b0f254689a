//! The errors that clients got, by their text.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::now_ms;
use super::summary::cut;
use crate::db::request_log::without_password;
use crate::util::limits::{ERROR_TEXTS_MAX, SUMMARY_CHARS_MAX};

/// How often clients got an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedError {
    /// The text of the error, or its beginning.
    pub text: String,
    /// How many requests got it.
    pub count: u64,
    /// When it came last, in milliseconds since 1970.
    pub last_ms: i64,
    /// The protocol of the last request that got it.
    pub protocol: &'static str,
    /// Its Thrift method, or its opcode of the native protocol.
    pub method: &'static str,
}

/// Errors by their text. The number of texts is bounded: a new one replaces the one that came least recently.
#[derive(Debug, Default)]
pub struct ErrorCounts {
    is_on: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    by_text: HashMap<String, CountedError>,
    /// Errors whose text was replaced.
    forgotten: u64,
}

impl ErrorCounts {
    /// Begins to collect.
    pub(super) fn begin(&self) {
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// Counts an error that a client got.
    pub fn add(&self, (protocol, method): (&'static str, &'static str), error: &dyn Display) {
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        let text = cut(without_password(error.to_string()), SUMMARY_CHARS_MAX);
        let mut state = self.state.lock();
        if state.by_text.len() >= ERROR_TEXTS_MAX && !state.by_text.contains_key(&text) {
            let oldest = state.by_text.values().min_by_key(|error| error.last_ms);
            if let Some(oldest) = oldest.map(|error| error.text.clone()) {
                let removed = state.by_text.remove(&oldest);
                state.forgotten += removed.map_or(0, |error| error.count);
            }
        }
        let counted = state.by_text.entry(text).or_insert_with_key(|text| CountedError {
            text: text.clone(),
            count: 0,
            last_ms: 0,
            protocol,
            method,
        });
        counted.count += 1;
        (counted.last_ms, counted.protocol, counted.method) = (now_ms(), protocol, method);
    }

    /// Returns the errors, most recent first, and the number of errors whose text was replaced.
    pub fn list(&self) -> (Vec<CountedError>, u64) {
        let state = self.state.lock();
        let mut errors: Vec<CountedError> = state.by_text.values().cloned().collect();
        errors.sort_by_key(|error| Reverse((error.last_ms, error.count)));
        (errors, state.forgotten)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: (&str, &str) = ("thrift", "get");

    #[test]
    fn errors_are_counted_by_their_text() {
        let errors = ErrorCounts::default();
        errors.add(GET, &"before");
        errors.begin();
        errors.add(GET, &"no keyspace A");
        errors.add(("native", "QUERY"), &"no keyspace A");
        errors.add(GET, &"x".repeat(100_000));
        let (listed, forgotten) = errors.list();
        assert_eq!((listed.len(), forgotten), (2, 0));
        let counted = listed.iter().find(|error| error.text == "no keyspace A").unwrap();
        assert_eq!((counted.count, counted.method), (2, "QUERY"));
        assert!(listed.iter().all(|error| error.text.chars().count() <= SUMMARY_CHARS_MAX + 1));
    }

    #[test]
    fn the_number_of_texts_is_bounded() {
        let errors = ErrorCounts::default();
        errors.begin();
        for number in 0..ERROR_TEXTS_MAX + 10 {
            errors.add(GET, &format_args!("no keyspace {number}"));
        }
        let (listed, forgotten) = errors.list();
        assert_eq!((listed.len(), forgotten), (ERROR_TEXTS_MAX, 10));
    }
}
