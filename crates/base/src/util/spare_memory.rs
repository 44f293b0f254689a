//! Memory that is set aside for allocations that would fail.
//!
//! With a limit of data or of address space the operating system refuses memory, and a process ends whose allocation
//! fails. The budgets of requests and messages are smaller than the limit, but memory is not divided exactly: buffers
//! grow, and the allocator keeps what is free. If an allocation fails nevertheless, the allocator (crate `allocator`) frees the
//! spare memory and tries again, and if that fails or another allocation has spent it, waits for other requests to end. From then
//! on requests that need more memory are refused, until there is enough again to set it aside:
//!
//! ```text
//!   set_aside         limit  [ budgets .................................... | spare ]
//!   allocated_again          [ budgets .................................... + 4 MB  ]   requests are refused
//!   is_spent          requests have ended: the memory is set aside again, and requests are served
//! ```

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use super::allocation::buffer_of;
use super::process_memory;

/// The number of times that a failed allocation waits for other requests to free memory, and the length of each wait.
const WAITS: u32 = 50;
const WAIT: Duration = Duration::from_millis(20);

static SPARE: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// The size of the spare memory in bytes; 0 if the operating system sets no limit.
static BYTES: AtomicUsize = AtomicUsize::new(0);
static IS_SPENT: AtomicBool = AtomicBool::new(false);

/// Sets memory aside if the process has a limit of data or of address space.
pub fn set_aside() {
    BYTES.store(process_memory::spare_bytes(), Ordering::Relaxed);
    fill();
}

/// Repeats an allocation of `bytes` that has failed: with the spare memory, or while other requests free memory. Waits at
/// most a second. Returns null if the allocation still fails, at once if no limit is set or if it is larger than the spare
/// memory.
#[cold]
#[inline(never)]
pub fn allocated_again(bytes: usize, allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let mut waits = if bytes <= BYTES.load(Ordering::Relaxed) { WAITS } else { 0 };
    let mut pointer = if spend(bytes) { allocate() } else { ptr::null_mut() };
    while pointer.is_null() && waits > 0 {
        thread::sleep(WAIT);
        pointer = allocate();
        waits -= 1;
    }
    pointer
}

/// Frees the spare memory for an allocation of `bytes` that has failed. Returns whether the allocation may succeed now.
/// Allocates nothing.
fn spend(bytes: usize) -> bool {
    if bytes > BYTES.load(Ordering::Relaxed) || IS_SPENT.swap(true, Ordering::Relaxed) {
        return false;
    }
    // The lock is only taken elsewhere by a thread that allocates the spare memory.
    SPARE.try_lock().is_some_and(|mut spare| std::mem::take(&mut *spare).capacity() > 0)
}

/// Returns whether the spare memory is used. Tries to set it aside again.
pub fn is_spent() -> bool {
    IS_SPENT.load(Ordering::Relaxed) && !fill()
}

/// Allocates the spare memory. Its pages are not touched, so they take no physical memory.
fn fill() -> bool {
    let Some(mut spare) = SPARE.try_lock() else { return false };
    let Ok(buffer) = buffer_of(BYTES.load(Ordering::Relaxed)) else { return false };
    *spare = buffer;
    IS_SPENT.store(false, Ordering::Relaxed);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_memory_is_spent_once_and_set_aside_again() {
        assert!(!spend(1) && !is_spent(), "no limit, nothing is set aside");
        IS_SPENT.store(false, Ordering::Relaxed);
        BYTES.store(1 << 20, Ordering::Relaxed);
        assert!(fill());
        assert!(!spend(1 << 21), "more than all of it");
        assert!(spend(1 << 20) && IS_SPENT.load(Ordering::Relaxed));
        assert!(!spend(1), "there is no more");
        assert!(!is_spent() && spend(1));
        BYTES.store(0, Ordering::Relaxed);
        assert!(fill());
    }

    #[test]
    fn an_allocation_that_no_limit_refuses_is_not_repeated() {
        let tries = AtomicUsize::new(0);
        let fails = || {
            tries.fetch_add(1, Ordering::Relaxed);
            ptr::null_mut()
        };
        assert!(allocated_again(usize::MAX, fails).is_null());
        assert_eq!(tries.into_inner(), 0);
    }
}
