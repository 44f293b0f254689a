//! A server without data of its own: a gateway of a cluster.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use super::cluster;
use super::store::{OpenStore, random_token};
use crate::config::{Cluster, Config};
use crate::db::{self, Database, is_reserved};
use crate::partitioner::check_partitioner;
use crate::storage::cluster::{ClusterLink, ClusterOptions, ClusterStore};
use crate::storage::{Store, StoreError};
use crate::util::Clock;

/// How long to wait for a cluster that was not reached before the next try.
const PAUSE: Duration = Duration::from_secs(3);

/// Opens the cluster. One that does not answer is tried again for ever, and the log says so; what would not pass by
/// itself is an error at once.
pub async fn open(cluster: &Cluster, config: &Config, clock: Arc<Clock>) -> Result<OpenStore, String> {
    let options = cluster::options(cluster)?;
    if options.tls.as_ref().is_some_and(|tls| tls.authorities.is_none()) {
        tracing::warn!(
            "the certificates of the cluster's nodes are not looked at: somebody in between could read and write"
        );
    }
    let nodes = options.contact_points.join(", ");
    let open = async || open_once(&options, config, clock.clone()).await;
    let opened = until_reached(PAUSE, may_open_later, open).await;
    opened.map_err(|error| format!("cannot serve from the cluster at {nodes}: {error}"))
}

/// One try.
async fn open_once(
    options: &ClusterOptions,
    config: &Config,
    clock: Arc<Clock>,
) -> Result<OpenStore, StoreError> {
    let link = ClusterLink::open(options).await?;
    let class = link.partitioner_class().await?;
    let choice = check_partitioner(config.partitioner.class_name(), &class).map_err(StoreError::Mismatch)?;
    let partitioner = choice.partitioner;
    let store = ClusterStore::open(link, options, partitioner.clone(), clock).await?;
    if let Some(name) = config.catalog.keyspaces.keys().find(|name| is_reserved(store.capabilities(), name)) {
        return Err(StoreError::Mismatch(format!(
            "the configuration defines the keyspace {name}, which is the cluster's or the gateways' own: give it another name"
        )));
    }
    if let Some(note) = choice.note {
        tracing::info!("{note}");
    }
    // The configuration's own may be one of another partitioner.
    let token = random_token(&partitioner);
    Ok(OpenStore { store: Arc::new(store), partitioner, token })
}

/// Reads the schema that gateways share, and makes its tables, once the cluster has enough nodes for it.
pub async fn load_schema(database: &Arc<Database>) -> Result<(), db::Error> {
    until_reached(PAUSE, may_load_later, async || database.stored_schema().load().await).await
}

/// Tries until it works, or until it fails for a reason that does not pass by itself.
async fn until_reached<T, E: Display>(
    pause: Duration,
    passes: fn(&E) -> bool,
    mut attempt: impl AsyncFnMut() -> Result<T, E>,
) -> Result<T, E> {
    let mut was_missing = false;
    loop {
        match attempt().await {
            Ok(found) => {
                if was_missing {
                    tracing::info!("the cluster has been reached");
                }
                return Ok(found);
            }
            Err(error) if passes(&error) => {
                was_missing = true;
                tracing::warn!("the cluster is not there yet: {error}; next try in {pause:?}");
                tokio::time::sleep(pause).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Whether the store may be opened at another try.
fn may_open_later(error: &StoreError) -> bool {
    match error {
        StoreError::Io(_)
        | StoreError::Unavailable { .. }
        | StoreError::TimedOut(_)
        | StoreError::Overloaded(_)
        | StoreError::SchemaDisagreement(_) => true,
        StoreError::ReadOnly(_)
        | StoreError::Corrupt(_)
        | StoreError::Mismatch(_)
        | StoreError::Invalid(_) => false,
    }
}

/// Whether the schema may be there at another try.
fn may_load_later(error: &db::Error) -> bool {
    use db::Error::{Overloaded, SchemaDisagreement, TimedOut, Unavailable};
    matches!(error, Unavailable { .. } | TimedOut(_) | Overloaded(_) | SchemaDisagreement(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_cluster_that_is_down_is_tried_again() {
        let mut tries = 0;
        let found = until_reached(Duration::from_millis(1), may_open_later, async || {
            tries += 1;
            match tries {
                1 => Err(StoreError::Io("nobody answers".to_owned())),
                2 => Err(StoreError::TimedOut("too slow".to_owned())),
                _ => Ok(tries),
            }
        });
        assert_eq!(found.await.unwrap(), 3);
    }

    #[tokio::test]
    async fn what_does_not_pass_is_told_at_once() {
        let mut tries = 0;
        let found: Result<(), _> = until_reached(Duration::from_millis(1), may_open_later, async || {
            tries += 1;
            Err(StoreError::Mismatch("the password is wrong".to_owned()))
        })
        .await;
        assert!(matches!(found, Err(StoreError::Mismatch(_))));
        assert_eq!(tries, 1);
    }
}
