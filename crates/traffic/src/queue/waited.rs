//! Shortens the times to live of a write that has waited in the queue: its cells must not live longer than on the server that
//! has answered. A time to live that is over becomes one second: the expired cell must still hide older cells.
//!
//! Times to live that are bound to a statement, or are defaults of tables, stay as they are.

use bytes::Bytes;

use super::queued_write::QueuedWrite;
use crate::call::NativeRequest;
use crate::record::{now_us, with_texts};
use crate::value::{Fields, Value};
use crate::{Protocol, ThriftMessage};
use cql_syntax::with_times_to_live;
use wire::thrift::NOT_COMPRESSED;

/// The field of a Column with its time to live.
const TTL: i16 = 4;

/// Returns how long a write has waited, in seconds.
pub(super) fn waited_s(write: &QueuedWrite) -> i32 {
    i32::try_from(now_us().saturating_sub(write.at_us) / 1_000_000).unwrap_or(i32::MAX)
}

fn left(ttl: i32, waited_s: i32) -> i32 {
    if ttl <= 0 { ttl } else { ttl.saturating_sub(waited_s).max(1) }
}

/// Returns a message of either protocol with the times that are left; `None` if it stays as it is.
pub(super) fn shortened(write: &QueuedWrite, waited_s: i32) -> Option<Bytes> {
    let message = &write.message;
    if waited_s <= 0 {
        return None;
    }
    let shorten = |text: &str| with_times_to_live(text, |ttl| left(ttl, waited_s));
    if write.protocol == Protocol::Native {
        let request = NativeRequest::read(message).ok()?;
        let texts: Vec<&str> = request.statements.iter().filter_map(|each| each.text()).collect();
        let changed: Vec<Option<String>> = texts.iter().map(|text| shorten(text)).collect();
        changed.iter().any(Option::is_some).then_some(())?;
        let texts = texts.into_iter().zip(changed);
        let texts: Vec<String> =
            texts.map(|(text, other)| other.unwrap_or_else(|| text.to_owned())).collect();
        return with_texts(message, &request.frame, &texts);
    }
    let mut call = ThriftMessage::read(message).ok()?;
    if matches!(&call.name[..], b"execute_cql_query" | b"execute_cql3_query") {
        // A text that the client has compressed stays as it is.
        let is_plain = call.fields.get(&2).and_then(Value::as_int) == Some(i64::from(NOT_COMPRESSED));
        let text = call.fields.get(&1).filter(|_| is_plain)?.as_binary()?;
        let text = shorten(std::str::from_utf8(text).ok()?)?;
        call.fields.insert(1, Value::Binary(text.into()));
        return Some(call.write());
    }
    let mut is_changed = false;
    for value in call.fields.values_mut() {
        shorten_columns(value, waited_s, &mut is_changed);
    }
    is_changed.then(|| call.write())
}

/// Shortens the times of all columns in a value. No other struct of a write has fields of these types.
fn shorten_columns(value: &mut Value, waited_s: i32, is_changed: &mut bool) {
    match value {
        Value::Struct(fields) => {
            if is_column(fields)
                && let Some(Value::I32(ttl)) = fields.get_mut(&TTL)
            {
                *ttl = left(*ttl, waited_s);
                *is_changed = true;
            }
            fields.values_mut().for_each(|value| shorten_columns(value, waited_s, is_changed));
        }
        Value::List(_, items) | Value::Set(_, items) => {
            items.iter_mut().for_each(|value| shorten_columns(value, waited_s, is_changed));
        }
        Value::Map(_, _, pairs) => {
            pairs.iter_mut().for_each(|(_, value)| shorten_columns(value, waited_s, is_changed));
        }
        _ => {}
    }
}

/// Returns whether a struct is a Column: a name, a value and a timestamp.
fn is_column(fields: &Fields) -> bool {
    let types = (fields.get(&1), fields.get(&2), fields.get(&3));
    matches!(types, (Some(Value::Binary(_)), Some(Value::Binary(_)), Some(Value::I64(_))))
}

#[cfg(test)]
mod tests {
    use super::super::rule::ResendRule;
    use super::*;
    use crate::value::fields_from_json;
    use wire::thrift::MessageKind;

    fn sent(name: &'static str, fields: &str, waited_s: i32) -> Option<String> {
        let fields = fields_from_json(&serde_json::from_str(fields).unwrap()).unwrap();
        let message = ThriftMessage { name: name.into(), kind: MessageKind::Call, seqid: 1, fields }.write();
        let write = QueuedWrite {
            at_us: 0,
            protocol: Protocol::Thrift { is_framed: true },
            rule: ResendRule::Timestamped,
            keyspace: None,
            statement: None,
            table: String::new(),
            message,
        };
        let shortened = ThriftMessage::read(&shortened(&write, waited_s)?).unwrap();
        Some(format!("{:?}", shortened.fields))
    }

    #[test]
    fn times_to_live_become_shorter_in_the_queue() {
        let column = r#"{"s": {"1": {"t": "n"}, "2": {"t": "v"}, "3": {"l": 7}, "4": {"i": 60}}}"#;
        let insert = format!(
            r#"{{"1": {{"t": "k"}}, "2": {{"s": {{"3": {{"t": "cf"}}}}}}, "3": {column}, "4": {{"i": 2}}}}"#
        );
        assert_eq!(sent("insert", &insert, 0), None);
        let found = sent("insert", &insert, 10).unwrap();
        assert!(found.contains("I32(50)") && found.contains("4: I32(2)}"), "{found}");
        assert!(sent("insert", &insert, 100).unwrap().contains("4: I32(1)}"));
        let batch = format!(
            r#"{{"1": {{"M": ["t", "M", [[{{"t": "k"}}, {{"M": ["t", "L", [[{{"t": "cf"}}, {{"L": ["s",
            [{{"s": {{"1": {{"s": {{"1": {column}}}}}}}}}]]}}]]]}}]]]}}, "2": {{"i": 1}}}}"#
        );
        assert!(sent("batch_mutate", &batch, 10).unwrap().contains("I32(50)"));
        let plain = insert.replace(r#", "4": {"i": 60}"#, "");
        assert_eq!(sent("insert", &plain, 10), None);
        let text = r#"{"1": {"t": "INSERT INTO t (k) VALUES (60) USING TTL 60"}, "2": {"i": 2}}"#;
        assert!(sent("execute_cql3_query", text, 10).unwrap().contains("VALUES (60) USING TTL 50"));
    }
}
