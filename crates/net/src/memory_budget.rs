//! Limits the memory of the messages and replies of all connections together: the limit of one message would not stop
//! many connections.
//!
//! A buffer grows only after its connection's [`Share`] of the budget has grown. If too little memory is left, shares
//! wait in order, for a limited time. Meanwhile others return memory:
//!
//! 1. Connections whose clients stall are asked to close: the client has neither sent the rest of a message nor read a
//!    reply at the minimum rate. The one that has stalled longest closes first.
//! 2. If the waiting shares themselves hold the missing memory, they would wait for each other forever. Then the share
//!    that began to wait last gives up: its message is refused.
//!
//! For example, with a budget of 3 MiB that is used up:
//!
//! ```text
//!            holds   its client               waits for
//! share A    1 MiB   reads its reply          -
//! share B    1 MiB   stalls since 2 s         -           closes: B has stalled longer than C
//! share C    1 MiB   stalls since 1 s         -
//! share D    -       sends a large message    1 MiB       gets the memory of B
//!
//! share A    1 MiB   sends a large message    1 MiB       gets the memory of C
//! share B    1 MiB   sends a large message    1 MiB       waits until A ends
//! share C    1 MiB   sends a large message    1 MiB       gives up: it began to wait after A and B
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until, timeout};

use crate::close_request::{CloseRequest, Scarcity};
use crate::limits::{MEMORY_WAIT_S, REPLIES_MADE_AGAIN_MAX};
use base::util::limits::MESSAGES_BYTES_MAX;
use base::util::spare_memory;

/// The interval at which waiting shares look for connections that stall.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// At most this part of the budget (a sixteenth) is taken from stalled connections at a time, unless the first waiting
/// share needs more.
const PART_AT_ONCE: usize = 16;
/// The value of `stalls_at_ms` while the server does not wait for the client.
const NEVER: u64 = u64::MAX;

/// Why a share has not grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HoldError {
    /// All memory for messages is taken; the limit in bytes.
    #[error(
        "messages and replies of all clients take {0} bytes of memory, which is the limit: try again later"
    )]
    Full(usize),
    /// The operating system refused a buffer of this many bytes.
    #[error("the server has no memory for a buffer of {0} bytes: try again later")]
    Refused(usize),
    /// The connection was asked to close while it waited.
    #[error("other connections need the memory of this one")]
    GaveWay,
}

/// The budget that all connections share. Cheap to clone.
#[derive(Debug, Clone)]
pub struct MemoryBudget {
    pool: Arc<Pool>,
}

#[derive(Debug)]
struct Pool {
    bytes_max: usize,
    wait: Duration,
    /// One permit for each free byte. The semaphore is fair: shares get permits in the order in which they asked.
    left: Semaphore,
    /// One permit for each large reply that may be made again at the same time.
    turns: Arc<Semaphore>,
    started: Instant,
    holders: Mutex<BudgetHolders>,
}

/// The shares that hold memory or wait for it, by number. Numbers only grow.
#[derive(Debug, Default)]
struct BudgetHolders {
    next_number: u64,
    by_number: BTreeMap<u64, Arc<BudgetHolder>>,
    /// When stalled connections were last looked for.
    looked_at: Option<Instant>,
}

/// The state of a share that other shares read.
#[derive(Debug)]
struct BudgetHolder {
    number: u64,
    close_request: Arc<CloseRequest>,
    bytes: AtomicUsize,
    /// Bytes that the share waits for; 0 if it does not wait.
    wants: AtomicUsize,
    /// The number with which the share began to wait: smaller numbers began earlier.
    turn: AtomicU64,
    /// The share must not wait any longer, since others wait for the memory that it holds.
    gives_up: AtomicBool,
    /// When the client begins to stall, in milliseconds since the pool was created.
    stalls_at_ms: AtomicU64,
}

/// A connection's or reply's part of the budget. Dropping it returns the memory.
#[derive(Debug)]
pub struct Share {
    pool: Arc<Pool>,
    close_request: Arc<CloseRequest>,
    held: usize,
    /// Registered while the share holds memory or waits.
    holder: Option<Arc<BudgetHolder>>,
}

