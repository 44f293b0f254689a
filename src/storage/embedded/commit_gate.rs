//! The way into the engine's log, one writer at a time.
//!
//! The engine has a lock of its own, which puts who waits to sleep at once. It is held for some microseconds, and
//! to sleep and be woken takes longer: so writers meet here first, and watch for their turn a while.

use parking_lot::{Mutex, MutexGuard};

/// Looks at the gate before a writer sleeps after all: about twenty microseconds.
const LOOKS: usize = 20;
/// Pauses of the processor between two looks.
const PAUSES: usize = 32;

/// Held by the writer whose batch the engine is taking.
#[derive(Debug, Default)]
pub struct CommitGate {
    taken: Mutex<()>,
}

impl CommitGate {
    /// Waits for the turn. It ends when the guard is dropped.
    pub fn enter(&self) -> MutexGuard<'_, ()> {
        for _ in 0..LOOKS {
            if let Some(turn) = self.taken.try_lock() {
                return turn;
            }
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
        }
        self.taken.lock()
    }
}
