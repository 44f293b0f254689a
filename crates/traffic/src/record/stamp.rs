//! Gives CQL writes of clients a timestamp, if they have none, so that all servers that get them store the same.
//!
//! ```text
//!   native v3 and later   QUERY, EXECUTE, BATCH    the default timestamp of the request
//!   native v1 and v2      QUERY, BATCH             USING TIMESTAMP in the text
//!   Thrift                execute_cql(3)_query     USING TIMESTAMP in the text
//! ```
//!
//! Conditional statements, counters, and statements that have a timestamp stay as they are; so do executions of prepared
//! statements in native v1 and v2 and over Thrift, which have no place for one. A DELETE as text needs a table that is
//! known to have no counters: one that was written before by an INSERT, or by an UPDATE that sets a value.
//!
//! Executions of statements that a queue does not know are not passed: see [`super::own_replies`].
//!
//! Requests are passed once they are whole. Bytes that cannot be decoded, and all after them, pass unchanged.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::collections::HashSet;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use parking_lot::Mutex;

use super::decoder::{Unreadable, compression_of, decompressed, protocol_of, read_head};
use super::own_replies::unprepared_reply;
use crate::call::{NativeFrame, NativeRequest, StatementText, StatementWords};
use crate::limits::{RECORDED_MESSAGE_BYTES_MAX, SHADOW_PLAIN_TABLES_MAX};
use crate::native_head::NativeHead;
use crate::native_message::NativeMessage;
use crate::queue::CapturedTap;
use crate::{LossReason, Protocol, Side, ThriftMessage, Value};
use base::util::Clock;
use cql_syntax::limits::STATEMENT_BYTES_MAX;
use cql_syntax::{TableName, with_timestamp};
use wire::native::{Compression, ProtocolVersion, RequestCode, SegmentCodec};
use wire::thrift::frame::{MessageCutter, NextMessage, Transport};
use wire::thrift::{MessageHeader, NOT_COMPRESSED, Reader, query_text};

/// The state that all connections share.
#[derive(Clone)]
pub struct Stamps {
    /// Its times are unique.
    clock: Arc<Clock>,
    /// Tables that are known to have no counters, with their keyspaces.
    plain: Arc<Mutex<HashSet<TableName>>>,
}

impl Default for Stamps {
    fn default() -> Stamps {
        Stamps { clock: Arc::new(Clock::system()), plain: Arc::default() }
    }
}

/// The requests of a connection.
pub(super) struct RequestStamp {
    statements: StampedStatements,
    /// Bytes that are not passed yet.
    input: BytesMut,
    requests: StampedRequests,
}

enum StampedRequests {
    Undetected,
    Thrift(Box<MessageCutter>),
    Native(NativeRequests),
    /// The bytes pass unchanged.
    Unknown,
}

/// A request that does not pass unchanged.
enum StampedRequest {
    /// It is passed in another form.
    Other(Bytes),
    /// It is not passed: this is the reply.
    Answered(Bytes),
}

#[derive(Default)]
struct NativeRequests {
    compression: Option<Compression>,
    /// After STARTUP of version 5.
    segments: Option<SegmentCodec>,
    /// Frames that came out of segments.
    frames: BytesMut,
}

impl RequestStamp {
    /// Returns the stamp of a new connection, whose writes may go into a queue.
    pub(super) fn new(stamps: Option<Stamps>, captured: Option<Arc<CapturedTap>>) -> RequestStamp {
        let statements = StampedStatements { stamps, keyspace: None, captured, replies: BytesMut::new() };
        RequestStamp { statements, input: BytesMut::new(), requests: StampedRequests::Undetected }
    }

    /// Returns the replies to requests that were not passed.
    pub(super) fn take_replies(&mut self) -> Bytes {
        self.statements.replies.split().freeze()
    }

    /// Returns the bytes that are passed on after these bytes of the client.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Bytes {
        self.input.extend_from_slice(bytes);
        if matches!(self.requests, StampedRequests::Undetected) {
            self.requests = match protocol_of(&self.input) {
                None => return Bytes::new(),
                Some(Ok(Protocol::Native)) => StampedRequests::Native(NativeRequests::default()),
                Some(Ok(Protocol::Thrift { is_framed })) => {
                    let transport = Protocol::transport(is_framed);
                    StampedRequests::Thrift(Box::new(MessageCutter::new(
                        transport,
                        RECORDED_MESSAGE_BYTES_MAX,
                    )))
                }
                Some(Err(_)) => StampedRequests::Unknown,
            };
        }
        let mut out = BytesMut::new();
        let passed = match &mut self.requests {
            StampedRequests::Thrift(cutter) => {
                pass_thrift(cutter, &mut self.input, &mut self.statements, &mut out)
            }
            StampedRequests::Native(requests) => {
                requests.pass(&mut self.input, &mut self.statements, &mut out)
            }
            StampedRequests::Undetected | StampedRequests::Unknown => Err(Unreadable(LossReason::Unreadable)),
        };
        if passed.is_err() {
            out.extend_from_slice(&self.rest());
        }
        out.freeze()
    }

    /// Returns all bytes that were not passed yet. Later ones are not changed.
    pub(super) fn rest(&mut self) -> Bytes {
        let mut rest = BytesMut::new();
        if let StampedRequests::Native(NativeRequests { segments: Some(codec), frames, .. }) = &self.requests
        {
            codec.put(frames, &mut rest);
        }
        self.requests = StampedRequests::Unknown;
        rest.extend_from_slice(&self.input.split());
        rest.freeze()
    }
}

