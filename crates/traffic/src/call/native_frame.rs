//! The header of a recorded native frame.

use bytes::{BufMut, Bytes, BytesMut};

use super::CallError;
use crate::native_head::{FROM_SERVER, NativeHead};
use wire::native::ProtocolVersion;

/// A frame of a client or a server, with a decompressed body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeFrame {
    /// The version of the protocol.
    pub version: ProtocolVersion,
    /// Whether a server has sent it.
    pub is_from_server: bool,
    /// The flags, as `wire::native::flag` names them.
    pub flags: u8,
    /// The stream, which a reply has from its request.
    pub stream: i16,
    /// The opcode.
    pub opcode: u8,
    /// The bytes behind the header.
    pub body: Bytes,
}

impl NativeFrame {
    /// Reads a whole frame.
    ///
    /// # Errors
    ///
    /// If the version is not supported, or the bytes are not one frame.
    pub fn read(message: &Bytes) -> Result<NativeFrame, CallError> {
        let head = NativeHead::read(message).ok().flatten();
        let head = head.filter(|head| head.frame_bytes() == message.len()).ok_or(CallError::Frame)?;
        let NativeHead { version, is_from_server, flags, stream, opcode, .. } = head;
        let body = message.slice(version.header_bytes()..);
        Ok(NativeFrame { version, is_from_server, flags, stream, opcode, body })
    }

    /// Returns the bytes of the frame. Streams above 127 do not fit into versions 1 and 2, and are cut.
    pub fn write(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(self.version.header_bytes() + self.body.len());
        out.put_u8(self.version.number() | if self.is_from_server { FROM_SERVER } else { 0 });
        out.put_u8(self.flags);
        if self.version < ProtocolVersion::V3 {
            let [_, low] = self.stream.to_be_bytes();
            out.put_u8(low);
        } else {
            out.put_i16(self.stream);
        }
        out.put_u8(self.opcode);
        // Bodies are shorter than the limit of frames.
        out.put_u32(u32::try_from(self.body.len()).unwrap_or(u32::MAX));
        out.put_slice(&self.body);
        out.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_all_versions_are_read_and_written() {
        for version in ProtocolVersion::ALL.iter().copied() {
            for is_from_server in [false, true] {
                let body = Bytes::from_static(b"ab");
                let frame = NativeFrame { version, is_from_server, flags: 2, stream: -1, opcode: 8, body };
                let written = frame.write();
                assert_eq!(written.len(), version.header_bytes() + 2);
                assert_eq!(NativeFrame::read(&written), Ok(frame));
            }
        }
    }

    #[test]
    fn bytes_that_are_no_frame_are_errors() {
        for bytes in
            [&b""[..], b"\x04", b"\x09\0\0\0\x05\0\0\0\0", b"\x04\0\0\0\x05\0\0\0\x01", b"\x84\0\0\0"]
        {
            assert_eq!(NativeFrame::read(&Bytes::from_static(bytes)), Err(CallError::Frame));
        }
    }
}
