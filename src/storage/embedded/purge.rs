//! Forgets tombstones that gc_grace no longer keeps.
//!
//! A tombstone of a cell stands alone, so the engine's compaction drops it when it comes by. The deletion of a
//! row or super column shadows other entries, which must go first: each is queued when it is made, and a
//! sweeper takes away what it shadows a little later, and the deletion itself after gc_grace.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use bytes::Bytes;
use lsm_tree::compaction::filter::{CompactionFilter, Context, Factory, ItemAccessor, Verdict};

use super::engine_batch::EngineBatch;
use super::family::Trees;
use super::inner::Inner;
use super::key::{self, RANGES, ROW_MARKER, RowPrefix};
use super::ledger::QueuedDeletion;
use super::range_shadow::shadowed_by_ranges;
use super::row_cache::RowId;
use super::row_source::RowSource;
use super::value::{self, Value};
use crate::model::DeletionTime;
use crate::storage::StoreError;
use crate::util::Clock;

/// Entries removed in one engine batch, under one hold of the row's lock.
const SWEEP_BATCH: usize = 1000;
/// Queued deletions looked at in one go.
const DUE_BATCH: usize = 256;

/// Drops tombstones of cells during compaction.
#[derive(Debug)]
pub struct TombstoneFilter {
    clock: Arc<Clock>,
    gc_grace_s: Arc<AtomicI32>,
}

impl TombstoneFilter {
    pub fn new(clock: Arc<Clock>, gc_grace_s: Arc<AtomicI32>) -> TombstoneFilter {
        TombstoneFilter { clock, gc_grace_s }
    }
}

impl Factory for TombstoneFilter {
    fn name(&self) -> &str {
        "tombstones past gc_grace"
    }

    fn make_filter(&self, _ctx: &Context) -> Box<dyn CompactionFilter> {
        Box::new(Pass { gc_before: gc_before(&self.clock, self.gc_grace_s.load(Ordering::Relaxed)) })
    }
}

/// The second up to which tombstones are forgotten.
pub fn gc_before(clock: &Clock, gc_grace_s: i32) -> i32 {
    clock.now_s().saturating_sub(gc_grace_s)
}

/// One compaction's filter.
struct Pass {
    gc_before: i32,
}

impl CompactionFilter for Pass {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _ctx: &Context) -> lsm_tree::Result<Verdict> {
        let value = item.value()?;
        let is_over = value::tombstone_since(&value).is_some_and(|since| since <= self.gc_before);
        // `Remove` leaves the engine's own tombstone, so that no older version shows through.
        Ok(if is_over { Verdict::Remove } else { Verdict::Keep })
    }
}

/// Looks after the deletions that are due. Returns how many there were.
pub fn sweep(inner: &Inner) -> Result<usize, StoreError> {
    let now_s = i64::from(inner.clock.now_s());
    let due = inner.ledger.due_deletions(now_s, DUE_BATCH)?;
    for deletion in &due {
        sweep_one(inner, deletion)?;
    }
    Ok(due.len())
}

fn sweep_one(inner: &Inner, queued: &QueuedDeletion) -> Result<(), StoreError> {
    let Some((family, gc_grace_s)) = inner.family_by_id(queued.family) else {
        return sweep_undefined(inner, queued);
    };
    let Some(row) = RowPrefix::of_entry(&queued.marker, &*inner.partitioner) else {
        return Err(StoreError::Corrupt("a queued deletion belongs to no row".to_owned()));
    };
    let row_key = row
        .row_key(&*inner.partitioner)
        .map(Bytes::from)
        .ok_or_else(|| StoreError::Corrupt("a queued deletion has no row key".to_owned()))?;
    let marker = queued.marker[row.as_bytes().len()..].to_vec();
    loop {
        let _lock = inner.locks.lock_one(&row_key);
        // Under the lock: a truncate would put others in their place.
        let trees = family.trees.read().clone();
        let snapshot = inner.database.snapshot();
        let source = RowSource::Engine { trees: &trees, snapshot: &snapshot, row: &row };
        if marker.starts_with(RANGES) {
            inner.row_cache.forget(&RowId { family: trees.number, key: row_key.clone() });
            if sweep_range(inner, (queued, gc_grace_s), &source, (&trees, &row))? {
                continue;
            }
            return Ok(());
        }
        let (deletion, kept_name) = source.deletion_and_name_at(&marker)?;
        let mut batch = EngineBatch::default();
        let shadowed = find_shadowed(&source, &marker, deletion)?;
        let has_more = shadowed.keys.len() == SWEEP_BATCH;
        for key in shadowed.keys {
            trees.put(&mut batch, row.entry(&key), None)?;
        }
        inner.row_cache.forget(&RowId { family: trees.number, key: row_key.clone() });
        if has_more {
            batch.commit(&inner.database)?;
            continue;
        }
        inner.ledger.dequeue(&mut batch, queued);
        let gone_s = i64::from(deletion.local_deletion_time) + i64::from(gc_grace_s);
        if gone_s > i64::from(inner.clock.now_s()) {
            inner.ledger.queue_deletion(&mut batch, gone_s, queued.family, &queued.marker);
        } else if let (Some(name), true) = (kept_name, shadowed.others_stay) {
            // The super column's other columns still need the name that is kept here.
            let nameplate = value::encode_deletion(DeletionTime::LIVE, Some(&name));
            trees.put(&mut batch, queued.marker.clone(), Some(nameplate.into()))?;
        } else if deletion != DeletionTime::LIVE {
            // Where a row's deletion stood it may have to be said still that the row has ranges.
            let has_ranges = marker == ROW_MARKER && !source.row_deletions()?.1.is_empty();
            let left = has_ranges.then(|| value::encode_deletion_with_ranges(DeletionTime::LIVE).into());
            trees.put(&mut batch, queued.marker.clone(), left)?;
        }
        return batch.commit(&inner.database);
    }
}

