//! Faults: which call of a disk fails, and how.

use std::io::{self, ErrorKind};

/// The next fault of a disk. Calls are numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process or the machine stops in this call: it and all later ones fail, and nothing more reaches the
    /// directory.
    CrashAt(u64),
    /// This call fails, and with `is_lasting` all later ones that change something.
    FailAt { call: u64, kind: ErrorKind, is_lasting: bool },
}

/// How a store ends in the middle of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// The process is killed: what has reached the operating system stays.
    Kill,
    /// The machine loses its power: what was not synced may be lost.
    PowerFailure,
}

impl Crash {
    pub const ALL: [Crash; 2] = [Crash::Kill, Crash::PowerFailure];
}

/// What every call returns after a crash.
pub fn crashed() -> io::Error {
    io::Error::other("the machine has crashed")
}

/// The error of a failing call, as the operating system returns it.
pub fn error_of(kind: ErrorKind) -> io::Error {
    match kind {
        ErrorKind::StorageFull => io::Error::from_raw_os_error(28),
        // EIO has no kind of its own.
        _ => io::Error::from_raw_os_error(5),
    }
}
