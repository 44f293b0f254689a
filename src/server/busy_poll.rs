//! Keeps a processor awake while requests follow each other closely.
//!
//! A processor with nothing to do is put to sleep, and to wake it for the next request can take longer than to answer
//! one, above all on a virtual machine. So as long as the last request came a moment ago, tasks have the runtime look for
//! the next again and again, and offer the processor to other programs each time. A server that has little to do sleeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::sync::Notify;

/// The next request is waited for awake if it is likely to come within this: the last one did.
const GAP_MAX: Duration = Duration::from_micros(50);
/// If a processor that is offered to others is away for longer than this, other programs have much to do. It must not be
/// offered again and again then: a thread that sleeps until a request comes gets it back sooner. Beside two programs that
/// never rest, a server without this rule did a quarter less.
const AWAY_MAX: Duration = Duration::from_millis(1);
/// How long it is not offered then.
const REST: Duration = Duration::from_millis(20);
/// Tasks, each of which keeps a processor awake. While one processor is at work the other takes what comes; with one task
/// the work would have to wake it. One client that waits for each answer got four times as many with two tasks as with
/// one, sixteen together a twentieth more.
const TASKS: usize = 2;

/// Tells of requests to the tasks that keep processors awake. Give a clone of it to each connection.
#[derive(Clone, Default)]
pub struct BusyPoll(Vec<Arc<Requests>>);

#[derive(Default)]
struct Requests {
    /// One has come since its task last looked.
    has_come: AtomicBool,
    wake: Notify,
}

impl BusyPoll {
    /// One that does nothing: processors sleep whenever they can.
    pub fn off() -> BusyPoll {
        BusyPoll::default()
    }

    /// Starts the tasks, which last as long as the runtime.
    pub fn start() -> BusyPoll {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let start_one = |_| {
            let requests = Arc::<Requests>::default();
            tokio::spawn(keep_awake(requests.clone()));
            requests
        };
        BusyPoll((0..TASKS.min(processors)).map(start_one).collect())
    }

    /// Says that a client has sent something.
    pub fn note_request(&self) {
        for requests in &self.0 {
            // All connections share it: who need not write to it does not.
            if !requests.has_come.load(Ordering::Relaxed) {
                requests.has_come.store(true, Ordering::Relaxed);
                requests.wake.notify_one();
            }
        }
    }
}

async fn keep_awake(requests: Arc<Requests>) {
    let mut policy = PollPolicy { last_request: Instant::now() };
    loop {
        // What was told while it was awake is no request that comes now.
        let _ = requests.wake.notified().now_or_never();
        requests.has_come.store(false, Ordering::Relaxed);
        requests.wake.notified().await;
        let mut wait = policy.after_request(Instant::now());
        while wait == Wait::Awake {
            let offered_at = Instant::now();
            std::thread::yield_now();
            let away = offered_at.elapsed();
            // The runtime looks for what has come, and soon comes back to this task.
            tokio::task::yield_now().await;
            let has_come = requests.has_come.load(Ordering::Relaxed);
            if has_come {
                requests.has_come.store(false, Ordering::Relaxed);
            }
            wait = policy.after_look(away, has_come, Instant::now());
        }
        if wait == Wait::Rest {
            tokio::time::sleep(REST).await;
        }
    }
}

/// How the next request is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    Awake,
    Asleep,
    /// Asleep, and for a while in any case.
    Rest,
}

/// Decides how the next request is waited for.
struct PollPolicy {
    last_request: Instant,
}

impl PollPolicy {
    /// A request has come while the task slept.
    fn after_request(&mut self, now: Instant) -> Wait {
        let gap = now.duration_since(std::mem::replace(&mut self.last_request, now));
        if gap <= GAP_MAX { Wait::Awake } else { Wait::Asleep }
    }

    /// The processor was away for so long when it was offered to others, and requests have come since the last look or
    /// not.
    fn after_look(&mut self, away: Duration, has_come: bool, now: Instant) -> Wait {
        if has_come {
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
    fn who_asks_often_is_waited_for_awake() {
        let mut now = Instant::now();
        let mut policy = PollPolicy { last_request: now };
        now += GAP_MAX + SHORT;
        assert_eq!(policy.after_request(now), Wait::Asleep, "after a long while");
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
            "nobody asks any more"
        );
        assert_eq!(policy.after_request(now + GAP_MAX * 2), Wait::Asleep, "it would have been in vain");
        assert_eq!(policy.after_request(now + GAP_MAX * 3), Wait::Awake);
    }

    #[test]
    fn programs_that_have_much_to_do_come_first() {
        let now = Instant::now();
        let mut policy = PollPolicy { last_request: now };
        assert_eq!(policy.after_request(now + SHORT), Wait::Awake);
        assert_eq!(policy.after_look(AWAY_MAX + SHORT, true, now + SHORT * 2), Wait::Rest);
    }

    #[tokio::test]
    async fn the_tasks_take_note() {
        let poll = BusyPoll::start();
        let one_has_come =
            |requests: &Vec<Arc<Requests>>| requests.iter().any(|one| one.has_come.load(Ordering::Relaxed));
        assert!(!poll.0.is_empty());
        // They have begun, and sleep.
        tokio::task::yield_now().await;
        for _ in 0..3 {
            poll.note_request();
            assert!(poll.0.iter().all(|one| one.has_come.load(Ordering::Relaxed)));
            tokio::time::timeout(Duration::from_secs(9), async {
                while one_has_come(&poll.0) {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
            .await
            .unwrap_or_else(|_| panic!("one takes no note"));
        }
        BusyPoll::off().note_request();
    }
}
