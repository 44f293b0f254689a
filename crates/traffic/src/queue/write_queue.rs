//! The queue: connections append writes, and one sender takes them.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::again::{AgainList, AgainReason, QueueTable};
use super::failure::QueueError;
use super::position::{Position, PositionFile};
use super::queued_write::QueuedWrite;
use super::segment::{HEAD_BYTES, QueueFile, StoredWrite, WRITE_BYTES_MAX};
use crate::record::now_us;

/// A file of a queue in bytes, at which the next one begins: files are removed as a whole.
const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;

/// The limits of a queue. A write above them is not queued, and its table must be copied again.
#[derive(Debug, Clone, Copy)]
pub struct QueueLimits {
    /// The bytes of all files.
    pub bytes: u64,
    /// The age of the oldest write.
    pub age: Duration,
}

/// The queue of a directory.
#[derive(Debug)]
pub struct WriteQueue {
    limits: QueueLimits,
    directory: PathBuf,
    state: Mutex<QueueState>,
    arrived: Notify,
    /// Locked as long as the queue is open.
    _lock: File,
}

#[derive(Debug)]
struct QueueState {
    /// The last one is written; the first one has the next write to send, unless all are sent.
    segments: VecDeque<QueueFile>,
    position: Position,
    position_file: PositionFile,
    /// Where the first write that is not acknowledged is in the first segment.
    at: u64,
    /// When the client sent it, if it was read.
    oldest_us: Option<i64>,
    again: AgainList,
    trouble: Option<String>,
    /// Writes that were acknowledged since the queue was opened.
    sent: u64,
}

/// A few numbers of a queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueStatus {
    /// Writes that are not acknowledged by the other server.
    pub unsent: u64,
    /// Writes that it has acknowledged since the start.
    pub sent: u64,
    /// The bytes of the files.
    pub bytes: u64,
    /// The age of the oldest write that is not acknowledged, in seconds.
    pub oldest_s: u64,
    /// Why the sender cannot go on; `None` if it can.
    pub trouble: Option<String>,
    /// The tables that must be compared or copied again.
    pub again: Vec<QueueTable>,
}

impl QueueStatus {
    /// Returns the number of writes that the other server does not have, as far as the queue knows.
    pub fn missing(&self) -> u64 {
        self.unsent + self.again.iter().map(|table| table.writes).sum::<u64>()
    }
}

impl WriteQueue {
    /// Opens the queue of a directory, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// If a file is damaged or of a later version, or another process has the queue open.
    pub fn open(directory: &Path, limits: QueueLimits) -> Result<WriteQueue, QueueError> {
        let failed = |why| QueueError::io(directory, why);
        fs::create_dir_all(directory).map_err(failed)?;
        let lock = File::create(directory.join("lock")).map_err(failed)?;
        if lock.try_lock().is_err() {
            return Err(QueueError::InUse { directory: directory.to_owned() });
        }
        let (position_file, mut position) = PositionFile::open(&directory.join("position"))?;
        let again = AgainList::open(&directory.join("again.json"))?;
        let mut segments = VecDeque::new();
        let paths = segment_paths(directory).map_err(failed)?;
        for (at, path) in paths.iter().enumerate() {
            let Some(segment) = QueueFile::open(path, at + 1 == paths.len())? else {
                fs::remove_file(path).map_err(|why| QueueError::io(path, why))?;
                continue;
            };
            let expected = segments.back().map_or(segment.first, |before: &QueueFile| before.end);
            if segment.first != expected {
                return Err(QueueError::damaged(path, 0, "the file before it is missing"));
            }
            segments.push_back(segment);
        }
        match (segments.front(), segments.back()) {
            (Some(first), Some(last)) => {
                if position.acknowledged < first.first || position.acknowledged > last.end {
                    return Err(QueueError::damaged(&first.path, 0, "the next write to send is in no file"));
                }
            }
            _ => segments.push_back(QueueFile::create(directory, position.acknowledged)?),
        }
        position.begun = position.begun.filter(|begun| *begun == position.acknowledged);
        let mut state = QueueState {
            segments,
            position,
            position_file,
            at: HEAD_BYTES,
            oldest_us: None,
            again,
            trouble: None,
            sent: 0,
        };
        state.remove_sent()?;
        state.find_place()?;
        let directory = directory.to_owned();
        Ok(WriteQueue { limits, directory, state: Mutex::new(state), arrived: Notify::new(), _lock: lock })
    }

