//! The log that writes are appended to.
//!
//! The thread that makes a write also appends it to the log, under a short lock, and mostly by a copy into mapped
//! memory of the file. So a write wakes no other thread. `sync` waits for the disk without that lock.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::mark::{LogKey, MARK, MarkPosition};
use super::piece::{LogPiece, length_of_full};
use super::record::SealedRecord;
use super::replay::{Replayed, segments_of};
use super::segment::{Segment, open_cut, path_of};
use crate::disk::{Disk, DiskFile};
use store::{Result, StoreError};

/// The segments of the log. Records are appended to the last one.
pub(crate) struct CommitLog {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    current: Mutex<Current>,
    /// Bytes to replay after a crash, without the segments of a memtable that is being flushed.
    bytes: AtomicU64,
    kept: Mutex<KeptSegments>,
}

/// The segments that still exist. One is removed when its records are in tables and no archive needs it.
struct KeptSegments {
    /// The first segment that was not removed.
    first: u64,
    /// The first segment with records that are not in tables.
    needed: u64,
    /// The first segment that an archive has not read completely. `None` if there is no archive.
    unread: Option<u64>,
}

struct Current {
    segment: Segment,
    /// Earlier segments that are not synced yet.
    unsynced: Vec<Arc<dyn DiskFile>>,
    /// The end of the last record.
    record_end: MarkPosition,
    /// The newest position that a mark covers. A sync that proves no more appends no mark.
    marked: MarkPosition,
}

