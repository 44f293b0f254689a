//! Opens the store of a gateway: a server that stores its data on a cluster.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use super::cluster;
use super::store::{OpenStore, random_token};
use crate::cli::Result;
use ::cluster::{ClusterLink, ClusterOptions};
use base::partitioner::check_partitioner;
use base::util::Clock;
use config::{Cluster, Config};
use db::{Database, is_reserved};
use store::StoreError;

/// Pause between two attempts to reach the cluster.
const PAUSE: Duration = Duration::from_secs(3);

/// Opens the cluster. If the cluster cannot be reached, tries again forever and logs that; other errors are returned at
/// once.
pub(super) async fn open(cluster: &Cluster, config: &Config, clock: Arc<Clock>) -> Result<OpenStore> {
    let options = cluster::options(cluster)?;
    if options.tls.as_ref().is_some_and(|tls| tls.authorities.is_none()) {
        tracing::warn!(
            "the certificates of the cluster's nodes are not checked: an attacker in between could read and change data"
        );
    }
    let nodes = options.contact_points.join(", ");
    let open = async || open_once(&options, config, clock.clone()).await;
    let opened = until_reached(PAUSE, may_open_later, open).await;
    opened.map_err(|error| format!("cannot serve from the cluster at {nodes}: {error}"))
}

/// Makes one attempt.
async fn open_once(
    options: &ClusterOptions,
    config: &Config,
    clock: Arc<Clock>,
) -> Result<OpenStore, StoreError> {
    let link = ClusterLink::open(options).await?;
    let class = link.partitioner_class().await?;
    let choice = check_partitioner(config.partitioner.class_name(), &class).map_err(StoreError::Mismatch)?;
    let partitioner = choice.partitioner;
    let store = link.into_store(options, partitioner.clone(), clock).await?;
    if let Some(name) = config.catalog.keyspaces.keys().find(|name| is_reserved(store.capabilities(), name)) {
        return Err(StoreError::Mismatch(format!(
            "the configuration defines the keyspace {name}, which is reserved by the cluster or by gateways: rename it"
        )));
    }
    if let Some(note) = choice.note {
        tracing::info!("{note}");
    }
    // The token in the configuration may be of another partitioner.
    let token = random_token(&partitioner);
    Ok(OpenStore { store, partitioner, token, on_disk: None })
}

/// Loads the schema that gateways share, and creates its tables, once enough nodes are up.
pub(super) async fn load_schema(database: &Arc<Database>) -> Result<(), db::Error> {
    until_reached(PAUSE, may_load_later, async || database.stored_schema().load().await).await
}

/// Repeats an attempt until it succeeds, or fails with an error that will not pass.
async fn until_reached<T, E: Display>(
    pause: Duration,
    is_temporary: fn(&E) -> bool,
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
            Err(error) if is_temporary(&error) => {
                was_missing = true;
                tracing::warn!("cannot reach the cluster: {error}; next try in {pause:?}");
                tokio::time::sleep(pause).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns whether another attempt may open the store.
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

/// Returns whether another attempt may load the schema.
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
    async fn permanent_errors_are_returned_at_once() {
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