/// Passes the whole messages of a Thrift client.
fn pass_thrift(
    cutter: &mut MessageCutter,
    input: &mut BytesMut,
    statements: &mut StampedStatements,
    out: &mut BytesMut,
) -> Result<(), Unreadable> {
    // An error takes nothing off the input. The cutter has one limit, so it skips no messages.
    while let NextMessage::Message(message) =
        cutter.next_message(input).map_err(|_| Unreadable(LossReason::Unreadable))?
    {
        let message = statements.stamp_thrift(&message).unwrap_or(message);
        if cutter.transport() == Transport::Framed {
            out.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
        }
        out.put_slice(&message);
    }
    Ok(())
}

impl NativeRequests {
    fn pass(
        &mut self,
        input: &mut BytesMut,
        statements: &mut StampedStatements,
        out: &mut BytesMut,
    ) -> Result<(), Unreadable> {
        loop {
            let codec = self.segments;
            if let Some(codec) = codec {
                while codec.take(input, &mut self.frames).map_err(|_| Unreadable(LossReason::Unreadable))? {}
            }
            let source = if codec.is_some() { &mut self.frames } else { &mut *input };
            let Some(head) = read_head(source, Side::Client)? else { return Ok(()) };
            if source.len() < head.frame_bytes() {
                return Ok(());
            }
            let frame = source.split_to(head.frame_bytes()).freeze();
            let (frame, out) = match self.stamped(&head, &frame, statements) {
                None => (frame, &mut *out),
                Some(StampedRequest::Other(frame)) => (frame, &mut *out),
                Some(StampedRequest::Answered(reply)) => (reply, &mut statements.replies),
            };
            match codec {
                Some(codec) => codec.put(&frame, out),
                None => out.extend_from_slice(&frame),
            }
        }
    }

    /// Returns the frame of a write with a timestamp, or the reply to it, not compressed; `None` if it passes as it is.
    fn stamped(
        &mut self,
        head: &NativeHead,
        frame: &Bytes,
        statements: &mut StampedStatements,
    ) -> Option<StampedRequest> {
        match RequestCode::of_number(head.opcode)? {
            RequestCode::Startup => {
                self.compression = compression_of(head, frame);
                let is_compressed = self.compression.is_some();
                self.segments = head.version.has_segments().then_some(SegmentCodec { is_compressed });
                None
            }
            RequestCode::Query | RequestCode::Prepare | RequestCode::Execute | RequestCode::Batch => {
                let frame = decompressed(head, frame.clone(), self.compression)?;
                let request = NativeRequest::read(&frame).ok()?;
                let captured = statements.captured.as_ref();
                match captured.and_then(|captured| unprepared_reply(captured, &request)) {
                    Some(reply) => Some(StampedRequest::Answered(reply)),
                    None => statements.stamp_native(&frame, &request).map(StampedRequest::Other),
                }
            }
            _ => None,
        }
    }
}

/// Adds timestamps to the statements of one connection.
struct StampedStatements {
    /// `None` if statements stay as they are.
    stamps: Option<Stamps>,
    /// The keyspace that the client has selected.
    keyspace: Option<String>,
    /// Knows the prepared statements.
    captured: Option<Arc<CapturedTap>>,
    /// The replies to requests that are not passed.
    replies: BytesMut,
}

impl StampedStatements {
    /// Returns the text of a write with this timestamp, and learns from it which tables have no counters.
    fn stamp_text(&mut self, text: &str, timestamp_us: i64) -> Option<String> {
        if let Some(keyspace) = StatementWords::used_keyspace(text) {
            self.keyspace = Some(keyspace);
        }
        let plain = &self.stamps.as_ref()?.plain;
        with_timestamp(text, timestamp_us, |table, shows_plain| {
            let table = TableName { keyspace: table.keyspace.or_else(|| self.keyspace.clone()), ..table };
            let mut plain = plain.lock();
            if shows_plain && plain.len() < SHADOW_PLAIN_TABLES_MAX {
                plain.insert(table);
                return true;
            }
            shows_plain || plain.contains(&table)
        })
    }

