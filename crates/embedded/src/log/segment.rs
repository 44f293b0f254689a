//! One file of the log.
//!
//! ```text
//!   head              as in `segment_head`
//!   records, marks    one after another
//!   zeros             to the end of the file, where space is allocated ahead
//! ```
//!
//! A record is copied to the end of the file through a memory mapping (`mapping`), which takes no system call. Long
//! records, and all records on file systems that do not support such mappings, are written with system calls. The
//! file's contents are the same either way. When a segment is dropped, the file is cut to its length.
//!
//! A segment's file is created before it is needed. Its head is written when the log switches to it, because only then
//! is the length of the segment before final.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::mark::{LogKey, MarkPosition};
use super::record::{HEAD, SealedRecord};
use super::segment_head::{SEGMENT_HEAD, SegmentHead};
use crate::disk::{Disk, DiskFile, Mapping};

/// The extension of segment files.
const SUFFIX: &str = ".log";

/// Bytes mapped at a time while the segment is short: the file of an empty store should be small.
const FIRST_MAPPING: u64 = 1024 * 1024;
/// Bytes mapped at a time in longer segments.
const MAPPING: u64 = 4 * FIRST_MAPPING;
/// Largest record, in bytes, that is copied into the mapping. For longer records a system call costs less.
pub(super) const COPIED_BYTES_MAX: usize = 64 * 1024;

/// A segment that records are appended to.
pub(crate) struct Segment {
    pub number: u64,
    pub key: LogKey,
    /// Shared with the thread that syncs it.
    pub file: Arc<dyn DiskFile>,
    /// Offset of the next record. The rest of the file is zeros or empty.
    pub length: u64,
    /// Whether a failed write may have left bytes after `length` that are not cut off yet.
    is_ragged: bool,
    /// The mapped part of the file that records are stored in. Must be unmapped before the file is cut.
    mapping: Option<Mapping>,
    /// Whether the file system supports mappings. True until an attempt fails.
    is_mappable: bool,
    /// Buffer for the record that is being appended, reused between records.
    record: Vec<u8>,
}

/// Returns the path of a segment's file.
pub(crate) fn path_of(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number}{SUFFIX}"))
}

/// Returns the segment number in a file's name.
pub(super) fn number_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_suffix(SUFFIX)?.parse().ok()
}

/// Opens a segment's file, and cuts off the bytes after the last good record. The file is always synced: an earlier
/// process may have been killed after its own cut and before the sync, and new records must not mix with the bytes that
/// it cut off.
pub(super) fn open_cut(
    disk: &dyn Disk,
    directory: &Path,
    end: MarkPosition,
) -> io::Result<Arc<dyn DiskFile>> {
    let file = disk.open(&path_of(directory, end.segment))?;
    if file.length()? > end.offset {
        file.set_length(end.offset)?;
    }
    file.sync()?;
    Ok(file)
}

impl Segment {
    /// Creates a segment's file that survives a power failure. An existing file of that name is replaced: an earlier
    /// process was killed before it used the file.
    pub(crate) fn create(disk: &dyn Disk, directory: &Path, number: u64, key: LogKey) -> io::Result<Segment> {
        let file = disk.create(&path_of(directory, number))?;
        file.sync()?;
        disk.sync_directory(directory)?;
        Ok(Segment::at(MarkPosition { segment: number, offset: 0 }, file, key))
    }

    /// Returns a segment to append to a file from this position on.
    pub(crate) fn at(end: MarkPosition, file: Arc<dyn DiskFile>, key: LogKey) -> Segment {
        assert!(end.offset == 0 || end.offset >= SEGMENT_HEAD as u64, "records would overwrite the head");
        Segment {
            number: end.segment,
            key,
            file,
            length: end.offset,
            is_ragged: false,
            mapping: None,
            is_mappable: true,
            record: Vec::new(),
        }
    }

    /// Writes the head, so that records can be appended. `before` is the length of the segment before.
    pub(crate) fn begin(&mut self, before: u64) -> io::Result<()> {
        assert!(self.length == 0, "the head of segment {} would overwrite its records", self.number);
        let head = SegmentHead { number: self.number, before, key: Some(self.key) };
        self.file.write_at(&head.to_bytes(), 0)?;
        self.length = SEGMENT_HEAD as u64;
        debug_assert!(head.length() == SEGMENT_HEAD, "the first record would not begin behind the head");
        Ok(())
    }

    /// Writes a record to the operating system. A killed process does not lose it any more.
    ///
    /// # Errors
    /// The record is not in the log. The bytes that were written of it are cut off now, or before the next record.
    pub(crate) fn append(&mut self, record: &SealedRecord) -> io::Result<()> {
        let (seed, at) = (self.key.seed(self.number), self.length);
        if record.payload.len() <= COPIED_BYTES_MAX {
            return self.append_bytes(|out| record.write_at(seed, at, out));
        }
        self.attempt(|segment| {
            segment.file.write_at(&record.head(seed, at), at)?;
            segment.file.write_at(&record.payload, at + HEAD as u64)?;
            segment.length = at + (HEAD + record.payload.len()) as u64;
            Ok(())
        })
    }

