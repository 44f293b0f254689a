//! The sweeper: removes deletions that are older than gc_grace, and the entries that they shadow.
//!
//! The tombstone of a cell shadows only that cell, so compaction drops it when it merges the tombstone's table. The
//! deletion of a row or super column, or a range tombstone, shadows other entries, which must be removed first. So each
//! of them is queued when it is stored. The sweeper removes the entries that a row's or super column's deletion shadows
//! some minutes later, and the deletion itself after gc_grace.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::blocking::BlockingPermit;
use super::deletion_queue::QueuedDeletion;
use super::key::{self, RANGES, ROW_MARKER, RowPrefix};
use super::locks::HeldRows;
use super::log::ChangeList;
use super::manifest::Manifest;
use super::range_shadow::shadowed_by_ranges;
use super::row_cache::RowId;
use super::row_source::RowSource;
use super::tables::gc_before;
use super::value::{self, Value};
use super::write_batch::{Cached, WriteBatch};
use super::write_path::WritePath;
use base::model::DeletionTime;
use base::schema::CfDef;
use store::{Result, StoreError};

/// Entries removed in one batch, while the row is locked.
const SWEEP_BATCH: usize = 1000;
/// Queued deletions processed by one call of `sweep`.
const DUE_BATCH: usize = 256;

/// The parts of the store that the sweeper uses.
pub(crate) struct Sweeper {
    pub write: Arc<WritePath>,
    pub manifest: Arc<Manifest>,
}

impl Sweeper {
    /// Processes deletions that are due. Returns how many there were.
    pub(crate) fn sweep(&self, may_wait: &BlockingPermit) -> Result<usize> {
        let now_s = i64::from(self.write.clock.now_s());
        let due = self.write.queue.due(&self.write.read.view(), may_wait, now_s, DUE_BATCH)?;
        for deletion in &due {
            self.sweep_one(deletion, may_wait)?;
        }
        Ok(due.len())
    }

    fn sweep_one(&self, queued: &QueuedDeletion, may_wait: &BlockingPermit) -> Result<()> {
        let read = &self.write.read;
        let Some(family) = read.families.now().by_id(queued.family).cloned() else {
            return self.sweep_undefined(queued);
        };
        let Some(row) = RowPrefix::of_entry(&queued.marker, &*read.partitioner) else {
            return Err(StoreError::Corrupt("a queued deletion belongs to no row".to_owned()));
        };
        let row_key = row.row_key(&*read.partitioner)?;
        let marker = queued.marker.slice(row.as_bytes().len()..);
        // Computed once, so that a gc_grace that passes meanwhile does not lead to contradictory decisions.
        let gc_grace_s = family.tables.load().gc_grace_s.load(Ordering::Relaxed);
        let gc_before_s = i64::from(gc_before(&self.write.clock, gc_grace_s));
        loop {
            let rows = read.locks.lock_one(&row_key);
            // Loaded under the lock, since a truncate replaces the tables.
            let tables = family.tables.load_full();
            let view = read.view();
            let source = RowSource::stored(&tables, &view, &row, Some(may_wait));
            let swept = if marker.starts_with(RANGES) {
                sweep_range(&source, &family.definition.load(), &marker, gc_before_s)?
            } else {
                sweep_deletion(&source, &marker)?
            };
            let id = RowId { family: tables.number, key: row_key.clone() };
            let has_more = swept.shadowed.len() == SWEEP_BATCH;
            self.apply(queued, id, &row, swept, gc_before_s, gc_grace_s, &rows)?;
            if !has_more {
                return Ok(());
            }
        }
    }

    /// Applies the changes for a deletion, and removes it from the queue or queues it for later.
    fn apply(
        &self,
        queued: &QueuedDeletion,
        id: RowId,
        row: &RowPrefix,
        swept: SweepAction,
        gc_before_s: i64,
        gc_grace_s: i32,
        rows: &HeldRows<'_>,
    ) -> Result<()> {
        assert!(swept.shadowed.len() <= SWEEP_BATCH, "a full batch would be taken for the last one");
        let kept = swept.made_at_s.map(i64::from).filter(|made_at_s| *made_at_s > gc_before_s);
        let mut changes = swept.shadowed;
        let mut batch = WriteBatch::default();
        if changes.len() < SWEEP_BATCH {
            self.write.queue.remove(&mut batch, queued);
            match kept {
                Some(made_at_s) => {
                    let gone_s = made_at_s + i64::from(gc_grace_s);
                    self.write.queue.add(&mut batch, gone_s, queued.family, &queued.marker);
                }
                None => changes.append(&swept.at_last),
            }
        }
        let number = id.family;
        let cached = self.write.read.row_cache.get(&id).map(|row| Cached { id, row });
        batch.add(number, row, changes, cached);
        self.write.commit(batch, rows)
    }

