//! The journal: the last requests, for tests that check what their application asks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use super::contains;
use super::rule::{Condition, Operation, RequestFacts};
use crate::limits::{JOURNAL_ENTRIES_MAX, STREAM_BEHIND_MAX};
use base::compat::features::ApiGeneration;

/// A part of a request: its operation on one row, or on a range of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct JournalRow {
    /// The operation.
    pub operation: Operation,
    /// The name of the column family or table.
    pub column_family: String,
    /// The row key: in the text of its type, else as UTF-8, else in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A request that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct JournalEntry {
    /// Counts all requests since the start.
    pub number: u64,
    /// `thrift` or `native`.
    pub protocol: String,
    /// The Thrift method, or the opcode of the native protocol.
    pub method: String,
    /// The API generation of a Thrift call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<ApiGeneration>,
    /// The number of the client's connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<u64>,
    /// The address of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The first word of the CQL statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// The keyspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyspace: Option<String>,
    /// The consistency level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consistency: Option<String>,
    /// The arguments of the call, by their names in the interface; `query` and `values` of a CQL statement. Keys, names
    /// and values are in the text of their types, else as UTF-8, else in hexadecimal digits. Long ones are cut.
    #[serde(default, skip_serializing_if = "has_none")]
    pub arguments: Value,
    /// The operations on rows, in order: the first sixteen.
    #[serde(default)]
    pub rows: Vec<JournalRow>,
    /// The size of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<JournalResult>,
    /// The text of its error, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The names of the rules that had an effect on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// The duration in microseconds.
    pub micros: u64,
}

fn has_none(arguments: &Value) -> bool {
    arguments.is_null() || arguments.as_object().is_some_and(Map::is_empty)
}

/// The size of the result that a request has returned to its client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct JournalResult {
    /// The number of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// The number of columns or super columns in all rows of a Thrift call, or the number that a count has found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<usize>,
    /// Whether `cas` has written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<bool>,
}

/// The last requests.
#[derive(Debug)]
pub struct Journal {
    next: AtomicU64,
    entries: Mutex<VecDeque<Arc<KeptEntry>>>,
    followers: broadcast::Sender<Arc<JournalEntry>>,
}

impl Default for Journal {
    fn default() -> Journal {
        let (next, entries) = (AtomicU64::default(), Mutex::default());
        Journal { next, entries, followers: broadcast::Sender::new(STREAM_BEHIND_MAX) }
    }
}

/// An entry in the journal. Its arguments are JSON as text, which takes a fraction of the memory.
#[derive(Debug)]
struct KeptEntry {
    /// Without arguments.
    entry: JournalEntry,
    arguments: Box<str>,
}

impl KeptEntry {
    fn new(mut entry: JournalEntry) -> KeptEntry {
        let arguments = match std::mem::take(&mut entry.arguments) {
            arguments if has_none(&arguments) => String::new(),
            arguments => arguments.to_string(),
        };
        KeptEntry { entry, arguments: arguments.into() }
    }

    fn arguments(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_default()
    }

    fn meets(&self, sought: &SoughtRequests) -> bool {
        self.entry.meets(&sought.when)
            && sought.arguments.as_ref().is_none_or(|wanted| contains(&self.arguments(), wanted))
    }

    fn whole(&self) -> JournalEntry {
        JournalEntry { arguments: self.arguments(), ..self.entry.clone() }
    }
}

/// The requests of the journal to find.
#[derive(Debug, Clone, Default)]
pub struct SoughtRequests {
    /// The condition that they meet.
    pub when: Condition,
    /// The arguments that they contain: objects have at least these fields, lists these elements in this order.
    pub arguments: Option<Value>,
}

impl From<Condition> for SoughtRequests {
    fn from(when: Condition) -> SoughtRequests {
        SoughtRequests { when, arguments: None }
    }
}

impl SoughtRequests {
    /// Returns whether a request is meant.
    pub fn includes(&self, entry: &JournalEntry) -> bool {
        entry.meets(&self.when)
            && self.arguments.as_ref().is_none_or(|wanted| contains(&entry.arguments, wanted))
    }
}

impl JournalEntry {
    /// Returns whether a request meets a condition. A key is compared with the text in the journal.
    pub fn meets(&self, condition: &Condition) -> bool {
        let facts = RequestFacts {
            protocol: &self.protocol,
            method: &self.method,
            generation: self.generation,
            connection: self.connection,
            statement: self.statement.as_deref(),
            consistency: self.consistency.as_deref(),
        };
        condition.is_met_by(&facts)
            && condition.keyspace.as_ref().is_none_or(|wanted| self.keyspace.as_ref() == Some(wanted))
            && (!condition.needs_rows() || self.rows.iter().any(|row| row.meets(condition)))
    }
}

