//! `--load`: copies a data directory, a backup, an export, or the data of a Thrift server, into a server in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::Result;
use base::schema::Catalog;
use base::util::Clock;
use config::Config;
use db::Database;
use embedded::BackupOptions;
use transfer::copy::Selection;
use transfer::endpoint::{Endpoint, Location, OpenOptions};
use transfer::export::{ReadBack, read_back};
use transfer::{Interruption, TransferError, copy, endpoint};

/// A directory that is removed at the end.
struct TemporaryDirectory(PathBuf);

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!("cannot remove {}: {error}", self.0.display());
        }
    }
}

/// Loads the schema and the rows of a place. Users are not loaded.
pub(super) async fn load_location(database: &Arc<Database>, place: &Location) -> Result<()> {
    let failed = |why: String| format!("--load {place}: {why}");
    let loaded = match place {
        Location::Data(directory) => {
            let temporary = backup_of(directory).await.map_err(failed)?;
            load_from(database, &Location::Data(temporary.0.clone())).await
        }
        other => load_from(database, other).await,
    };
    let (families, rows, cells) = loaded.map_err(|error| match error {
        // Its side is the temporary directory, or the place once more.
        TransferError::Endpoint { why, .. } => failed(why),
        error => failed(error.to_string()),
    })?;
    tracing::info!("{place}: {families} column families, {rows} rows and {cells} cells loaded");
    Ok(())
}

/// Loads the tables and rows of an export in JSON.
pub(super) async fn load_export(database: &Arc<Database>, directory: &Path) -> Result<()> {
    let clock = Arc::new(Clock::system());
    let to = Arc::new(Endpoint::of_database("the server", database.clone(), clock.clone()));
    let read = read_back(directory, to, &Selection::default(), clock, Interruption::default()).await;
    let ReadBack { tables, rows, cells } =
        read.map_err(|error| format!("--load json:{}: {error}", directory.display()))?;
    database.indexes().until_built().await;
    let place = format!("json:{}", directory.display());
    tracing::info!("{place}: {tables} column families, {rows} rows and {cells} cells loaded");
    Ok(())
}

/// Makes a temporary backup of a data directory, which is not changed: a server may even be running on it.
async fn backup_of(directory: &Path) -> Result<TemporaryDirectory> {
    if !directory.is_dir() {
        return Err("the directory does not exist".to_owned());
    }
    let temporary = std::env::temp_dir().join(format!("thriftstore-load-{}", uuid::Uuid::new_v4()));
    let temporary = TemporaryDirectory(temporary);
    let options =
        BackupOptions { source: directory.to_path_buf(), target: temporary.0.clone(), reads_tables: true };
    let backup = tokio::task::spawn_blocking(move || embedded::back_up(&options, &mut |_| {}));
    let backup = backup.await.map_err(|error| error.to_string())?;
    backup.map(|_| temporary).map_err(|error| error.to_string())
}

/// Copies all column families. Returns how many they are, and the numbers of rows and cells.
async fn load_from(database: &Arc<Database>, place: &Location) -> Result<(usize, u64, u64), TransferError> {
    let clock = Arc::new(Clock::system());
    let partitioner = database.partitioner().clone();
    let catalog = Catalog::clone(&database.catalog());
    let config = Config { catalog, partitioner, ..Config::default() };
    let options = OpenOptions {
        config: &config,
        types: database.types(),
        clock: clock.clone(),
        cluster: None,
        keyspace: None,
        creates: false,
    };
    let from = Arc::new(endpoint::open(place, &options).await?);
    let to = Arc::new(Endpoint::of_database("the server", database.clone(), clock.clone()));
    let copied = copy::copy_families(from.clone(), to, clock).await;
    // Indexes that are not complete are built in the background, which needs the open store.
    if let Some(source) = &from.database {
        source.indexes().until_built().await;
    }
    let closed = from.close().await;
    let copied = copied?;
    closed?;
    database.indexes().until_built().await;
    Ok(copied)
}
