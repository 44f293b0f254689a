//! The `thriftstore` program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of the allocator's option `purge_delay`: milliseconds until freed memory goes back to the operating system.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
const PURGE_DELAY_MS: std::ffi::c_long = 10;
/// What it is unless somebody sets it. Another value means that it is set by the environment, or is another option.
const PURGE_DELAY_DEFAULT_MS: std::ffi::c_long = 1000;

fn main() -> ExitCode {
    give_freed_memory_back_soon();
    thriftstore::cli::run(&thriftstore::marshal::Types::builtin())
}

/// Within the allocator's own delay of a second, buffers of large replies that were freed and others that were allocated
/// took 2 GB together where the limit of messages is one. With a shorter delay small requests are as
/// fast, within the noise of the measurement.
#[expect(unsafe_code, reason = "no crate wraps the allocator's options")]
fn give_freed_memory_back_soon() {
    // SAFETY: The calls read and write one number, and no other thread runs yet.
    unsafe {
        if libmimalloc_sys::mi_option_get(PURGE_DELAY) == PURGE_DELAY_DEFAULT_MS {
            libmimalloc_sys::mi_option_set(PURGE_DELAY, PURGE_DELAY_MS);
        }
    }
}
