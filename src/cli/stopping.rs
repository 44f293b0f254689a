//! The end of a server: what it waits for, and how long.
//!
//! ```text
//!   connections   finish their requests, at most 8 s. From the first second on, clients that do not read are left
//!   indexes       the step of an index that is being built
//!   store         syncs the log; then a running flush or merge ends, and the memtable is flushed, at most 60 s
//! ```
//!
//! Nothing acknowledged depends on more than the sync: the next start replays the log.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, interval_at, timeout};

use crate::cli::Result;
use db::Database;
use net::{OpenConnections, Shutdown};
use store::Store;

/// The time that connections may take to finish their requests.
const CONNECTIONS_TIMEOUT: Duration = Duration::from_secs(8);
/// The time that the store may take to close: less than the 90 s after which systemd kills a service, with the time of
/// the connections.
const STORE_TIMEOUT: Duration = Duration::from_secs(60);
/// The interval at which a wait is logged if the awaited work has changed.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Ends the connections and closes the store.
///
/// # Errors
/// Why the store did not close cleanly.
pub(super) async fn stop(
    shutdown: Shutdown,
    open: &OpenConnections,
    database: &Database,
    store: &Arc<dyn Store>,
) -> Result<()> {
    let connections = || {
        open.end_blocked();
        format!("waiting for {} connections to finish their requests", open.count())
    };
    if !logged(shutdown.end(CONNECTIONS_TIMEOUT), connections).await {
        tracing::warn!("some connections did not finish in time");
    }
    let step = "waiting for the step of an index that is being built";
    logged(database.indexes().stop_builders(), || step.to_owned()).await;
    let closing = "waiting for the store to end a flush or a merge of tables and to flush the memtable";
    match logged(timeout(STORE_TIMEOUT, store.close()), || closing.to_owned()).await {
        Ok(closed) => closed.map_err(|error| format!("the store did not close cleanly: {error}")),
        Err(_) => {
            tracing::warn!(
                "the store did not close within {} s; nothing is lost: the next start replays the commit log",
                STORE_TIMEOUT.as_secs()
            );
            Ok(())
        }
    }
}

/// Waits for work. Logs the awaited work if it takes longer than a second, and each change of it.
async fn logged<T>(work: impl Future<Output = T>, what: impl Fn() -> String) -> T {
    tokio::pin!(work);
    let mut looks = interval_at(Instant::now() + LOOK_EVERY, LOOK_EVERY);
    let mut before = String::new();
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            _ = looks.tick() => {
                let now = what();
                if now != before {
                    tracing::info!("{now}");
                }
                before = now;
            }
        }
    }
}
