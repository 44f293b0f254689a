//! The allocator of a program that depends on this crate.
//!
//! Small allocations come from mimalloc. A limit of data (`ulimit -d`) or of address space counts what is reserved:
//! mimalloc keeps what is freed, in pieces that do not fit the next large buffer, and with 200 MiB in use it had
//! reserved all of 512 MiB. So under such a limit the operating system allocates large buffers and takes them back at
//! once:
//!
//! ```text
//!                      no limit        a limit
//!   below LARGE        mimalloc        mimalloc
//!   LARGE and more     mimalloc        mmap, mremap, munmap
//! ```
//!
//! If an allocation fails nevertheless, `or_again` frees the spare memory, waits, and tries again.
//!
//! It is a crate of its own because every request allocates, and the build of `./serve` does not optimize the program.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

mod mapped_buffer;

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, Ordering};

use base::util::{process_memory, spare_memory};
use mimalloc::MiMalloc;

/// Bytes of the smallest large buffer. Smaller ones would lose too much of their last page.
const LARGE: usize = 128 * 1024;
/// The smallest page of any machine. The operating system aligns buffers to pages.
const PAGE: usize = 4096;

/// Whether the operating system allocates large buffers. Set before the first of them, and not changed afterwards: what
/// it has allocated, it must free.
static IS_LIMITED: AtomicBool = AtomicBool::new(false);

/// The number of the allocator's option `purge_delay`: milliseconds until freed memory returns to the operating system.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
const PURGE_DELAY_MS: std::ffi::c_long = 10;
/// The default of the option. Another value means that the environment has set it, or that the number is of another
/// option.
const PURGE_DELAY_DEFAULT_MS: std::ffi::c_long = 1000;

/// The number of the allocator's option `arena_eager_commit`: whether memory that is reserved for later may be used at
/// once, and so counts for a limit of data. Its default is 2: depending on the system.
const EAGER_COMMIT: libmimalloc_sys::mi_option_t = 4;
const EAGER_COMMIT_DEFAULT: std::ffi::c_long = 2;

#[global_allocator]
static ALLOCATOR: SparingAllocator = SparingAllocator;

/// The allocator of the program.
struct SparingAllocator;

#[expect(unsafe_code, reason = "the trait of allocators is unsafe")]
// SAFETY: Each method passes its arguments on until it succeeds, and returns the result. Size and alignment decide to
// which allocator an allocation belongs. Freeing the spare memory, whose allocation has no other user, and sleeping
// neither allocate nor unwind.
unsafe impl GlobalAlloc for SparingAllocator {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout.align()) {
            return or_again(layout.size(), || mapped_buffer::map(layout.size()));
        }
        // SAFETY: The caller's.
        or_again(layout.size(), || unsafe { MiMalloc.alloc(layout) })
    }

    #[inline(always)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout.align()) {
            return or_again(layout.size(), || mapped_buffer::map(layout.size()));
        }
        // SAFETY: The caller's.
        or_again(layout.size(), || unsafe { MiMalloc.alloc_zeroed(layout) })
    }

    #[inline(always)]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (was_large, is_large) = (is_large(layout.size(), layout.align()), is_large(size, layout.align()));
        if was_large != is_large {
            // SAFETY: The caller's.
            return unsafe { self.move_buffer(pointer, layout, size) };
        }
        // SAFETY: The caller's. A failed call leaves the allocation as it was.
        or_again(size, || unsafe {
            if is_large {
                mapped_buffer::remap(pointer, layout.size(), size)
            } else {
                MiMalloc.realloc(pointer, layout, size)
            }
        })
    }

    #[inline(always)]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: The caller's.
        unsafe {
            if is_large(layout.size(), layout.align()) {
                mapped_buffer::unmap(pointer, layout.size());
            } else {
                MiMalloc.dealloc(pointer, layout);
            }
        }
    }
}

impl SparingAllocator {
    /// Moves an allocation to the other allocator. If that has no memory, the allocation stays as it was, and null is
    /// returned.
    #[cold]
    #[expect(unsafe_code, reason = "the caller's pointer is copied from")]
    unsafe fn move_buffer(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: The caller of `realloc` promises a size that is valid with this alignment, and a pointer to
        // `layout.size()` bytes. The new allocation has `size` bytes and overlaps no other.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                std::ptr::copy_nonoverlapping(pointer, moved, layout.size().min(size));
                self.dealloc(pointer, layout);
            }
            moved
        }
    }
}

#[inline(always)]
fn is_large(bytes: usize, alignment: usize) -> bool {
    bytes >= LARGE && IS_LIMITED.load(Ordering::Relaxed) && alignment <= PAGE
}

/// Runs an allocation, and runs it again with the spare memory if it fails.
#[inline(always)]
fn or_again(bytes: usize, allocate: impl Fn() -> *mut u8) -> *mut u8 {
    let pointer = allocate();
    if pointer.is_null() { spare_memory::allocated_again(bytes, || collected(&allocate)) } else { pointer }
}

/// Runs an allocation after the allocator has collected what other threads have freed of this thread's memory: it does
/// that only when the thread allocates, and the thread waits.
#[cold]
#[expect(unsafe_code, reason = "no crate wraps this function of the allocator")]
fn collected(allocate: impl Fn() -> *mut u8) -> *mut u8 {
    // SAFETY: The call takes no address, and frees nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) };
    allocate()
}

/// Prepares the allocator, before other threads run.
///
/// With the allocator's default delay of a second, freed buffers of large replies and newly allocated ones together
/// took 2 GB, although the limit of messages is 1 GB. With a shorter delay small requests are as fast, within the noise
/// of the measurement.
///
/// The allocator reserves 128 MB at a time under a limit of data. The first such part exists already; of the next ones
/// only what is used should count for the limit.
pub fn prepare() {
    IS_LIMITED.store(process_memory::refuses(), Ordering::Relaxed);
    set_option(PURGE_DELAY, PURGE_DELAY_DEFAULT_MS, PURGE_DELAY_MS);
    set_option(EAGER_COMMIT, EAGER_COMMIT_DEFAULT, 0);
    spare_memory::set_aside();
}

/// Sets an option of the allocator that has its default.
#[expect(unsafe_code, reason = "no crate wraps the allocator's options")]
fn set_option(option: libmimalloc_sys::mi_option_t, default: std::ffi::c_long, value: std::ffi::c_long) {
    // SAFETY: The calls read and write one number, and no other thread runs yet.
    unsafe {
        if libmimalloc_sys::mi_option_get(option) == default {
            libmimalloc_sys::mi_option_set(option, value);
        }
    }
}
