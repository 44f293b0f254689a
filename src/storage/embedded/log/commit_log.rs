//! The log that writes are appended to.
//!
//! A write is handed to the operating system by whoever makes it, under a short lock, and mostly by storing it in
//! memory that is the file's: no other thread needs to wake up for it. The disk is waited for outside of that lock.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::record::SealedRecord;
use super::replay::{Replayed, segments_of};
use super::segment::{Segment, path_of};
use crate::storage::StoreError;
use crate::storage::disk::{Disk, DiskFile};

/// The segments of the log, of which the last is written to.
pub struct CommitLog {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    current: Mutex<Current>,
    /// Bytes that a crash now would have to replay, but for those of a memtable that is being flushed.
    bytes: AtomicU64,
}

struct Current {
    segment: Segment,
    /// Earlier segments that are not synced yet.
    unsynced: Vec<Arc<dyn DiskFile>>,
}

impl CommitLog {
    /// Goes on behind the last record of a log. Segments that do not belong to it are removed: those before `first`, and
    /// those behind a torn end.
    pub fn open(
        disk: Arc<dyn Disk>,
        directory: &Path,
        replayed: &Replayed,
        first: u64,
    ) -> Result<CommitLog, StoreError> {
        for number in segments_of(&*disk, directory)? {
            if number < first || number > replayed.number {
                let path = path_of(directory, number);
                disk.remove_file(&path).map_err(|error| io_error(&path, &error))?;
            }
        }
        // A segment that comes back after a power failure might fit behind what is written from here on.
        disk.sync_directory(directory).map_err(|error| io_error(directory, &error))?;
        // A killed process may have left segments that it had not synced: what is written behind them relies on them.
        let open_earlier = |number| {
            let path = path_of(directory, number);
            disk.open(&path).map_err(|error| io_error(&path, &error))
        };
        let unsynced = (first..replayed.number).map(open_earlier).collect::<Result<_, _>>()?;
        let segment = Segment::open(&*disk, directory, replayed.number, replayed.length);
        let segment = segment.map_err(|error| io_error(&path_of(directory, replayed.number), &error))?;
        Ok(CommitLog::with(disk, directory, Current { segment, unsynced }, replayed.earlier))
    }

    /// Starts a log.
    pub fn create(disk: Arc<dyn Disk>, directory: &Path, number: u64) -> Result<CommitLog, StoreError> {
        let make = || {
            disk.create_directory(directory)?;
            if let Some(parent) = directory.parent() {
                disk.sync_directory(parent)?;
            }
            let mut segment = Segment::create(&*disk, directory, number)?;
            segment.begin(0)?;
            segment.file.sync()?;
            Ok(segment)
        };
        let segment = make().map_err(|error| io_error(directory, &error))?;
        Ok(CommitLog::with(disk, directory, Current { segment, unsynced: Vec::new() }, 0))
    }

    fn with(disk: Arc<dyn Disk>, directory: &Path, current: Current, earlier: u64) -> CommitLog {
        CommitLog {
            disk,
            directory: directory.to_owned(),
            bytes: AtomicU64::new(earlier + current.segment.length),
            current: Mutex::new(current),
        }
    }

    /// Hands a record to the operating system, all of it or nothing.
    pub fn append(&self, record: &SealedRecord) -> Result<(), StoreError> {
        let mut current = self.current.lock();
        let before = current.segment.length;
        let appended = current.segment.append(record);
        appended.map_err(|error| io_error(&path_of(&self.directory, current.segment.number), &error))?;
        self.bytes.fetch_add(current.segment.length - before, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the next segment, durably, and does not write to it yet. One caller at a time.
    pub fn prepare_next(&self) -> Result<Segment, StoreError> {
        let number = self.current.lock().segment.number + 1;
        let segment = Segment::create(&*self.disk, &self.directory, number);
        segment.map_err(|error| io_error(&path_of(&self.directory, number), &error))
    }

    /// From now on writes go to the next segment; gives the one before, which is cut to its length when it is dropped.
    /// When the next cannot be begun they go on in the old one.
    pub fn go_on_in(&self, mut next: Segment) -> Result<Segment, StoreError> {
        let mut current = self.current.lock();
        let begun = next.begin(current.segment.length);
        begun.map_err(|error| io_error(&path_of(&self.directory, next.number), &error))?;
        self.bytes.store(next.length, Ordering::Relaxed);
        let full = std::mem::replace(&mut current.segment, next);
        current.unsynced.push(full.file.clone());
        Ok(full)
    }

    /// Waits until the disk has all that was appended before. When this fails, nobody knows what it has.
    pub fn sync(&self) -> io::Result<()> {
        let (last, earlier) = {
            let current = self.current.lock();
            (current.segment.file.clone(), current.unsynced.clone())
        };
        for file in earlier.iter().chain([&last]) {
            file.sync()?;
        }
        let mut current = self.current.lock();
        current.unsynced.retain(|file| !earlier.iter().any(|synced| Arc::ptr_eq(file, synced)));
        Ok(())
    }

    /// Removes segments whose records are in tables, the oldest first.
    pub fn remove(&self, numbers: std::ops::Range<u64>) {
        for number in numbers {
            let path = path_of(&self.directory, number);
            match self.disk.remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // It stays until the next start, and harms nobody.
                Err(error) => tracing::warn!("{} was not removed: {error}", path.display()),
            }
        }
    }

    /// Bytes of the records since the last segment that was gone on in.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The number of the segment that is written to.
    pub fn number(&self) -> u64 {
        self.current.lock().segment.number
    }
}

/// A full disk refuses writes, and may have room again; anything else is a failure.
fn io_error(path: &Path, error: &io::Error) -> StoreError {
    let text = format!("the commit log {}: {error}", path.display());
    if error.kind() == io::ErrorKind::StorageFull { StoreError::ReadOnly(text) } else { StoreError::Io(text) }
}
