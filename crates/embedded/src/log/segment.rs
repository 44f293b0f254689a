//! One file of the log.
//!
//! ```text
//!   head      "thriftlg" | u32 format, 1 | u64 number of the segment | u64 length of the segment before
//!             | u32 CRC-32 of these 28 bytes
//!   records   one after another
//!   zeros     to the end of the file, where space is allocated ahead
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

use byteorder::{BigEndian, ByteOrder};

use super::record::{HEAD, HEAD_SUM, SealedRecord};
use crate::storage::disk::{Disk, DiskFile, Mapping};

const MAGIC: &[u8; 8] = b"thriftlg";
const FORMAT: u32 = 1;
/// Bytes of a segment's head.
pub const SEGMENT_HEAD: usize = 32;
/// The extension of segment files.
const SUFFIX: &str = ".log";

/// Bytes mapped at a time while the segment is short: the file of an empty store should be small.
const FIRST_MAPPING: u64 = 1024 * 1024;
/// Bytes mapped at a time in longer segments.
const MAPPING: u64 = 4 * FIRST_MAPPING;
/// Largest record, in bytes, that is copied into the mapping. For longer records a system call costs less.
const COPIED_BYTES_MAX: usize = 64 * 1024;

/// A segment that records are appended to.
pub struct Segment {
    pub number: u64,
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
pub fn path_of(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number}{SUFFIX}"))
}

/// Returns the segment number in a file's name.
pub fn number_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_suffix(SUFFIX)?.parse().ok()
}

fn head(number: u64, before: u64) -> [u8; SEGMENT_HEAD] {
    let mut head = [0; SEGMENT_HEAD];
    head[..8].copy_from_slice(MAGIC);
    BigEndian::write_u32(&mut head[8..12], FORMAT);
    BigEndian::write_u64(&mut head[12..20], number);
    BigEndian::write_u64(&mut head[20..28], before);
    let sum = crc32fast::hash(&head[..28]);
    BigEndian::write_u32(&mut head[28..], sum);
    head
}

/// Returns the length of the segment before, which the head records. `None` if this is not the head of segment
/// `number`.
pub fn read_segment_head(bytes: &[u8], number: u64) -> Option<u64> {
    let before = BigEndian::read_u64(bytes.get(20..28)?);
    bytes.starts_with(&head(number, before)).then_some(before)
}

impl Segment {
    /// Creates a segment's file that survives a power failure. An existing file of that name is replaced: an earlier
    /// process was killed before it used the file.
    pub fn create(disk: &dyn Disk, directory: &Path, number: u64) -> io::Result<Segment> {
        let file = disk.create(&path_of(directory, number))?;
        file.sync()?;
        disk.sync_directory(directory)?;
        Ok(Segment::with(number, file, 0))
    }

    fn with(number: u64, file: Arc<dyn DiskFile>, length: u64) -> Segment {
        Segment {
            number,
            file,
            length,
            is_ragged: false,
            mapping: None,
            is_mappable: true,
            record: Vec::new(),
        }
    }

    /// Writes the head, so that records can be appended. `before` is the length of the segment before.
    pub fn begin(&mut self, before: u64) -> io::Result<()> {
        self.file.write_at(&head(self.number, before), 0)?;
        self.length = SEGMENT_HEAD as u64;
        Ok(())
    }

    /// Opens a segment to append after its last good record, and cuts off the rest. The file is always synced: an
    /// earlier process may have been killed after its own cut and before the sync, and new records must not mix with
    /// the bytes that it cut off.
    pub fn open(disk: &dyn Disk, directory: &Path, number: u64, length: u64) -> io::Result<Segment> {
        let file = disk.open(&path_of(directory, number))?;
        if file.length()? > length {
            file.set_length(length)?;
        }
        file.sync()?;
        Ok(Segment::with(number, file, length))
    }

