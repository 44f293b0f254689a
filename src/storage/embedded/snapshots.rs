//! Snapshots of a store in memory. Taking and restoring one takes microseconds, whatever its size.
//!
//! ```text
//!   take       between two writes the active memtable is frozen; the snapshot shares all frozen ones
//!   restore    the frozen memtables of the snapshot replace all others, below an empty active one
//!   reset      the same without frozen memtables
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
use super::memtable::Frozen;
use crate::storage::StoreError;

/// The rows, column families and metadata records of a store in memory at one time.
#[derive(Clone)]
pub struct StoreSnapshot {
    layers: Frozen,
    families: Arc<FamiliesSnapshot>,
    contents: Arc<Contents>,
}

/// Takes a snapshot of a store in memory.
///
/// # Errors
/// `Invalid` for a store on a disk.
pub fn take(engine: &Engine) -> Result<StoreSnapshot, StoreError> {
    check_in_memory(engine)?;
    engine.write.ahead.memory.merge_unshared();
    let families = engine.families.hold();
    let _rows = engine.read.locks.lock_all();
    Ok(engine.write.ahead.between_writes(|memory| {
        memory.freeze_if_used();
        StoreSnapshot {
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
pub fn restore(engine: &Engine, snapshot: &StoreSnapshot) -> Result<(), StoreError> {
    check_in_memory(engine)?;
    let earlier = {
        let mut families = engine.families.hold();
        let rows = engine.read.locks.lock_all();
        let contents = Contents::clone(&snapshot.contents);
        engine.manifest.change(|now| *now = contents)?;
        engine.families.restore(&snapshot.families, &mut families, &rows);
        engine.write.ahead.between_writes(|memory| memory.replace(snapshot.layers.clone()))
    };
    // Freeing entries that no snapshot shares can take long, so another thread does it. If none can be started, they
    // are freed here.
    let freeing = std::thread::Builder::new().name("free".to_owned()).spawn(move || drop(earlier));
    drop(freeing);
    Ok(())
}

fn check_in_memory(engine: &Engine) -> Result<(), StoreError> {
    match engine.durable {
        None => Ok(()),
        Some(_) => Err(StoreError::Invalid("only a store in memory has snapshots".to_owned())),
    }
}