    /// Appends a write. If there is no room, or it is too long, its table is added to the tables that must be copied again.
    ///
    /// # Errors
    ///
    /// If the disk fails. The write is not in the queue, and no client may get its answer.
    pub fn append(&self, write: &QueuedWrite) -> Result<(), QueueError> {
        let mut state = self.state.lock();
        if write.bytes_max() > WRITE_BYTES_MAX {
            return state.again.add(&write.table, AgainReason::NotSendable, "", write.at_us);
        }
        let age_us = state.oldest_us.map_or(0, |oldest| write.at_us.saturating_sub(oldest));
        let is_old = u128::try_from(age_us).is_ok_and(|age| age > self.limits.age.as_micros());
        if is_old || state.bytes() + write.message.len() as u64 > self.limits.bytes {
            return state.again.add(&write.table, AgainReason::Full, "", write.at_us);
        }
        let is_full = state.segments.back().is_none_or(|segment| segment.bytes >= SEGMENT_BYTES);
        if is_full {
            let next = state.end();
            let segment = QueueFile::create(&self.directory, next)?;
            state.segments.push_back(segment);
            // The file before may have no write that is not sent.
            state.remove_sent()?;
        }
        if let Some(segment) = state.segments.back_mut() {
            segment.append(write)?;
        }
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Adds a write to the tables that must be compared or copied again.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn add_again(
        &self,
        table: &str,
        reason: AgainReason,
        error: &str,
        at_us: i64,
    ) -> Result<(), QueueError> {
        self.state.lock().again.add(table, reason, error, at_us)
    }

    /// Removes tables that were compared or copied again from the list, unless they have had another write since they looked
    /// like this.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn clear_again(&self, compared: &[QueueTable]) -> Result<(), QueueError> {
        self.state.lock().again.clear(compared)
    }

    /// Writes what is only in memory.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn flush(&self) -> Result<(), QueueError> {
        self.state.lock().again.write()
    }

    /// Waits for writes that are not acknowledged, and returns the first ones.
    pub(super) async fn next(&self, count: usize) -> Result<Vec<StoredWrite>, QueueError> {
        loop {
            let writes = self.state.lock().unsent(count)?;
            if !writes.is_empty() {
                return Ok(writes);
            }
            self.arrived.notified().await;
        }
    }

    /// Returns the write of the rule `Once` whose sending was interrupted, by the number it has.
    pub(super) fn begun(&self) -> Option<u64> {
        self.state.lock().position.begun
    }

    /// Records that a write of the rule `Once` is sent now, or that it was not sent.
    pub(super) fn begin(&self, number: Option<u64>) -> Result<(), QueueError> {
        let mut state = self.state.lock();
        state.position.begun = number;
        state.position_file.write(state.position)
    }

    /// Records that a write and all before it are acknowledged.
    pub(super) fn acknowledge(&self, last: &StoredWrite) -> Result<(), QueueError> {
        let mut state = self.state.lock();
        state.sent += (last.number + 1).saturating_sub(state.position.acknowledged);
        state.position = Position { acknowledged: last.number + 1, begun: None };
        state.at = last.next_at;
        state.oldest_us = None;
        state.trouble = None;
        state.position_file.write(state.position)?;
        state.remove_sent()
    }

    /// Notes why the sender cannot go on.
    pub(super) fn note_trouble(&self, why: &str) {
        self.state.lock().trouble = Some(why.to_owned());
    }

    /// Returns the numbers of this moment.
    pub fn status(&self) -> QueueStatus {
        let mut state = self.state.lock();
        if state.oldest_us.is_none() {
            // A file that cannot be read stops the sender, which reports it.
            let _ = state.unsent(1);
        }
        let age_us = state.oldest_us.map_or(0, |oldest| now_us().saturating_sub(oldest).max(0));
        QueueStatus {
            unsent: state.end() - state.position.acknowledged,
            sent: state.sent,
            bytes: state.bytes(),
            oldest_s: u64::try_from(age_us / 1_000_000).unwrap_or_default(),
            trouble: state.trouble.clone(),
            again: state.again.tables(),
        }
    }
}

