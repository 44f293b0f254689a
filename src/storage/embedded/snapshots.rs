//! Snapshots of a store in memory: taken and restored in microseconds, however much they hold.
//!
//! ```text
//!   take       between two writes the active memtable is frozen; the snapshot shares all frozen ones
//!   restore    the frozen memtables of the snapshot take the place of all others, below an empty active one
//!   reset      the same with none
//! ```
//!
//! Nothing is copied: frozen memtables are never written to, and later writes are laid over them. So each snapshot that is
//! taken after a write adds a layer, and a read looks at all layers. When there are more than eight, `take` first merges
//! those that no snapshot shares, before it locks anything. It merges layers of similar size, as an LSM tree does: so a row
//! is merged again only when the layer that it is in has grown by half.
//!
//! Locks are taken in one order: column families, rows, the gate of the write path.

use std::sync::Arc;

use super::engine::Engine;
use super::families::FamiliesAt;
use super::manifest::Contents;
use super::memtable::Frozen;
use crate::storage::StoreError;

/// All that a store in memory held at one moment.
#[derive(Clone)]
pub struct StoreSnapshot {
    layers: Frozen,
    families: Arc<FamiliesAt>,
    contents: Arc<Contents>,
}

/// Remembers all that a store in memory holds.
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
            families: Arc::new(engine.families.at_this_moment(&families)),
            contents: engine.manifest.contents(),
        }
    }))
}

/// Makes a store in memory hold what it held when a snapshot was taken: rows, column families, metadata records.
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
        engine.families.return_to(&snapshot.families, &mut families, &rows);
        engine.write.ahead.between_writes(|memory| memory.replace(snapshot.layers.clone()))
    };
    // To free the entries that no snapshot shares may take long. Without a thread they are freed here.
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
