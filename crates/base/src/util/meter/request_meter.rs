//! The meter of one request: the memory that it holds, and its deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::error::MeterError;
use super::presence::ClientPresence;
use super::request_memory::RequestMemory;
use super::time_limits::{RequestKind, RequestLimits, TimeLimits};
use crate::util::limits::{REQUEST_BYTES_FREE, REQUEST_CHUNK_BYTES};
use crate::util::{RequestPermit, spare_memory};

/// A request takes at least this part (an eighth) of what it holds at a time, so that large requests take chunks
/// rarely.
const GROWTH_PART: usize = 8;

/// The meter of one request. Dropping it returns the request's memory.
///
/// The numbers are atomic because a request moves between threads. Two threads never change them at the same time.
#[derive(Debug)]
pub struct RequestMeter {
    memory: Arc<RequestMemory>,
    times: TimeLimits,
    client: Arc<ClientPresence>,
    began: Instant,
    used: AtomicUsize,
    /// Chunks taken from `memory`.
    chunks: AtomicUsize,
    /// Chunks that the last failed charge lacked; 0 after a successful one.
    lacking: AtomicUsize,
    /// The deadline in milliseconds after `began`; 0 is none.
    deadline_ms: AtomicU64,
    /// The time limit that the deadline comes from, for the error.
    limit_ms: AtomicU64,
    /// The request only reads, so it ends when its client has gone.
    ends_with_client: AtomicBool,
    /// The future of the request was dropped.
    is_abandoned: AtomicBool,
    /// Work done since other tasks could run.
    work: AtomicUsize,
    /// Tombstones and expired columns that the request's reads have passed.
    tombstones: AtomicU64,
    /// Keeps changes of the whole database out. The meter holds it because work of the request on other threads has the
    /// meter, too.
    permit: Option<RequestPermit>,
}

impl RequestMeter {
    /// Creates the meter of a request that holds nothing yet.
    pub fn new(limits: &RequestLimits, client: Arc<ClientPresence>) -> RequestMeter {
        RequestMeter {
            memory: limits.memory.clone(),
            times: limits.times,
            client,
            began: Instant::now(),
            used: AtomicUsize::new(0),
            chunks: AtomicUsize::new(0),
            lacking: AtomicUsize::new(0),
            deadline_ms: AtomicU64::new(0),
            limit_ms: AtomicU64::new(0),
            ends_with_client: AtomicBool::new(false),
            is_abandoned: AtomicBool::new(false),
            work: AtomicUsize::new(0),
            tombstones: AtomicU64::new(0),
            permit: None,
        }
    }

    /// Returns the same meter, which holds the request's permit until the request and its work on other threads end.
    #[must_use]
    pub fn with_permit(mut self, permit: Option<RequestPermit>) -> RequestMeter {
        self.permit = permit;
        self
    }

    /// Makes this the meter of a request that began at `began`, and holds its permit.
    pub(super) fn restart(&mut self, permit: Option<RequestPermit>, began: Instant) {
        (self.permit, self.began) = (permit, began);
    }

    /// Counts bytes that the request holds from now on.
    ///
    /// # Errors
    /// `TooLarge` if no request may hold so much; `Crowded` if all requests together hold all the memory. The bytes are
    /// counted even then.
    pub fn charge(&self, bytes: usize) -> Result<(), MeterError> {
        let used = self.used.load(Ordering::Relaxed).saturating_add(bytes);
        self.used.store(used, Ordering::Relaxed);
        if used <= self.allowed() { Ok(()) } else { self.grow(used) }
    }

    fn allowed(&self) -> usize {
        REQUEST_BYTES_FREE + self.chunks.load(Ordering::Relaxed) * REQUEST_CHUNK_BYTES
    }

    #[cold]
    fn grow(&self, used: usize) -> Result<(), MeterError> {
        debug_assert!(used > self.allowed(), "a request takes chunks that it has already");
        let share = self.memory.share();
        if used > share {
            self.lacking.store(0, Ordering::Relaxed);
            return Err(MeterError::TooLarge { limit: share });
        }
        if spare_memory::is_spent() {
            self.lacking.store(0, Ordering::Relaxed);
            return Err(MeterError::Crowded { limit: self.memory.held() });
        }
        let needed = (used - self.allowed()).div_ceil(REQUEST_CHUNK_BYTES);
        let wished = needed.max(used / GROWTH_PART / REQUEST_CHUNK_BYTES);
        if self.take(wished) || self.take(needed) {
            return Ok(());
        }
        self.lacking.store(wished, Ordering::Relaxed);
        Err(MeterError::Crowded { limit: self.memory.total() })
    }

