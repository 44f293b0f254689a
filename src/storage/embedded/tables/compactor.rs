//! The thread that merges tables.

use std::sync::Arc;
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use parking_lot::Mutex;

use super::space::TableSpace;
use crate::storage::StoreError;

/// Time between two looks at the trees, beside being told of a flush.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Time after a failure until the next attempt: a disk that was full may have room then.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// The thread, and the way to wake it.
pub struct Compactor {
    thread: Thread,
    handle: Mutex<Option<JoinHandle<()>>>,
    space: Arc<TableSpace>,
}

impl Compactor {
    /// Starts the thread. After each round of compactions `report` gets the most runs that a tree has not merged yet, or
    /// the error that a compaction has ended with.
    pub fn start(
        space: Arc<TableSpace>,
        report: impl Fn(&Result<usize, StoreError>) + Send + 'static,
    ) -> Result<Compactor, StoreError> {
        let of_thread = space.clone();
        let handle = std::thread::Builder::new()
            .name("compaction".to_owned())
            .spawn(move || run(&of_thread, &report))
            .map_err(|error| StoreError::Io(format!("cannot start the compaction thread: {error}")))?;
        Ok(Compactor { thread: handle.thread().clone(), handle: Mutex::new(Some(handle)), space })
    }

    /// Lets the thread look: a tree has another run of tables.
    pub fn wake(&self) {
        self.thread.unpark();
    }

    /// Gives up the compaction under way and ends the thread.
    pub fn stop(&self) {
        self.space.close();
        self.wake();
        if let Some(handle) = self.handle.lock().take()
            && handle.join().is_err()
        {
            tracing::error!("the compaction thread has panicked");
        }
    }
}

fn run(space: &TableSpace, report: &dyn Fn(&Result<usize, StoreError>)) {
    while !space.is_closing() {
        let outcome = compact_all_trees(space);
        if space.is_closing() {
            return;
        }
        let rest = match &outcome {
            Ok(true) => None,
            Ok(false) => Some(LOOK_EVERY),
            Err(error) => {
                tracing::error!("tables were not merged: {error}");
                Some(RETRY_AFTER)
            }
        };
        report(&outcome.map(|_| space.unmerged_runs()));
        if let Some(rest) = rest {
            std::thread::park_timeout(rest);
        }
    }
}

/// One compaction of each tree that wants one. Returns whether there was any.
fn compact_all_trees(space: &TableSpace) -> Result<bool, StoreError> {
    let mut has_worked = false;
    for tree in space.trees() {
        if space.is_closing() {
            return Ok(false);
        }
        if !tree.is_forgotten() {
            has_worked |= tree.name().guarded(|| tree.compact_once(space))?;
        }
    }
    Ok(has_worked)
}
