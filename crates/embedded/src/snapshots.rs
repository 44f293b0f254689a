//! Snapshots of a store in memory. Taking and restoring one takes microseconds, whatever its size.
//!
//! ```text
//!   take       between two writes the active memtable is frozen; the snapshot shares all frozen ones
//!   restore    the frozen memtables of the snapshot replace all others, below an empty active one
//!   clear      the same without frozen memtables; column families stay
//!   open       a further store with the frozen memtables of the snapshot
//! ```
//!
//! Nothing is copied: frozen memtables never change, and later writes are in a memtable above them. So each snapshot
//! that is taken after a write adds a layer, and a read searches all layers. If there are more than eight, `take` first
//! merges layers that no snapshot shares, before it takes any lock. It merges layers of similar size, as an LSM tree
//! does, so a row is merged again only after its layer has grown by half.
//!
//! Locks are taken in this order: column families, rows, the gate of `WriteAhead`.

use std::sync::Arc;

use super::engine::Engine;
use super::families::FamiliesSnapshot;
use super::manifest::Contents;
use super::memtable::{Frozen, Memory, Memtable};
use base::partitioner::PartitionerRef;
use base::util::Clock;
use store::{Result, SnapshotContent, SnapshotPart, StoreError, StoreSnapshot};

/// The rows, column families and metadata records of a store in memory at one time.
#[derive(Clone)]
pub(crate) struct MemorySnapshot {
    layers: Frozen,
    families: Arc<FamiliesSnapshot>,
    contents: Arc<Contents>,
}

impl SnapshotContent for MemorySnapshot {
    fn parts(&self) -> Vec<SnapshotPart> {
        let part =
            |layer: &Arc<Memtable>| SnapshotPart { id: Arc::as_ptr(layer).addr(), bytes: layer.bytes() };
        self.layers.iter().map(part).collect()
    }
}

/// Returns the content of a snapshot.
///
/// # Errors
/// `Invalid` if another kind of store took the snapshot.
pub(crate) fn content(snapshot: &StoreSnapshot) -> Result<&MemorySnapshot> {
    snapshot
        .content()
        .ok_or_else(|| StoreError::Invalid("the snapshot is of another kind of store".to_owned()))
}

/// Merges layers that no snapshot shares, if there are many. `take` does this too, and then has less to do.
pub(crate) fn prepare(engine: &Engine) {
    engine.write.ahead.memory.merge_unshared();
}

/// Takes a snapshot of a store in memory.
///
/// # Errors
/// `Invalid` for a store on a disk.
pub(crate) fn take(engine: &Engine) -> Result<MemorySnapshot> {
    check_in_memory(engine)?;
    prepare(engine);
    let families = engine.families.hold();
    let _rows = engine.read.locks.lock_all();
    Ok(engine.write.ahead.between_writes(|memory| {
        memory.freeze_if_used();
        MemorySnapshot {
            layers: memory.frozen(),
            families: Arc::new(engine.families.snapshot(&families)),
            contents: engine.manifest.contents(),
        }
    }))
}

/// Restores the rows, column families and metadata records of a store in memory from a snapshot.
///
/// # Errors
/// `Invalid` for a store on a disk.
pub(crate) fn restore(engine: &Engine, snapshot: &MemorySnapshot) -> Result<()> {
    check_in_memory(engine)?;
    let (active, frozen) = {
        let mut families = engine.families.hold();
        let rows = engine.read.locks.lock_all();
        let contents = Contents::clone(&snapshot.contents);
        engine.manifest.change(|now| *now = contents)?;
        engine.families.restore(&snapshot.families, &mut families, &rows);
        engine.write.ahead.between_writes(|memory| memory.replace(snapshot.layers.clone()))
    };
    free(active, frozen);
    Ok(())
}

/// Opens a further store in memory in the state of a snapshot, which it shares nothing with that changes.
///
/// # Errors
/// `Io` if its thread cannot be started.
pub(crate) fn open(
    partitioner: PartitionerRef,
    clock: Arc<Clock>,
    snapshot: &MemorySnapshot,
) -> Result<Engine> {
    let memory = Memory::default();
    memory.replace(snapshot.layers.clone());
    let contents = Contents::clone(&snapshot.contents);
    let engine = Engine::with_memory(memory, contents, partitioner, clock)?;
    engine.families.adopt(&snapshot.families);
    engine.set_schema_known();
    Ok(engine)
}

/// Removes the rows of all column families, and these metadata records.
///
/// # Errors
/// `Invalid` for a store on a disk.
pub(crate) fn clear(engine: &Engine, records: &[String]) -> Result<()> {
    check_in_memory(engine)?;
    let (active, frozen) = {
        let _families = engine.families.hold();
        let _rows = engine.read.locks.lock_all();
        if !records.is_empty() {
            engine.manifest.change(|now| {
                for record in records {
                    now.records.remove(record);
                }
            })?;
        }
        engine.write.ahead.between_writes(|memory| memory.replace(Frozen::default()))
    };
    free(active, frozen);
    Ok(())
}

/// Drops the memtables that a snapshot has replaced. Freeing entries that no snapshot shares can take long, so another
/// thread does it. If none can be started, they are freed here.
fn free(active: Arc<Memtable>, frozen: Frozen) {
    if active.is_empty() && frozen.iter().all(|layer| Arc::strong_count(layer) > 1) {
        return;
    }
    let freeing = std::thread::Builder::new().name("free".to_owned()).spawn(move || drop((active, frozen)));
    drop(freeing);
}

fn check_in_memory(engine: &Engine) -> Result<()> {
    match engine.durable {
        None => Ok(()),
        Some(_) => Err(StoreError::Invalid("only a store in memory has snapshots".to_owned())),
    }
}
