//! The time limits of requests, by kind.

use std::num::NonZeroU64;
use std::sync::Arc;

use super::request_memory::RequestMemory;
use crate::util::process_memory;

/// The kinds of requests that have separate time limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// Reads of rows by their keys.
    Read,
    /// Scans of rows, and lookups by an index.
    Range,
    /// Writes, including conditional ones and batches.
    Write,
    /// TRUNCATE, and `truncate` of Thrift.
    Truncate,
}

/// Time limits of requests in milliseconds. `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeLimits {
    /// The limit of [`RequestKind::Read`].
    pub read_ms: Option<NonZeroU64>,
    /// The limit of [`RequestKind::Range`].
    pub range_ms: Option<NonZeroU64>,
    /// The limit of [`RequestKind::Write`].
    pub write_ms: Option<NonZeroU64>,
    /// The limit of [`RequestKind::Truncate`].
    pub truncate_ms: Option<NonZeroU64>,
}

impl TimeLimits {
    /// Sets the same limit for reads, scans and writes, like RpcTimeoutInMillis. 0 means no limit.
    pub fn of_all(limit_ms: u64) -> TimeLimits {
        let limit = NonZeroU64::new(limit_ms);
        TimeLimits { read_ms: limit, range_ms: limit, write_ms: limit, truncate_ms: None }
    }

    pub(super) fn of(&self, kind: RequestKind) -> Option<NonZeroU64> {
        match kind {
            RequestKind::Read => self.read_ms,
            RequestKind::Range => self.range_ms,
            RequestKind::Write => self.write_ms,
            RequestKind::Truncate => self.truncate_ms,
        }
    }
}

/// The memory and time limits of the requests of all ports.
#[derive(Debug, Clone)]
pub struct RequestLimits {
    /// The memory that all requests together may hold.
    pub memory: Arc<RequestMemory>,
    /// The time limit of each request.
    pub times: TimeLimits,
}

impl Default for RequestLimits {
    /// Returns a part of the memory that the process may use, without time limits.
    fn default() -> RequestLimits {
        let memory = Arc::new(RequestMemory::new(process_memory::for_requests(0)));
        RequestLimits { memory, times: TimeLimits::default() }
    }
}
