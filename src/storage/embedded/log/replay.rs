//! Reads the log back after a restart, and decides whether an incomplete end is expected or damage.
//!
//! A process that is killed while it writes leaves a part of a record at the end of the last segment. Where space was
//! allocated ahead, the record lacks its head's checksum, which is written last; elsewhere only its beginning is there.
//! A power failure may also leave whole pages of zeros where data had not reached the disk. No write in such a *torn*
//! end was acknowledged as synced, so the end is cut off. Anything else that cannot be read is *damage*, even in the
//! last record: the store is not opened, because records after it might have been acknowledged.
//!
//! ```text
//!   the file ends within a head, or before the payload's length     torn
//!   no checksum of the head, and no good head after it              torn
//!   a payload after zeros in place of its head                      torn
//!   zeros over a whole page, or over the rest of one                torn
//!   zeros from the beginning of a page to the end of the file       torn
//!   a checksum is wrong otherwise                                   damaged
//! ```

use std::path::Path;

use bytes::Bytes;

use super::record::{HEAD, HEAD_SUM, RowRecord, read_head, rows_of};
use super::segment::{SEGMENT_HEAD, number_of, path_of, read_segment_head};
use crate::storage::StoreError;
use crate::storage::disk::Disk;

/// Bytes of a page. A power failure loses unsynced data in whole pages.
const PAGE: usize = 4096;

/// First bytes of a payload: column family, generation and the length of a prefix. They are never all zero.
const ROW_HEAD: usize = 12;

/// Zero bytes that the end of an undamaged record may have.
const OWN_ZEROS_MAX: usize = 64;

/// Where a replayed log ends, and appending continues.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The last segment.
    pub number: u64,
    /// Where that segment's last good record ends.
    pub length: u64,
    /// Bytes of the segments before it.
    pub earlier: u64,
}

