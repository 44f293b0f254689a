//! The data that a recording has written itself.
//!
//! A replay to an empty server can only compare reads of data that the recording wrote before. A read of rows is one if
//! the recording has written all of them, a scan if the recording has created or truncated the column family.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;

use super::super::call::{Call, CallEffect, Request};
use super::super::value::{Fields, Value};
use crate::limits::TRAFFIC_OWN_ROWS_MAX;

/// Rows and column families that the recording has written.
#[derive(Debug, Default)]
pub(super) struct OwnData {
    /// Hashes of the keyspace, the column family and the row key.
    rows: HashSet<u64>,
    /// Hashes of the keyspace and the column family that the recording has created or truncated; of the keyspace alone.
    wholes: HashSet<u64>,
}

impl OwnData {
    /// Learns from a write.
    pub(super) fn learn(&mut self, call: &Call) {
        if call.effect != CallEffect::Write {
            return;
        }
        let keyspace = call.keyspace.as_deref().unwrap_or_default();
        if let Some(text) = &call.statement {
            if call.family.is_some() && begins_table(text) {
                self.add_whole(keyspace, call.family.as_deref());
            }
            return;
        }
        match &call.method[..] {
            "system_add_keyspace" => self.add_whole(keyspace, None),
            "system_add_column_family" | "truncate" => self.add_whole(keyspace, call.family.as_deref()),
            _ => {
                for (family, key) in rows_of(call) {
                    if self.rows.len() < TRAFFIC_OWN_ROWS_MAX {
                        self.rows.insert(hash_of(&(keyspace, family, key)));
                    }
                }
            }
        }
    }

    fn add_whole(&mut self, keyspace: &str, family: Option<&str>) {
        if self.wholes.len() < TRAFFIC_OWN_ROWS_MAX {
            self.wholes.insert(hash_of(&(keyspace, family)));
        }
    }

    /// Returns whether a call only reads data that the recording has written. Calls that read nothing do.
    pub(super) fn has(&self, call: &Call) -> bool {
        if call.effect != CallEffect::Read {
            return true;
        }
        let keyspace = call.keyspace.as_deref().unwrap_or_default();
        if keyspace == "system" || keyspace.starts_with("system_") {
            return true;
        }
        let is_whole = |family: Option<&str>| self.wholes.contains(&hash_of(&(keyspace, family)));
        if is_whole(None) || call.family.is_some() && is_whole(call.family.as_deref()) {
            return true;
        }
        let rows = rows_of(call);
        !rows.is_empty()
            && rows.into_iter().all(|(family, key)| self.rows.contains(&hash_of(&(keyspace, family, key))))
    }
}

