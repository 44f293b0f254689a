//! Snapshots of stores. Only the kind of store that took a snapshot can read its content.

use std::any::Any;
use std::collections::HashSet;
use std::sync::Arc;

/// A part of a snapshot's rows, which snapshots may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotPart {
    /// Snapshots that share a part have the same id for it.
    pub id: usize,
    /// The approximate memory of the part, in bytes.
    pub bytes: usize,
}

/// The content of a snapshot, in the form of its store.
pub trait SnapshotContent: Any + Send + Sync {
    /// Returns the parts of the rows.
    fn parts(&self) -> Vec<SnapshotPart>;
}

/// The rows, column families and metadata records of a store at one time. A clone shares them.
#[derive(Clone)]
pub struct StoreSnapshot(Arc<dyn SnapshotContent>);

impl StoreSnapshot {
    /// Creates a snapshot with this content.
    pub fn new(content: impl SnapshotContent) -> StoreSnapshot {
        StoreSnapshot(Arc::new(content))
    }

    /// Returns the content. `None` if another kind of store took the snapshot.
    pub fn content<T: SnapshotContent>(&self) -> Option<&T> {
        let content: &dyn Any = &*self.0;
        content.downcast_ref()
    }

    /// Returns the approximate memory of the rows of several snapshots, in bytes. Rows that they share are counted once.
    pub fn bytes_of<'a>(snapshots: impl Iterator<Item = &'a StoreSnapshot>) -> usize {
        let mut seen = HashSet::new();
        let parts = snapshots.flat_map(|snapshot| snapshot.0.parts());
        parts.filter(|part| seen.insert(part.id)).map(|part| part.bytes).sum()
    }
}
