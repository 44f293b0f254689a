//! Detects the transport of a connection and cuts its bytes into messages.
//!
//! Old servers used the one transport that their configuration named. This server detects it once, from the first bytes
//! of a connection:
//!
//! ```text
//! 80 01 ..                      unframed, strict header
//! 00 00 00 nn  letter           unframed, old-style header: nn is the length of the method's name
//! length       80 01            framed, strict header
//! length       00               framed, old-style header
//! 82, or length 82              the compact protocol: never served by any Cassandra
//! 16 03                         TLS
//! GET_ POST HEAD OPTI PUT_ ...  HTTP
//! ```
//!
//! No two of these overlap, because a method's name starts with a letter and a frame is shorter than 1 GiB.

use bytes::{Buf, Bytes, BytesMut};

use crate::limits::METHOD_NAME_BYTES_MAX;
use crate::thrift::{Arguments, MessageScanner, Scan, WireError};

/// Longest header of a message, in bytes: a version, the name's length, the name, and the sequence number.
const HEADER_BYTES_MAX: usize = 4 + 4 + METHOD_NAME_BYTES_MAX + 4;

/// The ways in which messages are separated on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A length precedes each message (TFramedTransport).
    Framed,
    /// A message ends where its argument struct ends (TSocket, TBufferedTransport).
    Unframed,
}

/// The result of detecting a transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detection {
    /// The client uses this transport.
    Found(Transport),
    /// Too few bytes to decide: at least this many more must arrive.
    Needed(usize),
    /// An unsupported protocol: close the connection.
    Refused(Refusal),
}

/// Why a connection is not served: it does not use Thrift's binary protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A TLS handshake on a port without TLS.
    #[error(
        "the client uses TLS, and this server has no certificate: set one with --tls-certificate and --tls-key, or in \
         <ClientEncryptionOptions>"
    )]
    Tls,
    /// The first bytes of an HTTP request.
    #[error("the client uses HTTP, but this is a Thrift port")]
    Http,
    /// TCompactProtocol, framed or unframed.
    #[error("the client uses TCompactProtocol, but the server only supports TBinaryProtocol")]
    Compact,
    /// The first frame is longer than the limit.
    #[error("frame of {length} bytes, the limit is {limit}")]
    FrameTooLong {
        /// The announced length, in bytes.
        length: usize,
        /// The longest allowed message, in bytes.
        limit: usize,
    },
    /// None of the known starts. Contains the first five bytes.
    #[error("the first bytes {0:02x?} are not a Thrift message")]
    Nonsense([u8; 5]),
}

/// Why bytes cannot be cut into messages. Close the connection: the start of the next message is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The first bit of a frame's length is set. Contains the length as sent.
    #[error("negative frame length {0}")]
    NegativeLength(i32),
    /// A frame of length 0.
    #[error("frame without content")]
    Empty,
    /// A frame is longer than the limit.
    #[error("frame of {length} bytes, the limit is {limit}")]
    TooLong {
        /// The announced length, in bytes.
        length: usize,
        /// The longest allowed message, in bytes.
        limit: usize,
    },
    /// An unframed message cannot be read, so its end is unknown.
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// The result of taking the next message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextMessage {
    /// A complete message without its frame.
    Message(Bytes),
    /// At least this many more bytes must arrive; calls before that are harmless. The client announced the number: do
    /// not reserve memory for it.
    Needed(usize),
    /// A framed message longer than [`MessageCutter::refuse_above`]: its front, with the whole header. The rest is
    /// skipped as it arrives.
    TooLong {
        /// The header, and perhaps some bytes after it.
        front: Bytes,
        /// The announced length of the message, in bytes.
        length: usize,
    },
}

