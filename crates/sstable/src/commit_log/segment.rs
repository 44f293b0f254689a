//! The records of a commit log.
//!
//! ```text
//!   0.4          size of the header (8) | header | records:  size (8) | mutation
//!   0.5, 0.6     size of the header (8) | header | records:  size (8) | mutation | CRC-32 (8)
//!   0.7 to 1.2   records:  size (4) | CRC-32 of the size's last byte (8) | mutation | CRC-32 of that byte and it (8)
//!   2.0          records:  size (4) | CRC-32 of the size (8) | mutation | CRC-32 of size and mutation (8)
//!   2.1 to 5.0   header | sections of records:
//!                          size (4) | CRC-32 of the size (4) | mutation | CRC-32 of size and mutation (4)
//! ```
//!
//! The rest of a file is zeros, or from 1.1 to 2.0 a zero and what was in the file before it was used again. A record
//! with another checksum was not written completely, or was damaged later. If its size is wrong, it ends the file; if its
//! mutation is wrong, it is passed over. Both are reported. The sections of 2.1 and later were written completely, so a
//! wrong section was damaged later.

use std::path::Path;

use bytes::Bytes;
use crc32fast::Hasher;

use super::super::error::SstableError;
use super::super::flushed::LogPosition;
use super::super::input::Input;
use super::header::least_position;
use super::lost::LostParts;
use super::mutation::is_mutation_of_0_4;
use super::section::{Section, Sections};
use super::version::LogVersion;

/// Longest mutation: the size of a whole segment of old servers, in bytes.
const RECORD_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Shortest mutation, as the servers check it.
const RECORD_BYTES_MIN: u64 = 10;

/// An open commit log.
#[derive(Debug)]
pub(super) struct LogSegment {
    file: Input,
    version: LogVersion,
    id: i64,
    /// `None` up to 2.0.
    sections: Option<Sections>,
    /// The content of the present section, if it was compressed, and the position of its beginning.
    content: Option<(Input, u64)>,
    /// Where the records of the present section end, in the file or the content.
    end: u64,
    lost: LostParts,
    is_over: bool,
}

/// A record.
#[derive(Debug)]
pub(super) struct LogRecord {
    pub mutation: Bytes,
    /// Where the record ends.
    pub position: LogPosition,
}

/// The result of reading a record.
enum ReadRecord {
    Whole(Bytes),
    /// The checksum of the mutation is wrong.
    Damaged,
    /// There is no further record in this section, or file.
    End,
}

