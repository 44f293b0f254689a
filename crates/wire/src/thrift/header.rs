//! The header of a message: method name, kind and sequence number.
//!
//! ```text
//! strict     80 01 00 kind | length i32 | name | seqid i32
//! old style  length i32 | name | kind | seqid i32
//! ```
//!
//! Both are read on every connection; replies are always strict, which readers of both styles accept.

use super::{Reader, WireError};
use crate::limits::METHOD_NAME_BYTES_MAX;

/// The upper half of a strict header's first word.
pub(super) const VERSION_1: u32 = 0x8001_0000;
const VERSION_MASK: u32 = 0xffff_0000;

/// The kind of a message. Old servers ignored it; a one-way message must not be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// A request that expects a reply.
    Call,
    /// The reply of a call that ended with a result or a declared exception.
    Reply,
    /// The reply of a call that ended with a TApplicationException.
    Exception,
    /// A request without a reply.
    Oneway,
    /// Any other code. Old servers treat it like a call.
    Other(u8),
}

impl MessageKind {
    /// Returns the kind with a code.
    pub(super) fn from_code(code: u8) -> MessageKind {
        match code {
            1 => MessageKind::Call,
            2 => MessageKind::Reply,
            3 => MessageKind::Exception,
            4 => MessageKind::Oneway,
            other => MessageKind::Other(other),
        }
    }

    /// Returns the code on the wire.
    pub fn code(self) -> u8 {
        match self {
            MessageKind::Call => 1,
            MessageKind::Reply => 2,
            MessageKind::Exception => 3,
            MessageKind::Oneway => 4,
            MessageKind::Other(code) => code,
        }
    }
}

/// The header of a message, borrowed from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageHeader<'a> {
    /// The method's name as sent, not necessarily UTF-8.
    pub name: &'a [u8],
    /// The kind as sent.
    pub kind: MessageKind,
    /// Echoed in the reply; some clients check it.
    pub seqid: i32,
    /// Whether the header begins with a version.
    pub strict: bool,
}

impl<'a> MessageHeader<'a> {
    /// Reads a header of either style. The reader is then at the argument struct.
    pub fn read(reader: &mut Reader<'a>) -> Result<MessageHeader<'a>, WireError> {
        match HeaderStart::of(reader.clone().i32()?)? {
            HeaderStart::Strict { kind } => {
                reader.i32()?;
                let name = method_name(reader)?;
                Ok(MessageHeader { name, kind, seqid: reader.i32()?, strict: true })
            }
            HeaderStart::OldStyle { .. } => {
                let name = method_name(reader)?;
                let kind = MessageKind::from_code(reader.i8()?.cast_unsigned());
                Ok(MessageHeader { name, kind, seqid: reader.i32()?, strict: false })
            }
        }
    }
}

fn method_name<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], WireError> {
    check_name_length(reader.clone().i32()?, reader.position())?;
    reader.raw()
}

/// Checks the length of a method name, announced at byte `at`.
pub(super) fn check_name_length(size: i32, at: usize) -> Result<usize, WireError> {
    let length = usize::try_from(size).map_err(|_| WireError::NegativeSize { at, size })?;
    if length > METHOD_NAME_BYTES_MAX {
        return Err(WireError::NameTooLong { length, limit: METHOD_NAME_BYTES_MAX });
    }
    Ok(length)
}

/// The meaning of a message's first word.
pub(super) enum HeaderStart {
    Strict { kind: MessageKind },
    OldStyle { name_length: usize },
}

impl HeaderStart {
    pub(super) fn of(word: i32) -> Result<HeaderStart, WireError> {
        if word >= 0 {
            return check_name_length(word, 0).map(|name_length| HeaderStart::OldStyle { name_length });
        }
        let word = word.cast_unsigned();
        if word & VERSION_MASK != VERSION_1 {
            return Err(WireError::BadVersion { word });
        }
        let [.., code] = word.to_be_bytes();
        Ok(HeaderStart::Strict { kind: MessageKind::from_code(code) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<MessageHeader<'_>, WireError> {
        MessageHeader::read(&mut Reader::over(bytes))
    }

    #[test]
    fn strict_and_old_style_headers_are_equivalent() {
        let strict = read(b"\x80\x01\0\x01\0\0\0\x03get\0\0\0\x07").unwrap();
        assert_eq!(strict, MessageHeader { name: b"get", kind: MessageKind::Call, seqid: 7, strict: true });
        let old = read(b"\0\0\0\x03get\x01\0\0\0\x07").unwrap();
        assert_eq!(old, MessageHeader { strict: false, ..strict });
    }

    #[test]
    fn codes_of_kinds_round_trip() {
        for code in 0..=255 {
            assert_eq!(MessageKind::from_code(code).code(), code);
        }
        assert_eq!(read(b"\x80\x01\0\x04\0\0\0\x01x\0\0\0\0").unwrap().kind, MessageKind::Oneway);
    }

    #[test]
    fn bad_headers_are_errors() {
        assert_eq!(read(b"\x80\x02\0\x01"), Err(WireError::BadVersion { word: 0x8002_0001 }));
        assert_eq!(read(b"\0\0\x01\x01"), Err(WireError::NameTooLong { length: 257, limit: 256 }));
        assert_eq!(read(b"\x80\x01\0\x01\xff\xff\xff\xff"), Err(WireError::NegativeSize { at: 4, size: -1 }));
        assert_eq!(read(b"\x80\x01\0"), Err(WireError::Truncated { at: 3, need: 1 }));
        assert_eq!(read(b"\0\0\0\x03ge"), Err(WireError::Truncated { at: 6, need: 1 }));
    }
}
