//! A simulated disk whose calls fail as planned, and which loses changes that were not synced.
//!
//! `FaultyDisk` forwards every call to a directory of the operating system, and stores what it needs to undo changes
//! that are not synced yet:
//!
//! ```text
//!   write_at, set_length    undone sector by sector, until the file is synced     sectors
//!   create, rename, remove  undone name by name, until the directory is synced    names
//! ```
//!
//! A crash test has three steps. The store runs until a numbered call of the disk and all later calls fail
//! (`Fault::CrashAt`). The store is dropped. `FaultyDisk::crash` changes the directory into a state that a killed
//! process or a power failure may leave. The disk can then be used again. Changes that a killed process had not synced
//! are still unsynced, so a later power failure may lose them.
//!
//! The tree library writes tables without the `Disk` trait and syncs them itself. This disk only simulates one effect
//! of its crashes, the files that no list of tables contains (`leftovers`).
#![allow(dead_code, unused_imports, reason = "every test binary uses its own part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod disk;
mod fault;
mod file;
mod leftovers;
mod names;
mod sectors;
mod tally;

pub use crate::support::Chance;
pub use disk::FaultyDisk;
pub use fault::{Crash, Fault};
pub use tally::Tally;

/// Returns a directory for a test. It is in memory if possible, where syncs are fast.
pub fn work_directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
