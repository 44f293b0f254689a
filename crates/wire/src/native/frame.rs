//! Frames: a header and a body.
//!
//! ```text
//!   version 1 and 2   version | flags | stream i8  | opcode | u32 length | body
//!   version 3 to 5    version | flags | stream i16 | opcode | u32 length | body
//! ```
//!
//! The server sets the highest bit of the version in its frames.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::limits::NATIVE_FRAME_BYTES_MAX;
use crate::native::opcode::ResponseCode;
use crate::native::version::ProtocolVersion;

const FROM_SERVER: u8 = 0x80;

/// The flags of a frame.
pub mod flag {
    /// The body is compressed, with the algorithm of STARTUP. Version 5 compresses segments instead, and ignores the
    /// flag.
    pub const COMPRESSED: u8 = 0x01;
    /// In a request: trace it. In a reply: the body begins with the id of the trace, 16 bytes.
    pub const TRACING: u8 = 0x02;
    /// The body begins with a custom payload, a map of bytes. From version 4 on.
    pub const CUSTOM_PAYLOAD: u8 = 0x04;
    /// From version 4 on.
    pub const WARNING: u8 = 0x08;
}

/// A complete frame of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The version in the header. All frames of a connection have the same one.
    pub version: ProtocolVersion,
    /// The bits of [`flag`].
    pub flags: u8,
    /// The number with which the client matches the reply to its request; the reply repeats it.
    pub stream: i16,
    /// The code of the request, see [`RequestCode::of_number`](crate::native::RequestCode::of_number); it may be
    /// unknown.
    pub opcode: u8,
    /// The body as received, which may be compressed.
    pub body: Bytes,
}

/// The result of taking the next frame.
#[derive(Debug, PartialEq, Eq)]
pub enum NextFrame {
    /// A complete frame, removed from the buffer.
    Frame(Frame),
    /// A frame that is too long: its body is skipped, and the client gets an error.
    TooLong {
        /// The version for the error reply.
        version: ProtocolVersion,
        /// The stream of the request, for the error reply.
        stream: i16,
        /// The announced length of the body, in bytes.
        length: usize,
    },
    /// The rest of the next frame has not arrived.
    Incomplete,
}

/// Returns the end of the text of [`NativeFrameError::Version`]. 2.2, the first release with version 4, has another one than 1.2
/// to 2.1.
fn of_version(number: u8, highest: ProtocolVersion) -> String {
    if highest < ProtocolVersion::V4 {
        format!(": {number}")
    } else {
        format!(" ({number}); highest supported is {} ", highest.number())
    }
}

/// Why frames cannot be read. The connection must be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NativeFrameError {
    /// The text makes drivers try a lower version. It comes from the releases that have this highest version.
    #[error("Invalid or unsupported protocol version{}", of_version(*number, *highest))]
    Version {
        /// The first byte of the frame.
        number: u8,
        /// The highest version that the server supports.
        highest: ProtocolVersion,
    },
    /// The frame has another version than the first frame of the connection.
    #[error(
        "Invalid message version. Got {got} but previous messages on this connection had version {expected}"
    )]
    OtherVersion {
        /// The version of this frame.
        got: ProtocolVersion,
        /// The version of the first frame.
        expected: ProtocolVersion,
        /// The stream of this frame, for the error reply.
        stream: i16,
    },
    /// The highest bit of the version is set, as only servers set it.
    #[error("the client sent a frame of a server: the highest bit of the version is set")]
    FromServer,
}

/// Cuts received bytes into frames.
#[derive(Debug)]
pub struct FrameCutter {
    /// The version of the connection's first frame. All other frames must have it.
    version: Option<ProtocolVersion>,
    highest: ProtocolVersion,
    /// Longest allowed body, in bytes.
    bytes_max: usize,
    /// Bytes of a skipped body that have not arrived.
    to_skip: usize,
}

impl Default for FrameCutter {
    fn default() -> FrameCutter {
        FrameCutter::up_to(ProtocolVersion::HIGHEST)
    }
}

impl FrameCutter {
    /// Creates a cutter for a server whose highest version is `highest`.
    pub fn up_to(highest: ProtocolVersion) -> FrameCutter {
        FrameCutter { version: None, highest, bytes_max: NATIVE_FRAME_BYTES_MAX, to_skip: 0 }
    }

    /// Returns the version for replies: the client's, or the highest if the client has sent no frame of a supported
    /// version.
    pub fn version(&self) -> ProtocolVersion {
        self.version.unwrap_or(self.highest)
    }

    /// Skips bodies of more than `bytes` from now on.
    pub fn refuse_above(&mut self, bytes: usize) {
        self.bytes_max = bytes.min(NATIVE_FRAME_BYTES_MAX);
    }

