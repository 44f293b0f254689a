//! Appends messages to a connection's output buffer.

use bytes::{BufMut, BytesMut};

use super::header::VERSION_1;
use super::{MessageKind, TType, WireError};
use crate::thrift::frame::Transport;

/// Appends values to a borrowed buffer. Several messages may follow each other.
///
/// The writer does not check that structs end or that lists have the announced number of elements: the encoders of
/// methods are short enough to review that.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut BytesMut,
}

/// Where a message begins in the buffer, so that its length can be written or the message removed.
#[derive(Debug, Clone, Copy)]
#[must_use = "a message that is not ended has no length"]
pub struct FrameMark {
    start: usize,
    framed: bool,
}

/// Size of a frame's length field, in bytes.
const FRAME_LENGTH_BYTES: usize = 4;

/// The kinds of TApplicationException that servers send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum ApplicationError {
    /// The server has no method with this name.
    UnknownMethod = 1,
    /// The server failed in an unexpected way.
    InternalError = 6,
    /// Unreadable arguments (since 0.6).
    ProtocolError = 7,
}

impl<'a> Writer<'a> {
    /// Creates a writer that appends to `out`.
    #[inline]
    pub fn new(out: &'a mut BytesMut) -> Writer<'a> {
        Writer { out }
    }

    /// Begins a message on this transport: reserves the length field if it is framed.
    #[inline]
    pub fn frame_begin(&mut self, transport: Transport) -> FrameMark {
        let mark = FrameMark { start: self.out.len(), framed: transport == Transport::Framed };
        if mark.framed {
            self.out.put_bytes(0, FRAME_LENGTH_BYTES);
        }
        mark
    }

    /// Ends the message that began at the mark.
    ///
    /// # Errors
    ///
    /// If the length does not fit in 31 bits. The message is removed, so that an exception can be written instead.
    pub fn frame_end(&mut self, mark: FrameMark) -> Result<(), WireError> {
        if !mark.framed {
            return Ok(());
        }
        let length = self.out.len().saturating_sub(mark.start + FRAME_LENGTH_BYTES);
        let Ok(announced) = i32::try_from(length) else {
            self.out.truncate(mark.start);
            return Err(WireError::MessageTooLong { length, limit: i32::MAX as usize });
        };
        if let Some(head) = self.out.get_mut(mark.start..mark.start + FRAME_LENGTH_BYTES) {
            head.copy_from_slice(&announced.to_be_bytes());
        }
        Ok(())
    }

    /// Writes a strict header; the argument or result struct follows.
    #[inline]
    pub fn message_begin(&mut self, name: &[u8], kind: MessageKind, seqid: i32) {
        self.out.put_u32(VERSION_1 | u32::from(kind.code()));
        self.bytes(name);
        self.i32(seqid);
    }

    /// Writes the header of clients that predate the versioned protocol. No server sends it.
    #[inline]
    pub fn message_begin_old_style(&mut self, name: &[u8], kind: MessageKind, seqid: i32) {
        self.bytes(name);
        self.out.put_u8(kind.code());
        self.i32(seqid);
    }

    /// Writes a complete TApplicationException reply except its frame.
    #[inline]
    pub fn application_exception(&mut self, name: &[u8], seqid: i32, error: ApplicationError, message: &str) {
        self.message_begin(name, MessageKind::Exception, seqid);
        self.field_string(1, message.as_bytes());
        self.field_i32(2, error as i32);
        self.stop();
    }

    /// Writes a `bool` as one byte, 0 or 1.
    #[inline]
    pub fn bool(&mut self, value: bool) {
        self.out.put_u8(u8::from(value));
    }

    /// Writes a `byte`.
    #[inline]
    pub fn i8(&mut self, value: i8) {
        self.out.put_i8(value);
    }

    /// Writes an `i16`: big-endian, as all numbers of the protocol.
    #[inline]
    pub fn i16(&mut self, value: i16) {
        self.out.put_i16(value);
    }

    /// Writes an `i32`.
    #[inline]
    pub fn i32(&mut self, value: i32) {
        self.out.put_i32(value);
    }

    /// Writes an `i64`.
    #[inline]
    pub fn i64(&mut self, value: i64) {
        self.out.put_i64(value);
    }

    /// Writes a `double`.
    #[inline]
    pub fn f64(&mut self, value: f64) {
        self.out.put_f64(value);
    }

    /// Writes a string or binary with its length.
    #[inline]
    pub fn bytes(&mut self, value: &[u8]) {
        self.size(value.len());
        self.out.put_slice(value);
    }

    /// Writes bytes that are already encoded, such as a constant reply.
    #[inline]
    pub fn raw(&mut self, written: &[u8]) {
        self.out.put_slice(written);
    }

    /// Begins a field; its value follows.
    #[inline]
    pub fn field_begin(&mut self, ttype: TType, id: i16) {
        let [high, low] = id.to_be_bytes();
        self.out.put_slice(&[ttype.code(), high, low]);
    }

    /// Ends a struct.
    #[inline]
    pub fn stop(&mut self) {
        self.out.put_u8(TType::Stop.code());
    }

    /// Writes a bool field.
    #[inline]
    pub fn field_bool(&mut self, id: i16, value: bool) {
        self.field_begin(TType::Bool, id);
        self.bool(value);
    }

    /// Writes an i32 field.
    #[inline]
    pub fn field_i32(&mut self, id: i16, value: i32) {
        self.field_begin(TType::I32, id);
        self.i32(value);
    }

    /// Writes an i64 field.
    #[inline]
    pub fn field_i64(&mut self, id: i16, value: i64) {
        self.field_begin(TType::I64, id);
        self.i64(value);
    }

    /// Writes a double field.
    #[inline]
    pub fn field_f64(&mut self, id: i16, value: f64) {
        self.field_begin(TType::Double, id);
        self.f64(value);
    }

    /// Writes a string or binary field.
    #[inline]
    pub fn field_string(&mut self, id: i16, value: &[u8]) {
        self.field_begin(TType::String, id);
        self.bytes(value);
    }

    /// Opens a struct field: its fields and a `stop` follow.
    #[inline]
    pub fn field_struct(&mut self, id: i16) {
        self.field_begin(TType::Struct, id);
    }

    /// Opens a list field: `count` elements follow.
    #[inline]
    pub fn field_list(&mut self, id: i16, element: TType, count: usize) {
        self.field_begin(TType::List, id);
        self.list_begin(element, count);
    }

    /// Opens a set field: `count` elements follow.
    #[inline]
    pub fn field_set(&mut self, id: i16, element: TType, count: usize) {
        self.field_begin(TType::Set, id);
        self.list_begin(element, count);
    }

    /// Opens a map field: `count` pairs of key and value follow.
    #[inline]
    pub fn field_map(&mut self, id: i16, key: TType, value: TType, count: usize) {
        self.field_begin(TType::Map, id);
        self.map_begin(key, value, count);
    }

    /// Begins a list or set, which have the same encoding.
    #[inline]
    pub fn list_begin(&mut self, element: TType, count: usize) {
        self.out.put_u8(element.code());
        self.size(count);
    }

    /// Begins a map: `count` pairs of key and value follow.
    #[inline]
    pub fn map_begin(&mut self, key: TType, value: TType, count: usize) {
        self.out.put_u8(key.code());
        self.out.put_u8(value.code());
        self.size(count);
    }

    fn size(&mut self, size: usize) {
        debug_assert!(size <= i32::MAX as usize, "the server writes no value over 2 GiB");
        self.i32(i32::try_from(size).unwrap_or(i32::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thrift::{MessageHeader, Reader};

    #[test]
    fn written_messages_can_be_read() {
        let mut out = BytesMut::new();
        let mut writer = Writer::new(&mut out);
        writer.message_begin(b"get", MessageKind::Reply, -3);
        writer.field_bool(1, true);
        writer.field_begin(TType::Byte, 2);
        writer.i8(-2);
        writer.field_begin(TType::I16, 3);
        writer.i16(-3);
        writer.field_i32(4, -4);
        writer.field_i64(5, -5);
        writer.field_f64(6, 0.5);
        writer.field_string(7, b"\xff");
        writer.field_map(8, TType::String, TType::Bool, 1);
        writer.bytes(b"k");
        writer.bool(false);
        writer.field_set(-9, TType::Struct, 1);
        writer.stop();
        writer.stop();

        let mut reader = Reader::over(&out);
        let header = MessageHeader::read(&mut reader).unwrap();
        assert_eq!((header.name, header.kind, header.seqid), (&b"get"[..], MessageKind::Reply, -3));
        let field = |reader: &mut Reader| reader.field_begin().unwrap();
        assert_eq!(field(&mut reader), Some((TType::Bool, 1)));
        assert_eq!(reader.bool(), Ok(true));
        assert_eq!(field(&mut reader), Some((TType::Byte, 2)));
        assert_eq!(reader.i8(), Ok(-2));
        assert_eq!(field(&mut reader), Some((TType::I16, 3)));
        assert_eq!(reader.i16(), Ok(-3));
        assert_eq!(field(&mut reader), Some((TType::I32, 4)));
        assert_eq!(reader.i32(), Ok(-4));
        assert_eq!(field(&mut reader), Some((TType::I64, 5)));
        assert_eq!(reader.i64(), Ok(-5));
        assert_eq!(field(&mut reader), Some((TType::Double, 6)));
        assert_eq!(reader.f64(), Ok(0.5));
        assert_eq!(field(&mut reader), Some((TType::String, 7)));
        assert_eq!(reader.raw(), Ok(&b"\xff"[..]));
        assert_eq!(field(&mut reader), Some((TType::Map, 8)));
        assert_eq!(reader.map_begin(), Ok((TType::String, TType::Bool, 1)));
        assert_eq!(reader.raw(), Ok(&b"k"[..]));
        assert_eq!(reader.bool(), Ok(false));
        assert_eq!(field(&mut reader), Some((TType::Set, -9)));
        assert_eq!(reader.list_begin(), Ok((TType::Struct, 1)));
        assert_eq!(field(&mut reader), None);
        assert_eq!(field(&mut reader), None);
        assert_eq!(reader.remaining(), 0);
    }

    #[test]
    fn frames_have_their_length_and_follow_each_other() {
        let mut out = BytesMut::new();
        let mut writer = Writer::new(&mut out);
        for _ in 0..2 {
            let mark = writer.frame_begin(Transport::Framed);
            writer.application_exception(b"x", 1, ApplicationError::UnknownMethod, "no");
            writer.frame_end(mark).unwrap();
        }
        let mark = writer.frame_begin(Transport::Unframed);
        writer.stop();
        writer.frame_end(mark).unwrap();
        let one =
            b"\0\0\0\x1e\x80\x01\0\x03\0\0\0\x01x\0\0\0\x01\x0b\0\x01\0\0\0\x02no\x08\0\x02\0\0\0\x01\0";
        assert_eq!(out, [&one[..], &one[..], &[0]].concat());
    }
}
