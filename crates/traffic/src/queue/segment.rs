//! The files of a queue: `NUMBER.queue`, with the number of the first write in 20 digits.
//!
//! ```text
//!   0   8  TSWQUEUE
//!   8   4  format, 1
//!   12  8  the number of the first write
//!   20  4  CRC-32 of the bytes before
//!   24     records:  4  length of the write
//!                    4  CRC-32 of the number of the write and its bytes
//!                    n  the write (`queued_write`)
//! ```
//!
//! A record that is cut off at the end of the last file is of a write that no client has an answer to: it is removed. Any
//! other damage is an error.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::failure::QueueError;
use super::queued_write::QueuedWrite;
use crate::limits::RECORDED_MESSAGE_BYTES_MAX;

const MARK: &[u8; 8] = b"TSWQUEUE";
const FORMAT: u32 = 1;
pub(super) const HEAD_BYTES: u64 = 24;
const RECORD_HEAD_BYTES: usize = 8;
/// Longest write: a message with its texts, of which a statement is at most as long.
pub(super) const WRITE_BYTES_MAX: usize = 2 * RECORDED_MESSAGE_BYTES_MAX + 1024;
/// Bytes that are read at a time.
const READ_BYTES: usize = 256 * 1024;

/// A file of a queue.
#[derive(Debug)]
pub(super) struct QueueFile {
    pub path: PathBuf,
    file: File,
    /// The number of the first write.
    pub first: u64,
    /// The number after the last write.
    pub end: u64,
    /// The length of the file.
    pub bytes: u64,
}

/// A write that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredWrite {
    pub number: u64,
    pub write: QueuedWrite,
    /// Where the next record begins.
    pub next_at: u64,
}

impl QueueFile {
    /// Creates the file for the writes from `first` on.
    pub(super) fn create(directory: &Path, first: u64) -> Result<QueueFile, QueueError> {
        let path = directory.join(format!("{first:020}.queue"));
        let failed = |why| QueueError::io(&path, why);
        let mut file =
            OpenOptions::new().read(true).append(true).create_new(true).open(&path).map_err(failed)?;
        let mut head = Vec::with_capacity(24);
        head.put_slice(MARK);
        head.put_u32(FORMAT);
        head.put_u64(first);
        head.put_u32(crc32fast::hash(&head));
        if let Err(why) = file.write_all(&head) {
            // The next try creates a file of this name again.
            let _ = fs::remove_file(&path);
            return Err(failed(why));
        }
        Ok(QueueFile { path, file, first, end: first, bytes: HEAD_BYTES })
    }

    /// Opens a file, and checks all of its records. Of the last file of a queue, a record that is cut off is removed.
    /// `None` if the file has no complete head: then no write was in it.
    pub(super) fn open(path: &Path, is_last: bool) -> Result<Option<QueueFile>, QueueError> {
        let failed = |why| QueueError::io(path, why);
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        if is_last && length < HEAD_BYTES {
            return Ok(None);
        }
        let mut head = [0; 24];
        file.read_exact_at(&mut head, 0).map_err(failed)?;
        let first = head_of(path, &head)?;
        let mut segment = QueueFile { path: path.to_owned(), file, first, end: first, bytes: length };
        let (mut at, mut number) = (HEAD_BYTES, first);
        while at < length {
            let writes = segment.read(at, number, usize::MAX)?;
            let Some(last) = writes.last() else { break };
            (at, number) = (last.next_at, last.number + 1);
        }
        if at < length {
            if !is_last {
                return Err(QueueError::damaged(path, at, "a record is cut off"));
            }
            segment.file.set_len(at).map_err(failed)?;
        }
        (segment.end, segment.bytes) = (number, at);
        Ok(Some(segment))
    }

    /// Appends a write. The operating system has it when this returns.
    pub(super) fn append(&mut self, write: &QueuedWrite) -> Result<(), QueueError> {
        let payload = write.encode();
        let mut record = BytesMut::with_capacity(RECORD_HEAD_BYTES + payload.len());
        // Messages are shorter than the limit of recordings.
        record.put_u32(u32::try_from(payload.len()).unwrap_or(u32::MAX));
        record.put_u32(sum_of(self.end, &payload));
        record.put_slice(&payload);
        if let Err(why) = self.file.write_all(&record) {
            // A record that is cut off would hide those after it.
            let _ = self.file.set_len(self.bytes);
            return Err(QueueError::io(&self.path, why));
        }
        self.bytes += record.len() as u64;
        self.end += 1;
        Ok(())
    }

