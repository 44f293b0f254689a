//! Copies the commit log while a server may append to its last segment.
//!
//! A writer may store records while the file is read. Then the bytes can have a part of a record followed by a mark that
//! covers it: the record was read before it was finished, the mark afterwards. In a file that does not change, that is
//! damage. Here the segment is read again. By then the record is complete, unless the file is really damaged.
//!
//! A segment is copied up to the end of its last complete record or mark. The next record was not finished when it was
//! read. Records are written in order, so no record after it was acknowledged before the backup began.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;

use super::io_error;
use crate::disk::Disk;
use crate::log::{end_of_records, path_of, read_segment, segments_of};
use crate::manifest::LogSpan;
use store::Result;

/// Pauses before a segment is read again. Together they give a writer one second to finish a record.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(512);

/// Copies the needed segments from one directory to another. Returns their size in bytes.
///
/// # Errors
/// `Corrupt` if a segment is damaged or missing. A segment that a flush removes during the copy is missing, too.
pub(super) fn copy_log(disk: &dyn Disk, from: &Path, to: &Path, needed: Option<LogSpan>) -> Result<u64> {
    let Some(LogSpan { first, last }) = needed else { return Ok(0) };
    disk.remove_directory(to)
        .and_then(|()| disk.create_directory(to))
        .map_err(|error| io_error(to, &error))?;
    let last = segments_of(disk, from)?.last().map_or(last, |found| last.max(*found));
    let mut bytes = 0;
    // From the last to the first: if a segment has records, the segments before it no longer grow.
    for number in (first..=last).rev() {
        let path = path_of(from, number);
        let records = complete_records(disk, &path, number)?;
        let copy = path_of(to, number);
        disk.write(&copy, &records).map_err(|error| io_error(&copy, &error))?;
        bytes += records.len() as u64;
    }
    Ok(bytes)
}

/// Reads a segment to which a server may be appending, up to the end of its last complete record.
///
/// # Errors
/// `Corrupt` if it is damaged or missing.
pub(crate) fn complete_records(disk: &dyn Disk, path: &Path, number: u64) -> Result<Bytes> {
    whole_records(path, number, || read_segment(disk, path))
}

/// Returns a segment up to the end of its last complete record. Empty if the segment was only created.
fn whole_records(path: &Path, number: u64, mut read: impl FnMut() -> Result<Bytes>) -> Result<Bytes> {
    let mut pause = FIRST_PAUSE;
    loop {
        let bytes = read()?;
        match end_of_records(path, number, &bytes) {
            Ok(end) => return Ok(bytes.slice(..end)),
            Err(error) if pause > LONGEST_PAUSE => return Err(error),
            Err(_) => std::thread::sleep(pause),
        }
        pause *= 2;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;

    use super::*;
    use crate::disk::RealDisk;
    use crate::log::{ChangeList, CommitLog, RecordBuilder, replay};

    /// Returns the bytes of a segment with three records and a mark, and where each record ends.
    fn segment(directory: &Path) -> (Bytes, Vec<usize>) {
        let log = CommitLog::create(Arc::new(RealDisk), directory, 1).unwrap();
        let mut ends = Vec::new();
        for number in 0..3u8 {
            let mut changes = ChangeList::default();
            changes.add(b"name", Some(&[number; 50]));
            let mut record = RecordBuilder::default();
            record.row(1 << 32 | 1, &[number], changes);
            log.append(&record.seal().unwrap()).unwrap();
            ends.push(usize::try_from(log.bytes()).unwrap());
        }
        log.sync().unwrap();
        drop(log);
        (std::fs::read(path_of(directory, 1)).unwrap().into(), ends)
    }

    fn copied(reads: &[Bytes]) -> Result<Bytes> {
        let mut reads: VecDeque<Bytes> = reads.iter().cloned().collect();
        whole_records(Path::new("1.log"), 1, || {
            Ok(if reads.len() > 1 { reads.pop_front().unwrap() } else { reads[0].clone() })
        })
    }

    #[test]
    fn a_record_finished_during_the_read_is_not_damage() {
        let directory = tempfile::tempdir().unwrap();
        let (whole, ends) = segment(directory.path());
        // The second record lacks a part of its head or of its payload, and the third one is complete and synced.
        for (hole, bytes) in [(ends[0] + 8, 4), (ends[0] + 30, 20)] {
            let mut racing = whole.to_vec();
            racing[hole..hole + bytes].fill(0);
            assert_eq!(copied(&[racing.clone().into(), whole.clone()]).unwrap(), whole);
            let error = copied(&[racing.clone().into()]).unwrap_err();
            assert!(error.to_string().contains(&format!("cannot be read at byte {}", ends[0])), "{error}");
            // Without the mark, none of the records was acknowledged before the read.
            racing.truncate(ends[2]);
            assert_eq!(copied(&[racing.into()]).unwrap(), whole.slice(..ends[0]));
        }
    }

    #[test]
    fn an_unfinished_record_and_the_zeros_after_it_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let (whole, ends) = segment(directory.path());
        for end in ends[1]..ends[2] {
            assert_eq!(copied(&[whole.slice(..end)]).unwrap(), whole.slice(..ends[1]));
        }
        let mut with_room = whole.to_vec();
        with_room.resize(9000, 0);
        assert_eq!(copied(&[with_room.into()]).unwrap(), whole);
        assert_eq!(copied(&[vec![0; 5000].into()]).unwrap(), Bytes::new());
    }

    #[test]
    fn segments_are_copied_from_the_first_that_is_needed() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        let (whole, _) = segment(&from);
        let log_of = |first, last| Some(LogSpan { first, last });
        assert_eq!(copy_log(&RealDisk, &from, &to, log_of(1, 1)).unwrap(), whole.len() as u64);
        std::fs::write(path_of(&from, 2), b"").unwrap();
        // The manifest was read before the second segment was created.
        copy_log(&RealDisk, &from, &to, log_of(1, 1)).unwrap();
        assert_eq!(replay(&RealDisk, &to, 1, 2, |_| Ok(())).unwrap().end.segment, 1);
        let missing = copy_log(&RealDisk, &from, &to, log_of(1, 3)).unwrap_err().to_string();
        assert!(missing.contains("3.log is missing"), "{missing}");
        assert_eq!(copy_log(&RealDisk, &from, &to, None).unwrap(), 0);
    }
}