    /// Returns the longest allowed body in bytes.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Returns the stream of the incomplete frame in the buffer, and the number of its missing bytes. `None` until its
    /// header has arrived.
    pub fn begun(&self, buffer: &[u8]) -> Option<(i16, usize)> {
        let version = self.version.filter(|_| self.to_skip == 0)?;
        let mut rest = buffer.get(2..version.header_bytes())?;
        let stream = if version < ProtocolVersion::V3 { i16::from(rest.get_i8()) } else { rest.get_i16() };
        let _opcode = rest.get_u8();
        let length = rest.get_u32() as usize;
        Some((stream, (version.header_bytes() + length).saturating_sub(buffer.len())))
    }

    /// Discards the frame that has begun and is all that the buffer has, and frees the buffer. Returns its stream; the
    /// rest is skipped. `None` if its header has not arrived.
    pub fn discard(&mut self, buffer: &mut BytesMut) -> Option<i16> {
        let (stream, missing) = self.begun(buffer)?;
        self.to_skip = missing;
        *buffer = BytesMut::new();
        Some(stream)
    }

    /// Returns whether only a part of a frame has arrived.
    pub fn is_within_frame(&self, buffer: &[u8]) -> bool {
        self.to_skip > 0 || !buffer.is_empty()
    }

    /// Takes the next frame off the front of the buffer.
    pub fn next_frame(&mut self, buffer: &mut BytesMut) -> Result<NextFrame, NativeFrameError> {
        if self.to_skip > 0 {
            let skipped = self.to_skip.min(buffer.len());
            buffer.advance(skipped);
            self.to_skip -= skipped;
        }
        debug_assert!(self.to_skip == 0 || buffer.is_empty(), "a part of a skipped body would be a frame");
        let Some(first) = buffer.first().copied() else { return Ok(NextFrame::Incomplete) };
        if first & FROM_SERVER != 0 {
            return Err(NativeFrameError::FromServer);
        }
        let version = ProtocolVersion::of_number(first).filter(|version| *version <= self.highest);
        let version = version.ok_or(NativeFrameError::Version { number: first, highest: self.highest })?;
        let Some(mut header) = buffer.get(1..version.header_bytes()) else {
            return Ok(NextFrame::Incomplete);
        };
        let flags = header.get_u8();
        let stream =
            if version < ProtocolVersion::V3 { i16::from(header.get_i8()) } else { header.get_i16() };
        let opcode = header.get_u8();
        let length = header.get_u32() as usize;
        if let Some(expected) = self.version.filter(|expected| *expected != version) {
            return Err(NativeFrameError::OtherVersion { got: version, expected, stream });
        }
        self.version = Some(version);
        if length > self.bytes_max {
            buffer.advance(version.header_bytes());
            self.to_skip = length;
            return Ok(NextFrame::TooLong { version, stream, length });
        }
        if buffer.len() < version.header_bytes() + length {
            return Ok(NextFrame::Incomplete);
        }
        buffer.advance(version.header_bytes());
        let body = buffer.split_to(length).freeze();
        Ok(NextFrame::Frame(Frame { version, flags, stream, opcode, body }))
    }
}