impl LogSegment {
    pub(super) fn open(path: &Path) -> Result<LogSegment, SstableError> {
        let mut file = Input::of_file(path)?;
        let (mut version, id) = LogVersion::of(path, &mut file)?;
        let sections = if version.has_sections() { Some(Sections::open(&mut file, version)?) } else { None };
        let mut is_over = false;
        if version == LogVersion::Headed {
            let length = file.u64()?;
            let header = file.bytes(length)?;
            if begins_like_0_4(&mut file)? {
                version = LogVersion::Unchecked;
            }
            let first = least_position(&header);
            is_over = first == Some(0);
            let start = file.position();
            let sum_bytes = if version == LogVersion::Unchecked { 0 } else { 8 };
            // The header has no checksum: of a wrong position, nothing is left out.
            match first {
                Some(first) if begins_record(&mut file, first, sum_bytes) => file.seek(first)?,
                _ => file.seek(start)?,
            }
        }
        Ok(LogSegment {
            id: sections.as_ref().map_or(id, Sections::id),
            end: if version.has_sections() { 0 } else { file.length() },
            file,
            version,
            sections,
            content: None,
            lost: LostParts::default(),
            is_over,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn version(&self) -> LogVersion {
        self.version
    }

    pub(super) fn lost(&self) -> LostParts {
        self.lost
    }

    /// Returns the next record; `None` at the end.
    pub(super) fn next_record(&mut self) -> Result<Option<LogRecord>, SstableError> {
        while !self.is_over {
            match self.read_record()? {
                ReadRecord::Whole(mutation) => {
                    let (input, start) = self.input();
                    let position = u32::try_from(start + input.position()).unwrap_or(u32::MAX);
                    let position = LogPosition { segment: self.id, position };
                    return Ok(Some(LogRecord { mutation, position }));
                }
                ReadRecord::Damaged => self.lost.writes += 1,
                ReadRecord::End => self.next_section()?,
            }
        }
        Ok(None)
    }

    /// Moves to the next section. Without one the file is over.
    fn next_section(&mut self) -> Result<(), SstableError> {
        // After an error nothing is left of the section before.
        (self.content, self.end) = (None, 0);
        let Some(sections) = &mut self.sections else {
            self.is_over = true;
            return Ok(());
        };
        match sections.advance(&mut self.file)? {
            Section::InFile { end, is_cut } => {
                self.lost.is_cut |= is_cut;
                self.end = end;
            }
            Section::Decompressed { content, position } => {
                self.end = content.length();
                self.content = Some((content, position));
            }
            Section::Damaged => self.lost.add_section(sections.start()),
            Section::End { is_damaged } => {
                self.lost.end = is_damaged.then(|| sections.start());
                self.is_over = true;
            }
        }
        Ok(())
    }

    /// Returns where records are read from, and the position that its beginning has.
    fn input(&mut self) -> (&mut Input, u64) {
        match &mut self.content {
            Some((content, position)) => (content, *position),
            None => (&mut self.file, 0),
        }
    }

    fn read_record(&mut self) -> Result<ReadRecord, SstableError> {
        let (version, end) = (self.version, self.end);
        let (input, _) = self.input();
        let (size_bytes, sum_bytes) = match version {
            LogVersion::Unchecked => (8, 0),
            LogVersion::Headed => (8, 8),
            LogVersion::Bare | LogVersion::Two | LogVersion::Three => (4, 8),
            _ => (4, 4),
        };
        let start = input.position();
        let rest = end.saturating_sub(start);
        if rest < size_bytes + sum_bytes {
            return Ok(ReadRecord::End);
        }
        let size = if size_bytes == 8 { input.u64()? } else { u64::from(input.u32()?) };
        if size == 0 {
            return Ok(ReadRecord::End);
        }
        let summed = summed_size(version, size);
        let is_size = version <= LogVersion::Headed || sum(input, version)? == crc(&[&summed]);
        let rest = end.saturating_sub(input.position());
        if !is_size || !(RECORD_BYTES_MIN..=RECORD_BYTES_MAX).contains(&size) || rest < size + sum_bytes {
            match &self.sections {
                Some(sections) => self.lost.add_section(sections.start()),
                // A log that is whole ends with a size of zero, or with the file.
                None => self.lost.end = Some(start),
            }
            return Ok(ReadRecord::End);
        }
        let mutation = input.bytes(size)?;
        if version == LogVersion::Unchecked {
            return Ok(ReadRecord::Whole(mutation));
        }
        let is_whole = sum(input, version)? == crc(&[&summed, &mutation]);
        Ok(if is_whole { ReadRecord::Whole(mutation) } else { ReadRecord::Damaged })
    }
}

/// Whether a record begins at a position, by the sizes of the records from the present position on.
fn begins_record(file: &mut Input, position: u64, sum_bytes: u64) -> bool {
    while file.position() < position {
        let is_skipped = match file.u64() {
            Ok(size) => file.skip(size.saturating_add(sum_bytes)).is_ok(),
            Err(_) => false,
        };
        if !is_skipped {
            return false;
        }
    }
    file.position() == position
}

/// Whether the first record, at the position of a file, is a mutation of 0.4 and has no checksum.
fn begins_like_0_4(file: &mut Input) -> Result<bool, SstableError> {
    let start = file.position();
    if file.remaining() < 8 {
        return Ok(false);
    }
    let size = file.u64()?;
    let is_0_4 = (RECORD_BYTES_MIN..=RECORD_BYTES_MAX.min(file.remaining())).contains(&size) && {
        let mutation = file.bytes(size)?;
        let has_sum = file.remaining() >= 8 && file.u64()? == u64::from(crc(&[&mutation]));
        !has_sum && is_mutation_of_0_4(&mutation)
    };
    file.seek(start)?;
    Ok(is_0_4)
}

/// Returns the bytes of the size that checksums contain.
fn summed_size(version: LogVersion, size: u64) -> Vec<u8> {
    let bytes = size.to_be_bytes();
    match version {
        LogVersion::Unchecked | LogVersion::Headed => Vec::new(),
        LogVersion::Bare | LogVersion::Two => bytes[7..].to_vec(),
        _ => bytes[4..].to_vec(),
    }
}

fn sum(input: &mut Input, version: LogVersion) -> Result<u32, SstableError> {
    if version.has_sections() { input.u32() } else { Ok(u32::try_from(input.u64()?).unwrap_or_default()) }
}

pub(super) fn crc(parts: &[&[u8]]) -> u32 {
    let mut hasher = Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}
