//! The queue between connections and the recorder.
//!
//! A connection copies the bytes that pass it into one buffer, which all connections share, and goes on. It wakes nobody:
//! the recorder comes for the buffer every few milliseconds and leaves an empty one. So a connection pays for a lock and
//! a copy. If the buffer is full, the bytes are counted and not copied; the recorder then knows of a gap.
//!
//! Bytes are in the order in which they passed: the request before its reply, and the reply before anything that a
//! client sent after it had the reply.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::{Condvar, Mutex};

use crate::Side;

/// Returns the time in microseconds since 1970.
pub fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Bytes that passed a connection, or what happened to it.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// When it was noticed, in microseconds since 1970.
    pub at_us: i64,
    /// The number of the connection.
    pub connection: u64,
    /// The bytes, or the event.
    pub kind: ChunkKind,
}

/// The kinds of chunks.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the comments of the variants explain their fields")]
pub enum ChunkKind {
    /// A client has connected.
    Opened {
        /// The address of the client.
        client: SocketAddr,
        /// The address of the server that answers.
        upstream: Arc<str>,
    },
    /// Bytes from a side, at a place in the buffer.
    Bytes { from: Side, at: Range<usize> },
    /// So many bytes of a side are missing before the next ones.
    Gap { from: Side, bytes: u64 },
    /// The connection has ended.
    Closed { by: Side },
}

/// The chunks that the connections have left for the recorder.
#[derive(Debug, Default)]
pub struct PendingChunks {
    /// The chunks, in their order.
    pub chunks: Vec<Chunk>,
    /// The bytes of all chunks, one after the other.
    pub bytes: Vec<u8>,
    /// Whether no more will come.
    pub is_last: bool,
}

impl PendingChunks {
    /// Makes it empty and keeps its memory, unless a burst has made that large.
    pub fn clear(&mut self) {
        const BYTES_KEPT: usize = 4 * 1024 * 1024;
        self.chunks.clear();
        self.bytes.clear();
        self.bytes.shrink_to(BYTES_KEPT);
        self.chunks.shrink_to(BYTES_KEPT / size_of::<Chunk>());
    }
}

/// The queue. Connections have clones of it.
#[derive(Debug, Clone)]
pub struct TapQueue {
    shared: Arc<SharedQueue>,
}

#[derive(Debug)]
struct SharedQueue {
    pending: Mutex<PendingChunks>,
    /// Notified when the buffer is half full, and at the end.
    wake: Condvar,
    bytes_max: usize,
}

impl TapQueue {
    /// Creates a queue for at most `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> TapQueue {
        let shared = SharedQueue { pending: Mutex::default(), wake: Condvar::new(), bytes_max };
        TapQueue { shared: Arc::new(shared) }
    }

    /// Records a new connection. Its number must be new.
    pub fn open(&self, connection: u64, client: SocketAddr, upstream: &Arc<str>) -> Tap {
        let kind = ChunkKind::Opened { client, upstream: upstream.clone() };
        let tap = Tap { queue: self.clone(), connection, is_closed: false };
        tap.queue.push(connection, kind);
        tap
    }

    fn push(&self, connection: u64, kind: ChunkKind) {
        self.shared.pending.lock().chunks.push(Chunk { at_us: now_us(), connection, kind });
    }

    /// Lets [`TapQueue::take`] return the rest as the last.
    pub fn end(&self) {
        self.shared.pending.lock().is_last = true;
        self.shared.wake.notify_all();
    }

    /// Waits up to `patience` for much to arrive, then exchanges `empty` for all that is there.
    pub fn take(&self, empty: &mut PendingChunks, patience: Duration) {
        let mut pending = self.shared.pending.lock();
        if !pending.is_last && !self.shared.is_half_full(&pending) {
            self.shared.wake.wait_for(&mut pending, patience);
        }
        empty.is_last = pending.is_last;
        std::mem::swap(&mut *pending, empty);
    }
}

