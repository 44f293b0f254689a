//! A signal that stops a transfer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set when a signal stops the transfer.
#[derive(Debug, Clone, Default)]
pub struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Stops the transfer as soon as the current batches are written.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the transfer must stop.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
