//! Work that may take long, on a thread that has other connections to serve.
//!
//! The engine is synchronous. What it answers from memory in microseconds runs where it is asked, because
//! handing it to another thread costs more than it takes. What may read much or wait for the disk lets the
//! runtime move this thread's other connections elsewhere first.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Columns of a slice from which on it counts as long.
pub const LONG_SLICE: usize = 512;

/// Runs long work without holding up other connections.
pub fn long<T>(work: impl FnOnce() -> T) -> T {
    let has_others =
        Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if has_others { tokio::task::block_in_place(work) } else { work() }
}

/// Runs work that is long only sometimes.
pub fn long_if<T>(is_long: bool, work: impl FnOnce() -> T) -> T {
    if is_long { long(work) } else { work() }
}