impl QueueState {
    fn end(&self) -> u64 {
        self.segments.back().map_or(self.position.acknowledged, |segment| segment.end)
    }

    fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Returns the first writes that are not acknowledged.
    fn unsent(&mut self, count: usize) -> Result<Vec<StoredWrite>, QueueError> {
        let next = self.position.acknowledged;
        let Some(segment) = self.segments.front().filter(|segment| next < segment.end) else {
            return Ok(Vec::new());
        };
        let writes = segment.read(self.at, next, count)?;
        self.oldest_us = writes.first().map(|first| first.write.at_us);
        Ok(writes)
    }

    /// Removes the files whose writes are all acknowledged, except the one that is written.
    fn remove_sent(&mut self) -> Result<(), QueueError> {
        while let Some(first) = self.segments.front()
            && self.segments.len() > 1
            && first.end <= self.position.acknowledged
        {
            fs::remove_file(&first.path).map_err(|why| QueueError::io(&first.path, why))?;
            self.segments.pop_front();
            self.at = HEAD_BYTES;
        }
        Ok(())
    }

    /// Finds the first write that is not acknowledged in the first file.
    fn find_place(&mut self) -> Result<(), QueueError> {
        let Some(segment) = self.segments.front() else { return Ok(()) };
        let (mut at, mut number) = (HEAD_BYTES, segment.first);
        while number < self.position.acknowledged {
            let left = usize::try_from(self.position.acknowledged - number).unwrap_or(usize::MAX);
            let writes = segment.read(at, number, left)?;
            let Some(last) = writes.last() else { break };
            (at, number) = (last.next_at, last.number + 1);
        }
        self.at = at;
        Ok(())
    }
}

