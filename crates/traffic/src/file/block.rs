//! The head of a block.

use bytes::BufMut;

use crate::limits::{RECORDED_MESSAGE_BYTES_MAX, RECORDING_BLOCK_BYTES, RECORDING_INDEX_BYTES_MAX};

use super::event_codec::EVENT_OVERHEAD_MAX;

pub(super) const HEAD_BYTES: usize = 48;
/// The first bytes of a block, and of the end of a complete file.
pub(super) const BLOCK_MARK: [u8; 4] = *b"TBLK";
pub(super) const END_MARK: [u8; 4] = *b"TEND";

/// Longest payload before compression, in bytes: a block is written once it has [`RECORDING_BLOCK_BYTES`].
pub(super) const PAYLOAD_BYTES_MAX: usize =
    RECORDING_BLOCK_BYTES + RECORDED_MESSAGE_BYTES_MAX + EVENT_OVERHEAD_MAX;

/// A block's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockHead {
    /// Whether this is the end of a file. Then `events` and the times cover the whole file.
    pub is_end: bool,
    pub events: u32,
    pub first_us: i64,
    pub last_us: i64,
    pub index_bytes: u32,
    pub payload_bytes: u32,
    /// Length of the payload before compression.
    pub events_bytes: u32,
    pub index_sum: u32,
    pub payload_sum: u32,
}

impl BlockHead {
    pub(super) fn encode(&self) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        let mut out = head.as_mut_slice();
        out.put_slice(if self.is_end { &END_MARK } else { &BLOCK_MARK });
        out.put_u32(self.events);
        out.put_i64(self.first_us);
        out.put_i64(self.last_us);
        for number in
            [self.index_bytes, self.payload_bytes, self.events_bytes, self.index_sum, self.payload_sum]
        {
            out.put_u32(number);
        }
        let sum = crc32fast::hash(&head[..HEAD_BYTES - 4]);
        head[HEAD_BYTES - 4..].copy_from_slice(&sum.to_be_bytes());
        head
    }

    /// Returns the head; `None` if the bytes are not the head of a block, or if a length in it is impossible.
    pub(super) fn decode(bytes: &[u8; HEAD_BYTES]) -> Option<BlockHead> {
        let u32_at =
            |at: usize| -> Option<u32> { Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?)) };
        let i64_at =
            |at: usize| -> Option<i64> { Some(i64::from_be_bytes(*bytes.get(at..)?.first_chunk()?)) };
        let is_end = bytes.starts_with(&END_MARK);
        if !is_end && !bytes.starts_with(&BLOCK_MARK) {
            return None;
        }
        if u32_at(44)? != crc32fast::hash(&bytes[..44]) {
            return None;
        }
        let head = BlockHead {
            is_end,
            events: u32_at(4)?,
            first_us: i64_at(8)?,
            last_us: i64_at(16)?,
            index_bytes: u32_at(24)?,
            payload_bytes: u32_at(28)?,
            events_bytes: u32_at(32)?,
            index_sum: u32_at(36)?,
            payload_sum: u32_at(40)?,
        };
        let is_possible = head.index_bytes as usize <= RECORDING_INDEX_BYTES_MAX
            && head.events_bytes as usize <= PAYLOAD_BYTES_MAX
            && head.payload_bytes as usize <= lz4_flex::block::get_maximum_output_size(PAYLOAD_BYTES_MAX);
        is_possible.then_some(head)
    }

    /// Returns the bytes that follow the head.
    pub(super) fn content_bytes(&self) -> u64 {
        u64::from(self.index_bytes) + u64::from(self.payload_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_round_trip_and_damage_is_found() {
        let head = BlockHead {
            is_end: false,
            events: 1,
            first_us: -2,
            last_us: 3,
            index_bytes: 4,
            payload_bytes: 5,
            events_bytes: 6,
            index_sum: 7,
            payload_sum: 8,
        };
        let encoded = head.encode();
        assert_eq!(BlockHead::decode(&encoded), Some(head));
        for bit in 0..HEAD_BYTES * 8 {
            let mut damaged = encoded;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(BlockHead::decode(&damaged), None, "{bit}");
        }
        let end = BlockHead { is_end: true, ..head };
        assert_eq!(BlockHead::decode(&end.encode()), Some(end));
        let huge = BlockHead { events_bytes: u32::MAX, ..head };
        assert_eq!(BlockHead::decode(&huge.encode()), None);
    }
}