/// Takes a tombstone of a run of names away after gc_grace, and what it shadows first; until then that only stays
/// hidden. Says whether there is more to take away.
fn sweep_range(
    inner: &Inner,
    (queued, gc_grace_s): (&QueuedDeletion, i32),
    source: &RowSource<'_>,
    (trees, row): (&Trees, &RowPrefix),
) -> Result<bool, StoreError> {
    let Some(cf) = inner.definition(queued.family) else {
        return sweep_undefined(inner, queued).map(|()| false);
    };
    let mut batch = EngineBatch::default();
    let (deletion, ranges) = source.row_deletions()?;
    let found = ranges.iter().find(|range| row.entry(&key::range(range)) == queued.marker);
    let gone_s = found.map(|range| i64::from(range.deletion.local_deletion_time) + i64::from(gc_grace_s));
    match gone_s {
        None => {}
        Some(gone_s) if gone_s > i64::from(inner.clock.now_s()) => {
            inner.ledger.queue_deletion(&mut batch, gone_s, queued.family, &queued.marker);
        }
        Some(_) => {
            let shadowed = shadowed_by_ranges(source, &ranges, &cf, SWEEP_BATCH)?;
            let has_more = shadowed.len() == SWEEP_BATCH;
            for key in shadowed {
                trees.put(&mut batch, row.entry(&key), None)?;
            }
            if has_more {
                return batch.commit(&inner.database).map(|()| true);
            }
            trees.put(&mut batch, queued.marker.clone(), None)?;
            if ranges.len() == 1 {
                let is_deleted = deletion != DeletionTime::LIVE;
                let left = is_deleted.then(|| value::encode_deletion(deletion, None).into());
                trees.put(&mut batch, row.entry(ROW_MARKER), left)?;
            }
        }
    }
    inner.ledger.dequeue(&mut batch, queued);
    batch.commit(&inner.database).map(|()| false)
}

/// What becomes of a deletion whose column family is not defined. One that is dropped has forgotten what the
/// deletion shadowed; another may be defined again, so it is looked at once a day.
fn sweep_undefined(inner: &Inner, queued: &QueuedDeletion) -> Result<(), StoreError> {
    let is_dropped =
        inner.ledger.families()?.iter().any(|(_, record)| record.id == queued.family && record.is_dropped);
    if !is_dropped {
        return requeue(inner, queued, i64::from(inner.clock.now_s()) + 86_400);
    }
    let mut batch = EngineBatch::default();
    inner.ledger.dequeue(&mut batch, queued);
    batch.commit(&inner.database)
}

fn requeue(inner: &Inner, queued: &QueuedDeletion, due_s: i64) -> Result<(), StoreError> {
    let mut batch = EngineBatch::default();
    inner.ledger.dequeue(&mut batch, queued);
    inner.ledger.queue_deletion(&mut batch, due_s, queued.family, &queued.marker);
    batch.commit(&inner.database)
}

/// What was found behind a deletion.
struct Shadowed {
    /// Keys of the cells that it shadows, at most `SWEEP_BATCH`.
    keys: Vec<Vec<u8>>,
    /// There are entries that are not shadowed.
    others_stay: bool,
}

/// Looks for what a deletion shadows.
fn find_shadowed(
    source: &RowSource<'_>,
    marker: &[u8],
    deletion: DeletionTime,
) -> Result<Shadowed, StoreError> {
    // A deletion's key ends in its tag, 00; what it shadows follows under 01.
    let mut low = marker.to_vec();
    if let Some(tag) = low.last_mut() {
        *tag = 1;
    }
    let mut high = low.clone();
    key::increment(&mut high);
    let mut found = Shadowed { keys: Vec::new(), others_stay: false };
    for entry in source.entries(&low, &high, false) {
        let (key, value) = entry?;
        let is_shadowed = match value::decode(&value)? {
            Value::Cell { timestamp, .. } => deletion.shadows(timestamp),
            Value::Deletion { .. } | Value::Range(_) | Value::Pointer => false,
        };
        if is_shadowed {
            found.keys.push(key.as_slice().to_vec());
            if found.keys.len() == SWEEP_BATCH {
                break;
            }
        } else {
            found.others_stay = true;
        }
    }
    Ok(found)
}