impl Default for MemoryBudget {
    fn default() -> MemoryBudget {
        MemoryBudget::new(MESSAGES_BYTES_MAX, Duration::from_secs(MEMORY_WAIT_S))
    }
}

impl MemoryBudget {
    /// Creates a budget of `bytes_max` bytes. `wait` is the longest time that a share waits for memory.
    pub fn new(bytes_max: usize, wait: Duration) -> MemoryBudget {
        let bytes_max = bytes_max.min(Semaphore::MAX_PERMITS);
        let left = Semaphore::new(bytes_max);
        let turns = Arc::new(Semaphore::new(REPLIES_MADE_AGAIN_MAX));
        let (started, holders) = (Instant::now(), Mutex::default());
        MemoryBudget { pool: Arc::new(Pool { bytes_max, wait, left, turns, started, holders }) }
    }

    /// Returns the bytes that all shares hold.
    pub fn held_by_all(&self) -> usize {
        self.pool.bytes_max.saturating_sub(self.pool.left.available_permits())
    }

    /// Asks connections of a stopping server to close if their clients stall, or if they wait for memory. They wait
    /// with a message that has not arrived or a reply that was not sent, so nothing acknowledged is lost.
    pub fn end_blocked(&self) {
        let now_ms = self.pool.milliseconds(Instant::now());
        for holder in self.pool.holders.lock().by_number.values() {
            if holder.is_waiting() || holder.stalls_at_ms.load(Ordering::Relaxed) <= now_ms {
                holder.close_request.ask(Scarcity::Time);
            }
        }
    }

    /// Returns an empty share for a connection that closes when `close_request` asks it to.
    pub fn share(&self, close_request: &Arc<CloseRequest>) -> Share {
        Share { pool: self.pool.clone(), close_request: close_request.clone(), held: 0, holder: None }
    }
}

impl Pool {
    fn milliseconds(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.started).as_millis()).unwrap_or(NEVER - 1)
    }

    /// Asks connections to close until the memory that they hold is enough for the waiting shares. Memory of
    /// connections that were asked before counts. Does nothing if another share did this a moment ago: thousands may
    /// wait.
    fn reclaim(&self, now: Instant) {
        let mut holders = self.holders.lock();
        if holders.looked_at.is_some_and(|last| now < last + LOOK_EVERY / 2) {
            return;
        }
        holders.looked_at = Some(now);
        let now_ms = self.milliseconds(now);
        let (mut wanted, mut returning) = (0, 0);
        // The longest waiting share: its turn, and the bytes that it waits for.
        let mut first = (u64::MAX, 0);
        let mut stalled = Vec::new();
        for holder in holders.by_number.values() {
            let bytes = holder.bytes.load(Ordering::Relaxed);
            let stalls_at = holder.stalls_at_ms.load(Ordering::Relaxed);
            if holder.close_request.is_asked() || holder.gives_up.load(Ordering::Relaxed) {
                returning += bytes;
            } else if stalls_at <= now_ms && bytes > 0 {
                stalled.push((stalls_at, bytes, holder));
            } else if holder.is_waiting() {
                let wants = holder.wants.load(Ordering::Relaxed);
                wanted += wants;
                first = first.min((holder.turn.load(Ordering::Relaxed), wants));
            }
        }
        // Do not reclaim everything at once: the allocator needs time to return memory to the operating system.
        let wanted = wanted.min(first.1.max(self.bytes_max / PART_AT_ONCE));
        stalled.sort_unstable_by_key(|(stalls_at, ..)| *stalls_at);
        for (_, bytes, holder) in stalled {
            if returning >= wanted {
                return;
            }
            holder.close_request.ask(Scarcity::Memory);
            returning += bytes;
        }
        if returning == 0
            && let Some(last) = self.last_of_a_deadlock(&holders)
        {
            last.gives_up.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the share that must give up if the waiting shares block each other: the last one that holds memory, if the first
    /// one cannot get its memory until another share gives up.
    fn last_of_a_deadlock<'a>(&self, holders: &'a BudgetHolders) -> Option<&'a Arc<BudgetHolder>> {
        let mut waiting: Vec<_> = holders.by_number.values().filter(|holder| holder.is_waiting()).collect();
        waiting.sort_unstable_by_key(|holder| holder.turn.load(Ordering::Relaxed));
        let held: usize = waiting.iter().map(|holder| holder.bytes.load(Ordering::Relaxed)).sum();
        let (first, others) = waiting.split_first()?;
        if self.bytes_max.saturating_sub(held) >= first.wants.load(Ordering::Relaxed) {
            return None;
        }
        others.iter().rev().find(|holder| holder.bytes.load(Ordering::Relaxed) > 0).copied()
    }
}