    fn take(&self, chunks: usize) -> bool {
        let is_taken = self.memory.try_take(chunks);
        if is_taken {
            self.add(chunks);
        }
        is_taken
    }

    fn add(&self, chunks: usize) {
        if self.chunks.load(Ordering::Relaxed) == 0 {
            self.memory.add_holder();
        }
        self.chunks.fetch_add(chunks, Ordering::Relaxed);
        self.lacking.store(0, Ordering::Relaxed);
    }

    /// Returns whether the last charge failed because other requests hold the memory.
    pub fn lacks_memory(&self) -> bool {
        self.lacking.load(Ordering::Relaxed) > 0
    }

    /// Waits in order for the memory that the last charge lacked.
    ///
    /// # Errors
    /// `Crowded` if the memory is not free in time, or if the request is one of the largest.
    pub async fn wait_for_memory(&self) -> Result<(), MeterError> {
        let lacking = self.lacking.load(Ordering::Relaxed);
        let held = self.chunks.load(Ordering::Relaxed) * REQUEST_CHUNK_BYTES;
        if lacking == 0 {
            return Ok(());
        }
        if self.memory.take(lacking, held).await {
            debug_assert!(self.lacks_memory(), "a request waits for memory on two threads");
            self.add(lacking);
            return Ok(());
        }
        self.lacking.store(0, Ordering::Relaxed);
        Err(MeterError::Crowded { limit: self.memory.total() })
    }

    /// Returns the bytes that the request holds.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Sets the bytes that the request holds. Chunks are returned only when the request ends.
    pub fn set_used(&self, bytes: usize) {
        self.used.store(bytes, Ordering::Relaxed);
    }

    /// Sets the deadline of a request of this kind, and returns it. `None` if the kind has no time limit. The first
    /// time limit begins with the request. Each further one, of the next statement of a script, begins now.
    pub fn begin(&self, kind: RequestKind) -> Option<Instant> {
        let only_reads = matches!(kind, RequestKind::Read | RequestKind::Range);
        self.ends_with_client.store(only_reads, Ordering::Relaxed);
        let limit_ms = self.times.of(kind)?.get();
        // So the clock is read once less for most requests.
        let is_first = self.limit_ms.load(Ordering::Relaxed) == 0;
        let deadline_ms = if is_first { limit_ms } else { self.age_ms().saturating_add(limit_ms) };
        self.limit_ms.store(limit_ms, Ordering::Relaxed);
        self.deadline_ms.store(deadline_ms, Ordering::Relaxed);
        self.began.checked_add(Duration::from_millis(deadline_ms))
    }

    /// Returns the milliseconds since the request began.
    fn age_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns the error of a request that took too long.
    pub fn timed_out(&self) -> MeterError {
        MeterError::TimedOut { limit_ms: self.limit_ms.load(Ordering::Relaxed) }
    }

    /// Checks whether the request should continue.
    ///
    /// # Errors
    /// `TimedOut` after the deadline; `ClientGone` if the request was abandoned, or only reads and its client has gone.
    pub fn check(&self) -> Result<(), MeterError> {
        let ends_with_client = self.ends_with_client.load(Ordering::Relaxed);
        if self.is_abandoned.load(Ordering::Relaxed) || ends_with_client && self.client.has_left() {
            return Err(MeterError::ClientGone);
        }
        let deadline = self.deadline_ms.load(Ordering::Relaxed);
        if deadline != 0 && self.age_ms() >= deadline {
            return Err(self.timed_out());
        }
        Ok(())
    }

    /// Records that the future of the request was dropped: its work on other threads ends at the next check.
    pub fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
    }

    /// Counts work. Returns whether other tasks should run now, which is after each `turn` of work.
    pub fn worked(&self, work: usize, turn: usize) -> bool {
        let done = self.work.load(Ordering::Relaxed).saturating_add(work);
        let is_due = done >= turn;
        self.work.store(if is_due { 0 } else { done }, Ordering::Relaxed);
        is_due
    }

    /// Counts tombstones and expired columns that a read has passed.
    pub(super) fn pass_tombstones(&self, count: u64) {
        if count > 0 {
            let passed = self.tombstones.load(Ordering::Relaxed).saturating_add(count);
            self.tombstones.store(passed, Ordering::Relaxed);
        }
    }

    /// Returns the number of tombstones and expired columns that the request's reads have passed.
    pub fn tombstones(&self) -> u64 {
        self.tombstones.load(Ordering::Relaxed)
    }

    /// Makes this the meter of the connection's next request.
    pub(super) fn reset(&mut self) {
        self.give_back();
        *self.used.get_mut() = 0;
        *self.lacking.get_mut() = 0;
        *self.deadline_ms.get_mut() = 0;
        *self.limit_ms.get_mut() = 0;
        *self.ends_with_client.get_mut() = false;
        *self.is_abandoned.get_mut() = false;
        *self.tombstones.get_mut() = 0;
        self.permit = None;
    }

    fn give_back(&mut self) {
        let chunks = std::mem::take(self.chunks.get_mut());
        if chunks > 0 {
            self.memory.give_back(chunks);
        }
    }
}

