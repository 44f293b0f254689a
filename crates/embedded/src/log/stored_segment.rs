//! A segment that is read back.

use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::format_1;
use super::mark::{LogKey, MARK, MarkPosition};
use super::record::{HEAD, read_head};
use super::segment::path_of;
use super::segment_head::{SEGMENT_HEAD, SegmentHead};
use crate::disk::Disk;
use store::{Result, StoreError};

/// The unit in which a disk writes. A power failure leaves a sector completely or not at all.
pub(super) const SECTOR: usize = 512;

/// The file of a segment, with its head.
pub(super) struct StoredSegment {
    pub path: PathBuf,
    pub head: SegmentHead,
    pub bytes: Bytes,
}

/// A part of a segment.
pub(super) enum Item {
    /// The payload of a record.
    Record(Bytes),
    /// A mark, which says that everything before this position is durable.
    Mark(MarkPosition),
}

impl StoredSegment {
    /// Reads a segment's file. `None` if the segment was created and never written to, or its first sector never
    /// reached the disk.
    ///
    /// # Errors
    /// `Corrupt` if the file is missing, or begins with neither a head nor a sector of zeros.
    pub(super) fn read(disk: &dyn Disk, directory: &Path, number: u64) -> Result<Option<StoredSegment>> {
        let path = path_of(directory, number);
        let bytes = read_segment(disk, &path)?;
        StoredSegment::of(&path, number, bytes)
    }

    /// Returns a segment of these bytes, like `read`.
    pub(super) fn of(path: &Path, number: u64, bytes: Bytes) -> Result<Option<StoredSegment>> {
        let first_sector = bytes.get(..SECTOR).unwrap_or(&bytes);
        match SegmentHead::read(&bytes, number) {
            Some(head) => Ok(Some(StoredSegment { path: path.to_owned(), head, bytes })),
            None if first_sector.len() < SEGMENT_HEAD || is_zero(first_sector) => Ok(None),
            None => Err(no_segment(path, number)),
        }
    }

    /// Returns where the item that begins at `at` ends, and the item. `None` if the log ends at `at`, or cannot be read
    /// there.
    ///
    /// # Errors
    /// `Corrupt` if a segment of format 1, which has no marks, is damaged.
    pub(super) fn item_at(&self, at: usize) -> Result<Option<(usize, Item)>> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if let Some(durable) = self.head.key.and_then(|key| key.read_mark(rest)) {
            return Ok(Some((at + MARK, Item::Mark(durable))));
        }
        let payload = self.payload_at(at);
        if payload.is_none()
            && self.head.key.is_none()
            && !format_1::is_torn(&self.bytes, self.head.number, at)
        {
            return Err(damaged(&self.path, at));
        }
        Ok(payload.map(|payload| (at + HEAD + payload.len(), Item::Record(payload))))
    }

    fn payload_at(&self, at: usize) -> Option<Bytes> {
        let head = self.bytes.get(at..)?.first_chunk::<HEAD>()?;
        let (length, sum) = read_head(self.head.seed(), at as u64, head)?;
        let begin = at + HEAD;
        let payload = self.bytes.get(begin..begin + length)?;
        (crc32fast::hash(payload) == sum).then(|| self.bytes.slice_ref(payload))
    }
}

/// Reads the file of a segment.
///
/// # Errors
/// `Corrupt` when it is missing.
pub(crate) fn read_segment(disk: &dyn Disk, path: &Path) -> Result<Bytes> {
    disk.read(path).map(Bytes::from).map_err(StoreError::needed_at(path))
}

/// Returns the bytes from `at` on, without the zeros at the end of the file.
pub(super) fn written_from(bytes: &[u8], at: usize) -> &[u8] {
    let rest = bytes.get(at..).unwrap_or_default();
    let zeros = rest.rchunks(SECTOR).take_while(|chunk| is_zero(chunk)).map(<[u8]>::len).sum::<usize>();
    let (rest, _) = rest.split_at(rest.len() - zeros);
    rest.split_at(rest.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)).0
}

/// Returns the newest position that a mark covers. The mark begins in the written bytes, and may end with zeros behind
/// them.
pub(super) fn newest_mark_in(bytes: &[u8], written: Range<usize>, key: LogKey) -> Option<MarkPosition> {
    key.newest_mark(bytes.get(written.start..bytes.len().min(written.end.saturating_add(MARK)))?)
}

pub(super) fn is_zero(part: &[u8]) -> bool {
    part.chunks(SECTOR).all(|chunk| [0; SECTOR].starts_with(chunk))
}

pub(super) fn no_segment(path: &Path, number: u64) -> StoreError {
    StoreError::Corrupt(format!(
        "{} does not begin as segment {number} of a commit log; put back an undamaged copy of the data directory",
        path.display()
    ))
}

pub(super) fn damaged(path: &Path, at: usize) -> StoreError {
    StoreError::Corrupt(format!(
        "the commit log {} cannot be read at byte {at}; put back an undamaged copy of the data directory, or cut the \
         file off at that byte and all later segments at byte 0, which loses all writes after it",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_ends_with_zeros_is_found() {
        let key = LogKey::random();
        let marks = (0..2000).map(|offset| {
            let durable = MarkPosition { segment: 1, offset };
            let mut bytes = vec![1; 9];
            key.write_mark(durable, &mut bytes);
            bytes.resize(bytes.len() + 3 * SECTOR, 0);
            let written = written_from(&bytes, 3).len();
            assert_eq!(newest_mark_in(&bytes, 3..3 + written, key), Some(durable));
            3 + written
        });
        assert!(marks.min() < Some(9 + MARK), "no mark ends with a zero");
    }
}