impl SharedQueue {
    /// A chunk counts, too: many small ones take more memory than their bytes.
    fn held(&self, pending: &PendingChunks) -> usize {
        pending.bytes.len() + pending.chunks.len() * size_of::<Chunk>()
    }

    fn is_half_full(&self, pending: &PendingChunks) -> bool {
        self.held(pending) >= self.bytes_max / 2
    }
}

/// The place where the bytes of a connection are copied. Dropping it records that the recorder closed the connection.
#[derive(Debug)]
pub struct Tap {
    queue: TapQueue,
    connection: u64,
    is_closed: bool,
}

impl Drop for Tap {
    fn drop(&mut self) {
        if !self.is_closed {
            self.queue.push(self.connection, ChunkKind::Closed { by: Side::Server });
        }
    }
}

impl Tap {
    /// Copies bytes that a side sent. `lost` are the bytes of the side before them that found no room.
    pub fn pass(&self, from: Side, bytes: &[u8], lost: &mut u64) {
        let shared = &self.queue.shared;
        let at_us = now_us();
        let mut pending = shared.pending.lock();
        if shared.held(&pending) + bytes.len() > shared.bytes_max {
            *lost += bytes.len() as u64;
            return;
        }
        let was_half_full = shared.is_half_full(&pending);
        if *lost > 0 {
            let kind = ChunkKind::Gap { from, bytes: std::mem::take(lost) };
            pending.chunks.push(Chunk { at_us, connection: self.connection, kind });
        }
        let start = pending.bytes.len();
        pending.bytes.extend_from_slice(bytes);
        let kind = ChunkKind::Bytes { from, at: start..start + bytes.len() };
        pending.chunks.push(Chunk { at_us, connection: self.connection, kind });
        let wakes = !was_half_full && shared.is_half_full(&pending);
        drop(pending);
        if wakes {
            shared.wake.notify_all();
        }
    }

    /// Records the end of the connection. `lost` are bytes of each side, as in [`Tap::pass`].
    pub fn close(mut self, by: Side, lost: [(Side, u64); 2]) {
        for (from, bytes) in lost.into_iter().filter(|(_, bytes)| *bytes > 0) {
            self.queue.push(self.connection, ChunkKind::Gap { from, bytes });
        }
        self.queue.push(self.connection, ChunkKind::Closed { by });
        self.is_closed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(queue: &TapQueue) -> PendingChunks {
        let mut pending = PendingChunks::default();
        queue.take(&mut pending, Duration::ZERO);
        pending
    }

    #[test]
    fn bytes_keep_their_order_and_a_full_queue_counts() {
        let queue = TapQueue::new(10 * size_of::<Chunk>());
        let tap = queue.open(7, "127.0.0.1:1".parse().unwrap(), &"old:9160".into());
        let mut lost = 0;
        tap.pass(Side::Client, b"ab", &mut lost);
        tap.pass(Side::Client, &vec![0; 20 * size_of::<Chunk>()], &mut lost);
        assert_eq!(lost, 20 * size_of::<Chunk>() as u64);
        let pending = taken(&queue);
        assert_eq!((pending.chunks.len(), &pending.bytes[..]), (2, &b"ab"[..]));
        tap.pass(Side::Client, b"cd", &mut lost);
        assert_eq!(lost, 0);
        tap.close(Side::Server, [(Side::Client, 0), (Side::Server, 9)]);
        queue.end();
        let pending = taken(&queue);
        assert!(pending.is_last && pending.bytes == b"cd");
        let kinds: Vec<_> = pending.chunks.iter().map(|chunk| format!("{:?}", chunk.kind)).collect();
        let gap = format!("Gap {{ from: Client, bytes: {} }}", 20 * size_of::<Chunk>());
        let expected = [
            &gap[..],
            "Bytes { from: Client, at: 0..2 }",
            "Gap { from: Server, bytes: 9 }",
            "Closed { by: Server }",
        ];
        assert_eq!(kinds, expected);
    }
}
