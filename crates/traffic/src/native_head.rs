//! The header of a native frame.
//!
//! ```text
//!   versions 1, 2   version | flags | stream (1) | opcode | length of the body (4)
//!   later           version | flags | stream (2) | opcode | length of the body (4)
//! ```

use bytes::Buf;
use wire::native::ProtocolVersion;

/// The highest bit of the version: the frame is of a server.
pub(crate) const FROM_SERVER: u8 = 0x80;

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NativeHead {
    pub version: ProtocolVersion,
    pub is_from_server: bool,
    pub flags: u8,
    pub stream: i16,
    pub opcode: u8,
    /// The bytes of the body.
    pub length: usize,
}

/// A version of the protocol that is not known, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnknownVersion(pub u8);

impl NativeHead {
    /// Reads the header at the front of the bytes. `Ok(None)` if it is incomplete.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<NativeHead>, UnknownVersion> {
        let Some(first) = bytes.first() else { return Ok(None) };
        let number = first & !FROM_SERVER;
        let version = ProtocolVersion::of_number(number).ok_or(UnknownVersion(number))?;
        let Some(mut rest) = bytes.get(1..version.header_bytes()) else { return Ok(None) };
        let flags = rest.get_u8();
        let stream = if version < ProtocolVersion::V3 { i16::from(rest.get_i8()) } else { rest.get_i16() };
        let (opcode, length) = (rest.get_u8(), rest.get_u32() as usize);
        Ok(Some(NativeHead {
            version,
            is_from_server: first & FROM_SERVER != 0,
            flags,
            stream,
            opcode,
            length,
        }))
    }

    /// Returns the bytes of the frame.
    pub(crate) fn frame_bytes(&self) -> usize {
        self.version.header_bytes() + self.length
    }
}
