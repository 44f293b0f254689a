//! Keeps a processor awake while requests arrive in short intervals.
//!
//! A processor without work goes to sleep. Waking it for the next request can take longer than answering a request,
//! above all on a virtual machine. So while requests follow each other closely, tasks poll: they offer the processor to
//! other programs (`sched_yield`), let the runtime look for requests, and repeat. An idle server does not poll.
//!
//! ```text
//! requests   x         x x  x  x    x
//! task       asleep      | polls ..........|   asleep
//!                        |                 |
//!                        50 us or less     50 us without
//!                        between two       a request
//! ```
//!
//! If an offered processor comes back after more than 1 ms, other programs are busy. Then the task sleeps for 20 ms,
//! and after that until the next request (`Wait::Rest`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::sync::Notify;

/// A task polls for the next request only if the last two requests came within this time, and only for this time.
const GAP_MAX: Duration = Duration::from_micros(50);
/// If an offered processor comes back later than this, other programs have much to do. A thread that sleeps until a
/// request arrives then gets the processor sooner than a thread that offers it again and again. Beside two programs
/// that never sleep, a server without this rule did a quarter less.
const AWAY_MAX: Duration = Duration::from_millis(1);
/// The time that a task sleeps after an offered processor came back late.
const REST: Duration = Duration::from_millis(20);
/// Number of tasks. Each keeps a processor awake. While one processor works, the other takes the next request; with one
/// task, the working processor would have to wake the other. One client that waits for each reply did four times as
/// many requests with two tasks as with one task; 16 clients together did 5 % more.
const TASKS: usize = 2;

/// Reports requests to the tasks that keep processors awake. Each connection has a clone of it.
#[derive(Clone, Default)]
pub struct BusyPoll(Vec<Arc<Requests>>);

#[derive(Default)]
struct Requests {
    /// Whether a request has arrived since the task last looked.
    has_arrived: AtomicBool,
    wake: Notify,
}

impl BusyPoll {
    /// Returns a `BusyPoll` without tasks: processors sleep whenever they can.
    pub fn off() -> BusyPoll {
        BusyPoll::default()
    }

    /// Starts the tasks, which run as long as the runtime.
    pub fn start() -> BusyPoll {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let tasks: Vec<Arc<Requests>> = (0..TASKS.min(processors)).map(|_| Arc::default()).collect();
        for requests in &tasks {
            tokio::spawn(keep_awake(requests.clone()));
        }
        BusyPoll(tasks)
    }

    /// Records that a client has sent something.
    pub fn record_request(&self) {
        for requests in &self.0 {
            // All connections share this flag: threads that would not change it skip the write.
            if !requests.has_arrived.load(Ordering::Relaxed) {
                requests.has_arrived.store(true, Ordering::Relaxed);
                requests.wake.notify_one();
            }
        }
    }
}

async fn keep_awake(requests: Arc<Requests>) {
    let mut policy = PollPolicy { last_request: Instant::now() };
    loop {
        // A wake-up from the polling phase is not a new request: discard it.
        let _ = requests.wake.notified().now_or_never();
        requests.has_arrived.store(false, Ordering::Relaxed);
        requests.wake.notified().await;
        let mut wait = policy.after_request(Instant::now());
        while wait == Wait::Awake {
            let offered_at = Instant::now();
            std::thread::yield_now();
            let away = offered_at.elapsed();
            // The runtime polls the sockets, and soon runs this task again.
            tokio::task::yield_now().await;
            let has_arrived = requests.has_arrived.load(Ordering::Relaxed);
            if has_arrived {
                requests.has_arrived.store(false, Ordering::Relaxed);
            }
            wait = policy.after_look(away, has_arrived, Instant::now());
        }
        if wait == Wait::Rest {
            tokio::time::sleep(REST).await;
        }
    }
}

/// The way in which a task waits for the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// It polls.
    Awake,
    /// It sleeps until a request arrives.
    Asleep,
    /// It sleeps for [`REST`], and then until a request arrives.
    Rest,
}

/// Decides how a task waits for the next request.
struct PollPolicy {
    last_request: Instant,
}

impl PollPolicy {
    /// Returns how to wait after a request that woke the task.
    fn after_request(&mut self, now: Instant) -> Wait {
        let gap = now.duration_since(std::mem::replace(&mut self.last_request, now));
        if gap <= GAP_MAX { Wait::Awake } else { Wait::Asleep }
    }

    /// Returns how to wait after a poll: the offered processor was away for `away`, and requests have arrived since the
    /// poll before or not.
    fn after_look(&mut self, away: Duration, has_arrived: bool, now: Instant) -> Wait {
        if has_arrived {
            self.last_request = now;
        }
        if away > AWAY_MAX {
            Wait::Rest
        } else if now.duration_since(self.last_request) <= GAP_MAX {
            Wait::Awake
        } else {
            Wait::Asleep
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_micros(1);

    #[test]
    fn requests_in_short_intervals_are_polled_for() {
        let mut now = Instant::now();
        let mut policy = PollPolicy { last_request: now };
        now += GAP_MAX + SHORT;
        assert_eq!(policy.after_request(now), Wait::Asleep, "the interval was long");
        now += GAP_MAX;
        assert_eq!(policy.after_request(now), Wait::Awake);
        for _ in 0..9 {
            now += GAP_MAX;
            assert_eq!(policy.after_look(AWAY_MAX, true, now), Wait::Awake);
        }
        assert_eq!(policy.after_look(SHORT, false, now + GAP_MAX), Wait::Awake);
        assert_eq!(
            policy.after_look(SHORT, false, now + GAP_MAX + SHORT),
            Wait::Asleep,
            "no request arrived"
        );
        assert_eq!(policy.after_request(now + GAP_MAX * 2), Wait::Asleep, "the interval was long again");
        assert_eq!(policy.after_request(now + GAP_MAX * 3), Wait::Awake);
    }

    #[test]
    fn polling_stops_when_the_thread_was_preempted() {
        let now = Instant::now();
        let mut policy = PollPolicy { last_request: now };
        assert_eq!(policy.after_request(now + SHORT), Wait::Awake);
        assert_eq!(policy.after_look(AWAY_MAX + SHORT, true, now + SHORT * 2), Wait::Rest);
    }

    #[tokio::test]
    async fn each_task_sees_each_request() {
        let poll = BusyPoll::start();
        let any_unseen =
            |tasks: &Vec<Arc<Requests>>| tasks.iter().any(|task| task.has_arrived.load(Ordering::Relaxed));
        assert!(!poll.0.is_empty());
        // Let the tasks start and go to sleep.
        tokio::task::yield_now().await;
        for _ in 0..3 {
            poll.record_request();
            assert!(poll.0.iter().all(|task| task.has_arrived.load(Ordering::Relaxed)));
            tokio::time::timeout(Duration::from_secs(9), async {
                while any_unseen(&poll.0) {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
            .await
            .unwrap_or_else(|_| panic!("a task has not seen the request"));
        }
        BusyPoll::off().record_request();
    }
}
