//! One record of the log. It has all changes of one write, so after a crash either all or none of them exist.
//!
//! ```text
//!   head      u32 length of the payload | u32 CRC-32 of the payload
//!             | u32 CRC-32 of the segment's seed, offset and these 8 bytes
//!   payload   rows, one after another
//!   row       u32 column family | u32 generation | u32 length, prefix | u32 entries, each as in `changes`
//! ```
//!
//! Numbers are big-endian. A change has the new value of an entry and not a difference, so replaying a record twice has
//! the same result as replaying it once. Column family 0 is the queue of deletions.

use std::ops::Range;

use byteorder::{BigEndian, ByteOrder};
use smallvec::SmallVec;

use super::changes::{ChangeList, Changes, put_bytes, take_bytes, take_number};
use super::mark::RECORD_END;
use store::{Result, StoreError};

/// Bytes of a record's head.
pub(super) const HEAD: usize = 12;
/// Offset, in the head, of the head's own checksum.
pub(super) const HEAD_SUM: usize = 8;

/// Builds the payload of a record.
#[derive(Default)]
pub(crate) struct RecordBuilder {
    bytes: Vec<u8>,
    rows: SmallVec<[RowPlace; 1]>,
}

/// Where a row is in the payload, and where its first changed key probably is in the memtable.
struct RowPlace {
    range: Range<usize>,
    likely: usize,
}

/// A complete record whose place in the log, which its head's checksum covers, is not known yet.
pub(crate) struct SealedRecord {
    pub payload: Vec<u8>,
    rows: SmallVec<[RowPlace; 1]>,
    length: u32,
    sum: u32,
}

/// The changes of one row in a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowRecord<'a> {
    /// Column family and generation.
    pub family: u64,
    pub prefix: &'a [u8],
    pub changes: Changes<'a>,
}

impl RecordBuilder {
    /// Adds a row and its changes.
    pub(crate) fn row(&mut self, family: u64, prefix: &[u8], changes: ChangeList) {
        self.bytes.reserve(16 + prefix.len() + changes.room());
        let (begin, likely) = (self.bytes.len(), changes.likely);
        self.bytes.extend_from_slice(&family.to_be_bytes());
        put_bytes(prefix, &mut self.bytes);
        changes.move_to(&mut self.bytes);
        self.rows.push(RowPlace { range: begin..self.bytes.len(), likely });
    }

    /// Makes room for about so many bytes: a record of many rows would double several times.
    pub(crate) fn make_room(&mut self, bytes: usize) {
        self.bytes.reserve_exact(bytes);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns the bytes of the payload so far.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Completes the record.
    ///
    /// # Errors
    /// `Io` if the payload has almost 4 GiB or more.
    pub(crate) fn seal(self) -> Result<SealedRecord> {
        let length = u32::try_from(self.bytes.len()).ok();
        let Some(length) = length.filter(|length| *length < RECORD_END) else {
            return Err(StoreError::Io(
                "a write of almost 4 GiB does not fit into the commit log; split it".to_owned(),
            ));
        };
        debug_assert!(
            rows_of(&self.bytes).is_some_and(|rows| rows.len() == self.rows.len()),
            "a replay would not find the rows of this record"
        );
        let sum = crc32fast::hash(&self.bytes);
        Ok(SealedRecord { payload: self.bytes, rows: self.rows, length, sum })
    }
}

impl SealedRecord {
    /// Appends the record to `out` as it is written to the segment with this seed, at this offset.
    pub(crate) fn write_at(&self, seed: u64, offset: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head(seed, offset));
        out.extend_from_slice(&self.payload);
    }

    /// Returns the head of the record for that place.
    pub(crate) fn head(&self, seed: u64, offset: u64) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        BigEndian::write_u32(&mut head, self.length);
        BigEndian::write_u32(&mut head[4..], self.sum);
        let sum = head_sum(seed, offset, &head[..8]);
        BigEndian::write_u32(&mut head[8..], sum);
        head
    }

    /// Returns the rows in the order in which they were added.
    pub(crate) fn rows(&self) -> impl Iterator<Item = RowRecord<'_>> {
        let read = |at: &RowPlace| RowRecord::read(&mut self.payload.get(at.range.clone())?, at.likely);
        self.rows.iter().filter_map(read)
    }
}

