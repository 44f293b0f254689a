//! Thrift messages as trees.

use bytes::{Bytes, BytesMut};

use super::value::{Fields, ValueError, read_fields, write_fields};
use wire::thrift::{MessageHeader, MessageKind, Reader, Writer};

/// A whole message: a call with its arguments, or a reply with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct ThriftMessage {
    /// The name of the method as sent, not necessarily UTF-8.
    pub name: Bytes,
    /// Whether it is a call or a reply.
    pub kind: MessageKind,
    /// The number by which a client recognizes the reply.
    pub seqid: i32,
    /// The arguments by id. Of a reply the result, which is field 0, or a declared exception; of an exception its text
    /// (1) and kind (2).
    pub fields: Fields,
}

impl ThriftMessage {
    /// Reads a message without the length of its frame.
    ///
    /// # Errors
    ///
    /// If the bytes are not one whole message, or exceed the limits of values.
    pub fn read(message: &Bytes) -> Result<ThriftMessage, ValueError> {
        let mut reader = Reader::new(message);
        let header = MessageHeader::read(&mut reader)?;
        let (name, kind, seqid) = (message.slice_ref(header.name), header.kind, header.seqid);
        let fields = read_fields(&mut reader)?;
        match reader.remaining() {
            0 => Ok(ThriftMessage { name, kind, seqid, fields }),
            bytes => Err(ValueError::Trailing { bytes }),
        }
    }

    /// Returns the message with a strict header, which all servers and clients read.
    pub fn write(&self) -> Bytes {
        let mut out = BytesMut::new();
        let mut writer = Writer::new(&mut out);
        writer.message_begin(&self.name, self.kind, self.seqid);
        write_fields(&self.fields, &mut writer);
        out.freeze()
    }

    /// Returns the name of the method as text.
    pub fn method(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Value;

    #[test]
    fn messages_of_both_headers_are_read() {
        let strict = Bytes::from_static(b"\x80\x01\0\x01\0\0\0\x03get\0\0\0\x07\x08\0\x05\0\0\0\x09\0");
        let read = ThriftMessage::read(&strict).unwrap();
        let fields = Fields::from([(5, Value::I32(9))]);
        assert_eq!(read, ThriftMessage { name: "get".into(), kind: MessageKind::Call, seqid: 7, fields });
        assert_eq!(read.write(), strict);
        let old = Bytes::from_static(b"\0\0\0\x03get\x01\0\0\0\x07\x08\0\x05\0\0\0\x09\0");
        assert_eq!(ThriftMessage::read(&old), Ok(read));
    }

    #[test]
    fn bytes_after_the_message_are_an_error() {
        let long = Bytes::from_static(b"\x80\x01\0\x01\0\0\0\x03get\0\0\0\x07\0\0\0");
        assert_eq!(ThriftMessage::read(&long), Err(ValueError::Trailing { bytes: 2 }));
    }

    proptest! {
        #[test]
        fn damaged_messages_are_errors(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut message = b"\x80\x01\0\x01\0\0\0\x01x\0\0\0\0".to_vec();
            message.extend(bytes);
            let message = Bytes::from(message);
            if let Ok(read) = ThriftMessage::read(&message) {
                // Repeated fields and bools other than 0 and 1 are not restored, so the second reading is compared.
                // NaN differs from itself.
                let again = ThriftMessage::read(&read.write()).unwrap();
                prop_assert_eq!(again.write(), read.write());
            }
        }
    }
}
