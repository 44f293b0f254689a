//! Changes that are made together: all or none of them survive a crash.

use std::sync::Arc;

use smallvec::SmallVec;

use super::key::RowPrefix;
use super::log::{ChangeList, RecordBuilder, RowRecord, SealedRecord};
use super::row_cache::{CachedRow, RowId};
use crate::storage::StoreError;

/// A row in the row cache.
pub struct Cached {
    pub id: RowId,
    pub row: Arc<CachedRow>,
}

/// Changes in the making, to any rows of any column families.
#[derive(Default)]
pub struct BatchBuilder {
    record: RecordBuilder,
    cached: SmallVec<[Option<Cached>; 1]>,
}

/// Changes that are ready to be written.
pub struct WriteBatch {
    pub record: SealedRecord,
    /// For each row of the record, the row in the cache, if it is there.
    cached: SmallVec<[Option<Cached>; 1]>,
}

impl WriteBatch {
    /// Its rows, each with the row in the cache.
    pub fn rows(&self) -> impl Iterator<Item = (RowRecord<'_>, Option<&Cached>)> {
        self.record.rows().zip(self.cached.iter().map(Option::as_ref))
    }
}

impl BatchBuilder {
    /// Adds changes to a row of a generation of a column family, if there are any.
    pub fn add(&mut self, family: u64, row: &RowPrefix, changes: &ChangeList, cached: Option<Cached>) {
        if !changes.is_empty() {
            self.record.row(family, row.as_bytes(), changes);
            self.cached.push(cached);
        }
    }

    /// The batch; `None` when nothing changes.
    pub fn finish(self) -> Result<Option<WriteBatch>, StoreError> {
        if self.record.is_empty() {
            return Ok(None);
        }
        Ok(Some(WriteBatch { record: self.record.seal()?, cached: self.cached }))
    }
}
