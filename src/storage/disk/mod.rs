//! The disk as the embedded store uses it: few operations on files and directories, behind two traits.
//!
//! ```text
//!   Disk        create, open, read, rename, link, remove and list files; sync directories
//!   DiskFile    write at an offset, cut, sync, and map the end of a file as memory
//! ```
//!
//! `RealDisk` is the operating system's. Tests use one that loses what was not synced, fails at the n-th call, or is
//! full. The tables' own files are the tree library's: it writes a table, syncs it, and then replaces a small file that
//! names the tables, so a crash shows the tables from before or those from after.

mod file;
mod mapping;
mod real;

pub use file::{Disk, DiskFile, FreeSpace, ReplaceError, replace};
pub use mapping::Mapping;
pub use real::RealDisk;
