//! Reads the log back after a restart, and decides whether an unreadable end is expected or damage.
//!
//! A process that is killed while it writes leaves a part of a record at the end of the last segment. A power failure
//! leaves any of the sectors that were written since the last sync, with new, old or no contents. No write in such a
//! *torn* end was acknowledged as synced, so the end is cut off. A record that cannot be read although the log was
//! synced up to it is *damaged*: the store is not opened, because acknowledged records may follow.
//!
//! The marks (`mark`) behind the record distinguish the two. The segments of releases up to 1.0 have no marks, and
//! `format_1` looks at the zeros instead.

use std::path::Path;

use bytes::Bytes;

use super::mark::{LogKey, MarkPosition};
use super::record::{RowRecord, rows_of};
use super::segment::{COPIED_BYTES_MAX, number_of, path_of};
use super::segment_head::{SEGMENT_HEAD, SegmentHead};
use super::stored_segment::{
    Item, StoredSegment, damaged, newest_mark_in, no_segment, read_segment, written_from,
};
use crate::disk::Disk;
use store::{Result, StoreError};

/// Where a replayed log ends, and appending continues.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Replayed {
    /// The end of the last segment's last good record or mark.
    pub end: MarkPosition,
    /// Bytes of the segments before it.
    pub earlier: u64,
    /// The key of the last segment. `None` if it has format 1.
    pub key: Option<LogKey>,
    /// The end of the last record.
    pub record_end: MarkPosition,
    /// The newest position that a mark covers.
    pub marked: MarkPosition,
}