    /// Reads complete writes from a place on, the first of which has this number: at least one if there is one, and at most
    /// `count`.
    pub(super) fn read(&self, at: u64, number: u64, count: usize) -> Result<Vec<StoredWrite>, QueueError> {
        let (mut writes, mut wanted) = (Vec::new(), READ_BYTES);
        loop {
            let mut buffer = self.bytes_at(at, wanted)?;
            let is_end = buffer.len() < wanted;
            let (mut next_at, mut next) = (at, number);
            while writes.len() < count && buffer.len() >= RECORD_HEAD_BYTES {
                let mut head = &buffer[..RECORD_HEAD_BYTES];
                let (length, sum) = (head.get_u32() as usize, head.get_u32());
                if length > WRITE_BYTES_MAX {
                    return Err(QueueError::damaged(
                        &self.path,
                        next_at,
                        "the length of a record is impossible",
                    ));
                }
                if buffer.len() < RECORD_HEAD_BYTES + length {
                    wanted = wanted.max(RECORD_HEAD_BYTES + length);
                    break;
                }
                let payload = buffer.split_to(RECORD_HEAD_BYTES + length).slice(RECORD_HEAD_BYTES..);
                if sum != sum_of(next, &payload) {
                    return Err(QueueError::damaged(
                        &self.path,
                        next_at,
                        "the checksum of a record is wrong",
                    ));
                }
                let write = QueuedWrite::decode(payload);
                let write = write
                    .ok_or_else(|| QueueError::damaged(&self.path, next_at, "a record is not a write"))?;
                next_at += (RECORD_HEAD_BYTES + length) as u64;
                writes.push(StoredWrite { number: next, write, next_at });
                next += 1;
            }
            // Only a write that is longer than the buffer needs another look.
            if !writes.is_empty() || is_end || wanted == READ_BYTES {
                return Ok(writes);
            }
        }
    }

    fn bytes_at(&self, at: u64, wanted: usize) -> Result<Bytes, QueueError> {
        let mut buffer = vec![0; wanted];
        let mut filled = 0;
        while filled < wanted {
            match self.file.read_at(&mut buffer[filled..], at + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(why) => return Err(QueueError::io(&self.path, why)),
            }
        }
        buffer.truncate(filled);
        Ok(buffer.into())
    }
}

/// Returns the number of the first write.
fn head_of(path: &Path, head: &[u8; 24]) -> Result<u64, QueueError> {
    let (fields, sum) = head.split_at(20);
    if !fields.starts_with(MARK) || crc32fast::hash(fields).to_be_bytes() != sum {
        return Err(QueueError::damaged(path, 0, "it does not begin like a queue"));
    }
    let mut fields = &fields[MARK.len()..];
    let found = fields.get_u32();
    if found != FORMAT {
        return Err(QueueError::OtherFormat { file: path.to_owned(), found, known: FORMAT });
    }
    Ok(fields.get_u64())
}

fn sum_of(number: u64, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_be_bytes());
    hasher.update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::super::rule::ResendRule;
    use super::*;
    use crate::Protocol;

    fn write(length: usize) -> QueuedWrite {
        QueuedWrite {
            at_us: 1,
            protocol: Protocol::Native,
            rule: ResendRule::Timestamped,
            keyspace: Some("k".to_owned()),
            statement: None,
            table: "k.t".to_owned(),
            message: vec![7; length].into(),
        }
    }

    #[test]
    fn writes_are_read_again_and_a_cut_one_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let mut segment = QueueFile::create(directory.path(), 5).unwrap();
        let lengths = [0, 10, READ_BYTES * 2, 3];
        lengths.iter().for_each(|length| segment.append(&write(*length)).unwrap());
        let path = segment.path.clone();
        let reopened = QueueFile::open(&path, false).unwrap().unwrap();
        assert_eq!((reopened.first, reopened.end, reopened.bytes), (5, 9, segment.bytes));
        let (mut at, mut found) = (HEAD_BYTES, Vec::new());
        while let Some(stored) = reopened.read(at, 5 + found.len() as u64, 1).unwrap().pop() {
            at = stored.next_at;
            found.push(stored.write.message.len());
        }
        assert_eq!(found, lengths);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(QueueFile::open(&path, false).unwrap_err().to_string().contains("a record is cut off"));
        assert_eq!(QueueFile::open(&path, true).unwrap().unwrap().end, 8);
        assert_eq!(QueueFile::open(&path, false).unwrap().unwrap().end, 8, "it was removed");
        std::fs::write(&path, &whole[..10]).unwrap();
        assert!(QueueFile::open(&path, true).unwrap().is_none());
    }

    #[test]
    fn damage_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let mut segment = QueueFile::create(directory.path(), 0).unwrap();
        (0..3).for_each(|_| segment.append(&write(8)).unwrap());
        let whole = std::fs::read(&segment.path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            std::fs::write(&segment.path, &damaged).unwrap();
            let opened = QueueFile::open(&segment.path, false);
            assert!(opened.is_err(), "{at}");
        }
    }
}
