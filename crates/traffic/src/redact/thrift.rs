//! Thrift messages.

use bytes::Bytes;

use super::error_text;
use super::hashes::Hashes;
use super::roles::DataRole;
use super::statement;
use crate::call::{method_of, result_of};
use crate::{Fields, ThriftMessage, Value};
use base::model::FieldRole;
use cql_syntax::limits::STATEMENT_BYTES_MAX;
use cql_syntax::{Dialect, Subject};
use wire::thrift::frame::Transport;
use wire::thrift::interface::{Meaning, Method, declarations};
use wire::thrift::{MessageKind, NOT_COMPRESSED, query_text};

/// The columns of a result whose values are not data.
const COUNTS: [&str; 4] = ["count", "system.count", "writetime(", "ttl("];

/// Redacts a call or a reply. `None` if it is not understood, so that its secrets would stay.
pub(super) fn redacted(message: &Bytes, transport: Transport, hashes: &mut Hashes) -> Option<Bytes> {
    let mut message = ThriftMessage::read(message).ok()?;
    match message.kind {
        MessageKind::Call | MessageKind::Oneway => {
            let (method, _) = method_of(&message.name, &message.fields, None, transport)?;
            arguments(method, &mut message.fields, hashes)?;
        }
        MessageKind::Reply => result(&message.method(), &mut message.fields, hashes),
        MessageKind::Other(_) => return None,
        MessageKind::Exception => message.fields.values_mut().for_each(|value| error(value, hashes)),
    }
    Some(message.write())
}

fn arguments(method: &'static Method, fields: &mut Fields, hashes: &mut Hashes) -> Option<()> {
    match method.name {
        "execute_cql_query" | "execute_cql3_query" | "prepare_cql_query" | "prepare_cql3_query" => {
            return query(dialect_of(method.name), fields, hashes);
        }
        // The query language of 0.3 is not understood here.
        "executeQuery" => return None,
        _ => {}
    }
    for (id, value) in fields {
        redact(method.argument(*id).map_or(Meaning::UNKNOWN, Meaning::of_field), value, hashes);
    }
    Some(())
}

/// Returns the language of a method with a statement.
pub(crate) fn dialect_of(method: &str) -> Dialect {
    if method.contains("cql3") { Dialect::Cql3 } else { Dialect::Cql2 }
}

/// Redacts a CQL statement.
fn query(dialect: Dialect, fields: &mut Fields, hashes: &Hashes) -> Option<()> {
    let compression = i32::try_from(fields.get(&2)?.as_int()?).ok()?;
    let text = query_text(fields.get(&1)?.as_binary()?, compression, STATEMENT_BYTES_MAX).ok()?;
    let text = String::from_utf8(text).ok()?;
    let redacted = statement::redacted(&text, Subject::of(&text, dialect), hashes);
    if redacted != text {
        fields.insert(1, Value::Binary(redacted.into()));
        fields.insert(2, Value::I32(NOT_COMPRESSED));
    }
    Some(())
}

/// Redacts the bytes in a value by their roles.
fn redact(meaning: Meaning, value: &mut Value, hashes: &mut Hashes) {
    match value {
        Value::Struct(fields) => {
            for (id, value) in fields {
                redact(meaning.field(*id).map_or(Meaning::UNKNOWN, Meaning::of_field), value, hashes);
            }
        }
        Value::List(_, items) | Value::Set(_, items) => {
            items.iter_mut().for_each(|item| redact(meaning.element(), item, hashes));
        }
        Value::Map(_, _, pairs) => {
            for (key, value) in pairs {
                redact(meaning.key(), key, hashes);
                redact(meaning.map_value(), value, hashes);
            }
        }
        Value::Binary(bytes) => match meaning.role {
            FieldRole::Key => hashes.replace(DataRole::Key, bytes),
            FieldRole::Name | FieldRole::SuperName => hashes.replace(DataRole::Name, bytes),
            FieldRole::Value => hashes.replace(DataRole::Value, bytes),
            FieldRole::Data => *bytes = hashes.data(bytes).into(),
            FieldRole::Token if hashes.roles().has(DataRole::Key) => *bytes = hashes.token(bytes).into(),
            FieldRole::Path => path(bytes, hashes),
            _ => {}
        },
        _ => {}
    }
}

/// Redacts the names after a column family, `Posts:super:column`.
fn path(bytes: &mut Bytes, hashes: &mut Hashes) {
    let mut names = bytes.split(|byte| *byte == b':').map(Bytes::copy_from_slice);
    let mut path: Vec<Bytes> = names.next().into_iter().collect();
    path.extend(names.map(|mut name| {
        hashes.replace(DataRole::Name, &mut name);
        name
    }));
    *bytes = path.join(&b':').into();
}

