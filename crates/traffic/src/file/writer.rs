//! Writes the events of one file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::block::{BlockHead, HEAD_BYTES};
use super::event_codec::put_event;
use super::index::BlockIndex;
use super::labels::EventLabels;
use super::{FILE_MARK, head_sum};
use crate::limits::RECORDING_BLOCK_BYTES;
use crate::{Event, EventKind, Header, TrafficError};

/// Writes a file block by block. Each block is written in one piece, so a killed program leaves whole blocks and at most
/// one torn one.
#[derive(Debug)]
pub struct RecordingWriter<W = File> {
    file: W,
    path: PathBuf,
    /// Bytes of the file so far: the head and whole blocks.
    bytes: u64,
    block: Block,
    events: u64,
    /// The earliest and the latest time of all events so far.
    times: Option<(i64, i64)>,
}

/// The events that are not written yet.
#[derive(Debug, Default)]
struct Block {
    payload: Vec<u8>,
    index: BlockIndex,
    events: u32,
    /// The times of the first event, of the earliest, the latest and the last.
    first_us: i64,
    min_us: i64,
    max_us: i64,
    last_us: i64,
}

impl RecordingWriter<File> {
    /// Creates a file, which must not exist.
    pub fn create(path: &Path, header: &Header) -> Result<RecordingWriter<File>, TrafficError> {
        let opened = OpenOptions::new().write(true).create_new(true).open(path);
        let file = opened.map_err(|why| match why.kind() {
            io::ErrorKind::AlreadyExists => TrafficError::Exists { file: path.to_owned() },
            _ => TrafficError::Unwritable { file: path.to_owned(), why },
        })?;
        RecordingWriter::over(file, path, header)
    }

    /// Cuts off a block that was written in part. The file may then be as if nothing had been written after its last
    /// whole block.
    pub fn cut_torn_block(&self) {
        // A reader also stops at a torn block, so it does no harm if this fails.
        let _ = self.file.set_len(self.bytes);
    }

    /// Makes the file durable.
    pub fn sync(&self) -> Result<(), TrafficError> {
        self.file.sync_all().map_err(|why| TrafficError::Unwritable { file: self.path.clone(), why })
    }
}

impl<W: Write> RecordingWriter<W> {
    /// Writes the head to an empty file. `path` is used in errors.
    pub fn over(file: W, path: &Path, header: &Header) -> Result<RecordingWriter<W>, TrafficError> {
        let json = serde_json::to_vec(header)
            .map_err(|why| TrafficError::Unwritable { file: path.to_owned(), why: why.into() })?;
        let mut head = FILE_MARK.to_vec();
        head.extend(header.format.to_be_bytes());
        head.extend(u32::try_from(json.len()).unwrap_or(u32::MAX).to_be_bytes());
        head.extend(head_sum(&head, &json).to_be_bytes());
        head.extend(&json);
        let (path, block) = (path.to_owned(), Block::default());
        let mut writer = RecordingWriter { file, path, bytes: 0, block, events: 0, times: None };
        writer.put(&head)?;
        Ok(writer)
    }

    /// Appends an event. The block is written if it is full.
    pub fn write(&mut self, event: &Event, labels: &EventLabels) -> Result<(), TrafficError> {
        self.block.add(event, labels);
        if self.block.payload.len() >= RECORDING_BLOCK_BYTES {
            self.end_block()?;
        }
        Ok(())
    }

    /// Returns the time of the first event that is not written yet.
    pub fn unwritten_since_us(&self) -> Option<i64> {
        (self.block.events > 0).then_some(self.block.first_us)
    }

    /// Writes the events that are not written yet as a block.
    pub fn end_block(&mut self) -> Result<(), TrafficError> {
        if self.block.events == 0 {
            return Ok(());
        }
        let block = std::mem::take(&mut self.block);
        let index = block.index.encode();
        let room = lz4_flex::block::get_maximum_output_size(block.payload.len());
        let mut out = vec![0; HEAD_BYTES + index.len() + room];
        let (front, payload) = out.split_at_mut(HEAD_BYTES + index.len());
        let (head_place, index_place) = front.split_at_mut(HEAD_BYTES);
        let compressed = lz4_flex::block::compress_into(&block.payload, payload);
        let compressed = compressed.map_err(|why| self.failure(io::Error::other(why)))?;
        index_place.copy_from_slice(&index);
        let head = BlockHead {
            is_end: false,
            events: block.events,
            first_us: block.min_us,
            last_us: block.max_us,
            index_bytes: u32::try_from(index.len()).unwrap_or(u32::MAX),
            payload_bytes: u32::try_from(compressed).unwrap_or(u32::MAX),
            events_bytes: u32::try_from(block.payload.len()).unwrap_or(u32::MAX),
            index_sum: crc32fast::hash(&index),
            payload_sum: crc32fast::hash(payload.split_at(compressed).0),
        };
        head_place.copy_from_slice(&head.encode());
        out.truncate(HEAD_BYTES + index.len() + compressed);
        self.put(&out)?;
        self.events += u64::from(block.events);
        let (min, max) = self.times.unwrap_or((block.min_us, block.max_us));
        self.times = Some((min.min(block.min_us), max.max(block.max_us)));
        // The memory of the payload is used again, unless a large message made it large.
        if block.payload.capacity() <= 2 * RECORDING_BLOCK_BYTES {
            self.block.payload = block.payload;
            self.block.payload.clear();
        }
        Ok(())
    }

    /// Writes the waiting events and the end of the file. A file without its end was not closed cleanly.
    pub fn finish(mut self) -> Result<W, TrafficError> {
        self.end_block()?;
        let (first_us, last_us) = self.times.unwrap_or_default();
        let end = BlockHead {
            is_end: true,
            events: u32::try_from(self.events).unwrap_or(u32::MAX),
            first_us,
            last_us,
            index_bytes: 0,
            payload_bytes: 0,
            events_bytes: 0,
            index_sum: 0,
            payload_sum: 0,
        };
        self.put(&end.encode())?;
        self.file.flush().map_err(|why| self.failure(why))?;
        Ok(self.file)
    }

    /// Returns the bytes of the file so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), TrafficError> {
        self.file.write_all(bytes).map_err(|why| self.failure(why))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn failure(&self, why: io::Error) -> TrafficError {
        TrafficError::Unwritable { file: self.path.clone(), why }
    }
}

impl Block {
    fn add(&mut self, event: &Event, labels: &EventLabels) {
        if self.events == 0 {
            let at = event.at_us;
            (self.first_us, self.min_us, self.max_us, self.last_us) = (at, at, at, at);
        }
        // The first event's time is relative to the earliest time, which the head has; it is known only at the end. So
        // the payload begins with the first event's time.
        if self.payload.is_empty() {
            self.payload.extend(event.at_us.to_be_bytes());
        }
        put_event(&mut self.payload, event, self.last_us);
        self.last_us = event.at_us;
        self.min_us = self.min_us.min(event.at_us);
        self.max_us = self.max_us.max(event.at_us);
        self.events += 1;
        self.index.add_connection(event.connection);
        self.index.is_needed |= matches!(event.kind, EventKind::Opened { .. });
        match labels {
            EventLabels::Call(labels) => {
                self.index.methods.add(&labels.method);
                labels.families.iter().for_each(|family| self.index.families.add(family));
                if labels.families.has_others {
                    self.index.families.add_unknown();
                }
                self.index.is_needed |= labels.prepares();
            }
            EventLabels::Unknown => {
                self.index.methods.add_unknown();
                self.index.families.add_unknown();
            }
            EventLabels::NoCall => {}
        }
    }
}