impl BudgetHolder {
    fn is_waiting(&self) -> bool {
        self.wants.load(Ordering::Relaxed) > 0
    }
}

/// Ends the wait of a share when dropped, so also when the wait is cancelled.
struct BudgetWaitGuard(Arc<BudgetHolder>);

impl Drop for BudgetWaitGuard {
    fn drop(&mut self) {
        self.0.wants.store(0, Ordering::Relaxed);
    }
}

impl Share {
    /// Returns the bytes that the share holds.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Changes the share to `bytes` if that is possible without waiting. Returns whether it did. Shrinking always
    /// succeeds.
    pub fn try_hold(&mut self, bytes: usize) -> bool {
        if bytes == self.held {
            // The usual case, without a write to memory that all connections share.
            return true;
        }
        if bytes < self.held {
            debug_assert!(
                self.pool.left.available_permits() + self.held <= self.pool.bytes_max,
                "more memory would be returned than was taken"
            );
            self.pool.left.add_permits(self.held - bytes);
            self.record(bytes);
            return true;
        }
        let Ok(more) = u32::try_from(bytes - self.held) else { return false };
        if spare_memory::is_spent() {
            return false;
        }
        match self.pool.left.try_acquire_many(more) {
            Ok(permit) => permit.forget(),
            Err(_) => return false,
        }
        self.record(bytes);
        true
    }

    /// Changes the share to `bytes`, and waits for memory in order. Cancel safe: a cancelled wait changes nothing.
    ///
    /// # Errors
    ///
    /// `Full` if the memory was not free in time, or at once if the whole budget is smaller, or if others wait for the
    /// memory of the share; `GaveWay` if the connection was asked to close meanwhile.
    pub async fn hold(&mut self, bytes: usize) -> Result<(), HoldError> {
        if self.try_hold(bytes) {
            return Ok(());
        }
        let pool = self.pool.clone();
        let more = u32::try_from(bytes - self.held).map_err(|_| HoldError::Full(pool.bytes_max))?;
        if bytes > pool.bytes_max {
            return Err(HoldError::Full(pool.bytes_max));
        }
        let waiting = self.begin_to_wait(bytes - self.held);
        let ends_at = Instant::now() + pool.wait;
        let acquire = pool.left.acquire_many(more);
        tokio::pin!(acquire);
        loop {
            let now = Instant::now();
            pool.reclaim(now);
            tokio::select! {
                biased;
                permit = &mut acquire => {
                    permit.map_err(|_| HoldError::Full(pool.bytes_max))?.forget();
                    self.record(bytes);
                    return Ok(());
                }
                _ = self.close_request.asked() => return Err(HoldError::GaveWay),
                () = sleep_until(ends_at.min(now + LOOK_EVERY)) => {
                    if Instant::now() >= ends_at || waiting.0.gives_up.load(Ordering::Relaxed) {
                        return Err(HoldError::Full(pool.bytes_max));
                    }
                }
            }
        }
    }

    /// Changes the share to `bytes` for a reply that is made again, and then waits for a turn to make it, for the same
    /// time again. Few replies have turns, so that other replies do not hold unused memory while a slow one is made.
    /// Dropping the permit ends the turn.
    ///
    /// # Errors
    /// Fails like [`Share::hold`].
    pub async fn hold_in_turn(&mut self, bytes: usize) -> Result<OwnedSemaphorePermit, HoldError> {
        self.hold(bytes).await?;
        let turn = timeout(self.pool.wait, self.pool.turns.clone().acquire_owned()).await;
        turn.ok().and_then(Result::ok).ok_or(HoldError::Full(self.pool.bytes_max))
    }

