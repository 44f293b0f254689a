//! Shortens the times to live of a write that has waited in the queue: its cells must not live longer than on the server that
//! has answered. A time to live that is over becomes one second: the expired cell must still hide older cells.
//!
//! Times to live that are defaults of tables stay as they are.

use bytes::{Bytes, BytesMut};

use super::queued_write::QueuedWrite;
use crate::call::{NativeRequest, NativeStatement};
use crate::native_message::place_of;
use crate::record::{now_us, with_texts};
use crate::value::{Fields, Value};
use crate::{Protocol, ThriftMessage};
use base::model::BoundValue;
use cql_syntax::limits::STATEMENT_BYTES_MAX;
use cql_syntax::{BoundMarker, bound_times_to_live, with_times_to_live};
use wire::thrift::{NOT_COMPRESSED, query_text};

/// The field of a Column with its time to live.
const TTL: i16 = 4;

/// Returns how long a write has waited, in seconds.
pub(super) fn waited_s(write: &QueuedWrite) -> i32 {
    i32::try_from(now_us().saturating_sub(write.at_us) / 1_000_000).unwrap_or(i32::MAX)
}

fn left(ttl: i32, waited_s: i32) -> i32 {
    if ttl <= 0 { ttl } else { ttl.saturating_sub(waited_s).max(1) }
}

/// Returns a write of either protocol with the times that are left; `None` if it stays as it is.
pub(super) fn shortened(write: &QueuedWrite, waited_s: i32) -> Option<QueuedWrite> {
    if waited_s <= 0 {
        return None;
    }
    if write.protocol == Protocol::Native {
        return Some(QueuedWrite { message: shortened_frame(&write.message, waited_s)?, ..write.clone() });
    }
    let mut call = ThriftMessage::read(&write.message).ok()?;
    let (mut is_changed, mut statement) = (false, write.statement.clone());
    if let Some(text) = &mut statement {
        if let Some(Value::List(_, values)) = call.fields.get_mut(&2) {
            for BoundMarker { number, .. } in bound_times_to_live(text) {
                let Some(Value::Binary(ttl)) = values.get_mut(number) else { continue };
                *ttl = shortened_value(ttl, waited_s)?;
                is_changed = true;
            }
        }
        if let Some(shortened) = shortened_text(text, waited_s) {
            *text = shortened;
            is_changed = true;
        }
    } else if matches!(&call.name[..], b"execute_cql_query" | b"execute_cql3_query") {
        let compression = i32::try_from(call.fields.get(&2)?.as_int()?).ok()?;
        let text = query_text(call.fields.get(&1)?.as_binary()?, compression, STATEMENT_BYTES_MAX).ok()?;
        let text = shortened_text(std::str::from_utf8(&text).ok()?, waited_s)?;
        call.fields.insert(1, Value::Binary(text.into()));
        call.fields.insert(2, Value::I32(NOT_COMPRESSED));
        is_changed = true;
    } else {
        for value in call.fields.values_mut() {
            shorten_columns(value, waited_s, &mut is_changed);
        }
    }
    is_changed.then(|| QueuedWrite { message: call.write(), statement, ..write.clone() })
}

fn shortened_text(text: &str, waited_s: i32) -> Option<String> {
    with_times_to_live(text, |ttl| left(ttl, waited_s))
}

/// Returns a value that is bound as a time to live.
fn shortened_value(ttl: &Bytes, waited_s: i32) -> Option<Bytes> {
    let ttl = i32::from_be_bytes(ttl[..].try_into().ok()?);
    Some(Bytes::copy_from_slice(&left(ttl, waited_s).to_be_bytes()))
}

fn shortened_frame(message: &Bytes, waited_s: i32) -> Option<Bytes> {
    let request = NativeRequest::read(message).ok()?;
    let mut bound = BytesMut::from(&message[..]);
    for ttl in request.statements.iter().flat_map(bound_values) {
        bound.get_mut(place_of(message, ttl)?)?.copy_from_slice(&shortened_value(ttl, waited_s)?);
    }
    let texts: Vec<&str> = request.statements.iter().filter_map(NativeStatement::text).collect();
    let changed: Vec<Option<String>> = texts.iter().map(|text| shortened_text(text, waited_s)).collect();
    if changed.iter().all(Option::is_none) {
        return (bound != *message).then(|| bound.freeze());
    }
    let texts = texts.into_iter().zip(changed);
    let texts: Vec<String> = texts.map(|(text, other)| other.unwrap_or_else(|| text.to_owned())).collect();
    with_texts(&bound.freeze(), &request.frame, &texts)
}

