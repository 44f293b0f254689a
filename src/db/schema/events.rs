//! Those who want to know when the schema changes.

use std::sync::{Arc, Weak};

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

impl Database {
    /// Every change of the schema from now on, whoever makes it and in which language: all that one makes together.
    pub fn schema_events(&self) -> broadcast::Receiver<Arc<[SchemaChange]>> {
        self.events.0.subscribe()
    }

    /// Serves a schema from now on, and says so; answers with the one before.
    pub(in crate::db) fn publish(&self, catalog: Arc<Catalog>) -> Weak<Catalog> {
        let before = self.catalog.swap(catalog.clone());
        if self.events.0.receiver_count() > 0 {
            // Nobody may be left to listen.
            let _ = self.events.0.send(SchemaChange::between(&before, &catalog).into());
        }
        Arc::downgrade(&before)
    }
}