/// Calls `each` with every row of every record from segment `first` on, in the order of writing. Segments before
/// `first` are leftovers.
///
/// # Errors
/// `Corrupt` if a segment up to `last` is missing, or anything but a torn end cannot be read.
pub(crate) fn replay(
    disk: &dyn Disk,
    directory: &Path,
    first: u64,
    last: u64,
    mut each: impl FnMut(RowRecord<'_>) -> Result<()>,
) -> Result<Replayed> {
    let begin = StoredSegment::read(disk, directory, first)?;
    let begin = begin.ok_or_else(|| no_segment(&path_of(directory, first), first))?;
    let mut replayed = Replayed::at(begin.head);
    replayed.add(&begin, &mut each)?;
    drop(begin);
    let last = segments_of(disk, directory)?.last().copied().unwrap_or(0).max(last);
    // Where the log ends, and marks behind it must not cover a later position.
    let mut end = replayed.end;
    for number in first + 1..=last {
        let Some(segment) = StoredSegment::read(disk, directory, number)? else {
            end = MarkPosition { segment: number, offset: 0 };
            break;
        };
        if segment.head.before != replayed.end.offset {
            break;
        }
        replayed.earlier += replayed.end.offset;
        replayed.add(&segment, &mut each)?;
        end = replayed.end;
    }
    replayed.check_rest(disk, directory, end, last)?;
    Ok(replayed)
}

/// Returns where the last good record or mark of a segment ends; 0 if the segment was never written to.
///
/// # Errors
/// `Corrupt` if damage follows, and not a torn end.
pub(crate) fn end_of_records(path: &Path, number: u64, bytes: &Bytes) -> Result<usize> {
    let Some(segment) = StoredSegment::of(path, number, bytes.clone())? else { return Ok(0) };
    let mut replayed = Replayed::at(segment.head);
    let end = replayed.add(&segment, &mut |_| Ok(()))?;
    let written = end..end + written_from(bytes, end).len();
    match segment.head.key.and_then(|key| newest_mark_in(bytes, written, key)) {
        Some(mark) if mark > replayed.end => Err(damaged(path, end)),
        _ => Ok(end),
    }
}

/// Returns the numbers of the segments in a directory, sorted.
pub(crate) fn segments_of(disk: &dyn Disk, directory: &Path) -> Result<Vec<u64>> {
    let paths = disk.list(directory).map_err(StoreError::io_at(directory))?;
    let mut numbers: Vec<u64> = paths.iter().filter_map(|path| number_of(path)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

impl Replayed {
    /// Returns the state before the first record of a log. The head of a first segment is durable before the manifest
    /// lists the segment.
    fn at(first: SegmentHead) -> Replayed {
        let begin = MarkPosition { segment: first.number, offset: first.length() as u64 };
        Replayed { end: begin, earlier: 0, key: first.key, record_end: begin, marked: begin }
    }

    /// Reads the next segment, and returns where its last good record or mark ends.
    fn add(
        &mut self,
        segment: &StoredSegment,
        each: &mut impl FnMut(RowRecord<'_>) -> Result<()>,
    ) -> Result<usize> {
        let mut at = segment.head.length();
        assert!(segment.head.number >= self.end.segment, "writes would be replayed in another order");
        self.key = segment.head.key;
        self.end.segment = segment.head.number;
        self.end.offset = at as u64;
        while let Some((end, item)) = segment.item_at(at)? {
            debug_assert!(end > at, "a replay would never end");
            self.end.offset = end as u64;
            match item {
                Item::Record(payload) => {
                    let rows = rows_of(&payload).ok_or_else(|| damaged(&segment.path, at))?;
                    rows.into_iter().try_for_each(&mut *each)?;
                    self.record_end = self.end;
                }
                Item::Mark(durable) => self.marked = durable,
            }
            at = end;
        }
        Ok(at)
    }

    /// Checks that no mark behind the end of the log covers more than what was read, and logs how many bytes are
    /// ignored.
    ///
    /// # Errors
    /// `Corrupt` if the log was synced beyond `end`.
    fn check_rest(&self, disk: &dyn Disk, directory: &Path, end: MarkPosition, last: u64) -> Result<()> {
        let (mut ignored, mut from) = (0, usize::try_from(self.end.offset).unwrap_or(usize::MAX));
        for number in self.end.segment..=last {
            let bytes = read_segment(disk, &path_of(directory, number))?;
            // If the head of a segment is lost, its marks still have the key of the log.
            let key = SegmentHead::read(&bytes, number).and_then(|head| head.key).or(self.key);
            let written = written_from(&bytes, from).len();
            let newest = key.and_then(|key| newest_mark_in(&bytes, from..from + written, key));
            if newest.is_some_and(|mark| mark > end) {
                let path = path_of(directory, end.segment);
                return Err(match usize::try_from(end.offset) {
                    Ok(0) => no_segment(&path, end.segment),
                    at => damaged(&path, at.unwrap_or(usize::MAX)),
                });
            }
            ignored += written;
            from = SEGMENT_HEAD;
        }
        let path = path_of(directory, self.end.segment);
        let message = format!(
            "the commit log {} ends at byte {}, as after a crash: {ignored} bytes after it, which were never synced, are \
             ignored",
            path.display(),
            self.end.offset
        );
        if ignored > COPIED_BYTES_MAX {
            tracing::warn!("{message}");
        } else if ignored > 0 {
            // A killed process leaves no more than the record that it was copying, whose write was not acknowledged.
            tracing::info!("{message}");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::mark::MARK;
    use super::super::stored_segment::SECTOR;
    use super::*;
    use crate::disk::RealDisk;
    use crate::log::{ChangeList, CommitLog, RecordBuilder};

    fn record(log: &CommitLog, number: u8) {
        record_of(log, number, 100);
    }

    /// Appends a record with a value of `bytes` bytes.
    fn record_of(log: &CommitLog, number: u8, bytes: usize) {
        let mut record = RecordBuilder::default();
        let mut changes = ChangeList::default();
        changes.add(&[number], Some(&vec![number; bytes]));
        record.row(1 << 32 | 1, &[number], changes);
        log.append(&record.seal().unwrap()).unwrap();
    }

    fn create(directory: &Path) -> CommitLog {
        CommitLog::create(Arc::new(RealDisk), directory, 1).unwrap()
    }

    /// Writes records 0 and 1 to a first segment, 2 and 3 to a second.
    fn two_segments(directory: &Path) -> CommitLog {
        let log = create(directory);
        record(&log, 0);
        record(&log, 1);
        drop(log.switch_to(log.prepare_next().unwrap()).unwrap());
        record(&log, 2);
        record(&log, 3);
        log
    }

    fn two_synced_segments(directory: &Path) {
        two_segments(directory).sync().unwrap();
    }

    fn replayed(directory: &Path, range: (u64, u64)) -> Result<(Vec<u8>, Replayed)> {
        let mut found = Vec::new();
        let end = replay(&RealDisk, directory, range.0, range.1, |row| {
            found.push(row.prefix[0]);
            Ok(())
        })?;
        Ok((found, end))
    }

    fn refusal(directory: &Path, range: (u64, u64)) -> String {
        replayed(directory, range).unwrap_err().to_string()
    }

    /// Changes the bytes of a segment's file.
    fn change(directory: &Path, number: u64, change: impl FnOnce(&mut Vec<u8>)) {
        let path = path_of(directory, number);
        let mut bytes = fs::read(&path).unwrap();
        change(&mut bytes);
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn a_reopened_log_continues_after_its_last_record() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        two_synced_segments(path);
        let (found, end) = replayed(path, (1, 2)).unwrap();
        assert_eq!((found, end.end.segment), (vec![0, 1, 2, 3], 2));
        assert_eq!((end.record_end, end.end.offset), (end.marked, end.record_end.offset + MARK as u64));
        assert_eq!(replayed(path, (2, 2)).unwrap().0, [2, 3]);
        // A torn end is cut off, and a segment that was created and not used is not part of the log.
        change(path, 2, |bytes| bytes.truncate(end.record_end.offset as usize - 1));
        fs::write(path_of(path, 3), b"").unwrap();
        let (found, end) = replayed(path, (1, 3)).unwrap();
        assert_eq!((found, end.end.segment), (vec![0, 1, 2], 2));
        let log = CommitLog::open(Arc::new(RealDisk), path, &end, 2).unwrap();
        assert_eq!(segments_of(&RealDisk, path).unwrap(), [2]);
        record(&log, 4);
        assert_eq!(replayed(path, (2, 2)).unwrap().0, [2, 4]);
    }

    #[test]
    fn an_idle_log_does_not_grow() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let length = |number| fs::metadata(path_of(path, number)).unwrap().len();
        create(path).sync().unwrap();
        assert_eq!(length(1), SEGMENT_HEAD as u64);
        two_synced_segments(path);
        let first = length(2);
        for _ in 0..3 {
            let replayed = replayed(path, (1, 2)).unwrap().1;
            let log = CommitLog::open(Arc::new(RealDisk), path, &replayed, 1).unwrap();
            log.sync().unwrap();
            log.sync().unwrap();
            drop(log);
            assert_eq!(length(2), first);
        }
        // A process that was killed before its sync leaves records without a mark. The next sync is theirs.
        change(path, 2, |bytes| bytes.truncate(first as usize - MARK));
        let replayed = replayed(path, (1, 2)).unwrap().1;
        CommitLog::open(Arc::new(RealDisk), path, &replayed, 1).unwrap().sync().unwrap();
        assert_eq!(length(2), first);
    }

    #[test]
    fn segments_after_a_torn_one_are_ignored_unless_they_were_synced() {
        let directory = tempfile::tempdir().unwrap();
        let cut = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - 1);
        drop(two_segments(directory.path()));
        change(directory.path(), 1, cut);
        assert_eq!(replayed(directory.path(), (1, 2)).unwrap().0, [0]);
        two_synced_segments(directory.path());
        change(directory.path(), 1, cut);
        let text = refusal(directory.path(), (1, 2));
        let (_, at) = text.split_once("1.log cannot be read at byte ").unwrap();
        let at: usize = at.split_once(';').unwrap().0.parse().unwrap();
        // The message says to do this.
        change(directory.path(), 1, |bytes| bytes.truncate(at));
        change(directory.path(), 2, Vec::clear);
        assert_eq!(replayed(directory.path(), (1, 2)).unwrap().0, [0]);
    }

    #[test]
    fn a_segment_without_its_first_sector_is_ignored_unless_it_was_synced() {
        let directory = tempfile::tempdir().unwrap();
        let lose_sector = |bytes: &mut Vec<u8>| {
            bytes.resize(2 * SECTOR, 1);
            bytes[..SECTOR].fill(0);
        };
        drop(two_segments(directory.path()));
        change(directory.path(), 2, lose_sector);
        let (found, end) = replayed(directory.path(), (1, 2)).unwrap();
        assert_eq!((found, end.end.segment), (vec![0, 1], 1));
        let log = two_segments(directory.path());
        record_of(&log, 4, SECTOR);
        log.sync().unwrap();
        drop(log);
        change(directory.path(), 2, |bytes| bytes[..SECTOR].fill(0));
        let text = refusal(directory.path(), (1, 2));
        assert!(text.contains("2.log does not begin as segment 2"), "{text}");
    }

    /// A segment of a release that wrote no marks is continued in the next one.
    #[test]
    fn a_log_of_format_1_continues_in_a_segment_with_marks() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let mut bytes = SegmentHead { number: 1, before: 0, key: None }.to_bytes();
        let mut builder = RecordBuilder::default();
        builder.row(1 << 32 | 1, &[7], ChangeList::default());
        builder.seal().unwrap().write_at(1, 32, &mut bytes);
        fs::write(path_of(path, 1), &bytes).unwrap();
        let (found, end) = replayed(path, (1, 1)).unwrap();
        assert_eq!((found, end.end.offset as usize, end.key), (vec![7], bytes.len(), None));
        let log = CommitLog::open(Arc::new(RealDisk), path, &end, 1).unwrap();
        record(&log, 8);
        log.sync().unwrap();
        drop(log);
        let (found, end) = replayed(path, (1, 2)).unwrap();
        assert_eq!((found, end.end.segment), (vec![7, 8], 2));
        // The mark covers both segments.
        for (number, at) in [(1, bytes.len() - 1), (2, SEGMENT_HEAD)] {
            change(path, number, |bytes| bytes[at] ^= 1);
            refusal(path, (1, 2));
            change(path, number, |bytes| bytes[at] ^= 1);
        }
    }

    #[test]
    fn a_missing_segment_is_an_error_that_names_it() {
        let directory = tempfile::tempdir().unwrap();
        two_synced_segments(directory.path());
        for number in [1, 2] {
            let file = path_of(directory.path(), number);
            let bytes = fs::read(&file).unwrap();
            fs::remove_file(&file).unwrap();
            let text = refusal(directory.path(), (1, 2));
            assert!(text.contains(&format!("{number}.log is missing")), "{text}");
            fs::write(&file, bytes).unwrap();
        }
    }

    #[test]
    fn every_flipped_bit_of_a_synced_log_is_found() {
        let directory = tempfile::tempdir().unwrap();
        two_synced_segments(directory.path());
        let record_end = replayed(directory.path(), (1, 2)).unwrap().1.record_end.offset as usize;
        for number in [1, 2] {
            let file = path_of(directory.path(), number);
            let bytes = fs::read(&file).unwrap();
            for at in 0..bytes.len() {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << (at % 8);
                fs::write(&file, &flipped).unwrap();
                if number == 2 && at >= record_end {
                    // Nothing is lost without the last mark.
                    assert_eq!(replayed(directory.path(), (1, 2)).unwrap().0, [0, 1, 2, 3]);
                    continue;
                }
                let text = refusal(directory.path(), (1, 2));
                assert!(text.starts_with("corrupt data: "), "segment {number} byte {at}: {text}");
            }
            fs::write(&file, bytes).unwrap();
        }
    }

    proptest! {
        /// A power failure loses any sectors that were written after the last sync.
        #[test]
        fn lost_sectors_behind_a_sync_lose_only_records_behind_it(
            synced in prop::collection::vec(0usize..700, 1..5),
            unsynced in prop::collection::vec(0usize..1500, 1..8),
            lost in prop::collection::vec(0u8..3, 40),
            cut in any::<bool>(),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let log = create(directory.path());
            let write = |begin: usize, values: &[usize]| {
                for (number, bytes) in (begin..).zip(values) {
                    record_of(&log, number as u8, *bytes);
                }
            };
            write(0, &synced);
            // The bytes that the disk has certainly, and those that it has if nothing is lost.
            let mut old = fs::read(path_of(directory.path(), 1)).unwrap();
            log.sync().unwrap();
            write(synced.len(), &unsynced);
            drop(log);
            let (all, end) = replayed(directory.path(), (1, 1)).unwrap();
            let new = fs::read(path_of(directory.path(), 1)).unwrap();
            if cut {
                old.truncate(old.iter().rposition(|byte| *byte != 0).unwrap() + 1);
            }
            old.resize(new.len(), 0);
            change(directory.path(), 1, |bytes| {
                for ((sector, old), lost) in bytes.chunks_mut(SECTOR).zip(old.chunks(SECTOR)).zip(&lost) {
                    if *lost == 0 {
                        sector.copy_from_slice(old);
                    }
                }
            });
            let (found, after) = replayed(directory.path(), (1, 1)).unwrap();
            prop_assert!(found.len() >= synced.len() && all.starts_with(&found));
            prop_assert!(after.end <= end.end);
            // The log continues, and nothing that was lost comes back.
            let log = CommitLog::open(Arc::new(RealDisk), directory.path(), &after, 1).unwrap();
            record(&log, 99);
            log.sync().unwrap();
            drop(log);
            prop_assert_eq!(replayed(directory.path(), (1, 1)).unwrap().0, [&found[..], &[99]].concat());
        }
    }
}