/// Writes a frame of the server. The length of the body must fit in a u32.
pub fn write_frame(
    out: &mut BytesMut,
    version: ProtocolVersion,
    flags: u8,
    stream: i16,
    opcode: ResponseCode,
    body: &[u8],
) {
    debug_assert!(u32::try_from(body.len()).is_ok(), "the next frame would begin within this one");
    out.reserve(version.header_bytes() + body.len());
    out.put_u8(version.number() | FROM_SERVER);
    out.put_u8(flags);
    if version < ProtocolVersion::V3 {
        // Stream numbers of these versions have one byte.
        out.put_i8(i8::try_from(stream).unwrap_or(-1));
    } else {
        out.put_i16(stream);
    }
    out.put_u8(opcode as u8);
    out.put_u32(u32::try_from(body.len()).unwrap_or(u32::MAX));
    out.put_slice(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(bytes: &[u8]) -> Result<NextFrame, NativeFrameError> {
        FrameCutter::default().next_frame(&mut BytesMut::from(bytes))
    }

    #[test]
    fn a_frame_is_returned_when_it_is_complete() {
        let frame = Frame {
            version: ProtocolVersion::V4,
            flags: 2,
            stream: 0x0102,
            opcode: 7,
            body: Bytes::from_static(b"ab"),
        };
        let bytes = b"\x04\x02\x01\x02\x07\0\0\0\x02ab\x04";
        let mut buffer = BytesMut::from(&bytes[..]);
        let mut cutter = FrameCutter::default();
        assert_eq!(cutter.next_frame(&mut buffer), Ok(NextFrame::Frame(frame)));
        assert_eq!(cutter.next_frame(&mut buffer), Ok(NextFrame::Incomplete));
        assert_eq!(buffer, b"\x04"[..]);
        for end in 0..11 {
            assert_eq!(cut(&bytes[..end]), Ok(NextFrame::Incomplete), "{end}");
        }
    }

    #[test]
    fn streams_of_old_versions_have_one_byte() {
        let Ok(NextFrame::Frame(frame)) = cut(b"\x02\0\xff\x05\0\0\0\0") else { unreachable!("no frame") };
        assert_eq!((frame.version, frame.stream, frame.opcode), (ProtocolVersion::V2, -1, 5));
        let mut out = BytesMut::new();
        write_frame(&mut out, ProtocolVersion::V2, 0, 5, ResponseCode::Ready, b"");
        assert_eq!(out, b"\x82\0\x05\x02\0\0\0\0"[..]);
    }

    #[test]
    fn unsupported_versions_are_refused_with_the_text_that_drivers_expect() {
        for number in [0, 6, 65, 66, 127] {
            let error = cut(&[number]).unwrap_err();
            assert_eq!(error, NativeFrameError::Version { number, highest: ProtocolVersion::V5 });
            let expected =
                format!("Invalid or unsupported protocol version ({number}); highest supported is 5 ");
            assert_eq!(error.to_string(), expected);
        }
        assert_eq!(cut(b"\x84"), Err(NativeFrameError::FromServer));
        let mut old = FrameCutter::up_to(ProtocolVersion::V3);
        let error = old.next_frame(&mut BytesMut::from(&b"\x04"[..])).unwrap_err();
        assert_eq!(error.to_string(), "Invalid or unsupported protocol version: 4");
        assert_eq!(old.version(), ProtocolVersion::V3);
    }

    #[test]
    fn a_frame_of_another_version_is_an_error() {
        let mut cutter = FrameCutter::default();
        let mut buffer = BytesMut::from(&b"\x04\0\0\0\x05\0\0\0\0\x03\0\0\x09\x05\0\0\0\0"[..]);
        assert!(matches!(cutter.next_frame(&mut buffer), Ok(NextFrame::Frame(_))));
        let error = cutter.next_frame(&mut buffer).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Invalid message version. Got 3/v3 but previous messages on this connection had version 4/v4"
        );
    }

    #[test]
    fn a_frame_that_has_begun_can_be_discarded() {
        for head in [&b"\x04\0\0\x07\x05\0\0\0\x05"[..], b"\x02\0\x07\x05\0\0\0\x05"] {
            let mut cutter = FrameCutter::default();
            let mut buffer = BytesMut::from(&head[..4]);
            assert_eq!(cutter.next_frame(&mut buffer), Ok(NextFrame::Incomplete));
            assert_eq!(cutter.discard(&mut buffer), None, "the length is unknown");
            buffer.extend_from_slice(&head[4..]);
            buffer.put_slice(b"ab");
            assert_eq!(cutter.next_frame(&mut buffer), Ok(NextFrame::Incomplete));
            assert_eq!(cutter.begun(&buffer), Some((7, 3)));
            assert_eq!(cutter.discard(&mut buffer), Some(7));
            assert!(buffer.is_empty() && cutter.is_within_frame(&buffer));
            assert_eq!(cutter.discard(&mut buffer), None);
            buffer.put_slice(b"cde");
            assert_eq!(cutter.next_frame(&mut buffer), Ok(NextFrame::Incomplete));
            assert!(!cutter.is_within_frame(&buffer));
        }
    }

    #[test]
    fn a_frame_that_is_too_long_is_skipped() {
        let length = NATIVE_FRAME_BYTES_MAX + 1;
        let mut buffer = BytesMut::from(&b"\x04\0\0\x03\x07"[..]);
        buffer.put_u32(u32::try_from(length).unwrap());
        let mut cutter = FrameCutter::default();
        let refused = NextFrame::TooLong { version: ProtocolVersion::V4, stream: 3, length };
        assert_eq!(cutter.next_frame(&mut buffer), Ok(refused));
        let mut left = length;
        while left > 0 {
            let part = left.min(1 << 20);
            buffer.put_bytes(0x99, part);
            left -= part;
            assert_eq!(cutter.next_frame(&mut buffer), Ok(NextFrame::Incomplete));
            assert!(buffer.is_empty());
        }
        buffer.put_slice(b"\x04\0\0\x04\x05\0\0\0\0");
        assert!(matches!(cutter.next_frame(&mut buffer), Ok(NextFrame::Frame(Frame { stream: 4, .. }))));
    }
}
