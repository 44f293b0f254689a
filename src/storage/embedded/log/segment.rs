//! One file of the log.
//!
//! ```text
//!   head      "thriftlg" | u32 format, 1 | u64 number of the segment | u64 length of the one before
//!             | u32 CRC-32 of these 28 bytes
//!   records   one after another, to the end of the file
//! ```
//!
//! A segment's file is made before it is needed. It gets its head when writes go on in it, since only then is it known
//! how long the segment before has become.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use byteorder::{BigEndian, ByteOrder};

use super::record::SealedRecord;

const MAGIC: &[u8; 8] = b"thriftlg";
const FORMAT: u32 = 1;
/// Bytes of a segment's head.
pub const SEGMENT_HEAD: usize = 32;
/// What the names of segments end with.
const SUFFIX: &str = ".log";

/// Room for a few small records.
const JOINED_BYTES: usize = 2048;

/// A segment that is appended to.
pub struct Segment {
    pub number: u64,
    /// Shared with who syncs it meanwhile.
    pub file: Arc<File>,
    /// Where the next record begins; what the file has behind that is none.
    pub length: u64,
    /// A write has failed half-way, and what it left is not cut off yet.
    is_ragged: bool,
}

/// The file of a segment.
pub fn path_of(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number}{SUFFIX}"))
}

/// The number in the name of a segment's file.
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

/// How long the segment before this one was. `None`: this is no head of this segment.
pub fn read_segment_head(bytes: &[u8], number: u64) -> Option<u64> {
    let before = BigEndian::read_u64(bytes.get(20..28)?);
    bytes.starts_with(&head(number, before)).then_some(before)
}

impl Segment {
    /// Makes a file that will be there after a power cut. One of the same name is one whose making was cut short.
    pub fn create(directory: &Path, number: u64) -> io::Result<Segment> {
        let path = path_of(directory, number);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        file.sync_all()?;
        File::open(directory)?.sync_all()?;
        Ok(Segment { number, file: Arc::new(file), length: 0, is_ragged: false })
    }

    /// Writes the head. Records can follow.
    pub fn begin(&mut self, before: u64) -> io::Result<()> {
        self.file.write_all_at(&head(self.number, before), 0)?;
        self.length = SEGMENT_HEAD as u64;
        Ok(())
    }

    /// Opens a segment to append behind its last good record; what follows is cut off.
    pub fn open(directory: &Path, number: u64, length: u64) -> io::Result<Segment> {
        let file = OpenOptions::new().read(true).write(true).open(path_of(directory, number))?;
        if file.metadata()?.len() > length {
            file.set_len(length)?;
            file.sync_all()?;
        }
        Ok(Segment { number, file: Arc::new(file), length, is_ragged: false })
    }

    /// Hands records to the operating system: from then on a killed process does not lose them. When that fails, what
    /// was written of them is cut off again, now or before the next.
    pub fn append<'a>(&mut self, records: impl Iterator<Item = &'a SealedRecord>) -> io::Result<()> {
        if self.is_ragged {
            self.cut()?;
        }
        let mut joined = Vec::with_capacity(JOINED_BYTES);
        for record in records {
            record.write_at(self.number, self.length + joined.len() as u64, &mut joined);
        }
        self.write(&joined)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all_at(bytes, self.length) {
            self.is_ragged = true;
            // If this fails too, the next write will try again.
            let _ = self.cut();
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.is_ragged = false;
        Ok(())
    }
}
