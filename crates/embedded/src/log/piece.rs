//! A piece of the log as it is on the disk, for an archive.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::mark::MarkPosition;
use super::segment::path_of;
use super::segment_head::{SEGMENT_HEAD, SegmentHead};
use super::stored_segment::no_segment;
use store::{Result, StoreError};

/// Bytes of one segment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LogPiece {
    /// Where the bytes begin.
    pub begin: MarkPosition,
    pub bytes: Vec<u8>,
    /// Where the next piece begins: behind the bytes, or at the beginning of the next segment.
    pub next: MarkPosition,
}

impl LogPiece {
    /// Reads a piece of at most `most` bytes from a log that ends at `end`. A server may be appending to the log.
    ///
    /// # Errors
    /// If a file cannot be read, or is not a segment of the log.
    pub(super) fn read(
        directory: &Path,
        begin: MarkPosition,
        end: MarkPosition,
        most: usize,
    ) -> Result<LogPiece> {
        assert!(begin <= end, "a piece of the log would begin behind its end");
        let segment_end =
            if begin.segment == end.segment { end.offset } else { length_of_full(directory, begin.segment)? };
        let Some(left) = segment_end.checked_sub(begin.offset) else {
            return Err(no_segment(&path_of(directory, begin.segment), begin.segment));
        };
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(most);
        let mut bytes = vec![0; length];
        read_at(directory, begin, &mut bytes)?;
        let offset = begin.offset + length as u64;
        let is_full = offset == segment_end && begin.segment < end.segment;
        let next = match is_full.then_some(begin.segment + 1) {
            Some(segment) => MarkPosition { segment, offset: 0 },
            None => MarkPosition { offset, ..begin },
        };
        Ok(LogPiece { begin, bytes, next })
    }
}

/// Returns the length of a segment that is not the last one: the head of the next one has it.
pub(super) fn length_of_full(directory: &Path, number: u64) -> Result<u64> {
    let next = number + 1;
    let mut head = vec![0; SEGMENT_HEAD];
    read_at(directory, MarkPosition { segment: next, offset: 0 }, &mut head)?;
    let head = SegmentHead::read(&head, next).ok_or_else(|| no_segment(&path_of(directory, next), next))?;
    Ok(head.before)
}

fn read_at(directory: &Path, begin: MarkPosition, bytes: &mut [u8]) -> Result<()> {
    let path = path_of(directory, begin.segment);
    let read = File::open(&path).and_then(|file| file.read_exact_at(bytes, begin.offset));
    read.map_err(StoreError::needed_at(&path))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disk::RealDisk;
    use crate::log::{ChangeList, CommitLog, RecordBuilder, segments_of};

    fn append(log: &CommitLog) {
        let mut changes = ChangeList::default();
        changes.add(b"name", Some(&[7; 50]));
        let mut record = RecordBuilder::default();
        record.row(1 << 32 | 1, b"row", changes);
        log.append(&record.seal().unwrap()).unwrap();
    }

    #[test]
    fn pieces_are_the_bytes_of_the_segments_also_of_those_that_are_kept_after_a_flush() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let log = CommitLog::create(Arc::new(RealDisk), path, 1).unwrap();
        assert_eq!(log.keep(), 1);
        append(&log);
        append(&log);
        let full = log.switch_to(log.prepare_next().unwrap()).unwrap();
        append(&log);
        log.remove_before(2);
        assert_eq!(segments_of(&RealDisk, path).unwrap(), [1, 2], "the archive has not read the first one");
        // The file of the full segment still has its mapping, so it has zeros at its end.
        let (mut read, mut from) = (Vec::new(), MarkPosition { segment: 1, offset: 0 });
        while from < log.end() {
            let piece = log.read(from, 100).unwrap();
            assert_eq!((piece.begin, piece.bytes.len() <= 100), (from, true));
            read.extend(piece.bytes);
            from = piece.next;
        }
        drop(full);
        let files = [1, 2].map(|number| std::fs::read(path_of(path, number)).unwrap());
        let end = usize::try_from(log.end().offset).unwrap();
        assert_eq!(read, [&files[0][..], &files[1][..end]].concat());
        log.release(Some(2));
        assert_eq!(segments_of(&RealDisk, path).unwrap(), [2]);
        let missing = log.read(MarkPosition { segment: 1, offset: 0 }, 100).unwrap_err().to_string();
        assert!(missing.contains("1.log is missing"), "{missing}");
    }
}