    /// Writes a record to the operating system. A killed process does not lose it any more.
    ///
    /// # Errors
    /// The record is not in the log. The bytes that were written of it are cut off now, or before the next record.
    pub fn append(&mut self, record: &SealedRecord) -> io::Result<()> {
        if self.is_ragged {
            self.cut()?;
        }
        let mut bytes = std::mem::take(&mut self.record);
        bytes.clear();
        record.write_at(self.number, self.length, &mut bytes);
        let outcome = self.write(&bytes);
        if bytes.capacity() <= COPIED_BYTES_MAX {
            self.record = bytes;
        }
        if outcome.is_err() {
            self.is_ragged = true;
            // If this fails too, the next append tries again.
            let _ = self.cut();
        }
        outcome
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > COPIED_BYTES_MAX || !self.store(bytes)? {
            let (head, payload) = bytes.split_at(HEAD.min(bytes.len()));
            if self.is_mappable {
                // Zeros allocated ahead may follow. The head goes last, since replay ignores a payload without a head.
                self.file.write_at(payload, self.length + HEAD as u64)?;
                self.file.write_at(head, self.length)?;
            } else {
                self.file.write_at(bytes, self.length)?;
            }
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Stores a record in the mapping, and maps the next part of the file if the record does not fit. Returns `false`
    /// if the file cannot be mapped.
    fn store(&mut self, bytes: &[u8]) -> io::Result<bool> {
        // The head's checksum is stored last: replay ignores a record without it.
        let parts = [HEAD..bytes.len(), 0..HEAD_SUM, HEAD_SUM..HEAD];
        if self.mapping.as_mut().is_some_and(|mapping| mapping.store(self.length, bytes, &parts)) {
            return Ok(true);
        }
        if !self.is_mappable {
            return Ok(false);
        }
        // A record is never split between mappings, so the next mapping begins at the record.
        self.mapping = None;
        let room = if self.length < FIRST_MAPPING { FIRST_MAPPING } else { MAPPING };
        match self.file.map(self.length, room) {
            Ok(mapping) => Ok(self.mapping.insert(mapping).store(self.length, bytes, &parts)),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(error),
            Err(error) => {
                tracing::debug!(
                    "segment {} of the commit log is written with system calls, as its file cannot be mapped: {error}",
                    self.number
                );
                self.is_mappable = false;
                // Without zeros after the last record, replay recognizes a torn record by the end of the file.
                self.cut()?;
                Ok(false)
            }
        }
    }

    /// Cuts the file off after the last record.
    fn cut(&mut self) -> io::Result<()> {
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
    use crate::storage::disk::RealDisk;
    use crate::storage::embedded::log::ChangeList;
    use crate::storage::embedded::log::record::RecordBuilder;
    use crate::storage::embedded::log::replay::replay;

    /// Returns a record of a row whose key has `key` bytes. The record's last four bytes are zero.
    fn record(key: usize) -> SealedRecord {
        let mut record = RecordBuilder::default();
        let key: Vec<u8> = (1..=key).map(|at| (at % 256) as u8).collect();
        let mut changes = ChangeList::default();
        changes.add(b"", Some(b""));
        record.row(1 << 32 | 1, &key, &changes);
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
        let mut segment = Segment::create(&RealDisk, directory, 1).unwrap();
        segment.begin(0).unwrap();
        segment
    }

    /// Returns the lengths of the keys in a directory's log, and where its records end.
    fn replayed(directory: &Path) -> (Vec<usize>, u64) {
        let mut keys = Vec::new();
        let end = replay((&RealDisk, directory), (1, 1), |row| {
            keys.push(row.prefix.len());
            Ok(())
        });
        (keys, end.unwrap().length)
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
                    segment = Segment::open(&RealDisk, path, 1, length).unwrap();
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

    /// Only the beginning of the last record is left. One case is at the end of a mapping, where the fewest zeros
    /// follow.
    #[test]
    fn a_record_torn_at_any_byte_is_ignored() {
        let last = record(100);
        let end_of_mapping = SEGMENT_HEAD as u64 + FIRST_MAPPING;
        for end in [5_000, end_of_mapping] {
            let directory = directory();
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
            let left_behind = fs::read(path_of(directory.path(), 1)).unwrap();
            drop(segment);
            let (at, payload_at) = (before as usize, before as usize + HEAD);
            // The payload is written first, the head's checksum last.
            let parts = (payload_at..end as usize).chain(at..at + HEAD_SUM);
            for torn in parts {
                let mut bytes = left_behind.clone();
                bytes[at + HEAD_SUM..payload_at].fill(0);
                if torn >= payload_at {
                    bytes[at..payload_at].fill(0);
                    bytes[torn..end as usize].fill(0);
                } else {
                    bytes[torn..at + HEAD_SUM].fill(0);
                }
                fs::write(path_of(directory.path(), 1), bytes).unwrap();
                assert_eq!(replayed(directory.path()), (keys[..keys.len() - 1].to_vec(), before), "{torn}");
            }
            // A flipped bit in a complete record is damage, even if zeros follow or the record ends with zeros.
            for flipped in at..end as usize {
                let mut bytes = left_behind.clone();
                bytes[flipped] ^= 1;
                fs::write(path_of(directory.path(), 1), bytes).unwrap();
                replay((&RealDisk, directory.path()), (1, 1), |_| Ok(())).unwrap_err();
            }
            fs::write(path_of(directory.path(), 1), &left_behind[..at]).unwrap();
            let mut segment = Segment::open(&RealDisk, directory.path(), 1, before).unwrap();
            segment.append(&record(3)).unwrap();
            assert_eq!(replayed(directory.path()).0[keys.len() - 1..], [3]);
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