/// Calls `each` with every row of every record from segment `first` on, in the order of writing. Segments before
/// `first` are leftovers.
///
/// # Errors
/// `Corrupt` if a segment up to `last` is missing, or anything but a torn end cannot be read.
pub fn replay(
    (disk, directory): (&dyn Disk, &Path),
    (first, last): (u64, u64),
    mut each: impl FnMut(RowRecord<'_>) -> Result<(), StoreError>,
) -> Result<Replayed, StoreError> {
    let mut replayed = Replayed { number: first, length: 0, earlier: 0 };
    let end = segments_of(disk, directory)?.last().copied().unwrap_or(0).max(last);
    for number in first..=end {
        let path = path_of(directory, number);
        let bytes = read_segment(disk, &path)?;
        if number > first {
            if is_unused(&bytes) {
                // The segment was created ahead and not used, or its first page never reached the disk.
                warn_of_hole(&path, 0, written(&bytes));
                break;
            }
            let before = read_segment_head(&bytes, number).ok_or_else(|| no_segment(&path, number))?;
            if replayed.length != before {
                // Segments are synced in order, so nothing after a torn end was synced.
                tracing::warn!(
                    "the commit log ends before {}, as after a power failure: later writes, which were never synced, are lost",
                    path.display()
                );
                break;
            }
        }
        let length = replay_segment(&path, number, &bytes, &mut each)?;
        replayed.earlier += replayed.length;
        (replayed.number, replayed.length) = (number, length as u64);
    }
    Ok(replayed)
}

/// Returns where the last good record of a segment ends.
///
/// # Errors
/// `Corrupt` if damage follows that record, and not a torn end.
pub fn end_of_records(path: &Path, number: u64, bytes: &Bytes) -> Result<usize, StoreError> {
    replay_segment(path, number, bytes, &mut |_| Ok(()))
}

/// Returns whether a segment was created and never written to, or its first page never reached the disk.
pub fn is_unused(bytes: &[u8]) -> bool {
    let first_page = &bytes[..bytes.len().min(PAGE)];
    first_page.len() < SEGMENT_HEAD || is_zero(first_page)
}

/// Reads the file of a segment.
///
/// # Errors
/// `Corrupt` when it is missing.
pub fn read_segment(disk: &dyn Disk, path: &Path) -> Result<Bytes, StoreError> {
    disk.read(path).map(Bytes::from).map_err(StoreError::needed_at(path))
}

/// Returns the numbers of the segments in a directory, sorted.
pub fn segments_of(disk: &dyn Disk, directory: &Path) -> Result<Vec<u64>, StoreError> {
    let paths = disk.list(directory).map_err(StoreError::io_at(directory))?;
    let mut numbers: Vec<u64> = paths.iter().filter_map(|path| number_of(path)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Reads one segment, and returns where its last good record ends.
fn replay_segment(
    path: &Path,
    number: u64,
    bytes: &Bytes,
    each: &mut impl FnMut(RowRecord<'_>) -> Result<(), StoreError>,
) -> Result<usize, StoreError> {
    read_segment_head(bytes, number).ok_or_else(|| no_segment(path, number))?;
    let mut at = SEGMENT_HEAD;
    while let Some((end, payload)) = record_at(number, bytes, at, path)? {
        let rows = rows_of(&payload).ok_or_else(|| damaged(path, at))?;
        rows.into_iter().try_for_each(&mut *each)?;
        at = end;
    }
    Ok(at)
}

/// Returns where the record that begins at `at` ends, and its payload. `None` if the log ends at `at`.
fn record_at(
    number: u64,
    bytes: &Bytes,
    at: usize,
    path: &Path,
) -> Result<Option<(usize, Bytes)>, StoreError> {
    let torn = |end: usize| {
        if !is_torn(bytes, at, end) {
            return Err(damaged(path, at));
        }
        warn_of_hole(path, at, written(bytes).saturating_sub(end));
        Ok(None)
    };
    let Some(head) = bytes[at..].first_chunk::<HEAD>() else { return Ok(None) };
    let Some((length, sum)) = read_head(number, at as u64, head) else {
        // A killed process leaves this: the lost write was not acknowledged, so nothing is logged.
        if has_no_head(number, bytes, at) {
            return Ok(None);
        }
        if is_payload_alone(bytes, at) {
            warn_of_hole(path, at, written(bytes) - at);
            return Ok(None);
        }
        return torn(at + HEAD);
    };
    let (begin, end) = (at + HEAD, at + HEAD + length);
    let Some(payload) = bytes.get(begin..end) else { return Ok(None) };
    if crc32fast::hash(payload) != sum {
        return torn(end);
    }
    Ok(Some((end, bytes.slice(begin..end))))
}

/// Logs how many bytes are ignored after pages that never reached the disk.
fn warn_of_hole(path: &Path, at: usize, behind: usize) {
    if behind > 0 {
        tracing::warn!(
            "the commit log {} has pages of zeros at byte {at}, as after a power failure: {behind} bytes after \
             them, which were never synced, are ignored",
            path.display()
        );
    }
}

/// Returns whether a payload follows zeros in place of its head. The head is written after the payload. If the page
/// reaches the disk between the two, and the power fails before it is written again, it stays like that, and later
/// pages may have been written. A synced record has its head.
fn is_payload_alone(bytes: &[u8], at: usize) -> bool {
    let behind = &bytes[at + HEAD..bytes.len().min(at + HEAD + ROW_HEAD)];
    is_zero(&bytes[at..at + HEAD]) && !is_zero(behind)
}

/// Returns whether the record at this place has no checksum of its head and is the last one: no valid head follows. If
/// the checksum crosses a page boundary, it is enough that the part in the second page is missing, because that page
/// may not have reached the disk.
fn has_no_head(number: u64, bytes: &[u8], at: usize) -> bool {
    let written = written(bytes);
    let is_head = |place: usize| {
        let head = bytes[place..].first_chunk::<HEAD>();
        head.is_some_and(|head| read_head(number, place as u64, head).is_some())
    };
    let next_page = at + PAGE - at % PAGE;
    let sum = at + HEAD_SUM..at + HEAD;
    let lost = if sum.contains(&next_page) { next_page..sum.end } else { sum };
    is_zero(&bytes[lost]) && !(at + 1..written).any(is_head)
}

/// Returns whether a part of the bytes from `at` to `end` never reached the disk. That is so if they are zero up to the
/// next page; if a page that begins between them is zero as far as the file goes; or if the file has only zeros from well
/// before `end` on, for at least a page. The length of a file may reach the disk before its last page does.
fn is_torn(bytes: &[u8], at: usize, end: usize) -> bool {
    let next_page = at + PAGE - at % PAGE;
    let page_at = |page: usize| &bytes[page..bytes.len().min(page + PAGE)];
    let mut pages = (next_page..end.min(bytes.len())).step_by(PAGE).map(page_at);
    let written = written(bytes);
    is_zero(&bytes[at..next_page.min(bytes.len())])
        || pages.any(is_zero)
        || written + OWN_ZEROS_MAX < end && bytes.len() - written >= PAGE
}

fn is_zero(part: &[u8]) -> bool {
    part.iter().all(|byte| *byte == 0)
}

/// Returns where the zeros at the end begin.
fn written(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

fn no_segment(path: &Path, number: u64) -> StoreError {
    StoreError::Corrupt(format!(
        "{} does not begin as segment {number} of a commit log; put back an undamaged copy of the data directory",
        path.display()
    ))
}

fn damaged(path: &Path, at: usize) -> StoreError {
    StoreError::Corrupt(format!(
        "the commit log {} cannot be read at byte {at}; put back an undamaged copy of the data directory, or cut the \
         file off at that byte, which loses all writes after it",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::storage::disk::RealDisk;
    use crate::storage::embedded::log::{ChangeList, CommitLog, RecordBuilder};

    fn record(log: &CommitLog, number: u8) {
        record_of(log, number, 100);
    }

    /// Appends a record with a value of `bytes` bytes.
    fn record_of(log: &CommitLog, number: u8, bytes: usize) {
        let mut record = RecordBuilder::default();
        let mut changes = ChangeList::default();
        changes.add(&[number], Some(&vec![number; bytes]));
        record.row(1 << 32 | 1, &[number], &changes);
        log.append(&record.seal().unwrap()).unwrap();
    }

    /// Writes records 0 and 1 to a first segment, 2 and 3 to a second.
    fn two_segments(directory: &Path) {
        let log = CommitLog::create(Arc::new(RealDisk), directory, 1).unwrap();
        record(&log, 0);
        record(&log, 1);
        log.switch_to(log.prepare_next().unwrap()).unwrap();
        record(&log, 2);
        record(&log, 3);
        log.sync().unwrap();
    }

    fn replayed(directory: &Path, range: (u64, u64)) -> Result<(Vec<u8>, Replayed), StoreError> {
        let mut found = Vec::new();
        let end = replay((&RealDisk, directory), range, |row| {
            found.push(row.prefix[0]);
            Ok(())
        })?;
        Ok((found, end))
    }

    #[test]
    fn a_reopened_log_continues_after_its_last_record() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        two_segments(path);
        let (found, end) = replayed(path, (1, 2)).unwrap();
        assert_eq!((found, end.number), (vec![0, 1, 2, 3], 2));
        assert_eq!(replayed(path, (2, 2)).unwrap().0, [2, 3]);
        // A torn end is cut off, and a segment that was created and not used is not part of the log.
        let cut = fs::OpenOptions::new().write(true).open(path_of(path, 2)).unwrap();
        cut.set_len(end.length - 1).unwrap();
        fs::write(path_of(path, 3), b"").unwrap();
        let (found, end) = replayed(path, (1, 3)).unwrap();
        assert_eq!((found, end.number), (vec![0, 1, 2], 2));
        let log = CommitLog::open(Arc::new(RealDisk), path, &end, 2).unwrap();
        assert_eq!(segments_of(&RealDisk, path).unwrap(), [2]);
        record(&log, 4);
        assert_eq!(replayed(path, (2, 2)).unwrap().0, [2, 4]);
    }

    #[test]
    fn segments_after_a_torn_one_are_ignored() {
        let directory = tempfile::tempdir().unwrap();
        two_segments(directory.path());
        let file = fs::OpenOptions::new().write(true).open(path_of(directory.path(), 1)).unwrap();
        file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        assert_eq!(replayed(directory.path(), (1, 2)).unwrap().0, [0]);
    }

    #[test]
    fn a_segment_without_its_first_page_is_ignored() {
        let directory = tempfile::tempdir().unwrap();
        two_segments(directory.path());
        let path = path_of(directory.path(), 2);
        let mut bytes = fs::read(&path).unwrap();
        bytes.resize(PAGE + 100, 1);
        bytes[..PAGE].fill(0);
        fs::write(path, bytes).unwrap();
        let (found, end) = replayed(directory.path(), (1, 2)).unwrap();
        assert_eq!((found, end.number), (vec![0, 1], 1));
    }

    /// If a head crosses a page boundary, one of the two pages may reach the disk without the other.
    #[test]
    fn a_head_of_which_a_page_was_lost_ends_the_log() {
        let beside_value = {
            let directory = tempfile::tempdir().unwrap();
            let log = CommitLog::create(Arc::new(RealDisk), directory.path(), 1).unwrap();
            record_of(&log, 1, 0);
            replayed(directory.path(), (1, 1)).unwrap().1.length as usize
        };
        for in_first_page in 1..HEAD {
            let directory = tempfile::tempdir().unwrap();
            let log = CommitLog::create(Arc::new(RealDisk), directory.path(), 1).unwrap();
            record_of(&log, 1, PAGE - in_first_page - beside_value);
            record_of(&log, 2, 9);
            drop(log);
            let path = path_of(directory.path(), 1);
            let whole = fs::read(&path).unwrap();
            for (lost, what) in [(PAGE - in_first_page..PAGE, "first"), (PAGE..whole.len(), "second")] {
                if whole[lost.clone()].iter().all(|byte| *byte == 0) {
                    // The length begins with zeros, so these zeros are the record's own.
                    continue;
                }
                let mut bytes = whole.clone();
                bytes[lost].fill(0);
                bytes.resize(3 * PAGE, 0);
                fs::write(&path, bytes).unwrap();
                let (found, end) = replayed(directory.path(), (1, 1)).unwrap();
                let expected = (vec![1], PAGE - in_first_page);
                assert_eq!((found, end.length as usize), expected, "{in_first_page}, {what}");
            }
        }
    }

    /// The length of the file reached the disk, its last page did not.
    #[test]
    fn a_last_page_that_was_lost_ends_the_log() {
        for in_last_page in [1, 3, 1000, PAGE - 1, PAGE] {
            let directory = tempfile::tempdir().unwrap();
            let log = CommitLog::create(Arc::new(RealDisk), directory.path(), 1).unwrap();
            record_of(&log, 1, 0);
            let first_end = replayed(directory.path(), (1, 1)).unwrap().1.length as usize;
            let beside_value = first_end - SEGMENT_HEAD;
            let end = 2 * PAGE + in_last_page;
            record_of(&log, 2, end - first_end - beside_value);
            drop(log);
            let path = path_of(directory.path(), 1);
            let mut bytes = fs::read(&path).unwrap();
            assert_eq!((bytes.len(), replayed(directory.path(), (1, 1)).unwrap().0), (end, vec![1, 2]));
            bytes[2 * PAGE..].fill(0);
            fs::write(&path, &bytes).unwrap();
            let (found, replayed) = replayed(directory.path(), (1, 1)).unwrap();
            assert_eq!((found, replayed.length as usize), (vec![1], first_end), "{in_last_page}");
        }
    }

    /// A page reached the disk after the payload was written and before its head was.
    #[test]
    fn a_payload_without_its_head_ends_the_log() {
        let directory = tempfile::tempdir().unwrap();
        two_segments(directory.path());
        let two_records = replayed(directory.path(), (1, 2)).unwrap().1.length as usize - SEGMENT_HEAD;
        let record_length = two_records / 2;
        let path = path_of(directory.path(), 2);
        let mut bytes = fs::read(&path).unwrap();
        bytes[SEGMENT_HEAD..SEGMENT_HEAD + HEAD].fill(0);
        fs::write(&path, &bytes).unwrap();
        let (found, end) = replayed(directory.path(), (1, 2)).unwrap();
        assert_eq!((found, end.length), (vec![0, 1], SEGMENT_HEAD as u64));
        // A kill leaves such a record only at the end. A good record after it shows that a page was lost.
        assert!(!has_no_head(2, &bytes, SEGMENT_HEAD));
        let first_record = &bytes[..SEGMENT_HEAD + record_length];
        assert!(has_no_head(2, first_record, SEGMENT_HEAD));
        // More zeros are damage.
        bytes[SEGMENT_HEAD..SEGMENT_HEAD + HEAD + ROW_HEAD].fill(0);
        fs::write(&path, &bytes).unwrap();
        replayed(directory.path(), (1, 2)).unwrap_err();
    }

    #[test]
    fn a_missing_segment_is_an_error_that_names_it() {
        let directory = tempfile::tempdir().unwrap();
        two_segments(directory.path());
        for number in [1, 2] {
            let file = path_of(directory.path(), number);
            let bytes = fs::read(&file).unwrap();
            fs::remove_file(&file).unwrap();
            let text = replayed(directory.path(), (1, 2)).unwrap_err().to_string();
            assert!(text.contains(&format!("{number}.log is missing")), "{text}");
            fs::write(&file, bytes).unwrap();
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let directory = tempfile::tempdir().unwrap();
        two_segments(directory.path());
        for number in [1, 2] {
            let file = path_of(directory.path(), number);
            let bytes = fs::read(&file).unwrap();
            for at in 0..bytes.len() {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << (at % 8);
                fs::write(&file, &flipped).unwrap();
                let text = replayed(directory.path(), (1, 2)).unwrap_err().to_string();
                assert!(text.starts_with("corrupt data: "), "segment {number} byte {at}: {text}");
            }
            fs::write(&file, bytes).unwrap();
        }
    }
}
