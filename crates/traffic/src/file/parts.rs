//! Recordings of several files.
//!
//! `day.rec` is the first part, `day.rec.2` the second. All parts have the same start time in their head.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::labels::Labels;
use super::reader::{BlockSelection, Ending, RecordingReader};
use super::writer::RecordingWriter;
use crate::limits::{RECORDING_BLOCK_MS, RECORDING_CONNECTIONS_MAX};
use crate::{Event, EventKind, Header, TrafficError};

/// When a recording continues in another file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RotationLimits {
    /// Bytes of a file after which the next one begins.
    pub bytes: Option<u64>,
    /// Microseconds from the first event of a file to the first one of the next.
    pub age_us: Option<i64>,
}

/// Returns the path of a part, which are counted from 1.
pub fn part_path(first: &Path, part: u32) -> PathBuf {
    if part <= 1 {
        return first.to_owned();
    }
    let mut name = first.as_os_str().to_owned();
    name.push(format!(".{part}"));
    name.into()
}

/// Writes a recording, in one file or several.
#[derive(Debug)]
pub struct PartWriter {
    first: PathBuf,
    header: Header,
    limits: RotationLimits,
    writer: RecordingWriter,
    labels: Labels,
    /// The events that opened the connections that are open now.
    open: BTreeMap<u64, Event>,
    /// When the current part began: the time of its first event.
    began_us: Option<i64>,
    /// Bytes of the parts before.
    bytes_before: u64,
}

impl PartWriter {
    /// Creates the first file, which must not exist.
    pub fn create(first: &Path, header: Header, limits: RotationLimits) -> Result<PartWriter, TrafficError> {
        let writer = RecordingWriter::create(first, &header)?;
        let (first, labels, open) = (first.to_owned(), Labels::default(), BTreeMap::new());
        Ok(PartWriter { first, header, limits, writer, labels, open, began_us: None, bytes_before: 0 })
    }

    /// Appends an event.
    ///
    /// # Errors
    ///
    /// If a file cannot be written. Then nothing more can be written; the file ends with its last whole block.
    pub fn write(&mut self, event: &Event) -> Result<(), TrafficError> {
        let outcome = self.append(event);
        if outcome.is_err() {
            self.writer.cut_torn_block();
        }
        outcome
    }

    fn append(&mut self, event: &Event) -> Result<(), TrafficError> {
        if self.is_full(event.at_us) {
            self.begin_part(event.at_us)?;
        }
        self.began_us.get_or_insert(event.at_us);
        match &event.kind {
            EventKind::Opened { .. } if self.open.len() < RECORDING_CONNECTIONS_MAX => {
                self.open.insert(event.connection, event.clone());
            }
            EventKind::Closed { .. } => {
                self.open.remove(&event.connection);
            }
            _ => {}
        }
        let labels = self.labels.of(event);
        self.writer.write(event, &labels)
    }

    fn is_full(&self, now_us: i64) -> bool {
        let age = self.began_us.map_or(0, |began| now_us.saturating_sub(began));
        self.began_us.is_some()
            && (self.limits.bytes.is_some_and(|bytes| self.writer.bytes() >= bytes)
                || self.limits.age_us.is_some_and(|limit| age >= limit))
    }

    fn begin_part(&mut self, now_us: i64) -> Result<(), TrafficError> {
        self.header.part += 1;
        let next = RecordingWriter::create(&part_path(&self.first, self.header.part), &self.header)?;
        let full = std::mem::replace(&mut self.writer, next);
        let path = part_path(&self.first, self.header.part - 1);
        let length = length_of(&full.finish()?);
        self.bytes_before += length.map_err(|why| TrafficError::Unwritable { file: path, why })?;
        self.began_us = Some(now_us);
        for opened in self.open.values() {
            let labels = self.labels.of(opened);
            self.writer.write(opened, &labels)?;
        }
        Ok(())
    }

