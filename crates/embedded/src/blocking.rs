//! The permission to wait for the disk.
//!
//! A request that memory can answer takes microseconds. It runs on the thread that serves the connection, because
//! giving it to another thread would cost more. Functions that read tables take a `BlockingPermit`, which only threads
//! have that serve no connections. So no connection's thread can ever wait for the disk.

/// Columns above which a slice is long: it then runs on a disk thread even if memory has all columns.
pub(crate) const LONG_SLICE: usize = 512;

/// The permission to wait for the disk.
#[derive(Debug)]
pub(crate) struct BlockingPermit(());

impl BlockingPermit {
    /// Returns a permit. Only for threads that serve no connections: during start and shutdown, in tools, and for
    /// background threads.
    pub(crate) const fn on_own_thread() -> BlockingPermit {
        BlockingPermit(())
    }
}
