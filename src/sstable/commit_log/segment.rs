//! The records of a commit log.
//!
//! ```text
//!   0.6    size of the header (8) | header | records:  size (8) | mutation | CRC-32 (8)
//!   1.2    records:  size (4) | CRC-32 of the size's last byte (8) | mutation | CRC-32 of that byte and it (8)
//!   2.0    records:  size (4) | CRC-32 of the size (8) | mutation | CRC-32 of size and mutation (8)
//!   2.1    version (4) | id (8) | CRC-32 (4) | sections:  end (4) | CRC-32 of id and position (4) | records
//!          record:   size (4) | CRC-32 of the size (4) | mutation | CRC-32 of size and mutation (4)
//! ```
//!
//! The rest of a file is zeros. A record with another checksum was not written completely: it ends the file if the size
//! is wrong, and is passed over if the mutation is.

use std::path::Path;

use bytes::Bytes;
use crc32fast::Hasher;

use super::super::error::SstableError;
use super::super::input::Input;

/// Longest mutation: the size of a whole segment of old servers, in bytes.
const RECORD_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Shortest mutation, as the servers check it.
const RECORD_BYTES_MIN: u64 = 10;
/// The start of a serialized Java object, with which the header of 0.6 begins.
const JAVA_OBJECT: u32 = 0xaced_0005;

/// The versions of the format, as names of files have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogVersion {
    /// 0.6: a file with a header.
    Headed,
    /// 1.2.
    Two,
    /// 2.0.
    Three,
    /// 2.1.
    Four,
}

/// An open commit log.
#[derive(Debug)]
pub struct Segment {
    input: Input,
    version: LogVersion,
    /// The id of a segment of 2.1, and where its present section ends.
    id: i64,
    section_end: u64,
    skipped: u64,
    is_over: bool,
}

impl Segment {
    pub fn open(path: &Path) -> Result<Segment, SstableError> {
        let mut input = Input::of_file(path)?;
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let numbers: Vec<&str> =
            name.trim_start_matches("CommitLog-").trim_end_matches(".log").split('-').collect();
        let version = match numbers[..] {
            ["2", _] => LogVersion::Two,
            ["3", _] => LogVersion::Three,
            ["4", _] => LogVersion::Four,
            [_] if begins_like_0_6(&mut input)? => LogVersion::Headed,
            _ => {
                return Err(SstableError::unsupported(
                    path,
                    "commit logs of 0.6, 1.2, 2.0 and 2.1 can be read only",
                ));
            }
        };
        let mut segment = Segment { input, version, id: 0, section_end: 0, skipped: 0, is_over: false };
        segment.read_header()?;
        Ok(segment)
    }

    pub fn version(&self) -> LogVersion {
        self.version
    }

    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    fn read_header(&mut self) -> Result<(), SstableError> {
        match self.version {
            LogVersion::Two | LogVersion::Three => Ok(()),
            LogVersion::Headed => {
                let length = self.input.u64()?;
                self.input.skip(length)
            }
            LogVersion::Four => {
                let version = self.input.u32()?;
                self.id = self.input.i64()?;
                let id = self.id.to_be_bytes();
                let (high, low) = id.split_at(4);
                if version != 4 || self.input.u32()? != crc(&[&version.to_be_bytes(), low, high]) {
                    return Err(self
                        .input
                        .damaged("the header of the commit log is not what its checksum says"));
                }
                Ok(())
            }
        }
    }

    /// Returns the mutation of the next record; `None` at the end.
    pub fn next_record(&mut self) -> Result<Option<Bytes>, SstableError> {
        while !self.is_over {
            if self.version == LogVersion::Four && !self.is_in_section()? {
                break;
            }
            let Some((size, record, is_whole)) = self.record()? else { continue };
            if is_whole {
                return Ok(Some(record));
            }
            self.skipped += u64::from(size > 0);
        }
        Ok(None)
    }

    /// Moves to the next section of 2.1 where one ends. Returns false at the end of the file.
    fn is_in_section(&mut self) -> Result<bool, SstableError> {
        if self.input.position() + RECORD_BYTES_MIN < self.section_end {
            return Ok(true);
        }
        if self.section_end > 0 {
            self.input.seek(self.section_end)?;
        }
        let position = self.input.position();
        if self.input.remaining() < 8 {
            return Ok(false);
        }
        let (end, sum) = (self.input.u32()?, self.input.u32()?);
        let id = self.id.to_be_bytes();
        let (high, low) = id.split_at(4);
        let place = u32::try_from(position).unwrap_or_default().to_be_bytes();
        let end = u64::from(end);
        if sum != crc(&[low, high, &place]) || end <= position || end > self.input.length() {
            return Ok(false);
        }
        self.section_end = end;
        Ok(true)
    }

    /// Returns the size of a record, its mutation, and whether that has its checksum. `None` if there is none.
    fn record(&mut self) -> Result<Option<(u64, Bytes, bool)>, SstableError> {
        let (size_bytes, sum_bytes) = match self.version {
            LogVersion::Headed => (8, 8),
            LogVersion::Two | LogVersion::Three => (4, 8),
            LogVersion::Four => (4, 4),
        };
        if self.input.remaining() < size_bytes + sum_bytes {
            return Ok(self.end());
        }
        let size = if size_bytes == 8 { self.input.u64()? } else { u64::from(self.input.u32()?) };
        let summed = self.summed_size(size);
        if self.version != LogVersion::Headed && (size == 0 || self.sum()? != crc(&[&summed])) {
            // The sections of 2.1 were written completely, so what is wrong in one was damaged later.
            self.skipped += u64::from(size != 0 && self.version == LogVersion::Four);
            return Ok(self.end());
        }
        if !(RECORD_BYTES_MIN..=RECORD_BYTES_MAX).contains(&size) || self.input.remaining() < size + sum_bytes
        {
            return Ok(self.end());
        }
        let record = self.input.bytes(size)?;
        let is_whole = self.sum()? == crc(&[&summed, &record]);
        Ok(Some((size, record, is_whole)))
    }

    /// Returns the bytes of the size that checksums contain.
    fn summed_size(&self, size: u64) -> Vec<u8> {
        let bytes = size.to_be_bytes();
        match self.version {
            LogVersion::Headed => Vec::new(),
            LogVersion::Two => bytes[7..].to_vec(),
            LogVersion::Three | LogVersion::Four => bytes[4..].to_vec(),
        }
    }

    fn sum(&mut self) -> Result<u32, SstableError> {
        match self.version {
            LogVersion::Four => self.input.u32(),
            _ => Ok(u32::try_from(self.input.u64()?).unwrap_or_default()),
        }
    }

    /// Ends the section of 2.1, or the file.
    fn end(&mut self) -> Option<(u64, Bytes, bool)> {
        if self.version == LogVersion::Four && self.input.seek(self.section_end).is_ok() {
            return None;
        }
        self.is_over = true;
        None
    }
}

fn begins_like_0_6(input: &mut Input) -> Result<bool, SstableError> {
    if input.length() < 16 {
        return Ok(false);
    }
    let (length, object) = (input.u64()?, input.u32()?);
    let is_header = object == JAVA_OBJECT && length < input.length();
    input.seek(0)?;
    Ok(is_header)
}

fn crc(parts: &[&[u8]]) -> u32 {
    let mut hasher = Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}