    /// Processes a deletion whose column family is not defined. If it was dropped, the deletion is removed from the
    /// queue, since its data is gone. Otherwise the column family may be defined again, so the deletion is due again
    /// after a day.
    fn sweep_undefined(&self, queued: &QueuedDeletion) -> Result<()> {
        let contents = self.manifest.contents();
        let is_dropped = contents.family_of_id(queued.family).is_some_and(|(_, record)| record.is_dropped);
        let mut batch = WriteBatch::default();
        self.write.queue.remove(&mut batch, queued);
        if !is_dropped {
            let tomorrow_s = i64::from(self.write.clock.now_s()) + 86_400;
            self.write.queue.add(&mut batch, tomorrow_s, queued.family, &queued.marker);
        }
        // The queue has no rows that clients write.
        let rows = self.write.read.locks.lock(std::iter::empty());
        self.write.commit(batch, &rows)
    }
}

/// The changes that a deletion requires.
#[derive(Default)]
struct SweepAction {
    /// Removals of shadowed entries. If there are `SWEEP_BATCH`, more may follow.
    shadowed: ChangeList,
    /// The changes to the deletion itself, to apply after gc_grace when no shadowed entries are left.
    at_last: ChangeList,
    /// The local deletion time, if the deletion still exists.
    made_at_s: Option<i32>,
}

fn removals(keys: Vec<Vec<u8>>) -> ChangeList {
    let mut changes = ChangeList::default();
    keys.iter().for_each(|key| changes.add(key, None));
    changes
}

/// Returns the changes for the deletion of a row or super column.
fn sweep_deletion(source: &RowSource<'_>, marker: &Bytes) -> Result<SweepAction> {
    let (deletion, kept_name) = source.deletion_and_name_at(marker)?;
    let shadowed = find_shadowed(source, marker, deletion)?;
    let mut at_last = ChangeList::default();
    if let (Some(name), true) = (kept_name, shadowed.has_live_entries) {
        // This entry stores the name of the super column, which has live columns.
        at_last.add(marker, Some(&value::encode_deletion(DeletionTime::LIVE, Some(&name))));
    } else if deletion != DeletionTime::LIVE {
        // The entry of the row's deletion is still needed if the row has range tombstones.
        let has_ranges = marker[..] == *ROW_MARKER && !source.row_deletions()?.1.is_empty();
        let left = has_ranges.then(|| value::encode_deletion_with_ranges(DeletionTime::LIVE));
        at_last.add(marker, left.as_deref());
    }
    let made_at_s = Some(deletion.local_deletion_time);
    Ok(SweepAction { shadowed: removals(shadowed.keys), at_last, made_at_s })
}

/// Returns the changes for a range tombstone. After gc_grace, first the shadowed cells and then the tombstone are
/// removed. Until then nothing is removed.
fn sweep_range(source: &RowSource<'_>, cf: &CfDef, marker: &Bytes, gc_before_s: i64) -> Result<SweepAction> {
    let (deletion, ranges) = source.row_deletions()?;
    let Some(range) = ranges.iter().find(|range| key::range(range)[..] == marker[..]) else {
        return Ok(SweepAction::default());
    };
    let made_at_s = range.deletion.local_deletion_time;
    let mut swept = SweepAction { made_at_s: Some(made_at_s), ..SweepAction::default() };
    if i64::from(made_at_s) > gc_before_s {
        return Ok(swept);
    }
    swept.shadowed = removals(shadowed_by_ranges(source, &ranges, cf, SWEEP_BATCH)?);
    swept.at_last.add(marker, None);
    if ranges.len() == 1 {
        let left = (deletion != DeletionTime::LIVE).then(|| value::encode_deletion(deletion, None));
        swept.at_last.add(ROW_MARKER, left.as_deref());
    }
    Ok(swept)
}

/// The entries after a deletion.
struct ShadowedData {
    /// Keys of shadowed cells, at most `SWEEP_BATCH`.
    keys: Vec<Vec<u8>>,
    /// Whether there are entries that are not shadowed.
    has_live_entries: bool,
}

/// Finds the cells that a deletion shadows.
fn find_shadowed(source: &RowSource<'_>, marker: &[u8], deletion: DeletionTime) -> Result<ShadowedData> {
    // The key of a deletion ends in the tag 00. The entries that it can shadow have 01 there.
    let mut low = marker.to_vec();
    if let Some(tag) = low.last_mut() {
        *tag = 1;
    }
    let mut high = low.clone();
    key::increment(&mut high);
    let mut found = ShadowedData { keys: Vec::new(), has_live_entries: false };
    for entry in source.entries(&low, &high, false) {
        let (key, value) = entry?;
        let is_shadowed = match value::decode(value)? {
            Value::Cell { timestamp, .. } => deletion.shadows(timestamp),
            Value::Deletion { .. } | Value::Range(_) | Value::Pointer => false,
        };
        if is_shadowed {
            found.keys.push(key.as_slice().to_vec());
            if found.keys.len() == SWEEP_BATCH {
                break;
            }
        } else {
            found.has_live_entries = true;
        }
    }
    Ok(found)
}
