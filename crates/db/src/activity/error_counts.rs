//! The errors that clients got, by their text.
//!
//! Clients influence these texts, some of them before a login: a name that they send is part of many. So the number of
//! texts is bounded, and a client that makes new texts only replaces texts of the same method:
//!
//! ```text
//!   method        texts      a new text of "login" replaces
//!   get              30
//!   login           150      the text of login that came least recently
//!   unknown          20
//! ```

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::faults::cut;
use crate::limits::{ERROR_TEXTS_MAX, SUMMARY_CHARS_MAX};
use base::util::{system_ms, without_statement};

/// An error text that clients got, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedError {
    /// The text of the error, or its beginning.
    pub text: String,
    /// The number of requests that got it.
    pub count: u64,
    /// When it came last, in milliseconds since 1970.
    pub last_ms: i64,
    /// The protocol of the last request that got it.
    pub protocol: &'static str,
    /// Its Thrift method, or its opcode of the native protocol.
    pub method: &'static str,
}

/// Errors by their text. The number of texts is bounded: a new one replaces one of the method with the most texts, the one
/// that came least recently.
#[derive(Debug, Default)]
pub struct ErrorCounts {
    is_on: AtomicBool,
    state: Mutex<ErrorsByText>,
}

#[derive(Debug, Default)]
struct ErrorsByText {
    by_text: HashMap<String, CountedError>,
    /// Errors whose text was replaced.
    forgotten: u64,
}

impl ErrorsByText {
    /// Removes a text to make room for a new one of a method.
    fn forget_one(&mut self, protocol: &'static str, method: &'static str) {
        let new = (protocol, method);
        let mut texts = HashMap::from([(new, 1)]);
        for error in self.by_text.values() {
            *texts.entry((error.protocol, error.method)).or_insert(0) += 1;
        }
        // Of two methods with equally many texts, the method of the new text loses one.
        let largest = texts.into_iter().max_by_key(|(method, count)| (*count, *method == new));
        let Some((method, _)) = largest else { return };
        let of_method = self.by_text.values().filter(|error| (error.protocol, error.method) == method);
        let oldest = of_method.min_by_key(|error| error.last_ms).map(|error| error.text.clone());
        if let Some(removed) = oldest.and_then(|oldest| self.by_text.remove(&oldest)) {
            self.forgotten += removed.count;
        }
    }
}

impl ErrorCounts {
    /// Begins to collect.
    pub(super) fn begin(&self) {
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// Counts an error that a client got.
    pub fn add(&self, protocol: &'static str, method: &'static str, error: &dyn Display) {
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        let text = cut(without_statement(error.to_string()), SUMMARY_CHARS_MAX);
        let mut state = self.state.lock();
        if state.by_text.len() >= ERROR_TEXTS_MAX && !state.by_text.contains_key(&text) {
            state.forget_one(protocol, method);
        }
        let counted = state.by_text.entry(text).or_insert_with_key(|text| CountedError {
            text: text.clone(),
            count: 0,
            last_ms: 0,
            protocol,
            method,
        });
        counted.count += 1;
        (counted.last_ms, counted.protocol, counted.method) = (system_ms(), protocol, method);
        assert!(state.by_text.len() <= ERROR_TEXTS_MAX, "clients cannot make more texts");
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

    #[test]
    fn errors_are_counted_by_their_text() {
        let errors = ErrorCounts::default();
        errors.add("thrift", "get", &"before");
        errors.begin();
        errors.add("thrift", "get", &"no keyspace A");
        errors.add("native", "QUERY", &"no keyspace A");
        errors.add("thrift", "get", &"x".repeat(100_000));
        let (listed, forgotten) = errors.list();
        assert_eq!((listed.len(), forgotten), (2, 0));
        let counted = listed.iter().find(|error| error.text == "no keyspace A").unwrap();
        assert_eq!((counted.count, counted.method), (2, "QUERY"));
        assert!(listed.iter().all(|error| error.text.chars().count() <= SUMMARY_CHARS_MAX + 1));
    }

    #[test]
    fn new_texts_of_one_method_do_not_replace_those_of_others() {
        let errors = ErrorCounts::default();
        errors.begin();
        for number in 0..20 {
            errors.add("thrift", "get", &format_args!("no column {number}"));
        }
        for number in 0..10 * ERROR_TEXTS_MAX {
            errors.add("thrift", "login", &format_args!("no user {number}"));
            errors.add("native", "unknown", &format_args!("Unknown opcode {number}"));
        }
        let (listed, forgotten) = errors.list();
        let of_get = listed.iter().filter(|error| error.method == "get").count();
        assert_eq!((listed.len(), of_get), (ERROR_TEXTS_MAX, 20));
        assert_eq!(forgotten, 20 * ERROR_TEXTS_MAX as u64 - (ERROR_TEXTS_MAX as u64 - 20));
    }

    #[test]
    fn the_number_of_texts_is_bounded() {
        let errors = ErrorCounts::default();
        errors.begin();
        for number in 0..ERROR_TEXTS_MAX + 10 {
            errors.add("thrift", "get", &format_args!("no keyspace {number}"));
        }
        let (listed, forgotten) = errors.list();
        assert_eq!((listed.len(), forgotten), (ERROR_TEXTS_MAX, 10));
    }
}