    /// Writes events that have waited for longer than a second for others of their block.
    pub fn write_old(&mut self, now_us: i64) -> Result<(), TrafficError> {
        let limit = i64::try_from(RECORDING_BLOCK_MS * 1000).unwrap_or(i64::MAX);
        if self.writer.unwritten_since_us().is_none_or(|since| now_us.saturating_sub(since) < limit) {
            return Ok(());
        }
        let outcome = self.writer.end_block();
        if outcome.is_err() {
            self.writer.cut_torn_block();
        }
        outcome
    }

    /// Writes the rest and closes the file. Returns the bytes of all files.
    pub fn finish(self) -> Result<u64, TrafficError> {
        let PartWriter { writer, header, first, bytes_before, .. } = self;
        let path = part_path(&first, header.part);
        let file = writer.finish()?;
        let length = file.sync_all().and_then(|()| length_of(&file));
        Ok(bytes_before + length.map_err(|why| TrafficError::Unwritable { file: path, why })?)
    }

    /// Returns the bytes of all files so far.
    pub fn bytes(&self) -> u64 {
        self.bytes_before + self.writer.bytes()
    }

    /// Returns the number of files so far.
    pub fn parts(&self) -> u32 {
        self.header.part
    }
}

fn length_of(file: &File) -> io::Result<u64> {
    file.metadata().map(|metadata| metadata.len())
}

/// Iterates over the events of all parts of a recording from one of them on.
#[derive(Debug)]
pub struct PartReader {
    first: PathBuf,
    reader: RecordingReader,
    selection: BlockSelection,
    /// The connections that are open: later parts announce them again.
    open: BTreeSet<u64>,
    has_failed: bool,
}

impl PartReader {
    /// Opens a recording by its first file. Of a later part, only this file is read.
    pub fn open(first: &Path) -> Result<PartReader, TrafficError> {
        let reader = RecordingReader::open(first)?;
        let (first, selection) = (first.to_owned(), BlockSelection::default());
        Ok(PartReader { first, reader, selection, open: BTreeSet::new(), has_failed: false })
    }

    /// Reads only blocks that may have events of the selection.
    #[must_use]
    pub fn only(self, selection: BlockSelection) -> PartReader {
        PartReader { reader: self.reader.only(selection.clone()), selection, ..self }
    }

    /// Returns the head of the current part.
    pub fn header(&self) -> &Header {
        self.reader.header()
    }

    /// Returns how the last part ends; `None` until all events have been read.
    pub fn ending(&self) -> Option<Ending> {
        self.reader.ending()
    }

    /// Moves to the next part. Returns false if there is none.
    fn next_part(&mut self) -> Result<bool, TrafficError> {
        let header = self.reader.header();
        let part = header.part + 1;
        let path = part_path(&self.first, part);
        match RecordingReader::open(&path) {
            Ok(next) if next.header().part == part && next.header().started_us == header.started_us => {
                self.reader = next.only(self.selection.clone());
                Ok(true)
            }
            Ok(_) => Ok(false),
            Err(TrafficError::Unreadable { why, .. }) if why.kind() == std::io::ErrorKind::NotFound => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn next_event(&mut self) -> Result<Option<Event>, TrafficError> {
        loop {
            match self.reader.next() {
                Some(Ok(event)) => {
                    let is_repeated = match event.kind {
                        EventKind::Opened { .. } => {
                            self.open.len() < RECORDING_CONNECTIONS_MAX && !self.open.insert(event.connection)
                        }
                        EventKind::Closed { .. } => {
                            self.open.remove(&event.connection);
                            false
                        }
                        _ => false,
                    };
                    if !is_repeated {
                        return Ok(Some(event));
                    }
                }
                Some(Err(error)) => return Err(error),
                None => {
                    if !self.next_part()? {
                        return Ok(None);
                    }
                }
            }
        }
    }
}

impl Iterator for PartReader {
    type Item = Result<Event, TrafficError>;

    fn next(&mut self) -> Option<Result<Event, TrafficError>> {
        if self.has_failed {
            return None;
        }
        let event = self.next_event();
        self.has_failed = matches!(&event, Err(error) if !matches!(error, TrafficError::Damaged { .. }));
        event.transpose()
    }
}
