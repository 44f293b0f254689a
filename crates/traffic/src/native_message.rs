//! The parts of a recorded native frame that show its operation.
//!
//! Nothing is copied, and values are skipped: the recorder looks into each frame. A recorded frame is not compressed.

use std::ops::Range;

use bytes::Bytes;

use crate::native_head::NativeHead;
use wire::native::{ProtocolVersion, RequestCode, ResponseCode, flag};

/// The length of the id of a trace, with which a traced reply begins.
pub(crate) const TRACE_ID_BYTES: usize = 16;

/// The kind of RESULT that answers PREPARE.
const RESULT_PREPARED: i32 = 4;

/// A frame, borrowed from a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NativeMessage<'a> {
    pub version: ProtocolVersion,
    pub is_reply: bool,
    pub flags: u8,
    pub stream: i16,
    pub opcode: u8,
    /// The body without a trace id, warnings and a custom payload.
    pub body: &'a [u8],
    /// Where `body` starts in the frame.
    body_at: usize,
}

/// A statement of a request, and where it is in the frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FrameStatement<'a> {
    Text(&'a [u8]),
    /// The id that PREPARE returned.
    Prepared(&'a [u8]),
}

impl<'a> NativeMessage<'a> {
    /// Returns the parts of a whole frame; `None` if the bytes are not one.
    pub(crate) fn read(frame: &'a [u8]) -> Option<NativeMessage<'a>> {
        let head = NativeHead::read(frame).ok()??;
        let NativeHead { version, is_from_server: is_reply, flags, stream, opcode, .. } = head;
        if frame.len() != head.frame_bytes() {
            return None;
        }
        let mut fields = FrameFields { rest: frame.get(version.header_bytes()..)? };
        if is_reply && flags & flag::TRACING != 0 {
            fields.take(TRACE_ID_BYTES)?;
        }
        if is_reply && version >= ProtocolVersion::V4 && flags & flag::WARNING != 0 {
            for _ in 0..fields.u16()? {
                fields.short_bytes()?;
            }
        }
        if version >= ProtocolVersion::V4 && flags & flag::CUSTOM_PAYLOAD != 0 {
            for _ in 0..fields.u16()? {
                fields.short_bytes()?;
                fields.value()?;
            }
        }
        let body_at = frame.len() - fields.rest.len();
        Some(NativeMessage { version, is_reply, flags, stream, opcode, body: fields.rest, body_at })
    }

    /// Passes the statements of a request to `add`. Statements after one that cannot be read are not passed.
    pub(crate) fn statements(&self, mut add: impl FnMut(FrameStatement<'a>)) {
        let _ = self.each_statement(&mut |statement, _| add(statement));
    }

    /// Passes the texts of a request's statements with their places in the frame.
    pub(crate) fn texts(&self, mut add: impl FnMut(&'a [u8], Range<usize>)) {
        let _ = self.each_statement(&mut |statement, end| {
            if let FrameStatement::Text(text) = statement {
                add(text, end - text.len()..end);
            }
        });
    }

    /// Passes each statement with the place of its end in the frame. `None` if the statements after one cannot be read.
    pub(crate) fn each_statement(&self, add: &mut impl FnMut(FrameStatement<'a>, usize)) -> Option<()> {
        let mut fields = FrameFields { rest: self.body };
        let end = self.body_at + self.body.len();
        match RequestCode::of_number(self.opcode)? {
            RequestCode::Query | RequestCode::Prepare => {
                let text = fields.value()??;
                add(FrameStatement::Text(text), end - fields.rest.len());
            }
            RequestCode::Execute => {
                let id = fields.short_bytes()?;
                add(FrameStatement::Prepared(id), end - fields.rest.len());
            }
            RequestCode::Batch => {
                fields.take(1)?;
                for _ in 0..fields.u16()? {
                    let statement = match fields.take(1)? {
                        [0] => FrameStatement::Text(fields.value()??),
                        _ => FrameStatement::Prepared(fields.short_bytes()?),
                    };
                    add(statement, end - fields.rest.len());
                    for _ in 0..fields.u16()? {
                        fields.value()?;
                    }
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Returns the id in the answer to PREPARE; `None` for other frames.
    pub(crate) fn prepared_id(&self) -> Option<&'a [u8]> {
        if !self.is_reply || self.opcode != ResponseCode::Result as u8 {
            return None;
        }
        let mut fields = FrameFields { rest: self.body };
        if fields.i32()? == RESULT_PREPARED { fields.short_bytes() } else { None }
    }

    /// Returns where the body starts in the frame.
    pub(crate) fn body_at(&self) -> usize {
        self.body_at
    }
}

/// Returns where a part is in the message that it was cut from. Empty parts are anywhere.
pub(crate) fn place_of(message: &Bytes, part: &Bytes) -> Option<Range<usize>> {
    if part.is_empty() {
        return Some(0..0);
    }
    let start = (part.as_ptr() as usize).checked_sub(message.as_ptr() as usize)?;
    let place = start..start.checked_add(part.len())?;
    (message.get(place.clone())? == part).then_some(place)
}

/// Reads fields of a body.
struct FrameFields<'a> {
    rest: &'a [u8],
}

impl<'a> FrameFields<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
    }

    fn i32(&mut self) -> Option<i32> {
        self.take(4)?.first_chunk().map(|bytes| i32::from_be_bytes(*bytes))
    }

    fn short_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u16()?;
        self.take(length.into())
    }

    /// Reads bytes with a length of 32 bits. Negative lengths stand for null and for unset values.
    fn value(&mut self) -> Option<Option<&'a [u8]>> {
        match usize::try_from(self.i32()?) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Some(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(frame: &[u8]) -> Vec<FrameStatement<'_>> {
        let mut found = Vec::new();
        NativeMessage::read(frame).unwrap().statements(|statement| found.push(statement));
        found
    }

    #[test]
    fn statements_of_requests_are_found() {
        let query = b"\x04\0\0\x07\x07\0\0\0\x08\0\0\0\x04USE k";
        assert!(NativeMessage::read(&query[..]).is_none(), "the length is wrong");
        let query = b"\x04\0\0\x07\x07\0\0\0\x09\0\0\0\x05USE k";
        assert_eq!(statements(query), [FrameStatement::Text(b"USE k")]);
        let old = b"\x01\0\x07\x07\0\0\0\x09\0\0\0\x05USE k";
        assert_eq!(statements(old), [FrameStatement::Text(b"USE k")]);
        let payload = b"\x04\x04\0\x07\x0a\0\0\0\x0d\0\x01\0\x01a\0\0\0\x01b\0\x01i";
        assert_eq!(statements(payload), [FrameStatement::Prepared(b"i")]);
        let batch = b"\x03\0\0\x07\x0d\0\0\0\x19\0\0\x02\0\0\0\0\x01a\0\x01\0\0\0\x01v\x01\0\x02id\0\0\0\x01";
        assert_eq!(statements(batch), [FrameStatement::Text(b"a"), FrameStatement::Prepared(b"id")]);
        let mut places = Vec::new();
        NativeMessage::read(batch).unwrap().texts(|_, place| places.push(place));
        let [place] = places.as_slice() else { unreachable!("one text") };
        assert_eq!(*place, 17..18);
    }

    #[test]
    fn the_id_of_a_prepared_statement_is_found_behind_a_trace_and_warnings() {
        let mut reply = b"\x84\x0a\0\x01\x08\0\0\0\x21".to_vec();
        reply.extend([7; 16]);
        reply.extend(b"\0\x01\0\x05warns\0\0\0\x04\0\x02id");
        assert_eq!(NativeMessage::read(&reply).unwrap().prepared_id(), Some(&b"id"[..]));
        for end in 0..reply.len() {
            assert_eq!(NativeMessage::read(&reply[..end]), None);
        }
        let mut cut = reply[..9].to_vec();
        cut[8] = 0;
        assert_eq!(NativeMessage::read(&cut), None, "the flags announce more");
    }
}