    /// Appends a mark: all of the log before `durable` is on the disk.
    ///
    /// # Errors
    /// As of `append`.
    pub(crate) fn append_mark(&mut self, durable: MarkPosition) -> io::Result<()> {
        let key = self.key;
        self.append_bytes(|out| key.write_mark(durable, out))
    }

    fn append_bytes(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.record);
        bytes.clear();
        put(&mut bytes);
        let outcome = self.attempt(|segment| segment.write(&bytes));
        self.record = bytes;
        outcome
    }

    /// Writes at the end of the file. If that fails, cuts off the written bytes.
    fn attempt(&mut self, write: impl FnOnce(&mut Segment) -> io::Result<()>) -> io::Result<()> {
        assert!(self.length >= SEGMENT_HEAD as u64, "segment {} has no head before its records", self.number);
        if self.is_ragged {
            self.cut()?;
        }
        let outcome = write(self);
        if outcome.is_err() {
            self.is_ragged = true;
            // If this fails too, the next append tries again.
            let _ = self.cut();
        }
        outcome
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.store(bytes)? {
            self.file.write_at(bytes, self.length)?;
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Stores a record in the mapping, and maps the next part of the file if the record does not fit. Returns `false`
    /// if the file cannot be mapped.
    fn store(&mut self, bytes: &[u8]) -> io::Result<bool> {
        if self.mapping.as_mut().is_some_and(|mapping| mapping.store(self.length, bytes)) {
            return Ok(true);
        }
        if !self.is_mappable {
            return Ok(false);
        }
        // A record is never split between mappings, so the next mapping begins at the record.
        self.mapping = None;
        let room = if self.length < FIRST_MAPPING { FIRST_MAPPING } else { MAPPING };
        match self.file.map(self.length, room) {
            Ok(mapping) => Ok(self.mapping.insert(mapping).store(self.length, bytes)),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(error),
            Err(error) => {
                tracing::debug!(
                    "segment {} of the commit log is written with system calls, as its file cannot be mapped: {error}",
                    self.number
                );
                self.is_mappable = false;
                Ok(false)
            }
        }
    }

    /// Cuts the file off after the last record.
    fn cut(&mut self) -> io::Result<()> {
        debug_assert!(self.length == 0 || self.length >= SEGMENT_HEAD as u64, "the head would be cut");
        self.mapping = None;
        self.file.set_length(self.length)?;
        self.is_ragged = false;
        Ok(())
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // If this fails, zeros remain at the end of the file. Replay ignores them.
        let _ = self.cut();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use tempfile::TempDir;

    use super::*;
    use crate::disk::RealDisk;
    use crate::log::ChangeList;
    use crate::log::mark::MARK;
    use crate::log::record::{HEAD, RecordBuilder};
    use crate::log::replay::replay;

    /// Returns a record of a row whose key has `key` bytes. The record's last four bytes are zero.
    fn record(key: usize) -> SealedRecord {
        let mut record = RecordBuilder::default();
        let key: Vec<u8> = (1..=key).map(|at| (at % 256) as u8).collect();
        let mut changes = ChangeList::default();
        changes.add(b"", Some(b""));
        record.row(1 << 32 | 1, &key, changes);
        record.seal().unwrap()
    }

    fn length_of(record: &SealedRecord) -> u64 {
        (HEAD + record.payload.len()) as u64
    }

    /// Returns a directory in memory, where files can be mapped, if the system has one.
    fn directory() -> TempDir {
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
    }

    fn begin(directory: &Path) -> Segment {
        let mut segment = Segment::create(&RealDisk, directory, 1, key()).unwrap();
        segment.begin(0).unwrap();
        segment
    }

    fn key() -> LogKey {
        LogKey::read(b"\xFFlog key").unwrap()
    }

    fn open(directory: &Path, length: u64) -> Segment {
        let end = MarkPosition { segment: 1, offset: length };
        Segment::at(end, open_cut(&RealDisk, directory, end).unwrap(), key())
    }

    /// Returns the lengths of the keys in a directory's log, and where its records end.
    fn replayed(directory: &Path) -> (Vec<usize>, u64) {
        let mut keys = Vec::new();
        let end = replay(&RealDisk, directory, 1, 1, |row| {
            keys.push(row.prefix.len());
            Ok(())
        });
        (keys, end.unwrap().end.offset)
    }

    #[test]
    fn mapped_and_written_segments_have_equal_bytes() {
        // Records cross the ends of the first two mappings, among them records too long to be copied.
        let few = [0, 1, 100, 70_000, 7, 65_000, 65_499, 65_500, 65_501, 65_536];
        let long = [FIRST_MAPPING as usize, 9, MAPPING as usize, 9];
        let many = [60_001; 100];
        let keys: Vec<usize> =
            few.iter().chain(&many).chain(&long).chain(&many).chain(&few).copied().collect();
        let mut files = Vec::new();
        for (is_mappable, is_reopened) in [(true, false), (true, true), (false, false), (false, true)] {
            let directory = directory();
            let path = directory.path();
            let mut segment = begin(path);
            for (count, key) in (1..).zip(&keys) {
                segment.is_mappable &= is_mappable;
                segment.append(&record(*key)).unwrap();
                let is_looked_at = count <= few.len() || count % 50 == 0;
                if is_looked_at {
                    // The file as a killed process leaves it.
                    assert_eq!(replayed(path), (keys[..count].to_vec(), segment.length));
                }
                if is_reopened && is_looked_at {
                    let length = segment.length;
                    drop(segment);
                    assert_eq!(fs::metadata(path_of(path, 1)).unwrap().len(), length);
                    segment = open(path, length);
                }
            }
            drop(segment);
            assert_eq!(replayed(path).0, keys);
            files.push(fs::read(path_of(path, 1)).unwrap());
        }
        assert!(files.iter().all(|file| *file == files[0]));
    }

    #[test]
    fn small_records_are_stored_where_files_can_be_mapped() {
        let Ok(directory) = tempfile::tempdir_in("/dev/shm") else { return };
        let mut segment = begin(directory.path());
        assert!(segment.mapping.is_none(), "an empty segment takes no room");
        segment.append(&record(100)).unwrap();
        assert!(segment.mapping.is_some());
        let on_disk = fs::metadata(path_of(directory.path(), 1)).unwrap().len();
        assert!((FIRST_MAPPING..FIRST_MAPPING + 3 * 4096).contains(&on_disk), "{on_disk} bytes");
    }

    /// Only a part of the last record is left. One case is at the end of a mapping.
    #[test]
    fn a_record_torn_at_any_byte_is_ignored() {
        let last = record(100);
        let end_of_mapping = SEGMENT_HEAD as u64 + FIRST_MAPPING;
        for end in [5_000, end_of_mapping] {
            let directory = directory();
            let path = path_of(directory.path(), 1);
            let mut segment = begin(directory.path());
            segment.append(&record(0)).unwrap();
            let before = loop {
                let left = end - length_of(&last) - segment.length;
                if left == 0 {
                    break segment.length;
                }
                let beside_key = length_of(&record(0));
                let bytes = if left > 60_000 { 50_000 } else { left };
                segment.append(&record((bytes - beside_key) as usize)).unwrap();
            };
            segment.append(&last).unwrap();
            let (keys, length) = replayed(directory.path());
            assert_eq!((keys.last(), length), (Some(&100), end));
            let without_mark = fs::read(&path).unwrap();
            segment.append_mark(MarkPosition { segment: 1, offset: end }).unwrap();
            drop(segment);
            let with_mark = fs::read(&path).unwrap();
            let torn = (keys[..keys.len() - 1].to_vec(), before);
            // The record ends with four zeros.
            for at in before as usize..end as usize - 4 {
                for lost in [at..end as usize, before as usize..at + 1, at..at + 1] {
                    if without_mark[lost.clone()].iter().all(|byte| *byte == 0) {
                        continue;
                    }
                    let mut bytes = without_mark.clone();
                    bytes[lost].fill(0);
                    fs::write(&path, bytes).unwrap();
                    assert_eq!(replayed(directory.path()), torn, "{at}");
                }
                // After a sync the same is damage, even if only the mark follows.
                let mut bytes = with_mark.clone();
                bytes[at] ^= 1;
                fs::write(&path, bytes).unwrap();
                let error = replay(&RealDisk, directory.path(), 1, 1, |_| Ok(())).unwrap_err();
                assert!(error.to_string().contains(&format!("cannot be read at byte {before}")), "{error}");
            }
            fs::write(&path, &without_mark[..before as usize]).unwrap();
            let mut segment = open(directory.path(), before);
            segment.append(&record(3)).unwrap();
            assert_eq!(replayed(directory.path()).0[keys.len() - 1..], [3]);
            assert_eq!(with_mark.len(), end as usize + MARK);
        }
    }

    #[test]
    fn a_failed_append_leaves_nothing_in_the_log() {
        let directory = directory();
        let mut segment = begin(directory.path());
        segment.append(&record(1)).unwrap();
        let for_reading: Arc<dyn DiskFile> = Arc::new(File::open(path_of(directory.path(), 1)).unwrap());
        let file = std::mem::replace(&mut segment.file, for_reading);
        // A write by system call, a write to the mapping, and their cuts fail.
        segment.append(&record(70_000)).unwrap_err();
        segment.append(&record(2)).unwrap_err();
        segment.file = file;
        segment.append(&record(3)).unwrap();
        assert_eq!(replayed(directory.path()), (vec![1, 3], segment.length));
    }
}
