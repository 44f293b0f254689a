//! One record of the log: all that one write changes, so that after a crash all of it is there or nothing.
//!
//! ```text
//!   head      u32 length of the payload | u32 CRC-32 of the payload | u32 CRC-32 of where it stands and of the head
//!   payload   rows, one after another
//!   row       u32 column family | u32 generation | u32 length, prefix | u32 entries, each:
//!             u32 length, key relative to the row | u32 length, value, or FF FF FF FF for its removal
//! ```
//!
//! Numbers are big-endian. Changes say what an entry becomes, not how it changes: to replay a record twice is to
//! replay it once. Column family 0 is the queue of deletions.

use std::ops::Range;

use byteorder::{BigEndian, ByteOrder};
use bytes::{Buf, Bytes};

use crate::storage::StoreError;
use crate::storage::embedded::row_cache::EntryChange;

/// Bytes of a record's head.
pub const HEAD: usize = 12;
/// In the place of a value's length: the entry is removed.
const REMOVED: u32 = u32::MAX;

/// A payload in the making.
#[derive(Default)]
pub struct RecordBuilder {
    bytes: Vec<u8>,
    rows: Vec<Range<usize>>,
}

/// A record that only lacks its place. Its payload is shared with those who keep parts of it.
pub struct SealedRecord {
    pub payload: Bytes,
    /// Where each of its rows stands.
    rows: Vec<Range<usize>>,
    length: u32,
    sum: u32,
}

/// What a record says of one row.
#[derive(Debug, Clone)]
pub struct RowRecord {
    /// Column family and generation.
    pub family: u64,
    pub prefix: Bytes,
    pub changes: Changes,
}

/// What becomes of some entries: a part of a record.
#[derive(Debug, Clone)]
pub struct Changes {
    /// How many there are.
    count: u32,
    rest: Rest,
}

impl RecordBuilder {
    /// Adds a row and what becomes of its entries.
    pub fn row(&mut self, family: u64, prefix: &[u8], changes: &[EntryChange]) {
        let bytes_of = |(key, value): &EntryChange| 8 + key.len() + value.as_ref().map_or(0, Bytes::len);
        self.bytes.reserve(16 + prefix.len() + changes.iter().map(bytes_of).sum::<usize>());
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(&family.to_be_bytes());
        self.put_bytes(prefix);
        self.bytes.extend_from_slice(&length_of(changes.len()).to_be_bytes());
        for (key, value) in changes {
            self.put_bytes(key);
            match value {
                Some(value) => self.put_bytes(value),
                None => self.bytes.extend_from_slice(&REMOVED.to_be_bytes()),
            }
        }
        self.rows.push(begin..self.bytes.len());
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(&length_of(bytes.len()).to_be_bytes());
        self.bytes.extend_from_slice(bytes);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Ends the record. Fails when the payload is longer than a record may be.
    pub fn seal(self) -> Result<SealedRecord, StoreError> {
        let Ok(length) = u32::try_from(self.bytes.len()) else {
            return Err(StoreError::Io("a write of 4 GiB does not fit into the write log".to_owned()));
        };
        let sum = crc32fast::hash(&self.bytes);
        Ok(SealedRecord { payload: self.bytes.into(), rows: self.rows, length, sum })
    }
}

/// Names and values have at most 256 MiB, as the messages have that bring them, and so have their number.
fn length_of(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(REMOVED - 1)
}

impl SealedRecord {
    /// Appends the record as it is written at a place in the log.
    pub fn write_at(&self, segment: u64, offset: u64, out: &mut Vec<u8>) {
        let mut head = [0; HEAD];
        BigEndian::write_u32(&mut head, self.length);
        BigEndian::write_u32(&mut head[4..], self.sum);
        let sum = head_sum(segment, offset, &head[..8]);
        BigEndian::write_u32(&mut head[8..], sum);
        out.extend_from_slice(&head);
        out.extend_from_slice(&self.payload);
    }

    /// Its rows, in the order in which they were added.
    pub fn rows(&self) -> impl Iterator<Item = RowRecord> {
        self.rows.iter().filter_map(|range| Rest(self.payload.slice(range.clone())).row())
    }
}

impl RowRecord {
    /// The same with bytes of its own.
    pub fn to_owned(&self) -> RowRecord {
        let copy = Bytes::copy_from_slice;
        let changes = Changes { count: self.changes.count, rest: Rest(copy(&self.changes.rest.0)) };
        RowRecord { family: self.family, prefix: copy(&self.prefix), changes }
    }
}

impl Changes {
    /// How many are left.
    pub fn left(&self) -> usize {
        usize::try_from(self.count).unwrap_or(usize::MAX)
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> usize {
        self.rest.0.len()
    }
}

impl Iterator for Changes {
    type Item = EntryChange;

