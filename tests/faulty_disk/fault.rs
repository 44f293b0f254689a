//! Faults: which call of a disk fails, and how.

use std::io::{self, ErrorKind};

/// The next fault of a disk. Calls are numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process or the machine crashes in this call. This call and all later ones fail, and nothing more reaches the
    /// directory.
    CrashAt(u64),
    /// This call fails. With `is_lasting`, all later calls that change something fail too.
    FailAt { call: u64, kind: ErrorKind, is_lasting: bool },
}

/// The kind of a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// The process is killed. All changes that reached the operating system survive.
    Kill,
    /// The machine loses power. Changes that were not synced may be lost.
    PowerFailure,
}

impl Crash {
    pub const ALL: [Crash; 2] = [Crash::Kill, Crash::PowerFailure];
}

/// Returns the error of every call after a crash.
pub fn crashed() -> io::Error {
    io::Error::other("the machine has crashed")
}

/// Returns the error of a failing call, with the error number of the operating system.
pub fn error_of(kind: ErrorKind) -> io::Error {
    match kind {
        ErrorKind::StorageFull => io::Error::from_raw_os_error(28),
        // EIO has no kind of its own.
        _ => io::Error::from_raw_os_error(5),
    }
}