impl<'a> RowRecord<'a> {
    /// Reads the head of a row. Its changes are left in `bytes`.
    fn read(bytes: &mut &'a [u8], likely: usize) -> Option<RowRecord<'a>> {
        let (id, generation) = (take_number(bytes)?, take_number(bytes)?);
        let prefix = take_bytes(bytes)?;
        let family = u64::from(id) << 32 | u64::from(generation);
        Some(RowRecord { family, prefix, changes: Changes::read(bytes, likely)? })
    }
}

/// Returns the checksum of a head. It covers the record's place, so a record at any other place is not valid.
fn head_sum(seed: u64, offset: u64, head: &[u8]) -> u32 {
    let mut bytes = [0; 16 + HEAD_SUM];
    BigEndian::write_u64(&mut bytes, seed);
    BigEndian::write_u64(&mut bytes[8..], offset);
    bytes[16..].copy_from_slice(head);
    crc32fast::hash(&bytes)
}

/// Returns the length and the checksum of a record's payload. `None` if this is not the head of a record at this place.
pub(super) fn read_head(seed: u64, offset: u64, head: &[u8; HEAD]) -> Option<(usize, u32)> {
    if BigEndian::read_u32(&head[8..]) != head_sum(seed, offset, &head[..8]) {
        return None;
    }
    Some((usize::try_from(BigEndian::read_u32(head)).ok()?, BigEndian::read_u32(&head[4..])))
}

/// Decodes the rows of a payload. `None` if its lengths do not add up.
pub(super) fn rows_of(payload: &[u8]) -> Option<Vec<RowRecord<'_>>> {
    let mut rest = payload;
    let mut rows = Vec::new();
    while !rest.is_empty() {
        let row = RowRecord::read(&mut rest, 0)?;
        rest = row.changes.end()?;
        rows.push(row);
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(longest: usize) -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 0..longest)
    }

    type Owned = (u64, Vec<u8>, Vec<(Vec<u8>, Option<Vec<u8>>)>);

    fn owned(row: RowRecord<'_>) -> Owned {
        let changes = row.changes.map(|(key, value)| (key.to_vec(), value.map(<[u8]>::to_vec)));
        (row.family, row.prefix.to_vec(), changes.collect())
    }

    proptest! {
        #[test]
        fn rows_round_trip(
            rows in prop::collection::vec(
                (any::<u64>(), bytes(9), prop::collection::btree_map(bytes(9), prop::option::of(bytes(9)), 0..4)),
                0..4,
            ),
            segment in any::<u64>(),
            offset in any::<u64>(),
        ) {
            let rows: Vec<_> = rows
                .into_iter()
                .map(|(family, prefix, changes)| (family, prefix, Vec::from_iter(changes)))
                .collect();
            let mut builder = RecordBuilder::default();
            for (family, prefix, changes) in &rows {
                let mut list = ChangeList::default();
                changes.iter().for_each(|(key, value)| list.add(key, value.as_deref()));
                builder.row(*family, prefix, list);
            }
            let sealed = builder.seal().unwrap();
            let mut record = Vec::new();
            sealed.write_at(segment, offset, &mut record);
            let head: [u8; HEAD] = record[..HEAD].try_into().unwrap();
            let payload = &record[HEAD..];
            prop_assert_eq!(
                read_head(segment, offset, &head), Some((payload.len(), crc32fast::hash(payload)))
            );
            prop_assert_eq!(read_head(segment, offset.wrapping_add(1), &head), None);
            prop_assert_eq!(&sealed.rows().map(owned).collect::<Vec<_>>(), &rows);
            prop_assert_eq!(rows_of(payload).unwrap().into_iter().map(owned).collect::<Vec<_>>(), rows);
        }

        #[test]
        fn decoding_any_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = rows_of(&bytes);
        }
    }
}