impl JournalRow {
    fn meets(&self, condition: &Condition) -> bool {
        let Condition { operation, column_family, key, .. } = condition;
        operation.is_none_or(|wanted| wanted == self.operation)
            && column_family.as_ref().is_none_or(|wanted| *wanted == self.column_family)
            && key.as_ref().is_none_or(|wanted| self.key.as_ref() == Some(wanted))
    }
}

impl Journal {
    /// Adds a request, and gives it its number.
    pub(super) fn add(&self, entry: JournalEntry) {
        let mut entries = self.entries.lock();
        if entries.len() >= JOURNAL_ENTRIES_MAX {
            entries.pop_front();
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let entry = JournalEntry { number, ..entry };
        if self.followers.receiver_count() > 0 {
            // Fails only if the last of them has just left.
            let _ = self.followers.send(Arc::new(entry.clone()));
        }
        entries.push_back(Arc::new(KeptEntry::new(entry)));
        assert!(entries.len() <= JOURNAL_ENTRIES_MAX, "the journal is bounded");
    }

    /// Returns the requests that are sought, oldest first: at most `last` of them.
    pub fn find(&self, sought: &SoughtRequests, last: usize) -> Vec<JournalEntry> {
        // Requests must not wait for the search.
        let entries: Vec<Arc<KeptEntry>> = self.entries.lock().iter().cloned().collect();
        let found = entries.iter().rev().filter(|entry| entry.meets(sought)).take(last);
        let mut found: Vec<JournalEntry> = found.map(|entry| entry.whole()).collect();
        found.reverse();
        found
    }

    /// Looks at all requests, oldest first. They are without their arguments.
    pub fn visit(&self, mut look: impl FnMut(&JournalEntry)) {
        // Requests must not wait for it.
        let entries: Vec<Arc<KeptEntry>> = self.entries.lock().iter().cloned().collect();
        entries.iter().for_each(|kept| look(&kept.entry));
    }

    /// Returns a receiver of the requests that end from now on. One that is more than `STREAM_BEHIND_MAX` requests behind
    /// misses the oldest.
    pub fn follow(&self) -> broadcast::Receiver<Arc<JournalEntry>> {
        self.followers.subscribe()
    }

    /// Forgets all requests. Numbers go on.
    pub fn clear(&self) {
        self.entries.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(method: &str, key: &str) -> JournalEntry {
        JournalEntry {
            protocol: "thrift".to_owned(),
            method: method.to_owned(),
            generation: Some(ApiGeneration::AfterSetKeyspace),
            connection: Some(3),
            keyspace: Some("Blog".to_owned()),
            consistency: Some("ONE".to_owned()),
            rows: vec![JournalRow {
                operation: Operation::Write,
                column_family: "Posts".to_owned(),
                key: Some(key.to_owned()),
            }],
            ..JournalEntry::default()
        }
    }

    fn condition(json: &str) -> Condition {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn conditions_are_compared_with_all_parts() {
        let entry = entry("insert", "jonas");
        for met in [
            "{}",
            r#"{"method": "insert", "keyspace": "Blog", "key": "jonas", "consistency": "one"}"#,
            r#"{"operation": "write", "column_family": "Posts", "protocol": "thrift"}"#,
            r#"{"generation": "after_set_keyspace", "connection": 3}"#,
        ] {
            assert!(entry.meets(&condition(met)), "{met}");
        }
        for other in [
            r#"{"method": "get"}"#,
            r#"{"statement": "INSERT"}"#,
            r#"{"keyspace": "blog"}"#,
            r#"{"operation": "read", "column_family": "Posts"}"#,
            r#"{"key": "anna"}"#,
            r#"{"generation": "with_keyspace"}"#,
            r#"{"connection": 4}"#,
        ] {
            assert!(!entry.meets(&condition(other)), "{other}");
        }
    }

    #[test]
    fn the_journal_keeps_the_last_requests() {
        let journal = Journal::default();
        for number in 0..JOURNAL_ENTRIES_MAX + 5 {
            journal.add(entry(if number % 2 == 0 { "insert" } else { "remove" }, "k"));
        }
        let all = journal.find(&SoughtRequests::default(), usize::MAX);
        assert_eq!((all.len(), all[0].number), (JOURNAL_ENTRIES_MAX, 6));
        let last = journal.find(&condition(r#"{"method": "insert"}"#).into(), 2);
        let numbers: Vec<u64> = last.iter().map(|entry| entry.number).collect();
        assert!(numbers[0] + 2 == numbers[1] && numbers[1] >= all[all.len() - 2].number, "{numbers:?}");
        journal.clear();
        assert!(journal.find(&SoughtRequests::default(), 9).is_empty());
    }
}
