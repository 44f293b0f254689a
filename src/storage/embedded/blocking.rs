//! The permission to wait for the disk.
//!
//! What memory answers takes microseconds and runs on the thread that serves the connection, because handing it to
//! another thread costs more than it takes. Whatever reads tables asks for a `BlockingPermit`, which only threads have that
//! serve nobody else: so no read of the disk can happen on a thread that others wait for.

/// Columns of a slice from which on it counts as long, even if memory has them.
pub const LONG_SLICE: usize = 512;

/// The permission to wait for the disk.
#[derive(Debug)]
pub struct BlockingPermit(());

impl BlockingPermit {
    /// For a thread that serves nobody else: the start, the end, tools, and the store's own threads.
    pub const fn on_own_thread() -> BlockingPermit {
        BlockingPermit(())
    }
}
