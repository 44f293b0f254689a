//! The `thriftstore` program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of the allocator's option `purge_delay`: milliseconds until freed memory returns to the operating system.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
const PURGE_DELAY_MS: std::ffi::c_long = 10;
/// The default of the option. Another value means that the environment has set it, or that the number is of another
/// option.
const PURGE_DELAY_DEFAULT_MS: std::ffi::c_long = 1000;

fn main() -> ExitCode {
    use_small_pages();
    shorten_purge_delay();
    thriftstore::cli::run(&thriftstore::marshal::Types::builtin())
}

/// With the allocator's default delay of a second, freed buffers of large replies and newly allocated ones together
/// took 2 GB, although the limit of messages is 1 GB. With a shorter delay small requests are as fast, within the noise
/// of the measurement.
#[expect(unsafe_code, reason = "no crate wraps the allocator's options")]
fn shorten_purge_delay() {
    // SAFETY: The calls read and write one number, and no other thread runs yet.
    unsafe {
        if libmimalloc_sys::mi_option_get(PURGE_DELAY) == PURGE_DELAY_DEFAULT_MS {
            libmimalloc_sys::mi_option_set(PURGE_DELAY, PURGE_DELAY_MS);
        }
    }
}

/// Asks the kernel for pages of 4 KB only. The allocator asks for pages of 2 MB, of which an idle server uses a small
/// part: it took 26 MB instead of 20 after its first request. Reads, inserts and batches on a million columns are as
/// fast with small pages, within the noise of the measurement.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no crate wraps this call of the system")]
fn use_small_pages() {
    // SAFETY: The call sets a flag of the process, and takes no address. A kernel without the flag refuses it.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
}

/// Other systems have no such flag.
#[cfg(not(target_os = "linux"))]
fn use_small_pages() {}
