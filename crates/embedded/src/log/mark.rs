//! Sync marks: the log's own knowledge of how much of it is durable.
//!
//! ```text
//!   mark   u64 key of the log | u64 segment | u64 offset | u32 CRC-32 of these 24 bytes
//! ```
//!
//! After a sync the log appends a mark: all earlier segments, and this segment up to this offset, are on the disk. So
//! if bytes cannot be read and a later mark covers them, they are damaged. If no mark covers them, they are a torn end,
//! no matter which of their sectors the disk has:
//!
//! ```text
//!   record 1 | record 2 | sync, mark: up to here | record 3 | record 4 | sync, mark: up to here
//!   flipped bit in record 2, 3 or 4       damage: the last mark covers it
//!   record 3 lost, 4 there, no last mark  torn: a power failure before the second sync ended
//! ```
//!
//! A mark is written like a record and is itself durable after the next sync. It stays true forever.
//!
//! The key is a random number in the head of each segment of a log. Clients do not know it, so that no value can contain
//! a mark of its own log. Its first byte is FF, which begins no record.

use byteorder::{BigEndian, ByteOrder};
use uuid::Uuid;

/// Bytes of a mark.
pub(super) const MARK: usize = 28;

const KEY: usize = 8;
/// The part of a mark that its checksum covers.
const SUMMED: usize = 24;

/// The bits that are set in each key.
const KEY_PREFIX: u64 = 0xFF << 56;

/// The smallest length that a record cannot have, because its first byte begins a mark.
pub(super) const RECORD_END: u32 = 0xFF00_0000;

/// A place in the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MarkPosition {
    pub segment: u64,
    pub offset: u64,
}

/// The random number that distinguishes the marks of a log from all other bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogKey(u64);

impl LogKey {
    pub(crate) fn random() -> LogKey {
        LogKey(Uuid::new_v4().as_u64_pair().0 | KEY_PREFIX)
    }

    /// Reads the key at the beginning of `bytes`.
    pub(crate) fn read(bytes: &[u8]) -> Option<LogKey> {
        let key = u64::from_be_bytes(*bytes.first_chunk()?);
        (key & KEY_PREFIX == KEY_PREFIX).then_some(LogKey(key))
    }

    pub(crate) fn to_bytes(self) -> [u8; KEY] {
        self.0.to_be_bytes()
    }

    /// Returns the number that the checksums of a segment's records cover.
    pub(crate) fn seed(self, segment: u64) -> u64 {
        self.0 ^ segment
    }

    /// Appends a mark that says that everything before `durable` is on the disk.
    pub(crate) fn write_mark(self, durable: MarkPosition, out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend_from_slice(&self.to_bytes());
        out.extend_from_slice(&durable.segment.to_be_bytes());
        out.extend_from_slice(&durable.offset.to_be_bytes());
        let sum = crc32fast::hash(out.split_at(begin).1);
        out.extend_from_slice(&sum.to_be_bytes());
    }

    /// Reads the mark at the beginning of `bytes`.
    pub(crate) fn read_mark(self, bytes: &[u8]) -> Option<MarkPosition> {
        let mark = bytes.first_chunk::<MARK>()?;
        let is_mark = mark.starts_with(&self.to_bytes())
            && crc32fast::hash(&mark[..SUMMED]) == BigEndian::read_u32(&mark[SUMMED..]);
        is_mark.then(|| MarkPosition {
            segment: BigEndian::read_u64(&mark[KEY..]),
            offset: BigEndian::read_u64(&mark[2 * KEY..]),
        })
    }

    /// Finds the marks at all offsets of `bytes`, and returns the newest position that one of them covers.
    pub(crate) fn newest_mark(self, bytes: &[u8]) -> Option<MarkPosition> {
        let key = self.to_bytes();
        let begins = (0..).zip(bytes.windows(KEY)).filter(|(_, window)| *window == key);
        begins.filter_map(|(at, _): (usize, _)| self.read_mark(bytes.get(at..)?)).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_mark_is_found_at_any_offset() {
        let key = LogKey::random();
        let newest = MarkPosition { segment: 7, offset: 9 };
        let mut bytes = Vec::new();
        for (segment, offset) in [(7, 3), (7, 9), (6, 1 << 40)] {
            bytes.extend_from_slice(&[0xFF; 5]);
            key.write_mark(MarkPosition { segment, offset }, &mut bytes);
        }
        assert_eq!(key.newest_mark(&bytes), Some(newest));
        assert_eq!(LogKey::random().newest_mark(&bytes), None);
        for at in 0..MARK {
            let mut mark = Vec::new();
            key.write_mark(newest, &mut mark);
            assert_eq!(key.read_mark(&mark), Some(newest));
            assert_eq!(key.newest_mark(&mark[..at]), None);
            mark[at] ^= 0x10;
            assert_eq!(key.newest_mark(&mark), None, "byte {at}");
        }
    }
}
