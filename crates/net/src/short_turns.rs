//! Asks the kernel to schedule the threads that serve clients in short time slices.
//!
//! If more threads are runnable than there are processors, Linux prefers the thread with the shorter requested slice.
//! When such a thread yields early, Linux charges it the slice that it has requested. A request takes microseconds, so
//! a short slice costs its thread nothing. With a long slice the thread would run after a busy client each time that it
//! offers its processor (`busy_poll`), and after each reply of that client.

#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "no crate wraps these calls of the system"))]

/// The slice in nanoseconds: the shortest that Linux allows.
#[cfg(target_os = "linux")]
const SLICE_NS: u64 = 100_000;

/// Requests short slices for the calling thread and for threads that it starts, unless the user has chosen another
/// scheduling policy. Linux before 6.12 accepts the call and ignores it.
#[cfg(target_os = "linux")]
pub fn request_short_slices() {
    let asked = scheduling().and_then(|now| {
        if now.sched_policy != libc::SCHED_OTHER.cast_unsigned() {
            return Ok(());
        }
        set_scheduling(libc::sched_attr { sched_runtime: SLICE_NS, ..now })
    });
    if let Err(error) = asked {
        tracing::debug!("cannot request short time slices: {error}");
    }
}

/// Does nothing: other systems have no such request.
#[cfg(not(target_os = "linux"))]
pub fn request_short_slices() {}

/// Returns the scheduling attributes of the calling thread.
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
    // SAFETY: The kernel writes to `found`, at most as many bytes as the size that it is given.
    let refused =
        unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut found, size_of_val(&found), 0) } != 0;
    if refused { Err(std::io::Error::last_os_error()) } else { Ok(found) }
}

#[cfg(target_os = "linux")]
fn set_scheduling(wanted: libc::sched_attr) -> std::io::Result<()> {
    // SAFETY: The kernel reads the attributes, which contain their size, and stores no address.
    let refused = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const wanted, 0) } != 0;
    if refused { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_the_slice_changes() {
        let (before, after) = std::thread::spawn(|| {
            let before = scheduling().unwrap();
            request_short_slices();
            (before, scheduling().unwrap())
        })
        .join()
        .unwrap();
        assert_eq!((before.sched_policy, before.sched_nice), (after.sched_policy, after.sched_nice));
        // Older kernels report no slice, and the test may run under another policy.
        let has_slices = before.sched_runtime > 0 && before.sched_policy == libc::SCHED_OTHER.cast_unsigned();
        assert!(!has_slices || after.sched_runtime == SLICE_NS, "{}", after.sched_runtime);
    }

    #[test]
    fn a_policy_chosen_by_the_user_is_kept() {
        let after = std::thread::spawn(|| {
            let now = scheduling().unwrap();
            set_scheduling(libc::sched_attr { sched_policy: libc::SCHED_BATCH.cast_unsigned(), ..now })
                .unwrap();
            let before = scheduling().unwrap();
            request_short_slices();
            let after = scheduling().unwrap();
            (before.sched_policy == after.sched_policy, before.sched_runtime == after.sched_runtime)
        })
        .join()
        .unwrap();
        assert_eq!(after, (true, true));
    }
}
