//! Copies of the schema: the one of the store, and the previous one, which requests may still use.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use base::schema::Catalog;

/// The time that a change waits for requests that still use the previous schema, and the interval of its checks.
const PATIENCE: Duration = Duration::from_secs(5);
const ASK_EVERY: Duration = Duration::from_millis(1);

/// Returns a copy of a schema for the store, which keeps it. The requests' own schema must not be shared with the
/// store, because its reference count shows whether requests still use it.
pub(super) fn own_copy(catalog: &Catalog) -> Arc<Catalog> {
    Arc::new(catalog.clone())
}

/// Waits until no request uses a schema any more, with a time limit, because a request may wait for its client.
pub(super) async fn until_unused(schema: &Weak<Catalog>) {
    let started = Instant::now();
    while schema.strong_count() > 0 && started.elapsed() < PATIENCE {
        tokio::time::sleep(ASK_EVERY).await;
    }
}
