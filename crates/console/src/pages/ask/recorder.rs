//! A database that records what a request reads, and discards what it writes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::limits::{ASK_BYTES_MAX, ASK_CELLS_MAX, ASK_REQUESTS_MAX};
use db::Database;
use store::{ReadCell, RecordingLimits, RecordingStore, StoreRequest};

/// Records a request.
pub(super) struct RequestRecorder {
    /// The same schema over a store that records.
    pub database: Arc<Database>,
    store: Arc<RecordingStore>,
    began: Instant,
}

/// The reads of a request.
pub(super) struct Recorded {
    /// The first requests to the store.
    pub requests: Vec<StoreRequest>,
    /// The number of all requests to the store.
    pub requests_made: usize,
    /// The first cells that were read.
    pub cells: Vec<ReadCell>,
    /// The number of all cells that were read.
    pub cells_read: usize,
    pub tombstones: u64,
    pub time: Duration,
}

impl RequestRecorder {
    pub(super) fn new(database: &Database) -> RequestRecorder {
        let limits =
            RecordingLimits { requests: ASK_REQUESTS_MAX, cells: ASK_CELLS_MAX, cell_bytes: ASK_BYTES_MAX };
        let store = Arc::new(RecordingStore::new(database.store().clone()).with_limits(limits));
        let database = Arc::new(database.with_store(store.clone()));
        RequestRecorder { database, store, began: Instant::now() }
    }

    /// Returns the requests and cells that were recorded until now.
    pub(super) fn recorded(&self) -> Recorded {
        Recorded {
            requests: self.store.take(),
            requests_made: self.store.requests_made(),
            cells: self.store.take_cells(),
            cells_read: self.store.cells_read(),
            tombstones: self.store.tombstones_passed(),
            time: self.began.elapsed(),
        }
    }
}
