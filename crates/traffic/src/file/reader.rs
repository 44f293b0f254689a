//! Reads the events of one file.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::block::{BLOCK_MARK, BlockHead, END_MARK, HEAD_BYTES};
use super::event_codec::take_event;
use super::index::BlockIndex;
use super::{FILE_MARK, head_sum};
use crate::event::FORMAT_VERSION;
use crate::limits::RECORDING_HEADER_BYTES_MAX;
use crate::{Event, Header, TrafficError};

/// Bytes that are searched at a time for the next block behind a damaged one.
const SEARCH_BYTES: usize = 64 * 1024;

/// The end of a file. It is known when all events have been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The recorder closed the file.
    Complete,
    /// The recorder was killed, still runs, or the disk was full.
    Open {
        /// The bytes of a block that was not written as a whole.
        torn_bytes: u64,
    },
}

/// The selection of the blocks that are read. A selected block may also have other events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockSelection {
    /// Microseconds since 1970; both ends are included.
    pub from_us: Option<i64>,
    /// The end of the time, as `from_us`.
    pub until_us: Option<i64>,
    /// Empty: all.
    pub connections: Vec<u64>,
    /// The methods. Empty: all.
    pub methods: Vec<Vec<u8>>,
    /// The column families. Empty: all.
    pub families: Vec<Vec<u8>>,
}

impl BlockSelection {
    /// Returns whether a block may have an event of the selection, or is needed to understand a later one.
    fn may_have(&self, head: &BlockHead, index: &BlockIndex) -> bool {
        let in_time = self.from_us.is_none_or(|from| head.last_us >= from)
            && self.until_us.is_none_or(|until| head.first_us <= until);
        let any = |wanted: &[Vec<u8>], may_have: &dyn Fn(&[u8]) -> bool| {
            wanted.is_empty() || wanted.iter().any(|name| may_have(name))
        };
        let connections = &self.connections;
        index.is_needed
            || in_time
                && (connections.is_empty() || connections.iter().any(|one| index.may_have_connection(*one)))
                && any(&self.methods, &|name| index.methods.may_have(name))
                && any(&self.families, &|name| index.families.may_have(name))
    }
}

/// Iterates over the events of a file with the memory of one block.
///
/// After [`TrafficError::Damaged`], the iteration goes on with the next readable block. Other errors end it.
#[derive(Debug)]
pub struct RecordingReader<R = BufReader<File>> {
    file: R,
    path: PathBuf,
    header: Header,
    selection: BlockSelection,
    /// Where the next block starts.
    at: u64,
    /// The rest of the current block.
    block: Payload,
    ending: Option<Ending>,
    skipped_blocks: u64,
}

#[derive(Debug, Default)]
struct Payload {
    bytes: Vec<u8>,
    read: usize,
    /// Events that are left.
    left: u32,
    before_us: i64,
    /// Where the block starts in the file.
    at: u64,
}

impl RecordingReader {
    /// Opens a file and reads its head.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a recording.
    pub fn open(path: &Path) -> Result<RecordingReader, TrafficError> {
        let file = File::open(path);
        let file = file.map_err(|why| TrafficError::Unreadable { file: path.to_owned(), why })?;
        RecordingReader::over(BufReader::new(file), path)
    }
}