/// Detects the transport from the first bytes of a connection, without consuming them. `limit` is the longest message
/// in bytes.
pub fn detect(first: &[u8], limit: usize) -> Detection {
    if let Some(refusal) = foreign(first) {
        return Detection::Refused(refusal);
    }
    if first.starts_with(&[0x80, 0x01]) {
        return Detection::Found(Transport::Unframed);
    }
    let Some(&start) = first.first_chunk::<5>() else {
        return Detection::Needed(5 - first.len());
    };
    let [b0, b1, b2, b3, after] = start;
    let length = u32::from_be_bytes([b0, b1, b2, b3]) as usize;
    if (1..=METHOD_NAME_BYTES_MAX).contains(&length) && after.is_ascii_alphabetic() {
        return Detection::Found(Transport::Unframed);
    }
    match after {
        _ if b0 >= 0x80 || length == 0 => Detection::Refused(Refusal::Nonsense(start)),
        _ if length > limit => Detection::Refused(Refusal::FrameTooLong { length, limit }),
        0x00 => Detection::Found(Transport::Framed),
        0x82 => Detection::Refused(Refusal::Compact),
        0x80 => match first.get(5) {
            Some(0x01) => Detection::Found(Transport::Framed),
            Some(_) => Detection::Refused(Refusal::Nonsense(start)),
            None => Detection::Needed(1),
        },
        _ => Detection::Refused(Refusal::Nonsense(start)),
    }
}

/// Returns the refusal of a protocol that is recognized by its first bytes.
fn foreign(first: &[u8]) -> Option<Refusal> {
    const HTTP_METHODS: [&[u8]; 8] = [b"GET ", b"POST", b"HEAD", b"OPTI", b"PUT ", b"DELE", b"CONN", b"PRI "];
    if first.first() == Some(&0x82) {
        return Some(Refusal::Compact);
    }
    if first.starts_with(&[0x16, 0x03]) {
        return Some(Refusal::Tls);
    }
    HTTP_METHODS.iter().any(|method| first.starts_with(method)).then_some(Refusal::Http)
}

/// Cuts the messages of one connection off its input buffer.
#[derive(Debug)]
pub struct MessageCutter {
    transport: Transport,
    /// Longest message in bytes, without the frame.
    limit: usize,
    /// Longest message that is returned. Frames between this and the limit are skipped.
    handed_out_max: usize,
    /// Bytes of a skipped frame that have not arrived.
    to_skip: usize,
    scanner: MessageScanner,
}

impl MessageCutter {
    /// Creates a cutter for a connection whose transport is known. `limit` is the longest message in bytes, without its
    /// frame.
    pub fn new(transport: Transport, limit: usize) -> MessageCutter {
        let scanner = MessageScanner::new(limit);
        MessageCutter { transport, limit, handed_out_max: limit, to_skip: 0, scanner }
    }

    /// Refuses messages of more than `bytes` from now on. The length of a frame is known, so the frame is skipped and
    /// the next one found; an unframed message that is too long is an error.
    pub fn refuse_above(&mut self, bytes: usize) {
        self.handed_out_max = bytes.min(self.limit);
        self.scanner.set_limit(self.handed_out_max);
    }

    /// Discards the framed message that has begun and is all that the buffer has, and frees the buffer. Returns the
    /// front of the message, as far as it has arrived; the rest is skipped. `None` if the end of the message is
    /// unknown.
    pub fn discard(&mut self, buffer: &mut BytesMut) -> Option<Bytes> {
        let (head, body) = buffer.split_first_chunk::<4>()?;
        if self.transport != Transport::Framed || self.to_skip > 0 {
            return None;
        }
        let length = frame_length(*head, self.limit).ok()?;
        let front = Bytes::copy_from_slice(body.split_at(body.len().min(length).min(HEADER_BYTES_MAX)).0);
        self.to_skip = length.saturating_sub(body.len());
        *buffer = BytesMut::new();
        Some(front)
    }

    /// Returns whether only a part of a message has arrived.
    pub fn is_within_message(&self, buffer: &[u8]) -> bool {
        self.to_skip > 0 || !buffer.is_empty()
    }

    /// Returns the transport of the connection.
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// Takes the next message off the front of the buffer. Callers may append bytes to the buffer between calls, but
    /// must not remove any.
    pub fn next_message(&mut self, buffer: &mut BytesMut) -> Result<NextMessage, FrameError> {
        match self.transport {
            Transport::Framed => self.next_frame(buffer),
            Transport::Unframed => Ok(match self.scanner.scan(buffer)? {
                Scan::Complete(length) => NextMessage::Message(buffer.split_to(length).freeze()),
                Scan::Needed(count) => {
                    debug_assert!(count > 0, "a complete message would wait for more bytes");
                    NextMessage::Needed(count)
                }
            }),
        }
    }

