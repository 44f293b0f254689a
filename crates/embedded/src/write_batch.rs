//! A batch: changes that survive a crash all together or not at all.

use std::sync::Arc;

use smallvec::SmallVec;

use super::key::RowPrefix;
use super::log::{ChangeList, RecordBuilder};
use super::row_cache::{CachedRow, RowId};

/// A row in the row cache, with its id.
pub(crate) struct Cached {
    pub id: RowId,
    pub row: Arc<CachedRow>,
}

/// Changes to rows of any column families.
#[derive(Default)]
pub(crate) struct WriteBatch {
    pub record: RecordBuilder,
    /// For each row of the record, the cached row if there is one.
    pub cached: SmallVec<[Option<Cached>; 1]>,
}

impl WriteBatch {
    /// Adds changes to a row of a generation of a column family, if there are any.
    pub(crate) fn add(&mut self, family: u64, row: &RowPrefix, changes: ChangeList, cached: Option<Cached>) {
        if !changes.is_empty() {
            debug_assert!(
                self.cached.len() == self.record.rows(),
                "a cached row would get the changes of another one"
            );
            self.record.row(family, row.as_bytes(), changes);
            self.cached.push(cached);
        }
    }
}
