//! Turns a memtable into tables of the engine.
//!
//! ```text
//!   freeze   the next segment is made and noted; between two writes the log goes on there
//!   sync     the frozen segments: tables must not hold a part of a write of which the log lost the rest
//!   ingest   tables of each column family, made and synced by the engine, in front of its others
//!   note     that the log is needed from the next segment on
//!   let go   of the memtable and of its segments
//! ```
//!
//! What is cut short is done again: the log is replayed, and entries say what becomes of a key, whatever it was.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use fjall::Keyspace;
use lsm_tree::AbstractTree;

use super::engine::engine_error;
use super::family::{Trees, generation_in, id_in};
use super::inner::Inner;
use super::long_keys::{self, Place};
use super::memtable::Rows;
use super::packed::PackedValue;
use super::queue::QUEUE_FAMILY;
use super::value;
use crate::storage::StoreError;

/// Runs of tables that are not merged yet, from which on a flush waits for the engine to merge them: each is one more
/// place to look for a key.
const RUNS_MAX: usize = 12;
/// How long it waits for that at most.
const MERGED_WITHIN: Duration = Duration::from_secs(5);

/// Writes what memory holds to tables. Does nothing when it holds nothing.
pub fn flush(inner: &Inner) -> Result<(), StoreError> {
    let intake = &inner.intake;
    let mut first = intake.first_segment.lock();
    if intake.frozen().is_none() {
        let next = intake.prepare_next()?;
        inner.ledger.note_log(*first, next.number())?;
        drop(intake.freeze(next)?);
    }
    intake.sync()?;
    let Some(memtable) = intake.frozen() else { return Ok(()) };
    for (family, rows) in memtable.families() {
        if !rows.is_empty()
            && let Some(trees) = trees_of(inner, family)?
        {
            ingest(inner, &trees, &rows)?;
        }
    }
    let needed = intake.segment();
    inner.ledger.note_log(needed, needed)?;
    intake.let_go(*first..needed);
    *first = needed;
    Ok(())
}

/// The trees of a generation; `None` when it is not the newest one of its column family.
fn trees_of(inner: &Inner, family: u64) -> Result<Option<Arc<Trees>>, StoreError> {
    if family == QUEUE_FAMILY {
        return Ok(Some(inner.queue.trees().clone()));
    }
    if let Some((defined, _)) = inner.family_by_id(id_in(family)) {
        let trees = defined.trees.load_full();
        return Ok((trees.number == family).then_some(trees));
    }
    // It was written to before it was left out of the configuration.
    let recorded = inner.ledger.families()?;
    let is_newest = recorded
        .iter()
        .any(|(_, record)| record.id == id_in(family) && record.generation == generation_in(family));
    let trees = is_newest.then(|| Trees::open(&inner.database, id_in(family), generation_in(family)));
    Ok(trees.transpose()?.map(Arc::new))
}

/// Makes tables of rows.
fn ingest(inner: &Inner, trees: &Trees, rows: &Rows) -> Result<(), StoreError> {
    let tree = trees.main_or_make()?;
    wait_for_merges(inner, tree);
    let mut long: Vec<(Vec<u8>, Option<Bytes>)> = Vec::new();
    let mut ingestion = tree.start_ingestion().map_err(engine_error)?;
    let mut last_pointer: Option<Vec<u8>> = None;
    let mut whole = Vec::new();
    for (prefix, entries) in rows.all() {
        for (key, value) in entries.iter() {
            whole.clear();
            whole.extend_from_slice(&prefix);
            whole.extend_from_slice(key);
            if whole.len() < long_keys::CHUNK {
                let written = match value {
                    Some(value) => ingestion.write(&whole[..], value.as_slice()),
                    None => ingestion.write_tombstone(&whole[..]),
                };
                written.map_err(engine_error)?;
                continue;
            }
            // A pointer has the order of the keys that it leads to.
            let Place { key, pointers, .. } = long_keys::place(std::mem::take(&mut whole));
            long.push((key, value.map(PackedValue::to_bytes)));
            for (is_long, pointer) in pointers {
                let pointed = Bytes::from(value::encode_pointer());
                if is_long {
                    long.push((pointer, Some(pointed)));
                } else if last_pointer.as_ref() != Some(&pointer) {
                    ingestion.write(pointer.clone(), pointed).map_err(engine_error)?;
                    last_pointer = Some(pointer);
                }
            }
        }
    }
    ingestion.finish().map_err(engine_error)?;
    if long.is_empty() { Ok(()) } else { ingest_long(trees.long_or_make()?, long) }
}

/// Makes a table of what is behind pointers, in the order of its addresses.
fn ingest_long(tree: &Keyspace, mut entries: Vec<(Vec<u8>, Option<Bytes>)>) -> Result<(), StoreError> {
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    // Keys that share a pointer's chunk have one pointer each.
    entries.dedup_by(|(a, _), (b, _)| a == b);
    let mut ingestion = tree.start_ingestion().map_err(engine_error)?;
    for (key, value) in entries {
        let written = match value {
            Some(value) => ingestion.write(key, value),
            None => ingestion.write_tombstone(key),
        };
        written.map_err(engine_error)?;
    }
    ingestion.finish().map_err(engine_error)
}

/// Gives the engine time to merge what was flushed before.
fn wait_for_merges(inner: &Inner, tree: &Keyspace) {
    let started = Instant::now();
    while tree.tree.l0_run_count() >= RUNS_MAX
        && started.elapsed() < MERGED_WITHIN
        && !inner.intake.is_closed()
    {
        std::thread::sleep(Duration::from_millis(10));
    }
}
