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