    fn next(&mut self) -> Option<EntryChange> {
        self.count = self.count.checked_sub(1)?;
        self.rest.change()
    }
}

/// The checksum of a head. It covers the place, so that a record in another's place is none.
fn head_sum(segment: u64, offset: u64, head: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&segment.to_be_bytes());
    sum.update(&offset.to_be_bytes());
    sum.update(head);
    sum.finalize()
}

/// The length of a record's payload and its checksum. `None`: this is no head of a record at this place.
pub fn read_head(segment: u64, offset: u64, head: &[u8; HEAD]) -> Option<(usize, u32)> {
    if BigEndian::read_u32(&head[8..]) != head_sum(segment, offset, &head[..8]) {
        return None;
    }
    Some((usize::try_from(BigEndian::read_u32(head)).ok()?, BigEndian::read_u32(&head[4..])))
}

/// What a payload says. `None` when its parts do not add up.
pub fn rows_of(payload: &Bytes) -> Option<Vec<RowRecord>> {
    let mut rest = Rest(payload.clone());
    let mut rows = Vec::new();
    while !rest.0.is_empty() {
        let mut row = rest.row()?;
        for _ in 0..row.changes.count {
            rest.change()?;
        }
        let changes = &mut row.changes.rest.0;
        changes.truncate(changes.len() - rest.0.len());
        rows.push(row);
    }
    Some(rows)
}

/// What is left of a payload.
#[derive(Debug, Clone)]
struct Rest(Bytes);

impl Rest {
    /// The beginning of a row; its entries are left.
    fn row(&mut self) -> Option<RowRecord> {
        let (id, generation) = (self.number()?, self.number()?);
        let prefix = self.bytes()?;
        let count = self.number()?;
        let family = u64::from(id) << 32 | u64::from(generation);
        Some(RowRecord { family, prefix, changes: Changes { count, rest: self.clone() } })
    }

    fn change(&mut self) -> Option<EntryChange> {
        let key = self.bytes()?;
        let value = match self.number()? {
            REMOVED => None,
            length => Some(self.take(length)?),
        };
        Some((key, value))
    }

    fn take(&mut self, length: u32) -> Option<Bytes> {
        let length = usize::try_from(length).ok()?;
        (length <= self.0.len()).then(|| self.0.split_to(length))
    }

    fn number(&mut self) -> Option<u32> {
        let number = BigEndian::read_u32(self.0.get(..4)?);
        self.0.advance(4);
        Some(number)
    }

    fn bytes(&mut self) -> Option<Bytes> {
        let length = self.number()?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(longest: usize) -> impl Strategy<Value = Bytes> {
        prop::collection::vec(any::<u8>(), 0..longest).prop_map(Bytes::from)
    }

    proptest! {
        #[test]
        fn rows_round_trip(
            rows in prop::collection::vec(
                (any::<u64>(), bytes(9), prop::collection::vec((bytes(9), prop::option::of(bytes(9))), 0..4)),
                0..4,
            ),
            segment in any::<u64>(),
            offset in any::<u64>(),
        ) {
            let mut builder = RecordBuilder::default();
            for (family, prefix, changes) in &rows {
                builder.row(*family, prefix, changes);
            }
            let sealed = builder.seal().unwrap();
            let mut record = Vec::new();
            sealed.write_at(segment, offset, &mut record);
            let head: [u8; HEAD] = record[..HEAD].try_into().unwrap();
            let payload = Bytes::copy_from_slice(&record[HEAD..]);
            prop_assert_eq!(
                read_head(segment, offset, &head), Some((payload.len(), crc32fast::hash(&payload)))
            );
            prop_assert_eq!(read_head(segment, offset.wrapping_add(1), &head), None);
            let as_added = |row: RowRecord| (row.family, row.prefix, row.changes.collect::<Vec<_>>());
            prop_assert_eq!(&sealed.rows().map(as_added).collect::<Vec<_>>(), &rows);
            prop_assert_eq!(rows_of(&payload).unwrap().into_iter().map(as_added).collect::<Vec<_>>(), rows);
        }

        #[test]
        fn foreign_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = rows_of(&Bytes::from(bytes));
        }
    }
}