/// Returns whether a statement leaves its table without rows of before.
fn begins_table(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let (verb, object) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_table = ["TABLE", "COLUMNFAMILY"].iter().any(|word| word.eq_ignore_ascii_case(object));
    verb.eq_ignore_ascii_case("TRUNCATE") || verb.eq_ignore_ascii_case("CREATE") && is_table
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the column family and the key of each row that a Thrift call reads or writes by its key.
pub(super) fn rows_of(call: &Call) -> Vec<(Bytes, Bytes)> {
    let Request::Thrift { message, .. } = &call.request else { return Vec::new() };
    let fields = &message.fields;
    if let "batch_mutate" | "atomic_batch_mutate" = &call.method[..] {
        return rows_of_mutations(fields);
    }
    // Up to 0.6 argument 1 is the keyspace.
    let Some(family) = call.family.as_deref() else { return Vec::new() };
    let keys = match &call.method[..] {
        "get_range_slices" | "get_range_slice" | "get_indexed_slices" | "get_paged_slice" | "scan"
        | "get_key_range" | "truncate" => None,
        method if method.starts_with("system_") => None,
        "get_multi_slice" => fields.get(&1).and_then(|request| request.get(1)),
        _ => match (fields.get(&1), fields.get(&2)) {
            (Some(Value::Binary(_)), Some(key @ (Value::Binary(_) | Value::List(..)))) => Some(key),
            (key, _) => key,
        },
    };
    let family = Bytes::copy_from_slice(family.as_bytes());
    match keys {
        Some(Value::Binary(key)) => vec![(family, key.clone())],
        Some(Value::List(_, keys)) => {
            keys.iter().filter_map(Value::as_binary).map(|key| (family.clone(), key.clone())).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the rows of a map from keys to column families to mutations.
fn rows_of_mutations(fields: &Fields) -> Vec<(Bytes, Bytes)> {
    let mut rows = Vec::new();
    let maps = fields.values().filter_map(|value| match value {
        Value::Map(_, _, pairs) => Some(pairs),
        _ => None,
    });
    for (key, families) in maps.flatten() {
        let (Some(key), Value::Map(_, _, families)) = (key.as_binary(), families) else { continue };
        rows.extend(
            families.iter().filter_map(|(family, _)| Some((family.as_binary()?.clone(), key.clone()))),
        );
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Conversation, PreparedTexts};
    use crate::value::fields_from_json;
    use crate::{Protocol, ThriftMessage};
    use wire::thrift::MessageKind;

    fn call(connection: &mut Conversation, name: &'static str, fields: &str) -> Call {
        let fields = fields_from_json(&serde_json::from_str(fields).unwrap()).unwrap();
        let message = ThriftMessage { name: name.into(), kind: MessageKind::Call, seqid: 1, fields }.write();
        connection.request(&message, &PreparedTexts::default()).unwrap()
    }

    #[test]
    fn reads_of_written_rows_are_own() {
        let (mut own, mut connection) =
            (OwnData::default(), Conversation::new(Protocol::Thrift { is_framed: true }));
        let mut call = |name, fields: &str| call(&mut connection, name, fields);
        let parent = r#"{"s": {"3": {"t": "Posts"}}}"#;
        let slice = |key: &str| format!(r#"{{"1": {{"t": "{key}"}}, "2": {parent}}}"#);
        own.learn(&call("insert", &slice("a")));
        let batch = r#"{"1": {"M": ["t", "M", [[{"t": "b"}, {"M": ["t", "L", [[{"t": "Posts"}, {"L": ["s", []]}]]]}]]]}}"#;
        own.learn(&call("batch_mutate", batch));
        assert!(own.has(&call("get_slice", &slice("a"))));
        assert!(own.has(&call("get_slice", &slice("b"))));
        assert!(!own.has(&call("get_slice", &slice("c"))));
        let many = |keys: &str| format!(r#"{{"1": {{"L": ["t", [{keys}]]}}, "2": {parent}}}"#);
        assert!(own.has(&call("multiget_slice", &many(r#"{"t": "a"}, {"t": "b"}"#))));
        assert!(!own.has(&call("multiget_slice", &many(r#"{"t": "a"}, {"t": "c"}"#))));
        let scan = format!(r#"{{"1": {parent}}}"#);
        assert!(!own.has(&call("get_range_slices", &scan)));
        assert!(own.has(&call("describe_version", "{}")));
        own.learn(&call("truncate", r#"{"1": {"t": "Posts"}}"#));
        assert!(own.has(&call("get_range_slices", &scan)));
        assert!(own.has(&call("get_slice", &slice("c"))));
    }

    #[test]
    fn tables_of_statements_are_own_after_create_table() {
        let (mut own, mut connection) =
            (OwnData::default(), Conversation::new(Protocol::Thrift { is_framed: true }));
        let mut call = |text: &str| {
            let fields = format!(r#"{{"1": {{"t": "{text}"}}, "2": {{"i": 2}}}}"#);
            call(&mut connection, "execute_cql3_query", &fields)
        };
        let select = call("SELECT * FROM ks.t WHERE k = 1");
        own.learn(&call("INSERT INTO ks.t (k) VALUES (1)"));
        own.learn(&call("CREATE INDEX ON ks.t (a)"));
        assert!(!own.has(&select));
        own.learn(&call("CREATE TABLE ks.t (k int PRIMARY KEY)"));
        assert!(own.has(&select));
        assert!(!own.has(&call("SELECT * FROM ks.other WHERE k = 1")));
    }
}
