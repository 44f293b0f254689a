//! Threads that serve ask the kernel for short turns on their processor.
//!
//! Where more threads want a processor than there are, Linux gives it first to the one that asks for less at a time, and
//! takes as much from one that gives it back early as it had asked for. A request takes microseconds, so short turns cost
//! its thread nothing; with long ones it is put behind a busy client each time that it has offered its processor
//! (`busy_poll`), and behind that client's every reply.

#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "no crate wraps these calls of the system"))]

/// What a turn should last, in nanoseconds: the shortest that Linux gives.
#[cfg(target_os = "linux")]
const TURN_NS: u64 = 100_000;

/// Asks for short turns for the calling thread and those that it will start, unless the user has chosen another policy for
/// it. Linux before 6.12 hears this and does nothing.
#[cfg(target_os = "linux")]
pub fn ask_for_short_turns() {
    let asked = scheduling().and_then(|now| {
        if now.sched_policy != libc::SCHED_OTHER.cast_unsigned() {
            return Ok(());
        }
        set_scheduling(libc::sched_attr { sched_runtime: TURN_NS, ..now })
    });
    if let Err(error) = asked {
        tracing::debug!("no short turns on the processors: {error}");
    }
}

/// Elsewhere there is nothing to ask for.
#[cfg(not(target_os = "linux"))]
pub fn ask_for_short_turns() {}

/// How the calling thread is scheduled.
#[cfg(target_os = "linux")]
fn scheduling() -> std::io::Result<libc::sched_attr> {
    let mut found = libc::sched_attr {
        size: 0,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: The kernel writes to `found`, and not more than the size that it is told.
    let refused =
        unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut found, size_of_val(&found), 0) } != 0;
    if refused { Err(std::io::Error::last_os_error()) } else { Ok(found) }
}

#[cfg(target_os = "linux")]
fn set_scheduling(wanted: libc::sched_attr) -> std::io::Result<()> {
    // SAFETY: The kernel reads the attributes, whose size stands in them, and keeps no address.
    let refused = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const wanted, 0) } != 0;
    if refused { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_the_turns_change() {
        let (before, after) = std::thread::spawn(|| {
            let before = scheduling().unwrap();
            ask_for_short_turns();
            (before, scheduling().unwrap())
        })
        .join()
        .unwrap();
        assert_eq!((before.sched_policy, before.sched_nice), (after.sched_policy, after.sched_nice));
        // Kernels that know no turns of a thread's own show none, and a test may be run under another policy.
        let has_turns = before.sched_runtime > 0 && before.sched_policy == libc::SCHED_OTHER.cast_unsigned();
        assert!(!has_turns || after.sched_runtime == TURN_NS, "{}", after.sched_runtime);
    }

    #[test]
    fn a_policy_that_the_user_has_chosen_stays() {
        let after = std::thread::spawn(|| {
            let now = scheduling().unwrap();
            set_scheduling(libc::sched_attr { sched_policy: libc::SCHED_BATCH.cast_unsigned(), ..now })
                .unwrap();
            let before = scheduling().unwrap();
            ask_for_short_turns();
            let after = scheduling().unwrap();
            (before.sched_policy == after.sched_policy, before.sched_runtime == after.sched_runtime)
        })
        .join()
        .unwrap();
        assert_eq!(after, (true, true));
    }
}
