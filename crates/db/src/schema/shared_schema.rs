//! The knowledge of a server about the metadata records that it shares with others.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicI64;
use std::time::Instant;

use parking_lot::Mutex;

use crate::Result;

/// A check of the metadata records: when it began, and its outcome.
pub(super) struct SchemaRefresh {
    pub(super) began: Instant,
    pub(super) outcome: Result<()>,
}

/// The state of the metadata records that this server shares with others.
pub(crate) struct SharedSchema {
    /// The version of the records that were loaded last.
    pub(super) version: AtomicI64,
    /// The last check on behalf of requests. The request that checks holds the lock; requests that wait for it use
    /// its result if it is recent enough.
    pub(super) last_look: tokio::sync::Mutex<Option<SchemaRefresh>>,
    /// The pending drops among the records that were loaded last.
    pub(super) marks: Mutex<Vec<String>>,
    /// The keyspaces among those records that could not be read.
    pub(super) unread: Mutex<BTreeSet<String>>,
}

impl Default for SharedSchema {
    fn default() -> SharedSchema {
        SharedSchema {
            version: AtomicI64::new(i64::MIN),
            last_look: tokio::sync::Mutex::default(),
            marks: Mutex::default(),
            unread: Mutex::default(),
        }
    }
}

impl SharedSchema {
    /// Returns the records of pending drops.
    pub(super) fn marks(&self) -> Vec<String> {
        self.marks.lock().clone()
    }
}