/// Returns the values that a statement binds as times to live.
fn bound_values(statement: &NativeStatement) -> Vec<&Bytes> {
    let value_of = |marker: BoundMarker| {
        let number = match &statement.names[..] {
            [] => marker.number,
            names => names.iter().position(|name| *name == marker.name)?,
        };
        match statement.values.get(number) {
            Some(BoundValue::Value(value)) => Some(value),
            _ => None,
        }
    };
    let markers = if statement.values.is_empty() {
        Vec::new()
    } else {
        statement.text().map_or_else(Vec::new, bound_times_to_live)
    };
    markers.into_iter().filter_map(value_of).collect()
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
    use crate::call::NativeFrame;
    use crate::value::fields_from_json;
    use wire::native::{ProtocolVersion, request_opcode};
    use wire::thrift::MessageKind;

    fn sent(name: &'static str, fields: &str, waited_s: i32) -> Option<String> {
        let fields = fields_from_json(&serde_json::from_str(fields).unwrap()).unwrap();
        let write = thrift(ThriftMessage { name: name.into(), kind: MessageKind::Call, seqid: 1, fields });
        let shortened = ThriftMessage::read(&shortened(&write, waited_s)?.message).unwrap();
        Some(format!("{:?}", shortened.fields))
    }

    #[test]
    fn times_to_live_that_are_bound_become_shorter() {
        let text = b"BEGIN BATCH USING TIMESTAMP ? UPDATE t USING TTL ? SET v = ? WHERE k = 1; APPLY BATCH";
        let query = |flags: u8, values: &[u8]| {
            let length = u32::try_from(text.len()).unwrap().to_be_bytes();
            let body = [&length[..], text, b"\0\x01", &[flags], values].concat();
            let (version, opcode) = (ProtocolVersion::V3, request_opcode::QUERY);
            NativeFrame { version, is_from_server: false, flags: 0, stream: 0, opcode, body: body.into() }
        };
        let by_order = b"\0\x03\0\0\0\x08\0\0\0\0\0\0\0\x07\0\0\0\x04\0\0\0\x3c\0\0\0\x01v";
        let found = shortened_frame(&query(1, by_order).write(), 10).unwrap();
        assert_eq!(found, query(1, &by_order.map(|byte| if byte == 60 { 50 } else { byte })).write());
        let by_name = b"\0\x02\0\x01v\0\0\0\x01v\0\x05[ttl]\0\0\0\x04\0\0\0\x3c";
        let found = shortened_frame(&query(0x41, by_name).write(), 100).unwrap();
        assert_eq!(found, query(0x41, &by_name.map(|byte| if byte == 60 { 1 } else { byte })).write());
        let unset = b"\0\x02\0\0\0\x01v\xff\xff\xff\xff";
        assert_eq!(shortened_frame(&query(1, unset).write(), 10), None);
    }

    #[test]
    fn a_statement_that_thrift_has_prepared_gets_its_times_in_its_text_and_values() {
        let fields = r#"{"1": {"i": 9}, "2": {"L": ["t", [{"t": "k"}, {"x": "0000003c"}]]}, "3": {"i": 1}}"#;
        let fields = fields_from_json(&serde_json::from_str(fields).unwrap()).unwrap();
        let message = ThriftMessage {
            name: "execute_prepared_cql3_query".into(),
            kind: MessageKind::Call,
            seqid: 1,
            fields,
        };
        let text = "BEGIN BATCH INSERT INTO t (k) VALUES (?) USING TTL ?; UPDATE t USING TTL 60 SET v = 1 WHERE k = 1; APPLY BATCH";
        let write = QueuedWrite { statement: Some(text.to_owned()), ..thrift(message) };
        let shortened = shortened(&write, 10).unwrap();
        assert!(shortened.statement.unwrap().contains("USING TTL 50 SET"));
        let sent = ThriftMessage::read(&shortened.message).unwrap();
        assert!(format!("{:?}", sent.fields).contains(r#"b"\0\0\02""#), "{:?}", sent.fields);
    }

    fn thrift(message: ThriftMessage) -> QueuedWrite {
        QueuedWrite {
            at_us: 0,
            protocol: Protocol::Thrift { is_framed: true },
            rule: ResendRule::Timestamped,
            keyspace: None,
            statement: None,
            table: String::new(),
            message: message.write(),
        }
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