    /// Returns the places of the arguments in the last message, if looking for its end has found them.
    pub fn arguments(&self) -> Option<&Arguments> {
        self.scanner.arguments()
    }

    fn next_frame(&mut self, buffer: &mut BytesMut) -> Result<NextMessage, FrameError> {
        if self.to_skip > 0 {
            let skipped = self.to_skip.min(buffer.len());
            buffer.advance(skipped);
            self.to_skip -= skipped;
            if self.to_skip > 0 {
                return Ok(NextMessage::Needed(self.to_skip));
            }
        }
        debug_assert!(self.handed_out_max <= self.limit, "a message over the limit would be handed out");
        let Some((head, body)) = buffer.split_first_chunk::<4>() else {
            return Ok(NextMessage::Needed(4 - buffer.len()));
        };
        let length = frame_length(*head, self.limit)?;
        if length > self.handed_out_max {
            let front = HEADER_BYTES_MAX.min(length);
            let Some((front, _)) = body.split_at_checked(front) else {
                return Ok(NextMessage::Needed(front - body.len()));
            };
            let front = Bytes::copy_from_slice(front);
            buffer.advance(4);
            self.to_skip = length;
            return Ok(NextMessage::TooLong { front, length });
        }
        if let Some(missing) = length.checked_sub(body.len())
            && missing > 0
        {
            return Ok(NextMessage::Needed(missing));
        }
        buffer.advance(4);
        Ok(NextMessage::Message(buffer.split_to(length).freeze()))
    }
}