impl CommitLog {
    /// Opens a replayed log to append after its last record. Removes segments that do not belong to it: those before
    /// `first`, and those after a torn end. A log of format 1, which has no marks, continues in a new segment.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        directory: &Path,
        replayed: &Replayed,
        first: u64,
    ) -> Result<CommitLog> {
        for number in segments_of(&*disk, directory)? {
            if number < first || number > replayed.end.segment {
                let path = path_of(directory, number);
                disk.remove_file(&path).map_err(|error| io_error(&path, &error))?;
            }
        }
        // If a power failure undid the removal, the old segment might fit after the records that are written from now
        // on.
        disk.sync_directory(directory).map_err(|error| io_error(directory, &error))?;
        // A killed process may have left segments that it had not synced. A sync of later records must include them.
        let earlier = (first..replayed.end.segment).map(|number| {
            let path = path_of(directory, number);
            disk.open(&path).map_err(|error| io_error(&path, &error))
        });
        let mut unsynced = earlier.collect::<Result<Vec<_>, _>>()?;
        let end = replayed.end;
        let file = open_cut(&*disk, directory, end);
        let file = file.map_err(|error| io_error(&path_of(directory, end.segment), &error))?;
        assert!(replayed.record_end <= end, "new records would overwrite a part of the last one");
        let segment = if let Some(key) = replayed.key {
            Segment::at(end, file, key)
        } else {
            unsynced.push(file);
            let next = Segment::create(&*disk, directory, end.segment + 1, LogKey::random());
            let begun = next.and_then(|mut next| next.begin(end.offset).map(|()| next));
            begun.map_err(|error| io_error(&path_of(directory, end.segment + 1), &error))?
        };
        let Replayed { record_end, marked, .. } = *replayed;
        let current = Current { segment, unsynced, record_end, marked };
        Ok(CommitLog::with(disk, directory, current, first, replayed.earlier + end.offset))
    }

    /// Creates a log whose first segment is `number`.
    pub(crate) fn create(disk: Arc<dyn Disk>, directory: &Path, number: u64) -> Result<CommitLog> {
        let segment =
            first_segment(&*disk, directory, number).map_err(|error| io_error(directory, &error))?;
        let begin = MarkPosition { segment: number, offset: segment.length };
        let current = Current { segment, unsynced: Vec::new(), record_end: begin, marked: begin };
        Ok(CommitLog::with(disk, directory, current, number, begin.offset))
    }

    fn with(disk: Arc<dyn Disk>, directory: &Path, current: Current, first: u64, bytes: u64) -> CommitLog {
        CommitLog {
            kept: Mutex::new(KeptSegments { first, needed: first, unread: None }),
            disk,
            directory: directory.to_owned(),
            bytes: AtomicU64::new(bytes),
            current: Mutex::new(current),
        }
    }

    /// Writes a record to the operating system: all of it, or nothing if this fails.
    pub(crate) fn append(&self, record: &SealedRecord) -> Result<()> {
        let mut current = self.current.lock();
        let before = current.segment.length;
        let appended = current.segment.append(record);
        appended.map_err(|error| io_error(&path_of(&self.directory, current.segment.number), &error))?;
        let Segment { number, length, .. } = current.segment;
        let end = MarkPosition { segment: number, offset: length };
        debug_assert!(end > current.record_end, "a sync would not wait for this record");
        current.record_end = end;
        self.bytes.fetch_add(length - before, Ordering::Relaxed);
        Ok(())
    }

    /// Creates the file of the next segment, durably, without using it yet. Only one thread at a time may call this.
    pub(crate) fn prepare_next(&self) -> Result<Segment> {
        let (number, key) = {
            let current = self.current.lock();
            (current.segment.number + 1, current.segment.key)
        };
        let segment = Segment::create(&*self.disk, &self.directory, number, key);
        segment.map_err(|error| io_error(&path_of(&self.directory, number), &error))
    }

    /// Switches to the next segment, and returns the full one, whose file is cut to its length when it is dropped.
    ///
    /// # Errors
    /// The head of the next segment could not be written. Records are still appended to the old segment.
    pub(crate) fn switch_to(&self, mut next: Segment) -> Result<Segment> {
        let mut current = self.current.lock();
        assert!(
            next.number == current.segment.number + 1,
            "a replay would stop before segment {}",
            next.number
        );
        let begun = next.begin(current.segment.length);
        begun.map_err(|error| io_error(&path_of(&self.directory, next.number), &error))?;
        self.bytes.store(next.length, Ordering::Relaxed);
        let full = std::mem::replace(&mut current.segment, next);
        current.unsynced.push(full.file.clone());
        Ok(full)
    }

    /// Waits until all records appended before are on the disk, and appends a mark that says so. If this fails, it is
    /// unknown which of them are.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let (last, earlier, durable) = {
            let current = self.current.lock();
            (current.segment.file.clone(), current.unsynced.clone(), current.record_end)
        };
        for file in earlier.iter().chain([&last]) {
            file.sync()?;
        }
        let mut current = self.current.lock();
        current.unsynced.retain(|file| !earlier.iter().any(|synced| Arc::ptr_eq(file, synced)));
        assert!(durable <= current.record_end, "a mark would cover records that were never appended");
        if durable > current.marked {
            let before = current.segment.length;
            // Without the mark a damaged record may be taken for a torn one. The disk may be full, but the records are
            // there.
            if current.segment.append_mark(durable).is_ok() {
                current.marked = durable;
                debug_assert!(
                    current.segment.length == before + MARK as u64,
                    "a replay would end before the mark"
                );
                self.bytes.fetch_add(current.segment.length - before, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Removes the segments before `needed`, whose records are in tables, the oldest first. Those that an archive has not
    /// read are removed later.
    pub(crate) fn remove_before(&self, needed: u64) {
        let mut kept = self.kept.lock();
        kept.needed = kept.needed.max(needed);
        self.remove_unused(&mut kept);
    }

    /// Keeps all segments that exist for an archive, until it has read them. Returns the first one.
    pub(crate) fn keep(&self) -> u64 {
        let mut kept = self.kept.lock();
        kept.unread = Some(kept.needed);
        self.remove_unused(&mut kept);
        kept.needed
    }

    /// Releases the segments that an archive has read: those before `unread`. `None` releases all, until the next `keep`.
    pub(crate) fn release(&self, unread: Option<u64>) {
        let mut kept = self.kept.lock();
        kept.unread = unread;
        self.remove_unused(&mut kept);
    }

    fn remove_unused(&self, kept: &mut KeptSegments) {
        let end = kept.unread.map_or(kept.needed, |unread| unread.min(kept.needed));
        for number in kept.first..end {
            let path = path_of(&self.directory, number);
            match self.disk.remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // The next start removes it. Until then it is ignored.
                Err(error) => tracing::warn!("{} was not removed: {error}", path.display()),
            }
        }
        kept.first = kept.first.max(end);
    }

    /// Returns the first segment with records that are not in tables.
    pub(crate) fn needed(&self) -> u64 {
        self.kept.lock().needed
    }

    /// Returns the end of the log: all bytes before it are complete records and marks.
    pub(crate) fn end(&self) -> MarkPosition {
        let Segment { number, length, .. } = self.current.lock().segment;
        MarkPosition { segment: number, offset: length }
    }

    /// Reads a piece of the log that begins at `from`, of at most `most` bytes. It ends with its segment.
    ///
    /// # Errors
    /// If a file cannot be read, or is not a segment of this log.
    pub(crate) fn read(&self, from: MarkPosition, most: usize) -> Result<LogPiece> {
        LogPiece::read(&self.directory, from, self.end(), most)
    }

    /// Returns the length of a segment that is not the last one; 0 if it cannot be read.
    pub(crate) fn length_of_full(&self, number: u64) -> u64 {
        length_of_full(&self.directory, number).unwrap_or(0)
    }

    /// Bytes in the segment that records are appended to, and in segments before it that a restart has replayed.
    ///
    /// A switch to another segment starts the count anew.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of the segment that records are appended to.
    pub(crate) fn number(&self) -> u64 {
        self.current.lock().segment.number
    }
}

/// Creates the first segment of a log, and its directory.
fn first_segment(disk: &dyn Disk, directory: &Path, number: u64) -> io::Result<Segment> {
    disk.create_directory(directory)?;
    if let Some(parent) = directory.parent() {
        disk.sync_directory(parent)?;
    }
    let mut segment = Segment::create(disk, directory, number, LogKey::random())?;
    segment.begin(0)?;
    segment.file.sync()?;
    Ok(segment)
}

/// Makes a full disk a `ReadOnly` error, since it may have space again later. Every other error is a failure.
fn io_error(path: &Path, error: &io::Error) -> StoreError {
    let text = format!("the commit log {}: {error}", path.display());
    if error.kind() == io::ErrorKind::StorageFull { StoreError::ReadOnly(text) } else { StoreError::Io(text) }
}
