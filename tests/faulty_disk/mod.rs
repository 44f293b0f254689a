//! A disk whose calls fail as planned, and which loses what was not synced.
//!
//! `FaultyDisk` passes every call on to a directory of the operating system and stores what it needs to undo the calls
//! that no sync has made durable:
//!
//! ```text
//!   write_at, set_length    undone page by page, until the file is synced         pages
//!   create, rename, remove  undone name by name, until the directory is synced    names
//! ```
//!
//! A crash test runs three steps: the store runs until a numbered call of the disk fails, and with it every later call
//! (`Fault::CrashAt`); the store is dropped; `FaultyDisk::crash` turns the directory into one that a killed process or
//! a power failure may leave. The same disk can then be used again: what a killed process had not synced is still
//! unsynced, and a later power failure may take it.
//!
//! The tree library writes tables without the trait and syncs them itself. Of its crashes this disk only makes the
//! leftovers (`leftovers`): files that no tree lists.
#![allow(dead_code, unused_imports, reason = "every test binary uses its own part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod disk;
mod fault;
mod file;
mod leftovers;
mod names;
mod pages;
mod tally;

pub use crate::support::Chance;
pub use disk::FaultyDisk;
pub use fault::{Crash, Fault};
pub use tally::Tally;

/// A directory for a test: in memory where there is such a place, so that syncs cost nothing.
pub fn work_directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
