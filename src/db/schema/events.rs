//! Those who want to know when the schema changes.

use std::sync::Arc;

use tokio::sync::broadcast;

use crate::db::Database;
use crate::schema::{Catalog, SchemaChange};

/// Schemas that a listener may be behind before it misses some.
const BEHIND_MAX: usize = 256;

/// Where changes are told.
pub(in crate::db) struct SchemaEvents(broadcast::Sender<Arc<[SchemaChange]>>);

impl Default for SchemaEvents {
    fn default() -> SchemaEvents {
        SchemaEvents(broadcast::channel(BEHIND_MAX).0)
    }
}

impl SchemaEvents {
    /// Sends what has changed to all listeners.
    pub(super) fn send(&self, before: &Catalog, after: &Catalog) {
        if self.0.receiver_count() > 0 {
            // Nobody may be left to listen.
            let _ = self.0.send(SchemaChange::between(before, after).into());
        }
    }
}

impl Database {
    /// Every change of the schema from now on, whoever makes it and in which language: all that one makes together.
    pub fn schema_events(&self) -> broadcast::Receiver<Arc<[SchemaChange]>> {
        self.events.0.subscribe()
    }
}
