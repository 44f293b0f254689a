//! Handles that the recorded server has made and that differ on the candidate: ids of prepared statements, and states
//! of paging. A request with a handle of the recorded server is sent with the candidate's.

use std::collections::HashMap;

use bytes::{Bytes, BytesMut};

use super::super::call::{
    Answer, Call, HandlePart, NativeFrame, NativeRequest, PreparedTexts, ReplyContent, Request,
};
use super::super::value::Value;
use crate::limits::TRAFFIC_HANDLES_MAX;
use wire::native::RequestCode;

/// Why a request cannot be sent.
pub(super) const UNKNOWN_STATEMENT: &str = "the statement was prepared before the recording began";
pub(super) const UNKNOWN_PAGE: &str =
    "the page before is not in the recording, or has no next page on the candidate";

/// The candidate's for each of the recorded server.
#[derive(Debug, Default)]
pub(super) struct Handles {
    /// Ids of prepared statements and of their columns, and states of paging (native protocol).
    native: HashMap<Bytes, Bytes>,
    /// Ids of prepared statements of Thrift connections: the connection, whether of CQL 3, and the id.
    thrift: HashMap<(u64, bool, i64), i64>,
}

/// A request for the candidate.
#[derive(Debug, PartialEq)]
pub(super) enum Translated {
    Ready(Bytes),
    /// This statement of the recording must be prepared first.
    Prepare {
        id: Bytes,
        text: String,
    },
    Impossible(&'static str),
}

impl Handles {
    /// Learns from both answers to a call.
    pub(super) fn learn(&mut self, connection: u64, call: &Call, recorded: &Answer, candidate: &Answer) {
        match (recorded, candidate) {
            (Answer::Native(recorded), Answer::Native(candidate)) => {
                let handles = native_handles(&recorded.content).into_iter();
                for (handle, other) in handles.zip(native_handles(&candidate.content)) {
                    if let (Some(handle), Some(other)) = (handle, other) {
                        self.put(handle, other);
                    }
                }
            }
            (Answer::Thrift(recorded), Answer::Thrift(candidate)) => {
                let id_of = |fields: &super::super::Fields| fields.get(&0)?.get(1)?.as_int();
                let is_full = self.thrift.len() >= TRAFFIC_HANDLES_MAX;
                if call.method.starts_with("prepare_")
                    && !is_full
                    && let (Some(id), Some(other)) = (id_of(&recorded.fields), id_of(&candidate.fields))
                {
                    self.thrift.insert((connection, call.method.contains("cql3"), id), other);
                }
            }
            _ => {}
        }
    }

    /// Remembers the candidate's handle for a handle of the recorded server.
    pub(super) fn put(&mut self, recorded: &Bytes, candidate: &Bytes) {
        if self.native.len() < TRAFFIC_HANDLES_MAX || self.native.contains_key(recorded) {
            // Copies: slices would keep whole messages in memory.
            self.native.insert(Bytes::copy_from_slice(recorded), Bytes::copy_from_slice(candidate));
        }
    }

    /// Returns a request as the candidate understands it.
    pub(super) fn translate(&self, connection: u64, call: &Call, prepared: &PreparedTexts) -> Translated {
        match &call.request {
            Request::Thrift { message, bytes } => {
                if !call.method.starts_with("execute_prepared_") {
                    return Translated::Ready(bytes.clone());
                }
                let id = message.fields.get(&1).and_then(Value::as_int).unwrap_or_default();
                let other = self.thrift.get(&(connection, call.method.contains("cql3"), id));
                let Some(other) = other.and_then(|other| i32::try_from(*other).ok()) else {
                    return Translated::Impossible(UNKNOWN_STATEMENT);
                };
                let mut message = message.clone();
                message.fields.insert(1, Value::I32(other));
                Translated::Ready(message.write())
            }
            Request::Native(request) => self.translate_native(request, prepared),
        }
    }

    fn translate_native(&self, request: &NativeRequest, prepared: &PreparedTexts) -> Translated {
        if request.code == RequestCode::Startup {
            return Translated::Ready(without_compression(request));
        }
        let mut parts: Vec<(&HandlePart, Bytes)> = Vec::new();
        for id in request.prepared_ids() {
            match (self.native.get(&id.bytes), prepared.get(&id.bytes)) {
                (Some(other), _) => parts.push((id, other.clone())),
                (None, Some(text)) => {
                    return Translated::Prepare { id: id.bytes.clone(), text: text.text.to_string() };
                }
                (None, None) => return Translated::Impossible(UNKNOWN_STATEMENT),
            }
        }
        if let Some(id) = &request.result_id
            && let Some(other) = self.native.get(&id.bytes)
        {
            parts.push((id, other.clone()));
        }
        if let Some(state) = request.paging_state.as_ref().filter(|state| !state.bytes.is_empty()) {
            match self.native.get(&state.bytes) {
                Some(other) => parts.push((state, other.clone())),
                None => return Translated::Impossible(UNKNOWN_PAGE),
            }
        }
        if parts.is_empty() {
            return Translated::Ready(request.frame.write());
        }
        Translated::Ready(request.with_parts(&parts).write())
    }
}

/// Returns the handles of an answer, those of each kind at their own places.
fn native_handles(content: &ReplyContent) -> [Option<&Bytes>; 4] {
    match content {
        ReplyContent::Prepared { id, result_id, .. } => [Some(id), result_id.as_ref(), None, None],
        ReplyContent::Rows(rows) => [None, None, rows.paging_state.as_ref(), rows.result_id.as_ref()],
        _ => [None; 4],
    }
}

/// Returns STARTUP without the option of compression: the replay does not compress.
fn without_compression(request: &NativeRequest) -> Bytes {
    let options: Vec<_> =
        request.options.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("COMPRESSION")).collect();
    let mut body = BytesMut::new();
    let short = |body: &mut BytesMut, length: usize| {
        body.extend_from_slice(&u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
    };
    short(&mut body, options.len());
    for (name, value) in options {
        for text in [name, value] {
            short(&mut body, text.len());
            body.extend_from_slice(text.as_bytes());
        }
    }
    NativeFrame { flags: 0, body: body.freeze(), ..request.frame.clone() }.write()
}