impl Drop for RequestMeter {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::util::limits::{REQUEST_MEMORY_BYTES_MIN, REQUEST_MEMORY_PARTS};

    const SHARE: usize = REQUEST_MEMORY_BYTES_MIN / REQUEST_MEMORY_PARTS;

    fn limits() -> RequestLimits {
        RequestLimits { memory: Arc::new(RequestMemory::new(0)), times: TimeLimits::default() }
    }

    fn meter(limits: &RequestLimits) -> RequestMeter {
        RequestMeter::new(limits, Arc::default())
    }

    #[test]
    fn small_requests_take_no_shared_memory() {
        let limits = limits();
        let meter = meter(&limits);
        assert_eq!(meter.charge(REQUEST_BYTES_FREE), Ok(()));
        assert_eq!(limits.memory.held(), 0);
        assert_eq!(meter.charge(1), Ok(()));
        assert_eq!(limits.memory.held(), REQUEST_CHUNK_BYTES);
        drop(meter);
        assert_eq!(limits.memory.held(), 0);
    }

    #[test]
    fn no_request_holds_more_than_its_share() {
        let limits = limits();
        let meter = meter(&limits);
        assert_eq!(limits.memory.share(), SHARE);
        assert_eq!(meter.charge(SHARE), Ok(()));
        // A request may use all that it has taken.
        assert_eq!(meter.charge(2 * REQUEST_CHUNK_BYTES), Err(MeterError::TooLarge { limit: SHARE }));
        assert!(!meter.lacks_memory(), "waiting would not help");
    }

    #[tokio::test]
    async fn the_largest_request_fails_at_once_and_small_ones_wait() {
        let limits = limits();
        let large: Vec<RequestMeter> = (0..REQUEST_MEMORY_PARTS).map(|_| meter(&limits)).collect();
        let crowded = Err(MeterError::Crowded { limit: limits.memory.total() });
        for one in &large[1..] {
            one.charge(SHARE).unwrap();
        }
        large[0].charge(SHARE - REQUEST_CHUNK_BYTES).unwrap();
        let small = meter(&limits);
        let rest = limits.memory.total() - limits.memory.held();
        small.charge(rest).unwrap();
        assert_eq!(small.charge(2 * REQUEST_CHUNK_BYTES), crowded);
        assert!(small.lacks_memory());
        // The small request waits.
        let a_while = std::time::Duration::from_millis(20);
        assert!(tokio::time::timeout(a_while, small.wait_for_memory()).await.is_err());
        // A request that is larger than most fails at once.
        assert_eq!(large[0].charge(REQUEST_CHUNK_BYTES), crowded);
        assert_eq!(large[0].wait_for_memory().now_or_never(), Some(crowded));
        // After another request has ended there is enough memory.
        assert_eq!(small.charge(1), crowded);
        let waiting = small.wait_for_memory();
        let mut large = large;
        large.pop();
        assert_eq!(waiting.await, Ok(()));
        assert_eq!(small.charge(1), Ok(()));
    }

    #[test]
    fn a_request_ends_at_its_deadline_or_without_its_client() {
        let client = Arc::new(ClientPresence::default());
        let times = TimeLimits::of_all(1);
        let limits = RequestLimits { times, ..limits() };
        let meter = RequestMeter::new(&limits, client.clone());
        assert_eq!(meter.check(), Ok(()));
        let write = RequestMeter::new(&self::limits(), client.clone());
        write.begin(RequestKind::Write);
        meter.begin(RequestKind::Read);
        std::thread::sleep(std::time::Duration::from_millis(3));
        assert_eq!(meter.check(), Err(MeterError::TimedOut { limit_ms: 1 }));
        client.leaves();
        assert_eq!(meter.check(), Err(MeterError::ClientGone));
        assert_eq!(write.check(), Ok(()), "a write runs to its end");
    }
}