/// Redacts the result of a method, and the texts of exceptions.
fn result(method: &str, fields: &mut Fields, hashes: &mut Hashes) {
    for (id, value) in fields {
        match id {
            0 if method.starts_with("execute_") => cql_result(method, value, hashes),
            0 => redact(result_of(method.as_bytes(), value), value, hashes),
            _ => error(value, hashes),
        }
    }
}

/// Redacts the keys and values of a CqlResult; in CQL 2 names are data, too.
fn cql_result(method: &str, value: &mut Value, hashes: &mut Hashes) {
    let has_names = method == "execute_cql_query";
    let Value::Struct(fields) = value else { return };
    let meaning =
        declarations(method.as_bytes()).last().map_or(Meaning::UNKNOWN, |of| Meaning::of_result(of));
    if has_names && let (Some(schema), Some(field)) = (fields.get_mut(&4), meaning.field(4)) {
        redact(Meaning::of_field(field), schema, hashes);
    }
    let Some(Value::List(_, rows)) = fields.get_mut(&2) else { return };
    for row in rows {
        let Value::Struct(row) = row else { continue };
        if let Some(Value::Binary(key)) = row.get_mut(&1) {
            *key = hashes.data(key).into();
        }
        let Some(Value::List(_, columns)) = row.get_mut(&2) else { continue };
        for column in columns {
            let Value::Struct(column) = column else { continue };
            let is_count = match column.get(&1) {
                Some(Value::Binary(name)) => is_no_data(&String::from_utf8_lossy(name)),
                _ => false,
            };
            if let Some(Value::Binary(value)) = column.get_mut(&2)
                && !is_count
            {
                *value = hashes.data(value).into();
            }
            if has_names && let Some(Value::Binary(name)) = column.get_mut(&1) {
                hashes.replace(DataRole::Name, name);
            }
        }
    }
}

/// Returns whether a column of a result is a count, a timestamp or a time to live, by its name.
pub(super) fn is_no_data(column: &str) -> bool {
    COUNTS.iter().any(|count| column.starts_with(count))
}

fn error(value: &mut Value, hashes: &Hashes) {
    value.each_binary(&mut |bytes| {
        *bytes = match str::from_utf8(bytes) {
            Ok(text) => error_text::redacted(text, hashes).into(),
            Err(_) => hashes.data(bytes).into(),
        };
    });
}

#[cfg(test)]
mod tests {
    use super::super::key::RedactionKey;
    use super::super::roles::DataRoles;
    use super::*;
    use crate::value::fields_from_json;

    /// Returns the fields of a redacted message as JSON.
    fn redacted_fields(name: &'static str, kind: MessageKind, fields: &str) -> String {
        let fields = fields_from_json(&serde_json::from_str(fields).unwrap()).unwrap();
        let message = ThriftMessage { name: name.into(), kind, seqid: 1, fields }.write();
        let roles = DataRoles::new(&[DataRole::Key, DataRole::Name, DataRole::Value]);
        let mut hashes = Hashes::new(RedactionKey::of_secret(b"thrift"), roles);
        let redacted = redacted(&message, Transport::Unframed, &mut hashes).unwrap();
        crate::fields_to_json(&ThriftMessage::read(&redacted).unwrap().fields).to_string()
    }

    #[test]
    fn arguments_are_redacted_by_their_roles() {
        let range = r#"{"1": {"t": "Blog"}, "2": {"t": "Posts"}, "3": {"t": "anna"}, "4": {"t": "otto"}, "5": {"i": 9}}"#;
        let shown = redacted_fields("get_key_range", MessageKind::Call, range);
        assert!(shown.contains("Blog") && shown.contains("Posts") && shown.contains('9'), "{shown}");
        assert!(!shown.contains("anna") && !shown.contains("otto"), "{shown}");
        let get =
            r#"{"1": {"t": "Blog"}, "2": {"t": "anna"}, "3": {"t": "Posts:title"}, "99": {"t": "unknown"}}"#;
        let shown = redacted_fields("get_column", MessageKind::Call, get);
        assert!(shown.contains("Blog") && shown.contains("Posts:"), "{shown}");
        assert!(!["anna", "title", "unknown"].iter().any(|hidden| shown.contains(hidden)), "{shown}");
    }

    #[test]
    fn results_are_redacted_by_the_interface_that_has_them() {
        let of_old =
            r#"{"0": {"L": ["s", [{"s": {"1": {"t": "title"}, "2": {"t": "secret"}, "3": {"l": 7}}}]]}}"#;
        let of_new = r#"{"0": {"L": ["s", [{"s": {"1": {"s": {"1": {"t": "title"}, "2": {"t": "secret"}, "3": {"l": 7}}}}}]]}}"#;
        for fields in [of_old, of_new] {
            let shown = redacted_fields("get_slice", MessageKind::Reply, fields);
            assert!(!shown.contains("title") && !shown.contains("secret"), "{shown}");
            assert!(shown.contains(r#"{"l":7}"#), "{shown}");
        }
    }
}
