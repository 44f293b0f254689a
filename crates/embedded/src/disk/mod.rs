//! The disk of the embedded store: a few operations on files and directories, behind two traits.
//!
//! ```text
//!   Disk        create, open, read, rename, link, remove and list files; sync directories
//!   DiskFile    write at an offset, truncate, sync, and map the end of a file
//! ```
//!
//! `RealDisk` is the operating system's disk. Tests use a disk that loses data that was not synced, fails at the n-th
//! call, or is full. Files of tables do not go through these traits: the tree library writes a table, syncs it, and
//! then replaces a small file that lists the tables, so a crash leaves either the old tables or the new ones.

mod file;
mod mapping;
mod real;

pub use file::{Disk, DiskFile, FreeSpace, ReplaceError, replace};
pub use mapping::Mapping;
pub use real::RealDisk;
