//! Work that may wait for the disk, on a thread that has other connections to serve.
//!
//! What memory answers takes microseconds and runs where it is asked, because handing it to another thread costs more
//! than it takes. What may wait for the disk, or read much, first lets the runtime move this thread's other connections
//! elsewhere. Whatever reads tables asks for a `MayWait`, which is only to be had there: so no read of the disk can
//! happen on a thread that others wait for.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Columns of a slice from which on it counts as long, even if memory has them.
pub const LONG_SLICE: usize = 512;

/// The permission to wait for the disk.
#[derive(Debug)]
pub struct MayWait(());

impl MayWait {
    /// For a thread that serves nobody else: the start, and the store's own threads.
    pub const fn on_own_thread() -> MayWait {
        MayWait(())
    }
}

/// Runs work that may wait, without holding up other connections.
pub fn waiting<T>(work: impl FnOnce(&MayWait) -> T) -> T {
    let has_others =
        Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if has_others { tokio::task::block_in_place(|| work(&MayWait(()))) } else { work(&MayWait(())) }
}
