//! The changes of a manifest that an archive has not taken yet.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{LogPlace, StorePoint};
use crate::limits::WATCHED_CHANGES_MAX;
use crate::manifest::{Contents, Manifest};
use crate::write_ahead::WriteAhead;
use store::Result;

/// A change of the manifest: the schema, generations of column families, users and other metadata records.
pub struct ManifestChange {
    /// The number of the change since the archive began; the first one is 1.
    pub number: u64,
    contents: Contents,
}

impl ManifestChange {
    /// Returns the manifest after the change, without tables and log.
    ///
    /// # Errors
    /// If the manifest cannot be written as text.
    pub fn manifest(&self) -> Result<Vec<u8>> {
        Manifest::encode(&self.contents)
    }
}

/// Records the changes of a manifest.
pub(super) struct ManifestWatch {
    ahead: Arc<WriteAhead>,
    state: Mutex<ManifestWatchState>,
}

#[derive(Default)]
struct ManifestWatchState {
    is_on: bool,
    /// The number of changes since the archive began.
    count: u64,
    /// `None` if there were too many.
    changes: Option<Vec<ManifestChange>>,
}

impl ManifestWatch {
    pub(super) fn new(ahead: Arc<WriteAhead>) -> ManifestWatch {
        ManifestWatch { ahead, state: Mutex::default() }
    }

    /// Begins anew, or ends.
    pub(super) fn set_on(&self, is_on: bool) {
        *self.state.lock() = ManifestWatchState { is_on, count: 0, changes: Some(Vec::new()) };
    }

    /// Records a change that is durable and that no other thread has seen. Changes of tables and log are ignored.
    pub(super) fn record(&self, before: &Contents, after: &Contents) {
        let is_same = before.families == after.families
            && before.records == after.records
            && (&before.partitioner, &before.token) == (&after.partitioner, &after.token);
        let mut state = self.state.lock();
        if is_same || !state.is_on {
            return;
        }
        state.count += 1;
        let contents = Contents { log: None, tables: Default::default(), ..after.clone() };
        let change = ManifestChange { number: state.count, contents };
        match &mut state.changes {
            Some(changes) if changes.len() < WATCHED_CHANGES_MAX => changes.push(change),
            changes => *changes = None,
        }
    }

    pub(super) fn take(&self) -> Option<Vec<ManifestChange>> {
        self.state.lock().changes.as_mut().map(std::mem::take)
    }

    /// Returns the current state of the store. The lock keeps changes of the manifest away.
    pub(super) fn now(&self) -> StorePoint {
        let state = self.state.lock();
        let end = self.ahead.log().map(|log| log.end()).unwrap_or_default();
        StorePoint { place: LogPlace { segment: end.segment, offset: end.offset }, changes: state.count }
    }
}
