//! Frames of the native protocol.

use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};

use super::error_text;
use super::hashes::Hashes;
use super::statement;
use super::thrift::is_no_data;
use crate::call::{NativeReply, NativeRequest, ReplyContent, ResultRows, StatementText};
use crate::native_message::{NativeMessage, TRACE_ID_BYTES, place_of};
use base::model::BoundValue;
use cql_syntax::{Dialect, Subject};
use wire::native::{ProtocolVersion, flag};

/// The sizes of an error's code and of the length of its text.
const CODE_BYTES: usize = 4;
const LENGTH_BYTES: usize = 2;

/// A redacted frame.
pub(super) struct RedactedRequest {
    pub frame: Bytes,
    /// Whether nothing in the reply is data.
    pub is_of_system: bool,
}

/// Redacts a request. `is_of_system` tells whether a prepared statement, by its id, reads the system's tables. `None` if
/// the request is not understood.
pub(super) fn request(
    frame: &Bytes,
    is_of_system: impl Fn(&[u8]) -> bool,
    hashes: &Hashes,
) -> Option<RedactedRequest> {
    let request = NativeRequest::read(frame).ok()?;
    let is_of_system = |text: &StatementText| match text {
        StatementText::Text(text) => Subject::of(text, Dialect::Cql3) == Subject::System,
        StatementText::Prepared(id) => is_of_system(&id.bytes),
    };
    let is_of_system = request.statements.iter().all(|statement| is_of_system(&statement.text));
    let mut edits = Edits::default();
    let mut is_text = true;
    NativeMessage::read(frame)?.texts(|text, place| match str::from_utf8(text) {
        Ok(text) => {
            let redacted = statement::redacted(text, Subject::of(text, Dialect::Cql3), hashes);
            edits.replace_with_length(place, redacted.as_bytes());
        }
        Err(_) => is_text = false,
    });
    is_text.then_some(())?;
    if is_of_system {
        return Some(RedactedRequest { frame: edits.apply(frame, request.frame.version)?, is_of_system });
    }
    for value in request.statements.iter().flat_map(|statement| &statement.values) {
        if let BoundValue::Value(value) = value {
            edits.replace(place_of(frame, value)?, hashes.data(value));
        }
    }
    if let Some(state) = &request.paging_state {
        edits.replace(place_of(frame, &state.bytes)?, hashes.opaque(&state.bytes));
    }
    Some(RedactedRequest { frame: edits.apply(frame, request.frame.version)?, is_of_system })
}

/// Redacts a reply to a request about data. `None` if it is not understood.
pub(super) fn reply(frame: &Bytes, hashes: &Hashes) -> Option<Bytes> {
    let reply = NativeReply::read(frame).ok()?;
    let mut edits = Edits::default();
    match &reply.content {
        ReplyContent::Error { text, .. } => {
            let start = NativeMessage::read(frame)?.body_at() + CODE_BYTES + LENGTH_BYTES;
            edits.replace(start..start + text.len(), error_text::redacted(text, hashes).into_bytes());
        }
        ReplyContent::Rows(rows) => self::rows(frame, rows, &mut edits, hashes)?,
        _ => {}
    }
    if !reply.warnings.is_empty() {
        let traced = if reply.frame.flags & flag::TRACING != 0 { TRACE_ID_BYTES } else { 0 };
        debug_assert!(reply.frame.flags & flag::WARNING != 0);
        let mut at = reply.frame.version.header_bytes() + traced + LENGTH_BYTES;
        for warning in &reply.warnings {
            at += LENGTH_BYTES;
            edits.replace(at..at + warning.len(), error_text::redacted(warning, hashes).into_bytes());
            at += warning.len();
        }
    }
    edits.apply(frame, reply.frame.version)
}

fn rows(frame: &Bytes, rows: &ResultRows, edits: &mut Edits, hashes: &Hashes) -> Option<()> {
    for row in &rows.rows {
        for (at, value) in row.iter().enumerate() {
            let Some(value) = value else { continue };
            let column = rows.columns.get(at);
            if column.is_none_or(|column| column.cql_type != "counter" && !is_no_data(&column.name)) {
                edits.replace(place_of(frame, value)?, hashes.data(value));
            }
        }
    }
    if let Some(state) = &rows.paging_state {
        edits.replace(place_of(frame, state)?, hashes.opaque(state));
    }
    Some(())
}

/// Changes of a frame, to be made at once.
#[derive(Debug, Default)]
struct Edits(Vec<(Range<usize>, Vec<u8>)>);

impl Edits {
    fn replace(&mut self, place: Range<usize>, bytes: Vec<u8>) {
        if !place.is_empty() {
            self.0.push((place, bytes));
        }
    }

    /// Replaces a text that follows its length of 32 bits.
    fn replace_with_length(&mut self, place: Range<usize>, text: &[u8]) {
        let mut bytes = Vec::with_capacity(4 + text.len());
        bytes.put_u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
        bytes.extend_from_slice(text);
        self.replace(place.start.saturating_sub(4)..place.end, bytes);
    }

    /// Returns the changed frame, with the length of its new body.
    fn apply(mut self, frame: &Bytes, version: ProtocolVersion) -> Option<Bytes> {
        self.0.sort_by_key(|(place, _)| place.start);
        let mut out = BytesMut::with_capacity(frame.len());
        let mut at = 0;
        for (place, bytes) in &self.0 {
            out.extend_from_slice(frame.get(at..place.start)?);
            out.extend_from_slice(bytes);
            at = place.end;
        }
        out.extend_from_slice(frame.get(at..)?);
        let header = version.header_bytes();
        let length = u32::try_from(out.len().checked_sub(header)?).ok()?;
        out.get_mut(header - 4..header)?.copy_from_slice(&length.to_be_bytes());
        Some(out.freeze())
    }
}