/// The data at a place where a block should start.
enum FoundBlock {
    Block(BlockHead, Vec<u8>, Vec<u8>),
    Skipped,
    End,
    /// The file ends here, or within the block.
    Torn(u64),
    Damaged(&'static str),
}

impl<R: Read + Seek> RecordingReader<R> {
    /// Reads the head of a file. `path` is used in errors.
    pub fn over(mut file: R, path: &Path) -> Result<RecordingReader<R>, TrafficError> {
        let unreadable = |why| TrafficError::Unreadable { file: path.to_owned(), why };
        let not_one = || TrafficError::NotARecording { file: path.to_owned() };
        let damaged = |why: &str| TrafficError::DamagedHead { file: path.to_owned(), why: why.to_owned() };
        let mut start = Vec::new();
        (&mut file).take(20).read_to_end(&mut start).map_err(unreadable)?;
        let Some((start, sum)) = start.split_last_chunk::<4>().filter(|(start, _)| start.len() == 16) else {
            return Err(not_one());
        };
        if !start.starts_with(&FILE_MARK) {
            return Err(not_one());
        }
        let number = |at: usize| {
            start.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_be_bytes(*bytes))
        };
        let (format, length) = (number(8), number(12) as usize);
        if length > RECORDING_HEADER_BYTES_MAX {
            return Err(damaged("its length is impossible"));
        }
        let mut json = Vec::new();
        (&mut file).take(length as u64).read_to_end(&mut json).map_err(unreadable)?;
        if json.len() < length || head_sum(start, &json) != u32::from_be_bytes(*sum) {
            return Err(damaged("it does not fit its checksum"));
        }
        if format != FORMAT_VERSION {
            let file = path.to_owned();
            return Err(TrafficError::OtherFormat { file, found: format, known: FORMAT_VERSION });
        }
        let header = serde_json::from_slice(&json).map_err(|error| damaged(&error.to_string()))?;
        let at = 20 + length as u64;
        let (path, selection, block) = (path.to_owned(), BlockSelection::default(), Payload::default());
        Ok(RecordingReader { file, path, header, selection, at, block, ending: None, skipped_blocks: 0 })
    }

    /// Reads only blocks that may have events of the selection.
    #[must_use]
    pub fn only(self, selection: BlockSelection) -> RecordingReader<R> {
        RecordingReader { selection, ..self }
    }

    /// Returns the head of the file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns how the file ends; `None` until all events have been read.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Returns the number of blocks that the selection skipped.
    pub fn skipped_blocks(&self) -> u64 {
        self.skipped_blocks
    }

    /// Moves to the next block. Returns false at the end of the file.
    fn next_block(&mut self) -> Result<bool, TrafficError> {
        loop {
            let start = self.at;
            let found = self.find().map_err(|why| self.unreadable(why))?;
            match found {
                FoundBlock::Skipped => self.skipped_blocks += 1,
                FoundBlock::End => {
                    self.ending = Some(Ending::Complete);
                    return Ok(false);
                }
                FoundBlock::Torn(torn_bytes) => {
                    self.ending = Some(Ending::Open { torn_bytes });
                    return Ok(false);
                }
                FoundBlock::Damaged(why) => {
                    self.search(start + 1).map_err(|why| self.unreadable(why))?;
                    return Err(self.damaged(start, why));
                }
                FoundBlock::Block(head, index, compressed) => {
                    match self.open_block(&head, &index, &compressed) {
                        Ok(true) => {
                            self.block.at = start;
                            return Ok(true);
                        }
                        Ok(false) => self.skipped_blocks += 1,
                        Err(why) => return Err(self.damaged(start, why)),
                    }
                }
            }
        }
    }

    /// Reads the block at `at`, and moves behind it.
    fn find(&mut self) -> std::io::Result<FoundBlock> {
        self.file.seek(SeekFrom::Start(self.at))?;
        let mut head = [0; HEAD_BYTES];
        let count = read_up_to(&mut self.file, &mut head)?;
        if count < HEAD_BYTES {
            return Ok(FoundBlock::Torn(count as u64));
        }
        let Some(head) = BlockHead::decode(&head) else {
            return Ok(FoundBlock::Damaged("the head of a block is invalid"));
        };
        if head.is_end {
            return Ok(FoundBlock::End);
        }
        // Memory is only used for bytes that the file has.
        let mut index = Vec::new();
        (&mut self.file).take(head.index_bytes.into()).read_to_end(&mut index)?;
        let is_whole = index.len() == head.index_bytes as usize;
        if is_whole
            && crc32fast::hash(&index) == head.index_sum
            && let Some(decoded) = BlockIndex::decode(&index)
            && !self.selection.may_have(&head, &decoded)
        {
            let end = self.at + HEAD_BYTES as u64 + head.content_bytes();
            if self.file.seek(SeekFrom::End(0))? >= end {
                self.at = end;
                return Ok(FoundBlock::Skipped);
            }
        }
        let mut payload = Vec::new();
        if is_whole {
            (&mut self.file).take(head.payload_bytes.into()).read_to_end(&mut payload)?;
        }
        if !is_whole || payload.len() < head.payload_bytes as usize {
            return Ok(FoundBlock::Torn((HEAD_BYTES + index.len() + payload.len()) as u64));
        }
        self.at += HEAD_BYTES as u64 + head.content_bytes();
        Ok(FoundBlock::Block(head, index, payload))
    }