    fn stamp_thrift(&mut self, message: &Bytes) -> Option<Bytes> {
        let name = MessageHeader::read(&mut Reader::new(message)).ok()?.name;
        let is_text = matches!(name, b"execute_cql_query" | b"execute_cql3_query");
        let prepares = matches!(name, b"prepare_cql_query" | b"prepare_cql3_query");
        if !is_text && !prepares && name != b"set_keyspace" {
            return None;
        }
        let mut call = ThriftMessage::read(message).ok()?;
        let text = call.fields.get(&1)?.as_binary()?;
        if !is_text && !prepares {
            self.keyspace = Some(String::from_utf8_lossy(text).into_owned());
            return None;
        }
        let compression = call.fields.get(&2).and_then(Value::as_int).unwrap_or(i64::from(NOT_COMPRESSED));
        let text = query_text(text, i32::try_from(compression).ok()?, STATEMENT_BYTES_MAX).ok()?;
        let timestamp_us = self.stamps.as_ref()?.clock.next_micros();
        let stamped = self.stamp_text(std::str::from_utf8(&text).ok()?, timestamp_us)?;
        if prepares {
            return None;
        }
        call.fields.insert(1, Value::Binary(stamped.into()));
        call.fields.insert(2, Value::I32(NOT_COMPRESSED));
        Some(call.write())
    }

    fn stamp_native(&mut self, frame: &Bytes, request: &NativeRequest) -> Option<Bytes> {
        let (mut stamped, timestamp_us) = (Vec::new(), self.stamps.as_ref()?.clock.next_micros());
        for statement in &request.statements {
            if let StatementText::Text(text) = &statement.text {
                stamped.push(self.stamp_text(text, timestamp_us).or_else(|| {
                    // The default timestamp of a request does no harm to counters, so their tables may be unknown.
                    let may_be = matches!(&StatementWords::of(text).verb[..], "DELETE" | "BEGIN");
                    let has_default = request.frame.version >= ProtocolVersion::V3;
                    (may_be && has_default).then(|| with_timestamp(text, 0, |_, _| true))?
                }));
            }
        }
        match request.code {
            RequestCode::Prepare => None,
            RequestCode::Query if stamped.iter().all(Option::is_none) => None,
            _ if request.frame.version >= ProtocolVersion::V3 => {
                request.with_timestamp(timestamp_us).map(|frame| frame.write())
            }
            // The statements of a batch have one timestamp, or the server sets one for all.
            _ if stamped.len() < request.statements.len() => None,
            _ => with_texts(frame, &request.frame, &stamped.into_iter().collect::<Option<Vec<_>>>()?),
        }
    }
}

