//! Notifies listeners of changes of the schema.

use std::sync::Arc;

use tokio::sync::broadcast;

use base::schema::{Catalog, SchemaChange};

/// The number of changes that a listener may lag behind before it misses some.
const BEHIND_MAX: usize = 256;

/// The channel of schema changes.
pub(crate) struct SchemaEvents(broadcast::Sender<Arc<[SchemaChange]>>);

impl Default for SchemaEvents {
    fn default() -> SchemaEvents {
        SchemaEvents(broadcast::channel(BEHIND_MAX).0)
    }
}

impl SchemaEvents {
    /// Sends the differences between two schemas to all listeners.
    pub(super) fn send(&self, before: &Catalog, after: &Catalog) {
        if self.0.receiver_count() > 0 {
            // The last listener may have gone in the meantime.
            let _ = self.0.send(SchemaChange::between(before, after).into());
        }
    }

    /// Returns a receiver of all changes from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<[SchemaChange]>> {
        self.0.subscribe()
    }
}