/// Returns the files of a queue in the order of their writes, which their names have.
fn segment_paths(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "queue") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::super::rule::ResendRule;
    use super::*;
    use crate::Protocol;

    const LIMITS: QueueLimits = QueueLimits { bytes: 1_000_000, age: Duration::from_secs(60) };

    fn write(number: u32, at_us: i64) -> QueuedWrite {
        QueuedWrite {
            at_us,
            protocol: Protocol::Thrift { is_framed: true },
            rule: ResendRule::Timestamped,
            keyspace: None,
            statement: None,
            table: format!("k.t{}", number % 2),
            message: number.to_be_bytes().repeat(100).into(),
        }
    }

    async fn numbers(queue: &WriteQueue, count: usize) -> Vec<u64> {
        queue.next(count).await.unwrap().iter().map(|stored| stored.number).collect()
    }

    #[tokio::test]
    async fn writes_survive_a_restart_until_they_are_acknowledged() {
        let directory = tempfile::tempdir().unwrap();
        let queue = WriteQueue::open(directory.path(), LIMITS).unwrap();
        (0..10).for_each(|number| queue.append(&write(number, now_us())).unwrap());
        let first = queue.next(4).await.unwrap();
        assert_eq!(first.iter().map(|stored| stored.write.message[3]).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(numbers(&queue, 2).await, [0, 1], "nothing is acknowledged");
        queue.acknowledge(&first[2]).unwrap();
        assert_eq!((queue.status().unsent, queue.status().sent), (7, 3));
        assert!(matches!(WriteQueue::open(directory.path(), LIMITS), Err(QueueError::InUse { .. })));
        queue.begin(Some(3)).unwrap();
        drop(queue);
        let queue = WriteQueue::open(directory.path(), LIMITS).unwrap();
        assert_eq!((queue.begun(), queue.status().unsent), (Some(3), 7));
        assert_eq!(numbers(&queue, 100).await, [3, 4, 5, 6, 7, 8, 9]);
        let rest = queue.next(100).await.unwrap();
        queue.acknowledge(rest.last().unwrap()).unwrap();
        queue.append(&write(10, now_us())).unwrap();
        drop(queue);
        let queue = WriteQueue::open(directory.path(), LIMITS).unwrap();
        assert_eq!((queue.begun(), numbers(&queue, 100).await), (None, vec![10]));
    }

    #[tokio::test]
    async fn a_full_queue_lists_the_tables_that_must_be_copied_again() {
        let directory = tempfile::tempdir().unwrap();
        let limits = QueueLimits { bytes: 2_000, ..LIMITS };
        let queue = WriteQueue::open(directory.path(), limits).unwrap();
        (0..8).for_each(|number| queue.append(&write(number, now_us())).unwrap());
        let status = queue.status();
        assert_eq!(status.unsent + status.again.iter().map(|table| table.writes).sum::<u64>(), 8);
        assert_eq!(status.missing(), 8);
        assert_eq!((&status.again[0].table[..], status.again[0].reason), ("k.t0", AgainReason::Full));
        drop(queue);
        let queue = WriteQueue::open(directory.path(), limits).unwrap();
        // The numbers of a queue that was not flushed are older.
        let again = queue.status().again;
        assert_eq!(again.len(), 2);
        queue.clear_again(&again).unwrap();
        assert_eq!(queue.status().missing(), status.unsent);
    }

    #[tokio::test]
    async fn a_write_that_could_not_be_read_again_is_listed() {
        let directory = tempfile::tempdir().unwrap();
        let limits = QueueLimits { bytes: 10 * SEGMENT_BYTES, ..LIMITS };
        let queue = WriteQueue::open(directory.path(), limits).unwrap();
        let long = QueuedWrite { message: vec![0; WRITE_BYTES_MAX].into(), ..write(1, now_us()) };
        queue.append(&long).unwrap();
        let status = queue.status();
        assert_eq!((status.unsent, status.again[0].reason), (0, AgainReason::NotSendable));
    }

    #[tokio::test]
    async fn an_old_queue_is_full_too() {
        let directory = tempfile::tempdir().unwrap();
        let queue = WriteQueue::open(directory.path(), LIMITS).unwrap();
        queue.append(&write(1, 0)).unwrap();
        queue.status();
        queue.append(&write(2, 59_000_000)).unwrap();
        queue.append(&write(3, 61_000_000)).unwrap();
        assert_eq!((queue.status().unsent, queue.status().again.len()), (2, 1));
    }

    #[tokio::test]
    async fn files_are_removed_once_their_writes_are_sent() {
        let directory = tempfile::tempdir().unwrap();
        let limits = QueueLimits { bytes: 10 * SEGMENT_BYTES, ..LIMITS };
        let queue = WriteQueue::open(directory.path(), limits).unwrap();
        let large = QueuedWrite { message: vec![1; SEGMENT_BYTES as usize / 2].into(), ..write(1, now_us()) };
        (0..5).for_each(|_| queue.append(&large).unwrap());
        let files = || segment_paths(directory.path()).unwrap().len();
        assert_eq!(files(), 3);
        for number in 0..5 {
            let next = queue.next(10).await.unwrap();
            assert_eq!(next[0].number, number);
            queue.acknowledge(&next[0]).unwrap();
        }
        assert_eq!((files(), queue.status().unsent), (1, 0));
    }
}
