//! The reply to a request, or an event.

use bytes::{BufMut, BytesMut};

use super::error::{FailedOperation, NativeError};
use super::event::NativeEvent;
use db::faults::ReplyFault;
use wire::limits::NATIVE_FRAME_BYTES_MAX;
use wire::native::{BodyWriter, Compression, ProtocolVersion, ResponseCode, flag, write_frame};

/// Shorter bodies are not compressed: compression costs more than it saves.
const COMPRESSED_BYTES_MIN: usize = 512;
/// The stream number of events.
const EVENT_STREAM: i16 = -1;

/// The body of a frame to send, and the fields of its header.
#[derive(Debug)]
pub struct Reply {
    /// The stream number of the request, by which the client finds it; -1 for events.
    pub stream: i16,
    opcode: ResponseCode,
    body: BytesMut,
    /// The id of the trace that the request asked for.
    trace: Option<[u8; 16]>,
    /// Warnings for the client.
    warnings: Vec<String>,
    /// The effect of a test's fault on the reply.
    pub fault: Option<ReplyFault>,
}

impl Reply {
    /// Returns a reply; an error if the body is too long for a frame.
    pub fn new(stream: i16, opcode: ResponseCode, body: BytesMut) -> Reply {
        if body.len() <= NATIVE_FRAME_BYTES_MAX {
            return Reply::plain(stream, opcode, body);
        }
        let error = db::Error::invalid(format!(
            "the result has {} bytes, and a frame has at most {NATIVE_FRAME_BYTES_MAX}: use paging",
            body.len()
        ));
        // This error has the same encoding in all versions.
        Reply::error(stream, &error.into(), FailedOperation::default(), ProtocolVersion::V1)
    }

    /// Returns an ERROR frame. `doing` is the operation that failed, which some errors describe.
    pub fn error(
        stream: i16,
        error: &NativeError,
        doing: FailedOperation,
        version: ProtocolVersion,
    ) -> Reply {
        let mut body = BytesMut::new();
        error.write(doing, version, &mut body);
        Reply::plain(stream, ResponseCode::Error, body)
    }

    /// Returns a frame with an event.
    pub(crate) fn event(event: &NativeEvent, version: ProtocolVersion) -> Reply {
        let mut body = BytesMut::new();
        event.write(&mut BodyWriter::new(&mut body, version));
        Reply::plain(EVENT_STREAM, ResponseCode::Event, body)
    }

    fn plain(stream: i16, opcode: ResponseCode, body: BytesMut) -> Reply {
        Reply { stream, opcode, body, trace: None, warnings: Vec::new(), fault: None }
    }

    /// Adds the id of the request's trace, which the body then begins with; `None` without tracing.
    #[must_use]
    pub(crate) fn traced(self, trace: Option<[u8; 16]>) -> Reply {
        Reply { trace, ..self }
    }

    /// Sets the fault of a test that the connection applies when it sends the reply.
    #[must_use]
    pub(crate) fn under(self, fault: Option<ReplyFault>) -> Reply {
        Reply { fault, ..self }
    }

    /// Sets warnings for the client. Only version 4 and later send them.
    #[must_use]
    pub(crate) fn warned(self, warnings: Vec<String>) -> Reply {
        Reply { warnings, ..self }
    }

    /// Returns the memory of the reply in bytes.
    pub(crate) fn bytes_held(&self) -> usize {
        self.body.capacity()
    }

    /// Whether it is an ERROR frame.
    pub fn is_error(&self) -> bool {
        self.opcode == ResponseCode::Error
    }

    /// Appends the frame to `out`. Version 5 compresses segments instead of bodies.
    pub fn write(self, version: ProtocolVersion, compression: Option<Compression>, out: &mut BytesMut) {
        debug_assert!(self.body.len() <= NATIVE_FRAME_BYTES_MAX, "a frame has no longer body");
        let (flags, mut front) = self.front(version);
        let body = if front.is_empty() {
            self.body
        } else {
            front.extend_from_slice(&self.body);
            front
        };
        let compression =
            compression.filter(|_| !version.has_segments() && body.len() >= COMPRESSED_BYTES_MIN);
        match compression.and_then(|compression| compression.compress(&body)) {
            Some(packed) => {
                write_frame(out, version, flags | flag::COMPRESSED, self.stream, self.opcode, &packed);
            }
            None => write_frame(out, version, flags, self.stream, self.opcode, &body),
        }
    }

    /// Returns the flags, and the fields before the message that they announce: trace id and warnings.
    fn front(&self, version: ProtocolVersion) -> (u8, BytesMut) {
        let (mut flags, mut front) = (0, BytesMut::new());
        if let Some(trace) = self.trace {
            flags |= flag::TRACING;
            front.put_slice(&trace);
        }
        if !self.warnings.is_empty() && version >= ProtocolVersion::V4 {
            flags |= flag::WARNING;
            BodyWriter::new(&mut front, version).strings(self.warnings.iter().map(String::as_str));
        }
        (flags, front)
    }
}
