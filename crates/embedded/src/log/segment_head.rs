//! The head of a segment.
//!
//! ```text
//!   format 2   "thriftlg" | u32 2 | u64 number of the segment | u64 length of the segment before | u64 key of the log
//!              | u32 CRC-32 of these 36 bytes
//!   format 1   the same without the key: written up to release 1.0, and only read
//! ```

use byteorder::{BigEndian, ByteOrder};

use super::mark::LogKey;

const MAGIC: &[u8; 8] = b"thriftlg";
/// Bytes of a head of format 2.
pub(super) const SEGMENT_HEAD: usize = 40;

/// The head of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentHead {
    pub number: u64,
    /// Length of the segment before.
    pub before: u64,
    /// `None` in format 1, which has no marks.
    pub key: Option<LogKey>,
}

impl SegmentHead {
    /// Reads the head of segment `number`. `None` if `bytes` do not begin with it.
    pub(super) fn read(bytes: &[u8], number: u64) -> Option<SegmentHead> {
        let before = BigEndian::read_u64(bytes.get(20..28)?);
        let of_key = |key| SegmentHead { number, before, key };
        let heads = [of_key(None), of_key(bytes.get(28..).and_then(LogKey::read))];
        heads.into_iter().find(|head| bytes.starts_with(&head.to_bytes()))
    }

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&if self.key.is_some() { 2u32 } else { 1 }.to_be_bytes());
        head.extend_from_slice(&self.number.to_be_bytes());
        head.extend_from_slice(&self.before.to_be_bytes());
        head.extend(self.key.iter().flat_map(|key| key.to_bytes()));
        let sum = crc32fast::hash(&head);
        head.extend_from_slice(&sum.to_be_bytes());
        head
    }

    /// Returns the offset of the first record.
    pub(super) fn length(self) -> usize {
        self.to_bytes().len()
    }

    /// Returns the number that the checksums of the segment's records cover.
    pub(super) fn seed(self) -> u64 {
        self.key.map_or(self.number, |key| key.seed(self.number))
    }
}
