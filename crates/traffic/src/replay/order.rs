//! The order of a replay: when the next request may be sent.
//!
//! A recording shows which calls depend on which. A call can only depend on calls that had ended before it started: so
//! it is sent when all of these have been answered again. Calls that overlapped in the recording may overlap again.
//!
//! ```text
//!   recording    call 1  |-----|
//!                call 2     |--------|         overlaps 1: may be sent at any time after 1 was sent
//!                call 3           |-----|      began after 1 ended: is sent when 1 is answered
//!                call 4                 |--|   began after 1, 2 and 3 ended
//! ```
//!
//! The events of a recording are in the order in which they happened. So it is enough to go through them once: at the
//! reply of a call the replay remembers to wait for it, and before a request it waits for all calls that it remembers.
//! A later request never has fewer calls to wait for than an earlier one, so no request could be sent before those that
//! precede it.

use std::collections::HashSet;

/// The calls that are running, and those that the next request waits for.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Calls that were sent and are not answered.
    running: HashSet<u64>,
    /// The running calls that had ended in the recording.
    awaited: HashSet<u64>,
}

impl Order {
    /// A call was sent.
    pub(super) fn sent(&mut self, call: u64) {
        self.running.insert(call);
    }

    /// A call ends in the recording: its reply is the next event.
    pub(super) fn ended_in_recording(&mut self, call: u64) {
        if self.running.contains(&call) {
            self.awaited.insert(call);
        }
    }

    /// A call was answered, or is not waited for any more.
    pub(super) fn answered(&mut self, call: u64) {
        self.running.remove(&call);
        self.awaited.remove(&call);
    }

    /// Returns whether the next request may be sent.
    pub(super) fn is_clear(&self) -> bool {
        self.awaited.is_empty()
    }

    /// Returns the calls that the next request waits for.
    pub(super) fn awaited(&self) -> Vec<u64> {
        self.awaited.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Step {
        Request(u64),
        Reply(u64),
    }

    /// When each call was sent and answered.
    type Times = BTreeMap<u64, (u64, u64)>;

    /// Replays steps on a simulated server, on which call `n` takes `latencies[n]`. Time only passes while the replay
    /// waits.
    fn replayed(steps: &[Step], latencies: &[u64]) -> Times {
        let (mut order, mut times, mut now) = (Order::default(), Times::new(), 0);
        let mut answers: BTreeMap<(u64, u64), ()> = BTreeMap::new();
        for step in steps {
            match *step {
                Step::Request(call) => {
                    while !order.is_clear() {
                        let ((at, answered), ()) = answers.pop_first().unwrap();
                        now = at.max(now);
                        order.answered(answered);
                    }
                    let end = now + latencies[call as usize];
                    times.insert(call, (now, end));
                    answers.insert((end, call), ());
                    order.sent(call);
                }
                Step::Reply(call) => order.ended_in_recording(call),
            }
        }
        times
    }

    /// The reference model: each call starts when the last of all calls that had ended before it in the recording is
    /// answered, and not before the request that precedes it.
    fn by_definition(steps: &[Step], latencies: &[u64]) -> Times {
        let mut times = Times::new();
        let mut last_start = 0;
        for (at, step) in steps.iter().enumerate() {
            let Step::Request(call) = *step else { continue };
            let ended = steps[..at].iter().filter_map(|step| match step {
                Step::Reply(call) => Some(times[call].1),
                Step::Request(_) => None,
            });
            let start = ended.max().unwrap_or(0).max(last_start);
            last_start = start;
            times.insert(call, (start, start + latencies[call as usize]));
        }
        times
    }

    /// Recordings: requests and replies of random calls; some calls have no reply.
    fn recordings() -> impl Strategy<Value = Vec<Step>> {
        prop::collection::vec((0..3_u8, any::<prop::sample::Index>()), 0..60).prop_map(|choices| {
            let (mut steps, mut open, mut next) = (Vec::new(), Vec::new(), 0);
            for (choice, which) in choices {
                if choice > 0 || open.is_empty() {
                    steps.push(Step::Request(next));
                    open.push(next);
                    next += 1;
                } else {
                    let call = open.swap_remove(which.index(open.len()));
                    steps.push(Step::Reply(call));
                }
            }
            steps
        })
    }

    proptest! {
        #[test]
        fn calls_start_as_soon_as_those_that_had_ended_are_answered(
            steps in recordings(),
            latencies in prop::collection::vec(0..20_u64, 60),
        ) {
            prop_assert_eq!(replayed(&steps, &latencies), by_definition(&steps, &latencies));
        }
    }

    #[test]
    fn a_call_that_is_given_up_is_not_waited_for() {
        let mut order = Order::default();
        order.sent(1);
        order.ended_in_recording(1);
        order.ended_in_recording(2);
        assert_eq!(order.awaited(), [1]);
        order.answered(1);
        assert!(order.is_clear() && order.running.is_empty());
    }
}