    /// Moves the memory of another share of this budget into this share.
    pub fn absorb(&mut self, mut other: Share) {
        debug_assert!(Arc::ptr_eq(&self.pool, &other.pool), "a budget would get the memory of another one");
        let bytes = self.held + other.held;
        other.held = 0;
        if bytes != self.held {
            self.record(bytes);
        }
    }

    /// Records that the server waits for the client, which stalls from `stalls_at` on unless bytes move before; `None`
    /// if the server does not wait.
    pub fn wait_for_client(&self, stalls_at: Option<Instant>) {
        if let Some(holder) = &self.holder {
            let milliseconds = stalls_at.map_or(NEVER, |at| self.pool.milliseconds(at));
            holder.stalls_at_ms.store(milliseconds, Ordering::Relaxed);
        }
    }

    /// Records the bytes that the share holds now.
    fn record(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.pool.bytes_max, "a share holds more than the whole budget");
        self.held = bytes;
        if bytes == 0 {
            self.leave();
        } else {
            let holder = self.enter();
            holder.bytes.store(bytes, Ordering::Relaxed);
            holder.gives_up.store(false, Ordering::Relaxed);
        }
    }

    fn begin_to_wait(&mut self, wants: usize) -> BudgetWaitGuard {
        let turn = {
            let mut holders = self.pool.holders.lock();
            holders.next_number += 1;
            holders.next_number
        };
        let holder = self.enter();
        holder.stalls_at_ms.store(NEVER, Ordering::Relaxed);
        holder.gives_up.store(false, Ordering::Relaxed);
        holder.turn.store(turn, Ordering::Relaxed);
        holder.wants.store(wants, Ordering::Relaxed);
        BudgetWaitGuard(holder)
    }

    /// Registers the share, so that other shares see its state.
    fn enter(&mut self) -> Arc<BudgetHolder> {
        let Share { pool, close_request, holder, .. } = self;
        let entered = holder.get_or_insert_with(|| {
            let mut holders = pool.holders.lock();
            holders.next_number += 1;
            let holder = Arc::new(BudgetHolder {
                number: holders.next_number,
                close_request: close_request.clone(),
                bytes: AtomicUsize::new(0),
                wants: AtomicUsize::new(0),
                turn: AtomicU64::new(0),
                gives_up: AtomicBool::new(false),
                stalls_at_ms: AtomicU64::new(NEVER),
            });
            holders.by_number.insert(holder.number, holder.clone());
            holder
        });
        entered.clone()
    }

    fn leave(&mut self) {
        if let Some(holder) = self.holder.take() {
            self.pool.holders.lock().by_number.remove(&holder.number);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.held > 0 {
            debug_assert!(
                self.pool.left.available_permits() + self.held <= self.pool.bytes_max,
                "more memory would be returned than was taken"
            );
            self.pool.left.add_permits(self.held);
        }
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const MIB: usize = 1024 * 1024;
    const SECOND: Duration = Duration::from_secs(1);

    fn share(budget: &MemoryBudget) -> Share {
        budget.share(&Arc::default())
    }

    /// Returns a share that holds `bytes`.
    fn holding(budget: &MemoryBudget, bytes: usize) -> Share {
        let mut share = share(budget);
        assert!(share.try_hold(bytes));
        share
    }

    /// Runs a test on a runtime of its own.
    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(test);
    }

    #[test]
    fn a_dropped_share_returns_its_memory() {
        let budget = MemoryBudget::new(MIB, SECOND);
        let mut one = holding(&budget, MIB);
        let mut other = share(&budget);
        assert!(!other.try_hold(1));
        assert!(one.try_hold(MIB - 1) && other.try_hold(1));
        drop(one);
        assert!(other.try_hold(MIB));
        assert!(other.try_hold(0));
        let mut whole = holding(&budget, MIB / 2);
        whole.absorb(holding(&budget, MIB / 2));
        assert_eq!(whole.held(), MIB);
        assert!(!other.try_hold(1));
        drop(whole);
        holding(&budget, MIB);
        assert!(budget.pool.holders.lock().by_number.is_empty() || other.holder.is_none());
    }

    #[test]
    fn a_share_waits_in_order_and_for_a_limited_time() {
        run(async {
            let budget = MemoryBudget::new(MIB, SECOND / 5);
            let first = holding(&budget, MIB);
            assert_eq!(
                share(&budget).hold(MIB + 1).await,
                Err(HoldError::Full(MIB)),
                "more than the whole budget"
            );
            assert_eq!(share(&budget).hold(1).await, Err(HoldError::Full(MIB)));
            let (mut large, mut small) = (share(&budget), share(&budget));
            let mut both = Box::pin(async {
                tokio::join!(async { large.hold(MIB).await.map(|()| drop(large)) }, small.hold(1))
            });
            assert_eq!((&mut both).now_or_never(), None);
            drop(first);
            assert_eq!(both.await, (Ok(()), Ok(())));
            // A cancelled wait leaves nothing behind.
            let rest = holding(&budget, MIB - 1);
            assert_eq!(share(&budget).hold(2).now_or_never(), None);
            drop(rest);
            drop(small);
            assert_eq!(budget.pool.left.available_permits(), MIB);
            assert!(budget.pool.holders.lock().by_number.is_empty());
        });
    }

    #[test]
    fn a_wait_for_a_turn_ends_with_the_time_limit_of_memory() {
        run(async {
            let budget = MemoryBudget::new(MIB, SECOND / 5);
            let mut turns = Vec::new();
            for _ in 0..REPLIES_MADE_AGAIN_MAX {
                turns.push(share(&budget).hold_in_turn(1).await.unwrap());
            }
            let mut last = share(&budget);
            assert_eq!(last.hold_in_turn(1).await.err(), Some(HoldError::Full(MIB)));
            turns.pop();
            assert!(last.hold_in_turn(1).await.is_ok());
        });
    }

    #[test]
    fn the_longest_stalled_connection_is_closed_and_active_ones_are_not() {
        run(async {
            let budget = MemoryBudget::new(4 * MIB, 60 * SECOND);
            let now = Instant::now();
            let [working, moving, mut stalled, longest] = [0; 4].map(|_| holding(&budget, MIB));
            working.wait_for_client(None);
            moving.wait_for_client(Some(now + 60 * SECOND));
            stalled.wait_for_client(Some(now + SECOND / 10));
            longest.wait_for_client(Some(now));
            let mut newcomer = share(&budget);
            let giving_way = async {
                let signal = longest.close_request.clone();
                assert_eq!(signal.asked().await, Scarcity::Memory);
                tokio::time::sleep(SECOND / 2).await;
                assert!(!stalled.close_request.is_asked(), "the memory of one connection is enough");
                drop(longest);
            };
            let (held, ()) = tokio::join!(newcomer.hold(MIB), giving_way);
            assert_eq!(held, Ok(()));
            let mut second = share(&budget);
            let giving_way = async {
                stalled.close_request.asked().await;
                assert!(stalled.try_hold(0));
            };
            let (held, ()) = tokio::join!(second.hold(MIB), giving_way);
            assert_eq!(held, Ok(()));
            for share in [&working, &moving, &newcomer, &second] {
                assert!(!share.close_request.is_asked());
            }
        });
    }

    #[test]
    fn the_last_of_several_shares_that_wait_for_each_other_gives_up() {
        run(async {
            let budget = MemoryBudget::new(3 * MIB, 60 * SECOND);
            let [mut first, mut second, mut third] = [0; 3].map(|_| holding(&budget, MIB));
            let first_then_gone = async {
                let held = first.hold(2 * MIB).await;
                drop(first);
                held
            };
            let third_until_asked = async {
                let held = third.hold(2 * MIB).await;
                drop(third);
                held
            };
            let (one, two, three) = tokio::join!(first_then_gone, second.hold(2 * MIB), third_until_asked);
            assert_eq!((one, two, three), (Ok(()), Ok(()), Err(HoldError::Full(3 * MIB))));
        });
    }
}
