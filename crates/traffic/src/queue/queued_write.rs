//! A write in the queue.
//!
//! ```text
//!   time         i64    when the client sent it, in microseconds since 1970
//!   protocol     u8     0 framed Thrift, 1 unframed Thrift, 2 native
//!   rule         u8     0 timestamped, 1 in order, 2 once, 3 never
//!   keyspace     u32 length + 1, bytes; 0: none     the keyspace of the session
//!   statement    u32 length + 1, bytes; 0: none     the text of the prepared statement that Thrift executes
//!   table        u32 length + 1, bytes              KEYSPACE.FAMILY, for reports
//!   message      the rest
//! ```

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::rule::ResendRule;
use crate::Protocol;
use crate::call::{Conversation, PreparedTexts};
use crate::replay::TouchedKeys;

/// A write, as it is sent to the other server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedWrite {
    /// When the client sent it, in microseconds since 1970.
    pub at_us: i64,
    /// The protocol of the client.
    pub protocol: Protocol,
    /// Whether it may be sent again.
    pub rule: ResendRule,
    /// The keyspace that the session of the client uses.
    pub keyspace: Option<String>,
    /// The text of the statement, if the message executes one that was prepared over Thrift.
    pub statement: Option<String>,
    /// `KEYSPACE.FAMILY`, as far as the call names them.
    pub table: String,
    /// A Thrift message without the length of its frame, or a native frame without compression.
    pub message: Bytes,
}

impl QueuedWrite {
    /// Returns the size of the message and its rows, as far as it shows them without the schema.
    pub(super) fn described(&self) -> String {
        let call = Conversation::new(self.protocol).request(&self.message, &PreparedTexts::default());
        let rows = call.map_or_else(|_| String::new(), |call| TouchedKeys::of(&call).to_string());
        format!("a message of {} bytes, for {rows}", self.message.len())
    }

    /// Returns the length of `encode`, at most.
    pub(super) fn bytes_max(&self) -> usize {
        let texts = [self.keyspace.as_ref(), self.statement.as_ref(), Some(&self.table)];
        let texts = texts.into_iter().flatten().map(String::len).sum::<usize>();
        64 + texts + self.message.len()
    }

    /// Returns the bytes of the write in a segment.
    pub(super) fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(self.bytes_max());
        out.put_i64(self.at_us);
        out.put_u8(match self.protocol {
            Protocol::Thrift { is_framed: true } => 0,
            Protocol::Thrift { is_framed: false } => 1,
            Protocol::Native => 2,
        });
        out.put_u8(self.rule.number());
        for text in [self.keyspace.as_ref(), self.statement.as_ref(), Some(&self.table)] {
            // Texts are parts of messages, which are shorter.
            out.put_u32(text.map_or(0, |text| u32::try_from(text.len() + 1).unwrap_or(u32::MAX)));
            out.put_slice(text.map_or(&[], |text| text.as_bytes()));
        }
        out.put_slice(&self.message);
        out.freeze()
    }

    /// Reads a write. `None` if the bytes are not one.
    pub(super) fn decode(mut bytes: Bytes) -> Option<QueuedWrite> {
        if bytes.len() < 10 {
            return None;
        }
        let at_us = bytes.get_i64();
        let protocol = match bytes.get_u8() {
            0 => Protocol::Thrift { is_framed: true },
            1 => Protocol::Thrift { is_framed: false },
            2 => Protocol::Native,
            _ => return None,
        };
        let rule = ResendRule::of_number(bytes.get_u8())?;
        let keyspace = take_text(&mut bytes)?;
        let statement = take_text(&mut bytes)?;
        let table = take_text(&mut bytes)?.unwrap_or_default();
        Some(QueuedWrite { at_us, protocol, rule, keyspace, statement, table, message: bytes })
    }
}

/// Takes a text off the front; `None` if the bytes are not one.
fn take_text(bytes: &mut Bytes) -> Option<Option<String>> {
    if bytes.len() < 4 {
        return None;
    }
    let Some(length) = usize::try_from(bytes.get_u32()).ok()?.checked_sub(1) else { return Some(None) };
    if length > bytes.len() {
        return None;
    }
    String::from_utf8(bytes.split_to(length).to_vec()).ok().map(Some)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts() -> impl Strategy<Value = Option<String>> {
        prop::option::of(".{0,20}")
    }

    proptest! {
        #[test]
        fn writes_round_trip_and_damaged_ones_are_refused(
            at_us in any::<i64>(), protocol in 0..3_u8, rule in 0..4_u8, keyspace in texts(), statement in texts(),
            table in ".{0,20}", message in prop::collection::vec(any::<u8>(), 0..60), end in any::<prop::sample::Index>(),
        ) {
            let protocol = match protocol {
                0 => Protocol::Native,
                other => Protocol::Thrift { is_framed: other == 1 },
            };
            let rule = ResendRule::of_number(rule).unwrap();
            let write = QueuedWrite { at_us, protocol, rule, keyspace, statement, table, message: message.into() };
            let bytes = write.encode();
            prop_assert_eq!(QueuedWrite::decode(bytes.clone()), Some(write));
            // Never a panic.
            let _ = QueuedWrite::decode(bytes.slice(..end.index(bytes.len())));
        }

        #[test]
        fn foreign_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = QueuedWrite::decode(bytes.into());
        }
    }
}