/// Returns a frame with other texts of its statements, in their order.
pub(crate) fn with_texts(message: &Bytes, frame: &NativeFrame, texts: &[String]) -> Option<Bytes> {
    let (mut body, mut copied) = (BytesMut::new(), frame.version.header_bytes());
    let mut texts = texts.iter();
    NativeMessage::read(message)?.texts(|_, place| {
        if let Some(text) = texts.next() {
            body.put_slice(message.get(copied..place.start - 4).unwrap_or_default());
            body.put_u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
            body.put_slice(text.as_bytes());
            copied = place.end;
        }
    });
    body.put_slice(message.get(copied..)?);
    Some(NativeFrame { body: body.freeze(), ..frame.clone() }.write())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::fields_from_json;
    use wire::thrift::MessageKind;

    fn frame(version: u8, opcode: u8, body: &[u8]) -> Bytes {
        let frame = NativeFrame {
            version: ProtocolVersion::of_number(version).unwrap(),
            is_from_server: false,
            flags: 0,
            stream: 3,
            opcode,
            body: Bytes::copy_from_slice(body),
        };
        frame.write()
    }

    fn stamped_by(stamps: Stamps) -> RequestStamp {
        RequestStamp::new(Some(stamps), None)
    }

    fn startup(version: u8) -> Bytes {
        frame(version, 1, b"\0\x01\0\x0bCQL_VERSION\0\x053.0.0")
    }

    fn query(version: u8, text: &str) -> Bytes {
        let mut body = BytesMut::new();
        body.put_u32(text.len() as u32);
        body.put_slice(text.as_bytes());
        body.put_slice(if version == 1 { b"\0\x01" } else { b"\0\x01\0" });
        frame(version, 7, &body)
    }

    /// Returns the text and the timestamp of the only request that is passed.
    fn passed(stamp: &mut RequestStamp, bytes: &[u8]) -> (String, Option<i64>) {
        // The request arrives in pieces.
        let passed: Vec<u8> = bytes.chunks(7).flat_map(|piece| stamp.take(piece)).collect();
        let request = NativeRequest::read(&passed.into()).unwrap();
        match &request.statements[0].text {
            StatementText::Text(text) => (text.clone(), request.timestamp),
            StatementText::Prepared(_) => (String::new(), request.timestamp),
        }
    }

    #[test]
    fn writes_get_the_default_timestamp_where_the_version_has_one() {
        for version in [3, 4] {
            let mut stamp = stamped_by(Stamps::default());
            assert_eq!(stamp.take(&startup(version)), startup(version));
            for (text, is_stamped) in [
                ("INSERT INTO t (k) VALUES (1)", true),
                ("DELETE FROM unknown WHERE k = 1", true),
                ("UPDATE n SET n = n + 1 WHERE k = 1", false),
                ("UPDATE t SET v = 1 WHERE k = 1 IF v = 2", false),
                ("UPDATE t USING TIMESTAMP 5 SET v = 1 WHERE k = 1", false),
                ("SELECT v FROM t", false),
            ] {
                let (passed, timestamp) = passed(&mut stamp, &query(version, text));
                assert_eq!((&passed[..], timestamp.is_some()), (text, is_stamped), "{text}");
            }
            let execute = frame(version, 0x0a, b"\0\x02id\0\x01\0");
            assert!(passed(&mut stamp, &execute).1.is_some());
        }
    }

    #[test]
    fn old_versions_get_it_in_the_text() {
        let mut stamp = stamped_by(Stamps::default());
        stamp.take(&startup(1));
        let delete = "DELETE FROM t WHERE k = 1";
        assert_eq!(passed(&mut stamp, &query(1, delete)).0, delete, "it may be a table of counters");
        let insert = passed(&mut stamp, &query(1, "INSERT INTO t (k) VALUES (1)")).0;
        assert!(insert.starts_with("INSERT INTO t (k) VALUES (1) USING TIMESTAMP 1"), "{insert}");
        assert!(passed(&mut stamp, &query(1, delete)).0.starts_with("DELETE FROM t USING TIMESTAMP 1"));
        let mut other = stamped_by(stamp.statements.stamps.clone().unwrap());
        other.take(&startup(1));
        other.take(&query(1, "USE ks"));
        assert_eq!(passed(&mut other, &query(1, delete)).0, delete, "another keyspace");
    }

    #[test]
    fn statements_of_thrift_get_it_in_the_text() {
        let call = |name: &'static str, fields: &str| {
            let fields = fields_from_json(&serde_json::from_str(fields).unwrap()).unwrap();
            let message =
                ThriftMessage { name: name.into(), kind: MessageKind::Call, seqid: 9, fields }.write();
            let mut bytes = BytesMut::new();
            bytes.put_u32(message.len() as u32);
            bytes.put_slice(&message);
            bytes.freeze()
        };
        let mut stamp = stamped_by(Stamps::default());
        let plain = call("set_keyspace", r#"{"1": {"t": "k"}}"#);
        assert_eq!(stamp.take(&plain), plain);
        let insert = call(
            "execute_cql3_query",
            r#"{"1": {"t": "INSERT INTO t (k) VALUES (1)"}, "2": {"i": 2}, "3": {"i": 1}}"#,
        );
        let passed: Vec<u8> = insert.chunks(5).flat_map(|piece| stamp.take(piece)).collect();
        let length = u32::from_be_bytes(passed[..4].try_into().unwrap()) as usize;
        let passed = ThriftMessage::read(&Bytes::copy_from_slice(&passed[4..])).unwrap();
        assert_eq!((length, passed.seqid), (passed.write().len(), 9));
        let text = String::from_utf8_lossy(passed.fields[&1].as_binary().unwrap()).into_owned();
        assert!(text.contains("VALUES (1) USING TIMESTAMP 1"), "{text}");
        assert_eq!(passed.fields[&3], Value::I32(1));
    }

    #[test]
    fn other_bytes_pass_unchanged() {
        let mut stamp = stamped_by(Stamps::default());
        assert_eq!(stamp.take(b"GET / HTTP/1.1\r\n"), "GET / HTTP/1.1\r\n");
        assert_eq!(stamp.take(b"\x04"), "\x04");
        let mut native = stamped_by(Stamps::default());
        native.take(&startup(4));
        assert_eq!(native.take(b"\x04\0\0\x01"), "");
        assert_eq!(native.rest(), Bytes::from_static(b"\x04\0\0\x01"));
    }
}