    /// Makes a block the current one. Returns false if it has no event.
    fn open_block(
        &mut self,
        head: &BlockHead,
        index: &[u8],
        compressed: &[u8],
    ) -> Result<bool, &'static str> {
        if crc32fast::hash(index) != head.index_sum {
            return Err("the index of a block does not fit its checksum");
        }
        if crc32fast::hash(compressed) != head.payload_sum {
            return Err("a block does not fit its checksum");
        }
        let length = head.events_bytes as usize;
        // A block of LZ4 expands 255-fold at most: an impossible length reserves no memory.
        if length > compressed.len().saturating_mul(255) {
            return Err("the length of a block is impossible");
        }
        let bytes = lz4_flex::block::decompress(compressed, length);
        let bytes = bytes.map_err(|_| "a block cannot be decompressed")?;
        let Some(first) = bytes.first_chunk::<8>() else { return Ok(false) };
        let before_us = i64::from_be_bytes(*first);
        self.block = Payload { bytes, read: 8, left: head.events, before_us, at: self.at };
        Ok(head.events > 0)
    }

    /// Moves to the next head of a block from `from` on, or to the end of the file.
    fn search(&mut self, from: u64) -> std::io::Result<()> {
        let mut start = from;
        let mut window = vec![0; SEARCH_BYTES];
        loop {
            self.file.seek(SeekFrom::Start(start))?;
            let count = read_up_to(&mut self.file, &mut window)?;
            let mut heads = window.get(..count).unwrap_or_default().windows(HEAD_BYTES);
            let found = heads.position(|bytes| {
                (bytes.starts_with(&BLOCK_MARK) || bytes.starts_with(&END_MARK))
                    && bytes.first_chunk().is_some_and(|head| BlockHead::decode(head).is_some())
            });
            if let Some(found) = found {
                self.at = start + found as u64;
                return Ok(());
            }
            if count < window.len() {
                self.at = start + count as u64;
                return Ok(());
            }
            start += (SEARCH_BYTES - HEAD_BYTES + 1) as u64;
        }
    }

    fn next_event(&mut self) -> Result<Option<Event>, TrafficError> {
        loop {
            if self.block.left > 0 {
                let mut rest = self.block.bytes.get(self.block.read..).unwrap_or_default();
                let Some(event) = take_event(&mut rest, self.block.before_us) else {
                    self.block.left = 0;
                    return Err(self.damaged(self.block.at, "an event is invalid"));
                };
                self.block.read = self.block.bytes.len() - rest.len();
                self.block.left -= 1;
                self.block.before_us = event.at_us;
                return Ok(Some(event));
            }
            // Freed before the next block is read, so that only one is in memory.
            self.block = Payload::default();
            if self.ending.is_some() || !self.next_block()? {
                return Ok(None);
            }
        }
    }

    fn damaged(&self, at: u64, why: &'static str) -> TrafficError {
        TrafficError::Damaged { file: self.path.clone(), at, why }
    }

    fn unreadable(&mut self, why: std::io::Error) -> TrafficError {
        self.ending = Some(Ending::Open { torn_bytes: 0 });
        TrafficError::Unreadable { file: self.path.clone(), why }
    }
}

impl<R: Read + Seek> Iterator for RecordingReader<R> {
    type Item = Result<Event, TrafficError>;

    fn next(&mut self) -> Option<Result<Event, TrafficError>> {
        self.next_event().transpose()
    }
}

/// Reads until the buffer is full or the file ends.
fn read_up_to(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut count = 0;
    while count < buffer.len() {
        match file.read(buffer.split_at_mut(count).1) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}
