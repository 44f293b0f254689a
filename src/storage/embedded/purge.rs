//! Forgets tombstones that gc_grace no longer keeps.
//!
//! A tombstone of a cell stands alone, so the engine's compaction drops it when it comes by. The deletion of a
//! row or super column shadows other entries, which must go first: each is queued when it is made, and a
//! sweeper takes away what it shadows a little later, and the deletion itself after gc_grace.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use bytes::Bytes;
use lsm_tree::compaction::filter::{CompactionFilter, Context, Factory, ItemAccessor, Verdict};

use super::inner::Inner;
use super::key::{self, RANGES, ROW_MARKER, RowPrefix};
use super::log::ChangeList;
use super::queue::QueuedDeletion;
use super::range_shadow::shadowed_by_ranges;
use super::row_cache::RowId;
use super::row_source::RowSource;
use super::value::{self, Value};
use super::write_batch::{BatchBuilder, Cached};
use crate::model::DeletionTime;
use crate::storage::StoreError;
use crate::util::Clock;

/// Entries removed in one batch, under one hold of the row's lock.
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
    let due = inner.queue.due(&inner.view(), now_s, DUE_BATCH)?;
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
    let marker = queued.marker.slice(row.as_bytes().len()..);
    // Looked at once: what has not passed for one question must not have for the next.
    let gc_before_s = i64::from(inner.clock.now_s()) - i64::from(gc_grace_s);
    loop {
        let _lock = inner.locks.lock_one(&row_key);
        // Under the lock: a truncate would put others in their place.
        let trees = family.trees.load();
        let view = inner.view();
        let source = RowSource::stored(&trees, &view, &row);
        let swept = if marker.starts_with(RANGES) {
            sweep_range((inner, queued), &source, &marker, gc_before_s)?
        } else {
            Some(sweep_deletion(&source, &marker)?)
        };
        let Some(swept) = swept else { return sweep_undefined(inner, queued) };
        let stays = swept.made_at_s.map(i64::from).filter(|made_at_s| *made_at_s > gc_before_s);
        let mut changes = swept.shadowed;
        let has_more = changes.len() == SWEEP_BATCH;
        let mut batch = BatchBuilder::default();
        if !has_more {
            inner.queue.remove(&mut batch, queued);
            match stays {
                Some(made_at_s) => {
                    let gone_s = made_at_s + i64::from(gc_grace_s);
                    inner.queue.add(&mut batch, gone_s, queued.family, &queued.marker);
                }
                None => changes.append(&swept.at_last),
            }
        }
        let id = RowId { family: trees.number, key: row_key.clone() };
        let cached = inner.row_cache.get(&id).map(|row| Cached { id, row, likely: 0 });
        batch.add(trees.number, &row, &changes, cached);
        inner.commit(batch)?;
        if !has_more {
            return Ok(());
        }
    }
}

/// What is to be done about a deletion.
#[derive(Default)]
struct Swept {
    /// What goes now: at most `SWEEP_BATCH`, and if so many, there may be more.
    shadowed: ChangeList,
    /// What becomes of the deletion itself, when gc_grace has passed and nothing else is left to be done.
    at_last: ChangeList,
    /// The second of the deletion, if it is there still.
    made_at_s: Option<i32>,
}

fn removals(keys: Vec<Vec<u8>>) -> ChangeList {
    let mut changes = ChangeList::default();
    keys.iter().for_each(|key| changes.add(key, None));
    changes
}

/// What is to be done about the deletion of a row or super column.
fn sweep_deletion(source: &RowSource<'_>, marker: &Bytes) -> Result<Swept, StoreError> {
    let (deletion, kept_name) = source.deletion_and_name_at(marker)?;
    let shadowed = find_shadowed(source, marker, deletion)?;
    let mut at_last = ChangeList::default();
    if let (Some(name), true) = (kept_name, shadowed.others_stay) {
        // The super column's other columns still need the name that is kept here.
        at_last.add(marker, Some(&value::encode_deletion(DeletionTime::LIVE, Some(&name))));
    } else if deletion != DeletionTime::LIVE {
        // Where a row's deletion stood it may have to be said still that the row has ranges.
        let has_ranges = marker[..] == *ROW_MARKER && !source.row_deletions()?.1.is_empty();
        let left = has_ranges.then(|| value::encode_deletion_with_ranges(DeletionTime::LIVE));
        at_last.add(marker, left.as_deref());
    }
    let made_at_s = Some(deletion.local_deletion_time);
    Ok(Swept { shadowed: removals(shadowed.keys), at_last, made_at_s })
}

/// What is to be done about the tombstone of a run of names: after gc_grace it goes, and what it shadows first; until
/// then that only stays hidden. `None`: its column family is not defined.
fn sweep_range(
    (inner, queued): (&Inner, &QueuedDeletion),
    source: &RowSource<'_>,
    marker: &Bytes,
    gc_before_s: i64,
) -> Result<Option<Swept>, StoreError> {
    let Some(cf) = inner.definition(queued.family) else { return Ok(None) };
    let (deletion, ranges) = source.row_deletions()?;
    let Some(range) = ranges.iter().find(|range| key::range(range)[..] == marker[..]) else {
        return Ok(Some(Swept::default()));
    };
    let made_at_s = range.deletion.local_deletion_time;
    let mut swept = Swept { made_at_s: Some(made_at_s), ..Swept::default() };
    if i64::from(made_at_s) > gc_before_s {
        return Ok(Some(swept));
    }
    swept.shadowed = removals(shadowed_by_ranges(source, &ranges, &cf, SWEEP_BATCH)?);
    swept.at_last.add(marker, None);
    if ranges.len() == 1 {
        let left = (deletion != DeletionTime::LIVE).then(|| value::encode_deletion(deletion, None));
        swept.at_last.add(ROW_MARKER, left.as_deref());
    }
    Ok(Some(swept))
}

/// What becomes of a deletion whose column family is not defined. One that is dropped has forgotten what the
/// deletion shadowed; another may be defined again, so it is looked at once a day.
fn sweep_undefined(inner: &Inner, queued: &QueuedDeletion) -> Result<(), StoreError> {
    let is_dropped =
        inner.ledger.families()?.iter().any(|(_, record)| record.id == queued.family && record.is_dropped);
    if !is_dropped {
        return requeue(inner, queued, i64::from(inner.clock.now_s()) + 86_400);
    }
    let mut batch = BatchBuilder::default();
    inner.queue.remove(&mut batch, queued);
    inner.commit(batch)
}

fn requeue(inner: &Inner, queued: &QueuedDeletion, due_s: i64) -> Result<(), StoreError> {
    let mut batch = BatchBuilder::default();
    inner.queue.remove(&mut batch, queued);
    inner.queue.add(&mut batch, due_s, queued.family, &queued.marker);
    inner.commit(batch)
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
            found.others_stay = true;
        }
    }
    Ok(found)
}
