//! Keeps passwords out of recorded replies.
//!
//! A server repeats a statement in its error, and shows statements of other clients in `system_traces`. The hashes of
//! passwords are in the column `salted_hash` of `system_auth`.

use std::ops::Range;

use bytes::Bytes;

use super::secrets::{CallSecrets, blank, shifted};
use crate::call::{NativeReply, ReplyContent, ResultRows};
use crate::native_message::{NativeMessage, place_of};
use crate::readable::readable;
use crate::redact::parts;
use crate::{ThriftMessage, Value};
use cql_syntax::{Dialect, Secrets as StatementSecrets};
use wire::thrift::MessageKind;

const HASH: &[u8] = b"salted_hash";
const TRACES: &str = "system_traces";
/// The beginning of the hashes of bcrypt.
const OF_BCRYPT: &[u8] = b"$2";
/// The code and the length before the text of a native error.
const BEFORE_TEXT: usize = 6;

/// Hides the secrets in the reply to a native request. `header` is the length of the frame's header.
pub(super) fn hide_in_native(reply: Bytes, secrets: &CallSecrets, header: usize) -> Bytes {
    let reply = secrets.blanked(reply, header);
    let kind = secrets.kind;
    if !kind.has_passwords && !kind.reads_secrets && !has_hash(&reply) && !has(&reply, TRACES.as_bytes()) {
        return reply;
    }
    let Ok(NativeReply { content, .. }) = NativeReply::read(&reply) else { return reply };
    let places = match content {
        ReplyContent::Error { text, .. } if kind.has_passwords => {
            let start = NativeMessage::read(&reply).map_or(header, |message| message.body_at()) + BEFORE_TEXT;
            shifted(StatementSecrets::of_error(&text).places, start)
        }
        ReplyContent::Rows(rows) => places_in_rows(&reply, &rows, kind.reads_secrets),
        _ => Vec::new(),
    };
    blank(reply, &places)
}

fn places_in_rows(reply: &Bytes, rows: &ResultRows, reads_secrets: bool) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    for row in &rows.rows {
        for (at, value) in row.iter().enumerate() {
            let Some((value, place)) =
                value.as_ref().and_then(|value| Some((value, place_of(reply, value)?)))
            else {
                continue;
            };
            match rows.columns.get(at) {
                // A client that knows the columns gets no names.
                None => places.push(place),
                Some(column) if column.keyspace == TRACES => places.extend(statements_in(value, place.start)),
                Some(column) if has(column.name.as_bytes(), HASH) => places.push(place),
                Some(_) if reads_secrets && (has(value, HASH) || has(value, OF_BCRYPT)) => places.push(place),
                Some(_) => {}
            }
        }
    }
    places
}

/// Hides the secrets in the reply to a Thrift call. `header` is the length of the bytes that identify the method.
pub(super) fn hide_in_thrift(reply: Bytes, secrets: &CallSecrets, header: usize) -> Bytes {
    let reply = secrets.blanked(reply, header);
    let kind = secrets.kind;
    if !kind.has_passwords && !kind.reads_secrets && !has_hash(&reply) {
        return reply;
    }
    let Ok(message) = ThriftMessage::read(&reply) else { return reply };
    let mut places = Vec::new();
    for (field, mut value) in message.fields {
        let is_error = field != 0 || message.kind == MessageKind::Exception;
        places_of_hashes(&reply, &value, &mut places);
        value.each_binary(&mut |bytes| {
            let Some(place) = place_of(&reply, bytes) else { return };
            if is_error && kind.has_passwords {
                places.extend(shifted(StatementSecrets::of_error(&readable(bytes)).places, place.start));
            } else if kind.reads_secrets && has(bytes, OF_BCRYPT) {
                places.push(place);
            } else if kind.reads_secrets {
                places.extend(statements_in(bytes, place.start));
            }
        });
    }
    blank(reply, &places)
}

/// Returns whether a message names a column with hashes.
pub(super) fn has_hash(message: &[u8]) -> bool {
    has(message, HASH)
}

/// Returns the hashes that a call writes.
pub(super) fn hashes_in(message: &Bytes, call: &ThriftMessage) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    call.fields.values().for_each(|value| places_of_hashes(message, value, &mut places));
    places
}

/// Adds the values of columns with hashes. In the name of a cell, the column's name is the last part.
fn places_of_hashes(reply: &Bytes, value: &Value, places: &mut Vec<Range<usize>>) {
    match value {
        Value::Struct(fields) => {
            // A range of names also begins with two texts; behind them it has a bool.
            let is_range = matches!(fields.get(&3), Some(Value::Bool(_)));
            if let (Some(Value::Binary(name)), Some(Value::Binary(hash))) = (fields.get(&1), fields.get(&2))
                && has(name, HASH)
                && !is_range
            {
                places.extend(place_of(reply, hash));
            }
            fields.values().for_each(|value| places_of_hashes(reply, value, places));
        }
        Value::List(_, items) | Value::Set(_, items) => {
            items.iter().for_each(|item| places_of_hashes(reply, item, places));
        }
        Value::Map(_, _, pairs) => pairs.iter().for_each(|(_, value)| places_of_hashes(reply, value, places)),
        _ => {}
    }
}

/// Returns the secrets in the statements of a value, a text or a map of texts. If one has a password, any other part
/// can be a value that is bound to it.
fn statements_in(value: &[u8], start: usize) -> Vec<Range<usize>> {
    let texts = parts(value).into_iter().filter_map(|part| Some((part.start, readable(value.get(part)?))));
    let texts: Vec<_> = texts.collect();
    if !texts.iter().any(|(_, text)| StatementSecrets::of(text, Dialect::Cql3).is_some()) {
        return Vec::new();
    }
    texts.iter().flat_map(|(at, text)| shifted(StatementSecrets::of_error(text).places, start + at)).collect()
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