/// Returns the length of the frame that starts with `head`.
///
/// # Errors
///
/// If the length is negative, 0, or above the limit.
fn frame_length(head: [u8; 4], limit: usize) -> Result<usize, FrameError> {
    let announced = i32::from_be_bytes(head);
    let length = usize::try_from(announced).map_err(|_| FrameError::NegativeLength(announced))?;
    match length {
        0 => Err(FrameError::Empty),
        _ if length > limit => Err(FrameError::TooLong { length, limit }),
        _ => Ok(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MESSAGE_BYTES_MAX;

    fn detected(first: &[u8]) -> Detection {
        detect(first, MESSAGE_BYTES_MAX)
    }

    #[test]
    fn transports_of_all_clients_are_detected() {
        let framed = Detection::Found(Transport::Framed);
        let unframed = Detection::Found(Transport::Unframed);
        assert_eq!(detected(b"\x80\x01\0\x01"), unframed);
        assert_eq!(detected(b"\0\0\0\x03get"), unframed);
        assert_eq!(detected(b"\0\0\x01\0multiplexed"), unframed);
        assert_eq!(detected(b"\0\0\0\x20\x80\x01"), framed);
        assert_eq!(detected(b"\0\0\0\x03\0"), framed);
        assert_eq!(detected(b"\x0f\xff\xff\xff\0"), framed);
    }

    #[test]
    fn other_protocols_are_refused_with_a_reason() {
        assert_eq!(detected(b"\x82"), Detection::Refused(Refusal::Compact));
        assert_eq!(detected(b"\0\0\0\x20\x82"), Detection::Refused(Refusal::Compact));
        assert_eq!(detected(b"\x16\x03\x01"), Detection::Refused(Refusal::Tls));
        assert_eq!(detected(b"GET / HTTP/1.1"), Detection::Refused(Refusal::Http));
        assert_eq!(
            detected(b"\x7f\xff\xff\xff\x80\x01"),
            Detection::Refused(Refusal::FrameTooLong { length: 0x7fff_ffff, limit: MESSAGE_BYTES_MAX })
        );
        let nonsense: [&[u8]; 5] =
            [b"\xff\xff\xff\xff\xff", b"\0\0\0\0\x80", b"\0\0\0\x20!", b"\x80\x02\0\0\0", b"\0\0\x10\0get"];
        for first in nonsense {
            assert!(matches!(detected(first), Detection::Refused(Refusal::Nonsense(_))), "{first:?}");
        }
        assert!(matches!(detected(b"\0\0\0\x20\x80\x02"), Detection::Refused(Refusal::Nonsense(_))));
    }

    #[test]
    fn detection_waits_for_more_bytes_after_a_short_packet() {
        assert_eq!(detected(b""), Detection::Needed(5));
        assert_eq!(detected(b"\x80"), Detection::Needed(4));
        assert_eq!(detected(b"\0\0\0\x20"), Detection::Needed(1));
        assert_eq!(detected(b"\0\0\0\x20\x80"), Detection::Needed(1));
        assert_eq!(detected(b"GE"), Detection::Needed(3));
    }

    #[test]
    fn a_message_is_returned_when_its_frame_is_complete() {
        let mut cutter = MessageCutter::new(Transport::Framed, 100);
        let mut buffer = BytesMut::from(&b"\0\0"[..]);
        assert_eq!(cutter.next_message(&mut buffer), Ok(NextMessage::Needed(2)));
        buffer.extend_from_slice(b"\0\x03ab");
        assert_eq!(cutter.next_message(&mut buffer), Ok(NextMessage::Needed(1)));
        buffer.extend_from_slice(b"c\0");
        let message = Bytes::from_static(b"abc");
        assert_eq!(cutter.next_message(&mut buffer), Ok(NextMessage::Message(message)));
        assert_eq!(buffer, b"\0"[..]);
    }

    #[test]
    fn frames_above_the_smaller_limit_are_skipped() {
        let mut cutter = MessageCutter::new(Transport::Framed, 2000);
        cutter.refuse_above(10);
        let mut buffer = BytesMut::from(&b"\0\0\x03\xe8ab"[..]);
        let front = HEADER_BYTES_MAX;
        assert_eq!(cutter.next_message(&mut buffer), Ok(NextMessage::Needed(front - 2)));
        buffer.resize(4 + front, b'c');
        let refused = cutter.next_message(&mut buffer);
        assert!(
            matches!(&refused, Ok(NextMessage::TooLong { front, length: 1000 }) if front.starts_with(b"abc"))
        );
        assert_eq!(cutter.next_message(&mut buffer), Ok(NextMessage::Needed(1000 - front)));
        assert!(buffer.is_empty() && cutter.is_within_message(&buffer));
        buffer.resize(1000 - front, b'd');
        buffer.extend_from_slice(b"\0\0\0\x02xy");
        let next = NextMessage::Message(Bytes::from_static(b"xy"));
        assert_eq!(cutter.next_message(&mut buffer), Ok(next));
        assert!(!cutter.is_within_message(&buffer));
        cutter.refuse_above(usize::MAX);
        let mut buffer = BytesMut::from(&b"\0\0\x03\xe8"[..]);
        assert_eq!(cutter.next_message(&mut buffer), Ok(NextMessage::Needed(1000)));
        let too_long = FrameError::TooLong { length: 2001, limit: 2000 };
        assert_eq!(cutter.next_message(&mut BytesMut::from(&b"\0\0\x07\xd1"[..])), Err(too_long));
    }

    #[test]
    fn a_frame_that_has_begun_can_be_discarded() {
        let mut cutter = MessageCutter::new(Transport::Framed, 100);
        let mut buffer = BytesMut::from(&b"\0\0\0\x05ab"[..]);
        assert_eq!(cutter.next_message(&mut buffer), Ok(NextMessage::Needed(3)));
        assert_eq!(cutter.discard(&mut buffer), Some(Bytes::from_static(b"ab")));
        assert_eq!(cutter.next_message(&mut buffer), Ok(NextMessage::Needed(3)));
        assert_eq!(cutter.discard(&mut buffer), None, "it was discarded already");
        buffer.extend_from_slice(b"cde\0\0\0\x01x");
        let next = NextMessage::Message(Bytes::from_static(b"x"));
        assert_eq!(cutter.next_message(&mut buffer), Ok(next));
        let mut unframed = MessageCutter::new(Transport::Unframed, 100);
        assert_eq!(unframed.discard(&mut BytesMut::from(&b"\x80\x01\0\x01"[..])), None);
    }

    #[test]
    fn bad_frame_lengths_are_errors() {
        let cut = |bytes: &[u8]| {
            MessageCutter::new(Transport::Framed, 100).next_message(&mut BytesMut::from(bytes))
        };
        assert_eq!(cut(b"\xff\xff\xff\xff"), Err(FrameError::NegativeLength(-1)));
        assert_eq!(cut(b"\0\0\0\0"), Err(FrameError::Empty));
        assert_eq!(cut(b"\0\0\0\x65"), Err(FrameError::TooLong { length: 101, limit: 100 }));
    }
}
